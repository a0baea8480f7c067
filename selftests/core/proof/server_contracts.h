/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contracts of the functions of server.c; Documentation/proof.rst has the numbers of the
 * invariants.
 */
#ifndef PROOF_SERVER_CONTRACTS_H
#define PROOF_SERVER_CONTRACTS_H

#include "value_contracts.h"
#include "core/backoff/parties.h"

#define CFG_OK								\
	\valid_read(cfg) && rho_ok(cfg->rho_ppm) && lease_ok(cfg->lease_max_ns) && \
	time_ok(cfg->quarantine_until_ns)
#define QUARANTINE (now <= cfg->quarantine_until_ns)
#define CLOSED ((QUARANTINE && cfg->spared == 0) || cfg->recovering != 0)
/* A member tells what it holds, and the server awaits that. */
#define ASSERTED ((req->flags & BFTM_FLAG_REASSERT) != 0 && cfg->awaited != 0)
#define HELD_OR_WANTED(p) ((p)->held != 0 ? (p)->held : (p)->want)

/*@ requires \valid_read(p);
  @ assigns \nothing;
  @ ensures strictly: \result <==> p->mode != 0 && now <= p->time_ns;
  @*/
static inline bool bftm_is_granted(const struct bftm_party *p, u64 now);

/*@ requires places_ok(the_lock);
  @ assigns \nothing;
  @ ensures strictly: \result <==> \exists integer i; 0 <= i < parties(the_lock) &&
  @   party(the_lock, i)->mode != 0 && now <= party(the_lock, i)->time_ns;
  @*/
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/*@ requires \valid(lock);
  @ assigns lock->hi;
  @ ensures known: \old(lock->hi) != UNKNOWN ==> lock->hi == \old(lock->hi);
  @ ensures told: \old(lock->hi) == UNKNOWN ==> lock->hi == hi;
  @*/
void bftm_lock_learn(struct bftm_lock *lock, u64 hi);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> req->type == BFTM_MSG_TRY && req->arg != 0;
  @*/
static inline bool bftm_says_held(const struct bftm_msg *req);

#define BURIED(i)							\
	(lock->tomb[i].client == req->client &&				\
	 (req->type == BFTM_MSG_TRY && req->arg != 0 ? req->attempt == lock->tomb[i].attempt : \
	  req->attempt <= lock->tomb[i].attempt))

/*@ requires \valid_read(lock) && \valid_read(req);
  @ assigns \nothing;
  @ ensures tombs: \result <==> BURIED(0) || BURIED(1);
  @*/
bool bftm_is_over(const struct bftm_lock *lock, const struct bftm_msg *req);

/* 1: the end never comes nearer; 2: it lasts for the lease of the grant. */
/*@ requires CFG_OK && \valid(p) && \separated(cfg, p);
  @ requires asked_ok(p->lease_ns) && time_ok(now);
  @ assigns p->time_ns, p->k;
  @ ensures lasts: p->time_ns >= until(now, p->lease_ns, cfg->rho_ppm);
  @ ensures never_nearer: p->time_ns >= \old(p->time_ns);
  @ ensures one_of: p->time_ns == \old(p->time_ns) ||
  @   p->time_ns == until(now, p->lease_ns, cfg->rho_ppm);
  @ ensures guard: p->lease_ns != UNKNOWN ==> until(now, p->lease_ns, cfg->rho_ppm) <=
  @   now + 4000000000000;
  @ ensures echo: p->k >= k && p->k >= \old(p->k) && (p->k == k || p->k == \old(p->k));
  @*/
void bftm_refresh(const struct bftm_server_cfg *cfg, struct bftm_party *p, u32 k, u64 now);

/*
 * The caller has found that the party fits beside all others; while the server is closed the
 * party must be of a member that is awaited.
 */
/*@ requires CFG_OK && lock_ok(lock) && in_lock(lock, p) && p->attempt != 0 && 1 <= mode <= 5;
  @ requires \separated(cfg, lock, lock->queue) && time_ok(now) && lock->gno < 0xffffffffffffffff;
  @ requires fits: fits_beside(lock, p, mode);
  @ requires quiet: !CLOSED || cfg->awaited != 0;
  @ assigns lock->first, lock->gno, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures numbered: lock->gno == \old(lock->gno) + 1;
  @ ensures inside: \result == &lock->first && lock->first.mode == mode &&
  @   named(&lock->first, \old(p->client), \old(p->attempt));
  @ ensures lasts: \old(p->mode) == 0 ==>
  @   lock->first.time_ns >= until(now, lock->first.lease_ns, cfg->rho_ppm);
  @ ensures never_nearer: lock->first.time_ns >= \old(p->time_ns);
  @*/
struct bftm_party *bftm_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
				struct bftm_party *p, enum bftm_mode mode, u64 now);

#define STEP								\
	requires VALUE_APART && \separated(cfg, the_value);		\
	requires CFG_OK && lock_ok(lock) && time_ok(now) && lock->gno < 0xfffffffffffffff0; \
	requires \separated(cfg, lock, lock->queue)

/*@ requires \valid_read(cfg) && \valid_read(lock) && \valid_read(p) && \valid(push);
  @ requires \separated(push, cfg, lock, lock->queue);
  @ requires in_lock(the_lock, (struct bftm_party *)p) && places_ok(the_lock);
  @ assigns *push;
  @ ensures told: push->type == type && push->client == p->client && push->attempt == p->attempt &&
  @   push->k == p->k && push->mode == p->mode && push->token == lock->hi;
  @ ensures same: lock->queue == \old(lock->queue);
  @*/
void bftm_tell(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock,
		 const struct bftm_party *p, u8 type, struct bftm_msg *push);

/*@ requires lock_ok(lock) && \valid(push);
  @ assigns *push, lock->first, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock);
  @ ensures same: lock->gno == \old(lock->gno) && lock->queue == \old(lock->queue);
  @ ensures asks: *push == \old(*push) || push->type == BFTM_MSG_INQUIRE;
  @*/
bool bftm_ask_marked(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       struct bftm_msg *push);

/*@ requires places_ok(the_lock);
  @ assigns \nothing;
  @*/
static inline bool bftm_is_quiet(const struct bftm_lock *lock);

/*@ requires \valid_read(cfg);
  @ assigns \nothing;
  @ ensures strictly: \result <==> CLOSED;
  @*/
static inline bool bftm_is_closed(const struct bftm_server_cfg *cfg, u64 now);

/*@ requires \valid_read(cfg);
  @ assigns \nothing;
  @*/
static inline u32 bftm_holders_max(const struct bftm_server_cfg *cfg);

/*@ STEP;
  @ requires \valid(push) && \separated(push, cfg, lock, lock->queue);
  @ assigns *lock, QUEUE_FIELDS, *push;
  @ ensures once: lock->gno == \old(lock->gno) || lock->gno == \old(lock->gno) + 1;
  @ ensures quiet: CLOSED ==> lock->gno == \old(lock->gno);
  @*/
void bftm_settle(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
			struct bftm_msg *push);

/*@ requires \valid_read(req) && \valid(reply) && \separated(req, reply);
  @ assigns *reply;
  @ ensures reply->type == BFTM_MSG_REFUSED && reply->arg == reason && reply->token == 0;
  @*/
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply, enum bftm_refusal reason);

/*@ axiomatic Masks {
  @   // Sets of modes: which bits stand for which matters to nobody here.
  @   logic integer mask_of(integer mode);
  @   logic integer conflicts_of(integer mode);
  @ }
  @*/

/*@ requires mode_ok(mode);
  @ assigns \nothing;
  @ ensures \result == mask_of(mode);
  @*/
static inline u8 bftm_mode_mask(enum bftm_mode mode);

/*@ requires mode_ok(mode);
  @ assigns \nothing;
  @ ensures \result == conflicts_of(mode);
  @*/
static inline u8 bftm_mode_conflicts(enum bftm_mode mode);

#define MASKED(mask, mode) (((mask) & mask_of(mode)) != 0)
#define JOINS(mask, mode) ((conflicts_of(mode) & (mask)) == 0)

#define SAME_TOKEN							\
	(lock->hi == \old(lock->hi) && lock->himask == \old(lock->himask) && \
	 lock->hi_attempt == \old(lock->hi_attempt) && lock->hi_client == \old(lock->hi_client))

/* 5: the token that is stamped is above all, or the highest and shared by right. */
/*@ requires \valid(lock) && \valid_read(req) && \valid(reply) && \separated(lock, req, reply);
  @ requires req->type == BFTM_MSG_STAMP && 1 <= req->mode <= 5 && reply->type == BFTM_MSG_STAMP;
  @ assigns lock->hi, lock->himask, lock->hi_attempt, lock->hi_client, *reply;
  @ ensures never_falls: lock->hi >= \old(lock->hi);
  @ ensures unknown: \old(lock->hi) == UNKNOWN ==> SAME_TOKEN && reply->type == BFTM_MSG_REFUSED;
  @ ensures accepted: reply->type == BFTM_MSG_SACK ==> reply->gno == req->token &&
  @   lock->hi == req->token && (req->token > \old(lock->hi) ||
  @   (\old(lock->hi_attempt) == req->attempt && \old(lock->hi_client) == req->client &&
  @    MASKED(\old(lock->himask), req->mode)) || JOINS(\old(lock->himask), req->mode));
  @ ensures last: reply->type == BFTM_MSG_SACK && conflict(req->mode, req->mode) ==>
  @   lock->hi_attempt == req->attempt && lock->hi_client == req->client;
  @ ensures else_same: reply->type != BFTM_MSG_SACK ==> SAME_TOKEN;
  @ ensures said: reply->type == BFTM_MSG_SACK || reply->type == BFTM_MSG_SNACK ||
  @   reply->type == BFTM_MSG_REFUSED;
  @*/
static void step_stamp(struct bftm_lock *lock, const struct bftm_msg *req,
		       struct bftm_msg *reply);

/*@ requires \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> (req->lease_ns == UNKNOWN ? cfg->leaseless != 0 :
  @   1000000 <= req->lease_ns <= cfg->lease_max_ns);
  @*/
static inline bool bftm_may_last(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/*@ requires \valid(lock);
  @ assigns lock->lam;
  @ ensures lam: lock->lam >= \old(lock->lam);
  @ ensures bounded: lock->lam - \old(lock->lam) <= BFTM_PRIO_JUMP_MAX;
  @*/
static void note_prio(struct bftm_lock *lock, u64 prio);

/*@ requires \valid_read(me) && \valid_read(place);
  @ assigns \nothing;
  @ ensures \result <==> me->attempt > place->attempt ||
  @   (me->attempt == place->attempt && me->k > place->k);
  @*/
static bool is_news(const struct bftm_party *me, const struct bftm_party *place);

/*@ assigns \nothing;
  @ ensures \result <==> 1 <= mode <= 5;
  @*/
static bool is_mode(u8 mode);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures formed: \result ==> req->attempt != 0 && req->arg <= 5;
  @ ensures try: \result && req->type == BFTM_MSG_TRY ==> req->k != 0 && 1 <= req->mode <= 5;
  @ ensures stamp: \result && req->type == BFTM_MSG_STAMP ==> req->token != UNKNOWN && 1 <= req->mode <= 5;
  @*/
static bool is_formed(const struct bftm_msg *req);

/*@ requires \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result ==> req->attempt != 0 &&
  @   (req->type == BFTM_MSG_STAMP || req->type == BFTM_MSG_TRY);
  @*/
bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

#define REQUEST								\
	requires VALUE_APART && \separated(the_value, cfg, req, reply, push); \
	requires req->value_len <= BFTM_VALUE_LEN_MAX;			\
	requires \valid_read(req) && \valid(reply) && \valid(push);	\
	requires \separated(req, reply, push, cfg, lock, lock->queue);	\
	requires req->attempt != 0 && 1 <= req->mode <= 5 && req->arg <= 5 && req->k != 0

/*@ assigns *lock, QUEUE_FIELDS, *reply, *push; */
static void answer_free(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push);

/* 1, 3: what is said before the answer is in annotations: WP forgets which party it was. */
/*@ requires CFG_OK && lock_ok(lock) && time_ok(now);
  @ REQUEST;
  @ requires in_lock(lock, p) && named(p, req->client, req->attempt) && p->mode != 0;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push, *the_value;
  @*/
static void renew_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push);

/*@ requires CFG_OK && lock_ok(lock) && time_ok(now);
  @ requires open: !CLOSED;
  @ requires \valid_read(look);
  @ REQUEST;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @*/
static void decide_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_look *look, const struct bftm_msg *req, u64 now,
		       struct bftm_msg *reply, struct bftm_msg *push);

/*@ requires lock_ok(the_lock) && \valid_read(req) && \valid_read(look);
  @ requires look->plain == \null || \valid_read(look->plain);
  @ assigns \nothing;
  @*/
static bool is_late(const struct bftm_lock *lock, const struct bftm_look *look,
		    const struct bftm_msg *req);

/*@ requires \valid_read(req) && mode_ok(req->mode) && req->arg <= 5;
  @ assigns \nothing;
  @ ensures named: \result.client == req->client && \result.attempt == req->attempt;
  @ ensures asks: \result.mode == 0 && \result.want == req->mode && \result.held == req->arg;
  @ ensures times: \result.lease_ns == req->lease_ns && \result.time_ns == now && \result.k == req->k;
  @*/
static struct bftm_party asking(const struct bftm_msg *req, u64 now);

/*@ requires CFG_OK && lock_ok(lock) && time_ok(now) && lock->gno < 0xffffffffffffffff;
  @ REQUEST;
  @ requires in_lock(lock, p) && p->attempt != 0 && 1 <= HELD_OR_WANTED(p) <= 5;
  @ requires fits: fits_beside(lock, p, HELD_OR_WANTED(p));
  @ requires quiet: !CLOSED || cfg->awaited != 0;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @*/
static void begin_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push);

/* Two things that members hold do not exclude each other: no server can check this. */
#define FACTS fits_beside(lock, \null, HELD_BY_REQUEST)
#define HELD_BY_REQUEST (req->arg != 0 ? req->arg : req->mode)

/*@ requires CFG_OK && lock_ok(lock) && time_ok(now) && lock->gno < 0xffffffffffffffff;
  @ REQUEST;
  @ requires awaited: cfg->awaited != 0;
  @ requires facts: fits_beside(lock, \null, HELD_BY_REQUEST) && asked_ok(req->lease_ns);
  @ requires nobody: \forall integer i; 0 <= i < parties(lock) ==>
  @   !named(party(lock, i), req->client, req->attempt);
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @*/
static void step_reassert(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			  const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
			  struct bftm_msg *push);

/* 4: a closed server decides nothing, but what a member that it awaits tells is a fact. */
/*@ STEP;
  @ requires facts: ASSERTED ==> FACTS;
  @ REQUEST;
  @ requires reply->type == BFTM_MSG_TRY && push->type == BFTM_MSG_NONE;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push, *the_value;
  @ ensures quiet: CLOSED && !ASSERTED && (\forall integer i; 0 <= i < \old(parties(lock)) &&
  @   \old(named(party(lock, i), req->client, req->attempt)) ==> \old(party(lock, i)->mode) == 0) ==>
  @   reply->type != BFTM_MSG_FREE && push->type == BFTM_MSG_NONE && lock->gno == \old(lock->gno);
  @*/
void bftm_step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply, struct bftm_msg *push);

/*@ requires \valid(lock) && \valid_read(req) && \separated(lock, req);
  @ assigns lock->tomb[0 .. 1];
  @*/
static void bury(struct bftm_lock *lock, const struct bftm_msg *req);

/*@ STEP;
  @ requires \valid(push) && \separated(push, cfg, lock, lock->queue);
  @ assigns *lock, QUEUE_FIELDS, *push;
  @*/
void bftm_settle_heard(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
			 struct bftm_msg *push);

/* 6: what goes has the name of the request; see annotations. */
/*@ STEP;
  @ requires \valid_read(req) && \valid(reply) && \valid(push) && req->attempt != 0;
  @ requires \separated(req, reply, push, cfg, lock, lock->queue);
  @ requires \separated(the_value, req, reply, push) && req->value_len <= BFTM_VALUE_LEN_MAX;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push, *the_value;
  @ ensures said: reply->type == BFTM_MSG_RELEASED;
  @*/
static void step_release(const struct bftm_server_cfg *cfg,
			 struct bftm_lock *lock, const struct bftm_msg *req,
			 u64 now, struct bftm_msg *reply, struct bftm_msg *push);

#endif
