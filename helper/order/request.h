/* SPDX-License-Identifier: GPL-2.0 */
/* Requests that applications submit, and what is remembered of them. */
#ifndef BFTM_ORDER_REQUEST_H
#define BFTM_ORDER_REQUEST_H

#include <sys/queue.h>

#include "cluster/cluster.h"
#include "loop/loop.h"
#include "loop/tree.h"
#include "types/object.h"

/* Requests of this host that are remembered, of each object, and their bytes. */
#define BFTM_HISTORY_MAX	1024
#define BFTM_HISTORY_BYTES	(1u << 20)
/* And of all objects together, with all that they take; above it, new ones are not remembered. */
#define BFTM_HISTORY_TOTAL	(64u << 20)
struct bftm_order_work;
struct bftm_ordering;
struct bftm_submit_ask;

/**
 * struct bftm_order_request - what one application asked for
 * @by_id:    among all requests of the daemon
 * @beside:   among those that wait, or that are in the operation under way
 * @ordering: the object
 * @cluster:  where; it counts this request among its acquires
 * @id:       the kernel's number, 0: nobody waits any more
 * @process:  the same, kept
 * @invoke_ns: when it came, of bftm_now()
 * @timer:    when its time is over
 * @timed:    the application set a time limit
 * @packed:   it is in the operation under way
 * @len:      bytes of @text
 * @text:     of the request
 */
struct bftm_order_request {
	RB_ENTRY(bftm_order_request) by_id;
	TAILQ_ENTRY(bftm_order_request) beside;
	struct bftm_ordering *ordering;
	struct bftm_cluster *cluster;
	struct bftm_timer timer;
	u64 id;
	u64 process;
	u64 invoke_ns;
	bool timed;
	bool packed;
	u32 len;
	u8 text[];
};

TAILQ_HEAD(bftm_requests, bftm_order_request);

/** struct bftm_past - a request that was answered, or whose fate is not known */
struct bftm_past {
	TAILQ_ENTRY(bftm_past) list;
	u64 process;
	u64 invoke_ns;
	u64 return_ns;		/* 0: it was not answered, or not yet */
	u64 number;
	u32 status;
	u32 len;
	u32 response_len;
	u8 text[];		/* the request, then the response */
};

/** struct bftm_history - oldest first */
struct bftm_history {
	TAILQ_HEAD(, bftm_past) list;
	u32 count;
	u32 bytes;
};

/* request.c */

/** bftm_request_new() - put what was asked among those that wait. 0 or -errno */
int bftm_request_new(struct bftm_ordering *o, struct bftm_cluster *cl,
		     const struct bftm_submit_ask *ask);
/** bftm_requests_fail() - tell all; those of the operation under way stay in it */
void bftm_requests_fail(struct bftm_requests *list, int error);
/** bftm_requests_drop() - forget all without a word */
void bftm_requests_drop(struct bftm_requests *list);
/** bftm_order_pack() - the waiting requests into the next operation. False: none */
bool bftm_order_pack(struct bftm_order_work *w);
/** bftm_order_deliver() - the operation is over, @w->submit.response is its response */
void bftm_order_deliver(struct bftm_order_work *w);
/** bftm_order_abandon() - it is over, and all who asked for it get @error */
void bftm_order_abandon(struct bftm_order_work *w, int error);

/* history.c */

void bftm_history_init(struct bftm_history *h);
void bftm_history_free(struct bftm_history *h);
/** bftm_history_add() - @a is NULL when its fate is not known */
void bftm_history_add(struct bftm_history *h, const struct bftm_order_request *r, u64 now,
		      u64 number, const struct bftm_object_answer *a);

#endif /* BFTM_ORDER_REQUEST_H */
