// SPDX-License-Identifier: GPL-2.0
/* The server of kim.h: whom it tells OK, and when it wants that back. */
#include "kim.h"

static struct kim_server *server_of(const struct peer *p)
{
	return &((struct kim *)p->state)->server;
}

static bool is_before(const struct kim_request *a, const struct kim_request *b)
{
	return a->stamp != b->stamp ? a->stamp < b->stamp : a->who < b->who;
}

static bool conflicts(const struct kim_request *a, const struct kim_request *b)
{
	return !a->reads || !b->reads;
}

/* The best of all, or of those that OK was sent to: the pivot; NULL for none. */
static struct kim_request *best(const struct peer *p, bool of_sent)
{
	struct kim_server *s = server_of(p);
	struct kim_request *found = NULL;
	u32 i;

	for (i = 0; i < s->listed; i++)
		if ((s->list[i].is_sent || !of_sent) && (!found || is_before(&s->list[i], found)))
			found = &s->list[i];
	return found;
}

static void tell_ok(struct peer *p, struct kim_request *r)
{
	struct kim_server *s = server_of(p);

	r->is_sent = true;
	r->grant = ++s->grant;
	peer_tell(p, r->who, &(struct peer_note){
		.kind = OK, .number = r->number, .grant = r->grant, .value = s->value,
		.stamp = s->time });
}

static void cancel_all(struct peer *p)
{
	struct kim_server *s = server_of(p);
	u32 i;

	s->is_cancelling = true;
	for (i = 0; i < s->listed; i++)
		if (s->list[i].is_sent)
			peer_tell(p, s->list[i].who, &(struct peer_note){
				.kind = CANCEL, .number = s->list[i].number,
				.grant = s->list[i].grant });
}

/* "newlock": OK to the best, and to those that do not conflict with it. */
static void new_lock(struct peer *p)
{
	struct kim_server *s = server_of(p);
	struct kim_request *top = best(p, false);
	u32 i;

	s->is_cancelling = false;
	for (i = 0; i < s->listed; i++)
		if (&s->list[i] == top || !conflicts(&s->list[i], top))
			tell_ok(p, &s->list[i]);
}

/* A request that is in the list; @pivot as it was before. */
static void judge(struct peer *p, struct kim_request *new, const struct kim_request *pivot)
{
	struct kim_server *s = server_of(p);

	if (!pivot)
		new_lock(p);
	else if (s->is_cancelling)
		return;
	else if (!conflicts(new, pivot))
		tell_ok(p, new);
	else if (best(p, false) == new)
		cancel_all(p);
}

static bool is_over(const struct kim_server *s, u32 who, u32 number)
{
	u32 over = s->over[who];

	return number <= over || (number - over <= 64 && s->beyond[who] >> (number - over - 1) & 1);
}

static void end_request(struct kim_server *s, u32 who, u32 number)
{
	if (number > s->over[who] && number - s->over[who] <= 64)
		s->beyond[who] |= 1ull << (number - s->over[who] - 1);
	for (; s->beyond[who] & 1; s->beyond[who] >>= 1)
		s->over[who]++;
}

static struct kim_request *find(struct kim_server *s, u32 who, u32 number)
{
	u32 i;

	for (i = 0; i < s->listed; i++)
		if (s->list[i].who == who && s->list[i].number == number)
			return &s->list[i];
	return NULL;
}

static void take_request(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim_server *s = server_of(p);
	const struct kim_request *pivot = best(p, true);

	if (s->listed == KIM_LIST_MAX ||
	    (peer_has(p, REPAIR_OVER) && (is_over(s, from, note->number) ||
					  find(s, from, note->number))))
		return;
	s->list[s->listed] = (struct kim_request){
		.who = from, .number = note->number, .stamp = note->stamp, .reads = note->who };
	judge(p, &s->list[s->listed++], pivot);
}

/* Before all others; OK at once, also while others are asked to give theirs back. */
static void judge_raised(struct peer *p, struct kim_request *r)
{
	struct kim_request *pivot = best(p, true);

	if (pivot && !conflicts(r, pivot))
		tell_ok(p, r);
	else
		judge(p, r, pivot);
}

static void take_raise(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim_server *s = server_of(p);
	struct kim_request *r;

	if (!find(s, from, note->number))
		take_request(p, from, note);
	r = find(s, from, note->number);
	if (!r)
		return;
	/* Its OK may have been given back, and that be on its way. */
	r->stamp = 0;
	if (!r->is_sent)
		judge_raised(p, r);
}

static void take_cancelled(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim_server *s = server_of(p);
	u32 i;

	for (i = 0; i < s->listed; i++) {
		struct kim_request *r = &s->list[i];

		if (r->who != from || !r->is_sent ||
		    (peer_has(p, REPAIR_NUMBERS) && r->grant != note->grant))
			continue;
		r->is_sent = false;
		if (!r->stamp)
			judge_raised(p, r);
		else if (!best(p, true))
			new_lock(p);
		return;
	}
}

static void take_finished(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim_server *s = server_of(p);
	u32 i;

	if (note->stamp > s->time) {
		s->value = note->value;
		s->time = note->stamp;
	}
	end_request(s, from, note->number);
	for (i = 0; i < s->listed; i++)
		if (s->list[i].who == from &&
		    (!peer_has(p, REPAIR_OVER) || s->list[i].number == note->number))
			s->list[i--] = s->list[--s->listed];
	if (!best(p, true))
		new_lock(p);
	else if (best(p, true) != best(p, false))
		cancel_all(p);
}

void kim_serve(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		take_request(p, from, note);
	else if (note->kind == RAISE)
		take_raise(p, from, note);
	else if (note->kind == CANCELLED)
		take_cancelled(p, from, note);
	else
		take_finished(p, from, note);
}

/* OK of anything to anybody who asks, CANCEL, or nothing. */
void kim_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	struct peer_note answer = {
		.kind = OK, .number = note->number, .grant = ++server_of(p)->grant,
		.value = (u32)peer_random(p, 8), .stamp = (u32)peer_random(p, 8),
	};

	if (from < p->servers || !peer_random(p, 4))
		return;
	if (!peer_random(p, 4))
		answer.kind = CANCEL;
	peer_tell(p, from, &answer);
}
