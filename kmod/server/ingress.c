// SPDX-License-Identifier: GPL-2.0
/*
 * A netfilter hook at a device's ingress, behind those of users there. It takes requests that IP
 * would certainly bring to the server, and answers them with their addresses exchanged. All other
 * frames go on through the stack, and so do the server's pushes.
 *
 * Lifetime: the hook is added and removed with RTNL held. It goes with its device, which is
 * announced by NETDEV_UNREGISTER, also when the device moves to another namespace; and else before
 * the server goes deaf. In both cases a grace period passes before the server is freed. The hook
 * does not come back with a device of the same name. Netfilter lists hooks under RCU, so struct
 * bftm_ingress is freed after a grace period too.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/kcov.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/udp.h>

#include "server/ingress.h"
#include "server/ingress_request.h"
#include "server/server.h"
#include "server/service.h"

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/**
 * struct bftm_ingress - the hook of a server
 * @ops:     what netfilter knows of it
 *           ops.dev is the device, NULL when it has gone; written with RTNL, read under RCU
 * @devices: told when a device of the namespace goes away
 * @begun:   the server is complete; until then requests go through IP
 */
struct bftm_ingress {
	struct nf_hook_ops ops;
	struct notifier_block devices;
	bool begun;
};

/* Softirqs are off, RCU read side. A forged request ends here too: it was verified once. */
static unsigned int ingress_hear(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct bftm_server *server = priv;
	struct bftm_address from;

	/* Pairs with bftm_ingress_begin(). */
	if (!smp_load_acquire(&server->ingress->begun) ||
	    !bftm_ingress_is_request(server, skb, &from))
		return NF_ACCEPT;
	bftm_count(server, RECEIVED);
	bftm_count(server, INGRESS);
	kcov_remote_start_common(skb_get_kcov_handle(skb));
	__skb_pull(skb, from.family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	skb_reset_transport_header(skb);
	if (bftm_services[BFTM_SERVICE_LOCKS]->receive(server, &skb, &from))
		consume_skb(skb);
	else
		kfree_skb(skb);
	kcov_remote_stop();
	return NF_STOLEN;
}

static void hook_del(struct bftm_server *server)
{
	struct bftm_ingress *ingress = server->ingress;

	ASSERT_RTNL();
	if (!ingress->ops.dev)
		return;
	nf_unregister_net_hook(server->net, &ingress->ops);
	WRITE_ONCE(ingress->ops.dev, NULL);
}

static int ingress_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct bftm_ingress *ingress = container_of(nb, struct bftm_ingress, devices);
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct bftm_server *server = ingress->ops.priv;

	if (event != NETDEV_UNREGISTER || dev != ingress->ops.dev)
		return NOTIFY_DONE;
	hook_del(server);
	pr_info("bftmutex: server %u: its device %s has gone, from now on all requests come through IP\n",
		server->cfg.id, dev->name);
	return NOTIFY_DONE;
}

static int hook_add(struct bftm_server *server, struct netlink_ext_ack *extack)
{
	struct bftm_ingress *ingress = server->ingress;
	struct net_device *dev = __dev_get_by_name(server->net, server->param.ingress);
	int err;

	if (!dev) {
		NL_SET_ERR_MSG(extack, "this network namespace has no such device");
		return -ENODEV;
	}
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "only a device of Ethernet can hand requests to the server");
		return -EINVAL;
	}
	WRITE_ONCE(ingress->ops.dev, dev);
	err = nf_register_net_hook(server->net, &ingress->ops);
	if (err) {
		WRITE_ONCE(ingress->ops.dev, NULL);
		NL_SET_ERR_MSG(extack, "the device takes no hook of netfilter");
	}
	return err;
}

int bftm_ingress_open(struct bftm_server *server, struct netlink_ext_ack *extack)
{
	struct bftm_ingress *ingress;
	int err;

	if (!*server->param.ingress)
		return 0;
	ingress = kzalloc(sizeof(*ingress), GFP_KERNEL);
	if (!ingress) {
		NL_SET_ERR_MSG(extack, "no memory for the hook");
		return -ENOMEM;
	}
	ingress->ops = (struct nf_hook_ops){
		.hook = ingress_hear,
		.priv = server,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	ingress->devices.notifier_call = ingress_event;
	err = register_netdevice_notifier_net(server->net, &ingress->devices);
	if (err) {
		kfree(ingress);
		return err;
	}
	server->ingress = ingress;
	rtnl_lock();
	err = hook_add(server, extack);
	rtnl_unlock();
	return err;
}

void bftm_ingress_begin(struct bftm_server *server)
{
	if (server->ingress)
		/* Pairs with ingress_hear(): it sees the server whole. */
		smp_store_release(&server->ingress->begun, true);
}

void bftm_ingress_close(struct bftm_server *server)
{
	if (!server->ingress)
		return;
	rtnl_lock();
	hook_del(server);
	rtnl_unlock();
	unregister_netdevice_notifier_net(server->net, &server->ingress->devices);
}

void bftm_ingress_free(struct bftm_server *server)
{
	kfree(server->ingress);
	server->ingress = NULL;
}

void bftm_ingress_name(const struct bftm_server *server, char *ret)
{
	const struct net_device *dev;

	*ret = 0;
	rcu_read_lock();
	dev = server->ingress ? READ_ONCE(server->ingress->ops.dev) : NULL;
	if (dev)
		/* A name that is just being changed may be half the old one. */
		data_race(strscpy(ret, dev->name, IFNAMSIZ));
	rcu_read_unlock();
}

/* An answer is not longer than its request, which fits into the device's MTU: it is never cut. */
static void put_header4(struct net *net, struct sk_buff *skb, const struct bftm_address *to)
{
	struct iphdr *ip;

	udp_set_csum(false, skb, to->local4, to->remote4, skb->len);
	ip = __skb_push(skb, sizeof(*ip));
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.tot_len = htons(skb->len),
		.frag_off = htons(IP_DF),
		.ttl = READ_ONCE(net->ipv4.sysctl_ip_default_ttl),
		.protocol = IPPROTO_UDP,
		.saddr = to->local4,
		.daddr = to->remote4,
	};
	ip_send_check(ip);
}

#if IS_ENABLED(CONFIG_IPV6)
static void put_header6(const struct net_device *dev, struct sk_buff *skb,
			const struct bftm_address *to)
{
	const struct inet6_dev *in = __in6_dev_get(dev);
	const unsigned int len = skb->len;
	struct ipv6hdr *ip;

	udp6_set_csum(false, skb, &to->local6, &to->remote6, len);
	ip = __skb_push(skb, sizeof(*ip));
	ip6_flow_hdr(ip, 0, 0);
	ip->payload_len = htons(len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = in ? READ_ONCE(in->cnf.hop_limit) : IPV6_DEFAULT_HOPLIMIT;
	ip->saddr = to->local6;
	ip->daddr = to->remote6;
}
#else
static void put_header6(const struct net_device *dev, struct sk_buff *skb,
			const struct bftm_address *to)
{
}
#endif

void bftm_ingress_send(struct bftm_server *server, struct net_device *dev, struct sk_buff *skb,
		       const struct bftm_address *to)
{
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));
	u8 host[ETH_ALEN];
	struct ethhdr *eth;
	int err;

	uh->source = htons(server->param.port);
	uh->dest = to->port;
	uh->len = htons(skb->len);
	skb_reset_transport_header(skb);
	if (to->family == AF_INET)
		put_header4(server->net, skb, to);
	else
		put_header6(dev, skb, to);
	skb_reset_network_header(skb);
	eth = __skb_push(skb, sizeof(*eth));
	skb_reset_mac_header(skb);
	ether_addr_copy(host, eth->h_source);
	ether_addr_copy(eth->h_source, eth->h_dest);
	ether_addr_copy(eth->h_dest, host);
	skb->dev = dev;
	err = dev_queue_xmit(skb);
	if (net_xmit_eval(err))
		bftm_count(server, SEND_FAILED);
}

#else

int bftm_ingress_open(struct bftm_server *server, struct netlink_ext_ack *extack)
{
	if (!*server->param.ingress)
		return 0;
	NL_SET_ERR_MSG(extack, "this kernel was built without CONFIG_NETFILTER_INGRESS");
	return -EOPNOTSUPP;
}

void bftm_ingress_begin(struct bftm_server *server)
{
}

void bftm_ingress_close(struct bftm_server *server)
{
}

void bftm_ingress_free(struct bftm_server *server)
{
}

void bftm_ingress_name(const struct bftm_server *server, char *ret)
{
	*ret = 0;
}

void bftm_ingress_send(struct bftm_server *server, struct net_device *dev, struct sk_buff *skb,
		       const struct bftm_address *to)
{
	kfree_skb(skb);		/* no request is taken at a device */
}

#endif /* CONFIG_NETFILTER_INGRESS */
