/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loan of the helper to the kernel, for a cluster: keys, addresses, limits and a line. By it
 * the kernel asks the servers itself; see fast.h.
 */
#ifndef BFTM_SESSION_H
#define BFTM_SESSION_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "core/backoff/ended.h"
#include "core/peer.h"
#include "core/protocol.h"
#include "time/alarms.h"
#include "uapi/linux/bftmutex.h"
#include "udp/address.h"
#include "udp/auth.h"

struct bftm_line;
struct bftm_loan;
struct bftm_net;
struct netlink_ext_ack;
struct bftm_upcall;

/**
 * struct bftm_session_peer - a server of the cluster
 * @id:       its number
 * @pair:     keys
 * @to:       address
 * @known:    its starts, guarded; what requests name is read without the lock
 * @hello_ns: when the kernel said HELLO to it, last, by the clock of leases, guarded
 */
struct bftm_session_peer {
	u16 id;
	struct bftm_client_keys pair;
	struct bftm_address to;
	struct bftm_peer_epochs known;
	u64 hello_ns;
};

/**
 * struct bftm_session - constant once it is listed, but for what the lock of its
 * namespace's upcall guards
 * @list:     among those of the namespace, guarded
 * @bn:       the namespace
 * @line:     what a helper lent for it last, guarded
 * @cluster:  name, filled with zeros
 * @standard: an empty name means this one, guarded
 * @id:       number of the cluster
 * @client:   number of this client
 * @configuration: a number of the helper's own, for what is won by this
 * @lease_ns: lease of an acquire that asks for none, ns
 * @lease_max_ns: the longest lease that an acquire may ask for, ns
 * @queues:   acquires that do not say how wait in the servers' queue
 * @protocol: of its locks
 * @cfg:      for the core; servers that do not count are guarded
 * @ask:      what is known of the servers, if some are asked first, guarded
 * @alarms:   acquisitions with something to do at a time, guarded
 * @renewals: those in HOLD: however many others there are, these are in time, guarded
 * @all:      acquisitions, guarded
 * @count:    of them, guarded
 * @watch:    acquires that are left to the helper, which records the servers that disagree, or has
 *            to make them in any case, guarded
 * @prio:     the highest Lamport priority that its attempts have met, of all locks, guarded: with a
 *            lower one an attempt would go before clients that wait
 * @vain:     acquisitions in a row in which too few were heard, guarded
 * @heard_ns: when an acquisition last had answers of enough servers for the first time, guarded
 * @watch_again: acquisitions before the helper has to watch again, guarded
 * @ended:    its attempts that ended without a holder, guarded
 * @skips:    how often numbers were skipped, also by lines before, which had the same counters: see
 *            bftm_line_skip(), guarded
 * @peer:     cfg.n servers
 */
struct bftm_session {
	struct list_head list;
	struct bftm_net *bn;
	struct bftm_line *line;
	char cluster[BFTM_CLUSTER_MAX + 1];
	bool standard;
	u32 id;
	u32 client;
	u64 configuration;
	u64 lease_ns;
	u64 lease_max_ns;
	bool queues;
	const struct bftm_protocol *protocol;
	struct bftm_client_cfg cfg;
	struct bftm_ask_state ask;
	struct bftm_alarms alarms;
	struct bftm_alarms renewals;
	struct list_head all;
	u32 count;
	u32 watch;
	u64 prio;
	u32 vain;
	u64 heard_ns;
	u32 watch_again;
	struct bftm_ended ended;
	u32 skips;
	struct bftm_session_peer peer[];
};

/** bftm_session_find() - Context: the upcall's lock held. @cluster: "" for standard */
struct bftm_session *bftm_session_find(struct bftm_net *bn, const char *cluster);

/**
 * bftm_session_ask() - set the servers that are asked first
 * @s:   filled in up to @cfg and @peer, and not lent yet
 * @ask: enum bftmutex_ask
 */
void bftm_session_ask(struct bftm_session *s, u32 ask);

/** bftm_session_is_orphan() - did an earlier helper lend its line? Context: as above. */
bool bftm_session_is_orphan(const struct bftm_session *s);

/** bftm_session_serves() - may an attempt begin by it? Context: as above. */
bool bftm_session_serves(const struct bftm_session *s);

/**
 * bftm_session_take() - a datagram has come by a line of the session
 * @s:    the session
 * @wire: the datagram
 * @len:  bytes of it
 *
 * Context: softirq, RCU read side. Return: true when nobody else needs it.
 */
bool bftm_session_take(struct bftm_session *s, const void *wire, size_t len);

/**
 * bftm_session_lend() - take what the helper lends
 * @bn:     the namespace
 * @s:      filled in up to @cfg and @peer, of kvzalloc(); not the caller's any more
 * @portid: helper that lends it
 * @loan:   its line
 * @extack: gets the reason when the loan's device cannot be used
 *
 * A session of the same cluster that differs in nothing but its line gets this one, and its
 * attempts go on. Any other session of the cluster ends.
 *
 * Context: process. Return: 0, -EPERM, -EFAULT, -EBADF, -ENOTSOCK, -EINVAL; -ESTALE when the
 * counters are below those that this client drew from before; -ENOSPC when 64 other clusters are
 * lent; -ENODEV when the device cannot be used.
 */
int bftm_session_lend(struct bftm_net *bn, struct bftm_session *s, u32 portid,
		      const struct bftm_loan *loan, struct netlink_ext_ack *extack);

/**
 * bftm_session_revoke() - end the session: the kernel begins nothing by it any more, and the helper
 * gets the attempts under way and the locks held
 * @bn:      the namespace
 * @cluster: NULL for all
 * @portid:  does nothing if that is not the helper; 0: whoever is
 * Context: process.
 */
void bftm_session_revoke(struct bftm_net *bn, const char *cluster, u32 portid);

/**
 * bftm_sessions_orphaned() - end orphans that have no use, or all of them when the grace is over
 * @bn: the namespace
 * Context: process; the session mutex held.
 */
void bftm_sessions_orphaned(struct bftm_net *bn);

/**
 * bftm_sessions_look() - queue a work that looks whether orphans are to end
 * @up: the upcall of the namespace
 * Context: the upcall's lock held.
 */
void bftm_sessions_look(struct bftm_upcall *up);

/** bftm_sessions_work() - of @orphans of struct bftm_upcall */
void bftm_sessions_work(struct work_struct *work);

#endif /* BFTM_SESSION_H */
