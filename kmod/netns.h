/* SPDX-License-Identifier: GPL-2.0 */
/* What bftmutex keeps in each network namespace. */
#ifndef BFTM_NETNS_H
#define BFTM_NETNS_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "alarms.h"
#include "core/limits.h"

struct bftm_request;
struct bftm_server;
struct bftm_server_param;
struct netlink_ext_ack;

#define BFTM_REQUEST_BITS 10

/**
 * struct bftm_tables - where what is on its way to the helper is found, by a number or name
 * @by_id:   requests that are given, and what is held
 * @by_name: one acquisition for each name of a lock
 * @fast:    those that the kernel makes by itself, by attempt
 */
struct bftm_tables {
	DECLARE_HASHTABLE(by_id, BFTM_REQUEST_BITS);
	DECLARE_HASHTABLE(by_name, BFTM_REQUEST_BITS);
	DECLARE_HASHTABLE(fast, BFTM_REQUEST_BITS);
};

/** struct bftm_local - what became of acquires; BFTMUTEX_A_LOCAL_* says what each counts */
struct bftm_local {
	u64 acquires;
	u64 won;
	u64 busy;
	u64 timeouts;
	u64 failed;
	u64 cancelled;
	u64 released;
	u64 lost;
	u64 renewed;
};

/**
 * struct bftm_upcall - the way to the helper
 * @lock:     guards all of it and every handle of the namespace, taken with
 *            bottom halves off
 * @portid:   netlink port of the helper, 0 for none
 * @hinted:   the helper was told that @queue is not empty
 * @deserted: there has been no helper for longer than the grace period
 * @silent:   servers are told nothing, and no helper may come: see bftm_upcall_forked()
 * @forked:   the next who would be the helper is to know of that
 * @count:    requests that exist
 * @bytes:    that submits of the namespace take up
 * @local:    what became of acquires
 * @next_id:  number of the next request
 * @queue:    requests to be pulled, oldest first
 * @ending:   the end of an acquire, pulled last: until the next pull the helper may not
 *            have sent it, and the lock is none for the fast path
 * @given:    acquires and submits that were pulled and are not done
 * @tables:   NULL until the first handle or helper comes, then the same until the namespace
 *            ends; see bftm_upcall_prepare()
 * @secret:   so that nobody can choose names, or keep numbers, that go to one place of a table
 * @sessions: what the helper has lent
 * @alarms:   handles with something to do at a time
 * @handles:  every open handle, by its number; changed without @lock, looked at with it
 * @told:     handles below that number know that they are deserted
 * @grace:    fires when waiting for a new helper is over
 */
struct bftm_upcall {
	spinlock_t lock;
	u32 portid;
	bool hinted;
	bool deserted;
	bool silent;
	bool forked;
	u32 count;
	u64 bytes;
	struct bftm_local local;
	u64 next_id;
	struct list_head queue;
	struct bftm_request *ending;
	struct list_head given;
	struct bftm_tables *tables;
	siphash_key_t secret;
	struct list_head sessions;
	struct bftm_alarms alarms;
	struct xarray handles;
	unsigned long told;
	struct hrtimer grace;
};

/**
 * struct bftm_net - of one namespace
 * @net:    the namespace
 * @mutex:  guards @over_ns, and @server against all but who looks; the journal waits for it
 * @life:   guards @server against going while somebody looks, who may be anybody
 * @server: NULL when none runs; written with both
 * @over_ns: when all grants of earlier servers are over; power.c adds what was slept
 * @journal_portid: of the last that opened a journal
 * @upcall: the helper and what waits for it
 * @session_mutex: serialises lending, and the coming and going of helpers
 */
struct bftm_net {
	struct net *net;
	struct mutex mutex;
	struct rw_semaphore life;
	struct bftm_server *server;
	u64 over_ns;
	u32 journal_portid;
	struct bftm_upcall upcall;
	struct mutex session_mutex;
};

/**
 * bftm_netns_start() - start a server in a namespace
 * @extack: gets the reason of a failure; may be NULL
 * Return: 0, -EEXIST when one runs, or why it cannot start.
 */
int bftm_netns_start(struct bftm_net *bn, const struct bftm_server_param *p,
		     struct netlink_ext_ack *extack);

/** bftm_netns_stop() - @id: 0 for any. Return: 0, -ENOENT for no such server. */
int bftm_netns_stop(struct bftm_net *bn, u16 id,
		    struct netlink_ext_ack *extack);

/**
 * bftm_netns_restart() - what its server knows, if one runs, is not true any more
 * Context: process.
 */
void bftm_netns_restart(struct bftm_net *bn);

/** bftm_net() - ours of a namespace. */
struct bftm_net *bftm_net(struct net *net);

int bftm_netns_init(void);
void bftm_netns_exit(void);

#endif /* BFTM_NETNS_H */
