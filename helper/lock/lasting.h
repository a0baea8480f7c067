/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks without a lease: servers that restart are told of them, and no clock ends them. All that
 * this host holds so has to be known here before a server is told that this is all.
 */
#ifndef BFTM_LASTING_H
#define BFTM_LASTING_H

#include <stdbool.h>

#include "core/limits.h"
#include "kernel/upcall.h"

struct bftm_acquire_op;
struct bftm_cluster;

/** bftm_ask_lasts() - is this for a lock without a lease? */
static inline bool bftm_ask_lasts(const struct bftm_ask *ask)
{
	return ask->lease_ns == BFTM_LEASE_NONE;
}

/** bftm_lasting_check() - may it be asked for? Return: 0, or a positive errno and the reason. */
int bftm_lasting_check(const struct bftm_cluster *cl, const char **ret_why);

/** bftm_lasting_epoch() - server @u has another epoch than was known. */
void bftm_lasting_epoch(struct bftm_cluster *cl, u32 u);

/**
 * bftm_lasting_told() - does server @u know all that this host holds without a lease?
 * @cl: the cluster
 * @u:  its number, less than n
 *
 * The kernel tells what is held when the daemon registers, before anything else. A lock may be held
 * by an earlier configuration of the same client, which has the server under another number.
 */
bool bftm_lasting_told(struct bftm_cluster *cl, u32 u);

/**
 * bftm_lasting_disowns() - is an attempt that is not known here certainly not held?
 * @cl:      the cluster
 * @attempt: of a request that this daemon does not have
 *
 * Its own are over. One of an earlier daemon may be held, as long as the kernel has not told all.
 */
bool bftm_lasting_disowns(const struct bftm_cluster *cl, u64 attempt);

/**
 * bftm_lasting_held() - the kernel holds a lock, with a lease or not: its attempt is of this boot
 * @ask: of the kernel
 */
void bftm_lasting_held(const struct bftm_ask *ask);

/**
 * bftm_lasting_missed() - the kernel holds a lock that this daemon cannot take over
 * @ask: of the kernel
 *
 * Until it is released, its attempt is not disowned; nor are servers told that all is known, if it
 * is without a lease. This counts for all clusters of its client, or for all when the kernel does
 * not know under which configuration it was won.
 */
void bftm_lasting_missed(const struct bftm_ask *ask);

/** bftm_lasting_gone() - the request with this number is over. */
void bftm_lasting_gone(u64 id);

/** bftm_lasting_forget() - the kernel is not served any more: it will tell all again. */
void bftm_lasting_forget(void);

#endif /* BFTM_LASTING_H */
