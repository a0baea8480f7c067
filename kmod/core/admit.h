/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a server decides about a request before its protocol does: is it for
 * this server, and does it know this incarnation? bftm_serve() asks.
 */
#ifndef BFTM_CORE_ADMIT_H
#define BFTM_CORE_ADMIT_H

#include "core/replay.h"
#include "core/wire.h"

/**
 * struct bftm_server_cfg - what a server is, constant while it runs
 * @cluster:             its number
 * @id:                  its number in the cluster
 * @rho_ppm:             ρ
 * @epoch:               random number of this start, not 0
 * @lease_max_ns:        Δmax
 * @quarantine_until_ns: end of the quarantine after this start, by the
 *                       server's clock; see bftm_quarantine()
 * @waiters_max:         clients that may wait for one lock
 * @holders_max:         clients that may hold one lock at once; 0: BFTM_HOLDERS_DEFAULT
 * @spared:              servers of the cluster that may restart without a quarantine, as this one
 *                       does; 0: it grants nothing in its quarantine
 *
 * These are of one request, see bftm_serve(), and of one lock where it is served without one:
 * @leaseless:           its client may hold this lock without a lease
 * @recovering:          this lock may be held so, and not all members have told what they hold
 * @awaited:             its client is a member that has not
 */
struct bftm_server_cfg {
	u32 cluster;
	u16 id;
	u32 rho_ppm;
	u64 epoch;
	u64 lease_max_ns;
	u64 quarantine_until_ns;
	u32 waiters_max;
	u32 holders_max;
	u8 spared;
	bool leaseless;
	bool recovering;
	bool awaited;
};

/**
 * struct bftm_tokens - what a server knows of all fencing tokens
 * @floor: no higher one was stamped before this start; BFTM_TOKEN_UNKNOWN until
 *         others have told
 * @top:   highest one stamped since, for any lock
 *
 * Locks share a floor, so that one message brings back what a restart lost. It
 * makes tokens jump, never fall.
 */
struct bftm_tokens {
	u64 floor;
	u64 top;
};

/** bftm_tokens_top() - no token above it was stamped; or BFTM_TOKEN_UNKNOWN. */
static inline u64 bftm_tokens_top(const struct bftm_tokens *t)
{
	return t->floor > t->top ? t->floor : t->top;
}

/**
 * bftm_tokens_may_be() - can holders have come to this token by now?
 * @t:       what the server knows of tokens
 * @token:   the one offered, at least 1
 * @wall_ns: the server's clock, ns since 1970
 * @up_ns:   since this start, ns
 *
 * From holder to holder a token grows by little, and nobody holds for less than a
 * nanosecond. So a client that stamps what it likes, of locks of its own, cannot take
 * all tokens from all others, whose locks begin with the highest that was forgotten.
 */
static inline bool bftm_tokens_may_be(const struct bftm_tokens *t, u64 token, u64 wall_ns,
				      u64 up_ns)
{
	return token <= wall_ns ||
	       (t->floor != BFTM_TOKEN_UNKNOWN && token <= t->floor + up_ns);
}

/** bftm_tokens_stamped() - this token was, for some lock. */
static inline void bftm_tokens_stamped(struct bftm_tokens *t, u64 token)
{
	if (token > t->top)
		t->top = token;
}

/**
 * bftm_tokens_answer() - what an answer of bftm_admit() lacks
 * @t:       what the server knows of tokens
 * @cfg:     the server
 * @req:     let through by bftm_access_admit(), which lets only clients say RECOVER that
 *           may take every lock
 * @now:     the clock of leases in ns, as bftm_admit() was given it
 * @wall_ns: the server's clock, ns since 1970
 * @reply:   the answer of bftm_admit(); changed
 *
 * Takes what RECOVER says, if the request was made for this incarnation, the quarantine
 * is over and nothing is known yet; completes CHALLENGE. A token above the wall clock
 * turns it into REFUSED, by BFTM_REFUSED_CLOCK. Other answers are left alone.
 */
void bftm_tokens_answer(struct bftm_tokens *t, const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req, u64 now, u64 wall_ns,
			struct bftm_msg *reply);

/** bftm_quarantine() - the end of a quarantine that starts at @now. */
u64 bftm_quarantine(u64 lease_max_ns, u32 rho_ppm, u64 now);

/** bftm_admit_address() - is it a request, and for this server? */
bool bftm_admit_address(const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req);

/**
 * bftm_admit() - may a protocol see this authentic, fresh request?
 * @cfg:   the server
 * @req:   a message, or of the ordering protocol what bftm_order_head() made of it
 * @now:   the clock of leases, ns
 * @reply: the answer when not: CHALLENGE, or STALE to what was sent to another incarnation
 * Return: true when it may, then @reply is untouched.
 */
bool bftm_admit(const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
		u64 now, struct bftm_msg *reply);

/**
 * bftm_refuse_behind() - the answer to a number that the window has long forgotten
 * @w:     the client's
 * @req:   authentic; its number was not taken
 * @reply: REFUSED, by BFTM_REFUSED_BEHIND
 *
 * A client whose numbers are behind would hear nothing, ever, and not know why. Only a HELLO
 * that names no epoch is answered so: clients that hear nothing send it, once a second at
 * most. Anybody can record such a HELLO and send it again, so the caller answers few of
 * them. A client that has used a higher number itself learns nothing from this answer.
 *
 * Return: false for silence, then @reply is untouched.
 */
bool bftm_refuse_behind(const struct bftm_window *w, const struct bftm_msg *req,
			struct bftm_msg *reply);

/** bftm_refuse() - the answer REFUSED, which repeats the first word. @reply may not be @req. */
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply,
		 enum bftm_refusal reason);

#endif /* BFTM_CORE_ADMIT_H */
