// SPDX-License-Identifier: GPL-2.0
/*
 * A client around the core, as helper/lock/acquire.c, helper/lock/release.c and
 * helper/cluster/cluster.c have it. Order matters here: the clock is read before
 * anything is sent, the lock is not used any more before anybody hears so.
 */
#include "story.h"

u64 client_look(const struct world *w, const struct client *c)
{
	return clock_at(&c->clock, w->now + c->lag);
}

void client_stall(struct world *w, struct client *c)
{
	struct rng *r = &w->rng[RNG_FAULT];

	if (!world_fault(w, FAULT_STALL) || !rng_chance(r, w->plan->stall))
		return;
	w->stats.fault[FAULT_STALL]++;
	c->lag += rng_scale(r, 1, 3 * w->plan->lease_max);
	/* All that stops ends when the world heals. */
	if (w->now + c->lag > w->heal_at)
		c->lag = w->heal_at - w->now;
}

void client_done(struct world *w, struct client *c)
{
	if (c->lag)
		c->busy_until = w->now + c->lag;
	if (c->busy_until > w->heal_at)
		c->busy_until = w->heal_at;	/* all that stops ends there */
	c->lag = 0;
}

/* As bftm_cluster_send() and bftm_line_send(). A host may go down between two datagrams. */
static void send_to(struct world *w, struct client *c, u32 to, struct bftm_msg *msg,
		    const struct peer *peer)
{
	u32 u, x = (u32)(c - w->client);

	msg->proto = w->protocol->core->number;
	msg->cluster = 1;
	msg->client = x;
	for (u = 0; u < w->plan->n; u++) {
		if (!(to & 1u << u))
			continue;
		if (world_fault(w, FAULT_CRASH) && c->up && !c->lag &&
		    rng_chance(&w->rng[RNG_FAULT], 500))
			queue_push(&w->queue, w->now, EVENT_FAULT, x)->part = FAULTS;
		msg->server = (u16)(u + 1);
		msg->server_epoch = peer[u].known.sent_epoch;
		msg->seq = ++c->seq;
		network_send(w, TO_SERVER, u, msg, w->now + c->lag);
	}
}

/* The number that a message is about, for stories. */
static u32 number(const struct bftm_msg *msg)
{
	return (u32)(msg->type == BFTM_MSG_STAMP ? msg->token : msg->gno);
}

void client_send(struct world *w, u32 x, const struct handle *h, const struct bftm_out *out)
{
	struct client *c = &w->client[x];
	struct bftm_msg msg;
	u32 i, to, some;

	for (i = 0; i < out->count; i++) {
		to = out->send[i].to;
		bftm_contender_message(h->client, &out->send[i], to, &msg);
		if (msg.flags & BFTM_FLAG_REASSERT)
			tell_more(w, h->lock, "c%u tells %s that it holds %s, in mode %s: send %u of %s",
				  x + 1, story_servers(w, to), story_lock(h->lock),
				  story_mode(msg.mode), msg.k, story_attempt(w, msg.attempt));
		else if (msg.type == BFTM_MSG_TRY)
			tell_more(w, h->lock, "c%u asks %s for %s: send %u of %s", x + 1,
				  story_servers(w, to), story_lock(h->lock), msg.k,
				  story_attempt(w, msg.attempt));
		else
			tell_more(w, h->lock, "c%u says %s %u of %s to %s", x + 1,
				  bftm_msg_name(msg.type), number(&msg),
				  story_attempt(w, msg.attempt), story_servers(w, to));
		w->stats.yielded += msg.type == BFTM_MSG_YIELD;
		for (; to; to &= ~some) {
			some = bftm_contender_message(h->client, &out->send[i], to, &msg);
			name_lock(&msg, h->lock);
			send_to(w, c, some, &msg, h->kernel ? c->kernels : c->peer);
		}
	}
}

static void hello(struct world *w, u32 x, u32 to, struct peer *peer)
{
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO };
	u32 u;

	for (u = 0; u < w->plan->n; u++)
		if (to >> u & 1)
			peer[u].hello_at = w->now;
	send_to(w, &w->client[x], to, &msg, peer);
}

void client_hello(struct world *w, u32 x, u32 to)
{
	hello(w, x, to, w->client[x].peer);
}

void client_kernel_hello(struct world *w, u32 x, u32 u)
{
	struct peer *kernels = w->client[x].kernels;

	if (!kernels[u].hello_at || w->now - kernels[u].hello_at >= w->plan->resend)
		hello(w, x, 1u << u, kernels);
}

void client_sync(struct world *w, u32 x, u32 u)
{
	struct bftm_msg msg = { .type = BFTM_MSG_SYNC, .incarnation = (u32)w->client[x].boot };

	tell_more(w, NO_LOCK, "c%u has told s%u of all that it holds without a lease", x + 1, u + 1);
	send_to(w, &w->client[x], 1u << u, &msg, w->client[x].peer);
}

void client_answer_recovery(struct world *w, u32 x, u32 to, u64 floor)
{
	struct bftm_msg msg = { .type = BFTM_MSG_RECOVER, .token = floor };

	tell(w, NO_LOCK, "c%u tells s%u that no token above %llu was stamped", x + 1,
	     w->client[x].recovery.server + 1, (unsigned long long)floor);
	send_to(w, &w->client[x], to, &msg, w->client[x].peer);
}

void client_send_release(struct world *w, struct client *c, const struct release *op, u32 to)
{
	const struct bftm_release *r = op->kernel ? &op->host.release : &op->core;
	struct bftm_msg msg;
	u32 some;

	for (; to; to &= ~some) {
		some = bftm_release_message(r, to, &msg);
		name_lock(&msg, op->lock);
		send_to(w, c, some, &msg, op->kernel ? c->kernels : c->peer);
	}
}

static struct release *release_new(struct world *w, struct client *c, u32 lock)
{
	struct release *op = w->spare;

	if (op)
		w->spare = op->next;
	else
		op = arena_take(&w->arena, sizeof(*op));
	op->lock = lock;
	w->numbers++;
	op->number = (u32)w->numbers;
	op->kernel = false;
	op->next = c->releases;
	c->releases = op;
	return op;
}

static void release_arm(struct world *w, u32 x, const struct release *op)
{
	struct client *c = &w->client[x];
	u64 due = op->kernel ? op->host.due_ns : op->core.wake_ns;
	struct event *e = queue_push(&w->queue, clock_when(&c->clock, due, w->now), EVENT_RELEASE, x);

	e->part = op->number;
	e->stamp = c->stamp;
}

void client_release_keep(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct release *op, *next, *all = c->releases;

	/* Others are forgotten, not spare: an event may name one. */
	c->releases = NULL;
	for (op = all; op; op = next) {
		next = op->next;
		if (!op->kernel)
			continue;
		op->next = c->releases;
		c->releases = op;
		release_arm(w, x, op);
	}
}

void client_release_kernel(struct world *w, u32 x, u32 lock, const struct bftm_host *host, u32 to)
{
	struct client *c = &w->client[x];
	struct release *op = release_new(w, c, lock);

	op->kernel = true;
	op->host = *host;
	op->core.attempt = host->attempt;
	client_send_release(w, c, op, to);
	release_arm(w, x, op);
}

/* As bftm_release_begin(). */
void client_release(struct world *w, u32 x, u32 lock, const struct bftm_out *out)
{
	struct client *c = &w->client[x];
	struct release *op;

	if (!w->protocol->releases)
		return;
	for (op = c->releases; op; op = op->next) {
		/* A liar may name an attempt for a lock that it is not for. */
		if (op->core.attempt == out->release_attempt && op->lock == lock) {
			op->core.unanswered |= out->release_to;
			client_send_release(w, c, op, out->release_to);
			return;
		}
	}
	op = release_new(w, c, lock);
	bftm_release_start(&op->core, &c->cfg, out, client_look(w, c));
	client_send_release(w, c, op, out->release_to);
	release_arm(w, x, op);
}

static void drop_release(struct world *w, struct release **link)
{
	struct release *op = *link;

	*link = op->next;
	op->next = w->spare;
	w->spare = op;
}

/* Return: true when it is over. */
static bool release_wake(struct release *op, const struct bftm_client_cfg *cfg, u64 now, u32 *ret_to)
{
	struct bftm_host_step step;

	*ret_to = 0;
	if (op->kernel) {
		bftm_host_wake(&op->host, cfg, now, &step);
		*ret_to = step.out.release_to;
		return step.event == BFTM_HOST_OVER;
	}
	if (now < op->core.wake_ns)
		return false;
	*ret_to = bftm_release_wake(&op->core, cfg, now);
	return !*ret_to;
}

void client_release_wake(struct world *w, u32 x, u32 number)
{
	struct client *c = &w->client[x];
	struct release **link;
	u64 now = client_look(w, c);
	u32 to;

	for (link = &c->releases; *link; link = &(*link)->next)
		if ((*link)->number == number)
			break;
	if (!*link)
		return;
	client_stall(w, c);
	if (release_wake(*link, &c->cfg, now, &to)) {
		drop_release(w, link);
	} else {
		client_send_release(w, c, *link, to);
		release_arm(w, x, *link);
	}
	client_done(w, c);
}
