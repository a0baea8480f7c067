// SPDX-License-Identifier: GPL-2.0
/*
 * The rules are those of the core that the helper runs; here are its clock, its
 * numbers and its datagrams. One attempt with BFTM_WAIT_NOT: it queues nowhere, so
 * servers never ask it to yield for long, and who loses has lost a round trip.
 *
 * Lifetime: an acquisition is reached through its request, its session and the table
 * of attempts, all under the upcall's lock, and goes from all of them at once. The
 * session's timer and the receive path hold that lock while they use it.
 *
 * Attempts of one lock are numbered in the order in which they begin, and this host has
 * one at a time: both sides draw from one counter, no request for a lock begins here
 * while another for it is under way, in the kernel or at the helper, and what is under
 * way here when another comes is the helper's from then on (bftm_fast_entrust()). That
 * matters because servers take a RELEASE for the end of all attempts up to its number.
 */
#include <linux/slab.h>

#include "client/fast.h"
#include "client/handle.h"
#include "client/request.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "debug.h"
#include "time/clock.h"

/* How often an attempt is sent before the helper shall see to it. */
#define FAST_SENDS	3
/* Rounds that the helper is to see after one in which servers disagreed. */
#define FAST_WATCH	16
/*
 * Where too few were heard so many acquires are the helper's, then twice as many, up to 1,024:
 * it may be that no datagram of the kernel's ever passes.
 */
#define FAST_VAIN_BITS	6
/*
 * Servers asked for all locks together: a session that goes tells all of them that it is over.
 * More locks are the helper's from the beginning.
 */
#define FAST_ASKING_MAX	4096
/* Of locks and datagrams, in one hold of the lock. */
#define RETIRE_BATCH	64
#define FAST_MAX	BFTM_REQUESTS_MAX

static struct bftm_fast *fast_find(struct bftm_upcall *up, const struct bftm_session *s,
				   u64 attempt)
{
	struct bftm_fast *f;

	hash_for_each_possible(up->tables->fast, f, by_attempt, attempt)
		if (f->attempt == attempt && f->session == s)
			return f;
	return NULL;
}

static void not_due(struct bftm_fast *f)
{
	bftm_alarm_clear(&f->session->alarms, &f->due);
}

/* No more is asked for it. */
static void forget_client(struct bftm_fast *f)
{
	if (f->client)
		f->late = (struct bftm_late){
			.asking = f->client->asking, .mode = BFTM_MODE_EX, .sends = f->client->sends,
		};
	f->session->asking -= !!f->client;
	kfree(f->client);
	f->client = NULL;
}

static void fast_free(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;

	lockdep_assert_held(&s->bn->upcall->lock);
	hash_del(&f->by_attempt);
	list_del(&f->list);
	not_due(f);
	forget_client(f);
	if (f->request)
		f->request->fast = NULL;
	s->count--;
	bftm_destroyed("fast", f);
	kfree(f);
}

static void wake_at(struct bftm_fast *f, u64 at_ns)
{
	bftm_alarm_set(&f->session->alarms, &f->due, bftm_clock_timer(at_ns));
}

static u32 send(struct bftm_fast *f, u32 to, struct bftm_msg *msg)
{
	if (!to)
		return 0;
	msg->attempt = f->attempt;
	msg->name_len = f->name_len;
	memcpy(msg->name, f->name, f->name_len);
	return bftm_session_send(f->session, to, msg);
}

static void send_release(struct bftm_fast *f, u32 to)
{
	struct bftm_msg msg;

	if (to)
		send(f, bftm_release_message(&f->release, to, &msg), &msg);
}

/* From now on nobody waits for it and nobody holds it. */
static void give_back(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;
	struct bftm_out out = {
		.release_attempt = f->attempt,
		.release_lock = f->lock,
		.release_doubt = f->request->doubt,
	};
	u64 now = bftm_clock_ns();

	forget_client(f);
	out.release_to = f->late.asking.asked;
	out.late = f->late;
	f->request->fast = NULL;
	f->request = NULL;
	bftm_release_start(&f->release, &s->cfg, &out, now);
	send_release(f, out.release_to);
	wake_at(f, f->release.wake_ns);
}

/* Enough of them to win a lock? */
static bool enough(const struct bftm_fast *f, u32 servers)
{
	const struct bftm_client_cfg *cfg = &f->session->cfg;

	return hweight32(servers) >= bftm_win(cfg);
}

/* Too few answer, or can be asked: so it may well be next time. */
static void in_vain(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;

	if (enough(f, f->heard))
		return;
	s->watch = FAST_WATCH << s->vain;
	s->vain = min(s->vain + 1, FAST_VAIN_BITS);
}

/* Somebody else wants it as well, or too few answer: that takes the helper. */
static void hand_over(struct bftm_fast *f)
{
	struct bftm_request *request = f->request;

	f->session->counters->lost++;
	give_back(f);
	bftm_upcall_requeue(f->session->bn, request);
}

static bool is_late(const struct bftm_fast *f, u64 boot_ns)
{
	u64 until = f->request->timeout_at_ns;

	return until && boot_ns >= until;
}

static void fast_won(struct bftm_fast *f, u64 now)
{
	const struct bftm_contender *c = f->client;
	struct bftm_session *s = f->session;
	struct bftm_request *request = f->request;
	struct bftm_result result = {
		.id = request->id,
		.lease_ns = c->want.lease_ns,
		.attempt = f->attempt,
		.attempts = c->rounds,
		.end_ns = s->protocol->client->end(c, &s->cfg),
		.token = c->want.fence ? c->token : 0,
		.configuration = s->configuration,
		.sends = c->sends,
	};

	if (result.end_ns <= now || is_late(f, ktime_get_boottime_ns())) {
		hand_over(f);
		return;
	}
	result.deadline_ns = bftm_clock_deadline(result.end_ns);
	memcpy(result.cluster, s->cluster, sizeof(result.cluster));
	forget_client(f);
	not_due(f);
	s->counters->won++;
	bftm_upcall_won(s->bn, request, &result);
}

/*
 * No YIELD is sent: if this wins, whoever adopts the lock would have to know of one that is
 * under way, as the server says FREE until it arrives and then gives the lock to another. Grants
 * that are not yielded are not counted here all the same; an attempt that loses gives them back
 * with all the rest.
 */
static void fast_obey(struct bftm_fast *f, const struct bftm_out *out, u64 now)
{
	const struct bftm_contender *c = f->client;
	struct bftm_msg msg;
	u32 i, sent;

	if (out->verdict == BFTM_WON && out->said_locked)
		f->session->watch = FAST_WATCH;
	for (i = 0; i < out->count; i++) {
		if (out->send[i].type == BFTM_MSG_YIELD)
			continue;
		/* All hear the same, since none of these has a value. */
		sent = send(f, bftm_contender_message(c, &out->send[i], out->send[i].to, &msg),
			    &msg);
		if (msg.type == BFTM_MSG_TRY)
			f->sent |= sent;
	}
	/* Too few can be asked to win: what hinders them hardly goes by waiting. */
	if (c->sends == 1 && bftm_out_to(out, BFTM_MSG_TRY) && !enough(f, f->sent) &&
	    c->asking.asked == bftm_all(f->session->cfg.n)) {
		in_vain(f);
		hand_over(f);
		return;
	}
	if (out->verdict == BFTM_WON)
		fast_won(f, now);
	else if (out->verdict != BFTM_PENDING)
		hand_over(f);
	else
		wake_at(f, c->wake_ns);
}

static struct bftm_fast *fast_new(struct bftm_session *s, struct bftm_request *request)
{
	struct bftm_fast *f = kmalloc(sizeof(*f), GFP_ATOMIC | __GFP_NOWARN);

	if (!f)
		return NULL;
	f->client = kzalloc(s->protocol->client->size(s->cfg.n), GFP_ATOMIC | __GFP_NOWARN);
	if (!f->client) {
		kfree(f);
		return NULL;
	}
	f->session = s;
	f->request = request;
	f->attempt = atomic64_add_return(2, (atomic64_t *)&s->counters->attempt) |
		     BFTM_ATTEMPT_KERNEL;
	f->name_len = request->arg.name_len;
	memcpy(f->name, request->arg.name, f->name_len);
	f->heard = 0;
	f->sent = 0;
	f->inquired = 0;
	f->lock = s->cfg.ask ? bftm_ask_lock(f->name, f->name_len) : 0;
	hash_add(s->bn->upcall->tables->fast, &f->by_attempt, f->attempt);
	list_add_tail(&f->list, &s->all);
	timerqueue_init(&f->due);
	s->asking++;
	s->count++;
	request->fast = f;
	bftm_created("fast", f);
	return f;
}

bool bftm_fast_begin(struct bftm_net *bn, struct bftm_request *request)
{
	const struct bftm_acquire *arg = &request->arg;
	struct bftm_session *s = bftm_session_find(bn, arg->cluster);
	struct bftm_want want = {
		.wait = BFTM_WAIT_NOT,
		.mode = BFTM_MODE_EX,
		.fence = arg->flags & BFTM_FENCE,
	};
	struct bftm_fast *f;
	struct bftm_out out;
	u64 now;

	lockdep_assert_held(&bn->upcall->lock);
	/*
	 * Others may hold the lock beside a mode other than EX, and the helper knows of those. It
	 * knows values, too, and tells servers that restart of all that is held without a lease.
	 */
	if (arg->flags & BFTM_NO_LEASE)
		return false;
	if (!s || request->submission || arg->mode != BFTM_LOCK_EX || request->value)
		return false;
	/* The helper has locks of such names for itself, objects': it orders these. */
	if (!arg->name[arg->name_len - 1])
		return false;
	want.lease_ns = arg->lease_ns ?: s->lease_ns;
	if (want.lease_ns > s->lease_max_ns)
		return false;
	if (s->asking * s->cfg.n >= FAST_ASKING_MAX || s->count >= FAST_MAX)
		return false;
	if (s->watch) {
		s->watch--;
		return false;
	}
	f = fast_new(s, request);
	if (!f)
		return false;
	want.lock = f->lock;
	now = bftm_clock_ns();
	s->protocol->client->start(f->client, &s->cfg, &want, f->attempt, now, &out);
	fast_obey(f, &out, now);
	return true;
}

void bftm_fast_end(struct bftm_request *request)
{
	give_back(request->fast);
}

void bftm_fast_leave(struct bftm_request *request)
{
	fast_free(request->fast);
}

static void entrust_held(struct bftm_fast *f)
{
	struct bftm_request *request = f->request;
	struct bftm_net *bn = f->session->bn;

	fast_free(f);
	bftm_upcall_held(bn, request);
}

void bftm_fast_entrust(struct bftm_request *request)
{
	if (request->fast->client)
		hand_over(request->fast);
	else
		entrust_held(request->fast);
}

bool bftm_fast_retire(struct bftm_session *s)
{
	struct bftm_fast *f, *next;
	u32 done = 0;

	list_for_each_entry_safe(f, next, &s->all, list) {
		if (done >= RETIRE_BATCH)
			return true;
		done++;
		if (f->request && !f->client) {
			entrust_held(f);
			continue;
		}
		if (f->client) {
			hand_over(f);
			done += s->cfg.n;
		}
		/* Servers were told at least once of each lock that is given back. */
		fast_free(f);
	}
	return false;
}

unsigned int bftm_fast_ring(struct timerqueue_node *due, u64 boot_ns)
{
	struct bftm_fast *f = container_of(due, struct bftm_fast, due);
	const struct bftm_client_cfg *cfg = &f->session->cfg;
	u64 now = bftm_clock_ns();
	struct bftm_out out;
	u32 to;

	if (f->client && !is_late(f, boot_ns) &&
	    (f->client->sends < FAST_SENDS || now < f->client->wake_ns)) {
		/* Nothing, when it was woken too early. */
		f->session->protocol->client->wake(f->client, cfg, now, 0, 0, &out);
		fast_obey(f, &out, now);
		return 1 + cfg->n;
	}
	if (f->client) {
		if (!is_late(f, boot_ns))
			in_vain(f);
		hand_over(f);
		return 1 + cfg->n;
	}
	to = bftm_release_wake(&f->release, cfg, now);
	send_release(f, to);
	if (to || now < f->release.wake_ns)	/* or woken too early */
		wake_at(f, f->release.wake_ns);
	else
		fast_free(f);
	return 1 + hweight32(to);
}

u64 bftm_fast_pause(const struct bftm_fast *f, u64 lease_ns)
{
	return lease_ns / (f->session->cfg.ask ? 8 : 4);
}

/*
 * As bftm_hold_inquired(): EX excludes all that a server may ask for. The helper tells all servers
 * that it is held, when it takes the lock over.
 */
static void fast_inquired(struct bftm_fast *f, u32 u)
{
	struct bftm_handle *h = f->request->handle;

	f->inquired |= BIT(u);
	if (hweight32(f->inquired) > f->session->cfg.b)
		bftm_handle_wanted(h, BFTM_LOCK_EX);
	if (f->session->cfg.ask && h->renew_at_ns) {
		h->renew_at_ns = ktime_get_boottime_ns();
		bftm_handle_arm(h);
	}
}

static void fast_answer(struct bftm_fast *f, u32 u, const struct bftm_msg *msg)
{
	struct bftm_out out;
	u64 now;

	if (f->client) {
		now = bftm_clock_ns();
		/* The random bits are for a sleep, and this one does not. */
		f->session->protocol->client->answer(f->client, &f->session->cfg, u, msg, now, 0,
						    &out);
		fast_obey(f, &out, now);
		return;
	}
	/* Too late to win by, and in time perhaps: such a server is not suspected. */
	if (msg->type != BFTM_MSG_RELEASED)
		bftm_ask_late(&f->session->cfg, f->request ? &f->late : &f->release.late, u, msg,
			      bftm_clock_ns());
	if (f->request) {
		if (msg->type == BFTM_MSG_LOCKED)
			f->session->watch = FAST_WATCH;
		else if (msg->type == BFTM_MSG_INQUIRE)
			fast_inquired(f, u);
	} else if (msg->type == BFTM_MSG_RELEASED &&
		   bftm_release_answer(&f->release, &f->session->cfg, u)) {
		fast_free(f);
	}
}

bool bftm_fast_answer(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_fast *f;

	lockdep_assert_held(&up->lock);
	f = fast_find(up, s, msg->attempt);
	if (!f)
		return false;
	/* A liar may put the attempt of one lock under another's name. */
	if (f->name_len == msg->name_len && !memcmp(f->name, msg->name, f->name_len)) {
		f->heard |= BIT(u);
		if (enough(f, f->heard))
			s->vain = 0;
		fast_answer(f, u, msg);
	}
	return true;
}
