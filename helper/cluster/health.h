/* SPDX-License-Identifier: GPL-2.0 */
/* Why a lock cannot be had: servers that are silent, or in quarantine. */
#ifndef BFTM_HEALTH_H
#define BFTM_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/types.h"
#include "uapi/linux/bftmutex.h"

struct bftm_cluster;

/**
 * bftm_health_silent() - the kernel has asked these servers, more than once, and heard nothing
 * @cl:      the cluster
 * @configuration: by which the kernel asked them; of another, with other servers perhaps, nothing
 *           is known here
 * @servers: a bit mask
 * Return: servers of the cluster that are known to have answered nothing, a bit mask.
 */
u32 bftm_health_silent(struct bftm_cluster *cl, u64 configuration, u32 servers);

/**
 * bftm_health_doubled() - another host has this client's keys, and has overtaken this one's numbers
 * @cl: the cluster
 *
 * Of b + 1 servers that have taken numbers of this daemon, and say that they took higher ones of
 * another since, one is correct. They drop all that this daemon sends, until it is restarted.
 */
bool bftm_health_doubled(const struct bftm_cluster *cl);

/** bftm_health_unheard() - servers that have not answered for longer than an answer takes, a mask */
u32 bftm_health_unheard(const struct bftm_cluster *cl);

/** bftm_health_able() - servers that answer, and grant locks, a mask */
u32 bftm_health_able(const struct bftm_cluster *cl);

/**
 * bftm_health_names() - "server 2", "servers 1, 3 and 4"
 * @cl:      the cluster
 * @servers: a bit mask; of many the first are named, and the others counted
 * @buf:     gets the words
 * @size:    of @buf
 */
void bftm_health_names(const struct bftm_cluster *cl, u32 servers, char *buf, size_t size);

/**
 * bftm_health_why() - why locks of a cluster cannot be had now, as the end of a sentence
 * @cl:   the cluster
 * @text: gets the words
 *
 * Return: @text, which is empty when enough servers can grant.
 */
const char *bftm_health_why(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX]);

/**
 * bftm_health_awaits() - which servers wait for SYNC of members, as a sentence
 * @cl:   the cluster
 * @text: gets the words
 *
 * Locks that nobody may hold without a lease can be had meanwhile.
 * Return: @text, which is empty when enough servers do not wait.
 */
const char *bftm_health_awaits(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX]);

/**
 * bftm_health_unnoted() - which servers have rolls that do not name this host, as a sentence
 * @cl:   the cluster
 * @text: gets the words
 *
 * They grant it nothing without a lease.
 * Return: @text, which is empty when enough servers may grant.
 */
const char *bftm_health_unnoted(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX]);

/** bftm_health_heard() - have as many servers answered since the start as a lock needs? */
bool bftm_health_heard(const struct bftm_cluster *cl);

/** bftm_health_report() - once a second: log servers that have fallen silent, or answer again */
void bftm_health_report(struct bftm_cluster *cl);

#endif /* BFTM_HEALTH_H */
