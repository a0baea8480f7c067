// SPDX-License-Identifier: GPL-2.0
/* Lines 2.8–31: the shell around one iteration after the other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "kernel/upcall.h"

#define PAUSE_DOUBLINGS_MAX	4
/* Without the kernel. */
#define RETRY_NS		(100 * BFTM_NS_PER_MS)

static void obey(struct bftm_order_work *w, const struct bftm_order_out *out);

static bool under_way(const struct bftm_order_work *w)
{
	return w->order.phase != BFTM_ORDER_IDLE;
}

static void send_get(struct bftm_order_work *w, u32 to)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET,
		.rank = w->order.rank,
		.room = bftm_order_room(&w->order),
		.from = w->from,
	};
	u8 signature[BFTM_SIGNATURE_LEN];

	if (bftm_rank_sign(w, signature)) {
		msg.data = signature;
		msg.data_len = sizeof(signature);
	}
	bftm_order_send(w, to, &msg);
}

static void send_state(struct bftm_order_work *w, u8 type, u32 to, bool with_body)
{
	struct bftm_order_msg msg = {
		.type = type,
		.rank = w->order.rank,
		.id = w->order.next,
		.room = BFTM_ORDER_ROOM_MIN,
	};

	if (with_body) {
		msg.data = w->next.data;
		msg.data_len = (u16)w->next.id.len;
	}
	if (to)
		bftm_order_send(w, to, &msg);
}

/* With the body, or after it, as struct bftm_order_out says. */
static void send_phase(struct bftm_order_work *w, u8 type, u32 to)
{
	const struct bftm_order *o = &w->order;
	u32 need = to;

	if (type == BFTM_ORDER_GET) {
		send_get(w, to);
		return;
	}
	if (!o->next.len)
		need = 0;	/* σ0 has none */
	else if (type == BFTM_ORDER_COMMIT ||
		 (type == BFTM_ORDER_PROPOSE && !o->applies &&
		  o->next.len > BFTM_ORDER_DATA_MAX))
		need &= o->bodyless;
	if (o->next.len <= BFTM_ORDER_DATA_MAX) {
		send_state(w, type, need, true);
		send_state(w, type, to & ~need, false);
		return;
	}
	if (need && (w->put_state.data != w->next.data ||
		     !bftm_body_same(&w->put_state.id, &w->next.id)))
		bftm_put_begin(&w->put_state, &w->next.id, w->next.data);
	need &= ~w->put_state.stored;
	w->owed = (w->owed & ~to) | need;
	bftm_put_to(w, &w->put_state, need);
	send_state(w, type, to & ~need, false);
}

static u8 message_of(enum bftm_order_phase phase)
{
	switch (phase) {
	case BFTM_ORDER_GETTING:
		return BFTM_ORDER_GET;
	case BFTM_ORDER_PROPOSING:
		return BFTM_ORDER_PROPOSE;
	case BFTM_ORDER_COMMITTING:
		return BFTM_ORDER_COMMIT;
	case BFTM_ORDER_INSTALLING:
		return BFTM_ORDER_INSTALL;
	default:
		return 0;
	}
}

void bftm_iterate_stored(struct bftm_order_work *w, u32 u)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);
	const struct bftm_order *o = &w->order;

	if (o->phase == BFTM_ORDER_MAKING) {
		if (bftm_count(w->put_state.stored) >= bftm_order_quorum(cfg->n, cfg->b))
			bftm_iterate_made(w, true);
		return;
	}
	/* An older iteration is abandoned, whatever was owed to whom. */
	if (w->owed >> u & 1 && under_way(w) && bftm_now() - o->begun_ns < cfg->limit_ns)
		send_state(w, message_of(o->phase), 1u << u, false);
	w->owed &= ~(1u << u);
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

void bftm_iterate_again(struct bftm_order_work *w, u32 u)
{
	u8 type = message_of(w->order.phase);

	if (type && !(w->order.answered >> u & 1))
		send_phase(w, type, 1u << u);
}

static void pause_for(struct bftm_order_work *w, u64 limit_ns)
{
	w->not_before_ns = bftm_now() + (limit_ns ? bftm_random(limit_ns) : 0);
}

/* Does the last known state reflect the operation under way? */
static void note_settled(struct bftm_order_work *w)
{
	struct bftm_applied a;

	if (!w->op || w->settled || !w->state.data ||
	    !bftm_state_find(w->state.data, w->ordering->identity->client, &a) ||
	    a.op != w->op)
		return;
	w->settled = true;
	bftm_submit_poll(w);
}

static void committed(struct bftm_order_work *w)
{
	bftm_order_totals.committed++;
	w->pauses = 0;
	if (w->ordering->version < w->order.next.version)
		w->ordering->version = w->order.next.version;
	if (w->next.data)
		bftm_make_keep(w, &w->next);
	note_settled(w);
}

static void timed_out(struct bftm_order_work *w)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);

	bftm_order_totals.slow++;
	if (bftm_count(w->order.answered) < bftm_order_quorum(cfg->n, cfg->b) &&
	    !w->unreachable_ns)
		w->unreachable_ns = bftm_now();
	pause_for(w, w->pauses ? cfg->resend_ns << w->pauses : 0);
	if (w->pauses < PAUSE_DOUBLINGS_MAX)
		w->pauses++;
}

static void denied(struct bftm_order_work *w, u32 reason)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);

	pause_for(w, cfg->resend_ns << PAUSE_DOUBLINGS_MAX);
	w->ordering->restarted = 0;
	/* Their limit is lower than ours: less fits, and requests get EMSGSIZE. */
	if (reason == BFTM_REFUSED_STATE && w->next.data && w->next.id.len <= w->limit)
		w->limit = w->next.id.len - 1;
	else
		bftm_submit_denied(w, reason);
}

static void begin(struct bftm_order_work *w, bool refresh)
{
	struct bftm_order_out out;

	bftm_make_stop(w);
	bftm_put_stop(&w->put_state);
	w->owed = 0;
	w->awaits = false;
	w->first_seq = bftm_identity_seq(w->ordering->identity);
	bftm_order_totals.iterations++;
	bftm_order_begin(&w->order, bftm_order_cfg_of(w), refresh, bftm_now(), &out);
	obey(w, &out);
}

/* Nothing is under way, and nothing is to be done. */
static void rest(struct bftm_order_work *w)
{
	if (!w->op && bftm_order_pack(w)) {
		bftm_submit_begin(w);
		return;
	}
	if (w->op)
		return;		/* it polls */
	w->unreachable_ns = 0;	/* nobody asks, so nobody answers */
	bftm_order_unlock(w);
	bftm_make_stop(w);
	bftm_order_use(w, NULL);
}

static bool wants(const struct bftm_order_work *w)
{
	return w->op && !w->settled;
}

/* INSTALL was sent, but for a long body; it need not be waited for. */
static bool may_be_cut_short(const struct bftm_order_work *w)
{
	return w->order.phase == BFTM_ORDER_INSTALLING && wants(w) &&
	       w->order.next.len <= BFTM_ORDER_DATA_MAX;
}

/* The response should have come, or servers are to be told what they lost. */
static bool wants_refresh(const struct bftm_order_work *w)
{
	return (w->op && w->settled && w->submits >= BFTM_POLLS_MAX) || w->refresh;
}

static void next_iteration(struct bftm_order_work *w)
{
	bool refresh = wants_refresh(w);

	if (w->making)
		return;		/* a program runs: bftm_iterate_ran() */
	if (!wants(w) && !refresh) {
		rest(w);
		return;
	}
	if (!bftm_upcall_is_open()) {
		bftm_timer_arm(&w->wake, bftm_now() + RETRY_NS);
		return;
	}
	if (!bftm_order_may(w))
		return;
	if (bftm_now() < w->not_before_ns) {
		bftm_timer_arm(&w->wake, w->not_before_ns);
		return;
	}
	w->refresh = false;
	w->submits = refresh && w->settled ? 0 : w->submits;
	begin(w, refresh);
}

/* Half of an answer's way is over: whoever recovers may still say so. */
static void make(struct bftm_order_work *w)
{
	const struct bftm_order *o = &w->order;
	u64 until = o->begun_ns + bftm_order_cfg_of(w)->resend_ns;

	w->awaits = o->phase == BFTM_ORDER_MAKING && bftm_now() < until &&
		    bftm_refresh_awaited(w) & ~o->answered & ~o->recovering;
	bftm_timer_arm(&w->wake, w->awaits ? until : o->wake_ns);
	if (!w->awaits)
		bftm_make(w);
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
	if (w->awaits) {
		make(w);
		return;
	}
	bftm_order_wake(&w->order, bftm_order_cfg_of(w), bftm_now(), &out);
	obey(w, &out);
}

/* Do what the core says. */
static void obey(struct bftm_order_work *w, const struct bftm_order_out *out)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);

	if (out->verdict == BFTM_ORDER_DONE)
		committed(w);
	if (out->send && out->to)
		send_phase(w, out->send, out->to);
	switch (out->verdict) {
	case BFTM_ORDER_ON:
	case BFTM_ORDER_DONE:
		break;
	case BFTM_ORDER_MAKE:
		w->unreachable_ns = 0;
		make(w);
		return;
	case BFTM_ORDER_OUTRANKED:
		bftm_order_totals.outranked++;
		bftm_order_met(w);
		pause_for(w, w->lock == BFTM_ORDER_LOCKED ? cfg->resend_ns / 16 :
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
		/* What it says of ranks is for the next iteration. */
		if (msg->type == BFTM_ORDER_EXCEPTION)
			bftm_order_answer(&w->order, bftm_order_cfg_of(w), u, msg, genuine,
					  bftm_now(), &out);
		return;
	}
	if (msg->type == BFTM_ORDER_NEEDBODY && bftm_body_same(&msg->id, &w->put_state.id))
		w->put_state.stored &= ~(1u << u);	/* it has lost what it stored */
	bftm_order_answer(&w->order, bftm_order_cfg_of(w), u, msg, genuine, bftm_now(), &out);
	if (w->awaits && out.verdict == BFTM_ORDER_ON && under_way(w))
		make(w);
	else if (out.send || out.verdict != BFTM_ORDER_ON || !under_way(w))
		obey(w, &out);
}

void bftm_iterate_refused(struct bftm_order_work *w, u32 u, u32 reason)
{
	struct bftm_order_out out;

	bftm_order_refused(&w->order, bftm_order_cfg_of(w), u, reason, bftm_now(), &out);
	if (out.verdict != BFTM_ORDER_ON)
		obey(w, &out);
}

void bftm_iterate_made(struct bftm_order_work *w, bool made)
{
	struct bftm_order_out out;

	if (w->order.phase != BFTM_ORDER_MAKING)
		return;
	if (made) {
		bftm_order_made(&w->order, bftm_order_cfg_of(w), &w->next.id, bftm_now(), &out);
		obey(w, &out);
		return;
	}
	bftm_order_unmade(&w->order);
	/* What nothing can be applied to was committed. */
	if (w->order.applies)
		note_settled(w);
	pause_for(w, bftm_order_cfg_of(w)->resend_ns);
	bftm_timer_arm(&w->wake, 0);
}

void bftm_iterate_ran(struct bftm_order_work *w, bool made)
{
	if (!made)
		pause_for(w, bftm_order_cfg_of(w)->resend_ns);
	bftm_timer_arm(&w->wake, 0);
}
