// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving half of a client, as cluster_take() of helper/cluster/socket.c and the answering
 * half of helper/lock/acquire.c; and its starts and ends, as helper/cluster/identity.c has them.
 */
#include "order.h"
#include "record.h"
#include "story.h"

/* As bftm_acquire_epoch(), of the one that asked for this lock. */
static void new_epoch(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct bftm_out out;
	u32 i;

	for (i = 0; i < w->plan->handles; i++) {
		if (c->handle[i].kernel || !bftm_contender_alive(c->handle[i].client) ||
		    c->handle[i].client->attempt != msg->attempt)
			continue;
		w->protocol->core->client->epoch(c->handle[i].client, u, &out);
		client_send(w, x, &c->handle[i], &out);
	}
}

static void take_challenge(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];

	enum bftm_peer_news news = bftm_peer_challenge(&c->peer[u].known, msg, c->seq);

	if (news != BFTM_PEER_OLD)
		bftm_client_challenge(&c->cfg, u, msg);
	client_member_epoch(w, x, u, news);
	client_tokens(w, x, u, msg);
}

/* As bftm_hello_again(). */
static void hello_again(struct world *w, u32 x, u32 u)
{
	if (w->now - w->client[x].peer[u].hello_at >= w->plan->resend)
		client_hello(w, x, 1u << u);
}

/* As bftm_stale(). */
static void take_stale(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	if (bftm_peer_stale(&w->client[x].peer[u].known, msg))
		client_hello(w, x, 1u << u);
	else
		hello_again(w, x, u);
	new_epoch(w, x, u, msg);
}

/* The request that asked, or asked last: a core must bear answers after its end as well. */
static struct handle *find_handle(struct world *w, struct client *c, u32 lock, u64 attempt)
{
	struct handle *h, *last = NULL;
	u32 i;

	for (i = 0; i < w->plan->handles; i++) {
		h = &c->handle[i];
		if (h->lock != lock)
			continue;
		if (h->app != APP_IDLE)
			return h;
		if (h->client->attempt == attempt)
			last = h;
	}
	return last;
}

static struct release **find_release(struct client *c, u32 lock, u64 attempt)
{
	struct release **link;

	for (link = &c->releases; *link; link = &(*link)->next)
		if ((*link)->core.attempt == attempt && (*link)->lock == lock)
			break;
	return link;
}

static void drop_release(struct world *w, struct release **link)
{
	struct release *op = *link;

	*link = op->next;
	op->next = w->spare;
	w->spare = op;
}

/* As bftm_release_answer_from() and bftm_release_late(). */
static void answer_release(struct world *w, struct client *c, u32 u, u32 lock,
			   const struct bftm_msg *msg)
{
	struct release **link = find_release(c, lock, msg->attempt), *op = *link;

	if (!op)
		return;
	if (msg->type != BFTM_MSG_RELEASED)
		bftm_ask_late(&c->cfg, &op->core.late, u, msg, client_look(w, c));
	else if (bftm_release_answer(&op->core, &c->cfg, u))
		drop_release(w, link);
}

/* The answer is about an attempt that the kernel ends. */
static void answer_kernel_release(struct world *w, struct client *c, struct release **link, u32 u,
				  const struct bftm_msg *msg)
{
	struct release *op = *link;
	struct bftm_host_step step;

	bftm_host_answer(&op->host, &c->cfg, u, msg, client_look(w, c), &step);
	client_send_release(w, c, op, step.out.release_to);
	if (step.event == BFTM_HOST_OVER)
		drop_release(w, link);
}

/* As bftm_fast_answer(). Return: is it about an attempt of the kernel's? */
static bool answer_kernel(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct release **link = find_release(c, lock_number(msg), msg->attempt);
	u32 i;

	if (*link && (*link)->kernel) {
		answer_kernel_release(w, c, link, u, msg);
		return true;
	}
	for (i = 0; i < w->plan->handles; i++) {
		const struct handle *h = &c->handle[i];

		if (!h->kernel || h->host.attempt != msg->attempt || h->lock != lock_number(msg))
			continue;
		client_kernel_answer(w, x, i, u, msg);
		return true;
	}
	return false;
}

static bool is_kernels(struct world *w, struct client *c, const struct bftm_msg *msg)
{
	const struct release *op = *find_release(c, lock_number(msg), msg->attempt);
	u32 i;

	for (i = 0; i < w->plan->handles; i++)
		if (c->handle[i].kernel && c->handle[i].host.attempt == msg->attempt)
			return true;
	return op && op->kernel;
}

static void kernel_stale(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct bftm_peer_epochs *known = &c->kernels[u].known;
	u32 i;

	bftm_peer_stale(known, msg);
	if (known->sent_epoch != known->epoch)
		client_kernel_hello(w, x, u);
	for (i = 0; i < w->plan->handles; i++)
		if (c->handle[i].kernel)
			client_kernel_stale(w, x, i, u, msg);
}

/*
 * As bftm_session_take(), of what is authentic: the kernel has no window, and takes an answer as
 * often as it comes. Return: true when the helper does not hear of it.
 */
static bool kernel_take(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct bftm_msg uncounted = *msg;

	if (msg->type == BFTM_MSG_CHALLENGE) {
		if (bftm_peer_challenge(&c->kernels[u].known, msg, c->seq) != BFTM_PEER_OLD)
			bftm_client_challenge(&c->cfg, u, msg);
		return false;
	}
	if (msg->type == BFTM_MSG_STALE) {
		if (msg->seq <= c->seq)
			kernel_stale(w, x, u, msg);
		return false;
	}
	if (!is_kernels(w, c, msg))
		return false;
	if (bftm_epoch_known(msg, c->kernels[u].known.epoch)) {
		answer_kernel(w, x, u, msg);
		return true;
	}
	client_kernel_hello(w, x, u);
	if (bftm_discount(&uncounted))
		answer_kernel(w, x, u, &uncounted);
	return true;
}

/* As bftm_acquire_answer(). */
static void answer(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	u32 lock = lock_number(msg);
	struct handle *h = find_handle(w, c, lock, msg->attempt);
	enum bftm_phase phase;
	struct bftm_out out;
	u64 now, before;

	answer_release(w, c, u, lock, msg);
	if (msg->type == BFTM_MSG_RELEASED)
		return;
	/* As bftm_acquire_answer(): won through an earlier helper, and perhaps held. */
	if (msg->attempt <= c->incarnation << 32 && !(h && h->client->attempt == msg->attempt) &&
	    !client_member_disowns(w, x, msg))
		return;
	/* It lost what it knew of tokens: find out, for whoever asks next. */
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_TOKENS &&
	    !c->recovery.on)
		client_hello(w, x, 1u << u);
	if (!h || h->kernel) {
		bftm_stray(msg, u, &out);
		if (out.release_to)
			client_release(w, x, lock, &out);
		return;
	}
	phase = h->client->phase;
	before = h->client->attempt;
	now = client_look(w, c);
	w->protocol->core->client->answer(h->client, &c->cfg, u, msg, now,
					 rng_next(&w->rng[RNG_CLIENT]), &out);
	client_watch(w, x, (u32)(h - c->handle), before, phase);
	client_watch_hold(w, x, (u32)(h - c->handle), out.verdict, now);
	client_obey(w, x, (u32)(h - c->handle), &out);
	client_member_sync(w, x, u);
}

/* FREE, INQUIRE and PROBE come unasked, and may come twice. */
static bool is_push(const struct bftm_msg *msg)
{
	return !msg->seq && (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE ||
			     msg->type == BFTM_MSG_PROBE);
}

/* Only to what this helper asked, each once. */
static bool is_fresh(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];

	/* An earlier one's attempts may hold. */
	if (msg->seq <= c->incarnation << 32 || msg->seq > c->seq) {
		w->stats.forged++;
		return false;
	}
	if (!bftm_window_take(&c->peer[u].answers, msg->seq)) {
		w->stats.replayed++;
		return false;
	}
	check_fact(w, &(struct fact){
		.kind = FACT_TAKEN, .client = x, .server = u,
		.receiver = (u64)(x + BFTM_SERVERS_MAX) << 32 | c->stamp,
		.sender = u, .seq = msg->seq,
	});
	return true;
}

/* As hand_on() of helper/cluster/socket.c. */
static void hand_on(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct bftm_msg uncounted = *msg;

	if (msg->type == BFTM_MSG_SYNCED) {
		client_member_synced(w, x, u, msg);
		return;
	}
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_EVICTED) {
		client_member_evicted(w, x, u);
		if (!msg->name_len)
			return;
	}
	if (bftm_epoch_known(msg, w->client[x].peer[u].known.epoch)) {
		answer(w, x, u, msg);
		return;
	}
	hello_again(w, x, u);
	if (bftm_discount(&uncounted))
		answer(w, x, u, &uncounted);
}

void client_receive(struct world *w, u32 x, u32 server, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	u32 u = msg->server - 1u;

	if (!c->host_up || msg->cluster != 1 || msg->client != x || u >= w->plan->n ||
	    !(msg->type & BFTM_MSG_REPLY))
		return;
	/* The tag: only this server has the key. */
	if (u != server) {
		w->stats.forged++;
		return;
	}
	if (!c->up && !w->plan->kernel)
		return;
	record_message(w, false, false, u, msg, w->now);
	if ((w->plan->kernel && kernel_take(w, x, u, msg)) || !c->up) {
		client_done(w, c);
		return;
	}
	if (!is_push(msg) && !is_fresh(w, x, u, msg))
		return;
	if (msg->type == BFTM_MSG_CHALLENGE)
		take_challenge(w, x, u, msg);
	else if (msg->type == BFTM_MSG_STALE)
		take_stale(w, x, u, msg);
	else
		hand_on(w, x, u, msg);
	client_done(w, c);
}

void client_setup(struct world *w, u32 x)
{
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct client *c = &w->client[x];
	u32 i;

	c->cfg = w->cfg;
	/* As few as leave room for those that forget. */
	if (w->plan->mixed && !x)
		c->cfg.m = (w->plan->n + w->plan->b + w->plan->spared + 2) / 2;
	c->clock = fault_clock(w, false, true);
	c->peer = arena_array(&w->arena, struct peer, w->plan->n);
	c->kernels = arena_array(&w->arena, struct peer, w->plan->n);
	c->handle = arena_array(&w->arena, struct handle, w->plan->handles);
	for (i = 0; i < w->plan->handles && !w->order; i++) {
		c->handle[i].helpers = arena_take(&w->arena, core->size(w->plan->n));
		c->handle[i].kernels = arena_take(&w->arena, core->size(w->plan->n));
		c->handle[i].client = c->handle[i].helpers;
	}
	/* A second of the wall clock; many hosts start in the same. */
	c->incarnation = 0;
	if (w->order)
		order_client_setup(w, x);
	client_up(w, x);
}

/* A helper that starts knows nothing of how fast servers are, and who lies. */
static void learn_anew(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	enum ask ask = plan_ask(w->plan, x);
	u32 u;

	c->cfg.ask = ask == ASK_ALL ? NULL : &c->ask;
	bftm_ask_start(&c->ask, ask == ASK_AUTO);
	for (u = 0; u < w->plan->n; u++)
		bftm_ask_server(&c->ask, u, 1, u + 1);
}

/* As bftm_session_lend(): the kernel's attempts go on with the numbers of this helper. */
static void lend(struct world *w, struct client *c)
{
	u32 u;

	if (!c->host_up)
		memset(c->kernels, 0, sizeof(*c->kernels) * w->plan->n);
	for (u = 0; u < w->plan->n; u++)
		bftm_peer_begin(&c->kernels[u].known, c->seq);
}

void client_up(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	u32 i;

	/* As next_incarnation(): more than any before, and kept on disk. */
	c->incarnation++;
	if (!c->host_up)
		c->boot = c->incarnation;
	c->evicted = 0;
	c->seq = c->incarnation << 32;
	c->attempt = c->incarnation << 32;
	lend(w, c);
	c->recovery.on = false;
	learn_anew(w, x);
	memset(c->peer, 0, sizeof(*c->peer) * w->plan->n);
	c->up = true;
	c->host_up = true;
	if (c->stamp)
		tell(w, NO_LOCK, "c%u: its helper starts, for the %llu. time", x + 1,
		     (unsigned long long)c->incarnation);
	if (w->order) {
		order_client_up(w, x);
		return;
	}
	if (w->plan->hello || w->plan->leaseless)
		client_hello(w, x, (u32)((1ull << w->plan->n) - 1));
	app_start(w, x);
	for (i = 0; i < w->plan->handles; i++)
		if (c->handle[i].left_over)
			client_kernel_left_over(w, x, i);
	client_adopt(w, x);
	client_member_start(w, x);
}

/* A held lock goes down with the host, or outlives the helper. */
void client_abandon(struct world *w, u32 x, struct handle *h, bool host)
{
	struct client *c = &w->client[x];

	if (host && w->now < h->leaving.at)
		check_fact(w, &(struct fact){
			.kind = FACT_GONE, .client = x, .lock = h->leaving.lock,
			.hold = h->leaving.hold, .at = w->now,
		});
	if (bftm_contender_alive(h->client))
		check_fact(w, &(struct fact){
			.kind = FACT_DEAD, .client = x, .lock = h->lock, .at = w->now,
			.attempt = h->client->attempt, .part = 1,
		});
	if (h->hold && !host && !c->orphan.alive) {
		c->orphan = (struct orphan){
			.alive = true, .lock = h->lock, .attempt = h->client->attempt,
			.hold = h->hold, .end_ns = h->end_ns, .want = h->want, .sends = h->sends,
			.token = h->token,
			.give_at = w->now + rng_scale(&w->rng[RNG_APP], 1, w->plan->lease_max),
		};
		c->orphan.want.mode = h->mode;
		c->orphan.left = h->left.any;
		queue_push(&w->queue, c->orphan.give_at, EVENT_ORPHAN, x);
	} else if (h->hold) {
		check_fact(w, &(struct fact){
			.kind = FACT_GONE, .client = x, .lock = h->lock, .hold = h->hold,
			.at = w->now,
		});
	}
	h->stamp++;
	h->kernel = false;
	h->client = h->helpers;
	memset(h->client, 0, w->protocol->core->client->size(w->plan->n));
	h->app = APP_IDLE;
	h->hold = 0;
	h->wake_at = NEVER;
}

/* An attempt of the kernel, and a request that it has left to the next helper, outlive this one. */
static bool is_kept(const struct handle *h)
{
	return h->kernel || h->left_over;
}

/* Events of the helper that was there are void. */
static void arm_again(struct world *w, u32 x, u32 i)
{
	w->client[x].handle[i].wake_at = NEVER;
	client_arm(w, x, i);
}

void client_down(struct world *w, u32 x, bool host, u64 down)
{
	struct client *c = &w->client[x];
	u32 i;

	if (!c->up)
		return;
	if (w->order) {
		order_client_down(w, x, down);
		return;
	}
	tell(w, NO_LOCK, "c%u: its %s", x + 1, host ? "host goes down" : "helper is killed");
	w->stats.fault[host ? FAULT_CRASH : FAULT_KILL]++;
	c->up = false;
	if (host && c->orphan.alive) {
		check_fact(w, &(struct fact){
			.kind = FACT_GONE, .client = x, .lock = c->orphan.lock,
			.hold = c->orphan.hold, .at = w->now,
		});
		c->orphan.alive = false;
	}
	c->host_up = !host;
	c->stamp++;
	for (i = 0; i < w->plan->handles; i++)
		if (host || !is_kept(&c->handle[i]))
			client_abandon(w, x, &c->handle[i], host);
		else if (c->handle[i].kernel)
			arm_again(w, x, i);
	if (host)
		fault_cut_off(w, x);
	c->busy_until = 0;
	if (host)
		c->releases = NULL;	/* forgotten, not spare: an event may name one */
	else
		client_release_keep(w, x);
	queue_push(&w->queue, w->now + down, EVENT_START, x)->stamp = c->stamp;
}
