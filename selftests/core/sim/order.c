// SPDX-License-Identifier: GPL-2.0
/* The ordering protocol in the simulator: where it meets what is for all protocols. */
#include "core/backoff/protocol.h"
#include "order.h"
#include "story.h"

/* The draw of n without signed ranks. */
const struct protocol protocol_order = {
	.name = "order",
	.what = "kmod/core: the ordering protocol of Section 6",
	.orders = true,
	.core = &bftm_backoff,	/* of locks that nobody asks for */
};

void order_start(struct world *w)
{
	const struct plan *p = w->plan;
	struct order *o = arena_take(&w->arena, sizeof(*o));

	w->order = o;
	o->cfg = (struct bftm_order_cfg){
		.n = p->n, .b = p->b, .signed_ranks = p->order.signed_ranks,
		.resend_ns = p->resend, .limit_ns = p->order.limit,
	};
	o->server = arena_array(&w->arena, struct order_server, p->n);
	o->client = arena_array(&w->arena, struct order_client, p->clients);
}

static bool is_alive(const struct world *w, const struct event *e)
{
	return w->client[e->to].up && w->client[e->to].stamp == e->stamp;
}

void order_event(struct world *w, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_ORDER_TO_SERVER:
		order_fault_keep(w, e->to, e->packet);
		order_server_receive(w, e->to, e->packet);
		packet_drop(w, e->packet);
		break;
	case EVENT_ORDER_TO_CLIENT:
		order_client_receive(w, e->to, e->from, e->packet);
		packet_drop(w, e->packet);
		break;
	case EVENT_ORDER_WAKE:
		if (is_alive(w, e) && w->order->client[e->to].wake_at <= e->at)
			order_client_wake(w, e->to);
		break;
	default:
		if (is_alive(w, e))
			order_app_act(w, e->to);
	}
}

void order_heal(struct world *w)
{
	order_app_heal(w);
}

void order_finish(struct world *w)
{
	if (w->end == NEVER)
		w->end = w->now + 4 * w->plan->delta;
}
