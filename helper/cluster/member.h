/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This host as a member of a cluster: it may hold locks without a lease. It asks each server for
 * its epoch every second, and tells one that has restarted what it holds, and then that this is all.
 */
#ifndef BFTM_MEMBER_H
#define BFTM_MEMBER_H

#include <stdbool.h>

#include "core/types.h"

struct bftm_cluster;
struct bftm_msg;

/** bftm_is_member() - is this host a member, by its configuration or by what it still holds? */
bool bftm_is_member(const struct bftm_cluster *cl);

/**
 * bftm_member_sync() - say SYNC to server @u, if it is time
 * @cl: the cluster
 * @u:  its number, less than n
 *
 * After each CHALLENGE and each answer about a lock, and once a second.
 */
void bftm_member_sync(struct bftm_cluster *cl, u32 u);

/** bftm_member_synced() - server @u has heard SYNC */
void bftm_member_synced(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_member_denied() - server @u refuses what names no lock: if it was SYNC, that is logged once */
void bftm_member_denied(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/**
 * bftm_member_refused() - server @u says that an incarnation of this host is evicted
 * @cl:  the cluster
 * @u:   its number, less than n
 * @msg: REFUSED for that reason, authentic and fresh
 *
 * When b + 1 servers say so, one of them is correct: locks without a lease that this incarnation or
 * an earlier one won are lost, and what it waits for fails. The services hear of it at once, and
 * then not more often than once a second. The daemon does not draw another incarnation by
 * itself: an administrator who has evicted a host decides when it may come back, and restarts it.
 */
void bftm_member_refused(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

#endif /* BFTM_MEMBER_H */
