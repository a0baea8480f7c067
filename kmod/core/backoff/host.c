// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/client.h"
#include "core/backoff/host.h"
#include "core/quorum.h"

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
 * Up to b servers that deny what F grant may lie, or know a holder of whom the F have yet to hear.
 * Of more than b servers one is correct: somebody else has the lock, or just had it. In modes other
 * than EX further holders come and go, and servers learn of them one after the other.
 */
static bool is_disputed(const struct bftm_host *h, const struct bftm_client_cfg *cfg)
{
	return h->client->want.mode == BFTM_MODE_EX && h->denied & ~h->granted &&
	       bftm_count(h->denied) <= cfg->b;
}

/* While the attempt waits: up to b servers grant, and so many others deny that nobody can win. */
static bool is_contested(const struct bftm_host *h, const struct bftm_client_cfg *cfg,
			 const struct bftm_out *out)
{
	u32 free = bftm_count(out->said_free);

	return h->client->want.mode == BFTM_MODE_EX && out->round_over && free && free <= cfg->b &&
	       bftm_count(out->said_locked) > cfg->n - bftm_win(cfg);
}

/* The caller knows when the lease ends. */
static u64 hold_due(const struct bftm_host *h, u64 end_ns)
{
	return h->client->wake_ns <= end_ns ? h->client->wake_ns : 0;
}

static void host_won(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	step->end_ns = h->core->end(h->client, cfg);
	step->disputed = is_disputed(h, cfg);
	/* Servers may have been slow, so nothing is left of the lease. */
	if (step->end_ns <= now) {
		host_lose(h, cfg, false, now, step);
		return;
	}
	step->event = BFTM_HOST_WON;
	h->won_k = h->client->sends;
	h->due_ns = hold_due(h, step->end_ns);
	h->state = BFTM_HOST_HOLD;
}

static void note_sends(struct bftm_host *h)
{
	if (h->client->sends == h->sends)
		return;
	h->sends = h->client->sends;
	h->lately = h->since;
	h->since = 0;
}

/* The core has made a step. */
static void host_asked(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_host_step *step)
{
	note_sends(h);
	h->sent |= bftm_out_to(&step->out, BFTM_MSG_TRY);
	if (bftm_out_to(&step->out, BFTM_MSG_YIELD))
		h->yielded = true;
	step->contested = is_contested(h, cfg, &step->out);
	if (step->out.verdict == BFTM_WON) {
		host_won(h, cfg, now, step);
	} else if (step->out.verdict == BFTM_PENDING &&
		   h->client->phase != BFTM_PHASE_BACKOFF) {
		h->due_ns = h->client->wake_ns;
	} else {
		/* A core that sleeps has said whom RELEASE goes to, as one that is done. */
		host_end(h, cfg, now, step);
		step->event = BFTM_HOST_LOST;
	}
}

/* The core has made a step with a lock that is held. */
static void host_held(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_host_step *step)
{
	note_sends(h);
	if (step->out.verdict == BFTM_LAPSED) {
		host_end(h, cfg, now, step);
		step->event = BFTM_HOST_LAPSED;
		return;
	}
	step->end_ns = h->core->end(h->client, cfg);
	h->due_ns = hold_due(h, step->end_ns);
	if (step->out.extended)
		step->event = BFTM_HOST_RENEWED;
}

void bftm_host_begin(struct bftm_host *h, const struct bftm_client_cfg *cfg,
		     const struct bftm_want *want, u64 attempt, u64 now,
		     struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	*h = (struct bftm_host){
		.state = BFTM_HOST_ASK, .core = h->core, .client = h->client, .attempt = attempt,
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

/* A server in quarantine says WAIT as well, without a place in its queue. */
static bool denies(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_LOCKED || (msg->type == BFTM_MSG_WAIT && msg->position);
}

/*
 * An answer that is too late for the win counts as well, until the next renewal. A server that
 * grants the lock after that had another client's grant to end first.
 */
static void note_denial(struct bftm_host *h, u32 u, const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_FREE) {
		h->granted |= 1u << u;
	} else if (denies(msg) && (!h->won_k || h->client->sends == h->won_k)) {
		h->denied |= 1u << u;
		h->granted &= ~(1u << u);
	}
}

static void answer_held(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now, struct bftm_host_step *step)
{
	u32 before = h->denied;
	bool wanted = h->client->wanted;
	u64 wake_ns = h->client->wake_ns;

	note_denial(h, u, msg);
	h->core->answer(h->client, cfg, u, msg, now, 0, &step->out);
	step->disputed = h->denied != before && is_disputed(h, cfg);
	step->wanted = h->client->wanted && !wanted;
	/* The answers that come after the lock was won change neither its end nor what is due. */
	if (step->out.verdict == BFTM_PENDING && !step->out.extended &&
	    h->client->wake_ns == wake_ns)
		note_sends(h);
	else
		host_held(h, cfg, now, step);
}

void bftm_host_answer(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 now, struct bftm_host_step *step)
{
	memset(step, 0, offsetof(struct bftm_host_step, out));
	h->heard |= 1u << u;
	h->since |= 1u << u;
	if (h->state == BFTM_HOST_ASK) {
		note_denial(h, u, msg);
		/* The random bits are for a sleep, and this attempt never sleeps. */
		h->core->answer(h->client, cfg, u, msg, now, 0, &step->out);
		host_asked(h, cfg, now, step);
		return;
	}
	if (h->state == BFTM_HOST_HOLD && msg->type != BFTM_MSG_RELEASED) {
		answer_held(h, cfg, u, msg, now, step);
		return;
	}
	bftm_out_clear(&step->out);
	if (msg->type == BFTM_MSG_RELEASED) {
		if (h->state == BFTM_HOST_END)
			host_released(h, cfg, u, step);
	} else {
		/* The answer may have been in time: such a server is not suspected. */
		bftm_ask_late(cfg, &h->release.late, u, msg, now);
		host_stray(h, u, msg, step);
	}
}

void bftm_host_epoch(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u, u64 now,
		     struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	if (h->state == BFTM_HOST_END)
		return;
	h->core->epoch(h->client, u, &step->out);
	if (h->state == BFTM_HOST_ASK)
		host_asked(h, cfg, now, step);
}

void bftm_host_renew(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	if (h->state != BFTM_HOST_HOLD)
		return;
	h->core->renew(h->client, cfg, now, &step->out);
	host_held(h, cfg, now, step);
}

/*
 * An attempt that waits in the queue is repeated to servers that do not answer, and polls all of
 * them, for as long as it is heard, which the core knows; where too few were ever heard it waits
 * not much longer than one that does not queue. On a host with much to do it may be woken late: it
 * is repeated all the same, and has time for answers to that.
 */
static bool asks_in_vain(const struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now)
{
	u64 since = now - h->client->begun_ns;

	if (bftm_contender_queues(h->client))
		return bftm_host_in_vain(h, cfg) && since >= BFTM_HOST_SENDS * cfg->resend_ns &&
		       now - h->repeated_ns >= cfg->resend_ns;
	return h->client->sends >= BFTM_HOST_SENDS;
}

static void wake_ask(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step)
{
	u64 since = now - h->client->begun_ns;

	if (asks_in_vain(h, cfg, now)) {
		host_lose(h, cfg, !bftm_host_reached(h, cfg), now, step);
		return;
	}
	h->core->wake(h->client, cfg, now, 0, 0, &step->out);
	if (!h->repeated_ns && since >= cfg->resend_ns && bftm_out_to(&step->out, BFTM_MSG_TRY))
		h->repeated_ns = now;
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
		wake_ask(h, cfg, now, step);
		break;
	case BFTM_HOST_HOLD:
		h->core->wake(h->client, cfg, now, 0, 0, &step->out);
		host_held(h, cfg, now, step);
		break;
	case BFTM_HOST_END:
		wake_end(h, cfg, now, step);
		break;
	}
}

void bftm_host_stop(struct bftm_host *h, const struct bftm_client_cfg *cfg, bool doubt, u64 now,
		    struct bftm_host_step *step)
{
	memset(step, 0, sizeof(*step));
	h->core->stop(h->client, cfg, &step->out);
	/* In ASK no program has held the lock. */
	step->out.release_doubt = doubt && h->state == BFTM_HOST_HOLD &&
				  bftm_mode_writes(h->client->want.mode);
	host_end(h, cfg, now, step);
}
