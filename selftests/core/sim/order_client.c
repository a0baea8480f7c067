// SPDX-License-Identifier: GPL-2.0
/*
 * The ordering thread of a helper around the core, as helper/order/order.c: one
 * operation under way, iterations until it is answered, its timer, and the
 * mutex of line 2.9, which is advice: in some worlds nobody takes it.
 */
#include "order.h"
#include "story.h"

static struct order_client *thread_of(const struct world *w, u32 x)
{
	return &w->order->client[x];
}

static void forget(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);
	u64 incarnation = w->client[x].incarnation;

	o->core.phase = BFTM_ORDER_IDLE;
	o->core.then = 0;
	o->core.rank = (struct bftm_rank){ .client = x, .incarnation = (u32)incarnation };
	if (!w->healed)
		o->core.rank.count = rng_below(&w->rng[RNG_CLIENT], w->plan->order.head_start + 1);
	o->core.completed = 0;
	o->core.timeouts = 0;
	o->core.proofs = 0;
	o->core.proven = 0;
	o->core.waiting = 0;
	memset(o->core.reported, 0, sizeof(o->core.reported));
	o->fetch.on = false;
	o->uploads = false;
	o->dying = false;
	o->last = NULL;
	o->op = 0;
	o->last_op = incarnation << 32;
	o->submit_at = NEVER;
	o->retry_at = NEVER;
	o->wake_at = NEVER;
	o->held_until = NEVER;
	o->refresh = true;
}

void order_client_setup(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	o->put = arena_array(&w->arena, struct order_put, 2 * w->plan->n);
	o->response = arena_take(&w->arena, BFTM_OP_MAX);
	o->todo = w->plan->order.ops;
}

void order_client_up(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);
	u32 i;

	forget(w, x);
	for (i = 0; i < 2 * w->plan->n; i++)
		o->put[i].body = NULL;
	/* As a helper that has asked for the epochs when it started. */
	for (i = 0; i < w->plan->n && w->plan->hello; i++)
		w->client[x].peer[i].known.epoch = w->server[i].cfg.epoch;
	o->putting = false;
	order_app_start(w, x);
}

void order_client_down(struct world *w, u32 x, u64 down)
{
	struct client *c = &w->client[x];
	struct order_client *o = thread_of(w, x);

	if (!c->up)
		return;
	tell(w, 0, "c%u: its host goes down", x + 1);
	w->stats.fault[FAULT_CRASH]++;
	if (o->op)
		check_fact(w, &(struct fact){ .kind = FACT_IN_DOUBT, .client = x, .op = o->op });
	c->up = false;
	c->stamp++;
	c->busy_until = 0;
	if (w->order->holder == x)
		w->order->held_until = w->now + w->plan->lease_max;
	queue_push(&w->queue, w->now + down, EVENT_START, x)->stamp = c->stamp;
}

/* Take the modelled mutex; false when another has it. */
static bool contend(struct world *w, u32 x)
{
	struct order *order = w->order;

	if (rng_chance(&w->rng[RNG_CLIENT], w->plan->order.careless))
		return true;
	if (order->holder != x && w->now < order->held_until)
		return false;
	order->holder = x;
	order->held_until = w->now + w->plan->lease_max;
	return true;
}

void order_client_let_go(struct world *w, u32 x)
{
	if (w->order->holder == x)
		w->order->held_until = 0;
}

static void begin(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct order_client *o = thread_of(w, x);
	struct bftm_order_out out;
	u64 now = client_look(w, c);

	if (!contend(w, x)) {
		o->retry_at = now + w->plan->delta + rng_below(&w->rng[RNG_CLIENT],
							       2 * w->plan->delta);
		return;
	}
	o->retry_at = NEVER;
	o->fetch.on = false;
	o->uploads = false;
	bftm_order_begin(&o->core, &w->order->cfg, o->refresh, now, &out);
	o->refresh = false;
	w->stats.rounds++;
	check_fact(w, &(struct fact){
		.kind = FACT_RANK, .client = x, .rank = &o->core.rank,
		.part = o->core.timeouts || o->core.proofs,
	});
	order_fault_promise(w, x);
	tell_more(w, 0, "c%u begins an iteration: rank %s", x + 1, story_rank(&o->core.rank));
	order_client_obey(w, x, &out);
}

void order_client_retry(struct world *w, u32 x, enum bftm_order_verdict verdict)
{
	struct order_client *o = thread_of(w, x);
	u32 most = w->healed ? 6 : w->plan->order.pause;
	u32 tries = o->tries < most ? o->tries : most;
	u64 now = client_look(w, &w->client[x]);

	if (!o->op)
		return;
	if (verdict != BFTM_ORDER_DONE && !o->submits)
		order_client_submit_all(w, x);
	if (verdict == BFTM_ORDER_DONE && !o->applied) {
		o->retry_at = now;
		return;
	}
	o->tries++;
	o->retry_at = now + rng_below(&w->rng[RNG_CLIENT], (4 * w->plan->delta << tries) + 1);
	/* Committed: what is left is to hear so. */
	if (verdict == BFTM_ORDER_DONE)
		o->retry_at = now + rng_below(&w->rng[RNG_CLIENT], 16 * w->plan->resend);
}

static bool reflects(const struct bftm_body *state, u32 client, u64 op)
{
	struct bftm_applied a;

	return state && bftm_state_find(state->data, client, &a) && a.op >= op;
}

/* Return: the operation is answered. */
static bool committed(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	tell(w, 0, "c%u has committed %s", x + 1, story_body(&o->core.next));
	check_fact(w, &(struct fact){ .kind = FACT_COMMITTED, .client = x, .body = o->next });
	w->stats.wins++;
	o->tries = 0;
	o->last = o->next;
	o->applied = reflects(o->next, x, o->op);
	return order_client_reads(w, x);
}

/* The next iteration is past its get: for what was not applied, or what is asked soon. */
static void go_on(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	w->stats.rounds++;
	o->retry_at = NEVER;
	o->fetch.on = false;
	o->uploads = false;
	tell_more(w, 0, "c%u goes on with rank %s", x + 1, story_rank(&o->core.rank));
	if (o->op && !o->applied)
		order_make(w, x);
	else
		o->held_until = client_look(w, &w->client[x]) + w->plan->resend;
}

static void give_way(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	o->held_until = NEVER;
	tell_more(w, 0, "c%u ends %s: nothing was asked", x + 1, story_rank(&o->core.rank));
	bftm_order_unmade(&o->core);
	order_client_let_go(w, x);
	order_client_retry(w, x, BFTM_ORDER_DONE);
}

static void judge(struct world *w, u32 x, enum bftm_order_verdict verdict)
{
	static const char *const words[] = {
		[BFTM_ORDER_OUTRANKED] = "is outranked", [BFTM_ORDER_TIMEOUT] = "waited too long",
		[BFTM_ORDER_UNSURE] = "cannot say what to propose",
		[BFTM_ORDER_DENIED] = "is refused",
	};
	bool told = false;

	switch (verdict) {
	case BFTM_ORDER_ON:
		return;
	case BFTM_ORDER_MAKE:
		order_make(w, x);
		return;
	case BFTM_ORDER_DONE:
		told = committed(w, x);
		break;
	case BFTM_ORDER_DONE_MAKE:
		told = committed(w, x);
		go_on(w, x);
		if (told)
			order_client_answered(w, x);
		return;
	default:
		tell(w, 0, "c%u %s: %s is over", x + 1, words[verdict],
		     story_rank(&thread_of(w, x)->core.rank));
		thread_of(w, x)->fetch.on = false;
		thread_of(w, x)->held_until = NEVER;
		w->stats.lapses++;
	}
	order_client_let_go(w, x);
	if (told)
		order_client_answered(w, x);
	else
		order_client_retry(w, x, verdict);
}

void order_client_obey(struct world *w, u32 x, const struct bftm_order_out *out)
{
	client_stall(w, &w->client[x]);
	if (out->send)
		order_say(w, x, out->send, out->to);
	judge(w, x, out->verdict);
	order_client_arm(w, x);
}

static u64 next_wake(const struct world *w, u32 x)
{
	const struct order_client *o = thread_of(w, x);
	u64 at = o->submit_at, due = order_put_due(w, x);

	if (o->held_until < at)
		at = o->held_until;
	if (o->core.phase != BFTM_ORDER_IDLE && o->core.wake_ns < at)
		at = o->core.wake_ns;
	else if (o->core.phase == BFTM_ORDER_IDLE && o->retry_at < at)
		at = o->retry_at;
	if (o->fetch.on && o->fetch.t.wake_ns && o->fetch.t.wake_ns < at)
		at = o->fetch.t.wake_ns;
	return due < at ? due : at;
}

void order_client_arm(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct order_client *o = thread_of(w, x);
	u64 at = next_wake(w, x);

	if (at == NEVER)
		return;
	at = clock_when(&c->clock, at, w->now);
	if (o->wake_at <= at)
		return;
	o->wake_at = at;
	queue_push(&w->queue, at, EVENT_ORDER_WAKE, x)->stamp = c->stamp;
}

void order_client_wake(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct order_client *o = thread_of(w, x);
	struct bftm_order_out out;
	u64 now = client_look(w, c);

	o->wake_at = NEVER;
	client_stall(w, c);
	if (o->op && now >= o->submit_at)
		order_client_submit_all(w, x);
	order_put_wake(w, x);
	order_make_wake(w, x);
	if (now >= o->held_until)
		give_way(w, x);
	if (o->core.phase == BFTM_ORDER_IDLE) {
		if (o->op && now >= o->retry_at)
			begin(w, x);
	} else {
		bftm_order_wake(&o->core, &w->order->cfg, now, &out);
		order_client_obey(w, x, &out);
	}
	order_client_arm(w, x);
	client_done(w, c);
}

void order_client_submit_all(struct world *w, u32 x)
{
	struct order_client *o = thread_of(w, x);

	o->submit_at = client_look(w, &w->client[x]) +
		       (w->plan->resend << (o->submits < 4 ? o->submits : 4));
	o->submits++;
	order_say(w, x, BFTM_ORDER_SUBMIT, bftm_all(w->plan->n) & ~o->vote.heard);
}

void order_client_submit(struct world *w, u32 x, const u8 *op, u32 len)
{
	struct client *c = &w->client[x];
	struct order_client *o = thread_of(w, x);

	o->op = ++o->last_op;
	o->body = order_body_of(w, 0, op, len);
	o->response_len = 0;
	o->submits = 0;
	o->tries = 0;
	o->applied = false;
	bftm_vote_begin(&o->vote, o->op, 0);
	check_fact(w, &(struct fact){
		.kind = FACT_SUBMIT, .client = x, .op = o->op, .body = o->body,
	});
	client_stall(w, c);
	if (w->plan->order.alone)
		o->submit_at = client_look(w, c) + w->plan->resend;
	else
		order_client_submit_all(w, x);
	o->retry_at = client_look(w, c);
	if (o->core.phase == BFTM_ORDER_IDLE) {
		begin(w, x);
	} else if (o->held_until != NEVER) {
		o->held_until = NEVER;
		order_make(w, x);
	}
	order_client_arm(w, x);
	client_done(w, c);
}
