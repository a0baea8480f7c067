/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects that all clients share: what the rest of the daemon sees of them. Requests of
 * applications are packed into operations, one under way for each object, which are driven to
 * their end whether an application still waits or not.
 */
#ifndef BFTM_ORDER_H
#define BFTM_ORDER_H

#include <stddef.h>

#include "core/types.h"

struct bftm_cluster;
struct bftm_cluster_service;
struct bftm_submit_ask;
struct json_object;

/** struct bftm_order_totals - since the daemon started, of all clusters */
struct bftm_order_totals {
	u64 submits;		/* requests of applications */
	u64 answered;
	u64 timeouts;
	u64 refused;
	u64 gone;		/* applied, but the response was no longer kept */
	u64 withdrawn;
	u64 operations;		/* that requests were packed into */
	u64 iterations;
	u64 continued;		/* of these, those that began with the commit before */
	u64 committed;
	u64 outranked;
	u64 slow;		/* iterations that timed out */
	u64 interrupted;	/* by a sleep of the machine, or without its kernel */
	u64 unsure;
	u64 applied;		/* operations, of all clients */
	u64 fetched;		/* bodies */
	u64 stored;		/* bodies put at a server in pieces */
	u64 installed;		/* answers of servers that were told what they lost */
	u64 locked;		/* locks that were taken to be alone */
	u64 listed;		/* lists of the objects of a cluster */
};

extern struct bftm_order_totals bftm_order_totals;

/** bftm_order_submit() - a pulled submit; its end is reported to the kernel. */
void bftm_order_submit(const struct bftm_submit_ask *ask);

/** bftm_order_withdraw() - nobody waits for it any more. */
void bftm_order_withdraw(u64 id);

/** bftm_order_orphan() - withdraw all requests: another kernel module is served now. */
void bftm_order_orphan(void);

/** bftm_orders_interrupt() - see bftm_iterate_interrupt(): of all objects */
void bftm_orders_interrupt(void);

/** bftm_object_service - for the table of services */
extern const struct bftm_cluster_service bftm_object_service;

/** bftm_listed_fn - takes the answer, which is its own now; @arg as of bftm_listing_start() */
typedef void bftm_listed_fn(int arg, struct json_object *answer);

/**
 * bftm_listing_start() - list the objects of a cluster that its client may use
 * @cl:       the cluster
 * @limit_ns: how long the listing may take, ns
 * @tell:     called once, later: "objects", each with its "name", its "type" (null: an ordinary
 *            request must say whether it exists) and a "version" that it has reached; of "servers"
 *            so many have "told"; whether the list is "complete". Or "error" and "errno".
 * @arg:      for @tell
 * Return: 0 or -errno, and then @tell is not called: -EPROTONOSUPPORT, or -EAGAIN when too many
 * are under way.
 */
int bftm_listing_start(struct bftm_cluster *cl, u64 limit_ns, bftm_listed_fn *tell, int arg);

/** bftm_order_describe() - the objects of a cluster that this host has used */
struct json_object *bftm_order_describe(const struct bftm_cluster *cl);

/** bftm_order_describe_totals() - bftm_order_totals */
struct json_object *bftm_order_describe_totals(void);

/**
 * bftm_order_history() - the last requests of this host for an object
 * @cl:   the cluster
 * @name: of the object
 * @len:  bytes of @name
 * Return: an array, empty when the object is not known here.
 */
struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name,
				       size_t len);

#endif /* BFTM_ORDER_H */
