// SPDX-License-Identifier: GPL-2.0
/* Each phase of an iteration has its message: GET, PROPOSE, COMMIT (and the next GET), INSTALL. */
#include "core/servers.h"
#include "order/ordering.h"

static void send_get(struct bftm_order_work *w, u32 to)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET,
		.rank = w->order.rank,
		.room = bftm_order_room(&w->order, BFTM_ORDER_GET),
		.from = w->make.from,
	};
	u8 signature[BFTM_SIGNATURE_LEN];

	if (bftm_rank_sign(w, &msg.rank, signature))
		msg.signature = signature;
	bftm_order_send(w, to, &msg);
}

static void send_state(struct bftm_order_work *w, u8 type, u32 to, bool with_body)
{
	struct bftm_order_msg msg = {
		.type = type,
		.rank = w->order.rank,
		.id = w->order.next,
	};
	u8 signature[BFTM_SIGNATURE_LEN];

	if (type == BFTM_ORDER_COMMIT_GET) {
		msg.then = bftm_order_then(&w->order);
		msg.room = bftm_order_room(&w->order, type);
		msg.from = w->make.from;
		if (bftm_rank_sign(w, &msg.then, signature))
			msg.signature = signature;
	} else if (bftm_order_cfg_of(w)->signed_ranks && type != BFTM_ORDER_INSTALL) {
		msg.room = BFTM_ORDER_PROOF_LEN;
	}
	if (with_body) {
		msg.data = w->make.next.data;
		msg.data_len = (u16)w->make.next.id.len;
	}
	if (to)
		bftm_order_send(w, to, &msg);
}

void bftm_phase_send(struct bftm_order_work *w, u8 type, u32 to)
{
	const struct bftm_order *o = &w->order;
	u32 need = to, most = BFTM_ORDER_DATA_MAX;

	if (type == BFTM_ORDER_GET) {
		send_get(w, to);
		return;
	}
	if (type == BFTM_ORDER_PROPOSE && bftm_order_is_in(w, &w->make.next))
		bftm_submit_proposed(w, to);
	if (type == BFTM_ORDER_COMMIT_GET)
		most = BFTM_ORDER_NEXT_DATA_MAX;
	if (!o->next.len)
		need = 0;	/* σ0 has none */
	else if (type == BFTM_ORDER_COMMIT || type == BFTM_ORDER_COMMIT_GET ||
		 (type == BFTM_ORDER_PROPOSE && !o->applies &&
		  o->next.len > BFTM_ORDER_DATA_MAX))
		need &= o->bodyless;
	if (o->next.len <= most) {
		send_state(w, type, need, true);
		send_state(w, type, to & ~need, false);
		return;
	}
	if (need && (w->iterate.put.data != w->make.next.data ||
		     !bftm_body_same(&w->iterate.put.id, &w->make.next.id)))
		bftm_put_begin(&w->iterate.put, &w->make.next.id, w->make.next.data);
	need &= ~w->iterate.put.stored;
	w->iterate.owed = (w->iterate.owed & ~to) | need;
	bftm_put_to(w, &w->iterate.put, need);
	send_state(w, type, to & ~need, false);
}

void bftm_phase_stored(struct bftm_order_work *w, u32 u)
{
	const struct bftm_order_cfg *cfg = bftm_order_cfg_of(w);
	const struct bftm_order *o = &w->order;

	if (o->phase == BFTM_ORDER_MAKING) {
		if (bftm_count(w->iterate.put.stored) >= bftm_order_quorum(cfg->n, cfg->b))
			bftm_iterate_made(w, true);
		return;
	}
	/* An older iteration is abandoned, whatever was owed to whom. */
	if (w->iterate.owed >> u & 1 && o->phase != BFTM_ORDER_IDLE &&
	    bftm_now() - o->begun_ns < cfg->limit_ns)
		send_state(w, bftm_order_message(o), 1u << u, false);
	w->iterate.owed &= ~(1u << u);
}

void bftm_phase_again(struct bftm_order_work *w, u32 u)
{
	u8 type = bftm_order_message(&w->order);

	if (type && !(w->order.answered >> u & 1))
		bftm_phase_send(w, type, 1u << u);
}
