/* SPDX-License-Identifier: GPL-2.0 */
/* Requests of applications for locks, from the pull of a request to its end. */
#ifndef BFTM_ACQUIRE_H
#define BFTM_ACQUIRE_H

#include <sys/queue.h>

#include "core/release.h"
#include "cluster/cluster.h"
#include "cluster/service.h"
#include "kernel/upcall.h"
#include "lock/hindered.h"
#include "lock/names.h"
#include "lock/rounds.h"
#include "loop/loop.h"

/**
 * struct bftm_inside - who asks for a lock inside the daemon, not through the kernel
 * @won:  it has the lock; must not give it back from within
 * @arg:  for @won and @over
 * @over: it has not, or not any more; the request is gone
 */
struct bftm_inside {
	void (*won)(void *arg);
	void (*over)(void *arg);
	void *arg;
};

/**
 * struct bftm_acquire_op - one request; from pull until release or failure
 * @by_id:          among all requests of the daemon
 * @beside:         among those that wait at @name, or hold beside its active one
 * @cluster:        by which it is made; it counts this request among its acquires
 * @name:           the lock
 * @place:          where it stands there
 * @lasting:        among those of @cluster without a lease
 * @ask:            what is asked for
 * @timer:          when the core, or the end of a time limit, is due
 * @client:         the core; unused while it waits
 * @unreachable_ns: since when too few servers answer, 0: they do
 * @told_sends:     how many sends of the attempt the kernel knows of
 * @told_token:     the fencing token that it knows of
 * @told_wanted: the mode in which it holds, once the kernel knows that somebody waits for a mode
 *                  that this one excludes; else BFTM_MODE_NL
 * @overtakes:      its first TRY may arrive before the RELEASE of an attempt of this host
 * @hindered:       it fails since servers refuse it, or wait for members, and others are silent
 * @words:          the last word of each server
 * @heard:          what servers said
 */
struct bftm_acquire_op {
	RB_ENTRY(bftm_acquire_op) by_id;
	TAILQ_ENTRY(bftm_acquire_op) beside;
	struct bftm_cluster *cluster;
	struct bftm_name *name;
	enum bftm_name_place place;
	TAILQ_ENTRY(bftm_acquire_op) lasting;
	struct bftm_ask ask;
	struct bftm_timer timer;
	struct bftm_contender *client;
	u64 unreachable_ns;
	u32 told_sends;
	u64 told_token;
	enum bftm_mode told_wanted;
	bool overtakes;
	bool hindered;
	struct bftm_words words;
	struct bftm_heard heard;
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

/**
 * struct bftm_totals - counters of all clusters since the daemon started; the kernel counts what
 * became of acquires
 * @unreachable: acquires that failed because too few servers answered
 * @refused:     acquires that failed because servers refused
 * @given_back:  locks that servers were told are free
 * @adopted:     locks that an earlier daemon, or the kernel, had won
 * @rounds:      that were decided
 */
struct bftm_totals {
	u64 unreachable;
	u64 refused;
	u64 given_back;
	u64 adopted;
	u64 rounds;
};

extern struct bftm_totals bftm_totals;

/** bftm_acquire_begin() - a pulled acquire; its end is reported to the kernel. */
void bftm_acquire_begin(const struct bftm_ask *ask);

/** bftm_acquire_cancel() - nobody waits for it any more. */
void bftm_acquire_cancel(u64 id);

/** bftm_acquire_release() - give back what @ask->attempt holds. */
void bftm_acquire_release(const struct bftm_ask *ask);

/**
 * bftm_acquire_renew() - make what @ask->attempt holds last longer
 * @ask: what the kernel says of the request
 *
 * The kernel asks so when an application does, and, of every lock held with
 * BFTM_RENEW, when a helper registers: one that does not know the request takes
 * it over from what @ask says.
 */
void bftm_acquire_renew(const struct bftm_ask *ask);

/**
 * bftm_acquire_convert() - @ask->attempt holds the lock in @ask->mode, and is to hold it in
 * @ask->goal
 * @ask: what the kernel says of the request
 *
 * Its end is reported if @ask->conversion is not 0. An earlier conversion is over.
 */
void bftm_acquire_convert(const struct bftm_ask *ask);

/**
 * bftm_acquire_held() - @ask->attempt holds the lock, and nobody wants it renewed
 * @ask: what the kernel says of the request
 *
 * Others of this host wait until the kernel says that it is given back, or its lease is over.
 */
void bftm_acquire_held(const struct bftm_ask *ask);

/** bftm_acquire_expired() - the kernel has asked until the time limit; the program hears why. */
void bftm_acquire_expired(const struct bftm_ask *ask);

/** bftm_acquire_lost() - the kernel could not renew a lock, and has given it back. */
void bftm_acquire_lost(const struct bftm_ask *ask);

/**
 * bftm_acquire_evicted() - servers have evicted this host
 * @cl:          the cluster
 * @incarnation: up to this one
 *
 * Locks that are held without a lease are lost, and waiting requests fail; leases end by themselves.
 */
void bftm_acquire_evicted(struct bftm_cluster *cl, u32 incarnation);

/** bftm_acquire_forget() - drop all requests without a word to the kernel. */
void bftm_acquire_forget(void);

/** bftm_lock_service - for the table of services */
extern const struct bftm_cluster_service bftm_lock_service;

/** bftm_acquire_answer() - an authentic answer of server number @u. */
void bftm_acquire_answer(struct bftm_cluster *cl, u32 u,
			 const struct bftm_msg *msg);

/** bftm_acquire_epoch() - server @u has a new epoch; it said so to @msg. */
void bftm_acquire_epoch(struct bftm_cluster *cl, u32 u,
			const struct bftm_msg *msg);

#endif /* BFTM_ACQUIRE_H */
