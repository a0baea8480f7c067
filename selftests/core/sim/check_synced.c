// SPDX-License-Identifier: GPL-2.0
/*
 * SYNC is true: a correct server that takes it has granted all that the client holds without a
 * lease, and counts that server for. One such lapse makes no two holders yet, so the rule finds
 * what "exclusion" would find by the second.
 */
#include "story.h"

static void *start(struct world *w)
{
	return arena_take(&w->arena, 1);
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	const struct bftm_client_ops *core = w->protocol->core->client;
	struct bftm_lock_view view;
	u32 i;

	(void)state;
	for (i = 0; i < w->plan->handles; i++) {
		const struct handle *h = &w->client[f->client].handle[i];

		if (!h->hold || h->want.lease_ns != BFTM_LEASE_NONE ||
		    !core->granted_ns(h->client, f->server))
			continue;
		if (!w->server[f->server].touched_ns[h->lock] ||
		    !server_granted(w, f->server, h->lock, f->client, h->client->attempt, &view))
			check_fails(w, &check_synced, h->lock,
				    "c%u holds %s by s%u, which knows nothing of it after SYNC",
				    f->client + 1, story_lock(h->lock), f->server + 1);
	}
}

const struct checker check_synced = {
	.name = "synced",
	.rule = "after SYNC a server knows what its client holds without a lease",
	.facts = FACT(SYNCED),
	.start = start,
	.on_fact = on_fact,
};
