// SPDX-License-Identifier: GPL-2.0
/* Lines 2.8–31: the shell around one iteration after the other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "kernel/upcall.h"
#include "text/shown.h"

#define PAUSE_DOUBLINGS_MAX	4
/* Without the kernel. */
#define RETRY_NS		(100 * BFTM_NS_PER_MS)

static void iteration_obey(struct bftm_order_work *w, const struct bftm_order_out *out);

static bool under_way(const struct bftm_order_work *w)
{
	return w->order.phase != BFTM_ORDER_IDLE;
}

void bftm_iterate_interrupt(struct bftm_order_work *w)
{
	if (!under_way(w))
		return;
	bftm_order_totals.interrupted++;
	bftm_order_unmade(&w->order);
	bftm_make_stop(w);
	bftm_timer_arm(&w->wake, 0);
}

static void pause_for(struct bftm_order_work *w, u64 limit_ns)
{
	w->iterate.not_before_ns = bftm_now() + (limit_ns ? bftm_random(limit_ns) : 0);
}

static void note_settled(struct bftm_order_work *w)
{
	if (!w->submit.settled && bftm_order_is_in(w, &w->make.state))
		bftm_submit_settled(w);
}

static void iteration_committed(struct bftm_order_work *w)
{
	bftm_order_totals.committed++;
	w->iterate.pauses = 0;
	w->iterate.behind = false;
	if (w->ordering->version < w->order.next.version)
		w->ordering->version = w->order.next.version;
	if (w->make.next.data)
		bftm_make_keep(w, &w->make.next);
	if (bftm_order_is_in(w, &w->make.state))
		bftm_submit_committed(w);
}

/* Servers that answer about locks, and not about the object; a long state may be on its way. */
static u32 mute_servers(const struct bftm_order_work *w)
{
	return bftm_health_able(w->cluster) &
	       ~(w->order.answered | w->order.recovering | w->iterate.owed);
}

/*
 * The object cannot be had: the servers that know it and answer are too few. The others have lost
 * their memory of it, or are silent about it, as a server is whose journal nothing writes.
 */
static void note_lost(struct bftm_order_work *w)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);
	u32 most = cfg->n - bftm_order_quorum(cfg->n, cfg->b), u;
	u32 forgot = w->order.recovering & ~w->order.answered;
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)], list[128];
	struct bftm_cluster *cl = w->cluster;
	bool lost = bftm_count(forgot) > most;
	u32 named = lost ? forgot : mute_servers(w);

	/* One answer that is missing may be a restart of which health has yet to hear. */
	if (!named || cfg->n - bftm_count(w->order.answered) <= most ||
	    (!lost && !w->iterate.pauses))
		return;
	for (u = 0; u < cfg->n; u++)
		if (named >> u & 1)
			*(lost ? &cl->peer[u].forgot_ns : &cl->peer[u].mute_ns) = bftm_now();
	if (!bftm_due(lost ? &cl->forgot_ns : &cl->mute_ns, BFTM_SAID_AGAIN_NS))
		return;
	bftm_shown(w->ordering->name, w->ordering->len, name, sizeof(name));
	bftm_health_names(cl, named, list, sizeof(list));
	bftm_log(LOG_WARNING, lost ?
		 "cluster %s: object '%s' cannot be had: %s have lost their memory of objects, and the others are too few; see \"When objects are lost\" in operating.rst" :
		 "cluster %s: object '%s' cannot be had: no answer about it from %s, and the others are too few; 'bftmutexctl check --server' there may tell why",
		 cl->conf.name, name, list);
}

static void timed_out(struct bftm_order_work *w)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);

	bftm_order_totals.slow++;
	note_lost(w);
	if (bftm_count(w->order.answered) < bftm_order_quorum(cfg->n, cfg->b) &&
	    !w->iterate.unreachable_ns)
		w->iterate.unreachable_ns = bftm_now();
	pause_for(w, w->iterate.pauses ? cfg->resend_ns << w->iterate.pauses : 0);
	if (w->iterate.pauses < PAUSE_DOUBLINGS_MAX)
		w->iterate.pauses++;
}

static void denied(struct bftm_order_work *w, u32 reason)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);

	pause_for(w, cfg->resend_ns << PAUSE_DOUBLINGS_MAX);
	w->ordering->restarted = 0;
	/* Their limit is lower than ours: less fits, and requests get EMSGSIZE. */
	if (reason != BFTM_REFUSED_STATE || !bftm_make_lower(w))
		bftm_submit_denied(w, reason);
}

/*
 * A rank that another host used, or gave up, outranks the first GET of a host that is alone. That is no
 * contention yet: it tries once more at once. Return: false when another is there.
 */
static bool is_only_behind(struct bftm_order_work *w)
{
	bool again = w->iterate.asked && !w->iterate.behind && bftm_order_alone(w);

	w->iterate.behind = again;
	return again;
}

static void iteration_begun(struct bftm_order_work *w)
{
	bftm_make_stop(w);
	bftm_put_stop(&w->iterate.put);
	w->iterate.owed = 0;
	w->iterate.awaits = false;
	w->iterate.held = false;
	w->iterate.first_seq = bftm_identity_seq(w->ordering->identity);
	bftm_order_totals.iterations++;
}

static void iteration_begin(struct bftm_order_work *w, bool refresh)
{
	struct bftm_order_out out;

	iteration_begun(w);
	bftm_order_begin(&w->order, bftm_order_cfg_of(w), refresh, bftm_now(), &out);
	iteration_obey(w, &out);
}

/* Nothing is under way, and nothing is to be done. */
static void rest(struct bftm_order_work *w)
{
	if (!w->submit.op && bftm_order_pack(w)) {
		bftm_submit_begin(w);
		return;
	}
	if (w->submit.op)
		return;		/* it polls */
	w->iterate.unreachable_ns = 0;	/* nobody asks, so nobody answers */
	w->iterate.behind = false;
	bftm_order_unlock(w);
	bftm_make_stop(w);
	bftm_order_use(w, NULL);
}

/* INSTALL was sent, but for a long body; it need not be waited for. */
static bool may_be_cut_short(const struct bftm_order_work *w)
{
	return w->order.phase == BFTM_ORDER_INSTALLING &&
	       (bftm_order_wants(w) || (!w->submit.op && bftm_order_request_waits(w))) &&
	       w->order.next.len <= BFTM_ORDER_DATA_MAX;
}

/* The response should have come, or servers are to be told what they lost. */
static bool wants_refresh(const struct bftm_order_work *w)
{
	return w->iterate.refresh || (w->submit.op && w->submit.settled &&
				      w->submit.submits >= BFTM_POLLS_MAX);
}

static void next_iteration(struct bftm_order_work *w)
{
	bool refresh = wants_refresh(w);

	if (w->make.running)
		return;		/* a program runs: bftm_iterate_ran() */
	if (!bftm_order_wants(w) && !refresh) {
		rest(w);
		return;
	}
	if (!bftm_upcall_is_open()) {
		bftm_timer_arm(&w->wake, bftm_now() + RETRY_NS);
		return;
	}
	if (!bftm_order_may(w))
		return;
	if (bftm_now() < w->iterate.not_before_ns) {
		bftm_timer_arm(&w->wake, w->iterate.not_before_ns);
		return;
	}
	w->iterate.refresh = false;
	if (refresh)
		bftm_submit_polled(w);
	iteration_begin(w, refresh);
}

/* Half of an answer's way is over: whoever recovers may still say so. */
static void iteration_make(struct bftm_order_work *w)
{
	const struct bftm_order *o = &w->order;
	u64 until = o->begun_ns + bftm_order_cfg_of(w)->resend_ns;

	w->iterate.awaits = o->phase == BFTM_ORDER_MAKING && bftm_now() < until &&
		    bftm_refresh_awaited(w) & ~o->answered & ~o->recovering;
	bftm_timer_arm(&w->wake, w->iterate.awaits ? until : o->wake_ns);
	if (!w->iterate.awaits)
		bftm_make(w);
}

bool bftm_iterate_holds(const struct bftm_order_work *w)
{
	return w->iterate.held && w->order.phase == BFTM_ORDER_MAKING;
}

/* The response to the last operation should be here by now: half of its way is over. */
static void hold_back(struct bftm_order_work *w)
{
	u64 until = w->order.begun_ns + bftm_order_cfg_of(w)->resend_ns;

	if (!w->submit.op && bftm_order_pack(w)) {
		bftm_submit_begin(w);	/* and here again */
	} else if (bftm_order_wants(w)) {
		w->iterate.held = false;
		iteration_make(w);
	} else if (bftm_order_keeps_rank(w) && bftm_now() < until) {
		bftm_timer_arm(&w->wake, until);
	} else {
		bftm_order_unmade(&w->order);
		bftm_timer_arm(&w->wake, 0);
	}
}

void bftm_iterate(struct bftm_order_work *w)
{
	struct bftm_order_out out;

	if (!w->cluster)
		return;
	if (!under_way(w) || may_be_cut_short(w)) {
		next_iteration(w);
		return;
	}
	if (bftm_iterate_holds(w)) {
		hold_back(w);
		return;
	}
	if (w->iterate.awaits) {
		iteration_make(w);
		return;
	}
	bftm_order_wake(&w->order, bftm_order_cfg_of(w), bftm_now(), &out);
	iteration_obey(w, &out);
}

/* Do what the core says. */
static void iteration_obey(struct bftm_order_work *w, const struct bftm_order_out *out)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);
	bool failed = out->verdict != BFTM_ORDER_ON && out->verdict != BFTM_ORDER_DONE;

	if (out->verdict == BFTM_ORDER_DONE || out->verdict == BFTM_ORDER_DONE_MAKE)
		iteration_committed(w);
	if (out->send && out->to)
		bftm_phase_send(w, out->send, out->to);
	switch (out->verdict) {
	case BFTM_ORDER_ON:
	case BFTM_ORDER_DONE:
		break;
	case BFTM_ORDER_MAKE:
		w->iterate.unreachable_ns = 0;
		iteration_make(w);
		return;
	case BFTM_ORDER_DONE_MAKE:
		iteration_begun(w);
		bftm_order_totals.continued++;
		w->iterate.held = true;
		hold_back(w);
		return;
	case BFTM_ORDER_OUTRANKED:
		bftm_order_totals.outranked++;
		failed = !is_only_behind(w);
		if (!failed) {
			w->iterate.refresh |= w->order.refresh;
			break;
		}
		bftm_order_met(w);
		pause_for(w, w->mutex.state == BFTM_ORDER_LOCKED ? cfg->resend_ns / 16 :
							    cfg->resend_ns);
		break;
	case BFTM_ORDER_UNSURE:
		bftm_order_totals.unsure++;
		bftm_order_met(w);
		pause_for(w, cfg->resend_ns / 2);
		break;
	case BFTM_ORDER_TIMEOUT:
		timed_out(w);
		break;
	case BFTM_ORDER_DENIED:
		denied(w, out->refusal);
		break;
	}
	if (!under_way(w))
		bftm_make_stop(w);	/* what it applies may change now */
	if (failed)
		bftm_submit_show(w);
	if (under_way(w) && !may_be_cut_short(w))
		bftm_timer_arm(&w->wake, w->order.wake_ns);
	else
		bftm_timer_arm(&w->wake, 0);	/* not from here: we may be deep inside */
}

void bftm_iterate_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	bool genuine = msg->type == BFTM_ORDER_EXCEPTION && bftm_rank_genuine(w, u, msg);
	struct bftm_order_out out;

	if (!under_way(w)) {
		/* The rank that it shows is for the next iteration. */
		if (msg->type == BFTM_ORDER_EXCEPTION)
			bftm_order_answer(&w->order, bftm_order_cfg_of(w), u, msg, genuine,
					  bftm_now(), &out);
		return;
	}
	if (msg->type == BFTM_ORDER_NEEDBODY &&
	    bftm_body_same(&w->order.next, &w->iterate.put.id))
		w->iterate.put.stored &= ~(1u << u);	/* it has lost what it stored */
	w->iterate.asked = w->order.phase == BFTM_ORDER_GETTING;
	if (w->order.phase == BFTM_ORDER_PROPOSING)
		w->order.more = bftm_order_needs_more(w);
	bftm_order_answer(&w->order, bftm_order_cfg_of(w), u, msg, genuine, bftm_now(), &out);
	if (w->iterate.awaits && out.verdict == BFTM_ORDER_ON && under_way(w))
		iteration_make(w);
	else if (out.send || out.verdict != BFTM_ORDER_ON || !under_way(w))
		iteration_obey(w, &out);
}

void bftm_iterate_refused(struct bftm_order_work *w, u32 u, u32 reason)
{
	struct bftm_order_out out;

	bftm_order_refused(&w->order, bftm_order_cfg_of(w), u, reason, bftm_now(), &out);
	if (out.verdict != BFTM_ORDER_ON)
		iteration_obey(w, &out);
}

void bftm_iterate_made(struct bftm_order_work *w, bool made)
{
	struct bftm_order_out out;

	if (w->order.phase != BFTM_ORDER_MAKING)
		return;
	if (made) {
		bftm_order_made(&w->order, bftm_order_cfg_of(w), &w->make.next.id, bftm_now(), &out);
		iteration_obey(w, &out);
		return;
	}
	bftm_order_unmade(&w->order);
	/* That state was committed, and nothing can be applied to it. Any other may never be. */
	if (w->order.applies && bftm_body_same(&w->make.state.id, &w->order.base))
		note_settled(w);
	bftm_submit_show(w);
	pause_for(w, bftm_order_cfg_of(w)->resend_ns);
	bftm_timer_arm(&w->wake, 0);
}

void bftm_iterate_ran(struct bftm_order_work *w, bool made)
{
	if (!made)
		pause_for(w, bftm_order_cfg_of(w)->resend_ns);
	bftm_timer_arm(&w->wake, 0);
}

void bftm_iterate_refresh(struct bftm_order_work *w)
{
	w->iterate.refresh = true;
}
