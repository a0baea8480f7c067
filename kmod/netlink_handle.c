// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, the client host's side: handles, events and the helper. Handles and
 * requests are looked at under the upcall's lock.
 */
#include <linux/ktime.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <net/sock.h>

#include "handle.h"
#include "netlink.h"
#include "netlink_gen.h"

static int put_arg(struct sk_buff *msg, const struct bftm_acquire *arg)
{
	char cluster[BFTM_CLUSTER_MAX + 1] = {};

	memcpy(cluster, arg->cluster, BFTM_CLUSTER_MAX);
	if (nla_put_string(msg, BFTMUTEX_A_HANDLE_CLUSTER, cluster) ||
	    nla_put(msg, BFTMUTEX_A_HANDLE_NAME, arg->name_len, arg->name) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_FLAGS, arg->flags) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_LEASE_NS, arg->lease_ns,
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_handle(struct sk_buff *msg, const void *object)
{
	const struct bftm_handle *h = object;
	u64 now = ktime_get_boottime_ns();
	u64 end = h->arg.deadline_ns;

	if (put_arg(msg, &h->arg) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ID, h->id,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_STATE, h->state) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_REASON, h->reason) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_PID, pid_nr(h->owner)) ||
	    nla_put_string(msg, BFTMUTEX_A_HANDLE_COMM, h->comm) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, h->arg.attempts) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, end,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_TOKEN, h->arg.token,
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	if (h->request && h->request->attempt &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ATTEMPT,
			      h->request->attempt, BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	if (h->state == BFTM_STATE_HELD &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_REMAINING_NS,
			      end > now ? end - now : 0, BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	return 0;
}

int bftmutex_nl_handle_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct bftm_upcall *up = &bftm_net(sock_net(cb->skb->sk))->upcall;
	struct bftm_handle *h;

	/* cb->args: [0] the last handle that was passed; others may be gone. */
	spin_lock_bh(&up->lock);
	list_for_each_entry(h, &up->handles, all) {
		if (h->number <= (unsigned long)cb->args[0])
			continue;
		if (h->state != BFTM_STATE_IDLE &&
		    bftm_dump_one(skb, cb, BFTMUTEX_CMD_HANDLE_GET, put_handle, h))
			break;
		cb->args[0] = (long)h->number;
	}
	spin_unlock_bh(&up->lock);
	return skb->len;
}

int bftmutex_nl_helper_register_doit(struct sk_buff *skb,
				     struct genl_info *info)
{
	int err = bftm_upcall_register(bftm_net(genl_info_net(info)),
				       info->snd_portid);

	if (err == -EBUSY)
		GENL_SET_ERR_MSG(info, "this network namespace has a helper");
	return err;
}

/*
 * The helper's clock is CLOCK_BOOTTIME as its time namespace shows it; ours is
 * without that offset.
 */
static int put_request(const struct bftm_request *request, void *arg)
{
	u64 end = request->timeout_at_ns;
	struct sk_buff *msg = arg;

	if (put_arg(msg, &request->arg) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ID, request->id,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_KIND, request->kind) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_WAY, request->arg.way) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS,
			      end ? timens_add_boottime_ns(end) : 0,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ATTEMPT, request->attempt,
			      BFTMUTEX_A_HANDLE_PAD))
		return -EMSGSIZE;
	return 0;
}

int bftmutex_nl_helper_pull_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct sk_buff *msg;
	void *hdr;
	int err;
	u64 id;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &bftm_family, 0, info->genlhdr->cmd);
	err = hdr ? 0 : -EMSGSIZE;
	if (!err)
		err = bftm_upcall_pull(bn, info->snd_portid, put_request, msg,
				       &id);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	err = genlmsg_reply(msg, info);
	if (err)
		bftm_upcall_unpull(bn, id);
	return err;
}

static u64 get_u64(struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u64(info->attrs[attr]) : 0;
}

static u32 get_u32(struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : 0;
}

int bftmutex_nl_helper_done_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 error = get_u32(info, BFTMUTEX_A_HANDLE_ERROR);
	struct bftm_result result = {
		.id = get_u64(info, BFTMUTEX_A_HANDLE_ID),
		.error = -(int)error,
		.attempt = get_u64(info, BFTMUTEX_A_HANDLE_ATTEMPT),
		.attempts = get_u32(info, BFTMUTEX_A_HANDLE_ATTEMPTS),
		.deadline_ns = get_u64(info, BFTMUTEX_A_HANDLE_DEADLINE_NS) -
			       timens_add_boottime_ns(0),
		.token = get_u64(info, BFTMUTEX_A_HANDLE_TOKEN),
	};

	if (!result.id || (!error && !result.attempt)) {
		GENL_SET_ERR_MSG(info, "id is needed, and attempt with success");
		return -EINVAL;
	}
	if (error > MAX_ERRNO) {
		GENL_SET_ERR_MSG(info, "error must be 0 to 4095");
		return -ERANGE;
	}
	if (result.deadline_ns > ktime_get_boottime_ns() + BFTM_LEASE_MAX_NS) {
		GENL_SET_ERR_MSG(info, "deadline must be within 1 h");
		return -ERANGE;
	}
	return bftm_upcall_done(bftm_net(genl_info_net(info)), info->snd_portid,
				&result);
}

int bftm_netlink_hint(struct net *net, u32 portid)
{
	struct sk_buff *msg = genlmsg_new(0, GFP_ATOMIC | __GFP_NOWARN);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put(msg, 0, 0, &bftm_family, 0, BFTMUTEX_CMD_HELPER_READY);
	if (!hdr) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_unicast(net, msg, portid);
}

void bftm_netlink_event(struct bftm_handle *h)
{
	struct net *net = h->bn->net;
	struct sk_buff *msg;
	void *hdr;

	if (!genl_has_listeners(&bftm_family, net, BFTMUTEX_NLGRP_EVENTS))
		return;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &bftm_family, 0, BFTMUTEX_CMD_LOCK_EVENT);
	if (!hdr || put_handle(msg, h)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&bftm_family, net, msg, 0, BFTMUTEX_NLGRP_EVENTS,
				GFP_ATOMIC);
}
