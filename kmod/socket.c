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

static int send4(struct bftm_server *server, const struct bftm_address *to,
		 struct sk_buff *skb)
{
	struct sock *sk = server->sock4->sk;
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
		.daddr = to->remote4,
		.saddr = to->local4,
		.fl4_dport = to->port,
		.fl4_sport = htons(server->param.port),
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
static int send6(struct bftm_server *server, const struct bftm_address *to,
		 struct sk_buff *skb)
{
	struct sock *sk = server->sock6->sk;
	struct flowi6 fl = {
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_oif = to->ifindex,
		.daddr = to->remote6,
		.saddr = to->local6,
		.fl6_dport = to->port,
		.fl6_sport = htons(server->param.port),
	};
	struct dst_entry *dst;

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
static int send6(struct bftm_server *server, const struct bftm_address *to,
		 struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

struct sk_buff *bftm_socket_room(struct bftm_server *server, size_t len)
{
	const unsigned int head = LL_MAX_HEADER + sizeof(struct ipv6hdr) +
				  sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(head + len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, head);
	else
		bftm_count(server, SEND_FAILED);
	return skb;
}

/*
 * A socket is there for the family that something came by: its pointer was set
 * before the first datagram, and is cleared after the last one was sent.
 */
void bftm_socket_send_skb(struct bftm_server *server, const struct bftm_address *to,
			  struct sk_buff *skb)
{
	int err;

	if (to->family == AF_INET)
		err = send4(server, to, skb);
	else if (to->family == AF_INET6)
		err = send6(server, to, skb);
	else
		err = -EDESTADDRREQ;
	if (err) {
		bftm_count(server, SEND_FAILED);
		kfree_skb(skb);
	}
}

void bftm_socket_send(struct bftm_server *server, const struct bftm_address *to,
		      const struct bftm_wire *wire)
{
	struct sk_buff *skb = bftm_socket_room(server, sizeof(*wire));

	if (!skb)
		return;
	skb_put_data(skb, wire, sizeof(*wire));
	bftm_socket_send_skb(server, to, skb);
}

static void read_address(const struct sk_buff *skb, u16 family,
			 struct bftm_address *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->family = family;
	ret->port = udp_hdr(skb)->source;
	if (family == AF_INET) {
		ret->remote4 = ip_hdr(skb)->saddr;
		ret->local4 = ip_hdr(skb)->daddr;
		return;
	}
	ret->remote6 = ipv6_hdr(skb)->saddr;
	ret->local6 = ipv6_hdr(skb)->daddr;
	if (ipv6_addr_type(&ret->remote6) & IPV6_ADDR_LINKLOCAL)
		ret->ifindex = skb->skb_iif;
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

/* Return: true when it was answered. */
static bool receive_lock(struct bftm_server *server, struct sk_buff *skb,
			 const struct bftm_address *from)
{
	struct bftm_wire wire;
	struct bftm_msg push;
	bool answer;

	if (skb_copy_bits(skb, sizeof(struct udphdr), &wire, sizeof(wire))) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	answer = bftm_server_receive(server, &wire, from, &push);
	if (push.type != BFTM_MSG_NONE)
		bftm_server_push(server, &push);	/* somebody waits for it */
	if (answer)
		bftm_socket_send(server, from, &wire);
	return answer;
}

/*
 * Longer ones, not by way of the stack. The skb is ours; what another has mapped,
 * and could write to after the tag was found right, is not in its linear part.
 */
static bool receive_order(struct bftm_server *server, struct sk_buff *skb,
			  const struct bftm_address *from)
{
	size_t len = skb->len - sizeof(struct udphdr);

	if (len < BFTM_ORDER_LEN_MIN || len > BFTM_ORDER_LEN_MAX || !pskb_may_pull(skb, skb->len)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	return bftm_server_receive_order(server, skb->data + sizeof(struct udphdr), len, from);
}

/* encap_rcv: softirq, RCU read side; the skb begins with the UDP header. */
static int receive(struct sock *sk, struct sk_buff *skb)
{
	struct bftm_server *server = rcu_dereference_sk_user_data(sk);
	struct bftm_address from;

	if (!server)
		goto drop;	/* being closed */
	bftm_count(server, RECEIVED);
	if (to_many(skb, sk->sk_family)) {
		bftm_count(server, BAD_ADDRESS);
		goto drop;
	}
	read_address(skb, sk->sk_family, &from);
	/* Each of the two shapes has lengths of its own. */
	if (skb->len == sizeof(struct udphdr) + BFTM_WIRE_LEN ?
	    receive_lock(server, skb, &from) : receive_order(server, skb, &from)) {
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

	if (!err && IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled())
		err = open_one(server, AF_INET6, &server->sock6);
	if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "the UDP port is in use");
	else if (err)
		NL_SET_ERR_MSG(extack, "cannot open the UDP sockets");
	return err;
}

void bftm_sockets_deafen(struct bftm_server *server)
{
	/* receive() drops what comes without it. */
	if (server->sock4)
		rcu_assign_sk_user_data(server->sock4->sk, NULL);
	if (server->sock6)
		rcu_assign_sk_user_data(server->sock6->sk, NULL);
	synchronize_rcu();	/* the receive path has left */
}

void bftm_sockets_close(struct bftm_server *server)
{
	if (server->sock4)
		udp_tunnel_sock_release(server->sock4);
	if (server->sock6)
		udp_tunnel_sock_release(server->sock6);
	server->sock4 = NULL;
	server->sock6 = NULL;
	synchronize_rcu();	/* receive() has returned, its code may go */
}
