// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The servers that an attempt asks first, and the others. core/ask.c chooses; here is when the
 * others are asked. They hear the same k: the grant of a server that is asked late counts from the
 * first send all the same, and F grants are needed, whoever was asked.
 */
#include "core/backoff/contend.h"
#include "core/quorum.h"

void bftm_first_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	c->resends = 0;
	c->hedge_ns = bftm_first_only(c, cfg) ? c->base.asking.hedge_ns : 0;
	c->resend_ns = now + (c->hedge_ns ?: cfg->resend_ns);
}

/* The last k once more: a late server's lease counts from the send that the others have heard. */
static void ask_rest(struct bftm_contend *c, u32 to, u64 now, struct bftm_out *out)
{
	bftm_ask_more(&c->base.asking, to, now);
	bftm_repeat_try(c, to, out);
}

void bftm_first_rest(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out)
{
	ask_rest(c, bftm_everyone(cfg) & ~c->base.asking.asked, now, out);
}

void bftm_first_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out)
{
	u32 first = c->base.asking.first, silent, open;

	if (c->base.phase != BFTM_PHASE_TRY || !bftm_first_only(c, cfg))
		return;
	silent = bftm_said(c, cfg, BFTM_MSG_NONE);
	open = first & (silent | bftm_said(c, cfg, BFTM_MSG_FREE));
	if (bftm_count(open) >= bftm_win(cfg))
		return;
	/* A round ends when enough deny, and those asked first may be enough for that. */
	if (!bftm_contender_queues(&c->base) && silent & first)
		return;
	bftm_first_rest(c, cfg, now, out);
	/* They have their time, too. */
	c->resend_ns = now + c->base.asking.hedge_ns;
}

void bftm_first_over(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out)
{
	u64 pause, longest;

	bftm_ask_due(cfg, &c->base.asking, now);
	/*
	 * The same k: send times are kept for a few sends only, and
	 * those of the servers that answered must not be lost.
	 */
	ask_rest(c, bftm_said(c, cfg, BFTM_MSG_NONE), now, out);
	c->resends++;
	pause = c->hedge_ns ?: cfg->resend_ns;
	/* A hedge may be as short as a round trip. Pauses grow from it as far as all others do. */
	longest = BFTM_LATER_MOST * (pause > cfg->resend_ns ? pause : cfg->resend_ns);
	c->resend_ns = bftm_later_most(now, pause, c->resends, longest);
}

void bftm_first_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, bool free, u64 now)
{
	bool sent = msg->k > c->sends_base && msg->k <= c->base.sends &&
		    c->base.sends - msg->k < BFTM_SENDS;

	bftm_ask_heard(cfg, &c->base.asking, u, free,
		       sent ? c->sent_ns[msg->k % BFTM_SENDS] : 0, now);
}

bool bftm_first_again(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out)
{
	struct bftm_asking *t = &c->base.asking;
	u32 u;

	if (!t->own || t->again)
		return false;
	t->again = true;
	t->stale = bftm_said(c, cfg, BFTM_MSG_NONE) & t->asked;
	for (u = 0; u < cfg->n; u++)
		if (c->server[u].type != BFTM_MSG_FREE)
			c->server[u].type = BFTM_MSG_NONE;
	bftm_send_try(c, bftm_everyone(cfg), now, out);
	bftm_round_begun(c, cfg, now);
	return true;
}

bool bftm_first_stale(struct bftm_contend *c, u32 u)
{
	bool stale = c->base.asking.stale >> u & 1;

	c->base.asking.stale &= ~(1u << u);
	return stale;
}
