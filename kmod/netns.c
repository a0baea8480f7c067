// SPDX-License-Identifier: GPL-2.0
/*
 * A reference keeps a namespace while it is visited without the lock of the list: code that holds
 * this lock must not wait for RTNL, not even by a mutex whose owner waits for RTNL, since code that
 * has RTNL waits for the lock. The namespace stays in the list until it has no reference, and the
 * code that then takes it out waits for the lock.
 */
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "netns.h"

unsigned int bftm_net_id;

struct bftm_net *bftm_net(struct net *net)
{
	return net_generic(net, bftm_net_id);
}

int bftm_netns_each(int (*visit)(struct bftm_net *bn))
{
	struct net *net;
	int err = 0;

	down_read(&net_rwsem);
	for_each_net(net) {
		if (!maybe_get_net(net))
			continue;
		up_read(&net_rwsem);
		err = visit(bftm_net(net));
		down_read(&net_rwsem);
		put_net(net);
		if (err)
			break;
	}
	up_read(&net_rwsem);
	return err;
}
