// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that no honest server gives about a lock after its earlier ones. cluster/lies.c has the
 * reasons for which two answers of a server can be compared at all.
 */
#include "core/lease.h"
#include "lock/contradiction.h"

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

/*
 * It said FREE to this attempt, and later that another has the lock, while the grant cannot be
 * over: it lasts for a lease from the send that it answered, and nobody has released it or
 * yielded it.
 */
static bool takes_back(const struct bftm_claim *claim, const struct bftm_contender *c,
		       const struct bftm_client_cfg *cfg, u64 granted_ns,
		       const struct bftm_msg *msg, u64 now)
{
	return bftm_says_locked(msg) && claim->free_seq && msg->seq > claim->free_seq &&
	       bftm_contender_alive(c) && granted_ns &&
	       now <= bftm_grant_end(granted_ns, c->want.lease_ns, cfg->rho_ppm);
}

/*
 * Numbers of grants and tokens grow, also over what the table of locks forgets (reclaim() in
 * kmod/locks/locks.c). And the grants of one start are counted one by one from its beginning: ten
 * million a second for two hundred years are fewer than 2^56.
 */
#define GRANTS_MAX (1ull << 56)

/* Numbers of which the low half alone is known are counted from here, so that none is below 0. */
#define HALF_FROM (1ull << 33)

static bool names_whole(const struct bftm_msg *msg)
{
	return !bftm_says_locked(msg);
}

/* The number nearest to @whole that ends with this low half: no lock is granted 2^31 times between. */
static u64 nearest(u64 whole, u64 half)
{
	return whole + (u64)(int64_t)(int32_t)((u32)half - (u32)whole);
}

/* The grant that @msg names, comparable with @claim->gno. */
static u64 grant_named(const struct bftm_claim *claim, const struct bftm_msg *msg)
{
	if (names_whole(msg))
		return msg->gno;
	return claim->gno ? nearest(claim->gno, msg->gno) : HALF_FROM + (u32)msg->gno;
}

/* A whole number says which one the low half was of. */
static void complete_claim(struct bftm_claim *claim, const struct bftm_msg *msg)
{
	if (!names_grant(msg) || !names_whole(msg) || claim->whole)
		return;
	if (claim->gno)
		claim->gno = nearest(msg->gno, claim->gno);
	claim->whole = true;
}

static bool miscounts(const struct bftm_claim *claim, const struct bftm_msg *msg)
{
	u64 gno = grant_named(claim, msg);
	u64 more = gno > claim->gno ? gno - claim->gno : claim->gno - gno;

	if (names_grant(msg) && claim->gno && more > GRANTS_MAX)
		return true;
	return msg->seq > claim->after_seq &&
	       ((names_grant(msg) && gno < claim->gno) ||
		(names_token(msg) && bftm_token_said(msg) < claim->token));
}

/*
 * The highest priority of a lock grows by BFTM_PRIO_JUMP_MAX for a TRY, whoever sends it; where
 * the lock was forgotten it begins with 0 again, which is less. No server decides more than a TRY
 * of one lock in each 100 ns.
 */
#define TRY_NS 100

static bool jumps(const struct bftm_claim *claim, const struct bftm_msg *msg, u64 now)
{
	u64 tries = (now - claim->prio_ns) / TRY_NS + 1;

	return claim->prio_ns && bftm_decides_try(msg) && msg->seq > claim->prio_seq &&
	       msg->prio > claim->prio &&
	       (msg->prio - claim->prio) / BFTM_PRIO_JUMP_MAX > tries;
}

static void contradiction_note(struct bftm_claim *claim, const struct bftm_msg *msg, u64 sent_ns,
			       u64 seq)
{
	u64 gno = grant_named(claim, msg);

	if (names_grant(msg) && gno > claim->gno) {
		claim->gno = gno;
		claim->after_seq = seq;
	}
	if (names_token(msg) && bftm_token_said(msg) > claim->token) {
		claim->token = bftm_token_said(msg);
		claim->after_seq = seq;
	}
	if (bftm_decides_try(msg) && sent_ns) {
		claim->prio = msg->prio;
		claim->prio_ns = sent_ns;
		claim->prio_seq = seq;
	}
	if (msg->type == BFTM_MSG_FREE)
		claim->free_seq = seq;
}

enum bftm_lie bftm_contradicts(struct bftm_claim *claim, const struct bftm_contender *c,
			       const struct bftm_client_cfg *cfg, u64 granted_ns,
			       const struct bftm_msg *msg, u64 sent_ns, u64 seq, u64 now)
{
	enum bftm_lie lie = BFTM_LIE_NONE;

	/* Each start of a server is another one. */
	if (claim->epoch != msg->server_epoch)
		*claim = (struct bftm_claim){ .epoch = msg->server_epoch };
	complete_claim(claim, msg);
	/* A push of FREE names a send that the server has heard. */
	if (msg->type == BFTM_MSG_FREE && msg->k > c->sends)
		lie = BFTM_LIE_AHEAD;
	else if (takes_back(claim, c, cfg, granted_ns, msg, now))
		lie = BFTM_LIE_BACK;
	else if (miscounts(claim, msg))
		lie = BFTM_LIE_COUNT;
	else if (jumps(claim, msg, now))
		lie = BFTM_LIE_PRIO;
	contradiction_note(claim, msg, sent_ns, seq);
	return lie;
}
