// SPDX-License-Identifier: GPL-2.0
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip6_route.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/udp.h>

#include "compat_net.h"
#include "core/ordering/wire.h"
#include "server/ingress.h"
#include "server/other_version.h"
#include "server/route.h"
#include "server/server.h"
#include "server/service.h"
#include "server/socket.h"
#include "udp/hook.h"
#include "udp/udp.h"

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
	struct dst_entry *dst = bftm_route(server, to);
	__be16 port = htons(server->param.port);
	int err;

	if (IS_ERR(dst)) {
		bftm_count(server, SEND_FAILED);
		kfree_skb(skb);
		return;
	}
	skb_dst_set_noref(skb, dst);
	skb->mark = to->mark;
	if (to->family == AF_INET)
		err = bftm_udp_out4(server->net, server->sock4->sk, skb, to, port);
	else
		err = bftm_udp_out6(server->net, server->sock6->sk, skb, to, port);
	if (err < 0)
		bftm_count(server, SEND_FAILED);
}

void bftm_socket_send(struct bftm_server *server, const struct bftm_address *to,
		      const struct bftm_wire *wire)
{
	struct sk_buff *skb = bftm_socket_room(server, wire->len);

	if (!skb)
		return;
	skb_put_data(skb, wire->data, wire->len);
	bftm_socket_send_skb(server, to, skb);
}

/*
 * The answer goes the way that the request came: a host in a VRF is unreachable from elsewhere.
 * There skb_iif is the VRF's device, even if the address is link-local.
 */
static void read_address(const struct net *net, const struct sk_buff *skb, u16 family,
			 struct bftm_address *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->family = family;
	ret->port = udp_hdr(skb)->source;
	if (family == AF_INET) {
		ret->remote4 = ip_hdr(skb)->saddr;
		ret->local4 = ip_hdr(skb)->daddr;
		ret->ifindex = l3mdev_master_ifindex_rcu(skb->dev);
		ret->mark = IP4_REPLY_MARK(net, skb->mark);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	ret->remote6 = ipv6_hdr(skb)->saddr;
	ret->local6 = ipv6_hdr(skb)->daddr;
	if (!(ipv6_addr_type(&ret->remote6) & IPV6_ADDR_LINKLOCAL))
		ret->ifindex = l3mdev_master_ifindex_rcu(skb->dev);
	else if (ipv6_l3mdev_skb(IP6CB(skb)->flags))
		ret->ifindex = IP6CB(skb)->iif;
	else
		ret->ifindex = skb->skb_iif;
	ret->mark = IP6_REPLY_MARK(net, skb->mark);
#endif
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

/*
 * Can the answer go where the request stood? Not when another has it, or may still
 * read it: captured packets are clones. Nor when it is in pieces, or its sender waits
 * to hear of it.
 */
static bool is_ours(const struct sk_buff *skb, u16 family)
{
	const unsigned int head = family == AF_INET ? sizeof(struct iphdr) :
						      sizeof(struct ipv6hdr);

	return !skb_shared(skb) && !skb_cloned(skb) && !skb_is_nonlinear(skb) &&
	       !skb_is_gso(skb) && !skb_shinfo(skb)->flags && !skb_shinfo(skb)->tx_flags &&
	       skb_headroom(skb) >= head;
}

/*
 * The answer begins its way anew: nothing of how the request came may show. So everything goes that
 * a tunnel clears, and that a program's datagram never had.
 */
static void turn_round(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_clear_delivery_time(skb);
	skb_scrub_packet(skb, true);
	skb_clear_hash(skb);
	skb_init_secmark(skb);
	skb_reset_redirect(skb);
	skb_metadata_clear(skb);
	skb_unset_mac_header(skb);
	skb_set_dst_pending_confirm(skb, 0);
	skb_set_queue_mapping(skb, 0);
	__vlan_hwaccel_clear_tag(skb);
	*skb_hwtstamps(skb) = (struct skb_shared_hwtstamps){};
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->ip_summed = CHECKSUM_NONE;
	skb->csum_valid = 0;
	skb->csum_level = 0;
	bftm_csum_inet(skb);
	bftm_tc_index(skb);
	skb->encapsulation = 0;
	skb->priority = 0;
	skb->dev = NULL;
}

void bftm_socket_answer(struct bftm_server *server, struct sk_buff **skb,
			const struct bftm_address *from, const u64 key[2],
			const struct bftm_msg *msg)
{
	struct net_device *dev = server->ingress ? bftm_ingress_device(*skb) : NULL;
	struct bftm_wire wire __uninitialized;
	size_t len;

	if (!is_ours(*skb, from->family)) {
		bftm_wire_put(msg, &wire);
		bftm_sign(key, wire.data, wire.len);
		bftm_socket_send(server, from, &wire);
		return;
	}
	turn_round(*skb);
	__skb_pull(*skb, sizeof(struct udphdr));
	/* No answer is longer than its request: see the forms in core/wire_forms.h. */
	if (msg->flags & BFTM_FLAG_VALUE) {
		bftm_wire_put(msg, &wire);
		len = wire.len;
		if (WARN_ON_ONCE(len > (*skb)->len))
			return;
		memcpy((*skb)->data, wire.data, len);
	} else {
		len = bftm_wire_write(msg, (*skb)->data);
	}
	skb_trim(*skb, len);
	bftm_sign(key, (*skb)->data, len);
	if (dev)
		bftm_ingress_send(server, dev, *skb, from);
	else
		bftm_socket_send_skb(server, from, *skb);
	*skb = NULL;
}

/* The protocol in the header says which. */
static enum bftm_service_number service_of(const struct sk_buff *skb)
{
	u8 head[BFTM_ORDER_SHAPE_LEN];
	const void *data = skb_header_pointer(skb, sizeof(struct udphdr), sizeof(head), head);

	return data && bftm_order_shaped(data) ? BFTM_SERVICE_OBJECTS : BFTM_SERVICE_LOCKS;
}

/* encap_rcv: softirq, RCU read side; the skb begins with the UDP header. */
static int server_hear(struct sock *sk, struct sk_buff *skb)
{
	struct bftm_server *server = rcu_dereference_sk_user_data(sk);
	struct bftm_address from __uninitialized;
	bool answered;

	if (!server)
		goto drop;	/* being closed */
	bftm_count(server, RECEIVED);
	if (to_many(skb, sk->sk_family)) {
		bftm_count(server, BAD_ADDRESS);
		goto drop;
	}
	read_address(server->net, skb, sk->sk_family, &from);
	answered = bftm_is_other_version(skb) ?
		   bftm_other_version_receive(server, &skb, &from) :
		   bftm_services[service_of(skb)]->receive(server, &skb, &from);
	if (answered) {
		consume_skb(skb);
		return 0;
	}
drop:
	kfree_skb(skb);
	return 0;
}

static int server_receive(struct sock *sk, struct sk_buff *skb)
{
	return bftm_udp_hear(server_hear, sk, skb);
}

static int socket_open(struct bftm_server *server, int family, struct socket **ret)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(server->param.port),
		.use_udp_checksums = true,
		.use_udp6_tx_checksums = true,
		.use_udp6_rx_checksums = true,
		.ipv6_v6only = true,
	};

	return udp_sock_create(server->net, &port, ret);
}

static void socket_hear(struct bftm_server *server, struct socket *sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = server,
		.encap_type = 1,
		.encap_rcv = server_receive,
	};

	setup_udp_tunnel_sock(server->net, bftm_tunnel_sock(sock), &tunnel);
}

int bftm_sockets_open(struct bftm_server *server,
		      struct netlink_ext_ack *extack)
{
	int err = bftm_routes_init(server);

	if (err) {
		NL_SET_ERR_MSG(extack, "no memory for routes");
		return err;
	}
	err = socket_open(server, AF_INET, &server->sock4);
	if (!err && IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled())
		err = socket_open(server, AF_INET6, &server->sock6);
	if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "the UDP port is in use");
	else if (err)
		NL_SET_ERR_MSG(extack, "cannot open the UDP sockets");
	err = err ?: bftm_ingress_open(server, extack);
	if (err)
		return err;
	/* A server that was heard must not be forgotten: from here on nothing fails. */
	socket_hear(server, server->sock4);
	if (server->sock6)
		socket_hear(server, server->sock6);
	bftm_ingress_begin(server);
	return 0;
}

void bftm_sockets_deafen(struct bftm_server *server)
{
	bftm_hook_close(server->ingress);
	/* server_hear() drops what comes without it. */
	if (server->sock4)
		rcu_assign_sk_user_data(server->sock4->sk, NULL);
	if (server->sock6)
		rcu_assign_sk_user_data(server->sock6->sk, NULL);
	synchronize_rcu();	/* the receive path has left */
}

void bftm_sockets_close(struct bftm_server *server)
{
	if (server->sock4)
		udp_tunnel_sock_release(bftm_tunnel_sock(server->sock4));
	if (server->sock6)
		udp_tunnel_sock_release(bftm_tunnel_sock(server->sock6));
	server->sock4 = NULL;
	server->sock6 = NULL;
	synchronize_rcu();	/* server_receive() has returned, its code may go */
	bftm_routes_destroy(server);
	bftm_hook_free(server->ingress);
	server->ingress = NULL;
}
