/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon lends the kernel all that it needs to take, by itself, locks that nobody has. */
#ifndef BFTM_LEND_H
#define BFTM_LEND_H

struct bftm_cluster;

/** bftm_lend() - to a kernel that is open: what an earlier daemon has lent is replaced, or ends */
void bftm_lend(struct bftm_cluster *cl);
/** bftm_lend_again() - now and then, where the kernel did not take it */
void bftm_lend_again(struct bftm_cluster *cl);

/**
 * bftm_lend_all() - all clusters, and HELLO to their servers
 *
 * The kernel is open: it knows of no cluster, or not which is the standard one. Before the first
 * request of this daemon to any server.
 */
void bftm_lend_all(void);

/** bftm_lend_end() - the kernel leaves it to the daemon, at once */
void bftm_lend_end(struct bftm_cluster *cl);

/** bftm_lend_forget() - there is no kernel any more that has anything */
void bftm_lend_forget(void);

#endif /* BFTM_LEND_H */
