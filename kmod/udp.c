// SPDX-License-Identifier: GPL-2.0
/*
 * As a tunnel sends, but for less: the route is remembered, and headers are written
 * here; a datagram that is never fragmented needs no number (RFC 6864).
 */
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst_cache.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp.h>

#include "clients.h"
#include "compat.h"
#include "udp.h"

/* Behind an Ethernet header with its tags; for a longer one the stack makes room. */
#define HEAD (32 + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

static struct rtable *route4(struct net *net, struct sock *sk, struct flowi4 *fl,
			     struct dst_cache *route)
{
	struct rtable *rt = dst_cache_get_ip4(route, &fl->saddr);

	if (rt)
		return rt;
	rt = ip_route_output_flow(net, fl, sk);
	if (!IS_ERR(rt))
		dst_cache_set_ip4(route, &rt->dst, fl->saddr);
	return rt;
}

void bftm_udp_out4(struct net *net, struct sock *sk, struct sk_buff *skb,
		   const struct bftm_address *to, __be16 port)
{
	struct dst_entry *dst = skb_dst(skb);
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));
	struct iphdr *ip;
	bool whole;

	uh->source = port;
	uh->dest = to->port;
	uh->len = htons(skb->len);
	skb_reset_transport_header(skb);
	udp_set_csum(false, skb, to->local4, to->remote4, skb->len);
	ip = __skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	/* As a program's datagrams: in one piece, where the first link lets it pass. */
	whole = skb->len <= dst_mtu(dst) && ip_dont_fragment(sk, dst);
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.frag_off = whole ? htons(IP_DF) : 0,
		.ttl = ip4_dst_hoplimit(dst),
		.protocol = IPPROTO_UDP,
		.saddr = to->local4,
		.daddr = to->remote4,
	};
	ip_select_ident(net, skb, NULL);
	ip_local_out(net, sk, skb);
}

static int send4(struct net *net, struct sock *sk, __be16 port, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
		.daddr = to->remote4,
		.fl4_dport = to->port,
		.fl4_sport = port,
	};
	struct rtable *rt = route4(net, sk, &fl, route);
	struct bftm_address from;

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return -EACCES;
	}
	from = *to;
	from.local4 = fl.saddr;
	skb_dst_set(skb, &rt->dst);
	bftm_udp_out4(net, sk, skb, &from, port);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
void bftm_udp_out6(struct sock *sk, struct dst_entry *dst, struct sk_buff *skb,
		   const struct bftm_address *to, __be16 port)
{
	struct in6_addr local = to->local6, remote = to->remote6;

	/* No tunnel device: the statistics of dst->dev are not a tunnel's. */
	bftm_udp6_xmit(dst, sk, skb, NULL, &local, &remote, 0, ip6_dst_hoplimit(dst), 0, port,
		       to->port, false);
}

static int send6(struct net *net, struct sock *sk, __be16 port, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	struct flowi6 fl = {
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_oif = to->ifindex,
		.daddr = to->remote6,
		.fl6_dport = to->port,
		.fl6_sport = port,
	};
	struct dst_entry *dst = dst_cache_get_ip6(route, &fl.saddr);
	struct bftm_address from = *to;

	if (!dst) {
		dst = bftm_dst6(net, sk, &fl, NULL);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		dst_cache_set_ip6(route, dst, &fl.saddr);
	}
	from.local6 = fl.saddr;
	bftm_udp_out6(sk, dst, skb, &from, port);
	return 0;
}
#else
void bftm_udp_out6(struct sock *sk, struct dst_entry *dst, struct sk_buff *skb,
		   const struct bftm_address *to, __be16 port)
{
	kfree_skb(skb);
	dst_release(dst);
}

static int send6(struct net *net, struct sock *sk, __be16 port, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

struct sk_buff *bftm_udp_room(size_t len)
{
	unsigned int size = SKB_DATA_ALIGN(HEAD + len) +
			    SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	/* A part of a page: where memory is cleared when it is allocated, less is. */
	void *data = netdev_alloc_frag(size);
	struct sk_buff *skb = data ? build_skb(data, size) : NULL;

	if (skb)
		skb_reserve(skb, HEAD);
	else if (data)
		skb_free_frag(data);
	return skb;
}

int bftm_udp_send(struct net *net, struct sock *sk, __be16 port,
		  const struct bftm_address *to, struct dst_cache *route, struct sk_buff *skb)
{
	if (to->family == AF_INET)
		return send4(net, sk, port, to, route, skb);
	if (to->family == AF_INET6)
		return send6(net, sk, port, to, route, skb);
	return -EDESTADDRREQ;
}
