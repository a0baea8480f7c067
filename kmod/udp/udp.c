// SPDX-License-Identifier: GPL-2.0
/*
 * As a tunnel sends, but for less: the route is remembered, and headers are written
 * here; a datagram that is never fragmented needs no number (RFC 6864).
 */
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/security.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst_cache.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp.h>

#include "compat_net.h"
#include "udp/address.h"
#include "udp/udp.h"

/* Behind an Ethernet header with its tags; for a longer one the stack makes room. */
#define HEAD (32 + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* The bits of the type of service that choose a route. */
#define ROUTE_TOS 0x1c

/*
 * As udp_set_csum() does with a datagram that has no checksum yet and is none of GSO's: the device
 * sums up what is behind this, or the stack.
 */
static void set_csum4(struct sk_buff *skb, struct udphdr *uh, const struct bftm_address *to)
{
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	uh->check = ~udp_v4_check(skb->len, to->local4, to->remote4, 0);
}

/* ip4_dst_hoplimit() finds the namespace of the route's device under RCU: it is this one. */
static u8 ttl_of(struct net *net, const struct dst_entry *dst)
{
	return dst_metric_raw(dst, RTAX_HOPLIMIT) ?: READ_ONCE(net->ipv4.sysctl_ip_default_ttl);
}

int bftm_udp_out4(struct net *net, struct sock *sk, struct sk_buff *skb,
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
	set_csum4(skb, uh, to);
	ip = __skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	/* As a program's datagrams, this one stays in one piece if the first link lets it pass. */
	whole = skb->len <= dst_mtu(dst) && ip_dont_fragment(sk, dst);
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.tos = READ_ONCE(inet_sk(sk)->tos),
		.frag_off = whole ? htons(IP_DF) : 0,
		.ttl = ttl_of(net, dst),
		.protocol = IPPROTO_UDP,
		.saddr = to->local4,
		.daddr = to->remote4,
	};
	ip_select_ident(net, skb, NULL);
	return ip_local_out(net, sk, skb);
}

/* The datagram is treated as if the program that made the socket had sent it. */
static void look_like(struct sk_buff *skb, struct sock *sk)
{
	skb->mark = READ_ONCE(sk->sk_mark);
	skb->priority = READ_ONCE(sk->sk_priority);
	skb_set_owner_w(skb, sk);
}

static noinline_for_stack struct rtable *route4(struct net *net, struct sock *sk,
						const struct bftm_address *to,
						struct dst_cache *route, __be32 *ret_local)
{
	struct rtable *rt;
	struct flowi4 fl;

	flowi4_init_output(&fl, READ_ONCE(sk->sk_bound_dev_if), READ_ONCE(sk->sk_mark),
			   READ_ONCE(inet_sk(sk)->tos) & ROUTE_TOS, RT_SCOPE_UNIVERSE,
			   IPPROTO_UDP, 0, to->remote4, 0, to->port, inet_sk(sk)->inet_sport,
			   sock_net_uid(net, sk));
	security_sk_classify_flow(sk, flowi4_to_flowi_common(&fl));
	rt = ip_route_output_flow(net, &fl, sk);
	if (IS_ERR(rt))
		return rt;
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	dst_cache_set_ip4(route, &rt->dst, fl.saddr);
	*ret_local = fl.saddr;
	return rt;
}

static int send4(struct net *net, struct sock *sk, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	struct bftm_address ends = *to;
	struct rtable *rt = dst_cache_get_ip4(route, &ends.local4);

	if (!rt)
		rt = route4(net, sk, to, route, &ends.local4);
	if (IS_ERR(rt)) {
		kfree_skb(skb);
		return PTR_ERR(rt);
	}
	skb_dst_set(skb, &rt->dst);
	look_like(skb, sk);
	return bftm_udp_out4(net, sk, skb, &ends, inet_sk(sk)->inet_sport);
}

#if IS_ENABLED(CONFIG_IPV6)
int bftm_udp_out6(struct net *net, struct sock *sk, struct sk_buff *skb,
		  const struct bftm_address *to, __be16 port)
{
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));
	struct ipv6hdr *ip;

	uh->source = port;
	uh->dest = to->port;
	uh->len = htons(skb->len);
	skb_reset_transport_header(skb);
	udp6_set_csum(false, skb, &to->local6, &to->remote6, skb->len);
	ip = __skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, READ_ONCE(inet6_sk(sk)->tclass), 0);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = ip6_dst_hoplimit(skb_dst(skb));
	ip->saddr = to->local6;
	ip->daddr = to->remote6;
	return ip6_local_out(net, sk, skb);
}

static struct dst_entry *route6(struct net *net, struct sock *sk, const struct bftm_address *to,
				struct dst_cache *route, struct in6_addr *ret_local)
{
	struct flowi6 fl = {
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_oif = to->ifindex ?: READ_ONCE(sk->sk_bound_dev_if),
		.flowi6_mark = READ_ONCE(sk->sk_mark),
		.flowi6_uid = sock_net_uid(net, sk),
		.daddr = to->remote6,
		.flowlabel = ip6_make_flowinfo(READ_ONCE(inet6_sk(sk)->tclass), 0),
		.fl6_dport = to->port,
		.fl6_sport = inet_sk(sk)->inet_sport,
	};
	struct dst_entry *dst = dst_cache_get_ip6(route, ret_local);

	if (dst)
		return dst;
	security_sk_classify_flow(sk, flowi6_to_flowi_common(&fl));
	dst = bftm_dst6(net, sk, &fl, NULL);
	if (IS_ERR(dst))
		return dst;
	dst_cache_set_ip6(route, dst, &fl.saddr);
	*ret_local = fl.saddr;
	return dst;
}

static int send6(struct net *net, struct sock *sk, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	struct bftm_address ends = *to;
	struct dst_entry *dst = route6(net, sk, to, route, &ends.local6);

	if (IS_ERR(dst)) {
		kfree_skb(skb);
		return PTR_ERR(dst);
	}
	skb_dst_set(skb, dst);
	look_like(skb, sk);
	return bftm_udp_out6(net, sk, skb, &ends, inet_sk(sk)->inet_sport);
}
#else
int bftm_udp_out6(struct net *net, struct sock *sk, struct sk_buff *skb,
		  const struct bftm_address *to, __be16 port)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}

static int send6(struct net *net, struct sock *sk, const struct bftm_address *to,
		 struct dst_cache *route, struct sk_buff *skb)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

/*
 * Memory is cleared when it is allocated, so datagrams take parts of a block. All datagrams of one
 * burst are in one part: when the block is used up, the datagrams of earlier bursts have gone, and
 * the kernel begins anew in this block, where it would else allocate and clear another.
 */
struct sk_buff *bftm_udp_room(struct bftm_udp_rooms *rooms, u32 count, size_t len)
{
	const unsigned int size = SKB_DATA_ALIGN(HEAD + len) +
				  SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data;

	if (!rooms->left) {
		count = min_t(u32, count, PAGE_FRAG_CACHE_MAX_SIZE / size);
		rooms->at = netdev_alloc_frag(count * size);
		/* Kernels since 6.13 begin a block anew for no part that is longer than a page. */
		if (!rooms->at && count * size > PAGE_SIZE) {
			count = PAGE_SIZE / size;
			rooms->at = netdev_alloc_frag(count * size);
		}
		if (!rooms->at)
			return NULL;
		rooms->left = count;
	}
	data = rooms->at;
	rooms->at += size;
	/* The page is held once for each. */
	if (--rooms->left)
		get_page(virt_to_head_page(data));
	/* Softirqs are off: its head may come from those that this processor has kept. */
	skb = napi_build_skb(data, size);
	if (skb)
		skb_reserve(skb, HEAD);
	else
		skb_free_frag(data);
	return skb;
}

int bftm_udp_send(struct net *net, struct sock *sk, const struct bftm_address *to,
		  struct dst_cache *route, struct sk_buff *skb)
{
	int err = -EDESTADDRREQ;

	if (sk_wmem_alloc_get(sk) >= READ_ONCE(sk->sk_sndbuf))
		err = -ENOBUFS;
	else if (to->family == AF_INET)
		return send4(net, sk, to, route, skb);
	else if (to->family == AF_INET6)
		return send6(net, sk, to, route, skb);
	kfree_skb(skb);
	return err;
}
