// SPDX-License-Identifier: GPL-2.0
// prove: wp div_u64: the quotient
// prove: wp bftm_drift: the lease times rho, rounded up, for every lease and rho
// prove: wp bftm_lease_at_server: at least lease (1 + rho) and a tick
// prove: wp bftm_lease_at_client: at most lease (1 - rho) less a tick
// prove: wp bftm_grant_end: the send and that, where there is a lease
// prove: wp bftm_grant_until: now and at least lease (1 + rho) and a tick, where there is a lease
// prove: wp bftm_pace: the lease, where there is one
// prove: wp bftm_poll: an eighth of the lease
// prove: wp bftm_poll_window: the lease, or almost
// prove: wp bftm_poll_informed: an eighth to a half of the lease, and more than an eighth only up to half of what is told
// prove: wp bftm_lease_least: more than nothing, and a fifth of the lease at most
// prove: wp cancel: used by what follows
// prove: wp client_ends_first: the client's end is before the server's, for all clocks that run within 1 - rho and 1 + rho and are read a tick too early or too late
// prove: wp quarantine_outlasts: a quarantine is over after each grant of the start before
#include "lease_contracts.h"
#include "core/lease.h"
#include "core/admit.h"

/*@ requires factor >= 1 && x * factor <= y * factor;
  @ assigns \nothing;
  @ ensures x <= y;
  @*/
static void cancel(u64 x, u64 y, u32 factor)
{
	/*@ assert (y - x) * factor >= 0; */
	/*@ assert x > y ==> (y - x) * factor <= -factor; */
}

/*
 * In real time, in units of 10^-6 ns: the client reads its clock as sent_ns no later than it
 * sends; the server reads its own as granted_ns later than that. Both ends are the last
 * readings at which the lock is held, or granted. A clock that goes from x to y took at least
 * (y - x - tick) / (1 + rho), and at most (y - x + tick) / (1 - rho): the tick, half of one at
 * each reading, is that of BFTM_TICK_NS. Then what the client takes at most is less than what
 * the server takes at least.
 */
/*@ requires lease_ok(lease_ns) && rho_ok(rho_ppm);
  @ requires client_takes >= 0 && server_takes >= 0;
  @ requires fast: client_takes * (1000000 - rho_ppm) <=
  @   1000000 * (at_client(lease_ns, rho_ppm) + 1000);
  @ requires slow: server_takes * (1000000 + rho_ppm) >=
  @   1000000 * (at_server(lease_ns, rho_ppm) - 1000);
  @ assigns \nothing;
  @ ensures client_takes <= server_takes;
  @*/
static void client_ends_first(u64 lease_ns, u32 rho_ppm, u64 client_takes, u64 server_takes)
{
	u64 client = bftm_lease_at_client(lease_ns, rho_ppm);
	u64 server = bftm_lease_at_server(lease_ns, rho_ppm);
	/*@ assert client_takes * (1000000 - rho_ppm) <= lease_ns * (1000000 - rho_ppm); */
	cancel(client_takes, lease_ns, 1000000 - rho_ppm);
	/*@ assert client_takes <= lease_ns; */
	/*@ assert server_takes * (1000000 + rho_ppm) >= lease_ns * (1000000 + rho_ppm); */
	cancel(lease_ns, server_takes, 1000000 + rho_ppm);
	/*@ assert server_takes >= lease_ns; */
}

/* The longer lease has the longer guard, so that of lease_max_ns outlasts all. */
/*@ requires lease_ok(lease_ns) && lease_ok(lease_max_ns) && rho_ok(rho_ppm);
  @ requires lease_ns <= lease_max_ns;
  @ assigns \nothing;
  @ ensures at_server(lease_ns, rho_ppm) <= at_server(lease_max_ns, rho_ppm);
  @*/
static void quarantine_outlasts(u64 lease_ns, u64 lease_max_ns, u32 rho_ppm)
{
	/*@ assert lease_ns * rho_ppm <= lease_max_ns * rho_ppm; */
	/*@ assert drift(lease_ns, rho_ppm) <= drift(lease_max_ns, rho_ppm); */
}
