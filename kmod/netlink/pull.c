// SPDX-License-Identifier: GPL-2.0
/* Netlink, the helper's side: its pulls. Requests are read under the upcall's lock. */
#include "client/handle.h"
#include "client/submit.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "time/clock.h"

static int put_conversion(struct sk_buff *msg, const struct bftm_handle *h)
{
	const struct bftm_conversion_of *c = &h->conversion;
	bool wanted = bftm_handle_converts(h);

	if (nla_put_u32(msg, BFTMUTEX_A_HANDLE_GOAL, wanted ? c->mode : h->arg.mode) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERSION, wanted ? c->number : 0) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERT_FLAGS, wanted ? c->flags : 0))
		return -EMSGSIZE;
	return 0;
}

static int put_value(struct sk_buff *msg, const struct bftm_request *request)
{
	const struct bftm_held_value *v = request->value;
	u32 flags = request->doubt ? BFTMUTEX_VALUE_FLAG_DOUBT : 0;

	if (v && v->left)
		flags |= BFTMUTEX_VALUE_FLAG_LEFT;
	if (v && v->leaves)
		flags |= BFTMUTEX_VALUE_FLAG_LEAVES;
	if (flags && nla_put_u32(msg, BFTMUTEX_A_HANDLE_VALUE_FLAGS, flags))
		return -EMSGSIZE;
	if (v && v->leaves && nla_put(msg, BFTMUTEX_A_HANDLE_VALUE, v->len, v->bytes))
		return -EMSGSIZE;
	return 0;
}

/*
 * The helper's time namespace moves both of its clocks by the same offset; the kernel's times are
 * without it.
 */
static int put_request(struct sk_buff *msg, const struct bftm_request *request)
{
	bool converts = request->kind == BFTMUTEX_REQUEST_KIND_CONVERT;
	const struct bftm_submission *s = request->submission;
	const struct bftm_handle *h = request->handle;
	u64 held = h ? h->arg.deadline_ns : 0;
	u64 held_end = h ? h->end_ns : 0;
	u64 end = converts ? h->conversion.at_ns : request->timeout_at_ns;

	if (bftm_netlink_put_arg(msg, &request->arg) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ID, request->id,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_KIND, request->kind) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_WAY, request->arg.way) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS,
			      bftm_clock_of_user(end), BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_ATTEMPT, request->attempt,
			      BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS,
			      bftm_clock_of_user(held), BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_TOKEN,
			      h ? h->arg.token : 0, BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, request->sends) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_CONFIGURATION,
			      request->configuration, BFTMUTEX_A_HANDLE_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_END_NS,
			      bftm_clock_of_user(held_end), BFTMUTEX_A_HANDLE_PAD) ||
	    (request->silent &&
	     nla_put_u32(msg, BFTMUTEX_A_HANDLE_SILENT, request->silent)) ||
	    (request->prio &&
	     nla_put_u64_64bit(msg, BFTMUTEX_A_HANDLE_PRIORITY, request->prio,
			       BFTMUTEX_A_HANDLE_PAD)) ||
	    (converts && put_conversion(msg, h)) || put_value(msg, request) ||
	    (s && nla_put(msg, BFTMUTEX_A_HANDLE_OP, s->op_len, s->op)))
		return -EMSGSIZE;
	return 0;
}

/** struct answer - to a pull; @msg is NULL once it was sent */
struct answer {
	struct genl_info *info;
	struct sk_buff *msg;
	void *hdr;
};

/* Never sleeps: either the reply fits into the helper's socket, or this fails. */
static int give_request(const struct bftm_request *request, void *arg)
{
	struct answer *a = arg;
	struct sk_buff *msg = a->msg;

	if (put_request(msg, request))
		return -EMSGSIZE;
	genlmsg_end(msg, a->hdr);
	a->msg = NULL;
	return genlmsg_reply(msg, a->info);
}

static int netlink_pull(struct genl_info *info, size_t room)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct answer a = { .info = info };
	int err = -EMSGSIZE;

	a.msg = genlmsg_new(room, GFP_KERNEL);
	if (!a.msg)
		return -ENOMEM;
	a.hdr = genlmsg_put_reply(a.msg, info, &bftm_family, 0, info->genlhdr->cmd);
	if (a.hdr)
		err = bftm_upcall_pull(bn, info->snd_portid, give_request, &a);
	nlmsg_free(a.msg);
	return err;
}

int bftmutex_nl_helper_pull_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = netlink_pull(info, GENLMSG_DEFAULT_SIZE);

	/* Only few operations are so long. */
	return err == -EMSGSIZE ? netlink_pull(info, GENLMSG_DEFAULT_SIZE + BFTM_OP_MAX) : err;
}
