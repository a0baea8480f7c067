// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/client.h"
#include "core/backoff/host.h"
#include "core/quorum.h"

/*
 * A grant that was asked back is not counted, and the server hears nothing of it: if this attempt
 * wins, the daemon that takes the lock over would have to know of a YIELD that is under way, since
 * the server says FREE until it arrives, and then gives the lock to another. An attempt that loses
 * gives that grant back with all others.
 */
static void drop_yields(struct bftm_out *out)
{
	u32 i, kept = 0;

	for (i = 0; i < out->count; i++)
		if (out->send[i].type != BFTM_MSG_YIELD)
			out->send[kept++] = out->send[i];
	out->count = kept;
}

/* @step->out says whom RELEASE goes to. */
static void host_end(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	bftm_release_start(&h->release, cfg, &step->out, now);
	h->state = BFTM_HOST_END;
	h->due_ns = h->release.wake_ns;
}

static void host_lose(struct bftm_host *h, const struct bftm_client_cfg *cfg, bool unheard, u64 now,
		      struct bftm_host_step *step)
{
	bool disputed = step->disputed;

	bftm_host_stop(h, cfg, false, now, step);
	step->event = BFTM_HOST_LOST;
	step->unheard = unheard;
	step->disputed = disputed;
}

/*
 * The daemon takes a lock over in time for its first renewal. Where not all servers were asked,
 * that is when the daemon tells all of them that the lock is held.
 */
static u64 entrust_pause(const struct bftm_host *h, const struct bftm_client_cfg *cfg)
{
	u64 pause = bftm_renewal_pause(cfg, h->lease_ns, false, h->inquired);

	return pause < h->lease_ns / 4 ? pause : h->lease_ns / 4;
}

static void host_won(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	const struct bftm_contender *c = h->client;

	step->end_ns = h->core->end(c, cfg);
	/* Servers may have been slow, so nothing is left of the lease. */
	if (step->end_ns <= now) {
		host_lose(h, cfg, false, now, step);
		return;
	}
	step->event = BFTM_HOST_WON;
	h->release.late = (struct bftm_late){
		.asking = c->asking, .mode = c->want.mode, .sends = c->sends,
	};
	h->due_ns = c->want.renew ? now + entrust_pause(h, cfg) : 0;
	h->state = BFTM_HOST_HOLD;
}

/*
 * LOCKED beside F FREE is a dispute in mode EX alone: beside holders of other modes come and go
 * others, and servers learn of these one after the other.
 */
static bool is_disputed(enum bftm_mode mode, bool locked)
{
	return mode == BFTM_MODE_EX && locked;
}

/* The core has made a step. */
static void host_asked(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_host_step *step)
{
	drop_yields(&step->out);
	h->sent |= bftm_out_to(&step->out, BFTM_MSG_TRY);
	step->disputed = step->out.verdict == BFTM_WON &&
			 is_disputed(h->client->want.mode, step->out.said_locked);
	if (step->out.verdict == BFTM_WON) {
		host_won(h, cfg, now, step);
	} else if (step->out.verdict == BFTM_PENDING) {
		h->due_ns = h->client->wake_ns;
	} else {
		host_end(h, cfg, now, step);
		step->event = BFTM_HOST_LOST;
	}
}

void bftm_host_begin(struct bftm_host *h, const struct bftm_client_cfg *cfg,
		     const struct bftm_want *want, u64 attempt, u64 now,
		     struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	*h = (struct bftm_host){
		.state = BFTM_HOST_ASK, .core = h->core, .client = h->client,
		.attempt = attempt, .lock = want->lock, .lease_ns = want->lease_ns,
	};
	h->core->start(h->client, cfg, want, attempt, now, &step->out);
	host_asked(h, cfg, now, step);
}

void bftm_host_unsent(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 failed, u64 now,
		      struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	h->sent &= ~failed;
	if (h->state != BFTM_HOST_ASK || h->client->sends > 1 ||
	    bftm_count(h->sent) >= bftm_win(cfg) ||
	    h->client->asking.asked != bftm_all(cfg->n))
		return;
	/* Too few can be asked to win: the reason for that will hardly go by waiting. */
	host_lose(h, cfg, !bftm_host_reached(h, cfg), now, step);
}

void bftm_host_unreleased(struct bftm_host *h, u64 now)
{
	h->release.sends -= !!h->release.sends;
	h->release.wake_ns = now;
	h->due_ns = now;
}

/*
 * As bftm_hold_inquired(). A server that asks has a waiter, which other servers may have granted
 * the lock: the daemon tells all servers soon of the holder, where not all were asked. Then no
 * server asks any more, so b + 1 of them have their time to ask first.
 */
static void host_inquired(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
			  const struct bftm_msg *msg, u64 now, struct bftm_host_step *step)
{
	if (!bftm_mode_covers(h->release.late.mode, msg->mode))
		return;
	h->inquired |= 1u << u;
	step->wanted = bftm_is_wanted(cfg, h->inquired);
	if (!h->due_ns || entrust_pause(h, cfg))
		return;
	if (!step->wanted) {
		if (now + cfg->resend_ns < h->due_ns)
			h->due_ns = now + cfg->resend_ns;
		return;
	}
	h->due_ns = 0;
	step->event = BFTM_HOST_ENTRUST;
}

/*
 * RELEASE may overtake TRY, also on this host. A server that has answered RELEASE and says that it
 * believes in the attempt knew no such lock then, so it has kept nothing by which to refuse TRY.
 * Where the server has not answered RELEASE, either RELEASE is on its way, or this answer has
 * overtaken RELEASED: host_released() sends RELEASE once more.
 */
static void host_stray(struct bftm_host *h, u32 u, const struct bftm_msg *msg,
		       struct bftm_host_step *step)
{
	bftm_stray(msg, u, &step->out);
	if (h->release.unanswered >> u & 1) {
		h->believes |= step->out.release_to;
		step->out.release_to = 0;
	}
	h->release.unanswered |= step->out.release_to;
}

/*
 * A server that has also said that it believes in the attempt, before or after it sent RELEASED,
 * hears RELEASE once more.
 */
static void host_released(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
			  struct bftm_host_step *step)
{
	u32 again = h->believes & 1u << u;

	h->believes &= ~again;
	if (again)
		step->out.release_to = again;
	else if (bftm_release_answer(&h->release, cfg, u))
		step->event = BFTM_HOST_OVER;
}

void bftm_host_answer(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 now, struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	h->heard |= 1u << u;
	if (h->state == BFTM_HOST_ASK) {
		/* The random bits are for a sleep, and this attempt never sleeps. */
		h->core->answer(h->client, cfg, u, msg, now, 0, &step->out);
		host_asked(h, cfg, now, step);
		return;
	}
	if (msg->type == BFTM_MSG_RELEASED) {
		if (h->state == BFTM_HOST_END)
			host_released(h, cfg, u, step);
		return;
	}
	/* The answer is too late to win by, and in time perhaps: such a server is not suspected. */
	bftm_ask_late(cfg, &h->release.late, u, msg, now);
	if (h->state == BFTM_HOST_END) {
		host_stray(h, u, msg, step);
		return;
	}
	step->disputed = is_disputed(h->release.late.mode, msg->type == BFTM_MSG_LOCKED);
	if (msg->type == BFTM_MSG_INQUIRE || msg->type == BFTM_MSG_PROBE)
		host_inquired(h, cfg, u, msg, now, step);
}

void bftm_host_epoch(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u, u64 now,
		     struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	if (h->state != BFTM_HOST_ASK)
		return;
	h->core->epoch(h->client, u, &step->out);
	host_asked(h, cfg, now, step);
}

static void wake_end(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	step->out.release_to = bftm_release_wake(&h->release, cfg, now);
	if (!step->out.release_to)
		step->event = BFTM_HOST_OVER;
	h->due_ns = h->release.wake_ns;
}

void bftm_host_wake(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		    struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	if (!h->due_ns || now < h->due_ns)
		return;
	switch (h->state) {
	case BFTM_HOST_ASK:
		if (h->client->sends >= BFTM_HOST_SENDS) {
			host_lose(h, cfg, !bftm_host_reached(h, cfg), now, step);
			return;
		}
		h->core->wake(h->client, cfg, now, 0, 0, &step->out);
		host_asked(h, cfg, now, step);
		break;
	case BFTM_HOST_HOLD:
		h->due_ns = 0;
		step->event = BFTM_HOST_ENTRUST;
		break;
	case BFTM_HOST_END:
		wake_end(h, cfg, now, step);
		break;
	}
}

void bftm_host_stop(struct bftm_host *h, const struct bftm_client_cfg *cfg, bool doubt, u64 now,
		    struct bftm_host_step *step)
{
	const struct bftm_late *late = &h->release.late;

	memset(step, 0, sizeof(*step));
	if (h->state == BFTM_HOST_ASK)
		h->core->stop(h->client, cfg, &step->out);
	else
		step->out = (struct bftm_out){
			.release_to = late->asking.asked & bftm_all(cfg->n), .late = *late,
			.release_attempt = h->attempt, .release_lock = h->lock,
		};
	/* In ASK that mode is NL: no program has held the lock. */
	step->out.release_doubt = doubt && bftm_mode_writes(late->mode);
	host_end(h, cfg, now, step);
}
