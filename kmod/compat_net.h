/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in the network; the headers that it takes are large. See compat.h. */
#ifndef BFTM_COMPAT_NET_H
#define BFTM_COMPAT_NET_H

#include <linux/skbuff.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp_tunnel.h>

/* In kernels where IPv6 can be a module. */
#ifdef BFTM_HAS_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#define bftm_dst6(...) ipv6_stub->ipv6_dst_lookup_flow(__VA_ARGS__)
#else
#define bftm_dst6(...) ip6_dst_lookup_flow(__VA_ARGS__)
#endif

/* The argument that names the socket of a tunnel: struct socket or struct sock. */
#ifdef BFTM_HAS_TUNNEL_BY_SOCK
#define bftm_tunnel_sock(sock) ((sock)->sk)
#else
#define bftm_tunnel_sock(sock) (sock)
#endif

/* The kernel's functions that clear this flag have different names, and some kernels lack them. */
static inline void bftm_csum_inet(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IP_SCTP)
	skb->csum_not_inet = 0;
#endif
}

/* A classifier at the ingress writes it, and a queue at the egress reads it. */
static inline void bftm_tc_index(struct sk_buff *skb)
{
#ifdef CONFIG_NET_SCHED
	skb->tc_index = 0;
#endif
}

#endif /* BFTM_COMPAT_NET_H */
