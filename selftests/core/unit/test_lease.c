// SPDX-License-Identifier: GPL-2.0
/*
 * A lease seen by two clocks: whatever their rates within 1 ± ρ, their phases
 * and their granularity up to a tick, the client stops before the server
 * gives the lock away.
 */
#include "unit.h"

#include "core/lease.h"

#define PPM 1000000

typedef __int128 i128;

static const struct {
	const char *what;
	u64 lease_ns;
	u32 rho_ppm;
	u64 server, client;
} table[] = {
	{ "shortest, best clocks", 1000000, 1, 1001001, 998999 },
	{ "shortest, worst clocks", 1000000, 100000, 1101000, 899000 },
	{ "one ns more rounds up", 1000001, 1, 1001003, 998999 },
	{ "the last ns before", 1999999, 1, 2001001, 1998997 },
	{ "two ms", 2000000, 1, 2001002, 1998998 },
	{ "default", 10000000000, 2000, 10020001000, 9979999000 },
	{ "longest, best clocks", 3600000000000, 1, 3600003601000, 3599996399000 },
	{ "longest, worst clocks", 3600000000000, 100000, 3960000001000, 3239999999000 },
	{ "longest but one ns", 3599999999999, 100000, 3960000000999, 3239999998999 },
};

static void boundary_values(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (bftm_lease_at_server(table[i].lease_ns, table[i].rho_ppm) != table[i].server ||
		    bftm_lease_at_client(table[i].lease_ns, table[i].rho_ppm) != table[i].client)
			fail_msg("%s: server %llu, client %llu", table[i].what,
				 (unsigned long long)bftm_lease_at_server(table[i].lease_ns,
									  table[i].rho_ppm),
				 (unsigned long long)bftm_lease_at_client(table[i].lease_ns,
									  table[i].rho_ppm));
	}
}

/*
 * ⌈Δ(1 + ρ)⌉ + tick and ⌊Δ(1 - ρ)⌋ - tick: safe means not a ns less or more,
 * tight means not a whole ns wasted.
 */
static void check_rounding(u64 lease, u32 rho)
{
	i128 server = (i128)bftm_lease_at_server(lease, rho) - BFTM_TICK_NS;
	i128 client = (i128)bftm_lease_at_client(lease, rho) + BFTM_TICK_NS;
	i128 up = (i128)lease * (PPM + rho), down = (i128)lease * (PPM - rho);

	assert_true(server * PPM >= up && (server - 1) * PPM < up);
	assert_true(client * PPM <= down && (client + 1) * PPM > down);
	assert_true(client > (i128)BFTM_TICK_NS);
}

static void rounding_exhaustive_small(void **state)
{
	u64 lease;
	u32 rho;

	(void)state;
	for (rho = 1; rho <= 1500; rho++)
		for (lease = BFTM_LEASE_MIN_NS; lease < BFTM_LEASE_MIN_NS + 1200; lease++)
			check_rounding(lease, rho);
}

static void rounding_random(void **state)
{
	u64 rnd = unit_seed(__func__);
	u32 i;

	(void)state;
	for (i = 0; i < 500000; i++)
		check_rounding(unit_between(&rnd, BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS),
			       (u32)unit_between(&rnd, BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM));
}

/**
 * struct clock - a process's clock
 * @ppm:   rate against real time, deviation
 * @phase: at real time 0, ns
 * @grain: what it shows is a multiple of this, ns
 */
struct clock {
	i128 ppm, phase, grain;
};

/* The reading of the clock at real time @t, in ps so that nothing is hidden. */
static i128 show(const struct clock *c, i128 t_ps)
{
	i128 ns = (t_ps * (PPM + c->ppm) / PPM + c->phase * 1000) / 1000;

	return ns / c->grain * c->grain;
}

/* The first ps of real time at which the clock shows more than @limit. */
static i128 first_later(const struct clock *c, i128 limit)
{
	i128 shown = (limit / c->grain + 1) * c->grain;
	i128 num = (shown - c->phase) * 1000 * PPM;
	i128 t = (num + PPM + c->ppm - 1) / (PPM + c->ppm);

	assert_true(show(c, t) > limit && show(c, t - 1) <= limit);
	return t;
}

static struct clock random_clock(u64 *rnd, i128 ppm)
{
	return (struct clock){
		.ppm = ppm,
		.phase = (i128)unit_between(rnd, 0, 10 * BFTM_TICK_NS),
		.grain = (i128)unit_between(rnd, 1, BFTM_TICK_NS),
	};
}

/*
 * The client reads its clock and sends; the server gets it at once, the worst
 * case for the client. Returns by how many ps the server is the later one.
 */
static i128 margin(u64 *rnd, u64 lease, u32 rho, i128 client_ppm, i128 server_ppm, i128 no_tick)
{
	struct clock client = random_clock(rnd, client_ppm);
	struct clock server = random_clock(rnd, server_ppm);
	i128 sent = (i128)unit_between(rnd, 0, 100 * BFTM_NS_PER_US * 1000);
	i128 end = show(&client, sent) + (i128)bftm_lease_at_client(lease, rho) + no_tick;
	i128 until = show(&server, sent) + (i128)bftm_lease_at_server(lease, rho) - no_tick;

	return first_later(&server, until) - first_later(&client, end);
}

static void every_pair_of_rates_within_rho(void **state)
{
	static const u64 lease[] = {
		BFTM_LEASE_MIN_NS, BFTM_LEASE_MIN_NS + 1, 1234567, 10000000,
	};
	u64 rnd = unit_seed(__func__);
	u32 rho, i;
	i128 c, s;

	(void)state;
	for (rho = 1; rho <= 16; rho++)
		for (c = -(i128)rho; c <= rho; c++)
			for (s = -(i128)rho; s <= rho; s++)
				for (i = 0; i < ARRAY_SIZE(lease); i++)
					assert_true(margin(&rnd, lease[i], rho, c, s, 0) >= 0);
}

static void worst_rates_of_any_lease(void **state)
{
	u64 rnd = unit_seed(__func__), lease;
	u32 i, rho;

	(void)state;
	for (i = 0; i < 200000; i++) {
		lease = i & 1 ? unit_between(&rnd, BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS) :
				BFTM_LEASE_MIN_NS + i;
		rho = i % 7 ? (u32)unit_between(&rnd, 1, BFTM_RHO_MAX_PPM) : BFTM_RHO_MAX_PPM;
		assert_true(margin(&rnd, lease, rho, -(i128)rho, rho, 0) >= 0);
	}
}

/* The same check finds what is too fast for ρ, and a missing tick. */
static void the_check_has_teeth(void **state)
{
	u64 rnd = unit_seed(__func__);
	u32 i, drift = 0, tick = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		drift += margin(&rnd, 100000000, 1000, -1000, 1100, 0) < 0;
		tick += margin(&rnd, BFTM_LEASE_MIN_NS, 1, -1, 1, BFTM_TICK_NS) < 0;
	}
	assert_int_not_equal(drift, 0);
	assert_int_not_equal(tick, 0);
}

/* Timers that take an eighth longer than they were told look in time, and not for ever. */
static void slow_timers(void **state)
{
	u64 rnd = unit_seed(__func__), left, took;
	u32 i, looks;

	(void)state;
	for (i = 0; i < 20000; i++) {
		left = unit_between(&rnd, 0, i & 1 ? 10 * BFTM_NS_PER_MS : BFTM_LEASE_MAX_NS);
		for (looks = 0; left; looks++) {
			took = bftm_look_after(left);
			assert_true(took && took <= left);
			took += took / 8;
			assert_true(took <= left + BFTM_NS_PER_MS);
			left -= took < left ? took : left;
		}
		assert_true(looks <= 6);
	}
	assert_int_equal(0, bftm_look_after(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boundary_values),
		cmocka_unit_test(rounding_exhaustive_small),
		cmocka_unit_test(rounding_random),
		cmocka_unit_test(every_pair_of_rates_within_rho),
		cmocka_unit_test(worst_rates_of_any_lease),
		cmocka_unit_test(the_check_has_teeth),
		cmocka_unit_test(slow_timers),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
