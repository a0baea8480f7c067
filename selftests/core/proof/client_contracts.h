/* SPDX-License-Identifier: GPL-2.0 */
/* A client counts FREE of its own attempt and sends, and F of them to hold a lock. */
#ifndef PROOF_CLIENT_CONTRACTS_H
#define PROOF_CLIENT_CONTRACTS_H

#include "quorum_contracts.h"
#include "lease_contracts.h"
#include "mode_contracts.h"
#include "core/backoff/contend.h"

#define CLIENT_OK							\
	\valid_read(cfg) && 1 <= cfg->n <= 31 && 3 * cfg->b + 1 <= cfg->n && \
	m_ok(cfg->n, cfg->b, cfg->m) && rho_ok(cfg->rho_ppm) &&		\
	\valid_read(c) && asked_ok(c->base.want.lease_ns)
/* The lock is held, be its value awaited or its token stamped first. */
#define INSIDE								\
	(c->base.phase == BFTM_PHASE_HOLD || c->base.phase == BFTM_PHASE_VALUE || \
	 c->base.phase == BFTM_PHASE_FENCE)
#define GOOD good_for(c->base.want.lease_ns, cfg->rho_ppm)
/* The time that the grant of server v to this attempt counts from: 0 for no grant. */
#define GRANT_FROM(v)							\
	(c->server[v].k == 0 ? 0 : more ? c->server[v].more_ns : c->server[v].from_ns)
#define TIMES_OK							\
	(\forall integer v; 0 <= v < 31 ==> time_ok(c->server[v].from_ns) && time_ok(c->server[v].more_ns))

/*@ requires \valid_read(cfg) && 1 <= cfg->n <= 31 && 3 * cfg->b + 1 <= cfg->n;
  @ requires m_ok(cfg->n, cfg->b, cfg->m);
  @ assigns \nothing;
  @ ensures win: \result == win(cfg->n, cfg->b, cfg->m);
  @ ensures share: 2 * \result - cfg->n >= cfg->b + 1;
  @ ensures reachable: \result <= cfg->n - cfg->b;
  @*/
static inline u32 bftm_win(const struct bftm_client_cfg *cfg);

/*@ requires \valid(cfg) && \valid_read(msg) && \separated(cfg, msg) && u < 31;
  @ requires 1 <= cfg->n <= 31 && 3 * cfg->b + 1 <= cfg->n && m_ok(cfg->n, cfg->b, cfg->m);
  @ assigns cfg->forgetful, cfg->older;
  @*/
static inline void bftm_client_challenge(struct bftm_client_cfg *cfg, u32 u,
					 const struct bftm_msg *msg);

/*@ axiomatic End { logic integer the_end; } // what bftm_contend_end() says, whatever it is
  @*/

#ifdef PROOF_ANY_END
#define ENDS ensures \result == the_end
#define BEGINS ensures \result ==> now < the_end
#else
#define BEGINS ensures 0 < 1
#define ENDS ensures \result >= c->known_end_ns
#endif

/*@ requires CLIENT_OK && TIMES_OK;
  @ assigns \nothing;
  @*/
u64 bftm_kth_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, bool more);

/*@ requires CLIENT_OK && TIMES_OK;
  @ assigns \nothing;
  @ ENDS;
  @*/
u64 bftm_contend_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/* So it is also when a lock is begun, with more left than nothing. */
/*@ requires CLIENT_OK && TIMES_OK && time_ok(now);
  @ assigns \nothing;
  @ BEGINS;
  @*/
bool bftm_may_begin(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);

/*@ assigns \nothing;
  @ ensures \result <= 32;
  @*/
static inline u32 bftm_count(u32 set);

/*@ requires \valid_read(cfg) && \valid(c);
  @ assigns c->server[0 .. 30];
  @*/
void bftm_hold_uncount(struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/*@ requires \valid_read(c) && \valid_read(cfg);
  @ assigns \nothing;
  @*/
u32 bftm_said(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u8 type);

/* A lock is held, or fenced first, when F grants are good. */
/*@ requires held: now <= the_end;
  @ assigns *c, *out;
  @*/
void bftm_hold_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);

/*@ assigns *c, *out;
  @ ensures lost: !INSIDE;
  @*/
void bftm_lose_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		     struct bftm_out *out);

/*@ assigns \nothing;
  @ ensures \result <= most;
  @*/
u64 bftm_quarantine_left(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 most);

/*@ requires \valid(c);
  @ assigns c->base.wake_ns;
  @*/
static void wait_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/*@ requires CLIENT_OK;
  @ assigns \nothing;
  @ ensures \result <= pace(c->base.want.lease_ns) / 2;
  @*/
static u64 wait_pause(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/*@ requires CLIENT_OK && TIMES_OK && time_ok(now) && \valid(c);
  @ assigns c->poll_ns;
  @*/
static void plan_poll(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);

/*@ requires \valid(t);
  @ assigns t->asked, t->rest_ns;
  @*/
void bftm_ask_more(struct bftm_asking *t, u32 to, u64 now);

/*@ requires \valid_read(c) && \valid(out) && \separated(c, out);
  @ assigns *out;
  @*/
void bftm_repeat_try(const struct bftm_contend *c, u32 to, struct bftm_out *out);

/*@ requires \valid_read(cfg);
  @ assigns \nothing;
  @*/
static inline u32 bftm_everyone(const struct bftm_client_cfg *cfg);

/*@ requires \valid_read(c) && \valid_read(cfg);
  @ assigns \nothing;
  @*/
static inline bool bftm_first_only(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);

#define ASKS_MORE							\
	requires \valid(c) && \valid_read(cfg) && \valid(out) && \separated(c, cfg, out); \
	assigns c->base.asking, c->resend_ns, *out

/*@ ASKS_MORE; */
void bftm_first_rest(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);

/*@ requires CLIENT_OK;
  @ ASKS_MORE;
  @*/
void bftm_first_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);

/*@ requires \valid(c);
  @ assigns c->poll_ns, c->base.wake_ns;
  @*/
static void round_arm(struct bftm_contend *c);

#define JUDGED								\
	requires CLIENT_OK && \valid(c) && \valid(out) && \separated(c, cfg, out); \
	requires TIMES_OK && time_ok(c->polled_ns);			\
	requires c->base.phase == BFTM_PHASE_TRY && time_ok(now);	\
	assigns *c, *out;						\
	ensures held: INSIDE ==> now <= the_end

/*@ JUDGED; */
void bftm_wait_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);

/*@ JUDGED; */
void bftm_round_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		      struct bftm_out *out);

/*@ requires \valid_read(c) && \valid(out);
  @ assigns *out;
  @*/
void bftm_yield(const struct bftm_contend *c, u32 u, u64 gno, struct bftm_out *out);

/*@ requires \valid_read(c);
  @ assigns \nothing;
  @ ensures \result == (INSIDE ? c->held : 0);
  @*/
enum bftm_mode bftm_contend_held(const struct bftm_contend *c);

#define HELD_NOW (INSIDE && c->held != 0)

#define MODES_OK mode_ok(c->held) && mode_ok(c->base.want.mode)

/*@ requires \valid_read(c) && MODES_OK;
  @ assigns \nothing;
  @ ensures \result == (HELD_NOW ? c->held : c->base.want.mode);
  @*/
static u8 mode_needed(const struct bftm_contend *c);

/*@ requires \valid_read(msg) && mode_ok(msg->mode) && mode_ok(mode);
  @ assigns \nothing;
  @ ensures \result <==> msg->type == BFTM_MSG_FREE && covers(msg->mode, mode) &&
  @   base < msg->k <= sends && sends - msg->k < BFTM_SENDS;
  @*/
static inline bool bftm_grants(const struct bftm_msg *msg, enum bftm_mode mode, u32 base,
			       u32 sends);

/*@ requires \valid(c);
  @ assigns c->poll_ns;
  @*/
void bftm_wait_granted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now);

/*@ requires \valid_read(c);
  @ assigns \nothing;
  @ ensures \result <==> c->base.phase == BFTM_PHASE_HOLD && c->base.want.mode != c->held;
  @*/
static inline bool bftm_converts(const struct bftm_contend *c);

/* A value is said no more to a server that has heard it. */
/*@ requires \valid(c) && u < 31;
  @ assigns c->owed, c->base.written.at[u];
  @ ensures said: c->base.written.at[u] == 0;
  @*/
void bftm_value_heard(struct bftm_contend *c, u32 u);

/*@ requires \valid(c);
  @ assigns c->base.wake_ns;
  @*/
void bftm_hold_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg);

/* A server that has heard what is held is told no more. */
/*@ requires \valid(c) && u < 31;
  @ assigns c->reasserts, c->base.wake_ns;
  @*/
void bftm_reassert_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u);

#define NEWER(a)							\
	(msg->gno > (a)->value_gno || (msg->gno == (a)->value_gno && msg->k >= (a)->value_k))

#ifdef PROOF_VALUE_TOLD
#define TOLD							\
	ensures older: !\old(NEWER(a)) ==> a->value_told == \old(a->value_told) && \
		a->value_doubt == \old(a->value_doubt) && a->value_gno == \old(a->value_gno) && \
		a->value_k == \old(a->value_k); \
	ensures noted: \old(NEWER(a)) ==> a->value_gno == msg->gno && a->value_k == msg->k; \
	ensures told: \old(NEWER(a)) && a->value_told ==> (msg->flags & BFTM_FLAG_VALUE) != 0 && \
		a->value_len == msg->value_len; \
	ensures doubted: \old(NEWER(a)) && (msg->flags & BFTM_FLAG_DOUBT) != 0 ==> a->value_doubt != 0
#else
#define TOLD ensures 0 < 1
#endif

/* A value that a server told by an earlier grant, or at an earlier send, changes nothing. */
/*@ requires \valid(a) && \valid_read(msg) && \separated(a, msg);
  @ requires msg->value_len <= BFTM_VALUE_LEN_MAX;
  @ assigns a->value_told, a->value_doubt, a->value_len, a->value_k, a->value_gno, a->value[0 .. 63];
  @ TOLD;
  @*/
void bftm_value_take_told(struct bftm_answer *a, const struct bftm_msg *msg);

/*@ assigns \nothing; */
static inline size_t bftm_pad8(size_t n);

#define ANSWERED							\
	requires CLIENT_OK && \valid(c) && \valid_read(msg) && \valid(out); \
	requires \separated(c, cfg, msg, out) && u < cfg->n

/*@ ANSWERED;
  @ requires mode_ok(msg->mode) && MODES_OK && msg->value_len <= BFTM_VALUE_LEN_MAX;
  @ assigns c->server[u], c->poll_ns, c->owed, c->base.written.at[u], c->reasserts, c->base.wake_ns, *out;
  @ ensures own: \result ==> c->sends_base < msg->k <= c->base.sends &&
  @   c->base.sends - msg->k < BFTM_SENDS;
  @ ensures not_given_up: \result ==> msg->k >= c->cut_k;
  @ ensures covered: \result ==> covers(msg->mode, HELD_NOW ? c->held : c->base.want.mode);
  @ ensures not_forgetful: \result ==> ((cfg->forgetful >> u) & 1) == 0;
  @ ensures not_yielded: \result ==> \old(c->server[u].yielded) == 0 ||
  @   msg->gno > \old(c->server[u].yielded);
  @ ensures counted: c->server[u].k != \old(c->server[u].k) ==> \result &&
  @   c->server[u].k == msg->k && c->server[u].from_ns == c->sent_ns[msg->k % 16];
  @ ensures never_falls: c->server[u].k >= \old(c->server[u].k);
  @*/
static bool take_free(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 now, struct bftm_out *out);

/*@ requires \valid(a) && \valid_read(msg) && \separated(a, msg);
  @ assigns a->hi, a->himask;
  @ ensures never_falls: a->hi >= \old(a->hi);
  @*/
static void note_token(struct bftm_answer *a, const struct bftm_msg *msg);

/*@ requires own: msg->attempt == c->base.attempt && c->base.phase == BFTM_PHASE_TRY;
  @ assigns *c, *out;
  @*/
static void answer_try(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out);

/*@ requires own: msg->attempt == c->base.attempt && c->base.phase != BFTM_PHASE_TRY &&
  @   c->base.phase != BFTM_PHASE_DEAD && c->base.phase != BFTM_PHASE_BACKOFF;
  @ assigns *c, *out;
  @*/
static void answer_hold(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now, struct bftm_out *out);

/*@ requires \valid(out);
  @ assigns *out;
  @*/
static inline void bftm_out_clear(struct bftm_out *out);

/*@ requires \valid_read(msg) && \valid(out);
  @ assigns *out;
  @*/
void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out);

/*@ requires \valid_read(c);
  @ assigns \nothing;
  @ ensures \result <==> c->phase != BFTM_PHASE_DEAD && c->phase != BFTM_PHASE_BACKOFF;
  @*/
static inline bool bftm_contender_alive(const struct bftm_contender *c);

/*@ requires \valid_read(c);
  @ assigns \nothing;
  @*/
static inline bool bftm_contender_queues(const struct bftm_contender *c);

/* Both above demand that the answer is to this attempt. */
/*@ ANSWERED;
  @ assigns *c, *out;
  @*/
void bftm_contend_answer(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out);

/*@ requires divisor != 0 && \valid(remainder);
  @ assigns *remainder;
  @ ensures quotient: \result == dividend / divisor;
  @ ensures rest: *remainder == dividend % divisor;
  @*/
static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder);

/*@ assigns \nothing;
  @ ensures no_less: y >= 1 ==> \result >= x;
  @*/
static u64 mul_sat(u64 x, u64 y);

/* So the range to draw from is not empty. */
/*@ requires CLIENT_OK && cfg->delta_ns < 0x0400000000000000;
  @ assigns \nothing;
  @ ensures least: c->base.want.wait != BFTM_WAIT_NO_BACKOFF ==>
  @   \result >= pace(c->base.want.lease_ns) + 4 * cfg->delta_ns;
  @*/
static u64 draw_sleep(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 rnd);

#endif
