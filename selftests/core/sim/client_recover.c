// SPDX-License-Identifier: GPL-2.0
/*
 * Fencing tokens of a server that lost its memory, as the daemon brings them
 * back: a helper that hears that a server does not know asks all others and
 * tells it what they say.
 */
#include "core/backoff/client.h"
#include "story.h"

static u32 others(const struct world *w, u32 u)
{
	return (u32)((1ull << w->plan->n) - 1) & ~(1u << u);
}

static void look_again(struct world *w, u32 x, u32 u, u64 after)
{
	struct client *c = &w->client[x];
	struct event *e = queue_push(&w->queue, clock_when(&c->clock, client_look(w, c) + after,
							   w->now), EVENT_RECOVER, x);

	e->part = u;
	e->stamp = c->stamp;
}

static void begin(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct recovery *r = &w->client[x].recovery;

	if (r->on || msg->server_epoch != w->client[x].peer[u].known.epoch)
		return;
	/*
	 * A token that it stamped before it went down may yet make somebody a holder
	 * with a token. When its quarantine is over, those are known to others.
	 */
	if (msg->gno) {
		*r = (struct recovery){ .on = true, .server = u, .from_seq = NEVER };
		look_again(w, x, u, msg->gno + w->plan->delta);
		return;
	}
	*r = (struct recovery){
		.on = true, .server = u, .epoch = msg->server_epoch,
		.from_seq = w->client[x].seq,
	};
	client_hello(w, x, others(w, u));
	look_again(w, x, u, 4 * w->plan->resend + w->plan->lease_max / 4);
}

void client_tokens(struct world *w, u32 x, u32 u, const struct bftm_msg *msg)
{
	struct recovery *r = &w->client[x].recovery;
	u64 floor;

	if (!w->plan->fence)
		return;
	if (msg->token == BFTM_TOKEN_UNKNOWN) {
		begin(w, x, u, msg);
		return;
	}
	if (!r->on)
		return;
	if (u == r->server) {
		r->on = false;
		return;
	}
	if (msg->seq <= r->from_seq || r->known >> u & 1)
		return;
	r->known |= 1u << u;
	r->top[u] = msg->token;
	if (!bftm_recovered_token(&w->client[x].cfg, r->top, (u32)__builtin_popcount(r->known), &floor))
		return;
	r->on = false;
	/* It restarted again meanwhile, and its quarantine is not over. */
	if (r->epoch != w->client[x].peer[r->server].known.epoch)
		return;
	w->stats.recovered++;
	client_answer_recovery(w, x, 1u << r->server, floor);
}

void client_recover(struct world *w, u32 x, u32 u)
{
	struct recovery *r = &w->client[x].recovery;

	if (r->on && r->server != u)
		return;
	/* Datagrams were lost, or others do not know either: from the beginning. */
	r->on = false;
	client_hello(w, x, 1u << u);
	client_done(w, &w->client[x]);
}
