/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What applications asked for: the shell around contend() of the core. Several
 * requests of this host for one lock queue here, so the host contends once.
 */
#ifndef BFTM_ACQUIRE_H
#define BFTM_ACQUIRE_H

#include <sys/queue.h>

#include "../kmod/core/backoff_client.h"
#include "loop.h"

struct bftm_cluster;
struct bftm_name;

/** struct bftm_ask - an acquire as the kernel hands it over */
struct bftm_ask {
	u64 id;			/* number of the request */
	char cluster[33];	/* "" for the default */
	u8 name[BFTM_NAME_LEN_MAX];
	u8 name_len;
	bool once;		/* BFTM_TRY */
	bool no_backoff;	/* BFTM_WAY_NO_BACKOFF */
	u64 lease_ns;		/* 0 for the cluster's default */
	u64 timeout_at_ns;	/* CLOCK_BOOTTIME, 0 for never */
	u64 attempt;		/* of a release: what held the lock */
};

/** struct bftm_acquire_op - one request; from pull until release or failure */
struct bftm_acquire_op {
	RB_ENTRY(bftm_acquire_op) by_id;
	TAILQ_ENTRY(bftm_acquire_op) waiting;
	struct bftm_cluster *cluster;
	struct bftm_name *name;
	struct bftm_ask ask;
	struct bftm_timer timer;
	struct bftm_contend contend;
	u64 unreachable_ns;	/* since when too few servers answer, 0: they do */
	bool active;		/* contends or holds; else waits for its turn */
};

/** struct bftm_name - a lock that requests of this host name */
struct bftm_name {
	RB_ENTRY(bftm_name) node;
	u8 len;
	u8 name[BFTM_NAME_LEN_MAX];
	struct bftm_acquire_op *active;
	TAILQ_HEAD(, bftm_acquire_op) waiting;
};

/** struct bftm_release_op - an attempt that is over, until servers know */
struct bftm_release_op {
	RB_ENTRY(bftm_release_op) node;
	struct bftm_cluster *cluster;
	struct bftm_timer timer;
	struct bftm_release release;
	u8 len;
	u8 name[BFTM_NAME_LEN_MAX];
};

/** struct bftm_acquires - all of one cluster */
struct bftm_acquires {
	RB_HEAD(bftm_names, bftm_name) names;
	RB_HEAD(bftm_releases, bftm_release_op) releases;
	unsigned int count;
};

/** struct bftm_totals - since the daemon started, of all clusters */
struct bftm_totals {
	u64 acquires;
	u64 won;
	u64 busy;
	u64 timeouts;
	u64 unreachable;
	u64 refused;
	u64 cancelled;
	u64 released;
	u64 lapsed;
	u64 rounds;
};

extern struct bftm_totals bftm_totals;

/** bftm_acquire_begin() - a pulled acquire; its end is reported to the kernel. */
void bftm_acquire_begin(const struct bftm_ask *ask);

/** bftm_acquire_cancel() - nobody waits for it any more. */
void bftm_acquire_cancel(u64 id);

/** bftm_acquire_release() - give back what @ask->attempt holds. */
void bftm_acquire_release(const struct bftm_ask *ask);

/** bftm_acquire_forget() - drop all requests without a word to the kernel. */
void bftm_acquire_forget(void);

/** bftm_acquire_answer() - an authentic answer of server number @u. */
void bftm_acquire_answer(struct bftm_cluster *cl, u32 u,
			 const struct bftm_msg *msg);

/** bftm_acquire_epoch() - server @u has a new epoch; it said so to @msg. */
void bftm_acquire_epoch(struct bftm_cluster *cl, u32 u,
			const struct bftm_msg *msg);

#endif /* BFTM_ACQUIRE_H */
