/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon lends the kernel all that it needs to take, by itself, locks that nobody has. */
#ifndef BFTM_LEND_H
#define BFTM_LEND_H

struct bftm_cluster;

/** bftm_lend_init() - for a cluster that is made */
void bftm_lend_init(struct bftm_cluster *cl);

/** bftm_lend_soon() - a server was heard that was not known: in a moment */
void bftm_lend_soon(struct bftm_cluster *cl);

/**
 * bftm_lend_again() - a server has another epoch: in a moment, but a second after the
 * last time at the earliest
 * @cl: the cluster
 */
void bftm_lend_again(struct bftm_cluster *cl);

/** bftm_lend_all() - all clusters anew: the kernel knows of none, or not which is standard */
void bftm_lend_all(void);

/** bftm_lend_revoke() - the kernel leaves it to the daemon, until it is lent again */
void bftm_lend_revoke(struct bftm_cluster *cl);

/** bftm_lend_end() - the kernel leaves it to the daemon, at once */
void bftm_lend_end(struct bftm_cluster *cl);

/** bftm_lend_forget() - there is no kernel any more that has anything */
void bftm_lend_forget(void);

#endif /* BFTM_LEND_H */
