/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loan of the helper to the kernel, for a cluster: keys, addresses, a socket and
 * the counters that both draw numbers from. By it the kernel asks the servers
 * itself; see fast.h.
 */
#ifndef BFTM_SESSION_H
#define BFTM_SESSION_H

#include <linux/list.h>
#include <net/dst_cache.h>

#include "core/peer.h"
#include "core/protocol.h"
#include "time/alarms.h"
#include "uapi/linux/bftmutex.h"
#include "udp/address.h"
#include "udp/auth.h"

struct bftm_net;
struct page;
struct socket;

/**
 * struct bftm_session_peer - a server of the cluster
 * @id:       its number
 * @pair:     keys
 * @to:       address
 * @route:    to there
 * @known:    its starts, guarded; what requests name is read without the lock
 * @hello_ns: when the kernel said HELLO to it, last, by the clock of leases, guarded
 */
struct bftm_session_peer {
	u16 id;
	struct bftm_client_keys pair;
	struct bftm_address to;
	struct dst_cache route;
	struct bftm_peer_epochs known;
	u64 hello_ns;
};

/** struct bftm_flow - what a route is chosen by, beside the addresses */
struct bftm_flow {
	int ifindex;
	u32 mark;
};

/**
 * struct bftm_session - constant once it is listed, but for what the lock of its
 * namespace's upcall guards
 * @list:     among those of the namespace, guarded
 * @bn:       the namespace
 * @portid:   helper that lent it
 * @cluster:  name, filled with zeros
 * @standard: an empty name means this one
 * @id:       number of the cluster
 * @client:   number of this client
 * @configuration: a number of the helper's own, for what is won by this
 * @lease_ns: lease of an acquire that asks for none, ns
 * @lease_max_ns: the longest lease that an acquire may ask for, ns
 * @protocol: of its locks
 * @cfg:      for the core; servers that do not count are guarded
 * @ask:      what is known of the servers, if some are asked first, guarded
 * @page:     of the helper, pinned
 * @counters: in it
 * @sock:     reference to the helper's socket
 * @alarms:   acquisitions with something to do at a time, guarded
 * @all:      acquisitions, guarded
 * @count:    of them, guarded
 * @asking:   those among them that are not decided, guarded
 * @watch:    so many acquires are left to the helper, which takes down who
 *            disagrees with whom, or has to see to it anyway, guarded
 * @vain:     acquisitions in a row in which too few were heard, guarded
 * @flow:     of the socket, when routes were looked up: they hold for that, guarded
 * @peer:     cfg.n servers
 */
struct bftm_session {
	struct list_head list;
	struct bftm_net *bn;
	u32 portid;
	char cluster[BFTM_CLUSTER_MAX + 1];
	bool standard;
	u32 id;
	u32 client;
	u64 configuration;
	u64 lease_ns;
	u64 lease_max_ns;
	const struct bftm_protocol *protocol;
	struct bftm_client_cfg cfg;
	struct bftm_ask_state ask;
	struct page *page;
	struct bftm_counters *counters;
	struct socket *sock;
	struct bftm_alarms alarms;
	struct list_head all;
	u32 count;
	u32 asking;
	u32 watch;
	u32 vain;
	struct bftm_flow flow;
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

/**
 * bftm_session_lend() - take what the helper lends, in place of what it lent before
 * @bn:       the namespace
 * @s:        filled in up to @cfg and @peer, of kvzalloc(); not the caller's any more
 * @fd:       the socket, of the calling process
 * @counters: address of the counters, in the calling process
 *
 * Context: process. Return: 0, -EPERM, -EFAULT, -EBADF, -ENOTSOCK or -EINVAL.
 */
int bftm_session_lend(struct bftm_net *bn, struct bftm_session *s, int fd, u64 counters);

/**
 * bftm_sessions_retire() - from now on the kernel begins nothing by them
 * @bn:      the namespace
 * @cluster: NULL for all
 * @portid:  the helper's that lent them, 0 for any
 * @gone:    gets them, for bftm_sessions_dispose()
 * Context: the session mutex and the upcall's lock held.
 */
void bftm_sessions_retire(struct bftm_net *bn, const char *cluster, u32 portid,
			  struct list_head *gone);

/**
 * bftm_sessions_dispose() - of those that are retired: what is under way by them is the helper's
 * @gone: sessions from bftm_sessions_retire(); freed
 * Context: process; the session mutex is held since they were retired.
 */
void bftm_sessions_dispose(struct list_head *gone);

/** bftm_session_revoke() - both. Context: process. */
void bftm_session_revoke(struct bftm_net *bn, const char *cluster, u32 portid);

/** bftm_session_route() - look routes up anew if the flow is another. The upcall's lock is held. */
void bftm_session_route(struct bftm_session *s);

/**
 * bftm_session_send() - send one message to several servers
 * @s:    the session
 * @to:   bit mask
 * @wire: all but server, epoch, number and tag
 *
 * A datagram that cannot go is lost, as on the way. Context: RCU read side, does not sleep; without
 * locks of this module. Return: those of @to to whom it went out, as far as this host can tell.
 */
u32 bftm_session_send(struct bftm_session *s, u32 to, struct bftm_wire *wire);

#endif /* BFTM_SESSION_H */
