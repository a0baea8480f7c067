// SPDX-License-Identifier: GPL-2.0
/* The sending half of the ordering thread, and pieces of bodies that do not fit a datagram. */
#include "order.h"
#include "story.h"

static void send_one(struct world *w, u32 x, u32 u, struct packet *p)
{
	struct order_client *o = &w->order->client[x];
	struct client *c = &w->client[x];

	if (o->dying) {
		packet_drop(w, p);
		return;
	}
	p->msg.cluster = 1;
	p->msg.client = x;
	p->msg.server = (u16)(u + 1);
	p->msg.server_epoch = c->peer[u].known.epoch;
	p->msg.seq = ++c->seq;
	p->msg.room = (u16)bftm_order_size(&p->msg);
	packet_send(w, TO_SERVER, u, p, w->now + c->lag);
}

void order_fetch(struct world *w, u32 x, u32 u, const struct bftm_body_id *id, u32 at)
{
	struct packet *p = packet_new(w, 0);

	p->msg = (struct bftm_order_msg){
		.type = BFTM_ORDER_FETCH, .id = *id, .offset = at,
	};
	send_one(w, x, u, p);
}

static void put_pieces(struct world *w, u32 x, u32 u, struct order_put *put)
{
	u64 now = client_look(w, &w->client[x]);
	u32 at;

	while ((at = bftm_transfer_next(&put->t, w->plan->resend, now)) != BFTM_TRANSFER_NONE) {
		struct packet *p = packet_new(w, 0);

		p->msg = (struct bftm_order_msg){
			.type = BFTM_ORDER_PUT, .id = put->body->id, .offset = at,
			.data = put->body->data + at,
			.data_len = (u16)bftm_transfer_len(&put->t, at),
		};
		send_one(w, x, u, p);
	}
}

void order_put(struct world *w, u32 x, u32 u, const struct bftm_body *body)
{
	struct order_put *put = &w->order->client[x].put[2 * u + !body->id.version];

	if (put->body != body) {
		w->order->client[x].putting = true;
		put->body = body;
		bftm_transfer_begin(&put->t, body->id.len);
	}
	put_pieces(w, x, u, put);
}

/* Is the request still wanted? Then it follows its body. */
static void follow(struct world *w, u32 x, u32 u, const struct bftm_body *body)
{
	struct order_client *o = &w->order->client[x];

	o->follows = true;
	if (body == o->body && o->op)
		order_say(w, x, BFTM_ORDER_SUBMIT, 1u << u);
	if (o->uploads && body == o->next && o->core.phase == BFTM_ORDER_MAKING) {
		o->stored |= 1u << u;
		if (bftm_count(o->stored) >= bftm_order_quorum(w->plan->n, w->plan->b))
			order_made(w, x);
	}
	if (body == o->next && o->core.phase >= BFTM_ORDER_PROPOSING &&
	    !(o->core.answered >> u & 1))
		order_say(w, x, bftm_order_message(&o->core), 1u << u);
	o->follows = false;
}

void order_put_stored(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct order_put *put = &w->order->client[x].put[2 * u + !msg->id.version];
	u64 now = client_look(w, &w->client[x]);
	const struct bftm_body *body = put->body;

	if (!body || !bftm_body_same(&body->id, &msg->id) ||
	    !bftm_transfer_piece(&put->t, msg->offset, w->plan->resend, now))
		return;
	if (!bftm_transfer_complete(&put->t)) {
		put_pieces(w, x, u, put);
		return;
	}
	put->body = NULL;
	follow(w, x, u, body);
}

u64 order_put_due(const struct world *w, u32 x)
{
	const struct order_client *o = &w->order->client[x];
	u64 due = NEVER;
	u32 i;

	for (i = 0; o->putting && i < 2 * w->plan->n; i++)
		if (o->put[i].body && o->put[i].t.wake_ns && o->put[i].t.wake_ns < due)
			due = o->put[i].t.wake_ns;
	return due;
}

void order_put_wake(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];
	u64 now = client_look(w, &w->client[x]);
	u32 i;

	for (i = 0; o->putting && i < 2 * w->plan->n; i++) {
		struct order_put *put = &o->put[i];

		if (!put->body || !put->t.wake_ns || now < put->t.wake_ns)
			continue;
		if (bftm_transfer_wake(&put->t, now))
			put_pieces(w, x, i / 2, put);
		else
			put->body = NULL;
	}
}

/* Is it a get, with which ranks are signed? */
static bool gets(u8 type)
{
	return type == BFTM_ORDER_GET || type == BFTM_ORDER_COMMIT_GET;
}

/* The content of each request, but for what is each server's own. */
static void fill(struct world *w, u32 x, u8 type, struct bftm_order_msg *msg)
{
	struct order_client *o = &w->order->client[x];

	*msg = (struct bftm_order_msg){ .type = type };
	if (type == BFTM_ORDER_SUBMIT) {
		msg->op = o->op;
		msg->id = o->body->id;
		msg->offset = o->vote.offset;
		msg->room = w->plan->order.response_room;
		return;
	}
	msg->rank = o->core.rank;
	if (gets(type)) {
		msg->room = bftm_order_room(&o->core, type);
		msg->from = (u32)rng_below(&w->rng[RNG_CLIENT], w->plan->clients);
	}
	if (type == BFTM_ORDER_COMMIT_GET)
		msg->then = bftm_order_then(&o->core);
	if (type != BFTM_ORDER_GET) {
		msg->id = o->core.next;
		if (w->order->cfg.signed_ranks && !gets(type) && type != BFTM_ORDER_INSTALL)
			msg->room = BFTM_ORDER_PROOF_LEN;
	}
}

/* The body that goes with a request to a server, or NULL. */
static const struct bftm_body *belongs(const struct world *w, u32 x, u8 type, u32 u)
{
	const struct order_client *o = &w->order->client[x];

	if (type == BFTM_ORDER_SUBMIT)
		return o->vote.offset ? NULL : o->body;
	if (type == BFTM_ORDER_PROPOSE || type == BFTM_ORDER_INSTALL ||
	    ((type == BFTM_ORDER_COMMIT || type == BFTM_ORDER_COMMIT_GET) &&
	     o->core.bodyless >> u & 1))
		return o->next;
	return NULL;
}

static void say_to(struct world *w, u32 x, u8 type, u32 u, const struct bftm_order_msg *msg)
{
	struct order_client *o = &w->order->client[x];
	const struct bftm_body *body = belongs(w, x, type, u);
	u32 most = type == BFTM_ORDER_COMMIT_GET ? BFTM_ORDER_NEXT_DATA_MAX : BFTM_ORDER_DATA_MAX;
	struct packet *p;

	if (body && body->id.len > most) {
		/* Others have it, or ask for it; or it has just been stored. */
		if (o->core.bodyless >> u & 1 && type != BFTM_ORDER_SUBMIT && !o->follows)
			order_put(w, x, u, body);
		body = NULL;
	}
	p = packet_new(w, gets(type) ? BFTM_SIGNATURE_LEN : 0);
	p->msg = *msg;
	if (body) {
		p->msg.data = body->data;
		p->msg.data_len = (u16)body->id.len;
	}
	if (gets(type) && w->order->cfg.signed_ranks) {
		order_sign(w, type == BFTM_ORDER_GET ? &msg->rank : &msg->then, p->data);
		p->msg.signature = p->data;
	}
	send_one(w, x, u, p);
}

/* A host may go down between two datagrams: most, some or few are out by then. */
static u32 told_by_the_dying(struct world *w, u32 x, u32 to)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u32 draw;

	if (!world_fault(w, FAULT_CRASH) || w->client[x].lag || bftm_count(to) < 2 ||
	    !rng_chance(r, w->plan->order.crash_send))
		return to;
	draw = (u32)rng_next(r);
	queue_push(&w->queue, w->now, EVENT_FAULT, x)->part = FAULTS;
	if (draw >> 31)
		return to & draw & (u32)rng_next(r) & (u32)rng_next(r);
	return to & draw;
}

void order_say(struct world *w, u32 x, u8 type, u32 to)
{
	struct order_client *o = &w->order->client[x];
	struct bftm_order_msg msg;
	u32 u, told;

	if (w->plan->order.subsets && !w->healed && type != BFTM_ORDER_SUBMIT)
		to &= order_fault_reached(w, x, type);
	told = told_by_the_dying(w, x, to);
	fill(w, x, type, &msg);
	if (type == BFTM_ORDER_SUBMIT) {
		tell_more(w, 0, "c%u sends operation %s to %s", x + 1, story_attempt(w, o->op),
			  story_servers(w, to));
	} else {
		tell_more(w, 0, "c%u says %s to %s", x + 1, story_iteration(&msg),
			  story_servers(w, to));
	}
	for (u = 0; u < w->plan->n; u++)
		if (told >> u & 1)
			say_to(w, x, type, u, &msg);
	o->dying |= told != to;
}
