/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line: what a helper's process lends for a session. The kernel sends and hears by its socket;
 * kernel and helper draw numbers from its counters. A session's line may be replaced while attempts
 * are under way.
 */
#ifndef BFTM_LINE_H
#define BFTM_LINE_H

#include <linux/if.h>
#include <net/dst_cache.h>

#include "uapi/linux/bftmutex.h"

struct bftm_hook;
struct bftm_net;
struct bftm_session;
struct bftm_wire;
struct netlink_ext_ack;
struct page;
struct socket;

/** struct bftm_flow - what a route is chosen by, beside the addresses */
struct bftm_flow {
	int ifindex;
	u32 mark;
};

/**
 * struct bftm_line - constant once it is its session's, but for @flow
 * @session:  of the servers at its other end; exists for longer than the line
 * @helper:   number of the helper that lent it, see struct bftm_upcall
 * @page:     of the helper, pinned
 * @counters: in it
 * @sock:     reference to the helper's socket
 * @hook:     takes answers at a device before IP; NULL for none
 * @flow:     of the socket, when routes were looked up: they hold for that, guarded by the lock of
 *            the namespace's upcall
 * @routes:   so many servers
 * @route:    to each of them
 */
struct bftm_line {
	struct bftm_session *session;
	u32 helper;
	struct page *page;
	struct bftm_counters *counters;
	struct socket *sock;
	struct bftm_hook *hook;
	struct bftm_flow flow;
	u32 routes;
	struct dst_cache route[];
};

/**
 * struct bftm_loan - what a line is made of
 * @cluster:  name of the cluster
 * @fd:       the socket, of the calling process
 * @counters: address of the counters, in the calling process
 * @ingress:  name of a device; empty: answers come through IP alone
 */
struct bftm_loan {
	const char *cluster;
	int fd;
	u64 counters;
	char ingress[IFNAMSIZ];
};

/**
 * bftm_line_new() - take what a helper lends
 * @bn:     the namespace
 * @routes: servers of the session
 * @loan:   what is lent
 * @extack: gets the reason when the device cannot be used
 *
 * Context: process. Return: a line without a session; -EFAULT, -EBADF, -ENOTSOCK, -EINVAL,
 * -EOPNOTSUPP, -ENOMEM; -ENODEV: the device.
 */
struct bftm_line *bftm_line_new(const struct bftm_net *bn, u32 routes,
				const struct bftm_loan *loan, struct netlink_ext_ack *extack);

/** bftm_line_free() - one that nothing uses. Context: process. */
void bftm_line_free(struct bftm_line *line);

/**
 * bftm_line_attach() - what the socket receives is for this line's session from now on
 * @line:   with its session
 * @extack: gets the reason when the device cannot be used, or that it is not there yet; may be NULL
 * Context: process, sleeps. Return: 0; -EINVAL when other code has taken the socket; -ENODEV when
 * the device cannot be used, or there is no memory for that.
 */
int bftm_line_attach(struct bftm_line *line, struct netlink_ext_ack *extack);

/**
 * bftm_line_detach() - nothing is received for this line any more, and nothing sent by it
 * @line: its session has another line, or begins and sends nothing any more
 * Context: process, sleeps.
 */
void bftm_line_detach(struct bftm_line *line);

/** bftm_line_route() - look routes up anew if the flow is another. The upcall's lock is held. */
void bftm_line_route(struct bftm_line *line);

/**
 * bftm_line_send() - send one message to several servers
 * @line: the line
 * @to:   bit mask
 * @wire: all but server, epoch, number and tag
 * @skips: of the session when the message was decided: it is not sent with a number that is drawn
 *         after another skip. NULL: with any
 *
 * A datagram that cannot go is lost, as on the way. Context: RCU read side since the line was seen
 * under the upcall's lock, softirqs off; without locks of this module. Return: @to without those
 * to whom it cannot go, as far as this host can tell; for want of room or memory it is only lost.
 */
u32 bftm_line_send(struct bftm_line *line, u32 to, struct bftm_wire *wire, const u32 *skips);

/**
 * bftm_line_skip() - no YIELD that was decided before is taken by a server after a later request
 * @line: the line
 *
 * Such a YIELD has a number that is older than the window of a server which has taken a number
 * drawn from now on, or is not sent any more. Context: the upcall's lock held.
 */
void bftm_line_skip(struct bftm_line *line);

#endif /* BFTM_LINE_H */
