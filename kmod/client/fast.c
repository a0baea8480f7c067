// SPDX-License-Identifier: GPL-2.0
/*
 * The rules are those of the core that the helper runs; here are its clock, its
 * numbers and its datagrams.
 *
 * Lifetime: an acquisition is reached through its request, its session and the table
 * of attempts, all under the upcall's lock, and goes from all of them at once. The
 * session's timer and the receive path hold that lock while they use it.
 *
 * Attempts of one lock are numbered in the order in which they begin, and this host has one at a
 * time: both sides draw from one counter, and no request for a lock begins here while another for
 * it is under way, in the kernel or at the helper. A request that comes while the kernel has the
 * lock waits behind it (local_queue.c), or both are the helper's from then on: bftm_fast_entrust().
 * That matters because servers take a RELEASE for the end of all attempts up to its number.
 */

#include "client/burst.h"
#include "client/choice.h"
#include "client/fast.h"
#include "client/handle.h"
#include "client/line.h"
#include "client/request.h"
#include "core/servers.h"
#include "debug.h"
#include "netns.h"
#include "time/clock.h"

/* Locks, each with up to 64 requests behind it, and datagrams that one hold of the lock handles. */
#define RETIRE_BATCH	8

static struct bftm_fast *fast_find(struct bftm_upcall *up, const struct bftm_session *s,
				   u64 attempt)
{
	struct bftm_fast *f;

	hash_for_each_possible(up->tables->fast, f, by_attempt, attempt)
		if (f->host.attempt == attempt && f->session == s)
			return f;
	return NULL;
}

/* The core is done with its part: of the attempt RELEASE is left. */
static void forget_client(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;

	if (!f->host.client)
		return;
	s->prio = max(s->prio, f->host.core->seen(f->host.client, &s->cfg));
	f->host.client = NULL;
	f->unsent.to = 0;
}

static void fast_free(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;

	lockdep_assert_held(&s->bn->upcall->lock);
	hash_del(&f->by_attempt);
	list_del(&f->list);
	bftm_alarm_clear(f->alarms, &f->due);
	forget_client(f);
	if (f->request)
		f->request->fast = NULL;
	if (!--s->count && bftm_session_is_orphan(s))
		bftm_sessions_look(s->bn->upcall);
	bftm_destroyed("fast", f);
	bftm_fast_discard(f);
}

/* Every answer comes here, but few answers change the time of the next step. */
static bool is_armed(const struct bftm_fast *f)
{
	return !RB_EMPTY_NODE(&f->due.node) && !f->unsent.to && f->host.due_ns &&
	       f->armed_ns == f->host.due_ns && f->armed_state == f->host.state;
}

static void choose_alarms(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;
	struct bftm_alarms *alarms = f->host.state == BFTM_HOST_HOLD ? &s->renewals : &s->alarms;

	if (alarms != f->alarms)
		bftm_alarm_clear(f->alarms, &f->due);
	f->alarms = alarms;
}

static void fast_arm(struct bftm_fast *f)
{
	u64 at_ns;

	if (is_armed(f))
		return;
	choose_alarms(f);
	f->armed_ns = f->unsent.to ? 0 : f->host.due_ns;
	f->armed_state = f->host.state;
	at_ns = f->host.due_ns ? bftm_clock_timer(f->host.due_ns) : 0;
	if (f->unsent.to)
		at_ns = ktime_get_boottime_ns();
	if (f->host.state == BFTM_HOST_ASK)
		at_ns = min_not_zero(at_ns, f->request->timeout_at_ns);
	if (at_ns)
		bftm_alarm_set(f->alarms, &f->due, at_ns);
	else
		bftm_alarm_clear(f->alarms, &f->due);
}

static bool fast_send(struct bftm_fast *f, u32 to, struct bftm_msg *msg)
{
	msg->name_len = f->name_len;
	memcpy(msg->name, f->name, f->name_len);
	return bftm_burst_add(f->session, to, msg);
}

/*
 * All servers hear the same, since no message has a value. A message that finds no room is kept and
 * sent late, which to the protocol is a delay of the network; an earlier message that was kept is
 * lost then.
 */
static void send_one(struct bftm_fast *f, const struct bftm_send *send)
{
	struct bftm_msg msg __uninitialized;

	bftm_contender_message(f->host.client, send, send->to, &msg);
	if (!fast_send(f, send->to, &msg))
		f->unsent = *send;
}

static void send_unsent(struct bftm_fast *f)
{
	const struct bftm_send send = f->unsent;

	f->unsent.to = 0;
	if (send.to)
		send_one(f, &send);
}

static void send_all(struct bftm_fast *f, const struct bftm_out *out)
{
	struct bftm_msg msg __uninitialized;
	u32 i;

	for (i = 0; i < out->count; i++)
		send_one(f, &out->send[i]);
	if (!out->release_to)
		return;
	bftm_release_message(&f->host.release, out->release_to, &msg);
	if (!fast_send(f, out->release_to, &msg))
		bftm_host_unreleased(&f->host, bftm_clock_ns());
}

static bool is_late(const struct bftm_fast *f, u64 boot_ns)
{
	u64 until = f->request->timeout_at_ns;

	return until && boot_ns >= until;
}

/* The request has no attempt any more. */
static struct bftm_request *fast_detach(struct bftm_fast *f)
{
	struct bftm_request *request = f->request;

	forget_client(f);
	request->prio = f->session->prio;
	f->request = NULL;
	request->fast = NULL;
	return request;
}

/* Somebody else wants it as well, or too few answer: that takes the helper. */
static void fast_lost(struct bftm_fast *f)
{
	f->session->line->counters->lost++;
	bftm_local_entrust(f->session->bn, fast_detach(f));
}

static void fast_won(struct bftm_fast *f, u64 end_ns)
{
	const struct bftm_contender *c = f->host.client;
	struct bftm_session *s = f->session;
	struct bftm_request *request = f->request;
	struct bftm_result result = {
		.id = request->id,
		.lease_ns = c->want.lease_ns,
		.attempt = c->attempt,
		.attempts = c->rounds,
		.end_ns = end_ns,
		.deadline_ns = bftm_clock_deadline(end_ns),
		.token = c->want.fence ? c->token : 0,
		.configuration = s->configuration,
		.sends = c->sends,
	};

	memcpy(result.cluster, s->cluster, sizeof(result.cluster));
	s->line->counters->won++;
	bftm_upcall_won(s->bn, request, &result);
	if (bftm_local_next(request))
		bftm_handle_wanted(request->handle, request->arg.mode);
}

static void fast_renewed(struct bftm_fast *f, u64 end_ns)
{
	bftm_handle_renewed(f->request->handle, bftm_clock_deadline(end_ns), end_ns);
}

static void fast_time_out(struct bftm_fast *f);

/* The helper may have read another configuration before it hears of these servers. */
static void note_silent(struct bftm_fast *f)
{
	f->request->silent = bftm_host_silent(&f->host);
	f->request->configuration = f->session->configuration;
}

/* Do what the core says. The attempt may be gone afterwards. */
static void fast_obey(struct bftm_fast *f, const struct bftm_host_step *step)
{
	struct bftm_session *s = f->session;

	send_all(f, &step->out);
	if (step->unheard)
		bftm_choice_in_vain(s, f->host.client->begun_ns);
	else if (step->disputed)
		bftm_choice_disputed(s, BFTM_CHOICE_WATCH);
	else if (step->contested)
		bftm_choice_disputed(s, 1);
	fast_arm(f);
	switch (step->event) {
	case BFTM_HOST_NOTHING:
		break;
	case BFTM_HOST_WON:
		if (is_late(f, ktime_get_boottime_ns())) {
			fast_time_out(f);
			return;
		}
		fast_won(f, step->end_ns);
		break;
	case BFTM_HOST_RENEWED:
		fast_renewed(f, step->end_ns);
		break;
	case BFTM_HOST_LAPSED:
		note_silent(f);
		bftm_handle_check(f->request->handle);
		break;
	case BFTM_HOST_LOST:
		note_silent(f);
		fast_lost(f);
		break;
	case BFTM_HOST_OVER:
		if (!f->host.won_k)
			bftm_ended_note(&s->ended, f->host.attempt);
		fast_free(f);
		return;
	}
	if (f->host.state == BFTM_HOST_END)
		forget_client(f);
}

/* From now on nobody waits for it and nobody holds it. */
static void fast_give_back(struct bftm_fast *f, struct bftm_host_step *step)
{
	if (f->host.state == BFTM_HOST_END)
		return;
	note_silent(f);
	bftm_host_stop(&f->host, &f->session->cfg, f->request->doubt, bftm_clock_ns(), step);
	send_all(f, &step->out);
	fast_arm(f);
	forget_client(f);
}

static void hand_over(struct bftm_fast *f)
{
	struct bftm_host_step step __uninitialized;

	fast_give_back(f, &step);
	fast_lost(f);
}

/*
 * The time limit is over. The helper knows which servers are silent, and says so; only the kernel
 * knows here which servers lack tokens.
 */
static void fast_time_out(struct bftm_fast *f)
{
	struct bftm_session *s = f->session;
	bool lacks = f->host.core->lacks_tokens(f->host.client, &s->cfg);
	bool once = f->request->arg.flags & BFTM_TRY;
	struct bftm_request *request;
	struct bftm_host_step step __uninitialized;

	if (bftm_host_in_vain(&f->host, &s->cfg))
		bftm_choice_in_vain(s, f->host.client->begun_ns);
	fast_give_back(f, &step);
	request = fast_detach(f);
	if (lacks) {
		bftm_handle_failed(request->handle, -ENODATA);
		bftm_local_end(s->bn, request);
		return;
	}
	s->line->counters->lost++;
	if (once)
		bftm_local_entrust(s->bn, request);
	else
		bftm_local_expire(s->bn, request);
}

static struct bftm_fast *fast_new(struct bftm_session *s, struct bftm_request *request)
{
	struct bftm_fast *f = request->spare;

	if (!f || f->room < s->protocol->client->size(s->cfg.n))
		return NULL;
	request->spare = NULL;
	f->host.core = s->protocol->client;
	f->host.client->prio = s->prio;
	f->session = s;
	f->request = request;
	f->host.attempt = atomic64_add_return(2, (atomic64_t *)&s->line->counters->attempt) |
			  BFTM_ATTEMPT_KERNEL;
	f->name_len = request->arg.name_len;
	memcpy(f->name, request->arg.name, f->name_len);
	hash_add(s->bn->upcall->tables->fast, &f->by_attempt, f->host.attempt);
	list_add_tail(&f->list, &s->all);
	timerqueue_init(&f->due);
	f->alarms = &s->alarms;
	s->count++;
	request->fast = f;
	bftm_created("fast", f);
	return f;
}

bool bftm_fast_begin(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_host_step step __uninitialized;
	struct bftm_session *s;
	struct bftm_want want;
	struct bftm_fast *f;

	if (!bftm_choice_may(bn, request))
		return false;
	s = bftm_session_find(bn, request->arg.cluster);
	f = bftm_choice_takes(s) ? fast_new(s, request) : NULL;
	if (!f)
		return false;
	bftm_choice_want(s, request, &want);
	bftm_host_begin(&f->host, &s->cfg, &want, f->host.attempt, bftm_clock_ns(), &step);
	fast_obey(f, &step);
	return true;
}

void bftm_fast_end(struct bftm_request *request)
{
	struct bftm_fast *f = request->fast;
	struct bftm_host_step step __uninitialized;

	fast_give_back(f, &step);
	f->request = NULL;
	request->fast = NULL;
}

noinline_for_stack void bftm_fast_renew(struct bftm_request *request)
{
	struct bftm_fast *f = request->fast;
	struct bftm_host_step step __uninitialized;

	bftm_host_renew(&f->host, &f->session->cfg, bftm_clock_ns(), &step);
	fast_obey(f, &step);
}

/* See core/backoff/host.h. */
static void skip_yields(const struct bftm_fast *f)
{
	if (f->host.yielded)
		bftm_line_skip(f->session->line);
}

void bftm_fast_leave(struct bftm_request *request)
{
	struct bftm_fast *f = request->fast;
	struct bftm_session *s = f->session;

	request->sends = f->host.client->sends;
	skip_yields(f);
	fast_free(f);
	request->prio = s->prio;
}

static void entrust_held(struct bftm_fast *f)
{
	struct bftm_request *request = f->request;
	struct bftm_net *bn = f->session->bn;

	bftm_fast_leave(request);
	bftm_upcall_held(bn, request);
}

void bftm_fast_entrust(struct bftm_request *request)
{
	if (request->fast->host.state == BFTM_HOST_ASK)
		hand_over(request->fast);
	else
		entrust_held(request->fast);
}

/* Servers are told at least once of each lock that is given back. Return: is one told now? */
static bool fast_retire(struct bftm_fast *f)
{
	const struct bftm_upcall *up = f->session->bn->upcall;
	struct bftm_host_step step = {};

	switch (f->host.state) {
	case BFTM_HOST_HOLD:
		entrust_held(f);
		return false;
	case BFTM_HOST_ASK:
		hand_over(f);
		break;
	case BFTM_HOST_END:
		if (!f->host.release.sends)
			bftm_host_wake(&f->host, &f->session->cfg, f->host.due_ns, &step);
		send_all(f, &step.out);
		break;
	}
	fast_free(f);
	return up->burst->count;
}

bool bftm_fast_retire(struct bftm_session *s)
{
	struct bftm_fast *f, *next;
	u32 done = 0;

	list_for_each_entry_safe(f, next, &s->all, list)
		if (done++ >= RETIRE_BATCH || fast_retire(f))
			return true;
	return false;
}

/*
 * The core goes on with a lock only while both clocks say that it is held. A lock whose lease is
 * over is given back: then the core has no lock in HOLD any more. The core's @now is read before.
 */
static void check_held(struct bftm_fast *f)
{
	if (f->host.state == BFTM_HOST_HOLD)
		bftm_handle_check(f->request->handle);
}

/* A server refuses the request, or waits for members before it grants anything. */
static bool is_hindrance(const struct bftm_msg *msg)
{
	return (msg->type == BFTM_MSG_REFUSED && msg->arg != BFTM_REFUSED_UNNOTED) ||
	       (msg->type == BFTM_MSG_WAIT && !msg->position && msg->lease_ns == BFTM_LEASE_NONE);
}

/* Beside the silent servers too few are left to win by: the helper says which, and why. */
static bool is_hindered(const struct bftm_fast *f)
{
	const struct bftm_client_cfg *cfg = &f->session->cfg;
	u32 unable = f->hindering | bftm_host_silent(&f->host);

	return f->hindering && bftm_count(bftm_all(cfg->n) & ~unable) < bftm_win(cfg);
}

static void fast_ring(struct bftm_fast *f, u64 boot_ns)
{
	struct bftm_host_step step __uninitialized;
	u64 now = bftm_clock_ns();

	if (f->host.state == BFTM_HOST_ASK && is_late(f, boot_ns)) {
		fast_time_out(f);
		return;
	}
	if (f->host.state == BFTM_HOST_ASK && is_hindered(f)) {
		hand_over(f);
		return;
	}
	check_held(f);
	send_unsent(f);
	/* Nothing, when it was woken too early. */
	bftm_host_wake(&f->host, &f->session->cfg, now, &step);
	fast_obey(f, &step);
}

unsigned int bftm_fast_ring(struct timerqueue_node *due, u64 boot_ns)
	__must_hold(due)
{
	struct bftm_fast *f = container_of(due, struct bftm_fast, due);
	struct bftm_upcall *up = f->session->bn->upcall;
	struct bftm_burst burst __uninitialized;

	bftm_burst_begin(up, &burst);
	fast_ring(f, boot_ns);
	return max(bftm_burst_pause(up, &burst), 1U);
}

void bftm_fast_unsent(struct bftm_session *s, u64 attempt, u32 failed)
{
	struct bftm_fast *f = fast_find(s->bn->upcall, s, attempt);
	struct bftm_host_step step __uninitialized;

	lockdep_assert_held(&s->bn->upcall->lock);
	if (!f || f->host.state != BFTM_HOST_ASK)
		return;
	bftm_host_unsent(&f->host, &s->cfg, failed, bftm_clock_ns(), &step);
	fast_obey(f, &step);
}

static void fast_answer(struct bftm_fast *f, u32 u, const struct bftm_msg *msg)
{
	bool reached = bftm_host_reached(&f->host, &f->session->cfg);
	struct bftm_host_step step __uninitialized;
	u64 now = bftm_clock_ns();

	f->hindering &= ~(1u << u);
	if (is_hindrance(msg))
		f->hindering |= 1u << u;
	check_held(f);
	bftm_host_answer(&f->host, &f->session->cfg, u, msg, now, &step);
	/* Answers to one that was heard before say nothing of what is sent now. */
	if (!reached && bftm_host_reached(&f->host, &f->session->cfg))
		bftm_choice_heard(f->session, now);
	if (step.wanted)
		bftm_handle_wanted(f->request->handle, f->request->arg.mode);
	fast_obey(f, &step);
}

static noinline_for_stack void answer_uncounted(struct bftm_fast *f, u32 u, struct bftm_msg msg)
{
	if (bftm_discount(&msg))
		fast_answer(f, u, &msg);
}

static noinline_for_stack bool answer_unknown(struct bftm_session *s, u32 u,
					      const struct bftm_msg *msg)
{
	struct bftm_msg release __uninitialized;

	if (!bftm_ended_stray(&s->ended, msg, &release))
		return false;
	bftm_burst_add(s, BIT(u), &release);
	return true;
}

/* A liar may put the attempt of one lock under another's name. */
static bool is_named(const struct bftm_fast *f, const struct bftm_msg *msg)
{
	return f->name_len == msg->name_len && !memcmp(f->name, msg->name, f->name_len);
}

bool bftm_fast_answer(struct bftm_session *s, u32 u, const struct bftm_msg *msg, bool counts)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_fast *f;

	lockdep_assert_held(&up->lock);
	f = fast_find(up, s, msg->attempt);
	if (!f)
		return answer_unknown(s, u, msg);
	if (!is_named(f, msg))
		return true;
	if (counts)
		fast_answer(f, u, msg);
	else
		answer_uncounted(f, u, *msg);
	return true;
}

void bftm_fast_stale(struct bftm_session *s, u32 u, const struct bftm_msg *msg)
{
	struct bftm_fast *f = fast_find(s->bn->upcall, s, msg->attempt);
	struct bftm_host_step step __uninitialized;

	lockdep_assert_held(&s->bn->upcall->lock);
	if (!f || !is_named(f, msg))
		return;
	check_held(f);
	bftm_host_epoch(&f->host, &s->cfg, u, bftm_clock_ns(), &step);
	fast_obey(f, &step);
}
