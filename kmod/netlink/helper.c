// SPDX-License-Identifier: GPL-2.0
/* Netlink, the helper's side: how it begins, and what it reports. Its pulls are in pull.c. */
#include <linux/time_namespace.h>

#include "client/handle.h"
#include "client/submit.h"
#include "client/trace.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "power.h"
#include "time/clock.h"

int bftmutex_nl_helper_register_doit(struct sk_buff *skb,
				     struct genl_info *info)
{
	int err;

	if (!bftm_power_begin()) {
		GENL_SET_ERR_MSG(info, "this machine is about to sleep");
		return -EBUSY;
	}
	err = bftm_upcall_register(bftm_net(genl_info_net(info)), info->snd_portid);
	bftm_power_end();
	if (err == -EBUSY)
		GENL_SET_ERR_MSG(info, "this network namespace already has a helper");
	else if (err == -ESTALE)
		GENL_SET_ERR_MSG(info, "this machine was cloned or set back: take new numbers");
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

/* See put_request(). */
static u64 get_deadline(struct genl_info *info, int attr)
{
	u64 end = get_u64(info, attr);

	return end && end != BFTM_LEASE_NONE ? end - timens_add_boottime_ns(0) : end;
}

static int check_deadline(struct genl_info *info, u64 deadline_ns, u64 end_ns)
{
	if (deadline_ns == BFTM_LEASE_NONE && (!end_ns || end_ns == BFTM_LEASE_NONE))
		return 0;
	if (deadline_ns <= ktime_get_boottime_ns() + BFTM_LEASE_MAX_NS &&
	    end_ns <= bftm_clock_ns() + BFTM_LEASE_MAX_NS)
		return 0;
	GENL_SET_ERR_MSG(info, "deadline and end must be within 1 h, or both all ones: no end");
	return -ERANGE;
}

static int get_value(struct genl_info *info, struct bftm_value_report *ret)
{
	struct nlattr *value = info->attrs[BFTMUTEX_A_HANDLE_VALUE];
	u32 flags = get_u32(info, BFTMUTEX_A_HANDLE_VALUE_FLAGS);

	if (flags & ~BFTMUTEX_VALUE_FLAG_VALID || (value && !flags)) {
		GENL_SET_ERR_MSG(info, "value-flags must be 0 or valid, and valid with value");
		return -EINVAL;
	}
	if (value && nla_len(value) > BFTM_VALUE_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, value, "value must be at most 64 bytes");
		return -ERANGE;
	}
	ret->valid = flags;
	ret->len = value ? nla_len(value) : 0;
	ret->bytes = value ? nla_data(value) : NULL;
	return 0;
}

static int check_report(struct genl_info *info, u64 id, u32 error)
{
	if (!id) {
		GENL_SET_ERR_MSG(info, "id is needed");
		return -EINVAL;
	}
	/* Errors from 512 on are internal to the kernel: some would restart the system call. */
	if (error >= ERESTARTSYS) {
		GENL_SET_ERR_MSG(info, "error must be 0 to 511");
		return -ERANGE;
	}
	return 0;
}

int bftmutex_nl_helper_done_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 error = get_u32(info, BFTMUTEX_A_HANDLE_ERROR);
	struct bftm_result result = {
		.id = get_u64(info, BFTMUTEX_A_HANDLE_ID),
		.error = -(int)error,
		.attempt = get_u64(info, BFTMUTEX_A_HANDLE_ATTEMPT),
		.attempts = get_u32(info, BFTMUTEX_A_HANDLE_ATTEMPTS),
		.deadline_ns = get_deadline(info, BFTMUTEX_A_HANDLE_DEADLINE_NS),
		.end_ns = get_deadline(info, BFTMUTEX_A_HANDLE_END_NS),
		.token = get_u64(info, BFTMUTEX_A_HANDLE_TOKEN),
		.lease_ns = get_u64(info, BFTMUTEX_A_HANDLE_LEASE_NS),
		.sends = get_u32(info, BFTMUTEX_A_HANDLE_SENDS),
		.configuration = get_u64(info, BFTMUTEX_A_HANDLE_CONFIGURATION),
	};
	struct nlattr *cluster = info->attrs[BFTMUTEX_A_HANDLE_CLUSTER];
	struct nlattr *why = info->attrs[BFTMUTEX_A_HANDLE_WHY];
	int err;

	/* The policy has checked its length; it has no terminator. */
	if (cluster)
		memcpy(result.cluster, nla_data(cluster),
		       strnlen(nla_data(cluster), nla_len(cluster)));

	err = check_report(info, result.id, error) ?: get_value(info, &result.value);
	if (err)
		return err;
	if (!error && !result.attempt) {
		GENL_SET_ERR_MSG(info, "attempt is needed with success");
		return -EINVAL;
	}
	if (result.lease_ns && (result.lease_ns < BFTM_LEASE_MIN_NS ||
				result.lease_ns > BFTM_LEASE_MAX_NS)) {
		GENL_SET_ERR_MSG(info, "lease-ns must be 1000000 to 3600000000000, or 0");
		return -ERANGE;
	}
	/* If the helper gives no end, the deadline is the end. */
	if (!result.end_ns && result.deadline_ns)
		result.end_ns = bftm_clock_end(result.deadline_ns);
	err = check_deadline(info, result.deadline_ns, result.end_ns);
	if (err)
		return err;
	/* Without memory for the words the program gets only the error. */
	if (error && why)
		result.why = nla_strdup(why, GFP_KERNEL_ACCOUNT);
	err = bftm_upcall_done(bftm_net(genl_info_net(info)), info->snd_portid,
			       &result);
	kfree(result.why);
	if (err == -EINVAL)
		GENL_SET_ERR_MSG(info, "token is needed: the program asked for one");
	else if (err == -ERANGE)
		GENL_SET_ERR_MSG(info, "only an acquire with BFTM_NO_LEASE has no end");
	return err;
}

int bftmutex_nl_helper_submitted_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *response = info->attrs[BFTMUTEX_A_HANDLE_RESPONSE];
	u32 error = get_u32(info, BFTMUTEX_A_HANDLE_ERROR);
	struct bftm_submitted answer = {
		.id = get_u64(info, BFTMUTEX_A_HANDLE_ID),
		.error = -(int)error,
		.status = get_u32(info, BFTMUTEX_A_HANDLE_STATUS),
		.number = get_u64(info, BFTMUTEX_A_HANDLE_NUMBER),
		.response = response ? nla_data(response) : NULL,
		.len = response ? nla_len(response) : 0,
	};
	int err;

	err = check_report(info, answer.id, error);
	if (err)
		return err;
	if (!error != !!answer.number || (error && (answer.status || answer.len))) {
		GENL_SET_ERR_MSG(info, "error is needed, or number, with status and response");
		return -EINVAL;
	}
	if (answer.len > BFTM_OP_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, response,
				    "response must be at most 16384 bytes");
		return -ERANGE;
	}
	return bftm_upcall_submitted(bftm_net(genl_info_net(info)), info->snd_portid, &answer);
}

int bftmutex_nl_helper_renewed_doit(struct sk_buff *skb, struct genl_info *info)
{
	u64 id = get_u64(info, BFTMUTEX_A_HANDLE_ID);
	u64 deadline = get_deadline(info, BFTMUTEX_A_HANDLE_DEADLINE_NS);
	u64 end = get_deadline(info, BFTMUTEX_A_HANDLE_END_NS);
	int err;

	if (!id || !info->attrs[BFTMUTEX_A_HANDLE_DEADLINE_NS]) {
		GENL_SET_ERR_MSG(info, "id and deadline are needed");
		return -EINVAL;
	}
	err = check_deadline(info, deadline, end);
	if (err)
		return err;
	return bftm_upcall_renewed(bftm_net(genl_info_net(info)), info->snd_portid,
				   id, deadline, end,
				   get_u32(info, BFTMUTEX_A_HANDLE_SENDS));
}

int bftmutex_nl_helper_converted_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 error = get_u32(info, BFTMUTEX_A_HANDLE_ERROR);
	struct bftm_converted result = {
		.id = get_u64(info, BFTMUTEX_A_HANDLE_ID),
		.number = get_u32(info, BFTMUTEX_A_HANDLE_CONVERSION),
		.error = -(int)error,
		.deadline_ns = get_deadline(info, BFTMUTEX_A_HANDLE_DEADLINE_NS),
		.end_ns = get_deadline(info, BFTMUTEX_A_HANDLE_END_NS),
		.token = get_u64(info, BFTMUTEX_A_HANDLE_TOKEN),
		.sends = get_u32(info, BFTMUTEX_A_HANDLE_SENDS),
	};
	int err = check_report(info, result.id, error) ?: get_value(info, &result.value);

	if (err)
		return err;
	if (!result.number || !error == !result.deadline_ns) {
		GENL_SET_ERR_MSG(info, "conversion, and either error or deadline are needed");
		return -EINVAL;
	}
	err = check_deadline(info, result.deadline_ns, result.end_ns);
	if (err)
		return err;
	err = bftm_upcall_converted(bftm_net(genl_info_net(info)), info->snd_portid, &result);
	if (err == -EINVAL)
		GENL_SET_ERR_MSG(info, "token is needed: the program asked for one");
	return err;
}

int bftmutex_nl_helper_wanted_doit(struct sk_buff *skb, struct genl_info *info)
{
	u64 id = get_u64(info, BFTMUTEX_A_HANDLE_ID);

	if (!id) {
		GENL_SET_ERR_MSG(info, "id is needed");
		return -EINVAL;
	}
	return bftm_upcall_wanted(bftm_net(genl_info_net(info)), info->snd_portid, id,
				  get_u32(info, BFTMUTEX_A_HANDLE_MODE));
}

int bftmutex_nl_helper_evicted_doit(struct sk_buff *skb, struct genl_info *info)
{
	u64 id = get_u64(info, BFTMUTEX_A_HANDLE_ID);
	int err;

	if (!id) {
		GENL_SET_ERR_MSG(info, "id is needed");
		return -EINVAL;
	}
	err = bftm_upcall_evicted(bftm_net(genl_info_net(info)), info->snd_portid, id);
	if (err == -EINVAL)
		GENL_SET_ERR_MSG(info, "this lock has a lease, by which it ends");
	return err;
}

int bftm_netlink_hint(struct net *net, u32 portid, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(0, GFP_ATOMIC | __GFP_NOWARN);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put(msg, 0, 0, &bftm_family, 0, cmd);
	if (!hdr) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_unicast(net, msg, portid);
}

/** struct suspect - the event about a server that looks like a liar */
struct suspect {
	const char *cluster;
	u16 server;
	const char *evidence;
	u64 count;
};

static struct sk_buff *suspect_msg(const struct suspect *s)
{
	struct sk_buff *msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return NULL;
	hdr = genlmsg_put(msg, 0, 0, &bftm_family, 0, BFTMUTEX_CMD_SUSPECT_EVENT);
	if (!hdr ||
	    nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, s->cluster) ||
	    nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, s->server) ||
	    nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, s->evidence) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SUSPECT_COUNT, s->count,
			      BFTMUTEX_A_SUSPECT_PAD)) {
		nlmsg_free(msg);
		return NULL;
	}
	genlmsg_end(msg, hdr);
	return msg;
}

int bftmutex_nl_helper_suspect_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attr = info->attrs;
	struct net *net = genl_info_net(info);
	struct suspect s;
	struct sk_buff *msg;

	if (!attr[BFTMUTEX_A_SUSPECT_CLUSTER] ||
	    !attr[BFTMUTEX_A_SUSPECT_SERVER_ID] ||
	    !attr[BFTMUTEX_A_SUSPECT_EVIDENCE]) {
		GENL_SET_ERR_MSG(info, "cluster, server-id and evidence are needed");
		return -EINVAL;
	}
	if (!bftm_upcall_is_helper(bftm_net(net), info->snd_portid))
		return -EPERM;
	s.cluster = nla_data(attr[BFTMUTEX_A_SUSPECT_CLUSTER]);
	s.server = nla_get_u16(attr[BFTMUTEX_A_SUSPECT_SERVER_ID]);
	s.evidence = nla_data(attr[BFTMUTEX_A_SUSPECT_EVIDENCE]);
	s.count = get_u64(info, BFTMUTEX_A_SUSPECT_COUNT);
	trace_bftm_suspect(net, s.cluster, s.server, s.evidence, s.count);
	if (!genl_has_listeners(&bftm_family, net, BFTMUTEX_NLGRP_EVENTS))
		return 0;
	msg = suspect_msg(&s);
	if (!msg)
		return -ENOMEM;
	/* It is no failure when no process listens any more, or when a listener is too slow. */
	genlmsg_multicast_netns(&bftm_family, net, msg, 0, BFTMUTEX_NLGRP_EVENTS,
				GFP_KERNEL);
	return 0;
}
