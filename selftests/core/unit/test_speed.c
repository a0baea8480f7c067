// SPDX-License-Identifier: GPL-2.0
/* Round trips of servers, as they are measured. */
#include "unit.h"

#include "core/speed.h"

#define MS	BFTM_NS_PER_MS
#define T0	(50 * BFTM_NS_PER_SEC)

static void the_first_is_believed(void **state)
{
	struct bftm_speed s = {};

	(void)state;
	assert_false(bftm_speed_slow(&s, 0, 0));	/* nothing is known */
	bftm_speed_answered(&s, 0, T0, T0 + 20 * MS);
	assert_int_equal(s.srtt_ns[0], 20 * MS);
	assert_int_equal(s.srtt_ns[1], 0);
	assert_false(bftm_speed_slow(&s, 0, 20 * MS));
	assert_true(bftm_speed_slow(&s, 0, 20 * MS - 1));
	assert_false(bftm_speed_slow(&s, 1, 0));
	/* A clock that has not moved since is no measurement that is missing. */
	bftm_speed_answered(&s, BFTM_SERVERS_MAX - 1, T0, T0);
	assert_int_equal(s.srtt_ns[BFTM_SERVERS_MAX - 1], 1);
	bftm_speed_answered(&s, 1, T0, T0 - 1);
	assert_int_equal(s.srtt_ns[1], 1);
}

static void each_further_one_moves_it_by_an_eighth(void **state)
{
	struct bftm_speed s = {};

	(void)state;
	bftm_speed_answered(&s, 3, T0, T0 + 8 * MS);
	bftm_speed_answered(&s, 3, T0, T0 + 16 * MS);
	assert_int_equal(s.srtt_ns[3], 9 * MS);
	bftm_speed_answered(&s, 3, T0, T0 + 1 * MS);
	assert_int_equal(s.srtt_ns[3], 8 * MS);
	/* One late answer in a thousand makes nobody slow. */
	bftm_speed_answered(&s, 3, T0, T0 + 80 * MS);
	assert_int_equal(s.srtt_ns[3], 17 * MS);
}

/* A server that is always later than a limit is slow from the first answer on, and for ever. */
static void it_stays_among_what_was_measured(void **state)
{
	u64 rnd = unit_seed("round trips"), least, most, rtt;
	struct bftm_speed s;
	u32 run, i;

	(void)state;
	for (run = 0; run < 100; run++) {
		s = (struct bftm_speed){};
		least = ~0ull;
		most = 0;
		for (i = 0; i < 1000; i++) {
			rtt = unit_between(&rnd, 20 * MS + 1, 20 * MS + 1 + (1ull << run % 40));
			least = rtt < least ? rtt : least;
			most = rtt > most ? rtt : most;
			bftm_speed_answered(&s, 30, T0, T0 + rtt);
			assert_in_range(s.srtt_ns[30], least, most);
			assert_true(bftm_speed_slow(&s, 30, 20 * MS));
		}
	}
}

static void it_follows_a_change(void **state)
{
	struct bftm_speed s = {};
	u32 i;

	(void)state;
	bftm_speed_answered(&s, 2, T0, T0 + 100 * MS);
	for (i = 0; i < 30; i++)
		bftm_speed_answered(&s, 2, T0, T0 + 1 * MS);
	assert_false(bftm_speed_slow(&s, 2, 3 * MS));
	/* And back, however far: nothing overflows. */
	bftm_speed_answered(&s, 2, 0, ~0ull);
	assert_true(bftm_speed_slow(&s, 2, 1ull << 60));
}

/* The F-th smallest of what is known; liars that are slow, or fast, are one among the rest. */
static void the_trip_of_a_quorum(void **state)
{
	struct bftm_speed s = {};

	(void)state;
	assert_int_equal(bftm_speed_of(&s, 1, 7), 7);
	bftm_speed_answered(&s, 3, T0, T0 + 30 * MS);
	bftm_speed_answered(&s, 0, T0, T0 + 900 * MS);
	assert_int_equal(bftm_speed_of(&s, 3, 7), 7);		/* too few are known */
	bftm_speed_answered(&s, 30, T0, T0 + 10 * MS);
	assert_int_equal(bftm_speed_of(&s, 1, 7), 10 * MS);
	assert_int_equal(bftm_speed_of(&s, 2, 7), 30 * MS);
	assert_int_equal(bftm_speed_of(&s, 3, 7), 900 * MS);
	bftm_speed_answered(&s, 1, T0, T0 + 20 * MS);
	assert_int_equal(bftm_speed_of(&s, 3, 7), 30 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_believed),
		cmocka_unit_test(each_further_one_moves_it_by_an_eighth),
		cmocka_unit_test(it_stays_among_what_was_measured),
		cmocka_unit_test(it_follows_a_change),
		cmocka_unit_test(the_trip_of_a_quorum),
	};

	return cmocka_run_group_tests_name("speed", tests, NULL, NULL);
}
