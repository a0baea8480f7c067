// SPDX-License-Identifier: GPL-2.0
/*
 * The reference: try() and contend() of Figure 1 as printed. A server says
 * FREE when clock - lastGranted > Δ + 2δ and then sets lastGranted; a client
 * judges the first q answers and returns when at most b of them are LOCKED; it
 * works in [T, T + Δ], T being its return. There is no release, no renewal,
 * and all clocks run alike. δ bounds the delay of a message, so an answer that
 * comes later than 2δ after the send belongs to no round. With
 * paper_plan.asynchronous there is no such bound, and no such rule.
 *
 * Times are small whole numbers of steps; Lemma 1 compares them as closed
 * intervals but for "> Δ + 2δ", which is taken a whole step later.
 *
 * Moves that are not looked at, because it does less than what is:
 * - TRY of a round that is over: it can only make a server say LOCKED longer.
 * - Single answers before the q-th: nothing is decided by them, so which are
 *   the first q is chosen when they decide. The client wins if among those
 *   there are q of which b are LOCKED; a liar says FREE, or nothing at all
 *   with plan.silent.
 * - An answer to a client that waits no more.
 */
#include <stdio.h>

#include "world.h"

struct paper_plan paper_plan;

enum { UNASKED, SAID_FREE, SAID_LOCKED };
enum { IDLE, TRYING, INSIDE };

/** struct paper_world - at most two clients */
struct paper_world {
	u8 since[SERVERS_MAX];		/* steps since lastGranted */
	u8 answer[SERVERS_MAX][2];
	u8 phase[2];
	u8 age[2];			/* steps since the send, or since T */
	u8 time;
};

static u32 correct(void)
{
	return paper_plan.n - paper_plan.liars;
}

static u32 guard(void)
{
	return paper_plan.lease + 2 * paper_plan.delay;
}

static void forget_answers(struct paper_world *w, u32 c)
{
	u32 u;

	for (u = 0; u < correct(); u++)
		w->answer[u][c] = UNASKED;
}

static void to_idle(struct paper_world *w, u32 c)
{
	w->phase[c] = IDLE;
	w->age[c] = 0;
	forget_answers(w, c);
}

static bool enough(const struct paper_world *w, u32 c)
{
	u32 said_free = plan.silent ? 0 : paper_plan.liars, said_locked = 0, u;

	for (u = 0; u < correct(); u++) {
		said_free += w->answer[u][c] == SAID_FREE;
		said_locked += w->answer[u][c] == SAID_LOCKED;
	}
	if (said_locked > paper_plan.b)
		said_locked = paper_plan.b;
	return said_free + said_locked >= paper_plan.q;
}

static void client_moves(const struct paper_world *w, u32 c, struct visitor *v)
{
	struct event e = { .client = (u8)c };
	struct paper_world next = *w;
	u32 u;

	if (w->phase[c] == IDLE) {
		next.phase[c] = TRYING;
		e.kind = START;
		v->see(v, &e, &next);
	}
	if (w->phase[c] != TRYING)
		return;
	to_idle(&next, c);
	e.kind = STOP;
	v->see(v, &e, &next);
	for (u = 0; u < correct(); u++) {
		if (w->answer[u][c] != UNASKED)
			continue;
		next = *w;
		if (w->since[u] > guard()) {
			next.answer[u][c] = SAID_FREE;
			next.since[u] = 0;
		} else {
			next.answer[u][c] = SAID_LOCKED;
		}
		e.kind = REQUEST;
		e.server = (u8)u;
		v->see(v, &e, &next);
	}
	if (enough(w, c)) {
		next = *w;
		next.phase[c] = INSIDE;
		next.age[c] = 0;
		forget_answers(&next, c);
		e.kind = WIN;
		e.won = true;
		v->see(v, &e, &next);
	}
}

static void step(const struct paper_world *w, struct visitor *v)
{
	struct event e = { .kind = STEP };
	struct paper_world next = *w;
	u32 i;

	for (i = 0; i < correct(); i++)
		if (next.since[i] <= guard())
			next.since[i]++;
	for (i = 0; i < 2; i++) {
		u32 limit = next.phase[i] == INSIDE ? paper_plan.lease :
						      2 * paper_plan.delay;

		if (next.phase[i] == IDLE ||
		    (next.phase[i] == TRYING && paper_plan.asynchronous))
			continue;
		if (++next.age[i] > limit)
			to_idle(&next, i);
	}
	next.time++;
	v->see(v, &e, &next);
}

static void moves(const void *world, struct visitor *v)
{
	client_moves(world, 0, v);
	client_moves(world, 1, v);
	step(world, v);
}

static void starts(struct visitor *v)
{
	struct paper_world w = {};
	u32 u;

	for (u = 0; u < correct(); u++)
		w.since[u] = (u8)(guard() + 1);
	v->see(v, NULL, &w);
}

/* Servers sorted, and the lesser of both orders of the clients. */
static void spell(const struct paper_world *w, u32 first, u8 *at)
{
	u32 u, i;

	for (u = 0; u < correct(); u++) {
		u8 key = (u8)(w->since[u] << 4 | w->answer[u][first] << 2 |
			      w->answer[u][!first]);

		for (i = u; i && at[i - 1] > key; i--)
			at[i] = at[i - 1];
		at[i] = key;
	}
	for (i = 0; i < 2; i++)
		at[SERVERS_MAX + i] = (u8)(w->phase[first ^ i] << 4 | w->age[first ^ i]);
}

#define PAPER_PACKED (SERVERS_MAX + 2)

static void pack(const void *world, u8 *packed)
{
	u8 other[PAPER_PACKED] = {};

	memset(packed, 0, PAPER_PACKED);
	spell(world, 0, packed);
	spell(world, 1, other);
	if (memcmp(other, packed, PAPER_PACKED) < 0)
		memcpy(packed, other, PAPER_PACKED);
}

static void unpack(const u8 *packed, void *world)
{
	struct paper_world *w = world;
	u32 u, i;

	memset(w, 0, sizeof(*w));
	for (u = 0; u < correct(); u++) {
		w->since[u] = packed[u] >> 4;
		w->answer[u][0] = packed[u] >> 2 & 3;
		w->answer[u][1] = packed[u] & 3;
	}
	for (i = 0; i < 2; i++) {
		w->phase[i] = packed[SERVERS_MAX + i] >> 4;
		w->age[i] = packed[SERVERS_MAX + i] & 0xf;
	}
}

static const char *wrong(const void *world)
{
	const struct paper_world *w = world;

	return w->phase[0] == INSIDE && w->phase[1] == INSIDE ?
	       "two clients are inside at the same time" : NULL;
}

static void tell(const void *before, const struct event *e, const void *after)
{
	const struct paper_world *w = after;
	char who = e ? (char)('A' + e->client) : 0;
	u32 u;

	if (!e) {
		printf("A lease is %u steps, a message takes at most %u. %u of %u servers lie.\n",
		       paper_plan.lease, paper_plan.delay, paper_plan.liars, paper_plan.n);
		return;
	}
	printf("t = %u: ", w->time);
	switch (e->kind) {
	case START:
		printf("%c calls try() at all servers\n", who);
		break;
	case STOP:
		printf("%c gives up and will try again\n", who);
		break;
	case REQUEST:
		printf("server %u answers %s to %c\n", e->server + 1u,
		       w->answer[e->server][e->client] == SAID_FREE ? "FREE" : "LOCKED",
		       who);
		break;
	case WIN:
		printf("%c has %u answers, the liars' FREE among them, at most %u LOCKED (",
		       who, paper_plan.q, paper_plan.b);
		for (u = 0, w = before; u < correct(); u++)
			if (w->answer[u][e->client])
				printf("%u: %s, ", u + 1,
				       w->answer[u][e->client] == SAID_FREE ? "FREE" : "LOCKED");
		printf("%u: lies): it returns and is inside\n", paper_plan.n);
		break;
	default:
		printf("time has passed\n");
	}
}

const struct system paper_system = {
	.size = sizeof(struct paper_world),
	.packed = PAPER_PACKED,
	.starts = starts,
	.moves = moves,
	.pack = pack,
	.unpack = unpack,
	.wrong = wrong,
	.tell = tell,
};
