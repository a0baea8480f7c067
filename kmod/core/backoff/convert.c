// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Another mode of a held lock. F grants cover the held mode, until F grants cover the wanted one;
 * each try() on the way renews them. The client gives a mode up at once, and a server does so when
 * it has heard of that. An answer to an earlier send does not count any more, since the server may
 * have shrunk the grant of which that answer speaks.
 */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

/* Forget the answers to an earlier conversion: they say nothing about this one. */
static void begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u;

	for (u = 0; u < cfg->n; u++)
		c->server[u].more_ns = 0;
	c->deadlock = 0;
	c->blocked = 0;
	c->stamps_anew = false;
	c->reads_anew = false;
}

/* The caller has stopped doing what @mode does not allow. */
static void shrink(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		   enum bftm_mode mode, const struct bftm_written *leaves, u64 now,
		   struct bftm_out *out)
{
	bftm_value_leave(c, cfg, leaves);
	if (mode != c->held)
		bftm_hold_unwanted(c);
	c->held = mode;
	c->base.want.mode = mode;
	c->cut_k = c->base.sends + 1;
	c->owed = bftm_everyone(cfg);
	c->owed_k = c->cut_k;
	begin(c, cfg);
	bftm_hold_ask(c, cfg, now, out);
}

/* The conversion is over: the caller goes on holding @mode, as before it. */
static void give_up(struct bftm_contend *c, const struct bftm_client_cfg *cfg, enum bftm_mode mode,
		    enum bftm_kept why, u64 now, struct bftm_out *out)
{
	shrink(c, cfg, mode, NULL, now, out);
	out->verdict = BFTM_KEPT;
	out->kept = why;
}

/* The mode is held. If the caller wants a token for it, the conversion waits for that. */
static void arrive(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out)
{
	if (c->fences)
		bftm_fence_anew(c, cfg, now, out);
	else
		bftm_convert_stamped(c, cfg, now, out);
}

void bftm_contend_convert(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_conversion *to, u64 now, struct bftm_out *out)
{
	bool anew;

	memset(out, 0, sizeof(*out));
	if (c->base.phase != BFTM_PHASE_HOLD)
		return;
	if (now > bftm_contend_end(c, cfg)) {
		bftm_die(c, cfg, BFTM_LAPSED, out);
		return;
	}
	/* The conversion that this one replaces has its mode, and the program does not know. */
	anew = c->stamps_anew || c->reads_anew;
	if (c->stamps_anew)
		c->base.token = c->old_token;
	c->once = to->once;
	c->fences = to->fence;
	c->base.want.value = c->base.want.value || to->value;
	if (bftm_mode_covers(c->held, to->mode)) {
		shrink(c, cfg, to->mode, to->leaves, now, out);
		c->resort = c->held;
		arrive(c, cfg, now, out);
		return;
	}
	/* CW and PR have no order: the way leads through PW, which no other holder delays. */
	if (!anew)
		c->resort = c->held;
	bftm_value_leave(c, cfg, to->leaves);
	c->base.want.mode = bftm_mode_join(c->held, to->mode);
	begin(c, cfg);
	bftm_value_forget(c, cfg);
	bftm_hold_ask(c, cfg, now, out);
}

void bftm_convert_stamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out)
{
	c->stamps_anew = false;
	bftm_hold_converted(c, cfg, now);
	out->verdict = BFTM_CONVERTED;
}

void bftm_convert_unstamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			    enum bftm_kept why, u64 now, struct bftm_out *out)
{
	c->base.token = c->old_token;
	c->stamps_anew = false;
	out->verdict = BFTM_CONVERTED;
	if (c->held != c->resort) {
		give_up(c, cfg, c->resort, why, now, out);
		return;
	}
	bftm_hold_converted(c, cfg, now);
}

/* Give the conversion up: servers forget the wanted mode, and what they granted of it. */
static void keep(struct bftm_contend *c, const struct bftm_client_cfg *cfg, enum bftm_kept why,
		 u64 now, struct bftm_out *out)
{
	give_up(c, cfg, c->held, why, now, out);
}

void bftm_contend_keep(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (bftm_converts(c))
		keep(c, cfg, BFTM_KEPT_ASKED, now, out);
	else if (c->stamps_anew)
		bftm_convert_unstamped(c, cfg, BFTM_KEPT_ASKED, now, out);
	else if (c->reads_anew)
		give_up(c, cfg, c->resort, BFTM_KEPT_ASKED, now, out);
}

/*
 * One of b + 1 servers that see a deadlock is correct. A client that asks once gives up when F
 * servers cannot grant, since too many have answered without a grant.
 */
static void judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		  struct bftm_out *out)
{
	u32 f = bftm_win(cfg);

	if (bftm_count(c->deadlock) > cfg->b)
		keep(c, cfg, BFTM_KEPT_DEADLOCK, now, out);
	else if (c->once && bftm_count(c->blocked) > cfg->n - f)
		keep(c, cfg, BFTM_KEPT_BLOCKED, now, out);
}

static void note(u32 *mask, u32 u, bool set)
{
	*mask = (*mask & ~(1u << u)) | (u32)set << u;
}

/* From now on the lock is held by the grants that cover the wanted mode, and by no other. */
static void take_converted(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u;

	for (u = 0; u < cfg->n; u++) {
		struct bftm_answer *a = &c->server[u];

		a->from_ns = a->more_ns;
		if (!a->more_ns)
			a->k = 0;
	}
	c->known_end_ns = 0;
	c->held = c->base.want.mode;
}

void bftm_convert_free(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];
	bool all = bftm_mode_covers(msg->mode, c->base.want.mode);
	u64 sent = c->sent_ns[msg->k % BFTM_SENDS];

	if (all && sent > a->more_ns)
		a->more_ns = sent;
	note(&c->deadlock, u, msg->flags & BFTM_FLAG_DEADLOCK);
	note(&c->blocked, u, !a->more_ns);
	/* The new grants must last as long as the old ones: callers count on the end they know. */
	if (bftm_kth_end(c, cfg, true) < bftm_contend_end(c, cfg)) {
		judge(c, cfg, now, out);
		return;
	}
	take_converted(c, cfg);
	out->extended = true;
	if (bftm_value_read(c, cfg, now)) {
		arrive(c, cfg, now, out);
		return;
	}
	c->reads_anew = true;
	bftm_value_await(c, cfg, now);
	bftm_hold_converted(c, cfg, now);
}

void bftm_convert_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_out *out)
{
	c->reads_anew = false;
	arrive(c, cfg, now, out);
}

void bftm_convert_wait(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out)
{
	if (msg->type != BFTM_MSG_WAIT && msg->type != BFTM_MSG_LOCKED &&
	    msg->type != BFTM_MSG_REFUSED)
		return;
	note(&c->deadlock, u, msg->flags & BFTM_FLAG_DEADLOCK);
	note(&c->blocked, u, !c->server[u].more_ns);
	judge(c, cfg, now, out);
}

void bftm_convert_inquire(struct bftm_contend *c, u32 u, const struct bftm_msg *msg,
			  struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	/* A client does not yield the mode that it holds. */
	if (bftm_mode_covers(c->held, msg->mode))
		return;
	if (msg->gno > a->yielded)
		a->yielded = msg->gno;
	if (a->granted <= msg->gno) {
		a->more_ns = 0;
		a->value_told = false;
	}
	bftm_yield(c, u, msg->gno, out);
}
