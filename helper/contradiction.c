// SPDX-License-Identifier: GPL-2.0
/*
 * What an honest server never says. Messages overtake each other, so only what
 * was asked after an answer had arrived is compared with that answer: sequence
 * numbers grow with each request to any server.
 */
#include "../kmod/core/lease.h"
#include "evidence.h"

static bool names_grant(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE ||
	       bftm_says_locked(msg);
}

static bool names_token(const struct bftm_msg *msg)
{
	return names_grant(msg) || msg->type == BFTM_MSG_WAIT ||
	       msg->type == BFTM_MSG_SACK || msg->type == BFTM_MSG_SNACK;
}

/* What is not known is less than anything that is. */
static u64 token_of(const struct bftm_msg *msg)
{
	return msg->token == BFTM_TOKEN_UNKNOWN ? 0 : msg->token;
}

/* It said FREE, and the grant cannot be over: each poll has refreshed it. */
static bool is_granted(const struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u32 u, u64 now)
{
	const struct bftm_answer *a = &c->server[u];

	return bftm_contend_alive(c) && a->k &&
	       now <= a->from_ns + bftm_lease_at_client(c->want.lease_ns,
							cfg->rho_ppm);
}

/* Cannot be true by itself. */
static bool contradicts_itself(const struct bftm_contend *c,
			       const struct bftm_msg *msg)
{
	switch (msg->type) {
	case BFTM_MSG_SACK:
		return msg->token != msg->gno;
	case BFTM_MSG_SNACK:
		return token_of(msg) < msg->gno;
	case BFTM_MSG_LOCKED:
		/* Who asks for a place in the queue gets one. */
		if (bftm_contend_queues(c))
			return true;
		break;
	case BFTM_MSG_FREE:
	case BFTM_MSG_WAIT:
		break;
	default:
		return false;
	}
	/* To a send that was not made. */
	return msg->k > c->sends;
}

static bool contradicts_claim(const struct bftm_claim *claim,
			      const struct bftm_msg *msg)
{
	return msg->seq > claim->after_seq &&
	       ((names_grant(msg) && msg->gno < claim->gno) ||
		(names_token(msg) && token_of(msg) < claim->token));
}

static void note(struct bftm_claim *claim, const struct bftm_msg *msg, u64 seq)
{
	if (names_grant(msg) && msg->gno > claim->gno) {
		claim->gno = msg->gno;
		claim->after_seq = seq;
	}
	if (names_token(msg) && token_of(msg) > claim->token) {
		claim->token = token_of(msg);
		claim->after_seq = seq;
	}
	if (msg->type == BFTM_MSG_FREE)
		claim->free_seq = seq;
}

bool bftm_contradicts(struct bftm_claim *claim, const struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 seq, u64 now)
{
	bool result;

	/* Each start of a server is another one. */
	if (claim->epoch != msg->server_epoch)
		*claim = (struct bftm_claim){ .epoch = msg->server_epoch };
	result = contradicts_itself(c, msg) || contradicts_claim(claim, msg) ||
		 (bftm_says_locked(msg) && claim->free_seq &&
		  msg->seq > claim->free_seq && is_granted(c, cfg, u, now));
	note(claim, msg, seq);
	return result;
}
