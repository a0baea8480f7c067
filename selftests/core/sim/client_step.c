// SPDX-License-Identifier: GPL-2.0
/* Steps of a client: what its core decides, and what comes of it. */
#include "story.h"

/* The timer of the operation; it comes early when rates change, and late anyway. */
void client_arm(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct event *e;
	u64 at, due;

	if (h->client->phase == BFTM_PHASE_DEAD)
		return;
	due = h->client->wake_ns;
	if (h->kernel)
		due = h->host.due_ns ?: NEVER;
	if (h->kernel && h->host.state == BFTM_HOST_HOLD && h->known_end_ns < due)
		due = h->known_end_ns + 1;
	at = clock_when(&c->clock, due, w->now);
	if (h->wake_at <= at)
		return;
	h->wake_at = at;
	e = queue_push(&w->queue, at, EVENT_WAKE, x);
	e->part = i;
	e->stamp = c->stamp;
}

static void tell_round(struct world *w, u32 x, const struct handle *h, const struct bftm_out *out)
{
	if (out->verdict == BFTM_WON || !out->round_over)
		return;
	if (h->client->phase == BFTM_PHASE_TRY) {
		tell_more(w, h->lock, "c%u still waits for %s: FREE from %s, WAIT from %s", x + 1,
			  story_lock(h->lock), story_servers(w, out->said_free),
			  story_servers(w, out->said_locked));
		return;
	}
	if (h->client->phase == BFTM_PHASE_FENCE) {
		tell(w, h->lock, "c%u could have %s, and asks for token %s", x + 1,
		     story_lock(h->lock), story_number(h->client->token));
		return;
	}
	tell(w, h->lock, "c%u loses the round for %s: FREE from %s, LOCKED from %s; sleeps %s",
	     x + 1, story_lock(h->lock), story_servers(w, out->said_free),
	     story_servers(w, out->said_locked),
	     h->client->phase == BFTM_PHASE_BACKOFF ?
		story_span(h->client->wake_ns - client_look(w, &w->client[x])) : "no more");
}

void client_offer(struct world *w, u32 x, const struct handle *h)
{
	check_fact(w, &(struct fact){
		.kind = FACT_OFFER, .client = x, .lock = h->lock, .attempt = h->client->attempt,
		.token = h->client->token,
	});
}

void client_leaves(struct world *w, u32 x, u32 i, enum fact_kind kind, u64 at)
{
	struct handle *h = &w->client[x].handle[i];

	if (kind == FACT_OVER && world_fault(w, FAULT_OVERSTAY))
		at += w->plan->lease_max;
	h->leaving = (struct leaving){
		.attempt = h->client->attempt, .hold = h->hold, .at = at, .lock = h->lock,
	};
	check_fact(w, &(struct fact){
		.kind = kind, .client = x, .lock = h->lock, .hold = h->hold, .at = at,
	});
}

/* As bftm_handle_renewed(): the kernel believes it while the old end has not come. */
static bool extend(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	if (client_look(w, c) <= h->end_ns) {
		w->stats.renewed++;
		h->end_ns = h->known_end_ns;
		h->sends = h->client->sends;
		return true;
	}
	/* The kernel ended it in time, and the helper hears so now. */
	client_leaves(w, x, i, FACT_OVER, clock_when(&c->clock, h->end_ns + 1, w->now));
	h->hold = 0;
	h->app = APP_IDLE;
	client_end(w, x, i);
	app_failed(w, x, i, BFTM_LOST_ROUND);
	return false;
}

static enum bftm_mode held(const struct world *w, const struct handle *h)
{
	const struct bftm_client_ops *core = w->protocol->core->client;

	return core->held ? core->held(h->client) : BFTM_MODE_EX;
}

void client_obey(struct world *w, u32 x, u32 i, const struct bftm_out *out)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	w->stats.rounds += out->round_over;
	if (w->story)
		tell_round(w, x, h, out);
	if (out->verdict == BFTM_KEPT)
		tell(w, h->lock, "c%u keeps %s in mode %s%s", x + 1, story_lock(h->lock),
		     story_mode(held(w, h)),
		     out->kept == BFTM_KEPT_DEADLOCK ? ": another waits for it to give that up" : "");
	if (bftm_out_to(out, BFTM_MSG_STAMP))
		client_offer(w, x, h);
	client_stall(w, c);
	if (out->extended && !extend(w, x, i))
		return;
	if (out->verdict == BFTM_LAPSED || out->verdict == BFTM_REFUSED)
		app_failed(w, x, i, out->verdict);
	if (out->release_to)
		client_release(w, x, h->lock, out);
	client_send(w, x, h, out);
	if (out->verdict == BFTM_LOST_ROUND || out->verdict == BFTM_UNREACHABLE)
		app_failed(w, x, i, out->verdict);
	client_arm(w, x, i);
	if (out->verdict == BFTM_WON)
		app_won(w, x, i);
	/* CW and PR: there is PW in between. */
	if (out->verdict == BFTM_CONVERTED && held(w, h) != h->goal.mode)
		client_convert(w, x, i, &h->goal);
}

void client_watch(struct world *w, u32 x, u32 i, u64 before, enum bftm_phase phase)
{
	const struct handle *h = &w->client[x].handle[i];
	struct fact f = { .client = x, .lock = h->lock, .at = w->now };

	if (phase != BFTM_PHASE_DEAD && phase != BFTM_PHASE_BACKOFF &&
	    (h->client->attempt != before || !bftm_contender_alive(h->client))) {
		f.kind = FACT_DEAD;
		f.attempt = before;
		/* Of an adopted one nobody here knows for long that it is over. */
		f.part = before <= w->client[x].incarnation << 32;
		check_fact(w, &f);
	}
	if (h->client->attempt != before) {
		f.kind = FACT_ATTEMPT;
		f.part = 0;
		f.attempt = h->client->attempt;
		check_fact(w, &f);
	}
}

static void tell_extended(struct world *w, u32 x, const struct handle *h, const struct fact *f)
{
	if (f->mode != h->mode)
		tell(w, h->lock, "c%u has %s in mode %s", x + 1, story_lock(h->lock),
		     story_mode(f->mode));
	else
		tell(w, h->lock, "c%u has %s for %s more", x + 1, story_lock(h->lock),
		     story_span(f->end_ns - h->known_end_ns));
}

/* A conversion that got no token of its own keeps that of the mode before. */
static void watch_token(struct world *w, struct handle *h, struct fact f)
{
	if (f.token == h->token)
		return;
	h->token = f.token;
	f.kind = FACT_STAMPED;
	f.fenced = true;
	tell(w, h->lock, "c%u has token %s for %s in mode %s", f.client + 1, story_number(f.token),
	     story_lock(h->lock), story_mode(f.mode));
	check_fact(w, &f);
}

void client_watch_hold(struct world *w, u32 x, u32 i, enum bftm_verdict verdict, u64 now)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct fact f = {
		.client = x, .lock = h->lock, .at = w->now, .attempt = h->client->attempt,
		.now_ns = now, .fenced = h->client->want.fence, .token = h->client->token,
		.mode = held(w, h),
	};

	if (h->client->phase != BFTM_PHASE_HOLD)
		return;
	f.end_ns = w->protocol->core->client->end(h->client, &c->cfg);
	if (verdict == BFTM_CONVERTED)
		watch_token(w, h, f);
	if (verdict == BFTM_CONVERTED && h->reads && f.mode == h->mode)
		value_read(w, x, i);
	if (verdict == BFTM_WON) {
		h->hold = ++w->holds;
		h->token = f.token;
		w->stats.wins++;
		steps_won(w, h->client, now);
		f.kind = FACT_WIN;
		h->sends = h->client->sends;
		fault_kill(w, x);
		tell(w, h->lock, "c%u has %s, %s%s%s%s", x + 1, story_lock(h->lock),
		     f.end_ns == NEVER ? "until it gives it back" : "for ",
		     f.end_ns == NEVER ? "" : story_span(f.end_ns > now ? f.end_ns - now : 0),
		     f.fenced ? ", token " : "", f.fenced ? story_number(f.token) : "");
	} else {
		if (f.end_ns == h->known_end_ns && f.mode == h->mode)
			return;
		f.kind = FACT_EXTEND;
		tell_extended(w, x, h, &f);
	}
	h->mode = f.mode;
	if (f.kind == FACT_WIN && f.fenced)
		fault_fenced(w, h->lock, f.token);
	h->known_end_ns = f.end_ns;
	f.hold = h->hold;
	if (world_fault(w, FAULT_OVERSTAY) && f.end_ns != NEVER)
		f.end_ns += w->plan->lease_max;
	check_fact(w, &f);
	if (verdict == BFTM_WON || (verdict == BFTM_CONVERTED && h->reads))
		value_read(w, x, i);
}

void client_contend(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct bftm_out out;
	u64 now = client_look(w, c), before = h->client->attempt;

	client_stall(w, c);
	w->protocol->core->client->start(h->client, &c->cfg, &h->want, ++c->attempt, now, &out);
	client_watch(w, x, i, before, BFTM_PHASE_DEAD);
	client_obey(w, x, i, &out);
	client_done(w, c);
}

void client_begin(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	h->left.any = false;
	h->want.lock = h->lock + 1;
	tell(w, h->lock, "c%u wants %s %s%s%s%s", x + 1, story_lock(h->lock),
	     h->want.lease_ns == BFTM_LEASE_NONE ? "without a lease" : "for ",
	     h->want.lease_ns == BFTM_LEASE_NONE ? "" : story_span(h->want.lease_ns), h->want.mode == BFTM_MODE_EX ? "" : ", in mode ",
	     h->want.mode == BFTM_MODE_EX ? "" : story_mode(h->want.mode));
	if (client_kernel_may(w, x, i))
		client_kernel_begin(w, x, i);
	else
		client_contend(w, x, i);
}

void client_renew(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase;
	struct bftm_out out;

	if (!w->protocol->releases)
		return;
	if (h->kernel) {
		client_kernel_renew(w, x, i);
		return;
	}
	phase = h->client->phase;
	w->protocol->core->client->renew(h->client, &c->cfg, client_look(w, c), &out);
	client_watch(w, x, i, h->client->attempt, phase);
	client_obey(w, x, i, &out);
	client_done(w, c);
}

/* It stops first to do what @mode does not allow. */
void client_convert(struct world *w, u32 x, u32 i, const struct bftm_conversion *to)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	struct bftm_out out;
	u64 now = client_look(w, c);

	if (phase != BFTM_PHASE_HOLD)
		return;
	if (h->kernel)
		client_kernel_entrust(w, x, i);
	h->goal = *to;
	h->goal.leaves = NULL;
	h->reads = !bftm_mode_covers(held(w, h), to->mode);
	if (!h->reads && value_leaves(w, x, i, to->mode))
		h->goal.leaves = &h->left;
	w->stats.conversions++;
	tell(w, h->lock, "c%u wants %s in mode %s%s", x + 1, story_lock(h->lock),
	     story_mode(to->mode), to->fence ? ", with a token" : "");
	w->protocol->core->client->convert(h->client, &c->cfg, &h->goal, now, &out);
	client_watch(w, x, i, h->client->attempt, phase);
	client_watch_hold(w, x, i, out.verdict, now);
	client_obey(w, x, i, &out);
	client_done(w, c);
}

/* It does not want the other mode any more. */
void client_keep(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct bftm_out out;

	w->protocol->core->client->keep(h->client, &c->cfg, client_look(w, c), &out);
	client_obey(w, x, i, &out);
	client_done(w, c);
}

void client_adopt(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct handle *h = c->handle;
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct orphan *o = &c->orphan;
	u64 now = client_look(w, c);
	struct bftm_out out;
	u32 i;

	/* Its kernel may have the others. */
	while (h < c->handle + w->plan->handles && h->app != APP_IDLE)
		h++;
	i = (u32)(h - c->handle);
	if (i == w->plan->handles)
		return;
	if (!o->alive || o->stopped || now > o->end_ns || !w->protocol->releases)
		return;
	/* For want of memory it may fail; then nobody may think that it is over. */
	if (world_fault(w, FAULT_KILL) && !w->script && rng_chance(&w->rng[RNG_FAULT], PPM / 4))
		return;
	o->alive = false;
	w->stats.adopted++;
	h->lock = o->lock;
	h->want = o->want;
	h->app = APP_HOLDING;
	h->hold = o->hold;
	h->end_ns = o->end_ns;
	h->known_end_ns = o->end_ns;
	h->sends = o->sends;
	h->mode = o->want.mode;
	h->token = o->token;
	h->client->token = o->token;
	tell(w, h->lock, "c%u: the new helper goes on with %s", x + 1, story_lock(h->lock));
	h->left.any = o->left;
	core->adopt(h->client, &c->cfg, &h->want, o->attempt, o->end_ns, o->sends, o->left);
	core->renew(h->client, &c->cfg, now, &out);
	if (!w->script)
		/* A host that was stopped has missed it: nothing happens in the past. */
		app_at(w, x, i, w->healed || o->give_at <= w->now ? w->now + 1 : o->give_at);
	client_obey(w, x, i, &out);
	client_done(w, c);
}

void client_end(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	u64 before = h->client->attempt;
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct bftm_out out;
	bool done = h->hold && core->leave, leaves = value_leaves(w, x, i, BFTM_MODE_NL);

	/* Stop using the resource first; then say so. */
	if (h->hold) {
		client_leaves(w, x, i, FACT_STOP, w->now + c->lag);
		tell_at(w, h->lock, w->now + c->lag, "c%u gives %s back", x + 1,
			story_lock(h->lock));
	}
	h->hold = 0;
	h->left_over = false;
	client_stall(w, c);
	if (h->kernel) {
		client_kernel_stop(w, x, i);
		client_done(w, c);
		return;
	}
	if (done)
		core->leave(h->client, &c->cfg, leaves ? &h->left : NULL, &out);
	else
		core->stop(h->client, &c->cfg, &out);
	client_watch(w, x, i, before, phase);
	if (out.release_to)
		client_release(w, x, h->lock, &out);
	client_done(w, c);
}

void client_wake(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	u64 now = client_look(w, c), before = h->client->attempt, attempt = 0;
	struct bftm_out out;

	h->wake_at = NEVER;
	if (h->kernel) {
		client_kernel_wake(w, x, i);
		return;
	}
	client_stall(w, c);
	if (phase == BFTM_PHASE_BACKOFF && now >= h->client->wake_ns)
		attempt = ++c->attempt;
	w->protocol->core->client->wake(h->client, &c->cfg, now, attempt,
				       rng_next(&w->rng[RNG_CLIENT]), &out);
	client_watch(w, x, i, before, phase);
	client_watch_hold(w, x, i, out.verdict, now);
	client_obey(w, x, i, &out);
	client_done(w, c);
}
