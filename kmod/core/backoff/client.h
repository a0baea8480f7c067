/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of the backoff protocol: contend() of Figure 1, one object per
 * lock that is wanted or held.
 *
 * client.c dispatches; first.c asks some servers before the others, round.c has the paper's rounds
 * with back-off, wait.c the queue, hold.c the lease, convert.c other modes, reassert.c locks
 * without a lease, read.c the value, fence.c tokens.
 */
#ifndef BFTM_CORE_BACKOFF_CLIENT_H
#define BFTM_CORE_BACKOFF_CLIENT_H

#include "core/client.h"

#define BFTM_ROUND_SENDS 7	/* sends until a round is given up */
#define BFTM_UNHEARD_POLLS 8	/* unanswered polls until a wait is given up: a lease's time */
#define BFTM_STEP_MAX	(1u << 16) /* of fencing tokens, while they are denied */
#define BFTM_STAMP_SILENT 3	/* offers of a token until silence counts as "cannot stamp it" */
#define BFTM_STAMP_DENIED 20	/* … and until a denial does: steps have grown by then */

/**
 * struct bftm_answer - what one server said in this attempt
 * @type:    last answer, since the last poll when queued; BFTM_MSG_NONE for
 *           silence
 * @refusal: reason, when it refused
 * @himask:  modes that share the token @hi; 0 where it said nothing of them
 * @k:       highest send that it said FREE to, in a mode that covers the one held or, before
 *           there is one, the one wanted; 0 for none
 * @from_ns: when that was sent
 * @more_ns: of a conversion, when that was sent which it granted in the mode wanted; 0 for none
 * @granted: highest grant that it said FREE for
 * @yielded: highest grant that was yielded to it
 * @wait_ns: how long it says that its quarantine lasts, 0 for none
 * @queue_ns: T_w, how long this client will wait there, 0 if it did not say so
 * @lam:     highest priority it ever reported, kept over attempts
 * @hi:      highest fencing token it ever reported, likewise
 * @value_gno: grant by which the answer with the value was given
 * @value:   the value told, if @value_told
 * @value_told: it reported a value
 * @value_doubt: … or that it does not know the last value
 * @value_len: bytes of the value told, 0 to BFTM_VALUE_LEN_MAX
 * @value_k: send that the answer with the value was to
 */
struct bftm_answer {
	u8 type;
	u8 refusal;
	u8 himask;
	bool value_told;
	bool value_doubt;
	u8 value_len;
	u32 value_k;
	u32 k;
	u64 from_ns;
	u64 more_ns;
	u64 granted;
	u64 yielded;
	u64 wait_ns;
	u64 queue_ns;
	u64 lam;
	u64 hi;
	u64 value_gno;
	u8 value[BFTM_VALUE_LEN_MAX];
};

/**
 * struct bftm_contend - contend() of one lock
 * @base:      what all protocols have
 * @sends_base: k up to this were another helper's
 * @retries:   s of Figure 1
 * @again:     servers whose new epoch was answered in this round
 * @reached:   F servers answered in the last round
 * @announced: all servers have been told the held mode, or asked for more
 * @once:      the conversion ends when it is clear that others are in its way
 * @fences:    it ends with a fencing token of its own
 * @stamps_anew: such a token is on offer: what it is for is held already
 * @reads_anew: the mode of a conversion is held, and more servers are to confirm the value
 * @held:      enum bftm_mode held by F grants; during a conversion the wanted mode differs
 * @resort:    of a conversion that stamps: the mode that is held again if there is no token
 * @old_token: likewise, the token of that
 * @cut_k:     answers to earlier sends do not count: they may be of a mode that was given up
 * @owed:      servers that have not answered, since a mode was given up, a send of @owed_k or later
 * @owed_k:    the first send after a mode was given up
 * @deadlock:  servers that say that this conversion and a better one exclude each other
 * @blocked:   servers that answered this conversion by less than what it wants
 * @inquired:  servers that have asked for the held grant, see @wanted of the base
 * @heard_ns:  when F servers had answered a poll, last; or when the attempt began
 * @polled_ns: time of the last poll
 * @poll_ns:   when to send again, with the next k: a round, queued, or renewing
 * @resend_ns: when to send to the silent again
 * @hedge_ns:  pause before that, where not all have been asked; 0: the usual one
 * @resends:   how often that was done since the last poll
 * @value_ns:  until when values are awaited
 * @known_end_ns: end of an adopted lease, as the kernel knows it
 * @reasserts: servers that have forgotten that they granted it, and have not granted it again
 * @reassert_ns: when to tell them again
 * @retold:    how often they were told
 * @offered:   highest token that was offered, accepted or not
 * @offered_ns: when that was offered first
 * @restamps:  how often the silent were asked about it once more
 * @step:      how much more than the last the next offer will be
 * @fence_ns:  until when tokens are offered by a client that asks once
 * @stamps:    how often tokens were offered, in all attempts
 * @accepted:  servers that stamped the token that is offered
 * @denied:    servers that know a higher one
 * @ignorant:  servers that do not know which were stamped
 * @answered:  servers that answered any offer of this attempt
 * @known:     those of @answered that said which token is their highest
 * @sent_ns:   times of the last sends
 * @server:    what each said
 */
struct bftm_contend {
	struct bftm_contender base;
	u32 sends_base;
	u32 retries;
	u32 again;
	bool reached;
	bool announced;
	bool once;
	bool fences;
	bool stamps_anew;
	bool reads_anew;
	u8 held;
	u8 resort;
	u64 old_token;
	u32 cut_k;
	u32 owed;
	u32 owed_k;
	u32 deadlock;
	u32 blocked;
	u32 inquired;
	u32 resends;
	u64 heard_ns;
	u64 polled_ns;
	u64 poll_ns;
	u64 resend_ns;
	u64 hedge_ns;
	u64 known_end_ns;
	u32 reasserts;
	u32 retold;
	u64 reassert_ns;
	u64 value_ns;
	u64 fence_ns;
	u64 offered;
	u64 offered_ns;
	u32 restamps;
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
 * @c:       the lock's contend(), of which base.token is the token of the held lock
 * @cfg:     the cluster
 * @want:    as it was asked for
 * @attempt: that holds it
 * @end_ns:  until when it does, from bftm_contend_end() of that helper
 * @sends:   highest @sends that helper has reported; it may have used up to
 *           BFTM_ADOPT_SENDS more
 * @left:    it left a value when it gave a mode up; perhaps not all servers have heard of that
 *
 * Nothing is sent before bftm_contend_renew().
 */
void bftm_contend_adopt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends,
			bool left);

/** bftm_contend_renew() - ask now for a longer hold; if it is held at all */
void bftm_contend_renew(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_out *out);

/**
 * bftm_contend_answer() - an authentic reply of server number @u (0 … n - 1)
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @u:   its number
 * @msg: the reply, as the codec has read it
 * @now: the clock of leases in ns
 * @rnd: 64 random bits, used when the round is lost by this answer
 * @out: what to do
 */
void bftm_contend_answer(struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd,
			 struct bftm_out *out);

/**
 * bftm_contend_wake() - the time is @now; does nothing before c->base.wake_ns
 * @c:       the lock's contend()
 * @cfg:     the cluster
 * @now:     the clock of leases in ns
 * @attempt: fresh; used when a new round begins, see c->base.attempt
 * @rnd:     64 random bits
 * @out:     what to do
 */
void bftm_contend_wake(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now, u64 attempt,
		       u64 rnd, struct bftm_out *out);

/** bftm_contend_again() - server @u has a new epoch: repeat the try there */
void bftm_contend_again(struct bftm_contend *c, u32 u, struct bftm_out *out);

/**
 * bftm_contend_restarted() - server @u has forgotten what it granted without a lease
 * @c:   the client
 * @cfg: the cluster
 * @u:   number of the server, 0 ... n - 1
 * @now: the clock of leases in ns, taken before this call
 * @out: what to do
 *
 * A holder goes on counting that grant while the server is told of it; a client that asks for the
 * lock does not. A lock with a lease outlasts a restart by the server's quarantine, and nothing is
 * done.
 */
void bftm_contend_restarted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			    u64 now, struct bftm_out *out);

/** bftm_contend_retold() - does server @u know the locks without a lease again? */
bool bftm_contend_retold(const struct bftm_contend *c, u32 u);

/**
 * bftm_contend_stop() - release the held lock, or cancel the request
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @out: what to do
 *
 * The caller has stopped using the resource before. The value is in doubt if it could write one.
 */
void bftm_contend_stop(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, struct bftm_out *out);

/**
 * bftm_contend_leave() - release the held lock; its user is done
 * @c:     the lock's contend()
 * @cfg:   the cluster
 * @value: that it leaves if it can write one, @at apart; NULL: the value stays as it was
 * @out:   what to do
 */
void bftm_contend_leave(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			const struct bftm_written *value, struct bftm_out *out);

/**
 * bftm_contend_value() - the value that servers told by the grants that count now
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @now: the clock of leases in ns
 * @ret: the value
 *
 * It is valid if so many told the same, and have no doubt, that a correct one of them granted the
 * lock to the last holder that could write.
 */
void bftm_contend_value(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_value_told *ret);

/**
 * bftm_contend_convert() - hold the lock in another mode
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @to:  the mode, and how
 * @now: the clock of leases in ns
 * @out: what to do
 *
 * A mode that the held one covers is held at once: the caller has stopped doing what @to->mode
 * does not allow. Else BFTM_CONVERTED or BFTM_KEPT tells the result later; the mode before is held
 * until then, and after BFTM_KEPT. The call replaces a conversion that is under way, and does
 * nothing if the lock is not held. The end of the holding never comes nearer.
 *
 * Neither of CW and PR covers the other: BFTM_CONVERTED says that PW is held, which covers both,
 * and the caller converts once more when it has noted that it gives the mode before up.
 *
 * With @to->fence BFTM_CONVERTED comes when a token of the new mode is stamped. A mode that the one
 * before covers keeps the token if no other can be had. Without @to->fence, the token is kept only
 * for a mode that the one before covers.
 */
void bftm_contend_convert(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_conversion *to, u64 now, struct bftm_out *out);

/** bftm_contend_keep() - give up the conversion under way; the held mode stays. */
void bftm_contend_keep(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_out *out);

/** bftm_contend_held() - the mode that it has by the grants of F servers, NL if there are fewer. */
enum bftm_mode bftm_contend_held(const struct bftm_contend *c);

/**
 * bftm_contend_end() - the last instant at which the lock is held
 * @c:   the lock's contend()
 * @cfg: the cluster
 * Return: by the clock of leases, ns; 0 while fewer than F servers said FREE.
 */
u64 bftm_contend_end(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg);

/** bftm_is_wanted() - of b + 1 servers that ask for the held grant, a correct one has a waiter. */
static inline bool bftm_is_wanted(const struct bftm_client_cfg *cfg, u32 inquired)
{
	return bftm_count(inquired) > cfg->b;
}

/** bftm_contend_seen() - the highest priority: its own, or what some correct server saw. */
u64 bftm_contend_seen(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/**
 * bftm_fence_lacks() - can fewer than q servers stamp a token?
 * @c:   the lock's contend()
 * @cfg: the cluster
 *
 * While the lock is held and no token is known yet: F servers have answered, so the lock
 * can be had, and fewer than q of them know which tokens were stamped and may accept one.
 */
bool bftm_fence_lacks(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/** bftm_contend_reached() - did F servers answer this round, the last one, or offers of a token? */
bool bftm_contend_reached(const struct bftm_contend *c,
			  const struct bftm_client_cfg *cfg);

/** bftm_round_ns() - how long a round takes in which nobody answers */
u64 bftm_round_ns(const struct bftm_client_cfg *cfg);

/**
 * bftm_recovered_token() - the floor for a server that lost its memory
 * @cfg:   the cluster
 * @top:   of each server what CHALLENGE said, asked after that server's restart; 0 for one that did
 *         not answer or does not know, and for itself
 * @known: how many of them are known
 * @ret:   the floor, for RECOVER; only if true
 *
 * Asked, and so called, after the quarantine of that server: what it accepted
 * before has then been counted or given up.
 *
 * Return: false while fewer than n - 1 - b others have told, and always when q is
 * less than 3b + 2: with fewer than 4b + 2 servers others do not know enough.
 */
bool bftm_recovered_token(const struct bftm_client_cfg *cfg, const u64 *top,
			  u32 known, u64 *ret);

#endif /* BFTM_CORE_BACKOFF_CLIENT_H */
