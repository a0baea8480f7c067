// SPDX-License-Identifier: GPL-2.0
/*
 * Sigma as Figures 5 and 6 of Lin, Lian, Chen, Zhang (2004; see strawman.c) print it. A server that
 * has an owner queues the others by Lamport's clock; a client that sees that nobody can win yields
 * the servers that it owns, and they go to the first in their queues.
 *
 * The printed form lacks four things. No message says of which request of its client it speaks, so a
 * late RESPONSE or YIELD of one counts for the next: REPAIR_NUMBERS. And it needs links that keep
 * the order (ASSUME_FIFO), of which the paper says nothing; else RESPONSEs of one server change
 * places, and a client waits with a picture that no server will correct. And even so a client that
 * waits is not told that a server has another owner: it takes somebody for the winner who is not,
 * and the others yield for ever: REPAIR_TOLD. And a RESPONSE that comes twice counts even after the
 * YIELD that has ended its turn, and a YIELD that comes twice ends a later turn of its client. With
 * REPAIR_GRANTS each turn has a number, so a client knows a late RESPONSE, and a request ends all
 * earlier requests of its client.
 *
 * The figures do not say so, but the responses are forgotten when a request begins.
 */
#include "algorithms.h"

#define QUEUE_MAX (4 * PEER_CROWD)

enum { REQUEST, RESPONSE, YIELD, RELEASE };

static const char *const kinds[] = { "REQUEST", "RESPONSE", "YIELD", "RELEASE" };

/** struct asking - a request at a server, ordered by (@stamp, @who) */
struct asking {
	u32 who, number, stamp;
};

/**
 * struct sigma - a server, or a client
 * @number: of the client's request
 * @said:   by server, who owns it; PEER_NOBODY: no response
 * @heard:  by server, number of the last turn that it has told of
 * @yielded: by server, number of the last turn that this client gave up
 * @owner:  of this server, if @is_owned
 * @turn:   number of the owner's turn
 * @over:   by client, number of the last request that is over, at this server
 * @queue:  sorted
 */
struct sigma {
	bool is_asking, is_owned;
	u32 number, stamp;
	u32 said[32], heard[32], yielded[32];
	struct asking owner;
	u32 turn, waiting;
	u32 over[PEER_CROWD];
	struct asking queue[QUEUE_MAX];
};

static void sigma_want(struct peer *p)
{
	struct sigma *s = p->state;

	s->is_asking = true;
	s->number++;
	s->stamp = ++p->clock;
	memset(s->said, 0xff, sizeof(s->said));
	peer_send_servers(p, &(struct peer_note){
		.kind = REQUEST, .number = s->number, .stamp = s->stamp });
}

static void sigma_leave(struct peer *p)
{
	struct sigma *s = p->state;

	s->is_asking = false;
	peer_send_servers(p, &(struct peer_note){ .kind = RELEASE, .number = s->number });
}

static void yield_all(struct peer *p)
{
	struct sigma *s = p->state;
	u32 i;

	for (i = 0; i < p->servers; i++) {
		if (s->said[i] != p->id)
			continue;
		peer_tell(p, i, &(struct peer_note){
			.kind = YIELD, .number = s->number, .grant = s->heard[i] });
		s->yielded[i] = s->heard[i];
		s->said[i] = PEER_NOBODY;
	}
}

/* ComputeWinner(): the owner that most servers name, how many do, and how many have responded. */
static u32 most_named(const struct peer *p, u32 *ret_named, u32 *ret_responded)
{
	const struct sigma *s = p->state;
	u32 i, j, named, winner = PEER_NOBODY;

	*ret_named = *ret_responded = 0;
	for (i = 0; i < p->servers; i++) {
		*ret_responded += s->said[i] != PEER_NOBODY;
		for (named = j = 0; j < p->servers; j++)
			named += s->said[i] != PEER_NOBODY && s->said[j] == s->said[i];
		if (named > *ret_named) {
			*ret_named = named;
			winner = s->said[i];
		}
	}
	return winner;
}

static void take_response(struct peer *p, u32 from, const struct peer_note *note)
{
	struct sigma *s = p->state;
	u32 winner, named, responded;

	if (peer_has(p, REPAIR_NUMBERS) && (!s->is_asking || note->number != s->number))
		return;
	if (peer_has(p, REPAIR_GRANTS) &&
	    (note->grant < s->heard[from] ||
	     (note->who == p->id && note->grant <= s->yielded[from])))
		return;
	s->said[from] = note->who;
	s->heard[from] = note->grant;
	winner = most_named(p, &named, &responded);
	if (named >= peer_majority(p)) {
		if (winner == p->id)
			peer_enter(p);
	} else if (named + p->servers - responded < peer_majority(p)) {
		yield_all(p);
	}
}

static void respond(struct peer *p, const struct asking *to)
{
	const struct sigma *s = p->state;

	peer_tell(p, to->who, &(struct peer_note){
		.kind = RESPONSE, .who = s->owner.who, .number = to->number,
		.stamp = s->owner.stamp, .grant = s->turn });
}

static void insert(struct sigma *s, const struct asking *new)
{
	u32 at = s->waiting;

	if (s->waiting == QUEUE_MAX)
		return;
	while (at && (s->queue[at - 1].stamp > new->stamp ||
		      (s->queue[at - 1].stamp == new->stamp && s->queue[at - 1].who > new->who)))
		at--;
	memmove(&s->queue[at + 1], &s->queue[at], (s->waiting++ - at) * sizeof(*s->queue));
	s->queue[at] = *new;
}

static void remove_at(struct sigma *s, u32 at)
{
	memmove(&s->queue[at], &s->queue[at + 1], (--s->waiting - at) * sizeof(*s->queue));
}

static u32 find_waiting(const struct sigma *s, u32 who)
{
	u32 i;

	for (i = 0; i < s->waiting && s->queue[i].who != who;)
		i++;
	return i;
}

static void own(struct sigma *s, const struct asking *new)
{
	s->is_owned = true;
	s->owner = *new;
	s->turn++;
}

/* RespQueue() */
static void serve_first(struct peer *p)
{
	struct sigma *s = p->state;
	u32 i;

	own(s, &s->queue[0]);
	remove_at(s, 0);
	respond(p, &s->owner);
	for (i = 0; i < s->waiting && peer_has(p, REPAIR_TOLD); i++)
		respond(p, &s->queue[i]);
}

static bool owns(const struct peer *p, u32 who, u32 number)
{
	const struct sigma *s = p->state;

	return s->is_owned && s->owner.who == who &&
	       (!peer_has(p, REPAIR_NUMBERS) || s->owner.number == number);
}

/* RELEASE @number of @from ends this request. */
static bool is_ended(const struct peer *p, const struct asking *a, u32 from, u32 number)
{
	return a->who == from && (!peer_has(p, REPAIR_NUMBERS) || a->number <= number);
}

static void take_release(struct peer *p, u32 from, u32 number)
{
	struct sigma *s = p->state;
	u32 at = find_waiting(s, from);

	if (peer_has(p, REPAIR_NUMBERS) && number > s->over[from])
		s->over[from] = number;
	if (s->is_owned && is_ended(p, &s->owner, from, number)) {
		s->is_owned = false;
		if (s->waiting)
			serve_first(p);
	} else if (at < s->waiting && is_ended(p, &s->queue[at], from, number)) {
		remove_at(s, at);
	}
}

static void take_request(struct peer *p, const struct asking *new)
{
	struct sigma *s = p->state;

	if (peer_has(p, REPAIR_NUMBERS) && new->number <= s->over[new->who])
		return;
	/* It may have overtaken the ends of the requests before. */
	if (peer_has(p, REPAIR_GRANTS))
		take_release(p, new->who, new->number - 1);
	if (!s->is_owned) {
		own(s, new);
	} else if (!peer_has(p, REPAIR_NUMBERS) ||
		   (s->owner.who != new->who && find_waiting(s, new->who) == s->waiting)) {
		insert(s, new);
	}
	respond(p, new);
}

static void take_yield(struct peer *p, u32 from, u32 number, u32 turn)
{
	struct sigma *s = p->state;

	if (peer_has(p, REPAIR_NUMBERS) && number <= s->over[from])
		return;
	if (owns(p, from, number) && (!peer_has(p, REPAIR_GRANTS) || turn == s->turn)) {
		insert(s, &s->owner);
		serve_first(p);
	}
	if (s->is_owned && s->owner.who != from)
		respond(p, &(struct asking){ .who = from, .number = number });
}

static void sigma_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == RESPONSE)
		take_response(p, from, note);
	else if (note->kind == REQUEST)
		take_request(p, &(struct asking){ from, note->number, note->stamp });
	else if (note->kind == YIELD)
		take_yield(p, from, note->number, note->grant);
	else
		take_release(p, from, note->number);
}

/* It is everybody's. */
static void sigma_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind != RELEASE)
		peer_tell(p, from, &(struct peer_note){
			.kind = RESPONSE, .who = from, .number = note->number,
			.grant = ((struct sigma *)p->state)->turn + 1 });
}

const struct peer_algorithm peer_sigma = {
	.name = "sigma", .section = "Lin:4", .kinds = kinds, .task = TASK_MUTEX, .servers = 5,
	.assumes = ASSUME_ONCE | ASSUME_FIFO | ASSUME_NO_CRASH | ASSUME_MEMORY | ASSUME_HONEST,
	.repairs = REPAIR_NUMBERS | REPAIR_TOLD | REPAIR_GRANTS, .promises = RULE_ME1 | RULE_ME2,
	.size = sizeof(struct sigma),
	.hear = sigma_hear, .lie = sigma_lie, .want = sigma_want, .leave = sigma_leave,
};
