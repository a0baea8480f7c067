// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a session is made under the session mutex of its namespace, listed under
 * the upcall's lock, and known to its line. It ends when the helper lends the cluster in another
 * way or takes it back, or some time after the helper's end: it is taken off the list under the
 * lock, so that nothing begins by it. Its attempts are handed to the helper in pieces, between
 * which others have the lock: meanwhile the session sends, hears and wins as before. When no
 * attempt is left, nothing arms the session's timers; then the timers are stopped and the line
 * detached, which waits until nobody sends or receives by the line.
 *
 * All that is one hold of the session mutex, for which the next helper waits: it finds each lock
 * that ended with a session in the queue.
 *
 * When the helper goes, its sessions become orphans. Their attempts send and hear by the line of
 * that helper until another helper lends the same, which replaces only the line. The new line's
 * counters are not below the old one's (session_swap()), so servers take attempts that begin after
 * the swap for later ones. The old line is freed a grace period after the swap.
 *
 * An orphan ends when the grace of helpers is over, also when there is a helper that has not lent
 * the same. The orphan's line holds a socket, and the socket the namespace. So an orphan without
 * use ends at once: when nothing is under way by it, and no handle is open by which something could
 * begin; an open handle holds the namespace itself. The code that ends the last attempt, or closes
 * the last handle, queues a work (bftm_sessions_look()); bftm_upcall_destroy() waits for that work.
 */
#include <crypto/algapi.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "client/burst.h"
#include "client/fast.h"
#include "client/line.h"
#include "client/request.h"
#include "client/session.h"
#include "compat.h"
#include "core/servers.h"
#include "debug.h"
#include "netns.h"
#include "time/clock.h"
#include "uapi/linux/bftmutex_netlink.h"

/* All are looked at in one hold of the lock. */
#define SESSIONS_MAX	64

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

/* Does @msg concern neither the kernel's attempts nor a start of a server? */
static bool is_for_helper(const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_CHALLENGE || msg->type == BFTM_MSG_STALE)
		return false;
	/* The kernel asks nobody who has a lock, but the answer may name an attempt of its own. */
	if (msg->type == BFTM_MSG_OWNER)
		return true;
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
	u64 last_seq = READ_ONCE(s->line->counters->seq);

	if (bftm_peer_challenge(&s->peer[u].known, msg, last_seq) != BFTM_PEER_OLD)
		bftm_client_challenge(&s->cfg, u, msg);
}

/*
 * HELLO goes out before the repeated request. So the server's CHALLENGE mostly comes before its
 * grant, which counts only after the CHALLENGE.
 */
static void take_stale(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	struct bftm_peer_epochs *known = &s->peer[u].known;

	if (!msg->server_epoch || msg->seq > READ_ONCE(s->line->counters->seq))
		return;
	bftm_peer_stale(known, msg);
	if (known->sent_epoch != known->epoch)
		say_hello(s, u);
	bftm_fast_stale(s, u, msg);
}

/* Return: true when it answers what the kernel does, and nobody else needs it. */
static bool hear_answer(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	bool counts = bftm_epoch_known(msg, s->peer[u].known.epoch);

	/* CHALLENGE and STALE are the helper's as well, which keeps epochs of its own. */
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

/* The caller has a message on its stack, here is a burst: both are too much for one frame. */
static noinline_for_stack bool take_answer(struct bftm_session *s, u32 u,
					   const struct bftm_msg *msg)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst burst __uninitialized;
	bool taken;

	bftm_burst_lock(up, &burst);
	taken = hear_answer(s, u, msg);
	bftm_burst_unlock(up, &burst);
	return taken;
}

bool bftm_session_take(struct bftm_session *s, const void *wire, size_t len)
{
	struct bftm_msg msg __uninitialized;
	int u;

	if (bftm_wire_get(wire, len, &msg) || !(msg.type & BFTM_MSG_REPLY) ||
	    is_for_helper(&msg) || msg.cluster != s->id || msg.client != s->client)
		return false;
	u = index_of(s, msg.server);
	if (u < 0 || !bftm_tag_ok(s->peer[u].pair.reply, wire, len))
		return false;
	return take_answer(s, u, &msg);
}

bool bftm_session_is_orphan(const struct bftm_session *s)
{
	const struct bftm_upcall *up = s->bn->upcall;

	lockdep_assert_held(&up->lock);
	return !up->portid || s->line->helper != up->helper;
}

/*
 * A helper that has registered draws numbers of its own, which are higher, for requests that it
 * pulls. So an orphan begins nothing more: attempts of one lock are numbered in the order of their
 * beginning.
 */
bool bftm_session_serves(const struct bftm_session *s)
{
	return !bftm_session_is_orphan(s) || !s->bn->upcall->portid;
}

static void session_free(struct bftm_session *s)
{
	kvfree_sensitive(s, struct_size(s, peer, s->cfg.n));
}

static void line_end(struct bftm_line *line)
{
	bftm_line_detach(line);
	bftm_destroyed("line", line);
	bftm_line_free(line);
}

/* @s is off the list: nobody begins an attempt by it. */
static void dispose(struct bftm_session *s)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst burst __uninitialized;
	bool more;

	lockdep_assert_held(&s->bn->session_mutex);
	do {
		bftm_burst_lock(up, &burst);
		more = bftm_fast_retire(s);
		bftm_burst_unlock(up, &burst);
		cond_resched();
	} while (more);
	bftm_alarms_stop(&s->alarms);
	bftm_alarms_stop(&s->renewals);
	line_end(s->line);
	bftm_destroyed("session", s);
	session_free(s);
}

static void dispose_all(struct list_head *gone)
{
	struct bftm_session *s, *next;

	list_for_each_entry_safe(s, next, gone, list)
		dispose(s);
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

/* The next CHALLENGE of a server may be long in coming. */
static void inherit_older(struct bftm_session *s, const struct bftm_session *old)
{
	u32 u, v;

	for (u = 0; u < s->cfg.n; u++)
		for (v = 0; v < old->cfg.n; v++)
			if (old->cfg.older & BIT(v) && old->peer[v].id == s->peer[u].id)
				s->cfg.older |= BIT(u);
}

/* The kernel keeps its knowledge of servers when another loan takes the place of one. */
static void session_inherit(struct bftm_session *s, const struct bftm_session *old)
{
	u32 u;

	if (old && old->id == s->id) {
		s->prio = old->prio;
		inherit_older(s, old);
	}
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

static bool is_same_peer(const struct bftm_session_peer *a, const struct bftm_session_peer *b)
{
	return a->id == b->id && !memcmp(&a->to, &b->to, sizeof(a->to)) &&
	       !crypto_memneq(&a->pair, &b->pair, sizeof(a->pair));
}

/* Line, @standard, and what the kernel learns of servers may differ. */
static bool is_same(const struct bftm_session *a, const struct bftm_session *b)
{
	u32 u;

	if (strcmp(a->cluster, b->cluster) || a->id != b->id || a->client != b->client ||
	    a->configuration != b->configuration || a->lease_ns != b->lease_ns ||
	    a->lease_max_ns != b->lease_max_ns || a->queues != b->queues ||
	    a->protocol != b->protocol ||
	    a->cfg.n != b->cfg.n || a->cfg.b != b->cfg.b || a->cfg.m != b->cfg.m ||
	    a->cfg.rho_ppm != b->cfg.rho_ppm || a->cfg.delta_ns != b->cfg.delta_ns ||
	    !a->cfg.ask != !b->cfg.ask || a->ask.adapts != b->ask.adapts)
		return false;
	for (u = 0; u < a->cfg.n; u++)
		if (!is_same_peer(&a->peer[u], &b->peer[u]))
			return false;
	return true;
}

/* Return: the session that gets the line of @s; NULL: @s is new. The mutex keeps the list. */
static struct bftm_session *find_same(struct bftm_net *bn, const struct bftm_session *s)
{
	struct bftm_session *same;

	lockdep_assert_held(&bn->session_mutex);
	list_for_each_entry(same, &bn->upcall->sessions, list)
		if (is_same(same, s))
			return same;
	return NULL;
}

/*
 * Kernel and helper go on drawing meanwhile. @before is read first, so that counters which are lent
 * once more are not below themselves.
 */
static bool follows(const struct bftm_counters *now, const struct bftm_counters *before)
{
	u64 attempt = READ_ONCE(before->attempt), seq = READ_ONCE(before->seq);

	return bftm_line_follows(READ_ONCE(now->seq), READ_ONCE(now->attempt), seq, attempt);
}

static bool is_same_client(const struct bftm_session *a, const struct bftm_session *b)
{
	return a->id == b->id && a->client == b->client;
}

static bool follow_all(const struct bftm_session *s, const struct bftm_line *line)
{
	const struct bftm_session *other;

	list_for_each_entry(other, &s->bn->upcall->sessions, list)
		if (is_same_client(other, s) && !follows(line->counters, other->line->counters))
			return false;
	return true;
}

/* Answers to numbers that another line drew prove nothing about a server's epoch. */
static void begin_line(struct bftm_session *s, struct bftm_line *line)
{
	u64 first_seq = READ_ONCE(line->counters->seq);
	u32 u;

	for (u = 0; u < s->cfg.n; u++)
		bftm_peer_begin(&s->peer[u].known, first_seq);
	s->line = line;
}

/* Does @other end when @s is lent? @s has its cluster, or goes on with its client's numbers. */
static bool ends_with(const struct bftm_session *other, const struct bftm_session *s)
{
	return other != s && (!strcmp(other->cluster, s->cluster) ||
			      (is_same_client(other, s) && bftm_session_is_orphan(other)));
}

/* Move sessions that the loan of @line ends from the list to @gone. Return: 0 or -errno. */
static int take_off(const struct bftm_line *line, u32 portid, struct list_head *gone)
{
	struct bftm_session *s = line->session, *other, *next;
	struct bftm_upcall *up = s->bn->upcall;
	u32 left = 0;
	int err = 0;

	spin_lock_bh(&up->lock);
	if (up->portid != portid)
		err = -EPERM;
	else if (!follow_all(s, line))
		err = -ESTALE;
	list_for_each_entry_safe(other, next, &up->sessions, list) {
		if (err || !ends_with(other, s)) {
			left += other != s;
			continue;
		}
		if (!strcmp(other->cluster, s->cluster))
			session_inherit(s, other);
		list_move_tail(&other->list, gone);
	}
	spin_unlock_bh(&up->lock);
	return err ?: left >= SESSIONS_MAX ? -ENOSPC : 0;
}

/*
 * A server pushes to the address of the last request that named its epoch. The helper that has lent
 * the line knows no epoch yet, so the kernel says HELLO by the new line.
 */
static void show_address(struct bftm_session *s)
{
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO };
	u32 u, known = 0;

	for (u = 0; u < s->cfg.n; u++)
		if (s->peer[u].known.epoch)
			known |= BIT(u);
	if (known)
		bftm_burst_add(s, known, &msg);
}

/*
 * Its session, which is @lent or one that is the same, uses @line from now on. Each attempt keeps
 * its number, its sends and its grants; only the numbers of datagrams and the port change. A late
 * answer still counts, since it names the attempt.
 * @ret_old: the line before, NULL for none
 */
static int session_swap(struct bftm_line *line, const struct bftm_session *lent,
			struct bftm_line **ret_old)
{
	struct bftm_session *s = line->session;
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst burst __uninitialized;
	int err = 0;

	bftm_burst_lock(up, &burst);
	if (!follow_all(s, line))
		err = -ESTALE;
	if (!err) {
		*ret_old = s->line == line ? NULL : s->line;
		line->helper = up->helper;
		s->standard = lent->standard;
		s->cfg.forgetful |= lent->cfg.forgetful;
		begin_line(s, line);
		if (*ret_old && (*ret_old)->sock != line->sock)
			show_address(s);
		if (list_empty(&s->list)) {
			list_add(&s->list, &up->sessions);
			WRITE_ONCE(up->client_room,
				   max(up->client_room, s->protocol->client->size(s->cfg.n)));
		}
	}
	bftm_burst_unlock(up, &burst);
	return err;
}

/* A line that failed has taken its socket perhaps from another line. */
static void give_socket_back(const struct bftm_line *line)
{
	const struct bftm_session *s;

	lockdep_assert_held(&line->session->bn->session_mutex);
	list_for_each_entry(s, &line->session->bn->upcall->sessions, list)
		if (s->line->sock == line->sock)
			bftm_line_attach(s->line, NULL);
}

/* @s: what is lent */
static int session_lend(struct bftm_line *line, struct bftm_session *s, u32 portid,
			struct netlink_ext_ack *extack)
{
	struct bftm_session *same = find_same(s->bn, s);
	struct bftm_line *old = NULL;
	LIST_HEAD(gone);
	int err;

	line->session = same ?: s;
	/* From bftm_line_attach() on the session hears, before it is listed. */
	if (!same)
		begin_line(s, line);
	err = bftm_line_attach(line, extack);
	if (err)
		goto out;
	/*
	 * Other sessions of the client have lower numbers, which servers do not take any more once
	 * they have heard a higher one: so these sessions end before anything begins by this line.
	 * The session mutex keeps the helper, and the list, as they are.
	 */
	err = take_off(line, portid, &gone);
	dispose_all(&gone);
	err = err ?: session_swap(line, s, &old);
	if (err) {
		give_socket_back(line);
		bftm_line_detach(line);
		goto out;
	}
	bftm_created("line", line);
	if (!same)
		bftm_created("session", s);
	if (old)
		line_end(old);
out:
	if (err || same)
		session_free(s);
	return err;
}

int bftm_session_lend(struct bftm_net *bn, struct bftm_session *s, u32 portid,
		      const struct bftm_loan *loan, struct netlink_ext_ack *extack)
{
	struct bftm_line *line = bftm_line_new(bn, s->cfg.n, loan, extack);
	int err;

	if (IS_ERR(line)) {
		session_free(s);
		return PTR_ERR(line);
	}
	s->bn = bn;
	INIT_LIST_HEAD(&s->list);
	INIT_LIST_HEAD(&s->all);
	bftm_alarms_init(&s->alarms, &bn->upcall->lock, bftm_fast_ring);
	bftm_alarms_init(&s->renewals, &bn->upcall->lock, bftm_fast_ring);
	mutex_lock(&bn->session_mutex);
	err = session_lend(line, s, portid, extack);
	mutex_unlock(&bn->session_mutex);
	if (err)
		bftm_line_free(line);
	return err;
}

void bftm_session_revoke(struct bftm_net *bn, const char *cluster, u32 portid)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_session *s, *next;
	LIST_HEAD(gone);

	mutex_lock(&bn->session_mutex);
	spin_lock_bh(&up->lock);
	list_for_each_entry_safe(s, next, &up->sessions, list)
		if ((!cluster || !strcmp(s->cluster, cluster)) && (!portid || up->portid == portid))
			list_move_tail(&s->list, &gone);
	spin_unlock_bh(&up->lock);
	dispose_all(&gone);
	mutex_unlock(&bn->session_mutex);
}

static bool is_used(const struct bftm_session *s)
{
	return s->count || !xa_empty(&s->bn->upcall->handles);
}

void bftm_sessions_orphaned(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_session *s, *next;
	LIST_HEAD(gone);

	lockdep_assert_held(&bn->session_mutex);
	spin_lock_bh(&up->lock);
	list_for_each_entry_safe(s, next, &up->sessions, list)
		if (bftm_session_is_orphan(s) && (up->orphaned || !is_used(s)))
			list_move_tail(&s->list, &gone);
	spin_unlock_bh(&up->lock);
	dispose_all(&gone);
}

void bftm_sessions_look(struct bftm_upcall *up)
{
	lockdep_assert_held(&up->lock);
	if (!list_empty(&up->sessions))
		queue_work(bftm_unbound_wq, &up->orphans);
}

void bftm_sessions_work(struct work_struct *work)
{
	struct bftm_upcall *up = container_of(work, struct bftm_upcall, orphans);

	mutex_lock(&up->bn->session_mutex);
	bftm_sessions_orphaned(up->bn);
	mutex_unlock(&up->bn->session_mutex);
	bftm_upcall_desert(up);
}
