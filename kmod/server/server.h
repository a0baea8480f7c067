/* SPDX-License-Identifier: GPL-2.0 */
/* The lock server of a network namespace. */
#ifndef BFTM_SERVER_H
#define BFTM_SERVER_H

#include <linux/if.h>
#include <linux/workqueue.h>

#include "core/protocol.h"
#include "server/access.h"
#include "server/clients.h"
#include "server/route.h"
#include "uapi/linux/bftmutex_netlink.h"

struct bftm_locks;
struct bftm_objects;
struct net;
struct netlink_ext_ack;
struct socket;

/**
 * struct bftm_server_param - how to start a server, checked by the caller
 * @cluster:       number of the cluster
 * @id:            number of the server in the cluster
 * @port:          UDP port that it listens on
 * @lease_max_ns:  Δmax: the longest lease that it grants, ns
 * @rho_ppm:       ρ: how much clocks may differ in rate, parts per million
 * @max_locks:     most locks in each table of locks
 * @max_clients:   most clients in the table
 * @max_waiters:   most clients that wait for one lock
 * @max_holders:   most clients that hold one lock at once
 * @max_objects:   most objects in the table
 * @max_state:     most bytes of a state
 * @object_memory: most bytes of all objects, with what waits and arrives for them
 * @no_quarantine: servers of the cluster that may restart without a quarantine, as this one does,
 *                 0 to BFTM_SPARED_MAX; 0: it keeps its quarantine
 * @floor_known:   no token above @token_floor was stamped before this start; else it is not known
 *                 which were
 * @token_floor:   a fencing token, 0 to BFTM_TOKEN_FLOOR_MAX; see @floor_known
 * @durability:    what a restart may forget of objects: BFTMUTEX_DURABILITY_*
 * @journal_id:    of the file that keeps it, 0 for none
 * @roll:          the start that its roll is of, 0 for none; BFTM_ROLL_LOST
 * @roll_unknown:  members may hold what the roll does not tell
 * @rules:         access rules to begin with, NULL for none; the server's once it was started, and
 *                 NULL in its own copy
 * @ingress:       name of the device whose ingress hands it requests, empty for none
 * @ingress_later: without that device the server starts all the same, and waits for it
 * @key:           of the server; from it the keys of all its clients are derived
 */
struct bftm_server_param {
	u32 cluster;
	u16 id;
	u16 port;
	u64 lease_max_ns;
	u32 rho_ppm;
	u32 max_locks;
	u32 max_clients;
	u32 max_waiters;
	u32 max_holders;
	u32 max_objects;
	u32 max_state;
	u64 object_memory;
	u8 no_quarantine;
	bool floor_known;
	u64 token_floor;
	u32 durability;
	u64 journal_id;
	u64 roll;
	bool roll_unknown;
	char ingress[IFNAMSIZ];
	bool ingress_later;
	struct bftm_rules *rules;
	u8 key[BFTM_KEY_LEN];
};

/* No start has this number: the server has started over by itself, without what its roll has. */
#define BFTM_ROLL_LOST	(~0ULL)

/** struct bftm_stats - counters, by BFTMUTEX_A_STATS_*; one set a CPU */
struct bftm_stats {
	u64 counter[BFTMUTEX_A_STATS_MAX + 1];
};

/**
 * struct bftm_server - a running server; all but tables, rules and tokens is constant
 * @net:     its namespace
 * @param:   as it was started
 * @cfg:     what the cores need of it
 * @locks:   tables of locks, one for each protocol
 * @objects: table of objects
 * @clients: table of clients
 * @rules:   access rules, NULL for none; see access.c
 * @members_lock: guards the states of members, and @rules against being replaced; taken with bottom
 *           halves off, nothing is taken under it
 * @members_work: deals with SYNC; see locks/members.c
 * @members_end: it is to end, guarded by members_lock
 * @unnoted_say_ns: from when on it may be logged again that the roll lacks a client; likewise
 * @rules_settle: requests for a lock without a lease are dropped, for the rules may change
 * @longest_ns: for so long clients may count on what they were told, see bftm_members_lease(),
 *           by the rules of this start and all after; guarded by the namespace's mutex
 * @token_lock: guards @tokens, @clock_say_ns and @behind_say_ns; innermost, taken with
 *           bottom halves off
 * @tokens:  what is known of all fencing tokens
 * @clock_say_ns: from when on it may be logged again that the wall clock is behind them
 * @behind_say_ns: from when on a client may be told that its numbers are behind
 * @begun_ns: of its start
 * @stats:   counters
 * @sock4:   UDP socket
 * @sock6:   UDP socket, NULL where IPv6 is off
 * @routes:  to those who were answered lately
 * @ingress: its hook at a device, NULL for none
 */
struct bftm_server {
	struct net *net;
	struct bftm_server_param param;
	struct bftm_server_cfg cfg;
	struct bftm_locks *locks[BFTM_PROTOCOLS_MAX];
	struct bftm_objects *objects;
	struct bftm_clients clients;
	struct bftm_rules __rcu *rules;
	spinlock_t members_lock;
	struct work_struct members_work;
	bool members_end;
	bool rules_settle;
	u64 unnoted_say_ns;
	u64 longest_ns;
	spinlock_t token_lock;
	struct bftm_tokens tokens;
	u64 clock_say_ns;
	u64 behind_say_ns;
	u64 begun_ns;
	struct bftm_stats __percpu *stats;
	struct socket *sock4;
	struct socket *sock6;
	struct bftm_routes routes;
	struct bftm_hook *ingress;
};

#define bftm_count(server, name) \
	this_cpu_inc((server)->stats->counter[BFTMUTEX_A_STATS_ ## name])

/** bftm_server_param_default() - defaults of everything but who it is. */
void bftm_server_param_default(struct bftm_server_param *p);

/**
 * bftm_server_new() - start a server
 * @net:     its namespace
 * @p:       how to start it, copied
 * @over_ns: before which there is no grant in any case, ns by the clock of leases
 * @extack:  gets the reason of a failure; may be NULL
 * Context: process. Return: the server or an error pointer.
 */
struct bftm_server *bftm_server_new(struct net *net,
				    const struct bftm_server_param *p,
				    u64 over_ns,
				    struct netlink_ext_ack *extack);

/**
 * bftm_server_destroy() - stop it
 * @server: the server, freed
 * Context: process. Return: when its last grant is over.
 */
u64 bftm_server_destroy(struct bftm_server *server);

/**
 * bftm_server_again() - one that knows nothing, in its place
 * @old:     is destroyed
 * @over_ns: before which there is no grant in any case; then, nor by @old
 * Context: process. Return: the server or an error pointer.
 */
struct bftm_server *bftm_server_again(struct bftm_server *old, u64 *over_ns);

/**
 * bftm_server_recovers() - is nobody granted a lock, for members have not told what they hold?
 * @server: the server
 * @msg:    names the lock
 * Context: any.
 */
bool bftm_server_recovers(const struct bftm_server *server, const struct bftm_msg *msg);

/** bftm_server_lengthen() - by these rules clients may count for longer on what they were told. */
void bftm_server_lengthen(struct bftm_server *server, const struct bftm_rules *rules);

/** bftm_server_stat() - sum of a counter over all CPUs. */
u64 bftm_server_stat(const struct bftm_server *server, int which);

/**
 * bftm_server_recovering() - may it have served objects before this start?
 * @server: the server, as it was started
 *
 * Not when nothing was ever stamped: then this start is the cluster's first.
 */
static inline bool bftm_server_recovering(const struct bftm_server *server)
{
	return !server->param.floor_known || server->param.token_floor;
}

/** bftm_server_floor() - of the tokens, now; or BFTM_TOKEN_UNKNOWN. Context: not hard irq. */
u64 bftm_server_floor(struct bftm_server *server);

#endif /* BFTM_SERVER_H */
