// SPDX-License-Identifier: GPL-2.0
/* Answers of several messages, one for each object. */
#include "netlink/netlink.h"

int bftm_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		  int (*put)(struct sk_buff *msg, const void *object),
		  const void *object)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, &bftm_family, NLM_F_MULTI, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (put(skb, object)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int bftm_dump_step(struct bftm_dump *d, const void *object)
{
	long *args = d->cb->args;
	int err;

	if (d->bucket[0] != args[0] || d->bucket[1] != args[1]) {
		d->bucket[0] = args[0];
		d->bucket[1] = args[1];
		/* Continue where the last message stopped. */
		d->index = 0;
		if (args[0] != args[3] || args[1] != args[4])
			args[2] = 0;
	}
	if (d->index++ < args[2])
		return 0;
	err = bftm_dump_one(d->skb, d->cb, d->cmd, d->put, object);
	if (err)
		return err;
	args[2] = d->index;
	args[3] = args[0];
	args[4] = args[1];
	return 0;
}
