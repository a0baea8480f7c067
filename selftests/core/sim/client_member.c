// SPDX-License-Identifier: GPL-2.0
/*
 * A client that may hold locks without a lease. It asks servers for their epoch every second, tells
 * one that has restarted what it holds, and then that this is all.
 */
#include "story.h"

static bool is_member(const struct world *w)
{
	return w->plan->leaseless;
}

static void hello_later(struct world *w, u32 x)
{
	queue_push(&w->queue, w->now + BFTM_NS_PER_SEC, EVENT_HELLO, x)->stamp = w->client[x].stamp;
}

void client_member_start(struct world *w, u32 x)
{
	if (is_member(w))
		hello_later(w, x);
}

void client_member_hello(struct world *w, u32 x)
{
	client_hello(w, x, (u32)((1ull << w->plan->n) - 1));
	client_done(w, &w->client[x]);
	hello_later(w, x);
}

/*
 * The handle whose application is not out yet, though a helper has dealt with its end: that helper
 * was held up, so its step ended in times to come, and it was killed before.
 */
static const struct handle *late(const struct world *w, const struct client *c, u64 attempt)
{
	const struct handle *h;

	for (h = c->handle; h < c->handle + w->plan->handles; h++)
		if (w->now < h->leaving.at && (!attempt || h->leaving.attempt == attempt))
			return h;
	return NULL;
}

/* A lock that an earlier helper won, and this one has not taken over, is held all the same. */
static bool knows_all(const struct world *w, const struct client *c)
{
	const struct orphan *o = &c->orphan;

	return (!o->alive || o->stopped || o->want.lease_ns != BFTM_LEASE_NONE) && !late(w, c, 0);
}

void client_member_sync(struct world *w, u32 x, u32 u)
{
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct client *c = &w->client[x];
	bool told = knows_all(w, c);
	u32 i;

	if (!is_member(w))
		return;
	for (i = 0; i < w->plan->handles; i++)
		told &= core->retold(c->handle[i].client, u);
	if (bftm_peer_sync(&c->peer[u].known, told, client_look(w, c), w->plan->resend))
		client_sync(w, x, u);
}

void client_member_epoch(struct world *w, u32 x, u32 u, enum bftm_peer_news news)
{
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct client *c = &w->client[x];
	struct bftm_out out;
	u32 i;

	if (!is_member(w))
		return;
	for (i = 0; i < w->plan->handles && news == BFTM_PEER_NEW; i++) {
		core->restarted(c->handle[i].client, &c->cfg, u, client_look(w, c), &out);
		client_send(w, x, &c->handle[i], &out);
		client_arm(w, x, i);
	}
	client_member_sync(w, x, u);
}

void client_member_synced(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct client *c = &w->client[x];

	bftm_peer_synced(&c->peer[u].known, msg, (u32)c->boot);
}

bool client_member_disowns(const struct world *w, u32 x, const struct bftm_msg *msg)
{
	const struct client *c = &w->client[x];

	bool held = c->orphan.alive && c->orphan.attempt == msg->attempt;

	return is_member(w) && !held && !late(w, c, msg->attempt) &&
	       bftm_disowns(msg->attempt, (u32)c->boot, true);
}

void client_member_evicted(struct world *w, u32 x, u32 u)
{
	struct client *c = &w->client[x];
	u32 i;

	c->evicted |= 1u << u;
	/* A correct server is among b + 1: what others may have by now is not held any more. */
	if ((u32)__builtin_popcount(c->evicted) <= w->plan->b)
		return;
	c->evicted = 0;
	for (i = 0; i < w->plan->handles; i++) {
		struct handle *h = &c->handle[i];

		if (h->app == APP_IDLE)
			continue;
		tell(w, h->lock, "c%u is evicted, and has lost %s", x + 1, story_lock(h->lock));
		client_end(w, x, i);
		app_failed(w, x, i, BFTM_REFUSED);
	}
}
