// SPDX-License-Identifier: GPL-2.0
/* Correct servers and their states around the shipped core, and a client that hears one. */
#include "model.h"

static const struct bftm_server_cfg server_cfg;

const struct bftm_order_cfg *model_cfg(void)
{
	static struct bftm_order_cfg cfg;

	cfg = (struct bftm_order_cfg){
		.n = plan.n, .b = plan.b, .resend_ns = 1, .limit_ns = 1000000,
	};
	return &cfg;
}

/* State @i with this version: its digest is what it is. */
static struct bftm_body *body_of(u8 i, u8 version)
{
	static struct bftm_body body[STATES][STATES + 1];
	static u8 data[STATES][STATES + 1][32];
	struct bftm_body *b = &body[i][version];

	if (!i || b->data)
		return i ? b : NULL;
	b->id.version = version;
	b->id.len = bftm_state_make(NULL, version, NULL, 0, &i, 1, data[i][version],
				    sizeof(data[i][version]));
	b->id.digest[0] = i;
	b->data = data[i][version];
	return b;
}

struct bftm_body *body_in(const struct world *w, u8 i)
{
	return body_of(i, w->version[i]);
}

struct bftm_body_id id_of(const struct bftm_body *body)
{
	return body ? body->id : (struct bftm_body_id){};
}

struct bftm_rank rank_of(u8 count, u8 client)
{
	return (struct bftm_rank){ count, count ? client + 1u : 0, count ? 1 : 0 };
}

static void load(const struct world *w, u32 u, struct bftm_object *ret)
{
	const struct place *p = &w->place[u];

	bftm_object_init(ret, false);
	ret->sc = body_in(w, p->sc);
	ret->sp = body_in(w, p->sp);
	ret->prop = rank_of(p->prop, p->prop_client);
	ret->max = rank_of(p->max, p->max_client);
}

static void save(struct world *w, u32 u, const struct bftm_object *o)
{
	w->place[u] = (struct place){
		.sc = o->sc ? o->sc->id.digest[0] : 0,
		.sp = o->sp ? o->sp->id.digest[0] : 0,
		.prop = (u8)o->prop.count, .prop_client = o->prop.count ? (u8)(o->prop.client - 1) : 0,
		.max = (u8)o->max.count, .max_client = o->max.count ? (u8)(o->max.client - 1) : 0,
	};
}

void ask(struct world *w, u32 u, const struct call *c, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_order_msg req = {
		.type = c->type, .client = c->rank.client, .rank = c->rank, .then = c->then,
		.room = BFTM_ORDER_ROOM_MAX,
	};
	struct bftm_object o;

	load(w, u, &o);
	req.id = id_of(body_in(w, c->state));
	bftm_order_step(&server_cfg, &o, &req, body_in(w, c->state), NOW, out, reply);
	save(w, u, &o);
}

void hear(struct bftm_order *o, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_order_out out;

	bftm_order_answer(o, model_cfg(), u, msg, false, NOW, &out);
}
