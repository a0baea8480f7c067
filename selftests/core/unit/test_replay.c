// SPDX-License-Identifier: GPL-2.0
/*
 * The window of sequence numbers against a plain set that forgets nothing:
 * no number is ever taken twice, and none that is young enough is refused.
 */
#include "unit.h"

#include "cluster/identity.h"
#include "core/replay.h"

/* Kept for sure, and forgotten for sure, behind the highest number. */
#define KEPT	(BFTM_WINDOW_BITS - 64)
#define GONE	BFTM_WINDOW_BITS

#define SLOTS	(1u << 22)

/** struct set - open addressing; 0 is no member */
struct set {
	u64 slot[SLOTS];
	u32 count;
};

static bool set_add(struct set *s, u64 seq)
{
	u64 hash = seq * 0x9e3779b97f4a7c15u >> 42;

	while (s->slot[hash] && s->slot[hash] != seq)
		hash = (hash + 1) % SLOTS;
	if (s->slot[hash] == seq)
		return false;
	s->slot[hash] = seq;
	s->count++;
	assert_true(s->count < SLOTS - SLOTS / 4);
	return true;
}

/** struct pair - the window and what it must agree with */
struct pair {
	struct bftm_window window;
	struct set *taken;
	u64 top;
};

static void pair_init(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->taken = calloc(1, sizeof(*p->taken));
	assert_non_null(p->taken);
}

static void offer(struct pair *p, u64 seq)
{
	bool fresh = bftm_window_take(&p->window, seq);

	if (!seq) {
		assert_false(fresh);
		return;
	}
	if (fresh) {
		assert_true(set_add(p->taken, seq));		/* never twice */
		assert_true(seq > p->top || p->top - seq < GONE);
	} else if (p->top - seq < KEPT) {
		assert_true(seq <= p->top);
		assert_false(set_add(p->taken, seq));		/* never without cause */
	}
	if (seq > p->top)
		p->top = seq;
	assert_int_equal(p->window.top, p->top);
}

/* Mostly near the top, sometimes far behind, sometimes a jump ahead. */
static u64 some_seq(u64 *rnd, u64 top, u64 limit)
{
	u64 ahead;

	switch (unit_random(rnd) % 16) {
	case 0:
		return unit_random(rnd) % (top ? top : 1);
	case 1:
		ahead = unit_between(rnd, 0, 3000);
		break;
	case 2:
		return top - unit_random(rnd) % (top < 2000 ? top + 1 : 2000);
	case 3:
		/* The edges of the window, one to either side. */
		ahead = unit_between(rnd, 0, 2) + (unit_random(rnd) & 1 ? KEPT : GONE);
		return top > ahead ? top - ahead + 1 : 0;
	default:
		if (unit_random(rnd) & 1)
			return top - unit_random(rnd) % (top < 64 ? top + 1 : 64);
		ahead = unit_between(rnd, 1, 8);
	}
	return ahead > limit - top ? limit : top + ahead;
}

static void millions_of_random_numbers(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct pair p;
	u32 i;

	(void)state;
	pair_init(&p);
	for (i = 0; i < 3000000; i++)
		offer(&p, some_seq(&rnd, p.top, ~0ull));
	free(p.taken);
}

/* Incarnations are the high half: numbers may begin anywhere and jump far. */
static void incarnations_and_the_end_of_all_numbers(void **state)
{
	static const u64 base[] = {
		1, 63, 64, 1023, 1024, 1ull << 32, (1ull << 32) - 1, 1ull << 63,
		~0ull - 100000, ~0ull - 1024, ~0ull - 960, ~0ull - 64, ~0ull - 1, ~0ull,
	};
	u64 rnd = unit_seed(__func__);
	struct pair p;
	size_t i;
	u32 j;

	(void)state;
	pair_init(&p);
	for (i = 0; i < ARRAY_SIZE(base); i++) {
		offer(&p, base[i]);
		for (j = 0; j < 5000; j++)
			offer(&p, some_seq(&rnd, p.top, ~0ull));
	}
	assert_int_equal(p.top, ~0ull);
	offer(&p, ~0ull);
	offer(&p, 1);		/* nothing wraps: it is old */
	offer(&p, 0);
	free(p.taken);
}

/* In order, backwards, and in order again. */
static void sweeps(void **state)
{
	static const u64 base[] = { 0, 1, 64, 1000, 1ull << 40, ~0ull - 5000 };
	struct bftm_window w;
	size_t i;
	u64 seq;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(base); i++) {
		memset(&w, 0, sizeof(w));
		assert_true(bftm_window_take(&w, base[i] + 2000));
		for (seq = base[i] + 1999; seq > base[i] + 2000 - KEPT; seq--)
			assert_true(bftm_window_take(&w, seq));
		for (seq = base[i] + 1; seq <= base[i] + 2000; seq++)
			if (seq > base[i] + 2000 - KEPT || seq + GONE <= base[i] + 2000)
				assert_false(bftm_window_take(&w, seq));
		for (seq = base[i] + 2001; seq <= base[i] + 4900; seq++) {
			assert_true(bftm_window_take(&w, seq));
			assert_false(bftm_window_take(&w, seq));
			assert_false(bftm_window_take(&w, seq - KEPT));
		}
	}
}

/* Every jump that clears some words but not all, or just all of them. */
static void jumps_keep_what_is_near_and_forget_what_is_far(void **state)
{
	struct bftm_window w;
	u64 jump, top = 4096, seq;

	(void)state;
	for (jump = 1; jump <= 3 * BFTM_WINDOW_BITS; jump++) {
		memset(&w, 0, sizeof(w));
		for (seq = top - KEPT + 1; seq <= top; seq += 7)
			assert_true(bftm_window_take(&w, seq));
		assert_true(bftm_window_take(&w, top + jump));
		for (seq = top - KEPT + 1; seq <= top; seq++) {
			bool before = !((seq - (top - KEPT + 1)) % 7);
			bool kept = top + jump - seq < KEPT;

			if (kept || top + jump - seq >= GONE)
				assert_int_equal(bftm_window_holds(&w, seq), kept);
			if (kept || before)
				assert_int_equal(bftm_window_take(&w, seq), kept && !before);
		}
	}
}

static void zero_is_never_taken(void **state)
{
	struct bftm_window w = {};

	(void)state;
	assert_false(bftm_window_take(&w, 0));
	assert_int_equal(w.top, 0);
	assert_true(bftm_window_take(&w, 1));
	assert_false(bftm_window_take(&w, 1));
	assert_false(bftm_window_take(&w, 0));
}

/* A YIELD that an adopter of the lock does not know of: it is too late, wherever it stands. */
static void what_is_skipped_is_refused(void **state)
{
	struct bftm_counters counters;
	struct bftm_identity id = { .counters = &counters };
	struct bftm_window w;
	u64 last, late;

	(void)state;
	for (last = 4096; last < 4096 + 64; last++) {
		memset(&w, 0, sizeof(w));
		counters.seq = last;
		bftm_identity_skip(&id);
		assert_true(bftm_window_take(&w, bftm_identity_next_seq(&id)));
		for (late = last - 64; late <= last; late++)
			assert_false(bftm_window_take(&w, late));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(millions_of_random_numbers),
		cmocka_unit_test(incarnations_and_the_end_of_all_numbers),
		cmocka_unit_test(sweeps),
		cmocka_unit_test(jumps_keep_what_is_near_and_forget_what_is_far),
		cmocka_unit_test(zero_is_never_taken),
		cmocka_unit_test(what_is_skipped_is_refused),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
