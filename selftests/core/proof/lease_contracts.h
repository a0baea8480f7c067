/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of lease.h, for all leases and bounds on the rate of clocks. */
#ifndef PROOF_LEASE_CONTRACTS_H
#define PROOF_LEASE_CONTRACTS_H

#include "core/types.h"

#define UNKNOWN 0xffffffffffffffff	/* BFTM_TOKEN_UNKNOWN; in ACSL ~0 is -1 */

/*@ predicate lease_ok(integer lease) = 1000000 <= lease <= 3600000000000;
  @ // Of a request, or a grant: with a lease or without.
  @ predicate asked_ok(integer lease) = lease_ok(lease) || lease == 0xffffffffffffffff;
  @ logic integer pace(integer lease) = lease == 0xffffffffffffffff ? 8000000000 : lease;
  @ predicate rho_ok(integer rho) = 1 <= rho <= 100000;
  @ // No clock of leases gets to 2^62 ns, which is 146 years.
  @ predicate time_ok(integer now) = 0 <= now < 0x4000000000000000;
  @ logic integer drift(integer lease, integer rho) = (lease * rho + 999999) / 1000000;
  @ logic integer at_client(integer lease, integer rho) = lease - drift(lease, rho) - 1000;
  @*/

/*@ requires divisor != 0;
  @ assigns \nothing;
  @ ensures \result == dividend / divisor;
  @*/
static inline u64 div_u64(u64 dividend, u32 divisor);

/* A recording may have shorter leases than a request, and clocks that do not drift. */
/*@ requires lease_ns <= 3600000000000 && rho_ppm <= 100000;
  @ assigns \nothing;
  @ ensures \result == drift(lease_ns, rho_ppm);
  @ ensures up: \result * 1000000 >= lease_ns * rho_ppm;
  @ ensures least: (\result - 1) * 1000000 < lease_ns * rho_ppm;
  @ ensures range: 10 * \result <= lease_ns + 10;
  @*/
static inline u64 bftm_drift(u64 lease_ns, u32 rho_ppm);

/* How long a guard is matters to wp_lease.c only; elsewhere it is a number like any other. */
#ifdef PROOF_ANY_GUARD
/*@ axiomatic Guard { logic integer at_server(integer lease, integer rho); } */
#define ENOUGH 0 < 1
#else
/*@ logic integer at_server(integer lease, integer rho) = lease + drift(lease, rho) + 1000; */
#define ENOUGH 1000000 * (\result - 1000) >= lease_ns * (1000000 + rho_ppm)
#endif

/*@ requires lease_ok(lease_ns) && rho_ok(rho_ppm);
  @ assigns \nothing;
  @ ensures \result == at_server(lease_ns, rho_ppm);
  @ ensures enough: ENOUGH;
  @ ensures range: lease_ns < \result <= 4000000000000;
  @*/
static inline u64 bftm_lease_at_server(u64 lease_ns, u32 rho_ppm);

/*@ requires lease_ok(lease_ns) && rho_ok(rho_ppm);
  @ assigns \nothing;
  @ ensures \result == at_client(lease_ns, rho_ppm);
  @ ensures enough: 1000000 * (\result + 1000) <= lease_ns * (1000000 - rho_ppm);
  @ ensures range: 0 < \result < lease_ns;
  @*/
static inline u64 bftm_lease_at_client(u64 lease_ns, u32 rho_ppm);

/*@ // How long a client counts on a grant, and up to when.
  @ logic integer good_for(integer lease, integer rho) =
  @   lease == 0xffffffffffffffff ? 0xffffffffffffffff : at_client(lease, rho);
  @ logic integer grant_end(integer from, integer lease, integer rho) =
  @   lease == 0xffffffffffffffff ? 0xffffffffffffffff : from + at_client(lease, rho);
  @*/

/*@ requires asked_ok(lease_ns) && rho_ok(rho_ppm) && time_ok(from_ns);
  @ assigns \nothing;
  @ ensures \result == grant_end(from_ns, lease_ns, rho_ppm);
  @*/
static inline u64 bftm_grant_end(u64 from_ns, u64 lease_ns, u32 rho_ppm);

/*@ // The last instant of a grant that is made now: without a lease it has no end.
  @ logic integer until(integer now, integer lease, integer rho) =
  @   lease == 0xffffffffffffffff ? 0xffffffffffffffff : now + at_server(lease, rho);
  @*/

/*@ requires asked_ok(lease_ns) && rho_ok(rho_ppm) && time_ok(now);
  @ assigns \nothing;
  @ ensures \result == until(now, lease_ns, rho_ppm);
  @ ensures range: now < \result;
  @ ensures most: lease_ns != UNKNOWN ==> \result <= now + 4000000000000;
  @*/
static inline u64 bftm_grant_until(u64 now, u64 lease_ns, u32 rho_ppm);

/*@ requires asked_ok(lease_ns);
  @ assigns \nothing;
  @ ensures \result == pace(lease_ns);
  @*/
static inline u64 bftm_pace(u64 lease_ns);

/*@ requires asked_ok(lease_ns);
  @ assigns \nothing;
  @ ensures range: 125000 <= \result <= pace(lease_ns) / 8;
  @*/
static inline u64 bftm_poll(u64 lease_ns);

/*@ requires asked_ok(lease_ns);
  @ assigns \nothing;
  @ ensures range: 1000000 <= \result <= pace(lease_ns);
  @*/
static inline u64 bftm_poll_window(u64 lease_ns);

/*@ requires asked_ok(lease_ns);
  @ assigns \nothing;
  @ ensures range: 125000 <= \result <= pace(lease_ns) / 2;
  @ ensures informed: \result <= pace(lease_ns) / 8 || \result <= wait_ns / 2;
  @*/
static inline u64 bftm_poll_informed(u64 lease_ns, u64 wait_ns);

/*@ requires asked_ok(lease_ns);
  @ assigns \nothing;
  @ ensures range: 0 < \result <= lease_ns / 5;
  @*/
static inline u64 bftm_lease_least(u64 lease_ns);

#endif
