/* SPDX-License-Identifier: GPL-2.0 */
/* Who has a lock? All servers are asked; core/who.h judges their answers. */
#ifndef BFTM_WHO_H
#define BFTM_WHO_H

#include "cluster/cluster.h"

struct json_object;

/** bftm_who_fn - takes the answer, which is its own now; @arg as of bftm_who_start() */
typedef void bftm_who_fn(int arg, struct json_object *answer);

/**
 * bftm_who_start() - ask the servers of a cluster
 * @cl:       the cluster
 * @name:     of the lock
 * @len:      bytes of @name, 1 to BFTM_NAME_LEN_MAX
 * @limit_ns: how long to ask
 * @tell:     called once, later, with a lock-who answer, or one with "error" and "errno"
 * @arg:      for @tell
 * Return: 0; -EAGAIN when too many ask, -ENOMEM.
 */
int bftm_who_start(struct bftm_cluster *cl, const u8 *name, u8 len, u64 limit_ns,
		   bftm_who_fn *tell, int arg);

/** bftm_who_answer() - OWNER or REFUSED of server @u, authentic and new */
void bftm_who_answer(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_who_epoch() - server @u did not read an ASK, as it was for an earlier start: ask again */
void bftm_who_epoch(struct bftm_cluster *cl, u32 u);

/** bftm_who_stop() - the cluster ends: all that ask are told so */
void bftm_who_stop(struct bftm_cluster *cl);

#endif /* BFTM_WHO_H */
