// SPDX-License-Identifier: GPL-2.0
/* The voter of sanders.h: for whom it votes, and whom it asks back. */
#include "sanders.h"

static bool is_before(const struct ballot *a, const struct ballot *b)
{
	return a->stamp != b->stamp ? a->stamp < b->stamp : a->who < b->who;
}

static u32 least_waiting(const struct sanders *s)
{
	u32 i, least = 0;

	for (i = 1; i < s->waiting; i++)
		if (is_before(&s->queue[i], &s->queue[least]))
			least = i;
	return least;
}

static void tell(struct peer *p, u8 kind, const struct ballot *b)
{
	const struct sanders *s = p->state;

	peer_tell(p, b->who, &(struct peer_note){
		.kind = kind, .number = b->number, .grant = s->grant });
}

static void vote_next(struct peer *p)
{
	struct sanders *s = p->state;
	u32 i;

	s->has_voted = s->has_inquired = false;
	if (!s->waiting)
		return;
	i = least_waiting(s);
	s->vote = s->queue[i];
	s->queue[i] = s->queue[--s->waiting];
	s->has_voted = true;
	s->grant++;
	tell(p, VOTE, &s->vote);
}

/* "inquire": a request that is not the first of those that wait here fails. */
static void tell_failures(struct peer *p, const struct ballot *new, const struct ballot *least)
{
	const struct sanders *s = p->state;

	if (is_before(&s->vote, new) || (least && is_before(least, new)))
		tell(p, FAIL, new);
	else if (least && peer_has(p, REPAIR_FAIL))
		tell(p, FAIL, least);
}

void voter_request(struct peer *p, const struct ballot *new)
{
	struct sanders *s = p->state;
	struct ballot least = { 0 };
	bool waits = s->waiting;

	if (waits)
		least = s->queue[least_waiting(s)];
	s->queue[s->waiting++] = *new;
	if (!s->has_voted) {
		vote_next(p);
		return;
	}
	if (!s->at_once)
		tell_failures(p, new, waits ? &least : NULL);
	if (is_before(new, &s->vote) && !s->has_inquired) {
		s->has_inquired = true;
		tell(p, INQUIRE, &s->vote);
	}
}

void voter_release(struct peer *p, u32 from, u32 number)
{
	struct sanders *s = p->state;
	u32 i;

	if (s->has_voted && s->vote.who == from && s->vote.number == number) {
		vote_next(p);
		return;
	}
	for (i = 0; i < s->waiting; i++)
		if (s->queue[i].who == from && s->queue[i].number == number)
			s->queue[i--] = s->queue[--s->waiting];
}

void voter_yield(struct peer *p, u32 from, const struct peer_note *note)
{
	struct sanders *s = p->state;

	if (!s->has_voted || s->vote.who != from || s->vote.number != note->number ||
	    (peer_has(p, REPAIR_NUMBERS) && note->grant != s->grant))
		return;
	s->queue[s->waiting++] = s->vote;
	vote_next(p);
}
