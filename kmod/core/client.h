/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The client side of a protocol for locks, as far as what surrounds it knows it: what is
 * asked for, where it stands, what it wants to be sent. The functions are in
 * struct bftm_client_ops of core/protocol.h.
 *
 * Inputs are the start, an answer, a timer; each returns what to send and what became of
 * it. The caller takes the clock before each call and sends after it, so the time recorded
 * for a send is never later than the send: a lease counts from there.
 */
#ifndef BFTM_CORE_CLIENT_H
#define BFTM_CORE_CLIENT_H

#include "core/ask.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "core/wire.h"

/** enum bftm_wait - what to do while somebody else has the lock */
enum bftm_wait {
	BFTM_WAIT_QUEUE,	/* the servers' queue, polled */
	BFTM_WAIT_BACKOFF,	/* sleep at random, Figure 1 */
	BFTM_WAIT_NO_BACKOFF,	/* Section 5, "breaking symmetry" */
	BFTM_WAIT_NOT,		/* one round and no more */
};

/** enum bftm_phase - where a request stands */
enum bftm_phase {
	BFTM_PHASE_DEAD,	/* nothing asked for, or over */
	BFTM_PHASE_TRY,		/* try() is out: a round, or waiting in the queue */
	BFTM_PHASE_BACKOFF,	/* asleep between two rounds */
	BFTM_PHASE_VALUE,	/* held, and more servers are to confirm its value */
	BFTM_PHASE_FENCE,	/* held, and its fencing token is being stamped */
	BFTM_PHASE_HOLD,	/* inside, until end() */
};

/** enum bftm_verdict - what became of it */
enum bftm_verdict {
	BFTM_PENDING,		/* nothing yet */
	BFTM_WON,		/* the lock is held until end() */
	BFTM_LOST_ROUND,	/* WAIT_NOT, and others have it (or quarantine) */
	BFTM_UNREACHABLE,	/* WAIT_NOT, and too few servers answered in time */
	BFTM_REFUSED,		/* b + 1 servers refused, for out.refusal */
	BFTM_LAPSED,		/* it was held and the lease is over */
	BFTM_CONVERTED,		/* it is held in the mode that was asked for, with its token */
	BFTM_KEPT,		/* it is held as before: the conversion is over, for out.kept */
};

/** enum bftm_kept - why a conversion came to nothing */
enum bftm_kept {
	BFTM_KEPT_ASKED,	/* the caller gave it up */
	BFTM_KEPT_BLOCKED,	/* asked for once, and others are in the way */
	BFTM_KEPT_DEADLOCK,	/* another conversion and this one wait for each other */
	BFTM_KEPT_TOKENS,	/* too few servers can stamp a token for the mode wanted */
};

/**
 * struct bftm_client_cfg - what all locks of a cluster share
 * @n:            servers, at most BFTM_SERVERS_MAX
 * @b:            liars among them, n >= 3b + 1 (5b + 1 for @literal)
 * @m:            FREE answers that win, from F to n - b; 0: F. Not for @literal
 * @forgetful:    servers whose grants do not count, a bit mask: bftm_client_challenge() keeps it
 * @older:        servers without BFTM_FEATURE_PRIO, likewise; those that said nothing are not
 * @rho_ppm:      ρ
 * @literal:      judge the first q answers as Figure 1 prints it; back-off only
 * @polynomial:   sleep up to s^exponent B instead of 2^s B
 * @exponent:     of the polynomial
 * @delta_ns:     δ
 * @resend_ns:    when to repeat a try that was not answered; see bftm_later()
 * @leaseless:    RELEASE is repeated until it is answered: see BFTM_LEASED
 * @ask:          what is known of the servers, which decides whom to ask first; NULL: ask all.
 *                It is written to: the caller of a client keeps others away meanwhile.
 * @retry_max_ns: cap of one sleep; never below 2B, B = Δ + 4δ
 */
struct bftm_client_cfg {
	u32 n;
	u32 b;
	u32 m;
	u32 forgetful;
	u32 older;
	u32 rho_ppm;
	bool literal;
	bool polynomial;
	bool leaseless;
	struct bftm_ask_state *ask;
	u32 exponent;
	u64 delta_ns;
	u64 resend_ns;
	u64 retry_max_ns;
};

/**
 * bftm_win() - the FREE answers that win a lock: F, or Sigma's m
 * @cfg: the cluster
 *
 * Comments on clients write F for it.
 */
static inline u32 bftm_win(const struct bftm_client_cfg *cfg)
{
	return bftm_grants_needed(cfg->n, cfg->b, cfg->m);
}

/**
 * bftm_client_challenge() - a server says what it does, and how many may restart as it does
 * @cfg: the cluster
 * @u:   number of the server, 0 … n - 1
 * @msg: its CHALLENGE, the newest
 *
 * Up to r servers may have forgotten a grant of this client's without a quarantine, and the client
 * is alone all the same: bftm_spared(). When the server says more, its grants count for nothing,
 * after its quarantine as well: it may restart while this client holds the lock by them.
 */
static inline void bftm_client_challenge(struct bftm_client_cfg *cfg, u32 u,
					 const struct bftm_msg *msg)
{
	const u32 server = 1u << u;

	if (msg->spared > bftm_spared(cfg->n, cfg->b, cfg->m))
		cfg->forgetful |= server;
	else
		cfg->forgetful &= ~server;
	if (msg->features & BFTM_FEATURE_PRIO)
		cfg->older &= ~server;
	else
		cfg->older |= server;
}

/** struct bftm_want - what the application asks for */
struct bftm_want {
	u64 lease_ns;		/* Δ of this acquire; BFTM_LEASE_NONE: held until it is released */
	enum bftm_wait wait;
	enum bftm_mode mode;	/* not NL, which is nothing at servers */
	bool renew;		/* send try() again at half of the lease */
	bool fence;		/* with a fencing token */
	bool value;		/* with the value that holders leave for the next */
	bool whole;		/* of a lock that is adopted: no mode of it was ever given up */
	u64 lock;		/* bftm_ask_lock() of its name: whom to ask first; 0 will do */
};

/**
 * struct bftm_written - a value on its way to servers
 * @any:   there is one
 * @len:   0 to BFTM_VALUE_LEN_MAX
 * @bytes: the value, @len of them count
 * @at:    of each server the grant by which it was written: the low half of its number;
 *         BFTM_GRANT_OTHER where the client knows of none; 0: nothing is to be said there
 *
 * A server stores it by that grant only. A TRY or RELEASE of an attempt that is over can come so
 * late that others have written since: the attempt may even have another grant by then.
 */
struct bftm_written {
	bool any;
	u8 len;
	u8 bytes[BFTM_VALUE_LEN_MAX];
	u32 at[BFTM_SERVERS_MAX];
};

/**
 * struct bftm_value_told - the value of a lock, as its servers told it
 * @valid: the last holder that could write has left this value
 * @len:   0 to BFTM_VALUE_LEN_MAX; 0 if it is not valid
 * @bytes: the value, @len of them count
 */
struct bftm_value_told {
	bool valid;
	u8 len;
	u8 bytes[BFTM_VALUE_LEN_MAX];
};

/**
 * struct bftm_conversion - another mode of a lock that is held
 * @mode:  not NL
 * @once:  give up as soon as it is clear that others are in the way
 * @fence: with a fencing token of its own
 * @value: from now on with its value, as of want
 * @leaves: the value that this holder leaves, if it gives the mode up by which it can write; @at
 *          does not matter. NULL: the value stays
 */
struct bftm_conversion {
	enum bftm_mode mode;
	bool once;
	bool fence;
	bool value;
	const struct bftm_written *leaves;
};

#define BFTM_SENDS	16	/* send times remembered per attempt */
#define BFTM_RESEND_DELTAS 4	/* resend_ns: two round trips; what takes longer is lost */
#define BFTM_ADOPT_SENDS 1024	/* k that another helper may have used since it reported one */

/**
 * struct bftm_contender - the beginning of each protocol's state of one lock
 * @phase:   where it stands
 * @want:    what is asked for
 * @attempt: current, fresh for each round, one for a whole wait in the queue
 * @prio:    Lamport priority of the attempt
 * @begun_ns: when the attempt was sent first, by the clock of leases; 0 if it was adopted
 * @wake_ns: call wake() at this time
 * @token:   fencing token that is offered or has been accepted; in a conversion the latter is
 *           that of the mode held before, and counts until BFTM_CONVERTED
 * @sends:   number of the last send of the attempt, k
 * @rounds:  rounds and polls begun
 * @written: the value that goes along with a send, see struct bftm_send
 * @asking:  whom the attempt has asked
 * @wanted:  somebody has waited for a mode that the one held excludes, since it is held
 */
struct bftm_contender {
	enum bftm_phase phase;
	struct bftm_want want;
	u64 attempt;
	u64 prio;
	u64 begun_ns;
	u64 wake_ns;
	u64 token;
	u32 sends;
	u32 rounds;
	struct bftm_written written;
	struct bftm_asking asking;
	bool wanted;
};

/** bftm_contender_alive() - may servers think that the attempt wants the lock? */
static inline bool bftm_contender_alive(const struct bftm_contender *c)
{
	return c->phase != BFTM_PHASE_DEAD && c->phase != BFTM_PHASE_BACKOFF;
}

/** bftm_contender_queues() - does it ask for a place in the servers' queue? */
static inline bool bftm_contender_queues(const struct bftm_contender *c)
{
	return c->want.wait == BFTM_WAIT_QUEUE;
}

/**
 * struct bftm_send - one message, to a few servers
 * @type:     enum bftm_msg_type
 * @arg:      as in struct bftm_msg, like all that follow
 * @flags:    enum bftm_msg_flag
 * @to:       the servers, a bit mask; not empty
 * @k:        number of the send, from 1
 * @lease_ns: Δ asked for, ns
 * @prio:     Lamport priority
 * @gno:      number of a grant
 * @token:    fencing token that is offered
 * @writes:   the value of the contender goes along
 *
 * The other fields are those of struct bftm_msg; attempt is the client's.
 */
struct bftm_send {
	u8 type;
	u8 arg;
	u16 flags;
	bool writes;
	u32 to;
	u32 k;
	u64 lease_ns;
	u64 prio;
	u64 gno;
	u64 token;
};

/**
 * bftm_grants() - is this answer to an attempt a grant, by a send that there was?
 * @msg:   the answer
 * @mode:  that a grant of the attempt covers
 * @base:  an answer to this k, or an earlier one, does not count
 * @sends: number of the last send
 *
 * The time of an earlier send than the last BFTM_SENDS is forgotten, and the lease counts from it.
 */
static inline bool bftm_grants(const struct bftm_msg *msg, enum bftm_mode mode, u32 base, u32 sends)
{
	return msg->type == BFTM_MSG_FREE && bftm_mode_covers(msg->mode, mode) &&
	       msg->k > base && msg->k <= sends && sends - msg->k < BFTM_SENDS;
}

#define BFTM_OUT_SENDS	4	/* room; no step fills it */

/**
 * struct bftm_out - what to do now; sets of servers are bit masks
 * @verdict:         see there
 * @refusal:         enum bftm_refusal
 * @kept:            of BFTM_KEPT
 * @count:           valid entries of @send
 * @release_to:      send RELEASE of @release_attempt to these, before @send, with
 *                   struct bftm_release
 * @release_lock:    bftm_ask_lock() of its name; 0: not known
 * @late:            the attempt that RELEASE ends, as far as it is known
 * @release_doubt:   RELEASE says that the value is in doubt
 * @release_surely:  RELEASE is repeated until all but b servers have answered
 * @release_attempt: not always the current one
 * @round_over:      a round or poll was decided; the next three are how
 * @extended:        the end of a lock that is held has moved
 * @said_free:       servers that said FREE in it
 * @said_locked:     servers that said LOCKED or WAIT in it
 * @silent:          servers that did not answer in it
 * @send:            messages of the current attempt; no two of one type but TRY, of which one may
 *                   reassert
 * @written:         the value that RELEASE has
 */
struct bftm_out {
	enum bftm_verdict verdict;
	u32 refusal;
	enum bftm_kept kept;
	u32 count;
	u32 release_to;
	u64 release_attempt;
	u64 release_lock;
	struct bftm_late late;
	bool release_doubt;
	bool release_surely;
	bool round_over;
	bool extended;
	u32 said_free;
	u32 said_locked;
	u32 silent;
	struct bftm_send send[BFTM_OUT_SENDS];
	struct bftm_written written;
};

/** bftm_out_clear() - nothing is to be done; messages and a value are not there, so not cleared */
static inline void bftm_out_clear(struct bftm_out *out)
{
	memset(out, 0, offsetof(struct bftm_out, send));
	out->written.any = false;
}

/** bftm_out_add() - one more message of this step; none when it is for no server. */
static inline void bftm_out_add(struct bftm_out *out, const struct bftm_send *send)
{
	if (send->to && out->count < BFTM_OUT_SENDS)
		out->send[out->count++] = *send;
}

/** bftm_out_to() - the servers that a message of this type goes to. */
static inline u32 bftm_out_to(const struct bftm_out *out, u8 type)
{
	u32 i, to = 0;

	for (i = 0; i < out->count; i++)
		if (out->send[i].type == type)
			to |= out->send[i].to;
	return to;
}

/** bftm_value_put() - leave room for the value in a request to server @u; write it, if any */
static inline void bftm_value_put(struct bftm_msg *msg, const struct bftm_written *written, u32 u)
{
	msg->flags |= BFTM_FLAG_VALUE;
	msg->value_room = BFTM_VALUE_LEN_MAX;
	if (!written || !written->any || !written->at[u])
		return;
	msg->value_k = written->at[u];
	msg->value_len = written->len;
	memcpy(msg->value, written->bytes, written->len);
}

/**
 * bftm_contender_message() - what @send says; the lock's name and addresses are the caller's
 * @c:    whose message it is
 * @send: from struct bftm_out of the step
 * @to:   servers that are to hear it still; not empty
 * @msg:  the message; its other members are left alone
 * Return: those of @to that hear this very message; the others hear another.
 */
static inline u32 bftm_contender_message(const struct bftm_contender *c,
					 const struct bftm_send *send, u32 to,
					 struct bftm_msg *msg)
{
	*msg = (struct bftm_msg){
		.type = send->type,
		.flags = send->flags,
		/* REASSERT tells the mode that is held; the mode that is wanted is not held yet. */
		.mode = send->flags & BFTM_FLAG_REASSERT ? send->arg : c->want.mode,
		.arg = send->arg,
		.attempt = c->attempt,
		.k = send->k,
		.lease_ns = send->lease_ns,
		.prio = send->prio,
		.gno = send->gno,
		.token = send->token,
	};
	if (!(send->flags & BFTM_FLAG_VALUE))
		return to;
	bftm_value_put(msg, send->writes ? &c->written : NULL, bftm_lowest(to));
	return send->writes ? 1u << bftm_lowest(to) : to;
}

#endif /* BFTM_CORE_CLIENT_H */
