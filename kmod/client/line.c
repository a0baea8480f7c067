// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a line is known to its session, under the upcall's lock, and to its socket by the
 * socket's user data, under RCU, and so to its hook at a device, if it has one. A burst has seen
 * the line under that lock, and sends by it in the same RCU read side. bftm_line_detach() is
 * called when the session has another line, or sends nothing any more; it removes the hook, takes
 * the line from the socket and waits for a grace period. Then nobody sends or receives by the
 * line.
 *
 * A line holds its socket's file, and so the namespace, also when the process that lent it is gone.
 * So a line ends by itself some time after its process; see session.c.
 *
 * The socket is the helper's own, so that servers see one client at one address: what
 * they push for what the helper waits for goes there as ever.
 */
#include <linux/file.h>
#include <linux/kcov.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/udp_tunnel.h>

#include "client/line.h"
#include "client/request.h"
#include "client/session.h"
#include "compat_net.h"
#include "core/replay.h"
#include "core/wire.h"
#include "debug.h"
#include "netns.h"
#include "udp/address.h"
#include "udp/frame.h"
#include "udp/hook.h"
#include "udp/udp.h"

/*
 * Would the socket get a frame that came by @dev, with these ends? The socket's owner may bind or
 * connect it at any time. UDP would not ask the socket's filter about this frame either: it gives
 * the kernel its datagrams before.
 */
static bool socket_hears(const struct sock *sk, const struct net_device *dev,
			 const struct bftm_address *ends)
{
	const int bound = READ_ONCE(sk->sk_bound_dev_if);

	if ((bound && bound != dev->ifindex) || READ_ONCE(sk->sk_state) == TCP_ESTABLISHED)
		return false;
	if (ends->family == AF_INET)
		return !ipv6_only_sock(sk) &&
		       (!sk->sk_rcv_saddr || sk->sk_rcv_saddr == ends->local4);
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_addr_any(&sk->sk_v6_rcv_saddr) ||
	       ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &ends->local6);
#else
	return false;
#endif
}

/*
 * Softirqs are off, RCU read side. IP goes on with what the kernel does not need. Two lines may
 * have one socket for a moment: the socket's user data says whose it is.
 */
static unsigned int line_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	const struct bftm_line *line = priv;
	const struct sock *sk = line->sock->sk;
	const struct bftm_frame answers = {
		.port = inet_sk(sk)->inet_sport,
	};
	struct bftm_address ends;
	unsigned int headers;
	bool taken;

	/* A socket that was connected may have lost its port. */
	if (!answers.port || !bftm_frame_fits(skb, &answers, &ends) ||
	    !socket_hears(sk, skb->dev, &ends) || READ_ONCE(sk->sk_user_data) != line)
		return NF_ACCEPT;
	headers = bftm_frame_ip_len(ends.family) + sizeof(struct udphdr);
	kcov_remote_start_common(skb_get_kcov_handle(skb));
	taken = bftm_session_take(line->session, skb->data + headers, skb->len - headers);
	kcov_remote_stop();
	if (!taken)
		return NF_ACCEPT;
	atomic64_inc(&line->session->bn->upcall->ingress);
	napi_consume_skb(skb, 1);
	return NF_STOLEN;
}

/* encap_rcv: softirq, RCU read side; the skb begins with the UDP header. */
static int line_hear(struct sock *sk, struct sk_buff *skb)
{
	struct bftm_line *line = rcu_dereference_sk_user_data(sk);
	const size_t most = sizeof(struct udphdr) + BFTM_WIRE_LEN_MAX;

	/* Nobody else can write to the linear part after the tag in it was checked. */
	if (!line || skb->len > most || !pskb_may_pull(skb, skb->len) ||
	    !bftm_session_take(line->session, skb->data + sizeof(struct udphdr),
			       skb->len - sizeof(struct udphdr)))
		return 1;	/* it is the helper's */
	/* In softirq, as said above: this processor keeps its head for the next datagram. */
	napi_consume_skb(skb, 1);
	return 0;
}

static int line_receive(struct sock *sk, struct sk_buff *skb)
{
	return bftm_udp_hear(line_hear, sk, skb);
}

/* Its owner may bind the socket to another device, or mark it, at any time. */
static struct bftm_flow flow_of(const struct sock *sk)
{
	return (struct bftm_flow){
		.ifindex = READ_ONCE(sk->sk_bound_dev_if),
		.mark = READ_ONCE(sk->sk_mark),
	};
}

static bool is_flow(const struct bftm_flow *flow, const struct sock *sk)
{
	const struct bftm_flow now = flow_of(sk);

	return now.ifindex == flow->ifindex && now.mark == flow->mark;
}

static void forget_routes(struct bftm_line *line)
{
	u32 u;

	for (u = 0; u < line->routes; u++)
		dst_cache_reset(&line->route[u]);
}

void bftm_line_route(struct bftm_line *line)
{
	lockdep_assert_held(&line->session->bn->upcall->lock);
	if (is_flow(&line->flow, line->sock->sk))
		return;
	line->flow = flow_of(line->sock->sk);
	forget_routes(line);
}

/*
 * Return: was the datagram sent, as far as this host can tell? A datagram that found no memory or
 * no room in the socket counts as sent, as one that is lost on its way: such a want passes, while
 * the reasons of other errors stay.
 */
static bool line_tell(struct bftm_line *line, u32 u, struct sk_buff *skb, struct bftm_wire *wire,
		      const u32 *skips)
{
	const struct bftm_session_peer *peer = &line->session->peer[u];
	int err;

	wire->head.server = cpu_to_le16(peer->id);
	wire->head.epoch = cpu_to_le64(READ_ONCE(peer->known.sent_epoch));
	wire->head.seq = cpu_to_le64(atomic64_inc_return((atomic64_t *)&line->counters->seq));
	/* If that number was drawn after the skip, then the skip is seen here. */
	if (skips && READ_ONCE(line->session->skips) != *skips) {
		kfree_skb(skb);
		return false;
	}
	skb_put_data(skb, wire->data, wire->len);
	bftm_sign(peer->pair.request, skb->data, wire->len);
	err = bftm_udp_send(line->session->bn->net, line->sock->sk, &peer->to, &line->route[u],
			    skb);
	return err >= 0 || err == -ENOBUFS || err == -ENOMEM;
}

void bftm_line_skip(struct bftm_line *line)
{
	struct bftm_session *s = line->session;

	WRITE_ONCE(s->skips, s->skips + 1);
	/* Of two atomic operations on the counter that return it, each is a full barrier. */
	atomic64_add_return(BFTM_WINDOW_BITS, (atomic64_t *)&line->counters->seq);
}

/* The datagrams differ by who they are for, and their numbers. */
u32 bftm_line_send(struct bftm_line *line, u32 to, struct bftm_wire *wire, const u32 *skips)
{
	const struct bftm_upcall *up = line->session->bn->upcall;
	const struct bftm_flow flow = flow_of(line->sock->sk);
	struct bftm_udp_rooms rooms = {};
	u32 u, sent = 0;

	for (u = 0; u < line->routes; u++) {
		struct sk_buff *skb;

		if (!(to >> u & 1) || READ_ONCE(up->silent))
			continue;
		skb = bftm_udp_room(&rooms, hweight32(to >> u), wire->len);
		if (!skb || line_tell(line, u, skb, wire, skips))
			sent |= BIT(u);
	}
	bftm_udp_rooms_end(&rooms);
	/* Without a lock: bftm_line_route() may have been there before a route was kept. */
	if (!is_flow(&flow, line->sock->sk))
		forget_routes(line);
	return sent;
}

/*
 * The socket must belong to user space alone: l2tp takes sockets in the same way. It must be of
 * IPv6, since peers may be, and the route to such a peer is looked up by fields that only this kind
 * has.
 */
static int check_socket(const struct bftm_net *bn, const struct socket *sock)
{
	const struct sock *sk = sock->sk;

	if (sk->sk_protocol != IPPROTO_UDP || sk->sk_type != SOCK_DGRAM ||
	    sk->sk_family != AF_INET6)
		return -EINVAL;
	if (sock_net(sk) != bn->net || !inet_sk(sk)->inet_num)
		return -EINVAL;
	return 0;
}

/* Kernel and helper add to 64 bits at once, wherever the helper has its counters in memory. */
static int pin(struct bftm_line *line, u64 counters)
{
	/* At a multiple of their size, as the caller has seen: in one page. */
	static_assert(sizeof(*line->counters) == 32);
	if (!IS_ENABLED(CONFIG_64BIT))
		return -EOPNOTSUPP;
	if (pin_user_pages_fast(counters, 1, FOLL_WRITE | FOLL_LONGTERM, &line->page) != 1) {
		line->page = NULL;
		return -EFAULT;
	}
	line->counters = page_address(line->page) + offset_in_page(counters);
	return 0;
}

static int make_hook(struct bftm_line *line, const struct bftm_net *bn,
		     const struct bftm_loan *loan, struct netlink_ext_ack *extack)
{
	struct bftm_hook *hook;

	if (!*loan->ingress)
		return 0;
	hook = bftm_hook_new(bn->net, loan->ingress, line_ingress, line, extack);
	if (IS_ERR(hook))
		return -ENODEV;
	snprintf(hook->owner, sizeof(hook->owner), "cluster %s", loan->cluster);
	line->hook = hook;
	return 0;
}

struct bftm_line *bftm_line_new(const struct bftm_net *bn, u32 routes,
				const struct bftm_loan *loan, struct netlink_ext_ack *extack)
{
	struct bftm_line *line = kzalloc(struct_size(line, route, routes), GFP_KERNEL_ACCOUNT);
	int err;

	if (!line)
		return ERR_PTR(-ENOMEM);
	line->sock = sockfd_lookup(loan->fd, &err);
	if (line->sock)
		err = check_socket(bn, line->sock) ?: pin(line, loan->counters) ?:
		      make_hook(line, bn, loan, extack);
	for (; line->routes < routes && !err; line->routes++)
		err = dst_cache_init(&line->route[line->routes], GFP_KERNEL_ACCOUNT);
	if (err) {
		bftm_line_free(line);
		return ERR_PTR(err);
	}
	return line;
}

void bftm_line_free(struct bftm_line *line)
{
	u32 u;

	/* The last one perhaps without memory, which is nothing to be freed. */
	for (u = 0; u < line->routes; u++)
		dst_cache_destroy(&line->route[u]);
	if (line->page)
		unpin_user_pages_dirty_lock(&line->page, 1, true);
	if (line->sock)
		sockfd_put(line->sock);
	bftm_hook_free(line->hook);
	kfree(line);
}

/*
 * The socket's user data is an earlier line when that has the same socket. Other code that takes
 * sockets (l2tp, sockmap) looks at the user data and sets it in one hold of the callback lock.
 */
static int take_socket(struct bftm_line *line)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = line,
		.encap_type = 1,
		.encap_rcv = line_receive,
	};
	struct sock *sk = line->sock->sk;
	bool ours, other;

	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	ours = udp_sk(sk)->encap_rcv == line_receive;
	other = !ours && (udp_sk(sk)->encap_type || READ_ONCE(sk->sk_user_data));
	if (!other)
		rcu_assign_sk_user_data(sk, line);
	write_unlock_bh(&sk->sk_callback_lock);
	if (!ours && !other) {
		setup_udp_tunnel_sock(line->session->bn->net, bftm_tunnel_sock(line->sock),
				      &tunnel);
		/* A datagram that leaves need wake nobody: the helper never waits for room. */
		sock_set_flag(sk, SOCK_USE_WRITE_QUEUE);
	}
	release_sock(sk);
	return other ? -EINVAL : 0;
}

/* Also of a line whose socket another line has taken: that has its hook still. */
int bftm_line_attach(struct bftm_line *line, struct netlink_ext_ack *extack)
{
	int err = 0;

	if (line->hook && !line->hook->added)
		err = bftm_hook_add(line->hook, true, extack);
	if (err)
		return -ENODEV;
	err = take_socket(line);
	if (err) {
		bftm_hook_close(line->hook);
		synchronize_rcu();	/* line_ingress() has returned */
	}
	return err;
}

void bftm_line_detach(struct bftm_line *line)
{
	struct sock *sk = line->sock->sk;

	bftm_hook_close(line->hook);
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	/* The next line may have the socket already. User data goes last: then others take it. */
	if (READ_ONCE(sk->sk_user_data) == line) {
		udp_sk(sk)->encap_type = 0;
		udp_sk(sk)->encap_rcv = NULL;
		rcu_assign_sk_user_data(sk, NULL);
		sock_reset_flag(sk, SOCK_USE_WRITE_QUEUE);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	/* line_receive() and line_ingress() have returned, also for module exit. */
	synchronize_rcu();
}
