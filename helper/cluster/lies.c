// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that an honest server never gives, whatever a network does to datagrams, and however
 * often the server is started again. Each lie has its reason beside it. Two things are known of an
 * answer:
 *
 * - It names the number of the request that it answers, and no number is used twice. So it is
 *   compared with that request, however late it comes, and however often (struct bftm_asked).
 * - Messages overtake each other, so one answer is compared with another only if it was asked
 *   for after the other had arrived: sequence numbers grow with each request to any server.
 *
 * A push answers nothing. It is old, or repeated, as often as the network likes.
 *
 * lock/contradiction.c has the lies that it takes two answers to see.
 */
#include "core/lease.h"
#include "cluster/lies.h"

const char *bftm_lie_name(enum bftm_lie lie)
{
	static const char *const name[] = {
		[BFTM_LIE_NONE] = "told no lie",
		[BFTM_LIE_EPOCH] = "changed its epoch as no restart does",
		[BFTM_LIE_OTHER] = "answered what it was not asked",
		[BFTM_LIE_AHEAD] = "granted what was not asked for yet",
		[BFTM_LIE_PRIO] = "told a priority that nobody can have",
		[BFTM_LIE_PLACE] = "told a place or a wait that no queue has",
		[BFTM_LIE_BACK] = "took back a grant",
		[BFTM_LIE_COUNT] = "counted grants or tokens as no server does",
	};

	return name[lie];
}

/*
 * The longest that a server can say that something lasts: the longest lease, at the server with
 * the fastest clock. A quarantine is as long (bftm_quarantine()), also one that an earlier start
 * has left; and what is left at this instant is one more.
 */
static u64 longest_wait(void)
{
	return bftm_lease_at_server(BFTM_LEASE_MAX_NS, BFTM_RHO_MAX_PPM) + 1;
}

static bool is_probe(const struct bftm_asked *a)
{
	return a->type == BFTM_MSG_HELLO || a->type == BFTM_MSG_RECOVER;
}

/*
 * bftm_serve() answers each type by these and no others. REFUSED may come to any, CHALLENGE to
 * HELLO and RECOVER and STALE to all else; INQUIRE is a push. A TRY that
 * asks for a place in the queue is never answered by LOCKED.
 */
static bool may_answer(const struct bftm_asked *a, const struct bftm_msg *msg)
{
	switch (msg->type) {
	case BFTM_MSG_CHALLENGE:
		return is_probe(a);
	case BFTM_MSG_STALE:
		return !is_probe(a);
	case BFTM_MSG_REFUSED:
		return true;
	case BFTM_MSG_LOCKED:
		return a->type == BFTM_MSG_TRY && a->flags & BFTM_FLAG_NOQUEUE;
	case BFTM_MSG_FREE:
	case BFTM_MSG_WAIT:
		return a->type == BFTM_MSG_TRY;
	case BFTM_MSG_RELEASED:
		return a->type == BFTM_MSG_RELEASE;
	case BFTM_MSG_SYNCED:
		return a->type == BFTM_MSG_SYNC;
	case BFTM_MSG_SACK:
	case BFTM_MSG_SNACK:
		/* They say which offer they answer. */
		return a->type == BFTM_MSG_STAMP && msg->gno == a->value;
	default:
		return false;
	}
}

/*
 * A server that was started anew has another epoch: it says STALE to what names the old one,
 * and nothing else but REFUSED before it knows that. So what it decides is under the epoch that
 * was named, and what it calls stale was under another. 0 is drawn by none.
 */
static bool is_false_epoch(const struct bftm_asked *a, const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_REFUSED)
		return false;
	if (msg->type == BFTM_MSG_CHALLENGE)
		return !msg->server_epoch;
	if (msg->type == BFTM_MSG_STALE)
		return !msg->server_epoch || msg->server_epoch == a->epoch;
	return msg->server_epoch != a->epoch;
}

/*
 * The TRY itself is among those that the server has seen the highest priority of; it has raised
 * it to its own, or as far as one TRY can, also where the lock was made anew for it.
 */
static bool is_low_prio(const struct bftm_asked *a, const struct bftm_msg *msg)
{
	u64 least = a->value < BFTM_PRIO_JUMP_MAX ? a->value : BFTM_PRIO_JUMP_MAX;

	return bftm_decides_try(msg) && msg->prio < least;
}

/*
 * A queue has BFTM_WAITERS_MAX places, and none for NOQUEUE. Something is left of whatever is
 * waited for, and no more than the longest lease; but a server that waits for members says that
 * nobody knows how long.
 */
static bool is_false_place(const struct bftm_asked *a, const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_CHALLENGE)
		return msg->gno > longest_wait();
	if (msg->type == BFTM_MSG_WAIT &&
	    (msg->position > BFTM_WAITERS_MAX || (msg->position && a->flags & BFTM_FLAG_NOQUEUE)))
		return true;
	if (msg->type == BFTM_MSG_WAIT && !msg->position && msg->lease_ns == BFTM_LEASE_NONE)
		return false;
	return (msg->type == BFTM_MSG_WAIT || msg->type == BFTM_MSG_LOCKED) &&
	       (!msg->lease_ns || msg->lease_ns > longest_wait());
}

/* The highest token is the one accepted; or no less than the one refused. */
static bool is_false_stamp(const struct bftm_msg *msg)
{
	return (msg->type == BFTM_MSG_SACK && msg->token != msg->gno) ||
	       (msg->type == BFTM_MSG_SNACK && bftm_token_said(msg) < msg->gno);
}

/* The attempt that an answer names; STALE and REFUSED name the first word of their request. */
static u64 attempt_asked(const struct bftm_asked *a, const struct bftm_msg *msg)
{
	bool word = msg->type == BFTM_MSG_STALE || msg->type == BFTM_MSG_REFUSED;

	return a->type == BFTM_MSG_SYNC && word ? a->value : a->attempt;
}

enum bftm_lie bftm_answer_lies(const struct bftm_asked *a, u32 u, const struct bftm_msg *msg)
{
	const u64 attempt = attempt_asked(a, msg);

	/* A request is for one server and has its key's tag: no other can answer it. */
	if (a->u != u)
		return BFTM_LIE_OTHER;
	if (a->proto != BFTM_PROTO_BACKOFF)
		return BFTM_LIE_NONE;
	/* It repeats nothing but the head. */
	if (msg->type == BFTM_MSG_VERSION)
		return BFTM_LIE_NONE;
	/* Its attempt is the owner's. */
	if (msg->type == BFTM_MSG_OWNER) {
		if (a->type != BFTM_MSG_ASK || bftm_name_hash(msg) != a->name)
			return BFTM_LIE_OTHER;
		return is_false_epoch(a, msg) ? BFTM_LIE_EPOCH : BFTM_LIE_NONE;
	}
	/* A server repeats attempt and name as they came, and in FREE the send. */
	if (msg->attempt > attempt || (msg->attempt == attempt && msg->k > a->k))
		return BFTM_LIE_AHEAD;
	if (msg->attempt != attempt || (msg->type == BFTM_MSG_FREE && msg->k != a->k) ||
	    bftm_name_hash(msg) != a->name || !may_answer(a, msg))
		return BFTM_LIE_OTHER;
	if (is_false_epoch(a, msg))
		return BFTM_LIE_EPOCH;
	if (is_false_place(a, msg))
		return BFTM_LIE_PLACE;
	if (is_low_prio(a, msg))
		return BFTM_LIE_PRIO;
	if (is_false_stamp(msg))
		return BFTM_LIE_COUNT;
	return BFTM_LIE_NONE;
}

void bftm_epochs_believe(struct bftm_epochs *e, u64 epoch, u64 asked, u64 seq)
{
	/*
	 * Only if the new one was asked for after the old one had arrived has the server left
	 * the old one: two starts that answered requests which overtook each other may be
	 * heard of the other way round.
	 */
	if (e->epoch && asked > e->after_seq)
		e->left[e->next++ % BFTM_EPOCHS_LEFT] = (struct bftm_left){ e->epoch, seq };
	e->epoch = epoch;
	e->after_seq = seq;
}

bool bftm_epochs_return(const struct bftm_epochs *e, u64 epoch, u64 asked)
{
	u32 i;

	/*
	 * The start before cannot answer a request that was made since the next one was heard of.
	 */
	for (i = 0; i < BFTM_EPOCHS_LEFT; i++)
		if (e->left[i].epoch && e->left[i].epoch == epoch && asked > e->left[i].after_seq)
			return true;
	return false;
}
