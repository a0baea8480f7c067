// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/admit.h"
#include "core/lease.h"

u64 bftm_quarantine(u64 lease_max_ns, u32 rho_ppm, u64 now)
{
	/*
	 * A server forgets its grants when it stops. The longest that it may
	 * have given ends before this, by the sum that each grant is made of.
	 */
	return now + bftm_lease_at_server(lease_max_ns, rho_ppm);
}

bool bftm_admit_address(const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req)
{
	/* Replies are never answered, or two servers could talk for ever. */
	return req->cluster == cfg->cluster && req->server == cfg->id &&
	       !(req->type & BFTM_MSG_REPLY);
}

/* STALE and REFUSED repeat the first word of the request's body, which mostly is its attempt. */
static void repeat_word(const struct bftm_msg *req, struct bftm_msg *reply, u8 type)
{
	*reply = *req;
	reply->type = type;
	if (req->type == BFTM_MSG_SYNC)
		reply->attempt = req->incarnation;
}

void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply,
		 enum bftm_refusal reason)
{
	repeat_word(req, reply, BFTM_MSG_REFUSED);
	reply->arg = reason;
	reply->token = 0;
}

bool bftm_refuse_behind(const struct bftm_window *w, const struct bftm_msg *req,
			struct bftm_msg *reply)
{
	if (req->type != BFTM_MSG_HELLO || req->server_epoch || !req->seq ||
	    bftm_window_holds(w, req->seq))
		return false;
	bftm_refuse(req, reply, BFTM_REFUSED_BEHIND);
	reply->gno = w->top;
	return true;
}

static void challenge(const struct bftm_server_cfg *cfg,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply)
{
	u64 end = cfg->quarantine_until_ns;

	*reply = *req;
	reply->type = BFTM_MSG_CHALLENGE;
	reply->lease_ns = cfg->lease_max_ns;
	reply->gno = now <= end ? end - now + 1 : 0;
	reply->token = 0;
	reply->features = BFTM_FEATURE_PRIO;
	reply->spared = cfg->spared;
	reply->recovering = 0;
}

bool bftm_admit(const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
		u64 now, struct bftm_msg *reply)
{
	if (req->type == BFTM_MSG_HELLO || req->type == BFTM_MSG_RECOVER) {
		challenge(cfg, req, now, reply);
		return false;
	}
	if (req->server_epoch == cfg->epoch)
		return true;
	/*
	 * A request made for an earlier incarnation is not looked at: it may
	 * have been recorded then, when another window took its number.
	 */
	repeat_word(req, reply, BFTM_MSG_STALE);
	return false;
}

/*
 * "Fencing tokens" in protocol.rst: the (b + 1)-th largest of n - 1 - b others is at
 * least what any fenced holder had, if they were asked when the quarantine was over. So
 * nothing that was asked earlier may be told: what is told in the quarantine is not taken.
 */
static bool may_learn(const struct bftm_tokens *t, const struct bftm_server_cfg *cfg,
		      const struct bftm_msg *req, u64 now)
{
	return req->type == BFTM_MSG_RECOVER && req->server_epoch == cfg->epoch &&
	       t->floor == BFTM_TOKEN_UNKNOWN && now > cfg->quarantine_until_ns;
}

void bftm_tokens_answer(struct bftm_tokens *t, const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req, u64 now, u64 wall_ns,
			struct bftm_msg *reply)
{
	if (reply->type != BFTM_MSG_CHALLENGE)
		return;
	if (may_learn(t, cfg, req, now)) {
		/*
		 * As for STAMP: a client that tells too high a floor would use up the tokens of all
		 * others.
		 */
		if (req->token > BFTM_TOKEN_FLOOR_MAX ||
		    !bftm_tokens_may_be(t, req->token, wall_ns, 0)) {
			bftm_refuse(req, reply, BFTM_REFUSED_CLOCK);
			return;
		}
		t->floor = req->token;
	}
	reply->token = bftm_tokens_top(t);
}
