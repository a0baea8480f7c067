/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of the backoff protocol: contend() of Figure 1, one object per
 * lock that is wanted or held. Inputs are the start, an answer, a timer; each
 * returns what to send and what became of it. The caller takes the clock
 * before each call and sends after it, so the time recorded for a send is
 * never later than the send: the lease counts from there.
 *
 * contend.c dispatches; round.c has the paper's rounds with back-off, wait.c
 * the queue, hold.c the lease, fence.c tokens, release.c the end.
 */
#ifndef BFTM_CORE_BACKOFF_CLIENT_H
#define BFTM_CORE_BACKOFF_CLIENT_H

#include "wire.h"

/** enum bftm_wait - what to do while somebody else has the lock */
enum bftm_wait {
	BFTM_WAIT_QUEUE,	/* the servers' queue, polled */
	BFTM_WAIT_BACKOFF,	/* sleep at random, Figure 1 */
	BFTM_WAIT_NO_BACKOFF,	/* Section 5, "breaking symmetry" */
	BFTM_WAIT_NOT,		/* one round and no more */
};

/** enum bftm_phase - where contend() stands */
enum bftm_phase {
	BFTM_PHASE_DEAD,	/* nothing asked for, or over */
	BFTM_PHASE_TRY,		/* try() is out: a round, or waiting in the queue */
	BFTM_PHASE_BACKOFF,	/* asleep between two rounds */
	BFTM_PHASE_FENCE,	/* held, and its fencing token is being stamped */
	BFTM_PHASE_HOLD,	/* inside, until bftm_contend_end() */
};

/** enum bftm_verdict - what became of it */
enum bftm_verdict {
	BFTM_PENDING,		/* nothing yet */
	BFTM_WON,		/* the lock is held until bftm_contend_end() */
	BFTM_LOST_ROUND,	/* WAIT_NOT, and others have it (or quarantine) */
	BFTM_UNREACHABLE,	/* WAIT_NOT, and too few servers answered in time */
	BFTM_REFUSED,		/* b + 1 servers refused, for out.refusal */
	BFTM_LAPSED,		/* it was held and the lease is over */
};

/**
 * struct bftm_client_cfg - what all locks of a cluster share
 * @n:            servers, at most BFTM_SERVERS_MAX
 * @b:            liars among them, n >= 3b + 1 (5b + 1 for @literal)
 * @rho_ppm:      ρ
 * @literal:      judge the first q answers as Figure 1 prints it; back-off only
 * @polynomial:   sleep up to s^exponent B instead of 2^s B
 * @exponent:     of the polynomial
 * @delta_ns:     δ
 * @resend_ns:    when to repeat a try that was not answered; see bftm_later()
 * @retry_max_ns: cap of one sleep; never below 2B, B = Δ + 4δ
 */
struct bftm_client_cfg {
	u32 n;
	u32 b;
	u32 rho_ppm;
	bool literal;
	bool polynomial;
	u32 exponent;
	u64 delta_ns;
	u64 resend_ns;
	u64 retry_max_ns;
};

/** struct bftm_want - what the application asks for */
struct bftm_want {
	u64 lease_ns;		/* Δ of this acquire */
	enum bftm_wait wait;
	bool renew;		/* send try() again at half of the lease */
	bool fence;		/* with a fencing token */
};

#define BFTM_RESEND_DELTAS 4	/* resend_ns: two round trips; what takes longer is lost */
#define BFTM_SENDS	16	/* send times remembered per attempt */
#define BFTM_ROUND_SENDS 7	/* sends until a round is given up */
#define BFTM_UNHEARD_POLLS 8	/* a lease without answers, and a wait is given up */
#define BFTM_STEP_MAX	(1u << 16) /* of fencing tokens, while they are denied */
#define BFTM_STAMP_SILENT 3	/* so often a token is offered before silence means something */
#define BFTM_STAMP_DENIED 20	/* … and before a refusal does: steps have grown by then */
#define BFTM_ADOPT_SENDS 1024	/* k that another helper may have used since */

/**
 * struct bftm_answer - what one server said in this attempt
 * @type:    last answer, since the last poll when queued; BFTM_MSG_NONE for
 *           silence
 * @refusal: reason, when it refused
 * @k:       highest send that it said FREE to, 0 for none
 * @from_ns: when that was sent
 * @granted: highest grant that it said FREE for
 * @yielded: highest grant that was yielded to it
 * @wait_ns: how long it says that its quarantine lasts, 0 for none
 * @lam:     highest priority it ever reported, kept over attempts
 * @hi:      highest fencing token it ever reported, likewise
 */
struct bftm_answer {
	u8 type;
	u8 refusal;
	u32 k;
	u64 from_ns;
	u64 granted;
	u64 yielded;
	u64 wait_ns;
	u64 lam;
	u64 hi;
};

/**
 * struct bftm_contend - contend() of one lock
 * @phase:     where it stands
 * @want:      what is asked for
 * @attempt:   current, fresh for each round, one for a whole wait in the queue
 * @prio:      Lamport priority of the attempt
 * @wake_ns:   call bftm_contend_wake() at this time
 * @sends:     the last k
 * @sends_base: k up to this were another helper's
 * @retries:   s of Figure 1
 * @rounds:    rounds and polls begun
 * @again:     servers whose new epoch was answered in this round
 * @reached:   F servers answered in the last round
 * @unheard:   polls in a row to which fewer than F servers answered
 * @poll_ns:   when to send to all again: queued, or renewing
 * @resend_ns: when to send to the silent again
 * @resends:   how often that was done since the last poll
 * @known_end_ns: end of an adopted lease, as the kernel knows it
 * @token:     fencing token that is offered or has been accepted
 * @step:      how much more than the last the next offer will be
 * @fence_ns:  until when tokens are offered by who waits for nothing
 * @stamps:    how often tokens were offered, in all attempts
 * @accepted, @denied, @ignorant: servers that stamped it, know a higher one, or
 *             do not know which were stamped
 * @answered:  servers that answered any offer of this attempt; of these @known said
 *             which token is their highest
 * @sent_ns:   times of the last sends
 * @server:    what each said
 */
struct bftm_contend {
	enum bftm_phase phase;
	struct bftm_want want;
	u64 attempt;
	u64 prio;
	u64 wake_ns;
	u32 sends;
	u32 sends_base;
	u32 retries;
	u32 rounds;
	u32 again;
	bool reached;
	u32 resends;
	u32 unheard;
	u64 poll_ns;
	u64 resend_ns;
	u64 known_end_ns;
	u64 token;
	u64 fence_ns;
	u32 step;
	u32 stamps;
	u32 accepted;
	u32 denied;
	u32 ignorant;
	u32 answered;
	u32 known;
	u64 sent_ns[BFTM_SENDS];
	struct bftm_answer server[BFTM_SERVERS_MAX];
};

/**
 * struct bftm_out - what to do now; sets of servers are bit masks
 * @verdict:         see there
 * @refusal:         enum bftm_refusal
 * @try_to:          send TRY number sends of the current attempt to these, with
 *                   BFTM_FLAG_NOQUEUE if bftm_contend_queues() does not hold
 * @yield_to:        send YIELD of grant @yield_gno of the current attempt
 * @yield_gno:       see there
 * @stamp_to:        send STAMP of the current attempt and token to these
 * @release_to:      send RELEASE of @release_attempt to these
 * @release_attempt: not always the current one
 * @round_over:      a round or poll was decided; @said_free, @said_locked (or
 *                   WAIT) and @silent are how
 * @extended:        bftm_contend_end() of a lock that is held has moved
 */
struct bftm_out {
	enum bftm_verdict verdict;
	u32 refusal;
	u32 try_to;
	u32 yield_to;
	u32 stamp_to;
	u32 release_to;
	u64 yield_gno;
	u64 release_attempt;
	bool round_over;
	bool extended;
	u32 said_free;
	u32 said_locked;
	u32 silent;
};

/**
 * bftm_contend_start() - begin
 * @c:       zeroed before first use; what servers reported is kept, and prio, so
 *           that it does not go before all who wait
 * @cfg:     the cluster
 * @want:    the request
 * @attempt: never used before by this client
 * @now:     the clock of leases in ns, taken before this call
 * @out:     what to do
 */
void bftm_contend_start(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now,
			struct bftm_out *out);

/**
 * bftm_contend_adopt() - go on with a lock that an earlier helper won
 * @want:    as it was asked for
 * @attempt: that holds it
 * @end_ns:  until when it does, from bftm_contend_end() of that helper
 * @sends:   highest @sends that helper has reported; it may have used up to
 *           BFTM_ADOPT_SENDS more
 *
 * Nothing is sent before bftm_contend_renew().
 */
void bftm_contend_adopt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends);

/** bftm_contend_renew() - ask now for a longer hold; if it is held at all */
void bftm_contend_renew(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_out *out);

/**
 * bftm_contend_answer() - an authentic reply of server number @u (0 … n - 1)
 * @rnd: 64 random bits, used when the round is lost by this answer
 */
void bftm_contend_answer(struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd,
			 struct bftm_out *out);

/**
 * bftm_contend_wake() - the time is @now; does nothing before c->wake_ns
 * @attempt: fresh; used when a new round begins, see c->attempt
 * @rnd:     64 random bits
 */
void bftm_contend_wake(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now, u64 attempt,
		       u64 rnd, struct bftm_out *out);

/** bftm_contend_again() - server @u has a new epoch: repeat the try there */
void bftm_contend_again(struct bftm_contend *c, u32 u, struct bftm_out *out);

/**
 * bftm_contend_stop() - release what is held, or cancel what is asked for
 *
 * The caller has stopped using the resource before.
 */
void bftm_contend_stop(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, struct bftm_out *out);

/**
 * bftm_contend_end() - the last instant at which the lock is held
 * Return: by the clock of leases, ns; 0 while fewer than F servers said FREE.
 */
u64 bftm_contend_end(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg);

/** bftm_contend_alive() - may servers think that the attempt wants the lock? */
static inline bool bftm_contend_alive(const struct bftm_contend *c)
{
	return c->phase != BFTM_PHASE_DEAD && c->phase != BFTM_PHASE_BACKOFF;
}

/** bftm_contend_queues() - do its TRY ask for a place in the queue? */
static inline bool bftm_contend_queues(const struct bftm_contend *c)
{
	return c->want.wait == BFTM_WAIT_QUEUE;
}

/**
 * bftm_fence_lacks() - are those that can stamp a token no q?
 *
 * While the lock is held and no token is known yet: F servers have answered, so the lock
 * can be had, and fewer than q of them know which tokens were stamped and may accept one.
 */
bool bftm_fence_lacks(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/** bftm_contend_reached() - did F servers answer, in this round or the last, or offers? */
bool bftm_contend_reached(const struct bftm_contend *c,
			  const struct bftm_client_cfg *cfg);

/** bftm_round_ns() - how long a round takes in which nobody answers */
u64 bftm_round_ns(const struct bftm_client_cfg *cfg);

/** bftm_stray() - what to do with an answer to an attempt that is unknown. */
void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out);

/**
 * bftm_recovered_token() - the floor for a server that lost its memory
 * @top: of each server what CHALLENGE said, asked after that server's restart;
 *       0 for one that did not answer or does not know, and for itself
 * @known: how many of them are known
 * @ret: for RECOVER
 *
 * Asked, and so called, after the quarantine of that server: what it accepted
 * before has then been counted or given up.
 *
 * Return: false while fewer than n - 1 - b others have told, and always when q is
 * less than 3b + 2: with fewer than 4b + 2 servers others do not know enough.
 */
bool bftm_recovered_token(const struct bftm_client_cfg *cfg, const u64 *top,
			  u32 known, u64 *ret);

/**
 * struct bftm_release - RELEASE of one attempt, repeated until acknowledged
 * @attempt:    that is over
 * @unanswered: servers that did not acknowledge
 * @sends:      so far
 * @wake_ns:    when to repeat
 */
struct bftm_release {
	u64 attempt;
	u32 unanswered;
	u32 sends;
	u64 wake_ns;
};

#define BFTM_RELEASE_SENDS 3	/* a loss of all costs at most one lease */

/** bftm_release_start() - after out.release_to; the first send is the caller's */
void bftm_release_start(struct bftm_release *r,
			const struct bftm_client_cfg *cfg, u64 attempt, u32 to,
			u64 now);

/** bftm_release_answer() - RELEASED of server @u. True when all have. */
bool bftm_release_answer(struct bftm_release *r, u32 u);

/** bftm_release_wake() - the servers to send to again; 0 when it is over. */
u32 bftm_release_wake(struct bftm_release *r,
		      const struct bftm_client_cfg *cfg, u64 now);

#endif /* BFTM_CORE_BACKOFF_CLIENT_H */
