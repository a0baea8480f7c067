// SPDX-License-Identifier: GPL-2.0
/*
 * A lock that the kernel of a host takes by itself, waits for and renews, as kmod/client/fast.c. The
 * helper goes on with an attempt that loses, and with a lock that is to be converted.
 */
#include "story.h"

bool client_kernel_may(const struct world *w, u32 x, u32 i)
{
	const struct client *c = &w->client[x];
	const struct handle *h = &c->handle[i];

	/* A lock that an earlier helper left is known to the kernel by its name. */
	return w->plan->kernel && !h->want.value && h->want.lease_ns != BFTM_LEASE_NONE &&
	       !(c->orphan.alive && c->orphan.lock == h->lock);
}

/* One for all locks of a host: see bftm_fast_begin(). */
static void note_prio(struct world *w, u32 x, const struct bftm_contender *of)
{
	struct client *c = &w->client[x];
	u64 seen = w->protocol->core->client->seen(of, &c->cfg);

	if (c->prio < seen)
		c->prio = seen;
}

/* The attempt is over: RELEASE goes on without the handle. */
static void kernel_over(struct world *w, u32 x, u32 i, const struct bftm_out *out)
{
	struct handle *h = &w->client[x].handle[i];

	note_prio(w, x, h->kernels);
	client_release_kernel(w, x, h->lock, &h->host, out->release_to);
	h->kernel = false;
	h->client = h->helpers;
}

/* The kernel has lost, and there is no helper: the request waits for the next one. */
static void kernel_leave(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	tell(w, h->lock, "c%u: its kernel leaves %s to the next helper", x + 1,
	     story_lock(h->lock));
	h->left_over = true;
}

void client_kernel_left_over(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	h->left_over = false;
	if (h->app != APP_ASKING)
		return;
	/* The kernel has left the queue, and the helper gets another place there. */
	check_fact(w, &(struct fact){
		.kind = FACT_QUEUED, .client = x, .lock = h->lock, .at = w->now,
		.fair = client_is_fair(h),
	});
	client_contend(w, x, i);
}

void client_kernel_entrust(struct world *w, u32 x, u32 i)
{
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	u64 prio = core->seen(h->helpers, &c->cfg);
	struct bftm_want want = h->want;

	tell(w, h->lock, "c%u: its helper goes on with %s", x + 1, story_lock(h->lock));
	note_prio(w, x, h->kernels);
	h->sends = h->kernels->sends;
	/* See core/backoff/host.h. */
	if (h->host.yielded)
		c->seq += BFTM_WINDOW_BITS;
	h->kernel = false;
	h->client = h->helpers;
	/* As bftm_attempt_adopt(). */
	memset(h->client, 0, core->size(w->plan->n));
	h->client->token = h->token;
	h->client->prio = prio;
	want.whole = true;
	core->adopt(h->client, &c->cfg, &want, h->host.attempt, h->known_end_ns, h->sends, false);
}

static void kernel_obey(struct world *w, u32 x, u32 i, const struct bftm_host_step *step, u64 now)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	if (bftm_out_to(&step->out, BFTM_MSG_STAMP))
		client_offer(w, x, h);
	/* The handle knows of it in the same hold of the lock. */
	if (step->event == BFTM_HOST_RENEWED) {
		client_watch_hold(w, x, i, BFTM_PENDING, now);
		w->stats.renewed++;
		h->end_ns = h->known_end_ns;
	}
	client_stall(w, c);
	if (step->event == BFTM_HOST_WON)
		client_watch_hold(w, x, i, BFTM_WON, now);
	client_send(w, x, h, &step->out);
	if (h->host.state == BFTM_HOST_END)
		kernel_over(w, x, i, &step->out);
	switch (step->event) {
	case BFTM_HOST_WON:
		client_arm(w, x, i);
		app_won(w, x, i);
		return;
	case BFTM_HOST_LOST:
		if (!c->up) {
			kernel_leave(w, x, i);
			return;
		}
		tell(w, h->lock, "c%u: its kernel leaves %s to the helper", x + 1,
		     story_lock(h->lock));
		client_kernel_left_over(w, x, i);
		return;
	case BFTM_HOST_LAPSED:
		app_failed(w, x, i, BFTM_LAPSED);
		return;
	case BFTM_HOST_NOTHING:
	case BFTM_HOST_RENEWED:
	case BFTM_HOST_OVER:
		client_arm(w, x, i);
	}
}

void client_kernel_begin(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct bftm_want want = h->want;
	struct bftm_host_step step;
	u64 now = client_look(w, c);

	client_stall(w, c);
	memset(h->kernels, 0, w->protocol->core->client->size(w->plan->n));
	h->kernels->prio = c->prio;
	h->kernel = true;
	h->client = h->kernels;
	h->host.core = w->protocol->core->client;
	h->host.client = h->kernels;
	if (want.wait != BFTM_WAIT_QUEUE)
		want.wait = BFTM_WAIT_NOT;
	bftm_host_begin(&h->host, &c->cfg, &want, ++c->attempt, now, &step);
	client_watch(w, x, i, 0, BFTM_PHASE_DEAD);
	kernel_obey(w, x, i, &step, now);
	client_done(w, c);
}

void client_kernel_answer(struct world *w, u32 x, u32 i, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	struct bftm_host_step step;
	u64 now = client_look(w, c);

	bftm_host_answer(&h->host, &c->cfg, u, msg, now, &step);
	client_watch(w, x, i, h->host.attempt, phase);
	kernel_obey(w, x, i, &step, now);
}

/* As bftm_fast_stale(). */
void client_kernel_stale(struct world *w, u32 x, u32 i, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct bftm_host_step step;
	u64 now = client_look(w, c);

	if (h->host.attempt != msg->attempt)
		return;
	bftm_host_epoch(&h->host, &c->cfg, u, now, &step);
	kernel_obey(w, x, i, &step, now);
}

static void kernel_stop(struct world *w, u32 x, u32 i, bool doubt, u64 now,
			struct bftm_host_step *step)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;

	bftm_host_stop(&h->host, &c->cfg, doubt, now, step);
	client_watch(w, x, i, h->host.attempt, phase);
}

void client_kernel_renew(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	struct bftm_host_step step;
	u64 now = client_look(w, c);

	bftm_host_renew(&h->host, &c->cfg, now, &step);
	client_watch(w, x, i, h->host.attempt, phase);
	kernel_obey(w, x, i, &step, now);
	client_done(w, c);
}

void client_kernel_stop(struct world *w, u32 x, u32 i)
{
	struct bftm_host_step step;

	kernel_stop(w, x, i, false, client_look(w, &w->client[x]), &step);
	kernel_over(w, x, i, &step.out);
}

void client_kernel_wake(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->client->phase;
	struct bftm_host_step step;
	u64 now = client_look(w, c);

	client_stall(w, c);
	if (h->host.state == BFTM_HOST_HOLD && now > h->end_ns) {
		/* The lease is over, as the handle's own alarm says. */
		kernel_stop(w, x, i, true, now, &step);
		app_failed(w, x, i, BFTM_LAPSED);
		kernel_over(w, x, i, &step.out);
	} else {
		bftm_host_wake(&h->host, &c->cfg, now, &step);
		client_watch(w, x, i, h->host.attempt, phase);
		kernel_obey(w, x, i, &step, now);
	}
	client_done(w, c);
}
