/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the files of contend(); see client.h. */
#ifndef BFTM_CORE_CONTEND_H
#define BFTM_CORE_CONTEND_H

#include "core/backoff/client.h"
#include "core/resend.h"
#include "core/servers.h"

static inline u32 bftm_everyone(const struct bftm_client_cfg *cfg)
{
	return bftm_all(cfg->n);
}

/** bftm_said() - the servers whose last answer is of this type. */
u32 bftm_said(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      u8 type);

/** bftm_repeat_try() - the last k of this attempt once more. */
void bftm_repeat_try(const struct bftm_contend *c, u32 to, struct bftm_out *out);

/** bftm_send_try() - next k of this attempt; @now was read before it is sent. */
void bftm_send_try(struct bftm_contend *c, u32 to, u64 now,
		   struct bftm_out *out);

/** bftm_go_behind() - take the priority behind all that some correct server has seen. */
void bftm_go_behind(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_begin_attempt() - try() with a fresh attempt, to those that are asked first. */
void bftm_begin_attempt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 attempt, u64 now,
			struct bftm_out *out);

/** bftm_release_all() - all servers are to hear that this attempt is over. */
void bftm_release_all(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      struct bftm_out *out);

/** bftm_die() - it is over; servers are to hear it. */
void bftm_die(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      enum bftm_verdict verdict, struct bftm_out *out);

/** bftm_end_round() - report a round or poll as it stands. */
void bftm_end_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    struct bftm_out *out);

/** bftm_answered() - enough answers to know how a round ends? */
bool bftm_answered(const struct bftm_contend *c,
		   const struct bftm_client_cfg *cfg);

/** bftm_may_begin() - F servers have granted it, and enough of their grants is left? */
bool bftm_may_begin(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);

/* first.c: the servers that are asked first, and the others. */
/** bftm_first_only() - are there servers that the attempt has not asked? */
static inline bool bftm_first_only(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	return bftm_everyone(cfg) & ~c->base.asking.asked;
}

/** bftm_first_begun() - of a try() at @now: when to ask the others, if there are any. */
void bftm_first_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_first_judge() - ask the others if those asked first will not do. */
void bftm_first_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);
/** bftm_first_rest() - ask those that have not been asked. */
void bftm_first_rest(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
/** bftm_first_over() - their time is over: ask all that have not answered. */
void bftm_first_over(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
/** bftm_first_heard() - note the answer of server @u; @free: it is FREE, and counts. */
void bftm_first_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, bool free, u64 now);
/**
 * bftm_first_again() - the request does not wait, and is lost: is it sent once more?
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @now: the clock of leases in ns
 * @out: what to do
 *
 * It is if RELEASE of this host may be on its way, which servers then had not seen.
 */
bool bftm_first_again(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);

/**
 * bftm_first_stale() - is this LOCKED or WAIT of server @u of the send before bftm_first_again()?
 * @c: the attempt
 * @u: the server
 *
 * Neither names the send that it answers. The servers that were silent at the second send owe an
 * answer to the first, and that one comes first. If it is lost, the answer to the second goes for
 * it, and the server is asked as any that is silent.
 */
bool bftm_first_stale(struct bftm_contend *c, u32 u);

/* round.c: Figure 1 with back-off. */
void bftm_round_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now);
void bftm_round_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now, u64 rnd, struct bftm_out *out);
void bftm_round_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, u64 rnd, struct bftm_out *out);
/** bftm_lose_round() - cancel the attempt and sleep, unless it asked once only. */
void bftm_lose_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, u64 rnd, struct bftm_out *out);
/** bftm_quarantine_left() - at most @most, less when only restarts are waited for. */
u64 bftm_quarantine_left(const struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u64 most);

/* wait.c: the queue. */
void bftm_wait_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now);
void bftm_wait_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
void bftm_wait_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, u64 rnd, struct bftm_out *out);
/** bftm_wait_granted() - a new grant: the others can be expected now. */
void bftm_wait_granted(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u64 now);

/* hold.c: the lease. */
/**
 * bftm_hold_uncount() - the grants of servers that may forget too much count no more
 * @c:   the lock's contend()
 * @cfg: the cluster, with what CHALLENGE said last
 *
 * Nor do those from before the server said so: it may have forgotten them already. A lock that a
 * program holds stays held.
 */
void bftm_hold_uncount(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
void bftm_hold_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
/** bftm_hold_read() - its value is read, as far as it can be. */
void bftm_hold_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_missed() - the lease is over before the application knew: begin anew, or give up. */
void bftm_hold_missed(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);
/** bftm_hold_told() - the application may know now. */
void bftm_hold_told(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_grew() - a FREE of server @u came; @before is the end without it. */
void bftm_hold_grew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		    u64 before, u64 now, struct bftm_out *out);
void bftm_hold_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_inquired() - server @u pushed INQUIRE: perhaps somebody waits for the lock. */
void bftm_hold_inquired(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_hold_unwanted() - what was asked for is not held any more. */
static inline void bftm_hold_unwanted(struct bftm_contend *c)
{
	c->inquired = 0;
	c->base.wanted = false;
}

/** bftm_after_end() - the first instant at which it is not held any more; ~0: there is none. */
u64 bftm_after_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_kth_end() - the F-th largest end of grants that count from these times, 0 for none. */
u64 bftm_kth_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, bool more);

/* read.c: the value. */
/** bftm_value_take_told() - this FREE counts: note the value that it tells. */
void bftm_value_take_told(struct bftm_answer *a, const struct bftm_msg *msg);
/** bftm_value_forget() - what was told so far is of a lesser mode, in which others may write. */
void bftm_value_forget(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_value_read() - is it not wanted, or valid, or can it not be any more? */
bool bftm_value_read(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_value_heard() - server @u has heard of the mode that was given up, and has the value. */
void bftm_value_heard(struct bftm_contend *c, u32 u);
/** bftm_value_await() - wait for more servers to tell it; @now F have granted. */
void bftm_value_await(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_value_leave() - a holder gives a mode up, or all, and leaves @value; NULL: none. */
void bftm_value_leave(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_written *value);
/** bftm_value_forgotten() - an earlier helper left a value; servers that have not heard doubt. */
void bftm_value_forgotten(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_contend_writes() - does a program hold it in a mode in which it may write a value? */
static inline bool bftm_contend_writes(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD && bftm_mode_writes(c->held);
}

/* convert.c: another mode of a held lock. */
static inline bool bftm_converts(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD && c->base.want.mode != c->held;
}

/** bftm_convert_free() - a FREE that counts came of server @u. */
void bftm_convert_free(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_convert_wait() - WAIT or LOCKED came of it. */
void bftm_convert_wait(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_convert_inquire() - it asks for what is not held yet. */
void bftm_convert_inquire(struct bftm_contend *c, u32 u, const struct bftm_msg *msg,
			  struct bftm_out *out);
void bftm_yield(const struct bftm_contend *c, u32 u, u64 gno, struct bftm_out *out);

/** bftm_convert_read() - the value of the mode that is held now is read, as far as it can be. */
void bftm_convert_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_out *out);
/** bftm_convert_stamped() - the held lock has its token, or needs none. */
void bftm_convert_stamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out);
/** bftm_convert_unstamped() - there is no token: back to the old mode, if that is less. */
void bftm_convert_unstamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			    enum bftm_kept why, u64 now, struct bftm_out *out);

/** bftm_hold_converted() - its renewal is planned anew. */
void bftm_hold_converted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_hold_arm() - when it has to do something next. */
void bftm_hold_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_hold_ask() - try() once more for the held lock, with the next k. */
void bftm_hold_ask(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out);

/* reassert.c: locks that are held without a lease, at servers that have forgotten them. */
/** bftm_reassert() - tell those that have not granted it again. */
void bftm_reassert(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out);
/** bftm_reassert_heard() - server @u has granted the held mode, or the wanted one. */
void bftm_reassert_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u);

/* fence.c: tokens. */
/** bftm_fences() - is a token on offer? */
static inline bool bftm_fences(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_FENCE || c->stamps_anew;
}

/** bftm_fence_due() - when to offer again, or to give up. */
u64 bftm_fence_due(const struct bftm_contend *c);
/** bftm_fence_anew() - offer one for the mode that is held since now. */
void bftm_fence_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
void bftm_fence_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now, struct bftm_out *out);
void bftm_fence_answer(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u32 u, const struct bftm_msg *msg, u64 now,
		       struct bftm_out *out);
void bftm_fence_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
/** bftm_fence_wake_anew() - the same beside the renewals of a lock that is held. */
void bftm_fence_wake_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out);

#endif /* BFTM_CORE_CONTEND_H */
