/* SPDX-License-Identifier: GPL-2.0 */
/* Members of a server, that is clients that may hold locks without a lease: SYNC and evictions. */
#ifndef BFTM_LOCKS_MEMBERS_H
#define BFTM_LOCKS_MEMBERS_H

#include <linux/types.h>

struct bftm_rules;
struct bftm_server;

/** bftm_locks_members_start() - before the first datagram. */
void bftm_locks_members_start(struct bftm_server *server);

/** bftm_locks_members_stop() - nobody receives any more. Context: process. */
void bftm_locks_members_stop(struct bftm_server *server);

/**
 * bftm_locks_synced() - of struct bftm_shell, for a server's tables
 * @server:      the server
 * @client:      a member
 * @incarnation: what it had up to this one is over
 *
 * To drop it takes a walk through all locks, which is made by work.
 * Context: softirq. Return: false as long as that is not done.
 */
bool bftm_locks_synced(struct bftm_server *server, u32 client, u32 incarnation);

/**
 * bftm_locks_evict() - an administrator says that a member is cut off
 * @server:      the server
 * @client:      its number
 * @incarnation: this one and all before, not 0
 *
 * From here on nothing new comes of it; bftm_locks_evicted() drops what it has.
 * Context: process, the mutex of the namespace is held. Return: 0; -ESRCH: it is no member.
 */
int bftm_locks_evict(struct bftm_server *server, u32 client, u32 incarnation);

/**
 * bftm_locks_evicted() - drop what a client that was evicted has without a lease, of all locks
 * @server:      the server
 * @client:      its number
 * @incarnation: as it was evicted
 *
 * Context: process; the server is kept by @life of the namespace, and not by its mutex.
 */
void bftm_locks_evicted(struct bftm_server *server, u32 client, u32 incarnation);

/**
 * bftm_locks_note() - the roll names these incarnations of a member
 * @server:      the server
 * @client:      its number
 * @incarnation: this one and all before, not 0
 * @roll:        the start that the roll is of
 *
 * Context: process, the mutex of the namespace is held.
 * Return: 0; -EOPNOTSUPP: the server has no roll; -ESTALE: it is of another start; -ESRCH: the
 * client is no member.
 */
int bftm_locks_note(struct bftm_server *server, u32 client, u32 incarnation, u64 roll);

/**
 * bftm_locks_unnoted() - a request was refused by BFTM_REFUSED_UNNOTED
 * @server: the server
 * @client: its client
 * @incarnation: of the attempt that it is for
 * @now:    bftm_clock_ns()
 *
 * If that has lasted for seconds, it is logged. Context: softirq.
 */
void bftm_locks_unnoted(struct bftm_server *server, u32 client, u32 incarnation, u64 now);

/**
 * bftm_locks_unruled() - does a client have, or wait for, a lock without a lease against the rules?
 * @server: the server; no request is judged by other rules any more
 * @rules:  the rules, NULL for none
 *
 * Context: process.
 */
bool bftm_locks_unruled(struct bftm_server *server, const struct bftm_rules *rules);

#endif /* BFTM_LOCKS_MEMBERS_H */
