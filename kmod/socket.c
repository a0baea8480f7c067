// SPDX-License-Identifier: GPL-2.0
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>

#include "compat.h"
#include "server.h"
#include "socket.h"

static int send4(struct bftm_server *server, struct sock *sk,
		 const struct sk_buff *req, struct sk_buff *skb)
{
	const struct udphdr *uh = udp_hdr(req);
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
		.daddr = ip_hdr(req)->saddr,
		.saddr = ip_hdr(req)->daddr,
		.fl4_dport = uh->source,
		.fl4_sport = uh->dest,
	};
	struct rtable *rt = ip_route_output_flow(server->net, &fl, sk);

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	/* The source of a request proves nothing: answer one host only. */
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return -EACCES;
	}
	bftm_udp_xmit(rt, sk, skb, fl.saddr, fl.daddr, 0,
		      ip4_dst_hoplimit(&rt->dst), 0, fl.fl4_sport,
		      fl.fl4_dport, false, false);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static int send6(struct bftm_server *server, struct sock *sk,
		 const struct sk_buff *req, struct sk_buff *skb)
{
	const struct udphdr *uh = udp_hdr(req);
	struct flowi6 fl = {
		.flowi6_proto = IPPROTO_UDP,
		.daddr = ipv6_hdr(req)->saddr,
		.saddr = ipv6_hdr(req)->daddr,
		.fl6_dport = uh->source,
		.fl6_sport = uh->dest,
	};
	struct dst_entry *dst;

	if (ipv6_addr_type(&fl.daddr) & IPV6_ADDR_LINKLOCAL)
		fl.flowi6_oif = req->skb_iif;
	dst = ipv6_stub->ipv6_dst_lookup_flow(server->net, sk, &fl, NULL);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	/* No tunnel device: the statistics of dst->dev are not a tunnel's. */
	bftm_udp6_xmit(dst, sk, skb, NULL, &fl.saddr, &fl.daddr, 0,
		       ip6_dst_hoplimit(dst), 0, fl.fl6_sport, fl.fl6_dport,
		       false);
	return 0;
}
#else
static int send6(struct bftm_server *server, struct sock *sk,
		 const struct sk_buff *req, struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

static void answer(struct bftm_server *server, struct sock *sk,
		   const struct sk_buff *req, const struct bftm_wire *wire)
{
	const unsigned int head = LL_MAX_HEADER + sizeof(struct ipv6hdr) +
				  sizeof(struct udphdr);
	struct sk_buff *skb;
	int err;

	skb = alloc_skb(head + sizeof(*wire), GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		bftm_count(server, SEND_FAILED);
		return;
	}
	skb_reserve(skb, head);
	skb_put_data(skb, wire, sizeof(*wire));
	if (sk->sk_family == AF_INET)
		err = send4(server, sk, req, skb);
	else
		err = send6(server, sk, req, skb);
	if (err) {
		bftm_count(server, SEND_FAILED);
		kfree_skb(skb);
	}
}

/* Sent to all: its answer would go out under an address of all. */
static bool to_many(const struct sk_buff *skb, int family)
{
	const struct rtable *rt = skb_rtable(skb);

	if (skb->pkt_type != PACKET_HOST)
		return true;
	if (family == AF_INET6)
		return ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
	return ipv4_is_multicast(ip_hdr(skb)->daddr) ||
	       (rt && rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST));
}

/* encap_rcv: softirq, RCU read side; the skb begins with the UDP header. */
static int receive(struct sock *sk, struct sk_buff *skb)
{
	struct bftm_server *server = rcu_dereference_sk_user_data(sk);
	struct bftm_wire wire;

	if (!server)
		goto drop;	/* being closed */
	bftm_count(server, RECEIVED);
	if (to_many(skb, sk->sk_family)) {
		bftm_count(server, BAD_ADDRESS);
		goto drop;
	}
	if (skb->len != sizeof(struct udphdr) + sizeof(wire) ||
	    skb_copy_bits(skb, sizeof(struct udphdr), &wire, sizeof(wire))) {
		bftm_count(server, BAD_FORM);
		goto drop;
	}
	if (bftm_server_receive(server, &wire)) {
		answer(server, sk, skb, &wire);
		consume_skb(skb);
		return 0;
	}
drop:
	kfree_skb(skb);
	return 0;
}

static int open_one(struct bftm_server *server, int family,
		    struct socket **ret)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = server,
		.encap_type = 1,
		.encap_rcv = receive,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(server->param.port),
		.use_udp_checksums = true,
		.use_udp6_tx_checksums = true,
		.use_udp6_rx_checksums = true,
		.ipv6_v6only = true,
	};
	int err = udp_sock_create(server->net, &port, ret);

	if (!err)
		setup_udp_tunnel_sock(server->net, *ret, &tunnel);
	return err;
}

int bftm_sockets_open(struct bftm_server *server,
		      struct netlink_ext_ack *extack)
{
	int err = open_one(server, AF_INET, &server->sock4);

	if (!err && IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled()) {
		err = open_one(server, AF_INET6, &server->sock6);
		if (err)
			bftm_sockets_close(server);
	}
	if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "the UDP port is in use");
	else if (err)
		NL_SET_ERR_MSG(extack, "cannot open the UDP sockets");
	return err;
}

void bftm_sockets_close(struct bftm_server *server)
{
	if (server->sock4)
		udp_tunnel_sock_release(server->sock4);
	if (server->sock6)
		udp_tunnel_sock_release(server->sock6);
	server->sock4 = NULL;
	server->sock6 = NULL;
	synchronize_rcu();	/* the receive path has left */
}
