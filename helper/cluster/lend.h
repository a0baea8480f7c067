/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon lends the kernel all that it needs to take, by itself, locks that nobody has. */
#ifndef BFTM_LEND_H
#define BFTM_LEND_H

struct bftm_cluster;

/**
 * bftm_lend() - lend a cluster, which replaces the loan of an earlier daemon; or take it back
 * @cl: the cluster; the kernel is open
 */
void bftm_lend(struct bftm_cluster *cl);
/** bftm_lend_again() - where the kernel had no memory for the loan: try again, once a minute */
void bftm_lend_again(struct bftm_cluster *cl);

/**
 * bftm_lend_all() - lend all clusters, and say HELLO to their servers
 *
 * Called when the kernel is open and has no loan of this registration, or not the present ones,
 * and before this daemon sends its first request to any server.
 */
void bftm_lend_all(void);

/** bftm_lend_end() - take the loan back: the kernel leaves the cluster to the daemon at once */
void bftm_lend_end(struct bftm_cluster *cl);

/** bftm_lend_forget() - this process is not the helper any more: nothing counts as lent */
void bftm_lend_forget(void);

#endif /* BFTM_LEND_H */
