// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a session is made under the session mutex of its namespace, listed under
 * the upcall's lock, and known to its socket by the socket's user data, under RCU. It
 * ends when the helper lends another in its place, or takes it back, or goes: it is taken off
 * the list under the lock, so that nothing begins by it. Its work is handed to the helper in
 * pieces, between which others have the lock: meanwhile it sends, hears and wins as before. When
 * nothing is left its timer is armed no more; then the timer is stopped, the socket made an
 * ordinary one again and a grace period waited for, so that nobody receives for it.
 *
 * All that is one hold of the session mutex, for which the next helper waits: it never sees a
 * lock that the kernel holds by itself for another.
 *
 * A session holds its socket's file, and by that the namespace; the helper's netlink
 * socket goes at the latest when the helper does, and takes the session with it.
 *
 * The socket is the helper's own, so that servers see one client at one address: what
 * they push for what the helper waits for goes there as ever.
 */
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/udp_tunnel.h>

#include "client/burst.h"
#include "client/fast.h"
#include "client/request.h"
#include "client/session.h"
#include "compat.h"
#include "core/servers.h"
#include "debug.h"
#include "netns.h"
#include "time/clock.h"
#include "uapi/linux/bftmutex_netlink.h"
#include "udp/udp.h"

struct bftm_session *bftm_session_find(struct bftm_net *bn, const char *cluster)
{
	struct bftm_session *s;

	lockdep_assert_held(&bn->upcall->lock);
	list_for_each_entry(s, &bn->upcall->sessions, list)
		if (*cluster ? !strncmp(s->cluster, cluster, BFTM_CLUSTER_MAX) : s->standard)
			return s;
	return NULL;
}

static int index_of(const struct bftm_session *s, u16 server)
{
	u32 u;

	for (u = 0; u < s->cfg.n; u++)
		if (s->peer[u].id == server)
			return u;
	return -1;
}

/* Nothing of it is about the kernel's attempts, or starts of a server. */
static bool is_for_helper(const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_CHALLENGE || msg->type == BFTM_MSG_STALE)
		return false;
	return (bftm_wire_common(msg->type) && msg->type != BFTM_MSG_REFUSED) ||
	       !(msg->attempt & BFTM_ATTEMPT_KERNEL);
}

/* As often as a request is repeated: HELLO or its answer may get lost. */
static void say_hello(struct bftm_session *s, u32 u)
{
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO };
	struct bftm_session_peer *peer = &s->peer[u];
	u64 now = bftm_clock_ns();

	if (peer->hello_ns && now - peer->hello_ns < s->cfg.resend_ns)
		return;
	if (bftm_burst_add(s, BIT(u), &msg))
		peer->hello_ns = now;
}

static void take_challenge(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	u64 last_seq = READ_ONCE(s->counters->seq);

	if (bftm_peer_challenge(&s->peer[u].known, msg, last_seq) != BFTM_PEER_OLD)
		bftm_client_challenge(&s->cfg, u, msg);
}

/*
 * HELLO goes before the request that is repeated. So the server's CHALLENGE mostly comes before
 * what it grants, which counts only after that.
 */
static void take_stale(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	struct bftm_peer_epochs *known = &s->peer[u].known;

	if (!msg->server_epoch || msg->seq > READ_ONCE(s->counters->seq))
		return;
	bftm_peer_stale(known, msg);
	if (known->sent_epoch != known->epoch)
		say_hello(s, u);
	bftm_fast_stale(s, u, msg);
}

/* Return: true when it answers what the kernel does, and nobody else needs it. */
static bool take_answer(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	bool counts = bftm_epoch_known(msg, s->peer[u].known.epoch);

	/* The helper says HELLO as well, on what servers say of their starts. */
	if (msg->type == BFTM_MSG_CHALLENGE) {
		take_challenge(s, u, msg);
		return false;
	}
	if (msg->type == BFTM_MSG_STALE) {
		take_stale(s, u, msg);
		return false;
	}
	if (!counts)
		say_hello(s, u);
	return bftm_fast_answer(s, u, msg, counts);
}

/* Return: as take_answer(). */
static bool session_take(struct bftm_session *s, const void *wire, size_t len)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst burst;
	struct bftm_msg msg;
	bool taken;
	int u;

	if (bftm_wire_get(wire, len, &msg) || !(msg.type & BFTM_MSG_REPLY) ||
	    is_for_helper(&msg) || msg.cluster != s->id || msg.client != s->client)
		return false;
	u = index_of(s, msg.server);
	if (u < 0 || !bftm_tag_ok(s->peer[u].pair.reply, wire, len))
		return false;
	bftm_burst_lock(up, &burst);
	taken = take_answer(s, u, &msg);
	bftm_burst_unlock(up, &burst);
	return taken;
}

/* encap_rcv: softirq, RCU read side; the skb begins with the UDP header. */
static int session_hear(struct sock *sk, struct sk_buff *skb)
{
	struct bftm_session *s = rcu_dereference_sk_user_data(sk);
	const size_t most = sizeof(struct udphdr) + BFTM_WIRE_LEN_MAX;

	/* Others cannot write to the linear part, after its tag was found right. */
	if (!s || skb->len > most || !pskb_may_pull(skb, skb->len) ||
	    !session_take(s, skb->data + sizeof(struct udphdr),
			  skb->len - sizeof(struct udphdr)))
		return 1;	/* it is the helper's */
	consume_skb(skb);
	return 0;
}

static int session_receive(struct sock *sk, struct sk_buff *skb)
{
	return bftm_udp_hear(session_hear, sk, skb);
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

static void forget_routes(struct bftm_session *s)
{
	u32 u;

	for (u = 0; u < s->cfg.n; u++)
		dst_cache_reset(&s->peer[u].route);
}

void bftm_session_route(struct bftm_session *s)
{
	lockdep_assert_held(&s->bn->upcall->lock);
	if (is_flow(&s->flow, s->sock->sk))
		return;
	s->flow = flow_of(s->sock->sk);
	forget_routes(s);
}

/* Return: was it sent, as far as this host can tell? */
static bool session_tell(struct bftm_session *s, struct bftm_session_peer *peer,
			 struct sk_buff *skb, struct bftm_wire *wire)
{
	wire->head.server = cpu_to_le16(peer->id);
	wire->head.epoch = cpu_to_le64(READ_ONCE(peer->known.sent_epoch));
	wire->head.seq = cpu_to_le64(atomic64_inc_return((atomic64_t *)&s->counters->seq));
	skb_put_data(skb, wire->data, wire->len);
	bftm_sign(peer->pair.request, skb->data, wire->len);
	return bftm_udp_send(s->bn->net, s->sock->sk, &peer->to, &peer->route, skb) >= 0;
}

/* The datagrams differ by who they are for, and their numbers. */
u32 bftm_session_send(struct bftm_session *s, u32 to, struct bftm_wire *wire)
{
	const struct bftm_flow flow = flow_of(s->sock->sk);
	struct bftm_udp_rooms rooms = {};
	u32 u, sent = 0;

	/* At most 31 datagrams. Between each two, softirqs would cost 3 % of an acquire. */
	local_bh_disable();
	for (u = 0; u < s->cfg.n; u++) {
		struct sk_buff *skb;

		if (!(to >> u & 1) || READ_ONCE(s->bn->upcall->silent))
			continue;
		skb = bftm_udp_room(&rooms, hweight32(to >> u), wire->len);
		if (skb && session_tell(s, &s->peer[u], skb, wire))
			sent |= BIT(u);
	}
	/* Without a lock: bftm_session_route() may have been there before a route was kept. */
	if (!is_flow(&flow, s->sock->sk))
		forget_routes(s);
	local_bh_enable();
	return sent;
}

/*
 * Of user space, and nobody else's: l2tp takes sockets in the same way. Of IPv6, since
 * peers may be, and the route to one is looked up by what only such a socket has.
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

/*
 * Its user data is ours already when a session before this one has it. Other code that takes
 * sockets (l2tp, sockmap) looks at the user data and sets it in one hold of the callback lock.
 */
static int attach(struct bftm_session *s)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = s,
		.encap_type = 1,
		.encap_rcv = session_receive,
	};
	struct sock *sk = s->sock->sk;
	bool ours, other;

	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	ours = udp_sk(sk)->encap_rcv == session_receive;
	other = !ours && (udp_sk(sk)->encap_type || READ_ONCE(sk->sk_user_data));
	if (!other)
		rcu_assign_sk_user_data(sk, s);
	write_unlock_bh(&sk->sk_callback_lock);
	if (!ours && !other)
		setup_udp_tunnel_sock(s->bn->net, bftm_tunnel_sock(s->sock), &tunnel);
	release_sock(sk);
	return other ? -EINVAL : 0;
}

static void session_detach(struct bftm_session *s)
{
	struct sock *sk = s->sock->sk;

	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	/* Not when the next session has it already. The user data last: then it is another's. */
	if (READ_ONCE(sk->sk_user_data) == s) {
		udp_sk(sk)->encap_type = 0;
		udp_sk(sk)->encap_rcv = NULL;
		rcu_assign_sk_user_data(sk, NULL);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	synchronize_rcu();	/* session_receive() has returned, also for module exit */
}

/* Both sides add to 64 bits at once, wherever the helper has them in its memory. */
static int pin(struct bftm_session *s, u64 counters)
{
	/* At a multiple of their size, as the caller has seen: in one page. */
	static_assert(sizeof(*s->counters) == 32);
	if (!IS_ENABLED(CONFIG_64BIT))
		return -EOPNOTSUPP;
	if (pin_user_pages_fast(counters, 1, FOLL_WRITE | FOLL_LONGTERM, &s->page) != 1) {
		s->page = NULL;
		return -EFAULT;
	}
	s->counters = page_address(s->page) + offset_in_page(counters);
	return 0;
}

static void session_free(struct bftm_session *s)
{
	u32 u;

	for (u = 0; u < s->cfg.n; u++)
		dst_cache_destroy(&s->peer[u].route);
	if (s->page)
		unpin_user_pages_dirty_lock(&s->page, 1, true);
	if (s->sock)
		sockfd_put(s->sock);
	kvfree_sensitive(s, struct_size(s, peer, s->cfg.n));
}

/* One that is off the list: nobody begins anything by it. */
static void dispose(struct bftm_session *s)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst burst;
	bool more;

	lockdep_assert_held(&s->bn->session_mutex);
	do {
		bftm_burst_lock(up, &burst);
		more = bftm_fast_retire(s);
		bftm_burst_unlock(up, &burst);
		cond_resched();
	} while (more);
	bftm_alarms_stop(&s->alarms);
	session_detach(s);
	bftm_destroyed("session", s);
	session_free(s);
}

void bftm_session_ask(struct bftm_session *s, u32 ask)
{
	u32 u;

	if (ask == BFTMUTEX_ASK_ALL)
		return;
	bftm_ask_start(&s->ask, ask == BFTMUTEX_ASK_AUTO);
	for (u = 0; u < s->cfg.n; u++)
		bftm_ask_server(&s->ask, u, s->id, s->peer[u].id);
	s->cfg.ask = &s->ask;
}

/* The kernel keeps its knowledge of servers when another loan takes the place of one. */
static void session_inherit(struct bftm_session *s, const struct bftm_session *old)
{
	u32 u;

	if (!old || old->cfg.n != s->cfg.n || !old->cfg.ask || !s->cfg.ask || old->id != s->id)
		return;
	for (u = 0; u < s->cfg.n; u++)
		if (old->peer[u].id != s->peer[u].id)
			return;
	bftm_ask_inherit(&s->ask, &old->ask);
	for (u = 0; u < s->cfg.n; u++)
		if (memcmp(&old->peer[u].to, &s->peer[u].to, sizeof(s->peer[u].to)))
			bftm_ask_forget(&s->ask, u);
}

static int session_lend(struct bftm_net *bn, struct bftm_session *s, struct bftm_session **old)
{
	struct bftm_upcall *up = bn->upcall;
	int err = attach(s);

	if (err)
		return err;
	spin_lock_bh(&up->lock);
	if (up->portid != s->portid) {
		err = -EPERM;
	} else {
		*old = bftm_session_find(bn, s->cluster);
		session_inherit(s, *old);
		if (*old)
			list_del(&(*old)->list);
		list_add(&s->list, &up->sessions);
	}
	spin_unlock_bh(&up->lock);
	if (err)
		session_detach(s);
	return err;
}

int bftm_session_lend(struct bftm_net *bn, struct bftm_session *s, int fd, u64 counters)
{
	struct bftm_session *old = NULL;
	int err;
	u32 u;

	s->sock = sockfd_lookup(fd, &err);
	if (s->sock)
		err = check_socket(bn, s->sock) ?: pin(s, counters);
	for (u = 0; u < s->cfg.n && !err; u++)
		err = dst_cache_init(&s->peer[u].route, GFP_KERNEL_ACCOUNT);
	if (err) {
		session_free(s);
		return err;
	}
	s->bn = bn;
	for (u = 0; u < s->cfg.n; u++)
		bftm_peer_begin(&s->peer[u].known, READ_ONCE(s->counters->seq));
	INIT_LIST_HEAD(&s->all);
	bftm_alarms_init(&s->alarms, &bn->upcall->lock, bftm_fast_ring);
	mutex_lock(&bn->session_mutex);
	err = session_lend(bn, s, &old);
	if (err)
		session_free(s);
	else
		bftm_created("session", s);
	if (old)
		dispose(old);
	mutex_unlock(&bn->session_mutex);
	return err;
}

void bftm_sessions_retire(struct bftm_net *bn, const char *cluster, u32 portid,
			  struct list_head *gone)
{
	struct bftm_session *s, *next;

	lockdep_assert_held(&bn->upcall->lock);
	list_for_each_entry_safe(s, next, &bn->upcall->sessions, list) {
		if ((cluster && strcmp(s->cluster, cluster)) || (portid && s->portid != portid))
			continue;
		list_move(&s->list, gone);
	}
}

void bftm_sessions_dispose(struct list_head *gone)
{
	struct bftm_session *s, *next;

	list_for_each_entry_safe(s, next, gone, list)
		dispose(s);
}

void bftm_session_revoke(struct bftm_net *bn, const char *cluster, u32 portid)
{
	LIST_HEAD(gone);

	mutex_lock(&bn->session_mutex);
	spin_lock_bh(&bn->upcall->lock);
	bftm_sessions_retire(bn, cluster, portid, &gone);
	spin_unlock_bh(&bn->upcall->lock);
	bftm_sessions_dispose(&gone);
	mutex_unlock(&bn->session_mutex);
}
