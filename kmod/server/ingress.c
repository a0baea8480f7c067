// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that the server takes before IP, and answers with their addresses exchanged. All other
 * frames go on through the stack, and so do the server's pushes.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/kcov.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/udp.h>

#include "server/ingress.h"
#include "server/server.h"
#include "server/service.h"
#include "udp/frame.h"
#include "udp/hook.h"

/* Softirqs are off, RCU read side. A forged request ends here too: it was verified once. */
static unsigned int ingress_hear(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct bftm_server *server = priv;
	const struct bftm_frame requests = {
		.port = htons(server->param.port),
		.only4 = !server->sock6,
		.answered = true,
	};
	struct bftm_address from;

	/* Pairs with bftm_ingress_begin(). */
	if (!smp_load_acquire(&server->ingress->begun) || !bftm_frame_fits(skb, &requests, &from))
		return NF_ACCEPT;
	bftm_count(server, RECEIVED);
	bftm_count(server, INGRESS);
	kcov_remote_start_common(skb_get_kcov_handle(skb));
	__skb_pull(skb, bftm_frame_ip_len(from.family));
	skb_reset_transport_header(skb);
	if (bftm_services[BFTM_SERVICE_LOCKS]->receive(server, &skb, &from))
		consume_skb(skb);
	else
		kfree_skb(skb);
	kcov_remote_stop();
	return NF_STOLEN;
}

int bftm_ingress_open(struct bftm_server *server, struct netlink_ext_ack *extack)
{
	struct bftm_hook *hook;

	if (!*server->param.ingress)
		return 0;
	hook = bftm_hook_new(server->net, server->param.ingress, ingress_hear, server, extack);
	if (IS_ERR(hook))
		return PTR_ERR(hook);
	snprintf(hook->owner, sizeof(hook->owner), "server %u", server->cfg.id);
	server->ingress = hook;
	return bftm_hook_add(hook, server->param.ingress_later, extack);
}

void bftm_ingress_begin(struct bftm_server *server)
{
	if (server->ingress)
		/* Pairs with ingress_hear(): it sees the server whole. */
		smp_store_release(&server->ingress->begun, true);
}

void bftm_ingress_name(const struct bftm_server *server, char *ret)
{
	bftm_hook_name(server->ingress, ret);
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
