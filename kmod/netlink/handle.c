// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, the client host's side: handles and their events. Handles are looked
 * at under the upcall's lock.
 */
#include <linux/pid_namespace.h>
#include <net/sock.h>

#include "client/handle.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "time/clock.h"

int bftm_netlink_put_arg(struct sk_buff *msg, const struct bftm_acquire *arg)
{
	char cluster[BFTM_CLUSTER_MAX + 1] = {};

	memcpy(cluster, arg->cluster, BFTM_CLUSTER_MAX);
	if (nla_put_string(msg, BFTMUTEX_A_HANDLE_CLUSTER, cluster) ||
	    nla_put(msg, BFTMUTEX_A_HANDLE_NAME, arg->name_len, arg->name) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_FLAGS, arg->flags) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_MODE, arg->mode) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_LEASE_NS, arg->lease_ns,
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	return 0;
}

/*
 * A network namespace that a user namespace owns belongs to a container: the listing then shows the
 * process's own number in its namespace, which reveals nothing of the host.
 */
static pid_t pid_of(const struct bftm_handle *h)
{
	if (h->bn->net->user_ns == &init_user_ns)
		return pid_nr(h->owner);
	return pid_nr_ns(h->owner, ns_of_pid(h->owner));
}

static int put_handle(struct sk_buff *msg, const void *object)
{
	const struct bftm_handle *h = object;
	s64 left = bftm_clock_left(h->arg.deadline_ns, h->end_ns);

	if (bftm_netlink_put_arg(msg, &h->arg) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ID, h->id,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_STATE, h->state) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_REASON, h->reason) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_PID, pid_of(h)) ||
	    nla_put_string(msg, BFTMUTEX_A_HANDLE_COMM, h->comm) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, h->arg.attempts) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS,
			      h->arg.deadline_ns, BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_TOKEN, h->arg.token,
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	if (h->request && h->request->attempt &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ATTEMPT,
			      h->request->attempt, BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	if (h->state == BFTM_STATE_HELD &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_REMAINING_NS,
			      bftm_handle_lasts(h) ? BFTM_LEASE_NONE : max_t(s64, left, 0),
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	if (h->conversion.id == h->id &&
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERSION, h->conversion.number))
		return -EMSGSIZE;
	if (bftm_handle_converts(h) && nla_put_u32(msg, BFTMUTEX_A_HANDLE_GOAL, h->conversion.mode))
		return -EMSGSIZE;
	return 0;
}

/** struct handle_dump - one message of a dump */
struct handle_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static int dump_handle(struct bftm_handle *h, void *arg)
{
	const struct handle_dump *d = arg;

	/* Its timer may be late; a lock whose deadline has passed must not be listed as held. */
	bftm_handle_check(h);
	if (h->state == BFTM_STATE_IDLE)
		return 0;
	return bftm_dump_one(d->skb, d->cb, BFTMUTEX_CMD_HANDLE_GET, put_handle, h);
}

int bftmutex_nl_handle_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct bftm_upcall *up = bftm_net(sock_net(cb->skb->sk))->upcall;
	struct handle_dump d = { .skb = skb, .cb = cb };
	unsigned long at = cb->args[0];
	bool more;

	/* cb->args: [0] the number to go on from. */
	do {
		spin_lock_bh(&up->lock);
		more = bftm_handles_walk(up, &at, dump_handle, &d);
		spin_unlock_bh(&up->lock);
		cond_resched();
	} while (more);
	cb->args[0] = (long)at;
	return skb->len;
}

static int put_local(struct sk_buff *msg, const struct bftm_local *local, u64 ingress)
{
	const struct {
		int attr;
		u64 value;
	} all[] = {
		{ BFTMUTEX_A_LOCAL_ACQUIRES, local->acquires },
		{ BFTMUTEX_A_LOCAL_WON, local->won },
		{ BFTMUTEX_A_LOCAL_BUSY, local->busy },
		{ BFTMUTEX_A_LOCAL_TIMEOUTS, local->timeouts },
		{ BFTMUTEX_A_LOCAL_FAILED, local->failed },
		{ BFTMUTEX_A_LOCAL_CANCELLED, local->cancelled },
		{ BFTMUTEX_A_LOCAL_RELEASED, local->released },
		{ BFTMUTEX_A_LOCAL_LOST, local->lost },
		{ BFTMUTEX_A_LOCAL_RENEWED, local->renewed },
		{ BFTMUTEX_A_LOCAL_INGRESS, ingress },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (nla_put_u64_64bit(msg, all[i].attr, all[i].value, BFTMUTEX_A_LOCAL_PAD))
			return -EMSGSIZE;
	return 0;
}

int bftmutex_nl_local_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_upcall *up = bftm_net(genl_info_net(info))->upcall;
	struct bftm_local local;
	struct sk_buff *msg;
	void *hdr;

	spin_lock_bh(&up->lock);
	local = up->local;
	spin_unlock_bh(&up->lock);
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &bftm_family, 0, info->genlhdr->cmd);
	if (!hdr || put_local(msg, &local, atomic64_read(&up->ingress))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static void send_event(struct bftm_handle *h, u8 cmd, unsigned int group)
{
	struct net *net = h->bn->net;
	struct sk_buff *msg;
	void *hdr;

	if (!genl_has_listeners(&bftm_family, net, group))
		return;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!msg) {
		/* Listeners have to learn that an event is missing. */
		genl_set_err(&bftm_family, net, 0, group, -ENOBUFS);
		return;
	}
	hdr = genlmsg_put(msg, 0, 0, &bftm_family, 0, cmd);
	if (!hdr || put_handle(msg, h)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&bftm_family, net, msg, 0, group, GFP_ATOMIC);
}

void bftm_netlink_event(struct bftm_handle *h)
{
	send_event(h, BFTMUTEX_CMD_LOCK_EVENT, BFTMUTEX_NLGRP_EVENTS);
}

void bftm_netlink_renew_event(struct bftm_handle *h)
{
	send_event(h, BFTMUTEX_CMD_RENEW_EVENT, BFTMUTEX_NLGRP_RENEWALS);
}
