// SPDX-License-Identifier: GPL-2.0
/*
 * Every message in every mode, in every state of a lock that two messages of three clients lead
 * to: what must hold whatever came before. The rules are those of the design, written anew.
 */
#include <stdlib.h>
#include <string.h>

#include "core/backoff/parties.h"
#include "core/backoff/server.h"
#include "unit.h"

#define CLIENTS	3
#define ROOM	8
#define L	(1000 * BFTM_NS_PER_MS)
#define T0	(1ull << 40)
#define GNO	100

/** struct state - a lock, and the last send of each client */
struct state {
	struct bftm_lock lock;
	u32 count;
	struct bftm_seat seat[ROOM];
	u32 sends[CLIENTS];
};

static const struct bftm_server_cfg cfg = {
	.waiters_max = 4, .lease_max_ns = L, .rho_ppm = 2000, .id = 1, .epoch = 1,
};

static union {
	struct bftm_queue queue;
	u8 bytes[sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_seat)];
} block;
static struct bftm_lock lock;
static struct bftm_msg reply, push;

static void load(const struct state *s)
{
	lock = s->lock;
	lock.queue = &block.queue;
	block.queue.room = ROOM;
	block.queue.count = s->count;
	memcpy(block.queue.place, s->seat, s->count * sizeof(*s->seat));
}

static void save(struct state *s)
{
	memset(s->seat, 0, sizeof(s->seat));
	s->lock = lock;
	s->lock.queue = NULL;
	s->count = block.queue.count;
	memcpy(s->seat, block.queue.place, s->count * sizeof(*s->seat));
}

/* The table of the DLM, by hand. */
static bool exclude(u32 a, u32 b)
{
	static const char *const table[] = {
		/* NL CR CW PR PW EX */
		"......", ".....X", "...XXX", "..X.XX", "..XXXX", ".XXXXX",
	};

	return table[a][b] == 'X';
}

/* A client's attempt, of which there is one: what the lock has of it. */
static const struct bftm_party *party(const struct state *s, u32 client)
{
	u32 i;

	if (s->lock.first.attempt && s->lock.first.client == client)
		return &s->lock.first;
	for (i = 0; i < s->count; i++)
		if (s->seat[i].party.client == client)
			return &s->seat[i].party;
	return NULL;
}

static u64 gno_of(const struct state *s, const struct bftm_party *p)
{
	return p == &s->lock.first ? s->lock.gno : ((const struct bftm_seat *)p)->gno;
}

static u32 mode_of(const struct state *s, u32 client)
{
	const struct bftm_party *p = party(s, client);

	return p ? p->mode : BFTM_MODE_NL;
}

/* No two have what excludes each other, and no attempt is there twice. */
static void check_grants(const struct state *s)
{
	u32 a, b, places = s->lock.first.attempt != 0, found = 0;

	for (a = 1; a <= CLIENTS; a++)
		for (b = a + 1; b <= CLIENTS; b++)
			assert_false(exclude(mode_of(s, a), mode_of(s, b)));
	for (a = 1; a <= CLIENTS; a++)
		found += party(s, a) != NULL;
	assert_int_equal(found, places + s->count);
}

/* Of those that did not ask: nothing is taken, and what is given has a new number. */
static void check_others(const struct state *s, const struct state *t, u32 sender, bool over)
{
	u32 c;

	for (c = 1; c <= CLIENTS; c++) {
		const struct bftm_party *before = party(s, c), *after = party(t, c);

		if (c == sender)
			continue;
		if (!over && before && before->mode) {
			assert_non_null(after);
			assert_true(after->time_ns >= before->time_ns);
			assert_true(bftm_mode_covers(after->mode, before->mode));
		}
		if (!after || after->mode == (before ? before->mode : 0))
			continue;
		assert_non_null(before);
		/* More than it had: what it wants, or holds elsewhere. */
		assert_true(after->mode == before->want || after->mode == before->held);
		assert_true(gno_of(t, after) > s->lock.gno);
		assert_int_equal(push.type, BFTM_MSG_FREE);
		assert_int_equal(push.client, c);
		assert_int_equal(push.mode, after->mode);
		assert_int_equal(push.gno, gno_of(t, after));
		assert_int_equal(push.k, before->k);
	}
}

static bool converts(const struct bftm_party *p)
{
	return p->want && (p->mode || !bftm_mode_covers(p->held, p->want));
}

/* Each wants what the other's hold keeps from it; the better one goes on. */
static bool is_told(const struct state *t, u32 client)
{
	const struct bftm_party *p = party(t, client);
	u32 c;

	for (c = 1; p && c < client; c++) {
		const struct bftm_party *other = party(t, c);

		if (other && converts(p) && converts(other) && exclude(p->want, other->held) &&
		    exclude(other->want, p->held))
			return true;
	}
	return false;
}

/*
 * A newcomer gets nothing that others hold, or want beyond what they hold, and exclude; nor what
 * one wants that goes before it, as all do before one that does not wait.
 */
static void check_newcomer(const struct state *s, u32 client, u32 mode, bool last)
{
	u32 c;

	for (c = 1; c <= CLIENTS; c++) {
		const struct bftm_party *p = party(s, c);

		if (c == client || !p)
			continue;
		assert_false(exclude(mode, p->mode));
		assert_false(exclude(mode, p->held) && !bftm_mode_covers(p->mode, p->held));
		assert_false((p->mode || p->held || c < client || last) && exclude(mode, p->want));
	}
}

static void check_try(const struct state *s, const struct state *t, const struct bftm_msg *req)
{
	const struct bftm_party *before = party(s, req->client), *after = party(t, req->client);
	u32 had = before ? before->mode : 0, has = after ? after->mode : 0;
	bool late = before && req->k <= before->k;

	if (reply.type == BFTM_MSG_FREE) {
		assert_non_null(after);
		assert_int_not_equal(has, BFTM_MODE_NL);
		assert_int_equal(reply.mode, has);
		assert_int_equal(reply.gno, gno_of(t, after));
		assert_int_equal(reply.attempt, req->attempt);
		assert_int_equal(reply.k, req->k);
	} else {
		assert_int_equal(has, BFTM_MODE_NL);
	}
	/* Only a newer send takes a mode away, down to what it names. */
	if (!bftm_mode_covers(has, had)) {
		assert_false(late);
		/* Or what it holds by now: what it has here it gave up, of which this server missed. */
		assert_true((has == req->mode && bftm_mode_covers(had, has)) || has == req->arg);
	}
	if (late && had)
		assert_int_equal(after->held, before->held);
	if (has && !bftm_mode_covers(had, has)) {
		assert_true(has == req->mode || has == req->arg ||
			    (before && (has == before->want || has == before->held)));
		assert_true(gno_of(t, after) > s->lock.gno);
	}
	if (has && !had && !req->arg && !(before && before->held))
		check_newcomer(s, req->client, has, !before && req->flags & BFTM_FLAG_NOQUEUE);
	if (reply.type == BFTM_MSG_FREE || reply.type == BFTM_MSG_WAIT)
		assert_int_equal(reply.flags, is_told(t, req->client) ? BFTM_FLAG_DEADLOCK : 0);
	if (req->flags & BFTM_FLAG_NOQUEUE && !before && reply.type != BFTM_MSG_FREE)
		assert_null(after);
}

static void check_step(const struct state *s, const struct state *t, const struct bftm_msg *req)
{
	const struct bftm_party *before = party(s, req->client), *after = party(t, req->client);

	check_grants(t);
	assert_true(t->lock.gno >= s->lock.gno);
	check_others(s, t, req->client, false);
	switch (req->type) {
	case BFTM_MSG_TRY:
		check_try(s, t, req);
		break;
	case BFTM_MSG_RELEASE:
		assert_null(after);
		assert_int_equal(reply.type, BFTM_MSG_RELEASED);
		break;
	case BFTM_MSG_YIELD:
		assert_int_equal(reply.type, BFTM_MSG_NONE);
		/* Of another grant, or of what it holds: nothing. */
		if (!before || !before->mode || req->gno != gno_of(s, before) ||
		    !bftm_mode_covers(before->mode, req->arg) || (!req->arg && before->held)) {
			assert_int_equal(mode_of(t, req->client), mode_of(s, req->client));
		} else {
			assert_non_null(after);
			assert_true(bftm_mode_covers(after->mode, req->arg));
			assert_true(gno_of(t, after) > req->gno || !after->mode);
		}
	}
}

/* When nothing is left to do, the best of those that wait has a reason to. */
static void check_settled(void)
{
	struct state s = {}, t = {};
	u32 steps, c, d;

	save(&s);
	for (steps = 0; bftm_lock_deadline(&lock) == 1; steps++) {
		assert_true(steps < 4 * CLIENTS);
		assert_false(bftm_lock_expire(&cfg, &lock, T0, &push));
		save(&t);
		check_grants(&t);
		check_others(&s, &t, 0, false);
		s = t;
	}
	for (c = 1; c <= CLIENTS; c++) {
		const struct bftm_party *p = party(&s, c);
		bool reason = !p || p->mode;

		/* Clients go in order of their priorities, which are their numbers. */
		for (d = 1; d <= CLIENTS; d++) {
			const struct bftm_party *other = party(&s, d);

			if (d != c && other && p)
				reason = reason || exclude(p->want, other->mode) ||
					 exclude(p->want, other->held) ||
					 exclude(p->held, other->mode) ||
					 ((other->mode || other->held || d < c) &&
					  exclude(p->want, other->want));
		}
		assert_true(reason);
	}
}

#define MOVES	(CLIENTS * (5 * 7 + 5 + 1 + 2 * 6))

/* Each has a number; false for one that is another's. */
static bool message(const struct state *s, u32 number, struct bftm_msg *ret)
{
	u32 client = 1 + number % CLIENTS, what = number / CLIENTS;
	const struct bftm_party *p = party(s, client);

	*ret = (struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = client, .attempt = 1, .prio = client,
		.lease_ns = L, .k = s->sends[client - 1] + 1,
	};
	if (what < 35) {
		ret->mode = (u8)(BFTM_MODE_CR + what % 5);
		ret->arg = (u8)(what / 5 % 6);
		ret->flags = what / 5 == 6 ? BFTM_FLAG_NOQUEUE : 0;
		/* A client wants no less than it holds, and goes from CW to PR by PW. */
		return bftm_mode_covers(ret->mode, ret->arg) &&
		       (!p || !p->mode || bftm_mode_covers(ret->mode, p->mode) ||
			bftm_mode_covers(p->mode, ret->mode));
	}
	what -= 35;
	if (what < 5) {
		ret->mode = (u8)(BFTM_MODE_CR + what);
		ret->k = 1;		/* late, unless it is the first */
		return s->sends[client - 1];
	}
	what -= 5;
	ret->type = what ? BFTM_MSG_YIELD : BFTM_MSG_RELEASE;
	if (!what--)
		return true;
	ret->arg = (u8)(what % 6);
	ret->gno = p ? gno_of(s, p) - what / 6 : 0;
	return p && p->mode;
}

/* Return: true when it leads to @t, which @settled says is checked further. */
static bool move(const struct state *s, u32 number, bool settle, struct state *t)
{
	struct bftm_msg req;

	if (!message(s, number, &req))
		return false;
	load(s);
	bftm_server_step(&cfg, &lock, &req, T0, &reply, &push);
	memset(t, 0, sizeof(*t));
	save(t);
	memcpy(t->sends, s->sends, sizeof(t->sends));
	if (req.type == BFTM_MSG_TRY && req.k > t->sends[req.client - 1])
		t->sends[req.client - 1] = req.k;
	check_step(s, t, &req);
	if (settle)
		check_settled();
	return true;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct state));
}

/* The states that one more message leads to, each once. */
static u32 next_states(const struct state *from, u32 count, struct state **ret)
{
	struct state *all = test_malloc((size_t)count * MOVES * sizeof(*all));
	u32 i, n = 0, kept = 0, number;

	for (i = 0; i < count; i++)
		for (number = 0; number < MOVES; number++)
			n += move(&from[i], number, true, &all[n]);
	qsort(all, n, sizeof(*all), compare);
	for (i = 0; i < n; i++)
		if (!i || compare(&all[i], &all[kept - 1]))
			all[kept++] = all[i];
	*ret = all;
	return kept;
}

static void every_message_in_every_state(void **state)
{
	struct state start = {}, after, *one, *two;
	u32 ones, twos, i, number;
	u64 checked = 0;

	(void)state;
	bftm_lock_init(&start.lock, GNO, 0);
	ones = next_states(&start, 1, &one);
	twos = next_states(one, ones, &two);
	for (i = 0; i < twos; i++)
		for (number = 0; number < MOVES; number++)
			checked += move(&two[i], number, true, &after);
	print_message("# %u and %u states, %llu messages in these\n", ones, twos,
		      (unsigned long long)checked);
	assert_true(twos > 2000 && checked > 100000);
	test_free(one);
	test_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_in_every_state),
	};

	return cmocka_run_group_tests_name("server modes matrix", tests, NULL, NULL);
}
