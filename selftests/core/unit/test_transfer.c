// SPDX-License-Identifier: GPL-2.0
/* Bodies in pieces: each piece arrives whatever is lost, and no more fly than may. */
#include "unit.h"

#include "core/ordering/transfer.h"

#define RESEND	(10 * BFTM_NS_PER_MS)

static u32 count_next(struct bftm_transfer *t, u64 now)
{
	u32 n = 0;

	while (bftm_transfer_next(t, RESEND, now) != BFTM_TRANSFER_NONE)
		n++;
	return n;
}

static void test_one_piece(void **state)
{
	struct bftm_transfer t;

	(void)state;
	bftm_transfer_begin(&t, 1);
	assert_int_equal(t.pieces, 1);
	assert_int_equal(bftm_transfer_next(&t, RESEND, 5), 0);
	assert_int_equal(bftm_transfer_len(&t, 0), 1);
	assert_int_equal(bftm_transfer_next(&t, RESEND, 5), BFTM_TRANSFER_NONE);
	assert_int_equal(t.wake_ns, 5 + RESEND);
	assert_false(bftm_transfer_complete(&t));
	assert_true(bftm_transfer_piece(&t, 0, RESEND, 6));
	assert_true(bftm_transfer_complete(&t));
	assert_int_equal(t.wake_ns, 0);
}

static void test_last_piece(void **state)
{
	struct bftm_transfer t;

	(void)state;
	bftm_transfer_begin(&t, 2 * BFTM_PIECE_LEN);
	assert_int_equal(t.pieces, 2);
	assert_int_equal(bftm_transfer_len(&t, BFTM_PIECE_LEN), BFTM_PIECE_LEN);
	bftm_transfer_begin(&t, 2 * BFTM_PIECE_LEN + 7);
	assert_int_equal(t.pieces, 3);
	assert_int_equal(bftm_transfer_len(&t, 2 * BFTM_PIECE_LEN), 7);
	bftm_transfer_begin(&t, BFTM_STATE_MAX);
	assert_int_equal(t.pieces, BFTM_PIECES_MAX);
}

static void test_no_piece_of_it(void **state)
{
	struct bftm_transfer t;

	(void)state;
	bftm_transfer_begin(&t, BFTM_PIECE_LEN + 1);
	assert_int_equal(count_next(&t, 0), 2);
	assert_false(bftm_transfer_piece(&t, 1, RESEND, 0));
	assert_false(bftm_transfer_piece(&t, 2 * BFTM_PIECE_LEN, RESEND, 0));
	assert_false(bftm_transfer_piece(&t, ~0u, RESEND, 0));
	assert_true(bftm_transfer_piece(&t, BFTM_PIECE_LEN, RESEND, 0));
	assert_false(bftm_transfer_piece(&t, BFTM_PIECE_LEN, RESEND, 0));
	assert_false(bftm_transfer_complete(&t));
}

static void test_window(void **state)
{
	struct bftm_transfer t;
	u32 window, i;

	(void)state;
	bftm_transfer_begin(&t, BFTM_STATE_MAX);
	window = t.window;
	assert_int_equal(count_next(&t, 0), window);
	/* Each piece done makes room for itself, and for one more. */
	assert_true(bftm_transfer_piece(&t, 0, RESEND, 0));
	assert_int_equal(count_next(&t, 0), 2);
	for (i = 1; i < window; i++)
		assert_true(bftm_transfer_piece(&t, i * BFTM_PIECE_LEN, RESEND, 0));
	assert_int_equal(t.window, BFTM_TRANSFER_WINDOW_MAX);
	count_next(&t, 0);
	assert_int_equal(t.flying, BFTM_TRANSFER_WINDOW_MAX);
	/* All are lost. */
	assert_true(bftm_transfer_wake(&t, t.wake_ns - 1));
	assert_int_equal(t.flying, BFTM_TRANSFER_WINDOW_MAX);
	assert_true(bftm_transfer_wake(&t, t.wake_ns));
	assert_int_equal(count_next(&t, RESEND), BFTM_TRANSFER_WINDOW_MAX / 2);
}

static void test_give_up(void **state)
{
	struct bftm_transfer t;
	u64 now = 0;
	u32 i;

	(void)state;
	bftm_transfer_begin(&t, 10 * BFTM_PIECE_LEN);
	for (i = 0; i < BFTM_TRANSFER_REPEATS; i++) {
		assert_true(count_next(&t, now) > 0);
		now = t.wake_ns;
		assert_true(bftm_transfer_wake(&t, now));
	}
	count_next(&t, now);
	assert_int_equal(t.window, BFTM_TRANSFER_WINDOW_MIN);
	/* A piece that comes late is one that has come. */
	assert_true(bftm_transfer_piece(&t, 9 * BFTM_PIECE_LEN, RESEND, now));
	assert_int_equal(t.repeats, 0);
	for (i = 0; i < BFTM_TRANSFER_REPEATS; i++) {
		count_next(&t, now);
		now = t.wake_ns;
		assert_true(bftm_transfer_wake(&t, now));
	}
	count_next(&t, now);
	assert_false(bftm_transfer_wake(&t, t.wake_ns));
	assert_int_equal(t.wake_ns, 0);
}

/* Any loss short of all: done in the end, each piece once, never more than may fly. */
static void lossy(u64 *rnd, u32 len, u32 percent)
{
	static u32 flying[2 * BFTM_TRANSFER_WINDOW_MAX];
	struct bftm_transfer t;
	u32 i, n, done = 0, offset;
	u64 now = 0;

	bftm_transfer_begin(&t, len);
	while (!bftm_transfer_complete(&t)) {
		n = 0;
		while ((offset = bftm_transfer_next(&t, RESEND, now)) != BFTM_TRANSFER_NONE) {
			assert_true(n < ARRAY_SIZE(flying));
			flying[n++] = offset;
		}
		assert_true(t.flying <= BFTM_TRANSFER_WINDOW_MAX);
		now++;
		for (i = 0; i < n; i++) {
			if (unit_between(rnd, 1, 100) <= percent)
				continue;
			done += bftm_transfer_piece(&t, flying[i], RESEND, now);
			/* Twice sometimes: the answer was repeated. */
			if (unit_between(rnd, 0, 3) == 0)
				assert_false(bftm_transfer_piece(&t, flying[i], RESEND, now));
		}
		if (!n) {
			assert_true(t.wake_ns > now);
			now = t.wake_ns;
			if (!bftm_transfer_wake(&t, now))
				return;		/* so much in a row was lost */
		}
	}
	assert_int_equal(done, t.pieces);
}

static void test_lossy(void **state)
{
	u64 rnd = unit_seed("lossy");
	int i;

	(void)state;
	for (i = 0; i < 300; i++)
		lossy(&rnd, (u32)unit_between(&rnd, 1, BFTM_STATE_MAX),
		      (u32)unit_between(&rnd, 0, 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_piece),
		cmocka_unit_test(test_last_piece),
		cmocka_unit_test(test_no_piece_of_it),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_give_up),
		cmocka_unit_test(test_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
