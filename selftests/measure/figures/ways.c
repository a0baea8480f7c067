// SPDX-License-Identifier: GPL-2.0
/*
 * Ways to wait, each a curve of the figures; and our protocol with one of its
 * parts left out, by what the shell around the cores does, not in the cores.
 */
#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "figures.h"

#define BACKOFF .wait = BFTM_WAIT_BACKOFF

/* A new way is a line here and, for its title and colour, in common.gp. */
const struct way ways[] = {
	{ "queue", &protocol_ours, .wait = BFTM_WAIT_QUEUE, .most = ~0u, .most_lease = 128 },
	{ "exponential", &protocol_ours, BACKOFF, .retry_max = UNCAPPED, .most = ~0u },
	/* The default; its 60 s are six of the default's leases. */
	{ "capped", &protocol_ours, BACKOFF, .retry_max = 6 * LEASE, .most = ~0u },
	{ "square", &protocol_ours, BACKOFF, .exponent = 2, .retry_max = UNCAPPED, .most = ~0u },
	{ "linear", &protocol_ours, BACKOFF, .exponent = 1, .retry_max = UNCAPPED, .most = ~0u },
	{ "no-backoff", &protocol_ours, .wait = BFTM_WAIT_NO_BACKOFF, .retry_max = UNCAPPED,
	  .most = 16, .most_lease = 1 },
	{ "paper", &protocol_paper, BACKOFF, .retry_max = UNCAPPED, .most = ~0u },
};

const u32 ways_count = sizeof(ways) / sizeof(ways[0]);

void way_use(const struct way *way, struct trial *t)
{
	t->plan.protocol = way->protocol;
	t->plan.polynomial = way->exponent;
	t->plan.exponent = way->exponent;
	t->plan.retry_max = way->retry_max;
	t->load.wait = way->wait;
}

/* A lost round goes unsaid, and what was granted in it lasts a lease. */
static void no_cancel_answer(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			     const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	bftm_backoff.client->answer(c, cfg, u, msg, now, rnd, out);
	out->release_to = 0;
}

static void no_cancel_wake(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			   u64 attempt, u64 rnd, struct bftm_out *out)
{
	bftm_backoff.client->wake(c, cfg, now, attempt, rnd, out);
	out->release_to = 0;
}

/* When a TRY would be repeated, the round is given up instead. */
static void no_resend_wake(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			   u64 attempt, u64 rnd, struct bftm_out *out)
{
	if (c->phase == BFTM_PHASE_TRY)
		c->sends = BFTM_ROUND_SENDS;
	bftm_backoff.client->wake(c, cfg, now, attempt, rnd, out);
}

static struct bftm_client_ops no_cancel_client, no_resend_client;
static struct bftm_protocol no_cancel, no_resend;

const struct protocol protocol_no_release = { .name = "ours", .core = &bftm_backoff };
const struct protocol protocol_no_cancel = {
	.name = "ours", .releases = true, .core = &no_cancel,
};
const struct protocol protocol_no_resend = {
	.name = "ours", .releases = true, .core = &no_resend,
};

void ways_setup(void)
{
	no_cancel_client = *bftm_backoff.client;
	no_cancel_client.answer = no_cancel_answer;
	no_cancel_client.wake = no_cancel_wake;
	no_cancel = bftm_backoff;
	no_cancel.client = &no_cancel_client;
	no_resend_client = *bftm_backoff.client;
	no_resend_client.wake = no_resend_wake;
	no_resend = bftm_backoff;
	no_resend.client = &no_resend_client;
}
