/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of the backoff protocol: contend() of Figure 1, one object per
 * lock that is wanted or held. Inputs are the start, an answer, a timer; each
 * returns what to send and what became of it. The caller takes the clock
 * before each call and sends after it, so the time recorded for a send is
 * never later than the send: the lease counts from there.
 */
#ifndef BFTM_CORE_BACKOFF_CLIENT_H
#define BFTM_CORE_BACKOFF_CLIENT_H

#include "wire.h"

/** enum bftm_phase - where contend() stands */
enum bftm_phase {
	BFTM_PHASE_DEAD,	/* nothing asked for, or over */
	BFTM_PHASE_TRY,		/* a round of try() is out */
	BFTM_PHASE_BACKOFF,	/* asleep between two rounds */
	BFTM_PHASE_HOLD,	/* inside, until bftm_contend_end() */
};

/** enum bftm_verdict - what became of it */
enum bftm_verdict {
	BFTM_PENDING,		/* nothing yet */
	BFTM_WON,		/* the lock is held until bftm_contend_end() */
	BFTM_LOST_ROUND,	/* @once, and others have it (or quarantine) */
	BFTM_UNREACHABLE,	/* @once, and too few servers answered in time */
	BFTM_REFUSED,		/* b + 1 servers refused, for out.refusal */
	BFTM_LAPSED,		/* it was held and the lease is over */
};

/**
 * struct bftm_client_cfg - what all locks of a cluster share
 * @n:            servers, at most BFTM_SERVERS_MAX
 * @b:            liars among them, n >= 3b + 1 (5b + 1 for @literal)
 * @rho_ppm:      ρ
 * @literal:      judge the first q answers as Figure 1 prints it
 * @polynomial:   sleep up to s^exponent B instead of 2^s B
 * @exponent:     of the polynomial
 * @delta_ns:     δ
 * @resend_ns:    when to repeat a try that was not answered; doubles
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
	bool once;		/* one round, no waiting */
	bool no_backoff;	/* Section 5, "breaking symmetry" */
};

#define BFTM_SENDS	16	/* send times remembered per attempt */
#define BFTM_ROUND_SENDS 6	/* sends until a round is given up */

/**
 * struct bftm_answer - what one server said in this attempt
 * @type:    last answer, BFTM_MSG_NONE for silence
 * @refusal: reason, when it refused
 * @k:       highest send that it said FREE to, 0 for none
 * @from_ns: when that was sent
 * @wait_ns: in a WAIT, how long it says that its quarantine lasts
 * @lam:     highest priority it ever reported, kept over attempts
 */
struct bftm_answer {
	u8 type;
	u8 refusal;
	u32 k;
	u64 from_ns;
	u64 wait_ns;
	u64 lam;
};

/** struct bftm_contend - contend() of one lock */
struct bftm_contend {
	enum bftm_phase phase;
	struct bftm_want want;
	u64 attempt;		/* current, fresh for each round */
	u64 prio;
	u64 wake_ns;		/* call bftm_contend_wake() at this time */
	u32 sends;		/* the last k */
	u32 retries;		/* s of Figure 1 */
	u32 rounds;		/* rounds begun */
	u32 again;		/* servers whose new epoch was answered in this */
	bool reached;		/* F servers answered in the last round */
	u64 sent_ns[BFTM_SENDS];
	struct bftm_answer server[BFTM_SERVERS_MAX];
};

/**
 * struct bftm_out - what to do now; sets of servers are bit masks
 * @verdict:         see there
 * @refusal:         enum bftm_refusal
 * @try_to:          send TRY number sends of the current attempt to these
 * @release_to:      send RELEASE of @release_attempt to these
 * @release_attempt: not always the current one
 * @round_over:      a round was decided; @said_free, @said_locked and @silent
 *                   are how
 */
struct bftm_out {
	enum bftm_verdict verdict;
	u32 refusal;
	u32 try_to;
	u32 release_to;
	u64 release_attempt;
	bool round_over;
	u32 said_free;
	u32 said_locked;
	u32 silent;
};

/**
 * bftm_contend_start() - begin
 * @c:       zeroed before first use; what servers reported is kept
 * @cfg:     the cluster
 * @want:    the request
 * @attempt: never used before by this client
 * @now:     CLOCK_BOOTTIME in ns, taken before this call
 * @out:     what to do
 */
void bftm_contend_start(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now,
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
 * Return: CLOCK_BOOTTIME in ns, 0 while fewer than F servers said FREE.
 */
u64 bftm_contend_end(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg);

/** bftm_contend_reached() - did F servers answer, in this round or the last? */
bool bftm_contend_reached(const struct bftm_contend *c,
			  const struct bftm_client_cfg *cfg);

/** bftm_stray() - what to do with an answer to an attempt that is unknown. */
void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out);

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
