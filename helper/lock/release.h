/* SPDX-License-Identifier: GPL-2.0 */
/* Telling servers that an attempt is over, until they have heard it. */
#ifndef BFTM_RELEASE_H
#define BFTM_RELEASE_H

#include "core/client.h"

struct bftm_cluster;

/**
 * bftm_release_begin() - release an attempt at servers
 * @cl:   the cluster
 * @name: of the lock
 * @len:  bytes of @name, 1 to BFTM_NAME_LEN_MAX
 * @out:  which attempt, at which servers, and what becomes of the value
 *
 * RELEASE is sent now and twice more to servers that do not acknowledge. If all three are lost,
 * that costs at most one lease. For a lock without a lease RELEASE is repeated until all but b
 * servers have acknowledged.
 */
void bftm_release_begin(struct bftm_cluster *cl, const u8 *name, u8 len,
			const struct bftm_out *out);

/** bftm_release_answer_from() - server @u has acknowledged. */
void bftm_release_answer_from(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_release_late() - server @u answers an attempt that is over, perhaps. */
void bftm_release_late(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_release_restarted_at() - server @u has forgotten what was granted without a lease. */
void bftm_release_restarted_at(struct bftm_cluster *cl, u32 u);

/** bftm_release_forget() - drop all of a cluster. */
void bftm_release_forget(struct bftm_cluster *cl);

#endif /* BFTM_RELEASE_H */
