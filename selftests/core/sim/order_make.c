// SPDX-License-Identifier: GPL-2.0
/*
 * Lines 2.14–24: the body of the state that was chosen is fetched from any of
 * those who say that they have it, then the operations that wait; they are
 * applied in the order of their clients, and what comes of it is proposed.
 */
#include "order.h"
#include "story.h"

static struct order_client *thread_of(const struct world *w, u32 x)
{
	return &w->order->client[x];
}

static void go_on(struct world *w, u32 x);

/* Ask for all pieces that may fly. */
static void ask(struct world *w, u32 x)
{
	struct order_fetch *f = &thread_of(w, x)->fetch;
	u64 now = client_look(w, &w->client[x]);
	u32 at;

	while ((at = bftm_transfer_next(&f->t, w->plan->resend, now)) != BFTM_TRANSFER_NONE)
		order_fetch(w, x, f->from, &f->id, at);
}

/* The next of those who have it. Return: false when there is none left. */
static bool fetch_next(struct world *w, u32 x)
{
	struct order_fetch *f = &thread_of(w, x)->fetch;
	u32 skip;

	f->on = f->left != 0;
	if (!f->on)
		return false;
	skip = (u32)rng_below(&w->rng[RNG_CLIENT], bftm_count(f->left));
	for (f->from = 0; !(f->left >> f->from & 1) || skip; f->from++)
		skip -= f->left >> f->from & 1;
	f->left &= ~(1u << f->from);
	bftm_transfer_begin(&f->t, f->id.len);
	tell_more(w, 0, "c%u asks s%u for %s", x + 1, f->from + 1, story_body(&f->id));
	ask(w, x);
	return true;
}

static bool fetch(struct world *w, u32 x, const struct bftm_body_id *id, u32 holders)
{
	struct order_fetch *f = &thread_of(w, x)->fetch;

	if (!id->len || id->len > (id->version ? BFTM_STATE_MAX : BFTM_OP_MAX))
		return false;
	f->id = *id;
	f->left = holders;
	f->data = arena_take(&w->arena, id->len);
	return fetch_next(w, x);
}

/* There will be no new state this time. */
static void give_up(struct world *w, u32 x, const char *why)
{
	struct order_client *o = thread_of(w, x);

	tell_more(w, 0, "c%u ends %s: %s", x + 1, story_rank(&o->core.rank), why);
	o->fetch.on = false;
	o->uploads = false;
	/* It may be applied, and too few may know: commit that once more. */
	o->refresh = true;
	bftm_order_unmade(&o->core);
	order_client_retry(w, x, BFTM_ORDER_UNSURE);
}

void order_made(struct world *w, u32 x)
{
	static const struct bftm_body_id initial;
	struct order_client *o = thread_of(w, x);
	struct bftm_order_out out;
	u64 now = client_look(w, &w->client[x]);

	o->uploads = false;
	o->core.more = rng_chance(&w->rng[RNG_CLIENT], w->plan->order.continues);
	bftm_order_made(&o->core, &w->order->cfg, o->next ? &o->next->id : &initial, now, &out);
	order_client_obey(w, x, &out);
}

/* A new state that does not fit a datagram is brought to a quorum first. */
static void propose(struct world *w, u32 x, struct bftm_body *next)
{
	struct order_client *o = thread_of(w, x);
	u32 u;

	o->next = next;
	o->uploads = next && o->core.applies && next->id.len > BFTM_ORDER_DATA_MAX;
	o->stored = 0;
	if (!o->uploads) {
		order_made(w, x);
		return;
	}
	for (u = 0; u < w->plan->n; u++)
		order_put(w, x, u, next);
}

static void keep(struct bftm_object_job *job)
{
	(void)job;
}

static struct bftm_body *new_state(struct world *w, u32 x, const struct bftm_object_job *job)
{
	struct order_make *m = &thread_of(w, x)->make;
	struct bftm_applied applied[ORDER_OPS + 1];
	u32 room = job->state.len + sizeof(struct bftm_state_head) +
		   (m->base ? m->base->id.len : 0), i, len;
	u8 *data;

	for (i = 0; i < m->ops; i++) {
		applied[i] = (struct bftm_applied){
			.op = m->op[i].op, .client = m->op[i].client,
			.len = job->op[i].response.len, .response = job->op[i].response.data,
		};
		room += applied[i].len + sizeof(struct bftm_state_client);
	}
	data = arena_take(&w->arena, room);
	len = bftm_state_make(m->base ? m->base->data : NULL, job->version, applied, m->ops,
			      job->state.data, job->state.len, data, room);
	return len ? order_body_of(w, job->version, data, len) : NULL;
}

static void drop_op(struct order_make *m, u32 i)
{
	m->ops--;
	memmove(&m->op[i], &m->op[i + 1], (m->ops - i) * sizeof(m->op[0]));
	memmove(&m->holders[i], &m->holders[i + 1], (m->ops - i) * sizeof(m->holders[0]));
	memmove(&m->body[i], &m->body[i + 1], (m->ops - i) * sizeof(m->body[0]));
}

/* Return: false when for some there was no room; they are dropped. */
static bool apply_all(struct world *w, struct order_make *m, struct bftm_object_job *job,
		      struct bftm_object_op *ops)
{
	u32 i;

	*job = (struct bftm_object_job){
		.version = m->base ? m->base->id.version + 1 : 1,
		.room = order_room(w, m->base, m->ops), .op = ops, .count = m->ops, .done = keep,
	};
	if (m->base)
		job->app = bftm_state_app(m->base->data, m->base->id.len, &job->app_len);
	for (i = 0; i < m->ops; i++)
		ops[i] = (struct bftm_object_op){
			.body = m->body[i]->data, .len = m->body[i]->id.len,
			.own = m->body[i] == m->own,
		};
	bftm_object_apply(job);
	if (job->applied == m->ops)
		return true;
	for (i = m->ops; i; i--)
		if (!ops[i - 1].applied)
			drop_op(m, i - 1);
	bftm_object_free(job);
	return false;
}

static void apply(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);
	struct order_make *m = &o->make;
	struct bftm_object_op ops[ORDER_OPS + 1];
	struct bftm_body *next = NULL;
	struct bftm_object_job job;

	while (m->ops && !apply_all(w, m, &job, ops))
		;
	if (m->ops) {
		next = new_state(w, x, &job);
		bftm_object_free(&job);
	}
	if (!next) {
		give_up(w, x, "the state is too long");
		return;
	}
	tell_more(w, 0, "c%u applies %u to %s: %s", x + 1, m->ops, story_body(&o->core.base),
		  story_body(&next->id));
	propose(w, x, next);
}

/* Of the operations that wait, and its own, those that the base does not reflect. */
static void choose_ops(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);
	struct order_make *m = &o->make;
	struct bftm_applied a;
	u32 i;

	m->ops = bftm_order_ops(&o->core, &w->order->cfg, m->op, m->holders, ORDER_OPS);
	for (i = 0; i < m->ops && m->op[i].client < x; i++)
		;
	if (i == m->ops || m->op[i].client != x) {
		memmove(&m->op[i + 1], &m->op[i], (m->ops - i) * sizeof(m->op[0]));
		memmove(&m->holders[i + 1], &m->holders[i],
			(m->ops - i) * sizeof(m->holders[0]));
		m->ops++;
	}
	m->op[i] = (struct bftm_op){ .op = o->op, .client = x, .id = o->body->id };
	m->own = o->body;
	for (i = 0; i < m->ops;) {
		if (!m->base || !bftm_state_find(m->base->data, m->op[i].client, &a))
			a.op = 0;
		if (bftm_op_follows(a.op, m->op[i].op))
			i++;
		else
			drop_op(m, i);
	}
	m->at = 0;
}

/* All that is needed, one after the other. */
static void go_on(struct world *w, u32 x)
{
	struct order_make *m = &thread_of(w, x)->make;

	for (; m->at < m->ops; m->at++) {
		if (m->op[m->at].client == x) {
			m->body[m->at] = m->own;
			continue;
		}
		if (fetch(w, x, &m->op[m->at].id, m->holders[m->at]))
			return;
		drop_op(m, m->at--);
	}
	if (m->ops)
		apply(w, x);
	else
		give_up(w, x, "nothing is left to apply");
}

static void based(struct world *w, u32 x, struct bftm_body *base)
{
	struct order_client *o = thread_of(w, x);

	o->make.base = base;
	o->make.based = true;
	o->last = base;
	if (!o->core.applies) {
		propose(w, x, base);
		return;
	}
	if (!o->op) {
		give_up(w, x, "its operation is done");
		return;
	}
	choose_ops(w, x);
	go_on(w, x);
}

void order_make(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	o->make.based = false;
	o->make.ops = 0;
	tell_more(w, 0, "c%u, rank %s, heard %s: %s %s", x + 1, story_rank(&o->core.rank),
		  story_servers(w, o->core.quorum),
		  o->core.applies ? "it applies operations to" : "it proposes once more",
		  story_body(&o->core.base));
	if (!o->core.base.version)
		based(w, x, NULL);
	else if (o->last && bftm_body_same(&o->last->id, &o->core.base) && w->plan->order.caches)
		based(w, x, o->last);
	else if (!fetch(w, x, &o->core.base, o->core.holders))
		give_up(w, x, "nobody gives the state");
}

/* It is here: is it what it should be? */
static bool is_good(const struct order_fetch *f)
{
	u8 digest[BFTM_DIGEST_LEN];

	order_digest(f->data, f->id.len, digest);
	return !memcmp(digest, f->id.digest, sizeof(digest)) &&
	       (!f->id.version || bftm_state_ok(f->data, f->id.len, f->id.version));
}

static void fetched(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);
	struct order_fetch *f = &o->fetch;
	struct bftm_body *body = order_body_of(w, f->id.version, f->data, f->id.len);

	f->on = false;
	if (!o->make.based) {
		based(w, x, body);
		return;
	}
	o->make.body[o->make.at++] = body;
	go_on(w, x);
}

/* From this one it cannot be had. */
static void failed(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	if (fetch_next(w, x))
		return;
	if (!o->make.based) {
		give_up(w, x, "nobody gives the state");
		return;
	}
	/* Meanwhile it was applied, or replaced. */
	drop_op(&o->make, o->make.at);
	go_on(w, x);
}

void order_make_heard(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct order_fetch *f = &thread_of(w, x)->fetch;
	u64 now = client_look(w, &w->client[x]);

	if (!f->on || thread_of(w, x)->core.phase != BFTM_ORDER_MAKING || u != f->from ||
	    !bftm_body_same(&msg->id, &f->id))
		return;
	if (msg->type == BFTM_ORDER_NOBODY) {
		failed(w, x);
		return;
	}
	if (msg->offset >= f->id.len || msg->data_len != bftm_transfer_len(&f->t, msg->offset) ||
	    !bftm_transfer_piece(&f->t, msg->offset, w->plan->resend, now))
		return;
	memcpy(f->data + msg->offset, msg->data, msg->data_len);
	if (!bftm_transfer_complete(&f->t))
		ask(w, x);
	else if (is_good(f))
		fetched(w, x);
	else
		failed(w, x);
}

void order_make_wake(struct world *w, u32 x)
{
	struct order_fetch *f = &thread_of(w, x)->fetch;
	u64 now = client_look(w, &w->client[x]);

	if (!f->on || !f->t.wake_ns || now < f->t.wake_ns ||
	    thread_of(w, x)->core.phase != BFTM_ORDER_MAKING)
		return;
	if (bftm_transfer_wake(&f->t, now))
		ask(w, x);
	else
		failed(w, x);
}
