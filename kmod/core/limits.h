/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every limit of bftmutex, in one place. The uapi header repeats those that
 * applications see; kmod/client/device.c asserts that both agree.
 */
#ifndef BFTM_CORE_LIMITS_H
#define BFTM_CORE_LIMITS_H

#define BFTM_NAME_LEN_MAX	64	/* bytes of a lock name, no terminator */
#define BFTM_VALUE_LEN_MAX	64	/* bytes of the value of a lock */
#define BFTM_KEY_LEN		32	/* bytes of a master or derived key */

/* Servers of one cluster: b = 6 needs 31 for the ordering protocol's margin. */
#define BFTM_SERVERS_MAX	31
#define BFTM_SERVER_ID_MAX	65535u
#define BFTM_CLIENT_ID_MAX	0xfffffffeu

#define BFTM_NS_PER_US		1000ull
#define BFTM_NS_PER_MS		1000000ull
#define BFTM_NS_PER_SEC		1000000000ull

/* Lease Δ: what a client may ask for, and what a server grants at most. */
#define BFTM_LEASE_MIN_NS	(1 * BFTM_NS_PER_MS)
#define BFTM_LEASE_MAX_NS	(3600 * BFTM_NS_PER_SEC)
#define BFTM_LEASE_MAX_DEFAULT_NS (30 * BFTM_NS_PER_SEC)
/* In place of Δ: the lock has no lease, and is held until it is released. */
#define BFTM_LEASE_NONE		(~0ull)
/*
 * Δ by which clients and servers pace a wait for a lock without a lease, in ns. A server whose
 * rules allow such locks has a quarantine as if it granted leases of this length, since an offered
 * token counts that long.
 */
#define BFTM_PACE_NS		(8 * BFTM_NS_PER_SEC)

/* Expected one-way delay δ: tunes back-off and time-outs, never safety. */
#define BFTM_DELTA_MIN_NS	(1 * BFTM_NS_PER_US)
#define BFTM_DELTA_MAX_NS	(60 * BFTM_NS_PER_SEC)
#define BFTM_DELTA_DEFAULT_NS	(10 * BFTM_NS_PER_MS)

/* Bound ρ on the rate of a clock against real time, parts per million. */
#define BFTM_RHO_MIN_PPM	1u
#define BFTM_RHO_MAX_PPM	100000u
#define BFTM_RHO_DEFAULT_PPM	2000u

/*
 * One tick of the coarsest clock source that may stand behind the clock of
 * leases on a machine that keeps time at all (ACPI PM timer: 279 ns), rounded up.
 */
#define BFTM_TICK_NS		(1 * BFTM_NS_PER_US)

/* Servers of one cluster that may restart without a quarantine: at most all but one. */
#define BFTM_SPARED_MAX		(BFTM_SERVERS_MAX - 1)

/* Server tables. At a limit the newcomer is refused; nothing is dropped. */
#define BFTM_LOCKS_MIN		64u
#define BFTM_LOCKS_MAX		(16u << 20)
#define BFTM_LOCKS_DEFAULT	(1u << 20)
#define BFTM_CLIENTS_MIN	1u
#define BFTM_CLIENTS_MAX	(1u << 20)
#define BFTM_CLIENTS_DEFAULT	(64u << 10)

/* Clients that wait for one lock at one server. */
#define BFTM_WAITERS_MIN	1u
#define BFTM_WAITERS_MAX	65536u
#define BFTM_WAITERS_DEFAULT	1024u

/* Access rules of a server. */
#define BFTM_RULES_MAX		1024u
/* Clients that may hold locks without a lease, at one server. */
#define BFTM_MEMBERS_MAX	1024u

/* One TRY raises the highest priority of a lock by this at most: priorities have 64 bits. */
#define BFTM_PRIO_JUMP_MAX	(1ull << 32)

/* Highest fencing token that a server may be told of; higher tokens are left for holders. */
#define BFTM_TOKEN_FLOOR_MAX	((1ull << 63) - 1)

/*
 * Objects of the ordering protocol. A name is a byte shorter than that of a
 * lock: with a zero byte behind it names the lock that orders the clients.
 */
#define BFTM_OBJECT_NAME_MAX	(BFTM_NAME_LEN_MAX - 1)
/* Bytes of the name of a type, of letters, digits and ._- */
#define BFTM_TYPE_NAME_MAX	31
#define BFTM_OBJECTS_MIN	1u
#define BFTM_OBJECTS_MAX	65536u
#define BFTM_OBJECTS_DEFAULT	4096u
/* Bytes of a whole state: table of responses and what the type keeps. */
#define BFTM_STATE_MIN		1024u
#define BFTM_STATE_MAX		(1u << 20)
#define BFTM_STATE_DEFAULT	(64u << 10)
/* Bytes of an operation, and of its response. */
#define BFTM_OP_MAX		(16u << 10)
/* Operations that wait at one server for one object: one a client. */
#define BFTM_PENDING_MAX	1024u
/* Bodies that arrive in pieces at one server, at once. */
#define BFTM_UPLOADS_MAX	64u	/* for one object */
#define BFTM_UPLOADS_ALL_MAX	4096u	/* for all objects */
#define BFTM_UPLOADS_OWN_MAX	16u	/* of one client, for one object */
#define BFTM_UPLOADS_EACH_MAX	1024u	/* of one client, for all objects */
/* Bytes that all objects of a server may take, with all that belongs to them. */
#define BFTM_OBJECT_MEMORY_MIN	(16ull << 20)
#define BFTM_OBJECT_MEMORY_MAX	(1ull << 40)
#define BFTM_OBJECT_MEMORY_DEFAULT (256ull << 20)
/* Bytes of answers of a server that wait for its journal: all, and those to one client. */
#define BFTM_HELD_BYTES_MAX	(8u << 20)
#define BFTM_HELD_EACH_MAX	(BFTM_HELD_BYTES_MAX / 4)

/* Clients that a server lets hold one lock at once; others wait. */
#define BFTM_HOLDERS_MIN	1u
#define BFTM_HOLDERS_MAX	4096u
#define BFTM_HOLDERS_DEFAULT	64u

/* Device: requests that wait for the helper, in one network namespace. */
#define BFTM_REQUESTS_MAX	65536u
/* Open handles in one network namespace; each has one acquire at a time, and many submits. */
#define BFTM_HANDLES_MAX	131072u
/*
 * Waiters of one handle (entries of poll() and epoll, threads) that are woken while the lock of the
 * network namespace is held. Further waiters are woken after the lock is given back.
 */
#define BFTM_WATCHERS_MAX	64u
/*
 * Bytes of the operations that wait for the helper in one network namespace, with BFTM_OP_MAX for
 * the response to each.
 */
#define BFTM_SUBMIT_BYTES_MAX	(64u << 20)
/* Responses that one handle keeps because the program gave too little room for them. */
#define BFTM_KEPT_MAX		64u
/* How long requests wait for a new helper after the old one died. */
#define BFTM_HELPER_GRACE_NS	(5 * BFTM_NS_PER_SEC)
/* How much later than the helper the kernel itself ends a timed request. */
#define BFTM_TIMEOUT_SLACK_NS	(1 * BFTM_NS_PER_SEC)
/* Longest time limit of an acquire with BFTM_TRY; the kernel keeps it if the helper does not. */
#define BFTM_TRY_LIMIT_NS	(10 * BFTM_NS_PER_SEC)

#define BFTM_PORT_DEFAULT	7373

#endif /* BFTM_CORE_LIMITS_H */
