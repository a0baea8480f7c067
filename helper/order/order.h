/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects that all clients share: what the rest of the daemon sees of it. What
 * applications submit is packed into operations, one under way for each object,
 * which are driven to their end whether anybody still waits or not.
 */
#ifndef BFTM_ORDER_H
#define BFTM_ORDER_H

#include "core/ordering/wire.h"

struct bftm_cluster;
struct bftm_identity;
struct json_object;

/** struct bftm_submit_ask - a submit as the kernel hands it over */
struct bftm_submit_ask {
	u64 id;			/* number of the request */
	char cluster[33];	/* "" for the default */
	u8 name[BFTM_NAME_LEN_MAX];
	u8 name_len;
	u64 timeout_at_ns;	/* by bftm_now(), 0 for never */
	const u8 *op;
	u32 op_len;
};

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
};

extern struct bftm_order_totals bftm_order_totals;

/** bftm_order_submit() - a pulled submit; its end is reported to the kernel. */
void bftm_order_submit(const struct bftm_submit_ask *ask);

/** bftm_order_withdraw() - nobody waits for it any more. */
void bftm_order_withdraw(u64 id);

/** bftm_order_orphan() - the same for all: the kernel, or its module, is another. */
void bftm_order_orphan(void);

/** bftm_orders_interrupt() - see bftm_iterate_interrupt(): of all objects */
void bftm_orders_interrupt(void);

/** bftm_order_answer() - an authentic answer of server number @u. */
void bftm_order_answer_from(struct bftm_cluster *cl, u32 u, const struct bftm_order_msg *msg);

/** bftm_order_refused_by() - server @u refused a request of the ordering protocol. */
void bftm_order_refused_by(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_order_epoch() - server @u has a new epoch; it said so to @msg. */
void bftm_order_epoch(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_order_restarted() - server @u has lost what it knew of all objects. */
void bftm_order_restarted(struct bftm_cluster *cl, u32 u);

/** bftm_orders_restored() - operations and ranks of a client go on in its new incarnation */
void bftm_orders_restored(struct bftm_identity *identity);

/** bftm_orders_free() - forget a client's objects */
void bftm_orders_free(struct bftm_identity *identity);

/** bftm_order_describe() - the objects of a cluster that this host has used */
struct json_object *bftm_order_describe(const struct bftm_cluster *cl);

/** bftm_order_describe_totals() - bftm_order_totals */
struct json_object *bftm_order_describe_totals(void);

/**
 * bftm_order_history() - the last requests of this host for an object
 * Return: an array, empty when the object is not known here.
 */
struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name,
				       size_t len);

#endif /* BFTM_ORDER_H */
