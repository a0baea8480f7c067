// SPDX-License-Identifier: GPL-2.0
/* Every command acts on the namespace of the socket that it arrives on. */
#include <linux/module.h>

#include "client/request.h"
#include "netlink/gen.h"
#include "netlink/journal.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "notify.h"

struct genl_family bftm_family __ro_after_init = {
	.name = BFTMUTEX_FAMILY_NAME,
	.version = BFTMUTEX_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = bftmutex_nl_ops,
	.n_ops = ARRAY_SIZE(bftmutex_nl_ops),
	.mcgrps = bftmutex_nl_mcgrps,
	.n_mcgrps = ARRAY_SIZE(bftmutex_nl_mcgrps),
};

const struct bftm_notify bftm_notify = {
	.hint = bftm_netlink_hint,
	.event = bftm_netlink_event,
	.renewed = bftm_netlink_renew_event,
};

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

static int socket_closed(struct notifier_block *nb, unsigned long event,
			 void *data)
{
	struct netlink_notify *n = data;

	if (event == NETLINK_URELEASE && n->protocol == NETLINK_GENERIC) {
		bftm_upcall_deregister(bftm_net(n->net), n->portid);
		bftm_netlink_journal_closed(bftm_net(n->net), n->portid);
	}
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_closed,
};

int bftm_netlink_init(void)
{
	/* The notifier comes first: otherwise the end of a helper could be missed. */
	int err = netlink_register_notifier(&socket_notifier);

	if (err)
		return err;
	err = genl_register_family(&bftm_family);
	if (err)
		netlink_unregister_notifier(&socket_notifier);
	return err;
}

void bftm_netlink_exit(void)
{
	genl_unregister_family(&bftm_family);
	netlink_unregister_notifier(&socket_notifier);
}
