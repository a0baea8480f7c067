// SPDX-License-Identifier: GPL-2.0
// prove: eva all_small bftm_all bftm_later bftm_later_most bftm_speed_slow bftm_kth_largest bftm_poll bftm_poll_window bftm_poll_informed bftm_look_after: every time, up to 31 values
// prove: memory all_counts bftm_count: every set of servers
// prove: memory all_speeds bftm_speed_answered: every mean and time
// prove: memory all_leases bftm_drift bftm_lease_at_server bftm_lease_at_client bftm_grant_end bftm_grant_until bftm_pace: every lease and drift
// prove: memory all_quorums bftm_free_needed bftm_grants_needed bftm_spared bftm_sigma_default bftm_literal_quorum bftm_fence_quorum bftm_order_quorum bftm_servers_needed bftm_servers_needed_literal bftm_servers_needed_order: every n and b
// prove: memory all_windows bftm_window_take: every window and number
// prove: eva all_modes bftm_mode_conflicts bftm_modes_conflict bftm_mode_covers bftm_mode_join bftm_mode_writes: every pair of modes is as mode_contracts.h says
// frama-c all_modes: -eva-min-loop-unroll 7 -eva-slevel 1000
#include "any.h"
#include "core/lease.h"
#include "core/quorum.c"
#include "core/replay.h"
#include "core/resend.h"
#include "core/servers.h"
#include "core/speed.h"
#include "mode_contracts.h"

void all_small(void)
{
	u64 value[BFTM_SERVERS_MAX];
	struct bftm_speed speed;
	u32 n = (u32)any_from(1, BFTM_SERVERS_MAX);

	bftm_all(n);
	bftm_later(ANY_TIME, ANY_TIME / 8, (u32)any_from(0, ~0u));
	bftm_later_most(ANY_TIME, ANY_TIME, (u32)any_from(0, ~0u), ANY_TIME);
	any(speed);
	bftm_speed_slow(&speed, (u32)any_from(0, BFTM_SERVERS_MAX - 1), ANY_TIME);
	any(value);
	bftm_kth_largest(value, n, (u32)any_from(0, ~0u));
	bftm_poll_window(ANY_TIME);
	bftm_poll_informed(ANY_TIME, any_from(0, ~0ull));
	bftm_look_after(ANY_TIME);
}

void all_counts(void)
{
	bftm_count((u32)any_from(0, ~0u));
}

void all_speeds(void)
{
	struct bftm_speed speed;

	any(speed);
	bftm_speed_answered(&speed, (u32)any_from(0, BFTM_SERVERS_MAX - 1), ANY_TIME, ANY_TIME);
}

void all_leases(void)
{
	u64 lease = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS);
	u32 rho = (u32)any_from(BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM);

	bftm_drift(lease, rho);
	bftm_lease_at_server(lease, rho);
	bftm_lease_at_client(lease, rho);
	lease = any_bool() ? BFTM_LEASE_NONE : lease;
	bftm_grant_end(ANY_TIME, lease, rho);
	bftm_grant_until(ANY_TIME, lease, rho);
	bftm_pace(lease);
}

void all_quorums(void)
{
	u32 n = (u32)any_from(1, BFTM_SERVERS_MAX);
	u32 b = (u32)any_from(0, (n - 1) / 3);

	bftm_free_needed(n, b);
	bftm_grants_needed(n, b, (u32)any_from(0, BFTM_SERVERS_MAX));
	bftm_sigma_default(n, b);
	bftm_spared(n, b, (u32)any_from(0, BFTM_SERVERS_MAX));
	bftm_literal_quorum(n, b);
	bftm_fence_quorum(n, b);
	bftm_order_quorum(n, b);
	bftm_servers_needed(b);
	bftm_servers_needed_literal(b);
	bftm_servers_needed_order(b, any_bool());
}

void all_windows(void)
{
	struct bftm_window window;

	any(window);
	bftm_window_take(&window, any_from(0, ~0ull));
}

void all_modes(void)
{
	int a, b;

	for (a = BFTM_MODE_NL; a < BFTM_MODES; a++)
		for (b = BFTM_MODE_NL; b < BFTM_MODES; b++) {
			bool excludes = bftm_modes_conflict((enum bftm_mode)a, (enum bftm_mode)b);
			bool covered = bftm_mode_covers((enum bftm_mode)a, (enum bftm_mode)b);
			int join = bftm_mode_join((enum bftm_mode)a, (enum bftm_mode)b);

			//@ assert exclude: excludes <==> conflict(a, b);
			//@ assert cover: covered <==> covers(a, b);
			bool writes = bftm_mode_writes((enum bftm_mode)a);

			//@ assert join: covers(join, a) && covers(join, b);
			//@ assert writes: writes <==> a >= 4;
			if (bftm_mode_writes((enum bftm_mode)a) && bftm_mode_writes((enum bftm_mode)b)) {
				//@ assert writers: excludes;
			}
		}
}
