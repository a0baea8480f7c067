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

/** bftm_said() - the servers whose last answer to the attempt is of this type */
u32 bftm_said(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      u8 type);

/** bftm_repeat_try() - send TRY with the attempt's last k once more */
void bftm_repeat_try(const struct bftm_contend *c, u32 to, struct bftm_out *out);

/** bftm_send_try() - send TRY with the attempt's next k; @now is read before the send */
void bftm_send_try(struct bftm_contend *c, u32 to, u64 now,
		   struct bftm_out *out);

/** bftm_go_behind() - take a priority behind all that some correct server has seen */
void bftm_go_behind(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_begin_attempt() - begin a new attempt: TRY to the servers that are asked first */
void bftm_begin_attempt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 attempt, u64 now,
			struct bftm_out *out);

/** bftm_release_all() - send RELEASE of the attempt to all servers */
void bftm_release_all(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      struct bftm_out *out);

/** bftm_die() - end the attempt with @verdict, and send RELEASE to the servers */
void bftm_die(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      enum bftm_verdict verdict, struct bftm_out *out);

/** bftm_end_round() - report the answers that a round or poll has had so far */
void bftm_end_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    struct bftm_out *out);

/** bftm_answered() - are there enough answers to know how the round ends? */
bool bftm_answered(const struct bftm_contend *c,
		   const struct bftm_client_cfg *cfg);

/** bftm_may_begin() - have F servers granted the lock, and is enough of their grants left? */
bool bftm_may_begin(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);

/* first.c: the servers that are asked first, and the others. */
/** bftm_first_only() - are there servers that the attempt has not asked? */
static inline bool bftm_first_only(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	return bftm_everyone(cfg) & ~c->base.asking.asked;
}

/** bftm_first_begun() - TRY was sent at @now: choose when to ask the other servers, if any */
void bftm_first_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_first_judge() - ask the other servers if those asked first cannot win the lock */
void bftm_first_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);
/** bftm_first_rest() - ask the servers that have not been asked */
void bftm_first_rest(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
/** bftm_first_over() - the servers asked first were too slow: ask all that have not answered */
void bftm_first_over(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
/** bftm_first_heard() - note the answer of server @u; @free: the answer is FREE, and counts */
void bftm_first_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, bool free, u64 now);
/**
 * bftm_first_again() - send a request that does not wait, and is lost, once more if that may help
 * @c:   the lock's contend()
 * @cfg: the cluster
 * @now: the clock of leases in ns
 * @out: what to do
 *
 * It may if a RELEASE of this host was still on its way when servers denied the request.
 * Return: true if the request was sent again.
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
/** bftm_lose_round() - cancel the attempt and back off; a request that asks once only ends */
void bftm_lose_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, u64 rnd, struct bftm_out *out);
/** bftm_quarantine_left() - ns to wait: at most @most, less if only quarantines are in the way */
u64 bftm_quarantine_left(const struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u64 most);

/* wait.c: the queue. */
void bftm_wait_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now);
void bftm_wait_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
void bftm_wait_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, u64 rnd, struct bftm_out *out);
/** bftm_wait_granted() - a server has granted a waiter: the other servers' grants are due, too */
void bftm_wait_granted(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u64 now);

/* hold.c: the lease. */
/**
 * bftm_hold_uncount() - stop counting the grants of servers that may forget too much
 * @c:   the lock's contend()
 * @cfg: the cluster, with what CHALLENGE said last
 *
 * Grants from before the server said so do not count either, since the server may have forgotten
 * them already. A lock that a program holds stays held.
 */
void bftm_hold_uncount(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
void bftm_hold_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
/** bftm_hold_read() - the value of the lock is read, as far as possible: go on to the token */
void bftm_hold_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_missed() - the lease ended before the program was told: begin anew, or give up */
void bftm_hold_missed(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);
/** bftm_hold_told() - the lock is won: tell the program, and plan the renewal */
void bftm_hold_told(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_grew() - FREE of server @u came; @before: the lease's end without this FREE */
void bftm_hold_grew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		    u64 before, u64 now, struct bftm_out *out);
void bftm_hold_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out);
/** bftm_hold_inquired() - server @u pushed INQUIRE: perhaps another client waits for the lock */
void bftm_hold_inquired(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_hold_unwanted() - the mode that INQUIRE was about is given up: forget INQUIRE */
static inline void bftm_hold_unwanted(struct bftm_contend *c)
{
	c->inquired = 0;
	c->base.wanted = false;
}

/** bftm_after_end() - the first ns at which the lock is not held any more; ~0: there is no lease */
u64 bftm_after_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/**
 * bftm_kth_end() - the F-th largest end of grants
 * @c:    the lock's contend()
 * @cfg:  the cluster
 * @more: of the mode that a conversion asks for; else of the mode that is asked for or held
 * Return: the end in ns; 0 when fewer than F servers have granted.
 */
u64 bftm_kth_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, bool more);

/* read.c: the value. */
/** bftm_value_take_told() - note the value that a FREE tells, which counts */
void bftm_value_take_told(struct bftm_answer *a, const struct bftm_msg *msg);
/** bftm_value_forget() - forget values told for a lesser mode, in which others may write */
void bftm_value_forget(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_value_read() - is the value valid, or not wanted, or can no answer make it valid? */
bool bftm_value_read(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_value_heard() - server @u has the value that came with the mode that was given up */
void bftm_value_heard(struct bftm_contend *c, u32 u);
/** bftm_value_await() - F servers have granted at @now: wait for more to tell the value */
void bftm_value_await(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_value_leave() - a holder gives up a mode or the lock, and leaves @value; NULL: none */
void bftm_value_leave(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_written *value);
/** bftm_value_forgotten() - an earlier helper left a value: servers without it are to doubt */
void bftm_value_forgotten(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_contend_writes() - does a program hold the lock in a mode that may write a value? */
static inline bool bftm_contend_writes(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD && bftm_mode_writes(c->held);
}

/* convert.c: another mode of a held lock. */
static inline bool bftm_converts(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD && c->base.want.mode != c->held;
}

/** bftm_convert_free() - FREE of server @u came during a conversion, and counts */
void bftm_convert_free(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_convert_wait() - WAIT or LOCKED of server @u came during a conversion */
void bftm_convert_wait(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, struct bftm_out *out);
/** bftm_convert_inquire() - INQUIRE of server @u is about the mode that is not held yet */
void bftm_convert_inquire(struct bftm_contend *c, u32 u, const struct bftm_msg *msg,
			  struct bftm_out *out);
void bftm_yield(const struct bftm_contend *c, u32 u, u64 gno, struct bftm_out *out);

/** bftm_convert_read() - the value for the new mode is read, as far as possible */
void bftm_convert_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       struct bftm_out *out);
/** bftm_convert_stamped() - the held lock has its token, or needs none. */
void bftm_convert_stamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out);
/** bftm_convert_unstamped() - no token can be had: go back to the old mode if that is less */
void bftm_convert_unstamped(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			    enum bftm_kept why, u64 now, struct bftm_out *out);

/** bftm_hold_converted() - plan the renewal anew after a conversion */
void bftm_hold_converted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);
/** bftm_hold_arm() - set the time at which a holder has to do something next */
void bftm_hold_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg);
/** bftm_hold_ask() - try() once more for the held lock, with the next k. */
void bftm_hold_ask(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out);

/* reassert.c: locks that are held without a lease, at servers that have forgotten them. */
/** bftm_reassert() - send TRY with REASSERT to the servers that have not granted again */
void bftm_reassert(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out);
/** bftm_reassert_heard() - server @u has granted the held mode, or the wanted one. */
void bftm_reassert_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u);

/* fence.c: tokens. */
/** bftm_fences() - has the client offered a token to servers, whose answers it awaits? */
static inline bool bftm_fences(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_FENCE || c->stamps_anew;
}

/** bftm_fence_due() - when to offer the token again, or to give up */
u64 bftm_fence_due(const struct bftm_contend *c);
/** bftm_fence_anew() - offer a token for a mode that is held from @now on */
void bftm_fence_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
void bftm_fence_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now, struct bftm_out *out);
void bftm_fence_answer(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u32 u, const struct bftm_msg *msg, u64 now,
		       struct bftm_out *out);
void bftm_fence_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out);
/** bftm_fence_wake_anew() - as bftm_fence_wake(), for a lock that is held and renewed meanwhile */
void bftm_fence_wake_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out);

#endif /* BFTM_CORE_CONTEND_H */
