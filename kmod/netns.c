// SPDX-License-Identifier: GPL-2.0
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "netns.h"

unsigned int bftm_net_id;

struct bftm_net *bftm_net(struct net *net)
{
	return net_generic(net, bftm_net_id);
}
