/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The identity of a client, over restarts. Sequence numbers and attempts are never
 * used twice: their high half is the incarnation, a number that grows with
 * each start and is kept in the state directory.
 */
#ifndef BFTM_IDENTITY_H
#define BFTM_IDENTITY_H

#include <sys/queue.h>

#include "core/replay.h"
#include "core/types.h"
#include "uapi/linux/bftmutex.h"
#include "loop/tree.h"

#define BFTM_BOOT_ID_LEN 32

/** struct bftm_names - locks that requests of one client name, and names that none does */
struct bftm_names {
	RB_HEAD(bftm_name_tree, bftm_name) tree;
	TAILQ_HEAD(bftm_name_list, bftm_name) idle;
	unsigned int idle_count;
};

/**
 * struct bftm_identity - a client of a cluster, shared by the configurations
 * that name it
 * @list:        among all clients of the daemon
 * @cluster:     number of the cluster
 * @client:      number of the client
 * @counters:    sequence numbers and attempts, in a page of their own; the kernel draws from them
 *               as well
 * @orphan:      attempts up to this one may hold without being known here
 * @names:       locks that are asked for as this client
 * @incarnation: the last one used
 * @recorded:    the next daemon begins above it
 * @boot:        the first incarnation since this host booted; 0: not known, since the machine was
 *               cloned or set back, or this client used in another network namespace
 * @lends:       what the kernel holds is of @boot or later, or it has told this daemon of it
 * @boot_id:     of the kernel, without dashes
 * @netns:       number of the network namespace, of this boot; 0: not known
 * @said_ns:     when it was last logged that an incarnation cannot be recorded
 * @orderings:   objects that were used as this client
 * @orderings_count: number of these
 * @fd:          of its file in the state directory, which is locked
 * @users:       clusters of the daemon that use it
 */
struct bftm_identity {
	LIST_ENTRY(bftm_identity) list;
	u32 cluster;
	u32 client;
	struct bftm_counters *counters;
	u64 orphan;
	struct bftm_names names;
	u32 incarnation;
	u64 recorded;
	u32 boot;
	bool lends;
	char boot_id[BFTM_BOOT_ID_LEN + 1];
	u64 netns;
	u64 said_ns;
	RB_HEAD(bftm_orderings, bftm_ordering) orderings;
	u32 orderings_count;
	int fd;
	unsigned int users;
};

/** bftm_boot_id_set() - what the boot is called, if /proc does not tell: letters and digits */
void bftm_boot_id_set(const char *id);

/**
 * bftm_identity_lends() - the kernel listens to this daemon
 * @identity: the client; the kernel has told, or will tell, of all that it holds by incarnations
 *            before @boot. From now on the state file names the boot.
 */
void bftm_identity_lends(struct bftm_identity *identity);

/** bftm_identity_holds() - an attempt is held, with a lease or without: it is of this boot. */
void bftm_identity_holds(struct bftm_identity *identity, u64 attempt);

/* The high half of numbers: the last second of the wall clock that fits is in 2106. */
#define BFTM_INCARNATION_MAX UINT32_MAX

/**
 * bftm_incarnation_next() - the incarnation that a start uses
 * @clock_s: wall clock, since 1970
 * @last:    that the last start used, 0 for none
 * @ret:     the clock's, or one more than @last when that is larger
 *
 * A number above BFTM_INCARNATION_MAX would be cut to one of long ago, which servers drop as
 * repeated, without an answer.
 *
 * Return: 0; -EOVERFLOW when none is left, or the clock is too far; -EUCLEAN when @last is no
 * incarnation.
 */
int bftm_incarnation_next(u64 clock_s, u64 last, u64 *ret);

/**
 * bftm_identity_get() - become this client
 * @dir:     state directory
 * @cluster: number of the cluster
 * @client:  number of the client
 * @ret:     untouched on failure
 *
 * Return: 0; -EBUSY when another process is this client; -EOVERFLOW or -EUCLEAN of
 * bftm_incarnation_next(); -errno of the file.
 * All are logged.
 */
int bftm_identity_get(const char *dir, u32 cluster, u32 client,
		      struct bftm_identity **ret);
void bftm_identity_put(struct bftm_identity *identity);

/**
 * bftm_identity_keep() - the next daemon begins above all numbers used until now
 * @identity: the client
 *
 * Once a second. An incarnation has 2^32 of them; a client that is used for longer goes on into the
 * next one, and the clock may not be there yet.
 */
void bftm_identity_keep(struct bftm_identity *identity);

/**
 * bftm_identity_pass() - go on with numbers that are above @top
 * @identity: the client
 * @top:      highest number that a server has taken
 * Return: 0; logged: -EOVERFLOW when there are none, -errno of the file.
 */
int bftm_identity_pass(struct bftm_identity *identity, u64 top);

/**
 * bftm_identity_restored() - begin the next incarnation: a copy may have used this one's numbers
 * @identity: the client
 *
 * The kernel does not draw meanwhile. Return: as bftm_identity_pass().
 */
int bftm_identity_restored(struct bftm_identity *identity);

/** bftm_identity_seq() - the last sequence number used */
static inline u64 bftm_identity_seq(const struct bftm_identity *id)
{
	/* NOLINTNEXTLINE: a cluster has its identity before it begins */
	return __atomic_load_n(&id->counters->seq, __ATOMIC_RELAXED);
}

/** bftm_identity_next_seq() - Return: one that was never used */
static inline u64 bftm_identity_next_seq(struct bftm_identity *id)
{
	return __atomic_add_fetch(&id->counters->seq, 1, __ATOMIC_RELAXED);
}

/**
 * bftm_identity_skip() - a server that gets the next request takes what was sent before for old
 * @id: the client
 *
 * Then a YIELD that is still under way frees no grant which that server confirms to the daemon
 * that adopts the lock: this daemon does not know of the YIELD.
 */
static inline void bftm_identity_skip(struct bftm_identity *id)
{
	__atomic_add_fetch(&id->counters->seq, BFTM_WINDOW_BITS, __ATOMIC_RELAXED);
}

/** bftm_identity_next_attempt() - Return: an even number that was never used */
static inline u64 bftm_identity_next_attempt(struct bftm_identity *id)
{
	return __atomic_add_fetch(&id->counters->attempt, 2, __ATOMIC_RELAXED) &
	       ~(u64)BFTM_ATTEMPT_KERNEL;
}

/**
 * bftm_identity_renew() - an incarnation that was never used
 * @identity: the client
 *
 * For operations on an object, when it is not known whether the last one, which was
 * refused, will be applied.
 */
u32 bftm_identity_renew(struct bftm_identity *identity);

#endif /* BFTM_IDENTITY_H */
