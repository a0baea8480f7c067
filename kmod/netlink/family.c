// SPDX-License-Identifier: GPL-2.0
/* Every command acts on the namespace of the socket that it arrives on. */
#include <linux/module.h>

#include "client/request.h"
#include "netlink/gen.h"
#include "netlink/journal.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "notify.h"

/* Since 6.1.68. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#error "This kernel lets anybody hear of locks: 6.1.68 is the oldest that does not"
#endif

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
