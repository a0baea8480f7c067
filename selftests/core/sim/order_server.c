// SPDX-License-Identifier: GPL-2.0
/* A server of the ordering protocol around its core, as kmod/objects/objects.c. */
#include "core/serve.h"
#include "order.h"
#include "story.h"

static struct order_server *object_of(const struct world *w, u32 u)
{
	return &w->order->server[u];
}

void order_server_setup(struct world *w, u32 u)
{
	struct order_server *o = object_of(w, u);

	o->upload = arena_array(&w->arena, struct bftm_upload *, w->plan->clients);
	if (w->server[u].lies)
		order_liar_setup(w, u);
}

/* The rank of a client that is gone. */
static void has_seen(const struct world *w, struct bftm_object *o)
{
	o->max = order_past(w, w->plan->order.past);
	if (w->order->cfg.signed_ranks)
		order_sign(w, &o->max, o->signature);
}

/* Only the first start of all is before anything but ranks. */
void order_server_up(struct world *w, u32 u)
{
	struct order_server *o = object_of(w, u);

	bftm_object_init(&o->object, w->server[u].stamp != 0);
	if (!w->server[u].stamp && w->plan->order.past && w->plan->order.saw >> u & 1)
		has_seen(w, &o->object);
	memset(o->upload, 0, sizeof(o->upload[0]) * w->plan->clients);
}

bool order_may_crash(const struct world *w, u32 u)
{
	u32 n = w->plan->n, b = w->plan->b, i;

	/* Where the others are no quorum without it, it would stay without for ever. */
	if (n < bftm_order_quorum(n, b) + b + 1 && !w->server[u].lies)
		return false;
	for (i = w->plan->liars; i < n && !w->server[u].lies; i++)
		if (i != u && (!w->server[i].up || object_of(w, i)->object.recovering))
			return false;
	return true;
}

/* The body that a request names, from its data or from what came in pieces. */
static struct bftm_body *body_for(struct world *w, struct order_server *o,
				  const struct bftm_order_msg *req)
{
	const struct bftm_upload *up = o->upload[req->client];
	const u8 *data = NULL;
	u8 digest[BFTM_DIGEST_LEN];

	if (!bftm_object_wants(&o->object, req))
		return NULL;
	if (req->data)
		data = req->data;
	else if (up && bftm_body_same(&up->id, &req->id) && bftm_upload_complete(up))
		data = up->data;
	if (!data)
		return NULL;
	order_digest(data, req->id.len, digest);
	if (memcmp(digest, req->id.digest, sizeof(digest)))
		return NULL;
	return order_body_of(w, req->id.version, data, req->id.len);
}

/* More entries for those who wait, as often as they are needed. */
static void make_room(struct world *w, struct bftm_object *o)
{
	struct bftm_pendings *old = o->pend;
	u32 room = old ? 2 * old->room : 4;

	o->pend = arena_take(&w->arena, sizeof(*old) + room * sizeof(old->entry[0]));
	if (old)
		memcpy(o->pend, old, sizeof(*old) + old->room * sizeof(old->entry[0]));
	o->pend->room = room;
}

static void store(struct world *w, struct order_server *o, const struct bftm_order_msg *req,
		  struct bftm_order_msg *reply)
{
	struct bftm_upload *up = o->upload[req->client];

	if (req->id.len > BFTM_STATE_MAX || !req->id.len)
		return;
	if (!up || !bftm_body_same(&up->id, &req->id)) {
		up = arena_take(&w->arena, sizeof(*up));
		up->id = req->id;
		up->client = req->client;
		up->data = arena_take(&w->arena, req->id.len);
		o->upload[req->client] = up;
	}
	if (bftm_upload_take(up, req))
		reply->type = BFTM_ORDER_STORED;
}

static void push(struct world *w, u32 u, const struct bftm_pending *p)
{
	struct server *s = &w->server[u];
	struct packet *out = packet_new(w, p->room);

	bftm_order_response(&object_of(w, u)->object, p, out->data, &out->msg);
	if (out->msg.type == BFTM_MSG_NONE) {
		packet_drop(w, out);
		return;
	}
	out->msg.cluster = 1;
	out->msg.server = s->cfg.id;
	out->msg.server_epoch = s->cfg.epoch;
	w->stats.pushed++;
	tell_more(w, 0, "s%u %s c%u the response to operation %s", u + 1,
		  s->lies ? "should push to" : "pushes to", p->client + 1,
		  story_attempt(w, p->op));
	if (s->lies && !(w->healed && w->plan->honest_end)) {
		order_liar_pushes(w, u, &out->msg, clock_at(&s->clock, w->now));
		packet_drop(w, out);
	} else {
		packet_send(w, TO_CLIENT, u, out, w->now);
	}
}

static void adopted(struct world *w, u32 u)
{
	const struct bftm_object *o = &object_of(w, u)->object;

	tell(w, 0, "s%u has %s as committed, with %s", u + 1,
	     story_body(o->sc ? &o->sc->id : &(struct bftm_body_id){}), story_rank(&o->prop));
	if (!w->server[u].lies)
		check_fact(w, &(struct fact){
			.kind = FACT_ADOPTED, .server = u, .body = o->sc,
		});
}

static void decide(struct world *w, u32 u, const struct bftm_order_msg *req, u64 now,
		   struct packet *out)
{
	struct order_server *o = object_of(w, u);
	struct bftm_object *object = &o->object;
	struct bftm_body *sc = object->sc, *sp = object->sp;
	bool was_recovering = object->recovering;
	u32 pending, i;

	if (bftm_object_lacks_room(object, req))
		make_room(w, object);
	pending = object->pend ? object->pend->count : 0;
	bftm_order_step(&w->server[u].cfg, object, req, body_for(w, o, req), now, out->data,
			&out->msg);
	if (w->story)
		tell_order_answer(w, u, w->server[u].lies ? "should tell" : "tells", req,
				  &out->msg);
	if (was_recovering && !object->recovering) {
		w->stats.recovered++;
		order_fault_recovered(w, u);
		tell(w, 0, "s%u has recovered", u + 1);
	}
	if (sp != object->sp && object->sp != object->sc)
		tell_more(w, 0, "s%u has %s as proposed, with %s", u + 1,
			  story_body(&object->sp->id), story_rank(&object->prop));
	if (sc != object->sc)
		adopted(w, u);
	for (i = object->pend ? object->pend->count : 0; i < pending; i++)
		push(w, u, &object->pend->entry[i]);
}

/* It may crash at every step; best just after it has promised something. */
static void perhaps_crash(struct world *w, u32 u, u32 x, u8 type)
{
	struct rng *r = &w->rng[RNG_FAULT];

	if (order_fault_forgets(w, u, x, type))
		return;
	if (!world_fault(w, FAULT_RESTART) ||
	    (type != BFTM_ORDER_GOT && type != BFTM_ORDER_PROPOSED &&
	     type != BFTM_ORDER_COMMITTED && type != BFTM_ORDER_COMMITTED_GOT) || !rng_chance(r, w->plan->crash_step))
		return;
	server_crash(w, u, w->plan->order.tangle || rng_next(r) & 1 ? 0 :
		     rng_scale(r, 1, 2 * w->plan->lease_max));
}

void order_server_receive(struct world *w, u32 u, const struct packet *p)
{
	const struct bftm_order_msg *req = &p->msg;
	struct server *s = &w->server[u];
	const struct bftm_shell shell = { .take = server_shell.take };
	struct served served = { .w = w, .u = u };
	struct bftm_server_cfg limits;
	struct bftm_msg head, answer;
	struct packet *out;
	bool admit;
	u64 now;

	if (!s->up)
		return;
	now = clock_at(&s->clock, w->now);
	bftm_order_head(req, &head);
	if (bftm_serve_head(&shell, &served, &s->cfg, &head, now, &limits, &admit,
			    &answer) != BFTM_SERVED)
		return;
	out = packet_new(w, req->room);
	out->msg = *req;
	out->msg.data = NULL;
	out->msg.data_len = 0;
	out->msg.signature = NULL;
	if (!admit) {
		out->msg.type = answer.type;
	} else if (req->type == BFTM_ORDER_PUT) {
		out->msg.type = BFTM_MSG_NONE;
		store(w, object_of(w, u), req, &out->msg);
		if (w->story)
			tell_order_answer(w, u, w->server[u].lies ? "should tell" : "tells", req,
				  &out->msg);
	} else {
		decide(w, u, req, now, out);
	}
	out->msg.server_epoch = s->cfg.epoch;
	world_mix(w, (u64)out->msg.type << 56 ^ req->rank.count ^ req->op ^ now);
	if (s->lies && !(w->healed && w->plan->honest_end) && req->type != BFTM_ORDER_PUT)
		order_liar_answer(w, u, req, &out->msg, now);
	else if (out->msg.type != BFTM_MSG_NONE)
		network_order(w, TO_CLIENT, u, out, w->now);
	perhaps_crash(w, u, req->client, out->msg.type);
	packet_drop(w, out);
}
