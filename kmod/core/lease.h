/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lease arithmetic. The paper counts a lease from contend's return and guards
 * it with Δ + 2δ at the server (Section 4, Lemma 1), which needs every message
 * to arrive within δ. We count from before the first transmission of what the
 * server answered, so message delay leaves the argument and only the rates of
 * two clocks remain: each runs within 1 ± ρ of real time. A server waits
 * ⌈Δ(1 + ρ)⌉ plus a tick, a client uses ⌊Δ(1 - ρ)⌋ less a tick.
 * A lease ends by kmod/client/timer.c at its holder, and by bftm_lock_expire() at a server.
 *
 * BFTM_LEASE_NONE in place of Δ: the grant has no end, and no clock is assumed.
 */
#ifndef BFTM_CORE_LEASE_H
#define BFTM_CORE_LEASE_H

#include "core/limits.h"
#include "core/types.h"

/* ⌈lease · ρ⌉ in ns; lease <= 3.6e12 ns and ρ <= 1e5 ppm cannot overflow. */
static inline u64 bftm_drift(u64 lease_ns, u32 rho_ppm)
{
	return div_u64(lease_ns * rho_ppm + 999999, 1000000);
}

/** bftm_lease_at_server() - ns for which a server keeps a grant of @lease_ns. */
static inline u64 bftm_lease_at_server(u64 lease_ns, u32 rho_ppm)
{
	return lease_ns + bftm_drift(lease_ns, rho_ppm) + BFTM_TICK_NS;
}

/** bftm_lease_at_client() - ns after the send for which a grant is good. */
static inline u64 bftm_lease_at_client(u64 lease_ns, u32 rho_ppm)
{
	return lease_ns - bftm_drift(lease_ns, rho_ppm) - BFTM_TICK_NS;
}

/** bftm_grant_end() - the last instant at which a grant counts for its client that sent at @from */
static inline u64 bftm_grant_end(u64 from_ns, u64 lease_ns, u32 rho_ppm)
{
	return lease_ns == BFTM_LEASE_NONE ? BFTM_LEASE_NONE :
					     from_ns + bftm_lease_at_client(lease_ns, rho_ppm);
}

/** bftm_grant_until() - the last instant at which a server keeps a grant that it makes at @now */
static inline u64 bftm_grant_until(u64 now, u64 lease_ns, u32 rho_ppm)
{
	return lease_ns == BFTM_LEASE_NONE ? BFTM_LEASE_NONE :
					     now + bftm_lease_at_server(lease_ns, rho_ppm);
}

/** bftm_pace() - ns that stand for Δ in the pace of polls and sleeps */
static inline u64 bftm_pace(u64 lease_ns)
{
	return lease_ns == BFTM_LEASE_NONE ? BFTM_PACE_NS : lease_ns;
}

/** bftm_poll() - the least ns between two TRY of a client that waits in the queue */
static inline u64 bftm_poll(u64 lease_ns)
{
	return bftm_pace(lease_ns) / 8;
}

/** bftm_poll_window() - ns after which a client that was not heard waits no more */
static inline u64 bftm_poll_window(u64 lease_ns)
{
	return 8 * bftm_poll(lease_ns);
}

/**
 * bftm_poll_informed() - ns between two TRY of one that knows how long it will wait
 * @lease_ns: the lease asked for, ns
 * @wait_ns:  T_w, ns
 *
 * Informed backoff (Lin and others 2004, Section 4): half of what is left, since the estimate may
 * be wrong. A lease counts from the newest TRY that a server has heard, so half of it is the most:
 * grants of older polls would be almost over, and cost one more round trip.
 */
static inline u64 bftm_poll_informed(u64 lease_ns, u64 wait_ns)
{
	u64 least = bftm_poll(lease_ns);

	if (wait_ns / 2 < least)
		return least;
	return wait_ns / 2 < 4 * least ? wait_ns / 2 : 4 * least;
}

/**
 * bftm_lease_least() - ns that must be left of a lease when a lock is taken by it
 * @lease_ns: the lease asked for, ns
 *
 * One and a half polls, at most a fifth of the lease: with less, what liars say to an early send
 * would make wins that are over at once. The next poll has the lease begin anew.
 */
static inline u64 bftm_lease_least(u64 lease_ns)
{
	u64 polls = bftm_poll(lease_ns) + bftm_poll(lease_ns) / 2;

	return polls < lease_ns / 5 ? polls : lease_ns / 5;
}

/**
 * bftm_look_after() - ns for which a timer sleeps that waits for @left_ns
 * @left_ns: what is left by the clock of leases, ns
 *
 * The clock of timers may be slower than that of leases, by an eighth at most. So a timer of seven
 * eighths fires in time. Up to 8 ms the timer sleeps for all of @left_ns, and may be 1 ms late.
 */
static inline u64 bftm_look_after(u64 left_ns)
{
	return left_ns > 8 * BFTM_NS_PER_MS ? left_ns - left_ns / 8 : left_ns;
}

#endif /* BFTM_CORE_LEASE_H */
