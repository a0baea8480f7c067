/* SPDX-License-Identifier: GPL-2.0 */
/* The invariants of one lock at a server, as Documentation/proof.rst numbers them. */
#ifndef PROOF_LOCK_CONTRACTS_H
#define PROOF_LOCK_CONTRACTS_H

#include "queue_contracts.h"
#include "core/backoff/server.h"

/*
 * Macros, not predicates: what a predicate takes by its address is for WP a piece of memory
 * like any other, and each proof then has to show anew that a queue is none of it.
 */
#define CFG_OK								\
	\valid_read(cfg) && rho_ok(cfg->rho_ppm) &&			\
	lease_ok(cfg->lease_max_ns) && time_ok(cfg->quarantine_until_ns)
#define QUARANTINE (now <= cfg->quarantine_until_ns)
#define OWNED (lock->attempt != 0 && now <= lock->until_ns)
#define OWNER (lock->attempt == req->attempt && lock->client == req->client)
#define LOCK_OK								\
	\valid(lock) && queue_ok(lock->queue) &&			\
	lock->until_ns <= now + 4000000000000 &&			\
	(lock->attempt != 0 ==> lease_ok(lock->lease_ns) &&		\
	 heard(lock->client, lock->attempt, lock->k)) &&		\
	(QUARANTINE ==> lock->attempt == 0 &&				\
	 (lock->queue == \null || lock->queue->count == 0))

#define STEP								\
	requires CFG_OK && time_ok(now) && now == step_time;		\
	requires LOCK_OK && lock->gno < 0xffffffffffffffff;		\
	requires \separated(lock, cfg, lock->queue)

#define REQUEST								\
	requires \valid_read(req) && \valid(reply) && \valid(push);	\
	requires \separated(req, reply, push, lock, cfg, lock->queue);	\
	requires reply->client == req->client && reply->attempt == req->attempt && \
		reply->k == req->k;					\
	requires req->attempt != 0

#define WAITER								\
	requires \valid_read(me) && \separated(me, reply, lock, cfg, lock->queue); \
	requires WAITER_OK(me)

#define SAME_GRANT							\
	lock->attempt == \old(lock->attempt) && lock->client == \old(lock->client) && \
	lock->lease_ns == \old(lock->lease_ns) && lock->gno == \old(lock->gno)

/* 1: what is owned and not over stays with its owner, and its end does not come nearer. */
#define KEPT(but)							\
	ensures kept: \old(OWNED) && !(but) ==> SAME_GRANT &&		\
		lock->until_ns >= \old(lock->until_ns)
#define RELEASED \old(OWNER)
#define YIELDED (\old(OWNER) && \old(lock->gno) == req->gno)

/* A grant that is kept, to hold by: it has a new number, and nothing else of it changes. */
#define HELD								\
	(lock->attempt == \old(lock->attempt) && lock->client == \old(lock->client) && \
	 lock->lease_ns == \old(lock->lease_ns) && lock->until_ns == \old(lock->until_ns) && \
	 lock->k == \old(lock->k))
/* 2: each grant has the next number, and lasts for its own lease from now on. */
#define NUMBERED							\
	ensures numbered: lock->gno == \old(lock->gno) ||		\
		(lock->gno == \old(lock->gno) + 1 && lock->attempt != 0 && \
		 (lock->until_ns == now + at_server(lock->lease_ns, cfg->rho_ppm) || HELD)); \
	ensures no_other: lock->gno == \old(lock->gno) ==>		\
		lock->attempt == 0 || SAME_GRANT

/* 3: FREE goes to the owner, with a number that he has sent, and the end counts from now. */
#define ASKED								\
	ensures asked: reply->type == BFTM_MSG_FREE ==> !QUARANTINE &&	\
		OWNER && reply->client == lock->client &&		\
		reply->attempt == lock->attempt && reply->k == req->k && \
		reply->gno == lock->gno && reply->k <= lock->k &&	\
		lock->until_ns >= now + at_server(lock->lease_ns, cfg->rho_ppm)
#define PUSHED								\
	ensures pushed: push->type == BFTM_MSG_FREE ==> !QUARANTINE &&	\
		lock->gno == \old(lock->gno) + 1 &&			\
		push->client == lock->client && push->attempt == lock->attempt && \
		push->k == lock->k && push->gno == lock->gno &&		\
		push->token == lock->hi &&				\
		heard(push->client, push->attempt, push->k)

/* 4: nothing is granted in the quarantine, and nobody waits then. */
#define QUIET								\
	ensures quiet: QUARANTINE ==>					\
		lock->gno == \old(lock->gno) && lock->attempt == 0

/* Few words, few goals: of a lock that may change token: and same_queue: say what does not. */
#define TOKEN								\
	ensures token: SAME_TOKEN
#define STAYS_OK							\
	ensures ok: LOCK_OK;						\
	ensures same_queue: lock->queue == \old(lock->queue)

#define GRANT_FIELDS lock->until_ns, lock->k, lock->attempt, lock->client, lock->lease_ns, \
	lock->prio, lock->held, lock->gno
#define QUEUE_FIELDS lock->queue->count, lock->queue->waiter[0 .. 65535]
#define BURIED(i)							\
	(lock->tomb[i].client == req->client &&				\
	 (req->type == BFTM_MSG_TRY && req->arg != 0 ? req->attempt == lock->tomb[i].attempt : \
	  req->attempt <= lock->tomb[i].attempt))
/* What names a tomb that is assigned would be about a piece of memory, again. */
#define ALL_BUT_TOMBS(when) \
	lock->attempt == \at(lock->attempt, when) && lock->until_ns == \at(lock->until_ns, when) && \
	lock->lease_ns == \at(lock->lease_ns, when) && lock->prio == \at(lock->prio, when) && \
	lock->gno == \at(lock->gno, when) && lock->lam == \at(lock->lam, when) && \
	lock->hi == \at(lock->hi, when) && lock->hi_attempt == \at(lock->hi_attempt, when) && \
	lock->queue == \at(lock->queue, when) && lock->client == \at(lock->client, when) && \
	lock->held == \at(lock->held, when) && lock->k == \at(lock->k, when) && lock->hi_client == \at(lock->hi_client, when)
#define TOKEN_FIELDS lock->hi, lock->hi_attempt, lock->hi_client

/* 5: the highest token never falls, and each is accepted for one client and attempt. */
#define SAME_TOKEN							\
	(lock->hi == \old(lock->hi) && lock->hi_attempt == \old(lock->hi_attempt) && \
	 lock->hi_client == \old(lock->hi_client))
#define ACCEPTED							\
	ensures never_falls: lock->hi >= \old(lock->hi);		\
	ensures unknown: \old(lock->hi) == UNKNOWN ==> SAME_TOKEN && \
		reply->type != BFTM_MSG_SACK;				\
	ensures accepted: reply->type == BFTM_MSG_SACK ==>		\
		req->type == BFTM_MSG_STAMP && reply->gno == req->token && \
		lock->hi == req->token && lock->hi_attempt == req->attempt && \
		lock->hi_client == req->client &&			\
		(req->token > \old(lock->hi) || SAME_TOKEN);		\
	ensures else_same: reply->type != BFTM_MSG_SACK ==> SAME_TOKEN

/*@ assigns \nothing; */
static inline u8 bftm_mode_mask(enum bftm_mode mode);

/*@ requires \valid(lock);
  @ assigns *lock;
  @ ensures nobody: lock->attempt == 0 && lock->queue == \null;
  @ ensures lock->gno == gno && lock->hi == hi;
  @*/
void bftm_lock_init(struct bftm_lock *lock, u64 gno, u64 hi);

/*@ requires \valid(lock);
  @ assigns lock->hi;
  @ ensures known: \old(lock->hi) != UNKNOWN ==> lock->hi == \old(lock->hi);
  @ ensures told: \old(lock->hi) == UNKNOWN ==> lock->hi == hi;
  @*/
void bftm_lock_learn(struct bftm_lock *lock, u64 hi);

/*@ requires \valid_read(lock);
  @ assigns \nothing;
  @ ensures strictly: \result <==> OWNED;
  @*/
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/*@ requires \valid_read(lock) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> lock->attempt != 0 && OWNER;
  @*/
static bool is_owner(const struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures held: \result <==> req->type == BFTM_MSG_TRY && req->arg != 0;
  @*/
static bool says_held(const struct bftm_msg *req);

/*@ requires \valid_read(lock) && \valid_read(req);
  @ assigns \nothing;
  @ ensures tombs: \result <==> BURIED(0) || BURIED(1);
  @*/
static bool is_over(const struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires \valid(lock) && \valid_read(req) && \separated(lock, req);
  @ assigns *lock;
  @ ensures tombs: ALL_BUT_TOMBS(Pre);
  @ ensures buried: BURIED(0) || BURIED(1);
  @*/
static void bury(struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires CFG_OK && \valid(lock) && \separated(cfg, lock);
  @ requires lease_ok(lock->lease_ns) && time_ok(now);
  @ assigns lock->until_ns, lock->k;
  @ ensures lasts: lock->until_ns >= now + at_server(lock->lease_ns, cfg->rho_ppm);
  @ ensures never_nearer: lock->until_ns >= \old(lock->until_ns);
  @ ensures one_of: lock->until_ns == \old(lock->until_ns) ||
  @   lock->until_ns == now + at_server(lock->lease_ns, cfg->rho_ppm);
  @ ensures guard: 0 < at_server(lock->lease_ns, cfg->rho_ppm) <= 4000000000000;
  @ ensures echo: lock->k >= k && lock->k >= \old(lock->k) &&
  @   (lock->k == k || lock->k == \old(lock->k));
  @*/
static void grant_refresh(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u32 k,
			  u64 now);

/*@ requires CFG_OK && \valid(lock) && \valid_read(w) && \separated(cfg, lock, w);
  @ requires lease_ok(w->lease_ns) && time_ok(now) && lock->gno < 0xffffffffffffffff;
  @ assigns GRANT_FIELDS;
  @ ensures until: lock->until_ns == now + at_server(lock->lease_ns, cfg->rho_ppm);
  @ ensures guard: 0 < at_server(lock->lease_ns, cfg->rho_ppm) <= 4000000000000;
  @ ensures to: lock->attempt == w->attempt && lock->client == w->client && lock->k == w->k;
  @ ensures lease: lock->lease_ns == w->lease_ns && lock->prio == w->prio && lock->held == w->held;
  @ ensures numbered: lock->gno == \old(lock->gno) + 1;
  @*/
static void grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		  const struct bftm_waiter *w, u64 now);

/*@ requires \valid_read(cfg) && \valid_read(lock) && \valid(push);
  @ requires \separated(push, cfg) && \separated(push, lock);
  @ assigns push->type, push->proto, push->cluster, push->server, push->server_epoch,
  @   push->mode, push->arg, push->client, push->attempt, push->k, push->gno, push->prio, push->token;
  @ ensures push->type == type && push->client == lock->client &&
  @   push->attempt == lock->attempt && push->k == lock->k && push->gno == lock->gno &&
  @   push->token == lock->hi;
  @*/
static void tell_owner(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock, u8 type,
		       struct bftm_msg *push);

/*@ STEP;
  @ requires \valid(push) && \separated(push, lock, cfg, lock->queue);
  @ requires push->type == BFTM_MSG_NONE;
  @ assigns *lock, QUEUE_FIELDS, *push;
  @ TOKEN;
  @ KEPT(\false);
  @ NUMBERED;
  @ QUIET;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: push->type == BFTM_MSG_NONE || push->type == BFTM_MSG_FREE;
  @ ensures silent: push->type == BFTM_MSG_NONE ==> lock->gno == \old(lock->gno);
  @*/
static void grant_next(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		       struct bftm_msg *push);

/*@ STEP;
  @ requires \valid(push) && \separated(push, lock, cfg, lock->queue);
  @ assigns *lock, QUEUE_FIELDS, *push;
  @ TOKEN;
  @ KEPT(\false);
  @ NUMBERED;
  @ QUIET;
  @ PUSHED;
  @ STAYS_OK;
  @*/
bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		      struct bftm_msg *push);

/*@ requires \valid_read(lock) && queue_ok(lock->queue) && \valid_read(req);
  @ assigns \nothing;
  @*/
bool bftm_lock_lacks_room(const struct bftm_lock *lock, const struct bftm_msg *req, u64 now);

/*@ requires \valid_read(req) && \valid(reply) && \separated(req, reply);
  @ assigns *reply;
  @ ensures reply->type == BFTM_MSG_REFUSED && reply->arg == reason &&
  @   reply->token == 0;
  @*/
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply, enum bftm_refusal reason);

/*@ requires \valid(lock) && \valid_read(req) && \valid(reply) && \separated(lock, req, reply);
  @ requires req->type == BFTM_MSG_STAMP;
  @ assigns TOKEN_FIELDS, *reply;
  @ ACCEPTED;
  @ ensures said: reply->type == BFTM_MSG_SACK || reply->type == BFTM_MSG_SNACK ||
  @   reply->type == BFTM_MSG_REFUSED;
  @*/
static void step_stamp(struct bftm_lock *lock, const struct bftm_msg *req,
		       struct bftm_msg *reply);

/*@ STEP;
  @ WAITER;
  @ requires \valid(reply) && \separated(reply, lock, cfg, lock->queue);
  @ requires OWNED;
  @ assigns QUEUE_FIELDS, reply->type, reply->arg, reply->position, reply->lease_ns;
  @ STAYS_OK;
  @ ensures said: reply->type == BFTM_MSG_WAIT || reply->type == BFTM_MSG_REFUSED;
  @*/
static void wait_for_it(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			const struct bftm_waiter *me, u64 now, struct bftm_msg *reply);

/*@ STEP;
  @ REQUEST;
  @ WAITER;
  @ requires OWNED && \separated(me, push);
  @ assigns QUEUE_FIELDS, reply->type, reply->arg, reply->position, reply->lease_ns,
  @   reply->gno, *push;
  @ STAYS_OK;
  @ ensures said: reply->type == BFTM_MSG_WAIT || reply->type == BFTM_MSG_REFUSED ||
  @   reply->type == BFTM_MSG_LOCKED;
  @ ensures asks: push->type == BFTM_MSG_INQUIRE || *push == \old(*push);
  @*/
static void step_contended(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			   const struct bftm_msg *req, const struct bftm_waiter *me, u64 now,
			   struct bftm_msg *reply, struct bftm_msg *push);

/*@ requires \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> 1000000 <= req->lease_ns <= cfg->lease_max_ns;
  @*/
static bool may_last(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/*@ requires \valid(lock);
  @ assigns lock->lam;
  @ ensures lam: lock->lam >= \old(lock->lam);
  @ ensures bounded: lock->lam - \old(lock->lam) <= BFTM_PRIO_JUMP_MAX;
  @*/
static void note_prio(struct bftm_lock *lock, u64 prio);

/*@ requires \valid_read(lock) && queue_ok(lock->queue) && \valid_read(req);
  @ assigns \nothing;
  @*/
static bool is_late(const struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires \valid_read(lock) && queue_ok(lock->queue) && \valid_read(req) && \valid_read(me);
  @ assigns \nothing;
  @ ensures \result ==> lock->queue != \null && lock->queue->count > 0;
  @*/
static bool is_preceded(const struct bftm_lock *lock, const struct bftm_msg *req,
			const struct bftm_waiter *me);

/*@ requires \valid_read(me) && \valid_read(place);
  @ assigns \nothing;
  @*/
static bool is_news(const struct bftm_waiter *me, const struct bftm_waiter *place);

/*@ requires \valid_read(lock) && \valid_read(me);
  @ assigns \nothing;
  @*/
static bool is_to_yield(const struct bftm_lock *lock, const struct bftm_waiter *me);

/*@ requires CFG_OK && \valid(lock) && \valid_read(req) && \valid(push);
  @ requires \separated(cfg, lock, req, push) && lock->gno < 0xffffffffffffffff;
  @ assigns lock->held, lock->gno, *push;
  @ ensures numbered: lock->gno == \old(lock->gno) + 1;
  @ ensures pushed: push->type == BFTM_MSG_FREE && push->client == lock->client &&
  @   push->attempt == lock->attempt && push->k == lock->k && push->gno == lock->gno &&
  @   push->token == lock->hi;
  @*/
static void keep_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, struct bftm_msg *push);

#define TRY								\
	requires heard(req->client, req->attempt, req->k);		\
	requires push->type == BFTM_MSG_NONE

/*@ STEP;
  @ REQUEST;
  @ TRY;
  @ requires !QUARANTINE && lease_ok(req->lease_ns) && reply->type == BFTM_MSG_TRY;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @ TOKEN;
  @ KEPT(\false);
  @ NUMBERED;
  @ ASKED;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: reply->type != BFTM_MSG_SACK;
  @*/
static void decide_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		       struct bftm_msg *push);

/*@ STEP;
  @ REQUEST;
  @ TRY;
  @ requires reply->type == BFTM_MSG_TRY;
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @ TOKEN;
  @ KEPT(\false);
  @ NUMBERED;
  @ QUIET;
  @ ASKED;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: reply->type != BFTM_MSG_SACK;
  @*/
static void step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply, struct bftm_msg *push);

/* 6: RELEASE ends the attempt that it names, and no other. */
/*@ STEP;
  @ REQUEST;
  @ requires push->type == BFTM_MSG_NONE;
  @ assigns *lock, QUEUE_FIELDS, reply->type, *push;
  @ TOKEN;
  @ KEPT(RELEASED);
  @ NUMBERED;
  @ QUIET;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: reply->type == BFTM_MSG_RELEASED;
  @*/
static void step_release(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			 const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
			 struct bftm_msg *push);

/* 6: YIELD gives back the grant that it names, and no other. */
/*@ STEP;
  @ REQUEST;
  @ requires push->type == BFTM_MSG_NONE;
  @ assigns *lock, QUEUE_FIELDS, reply->type, *push;
  @ TOKEN;
  @ KEPT(YIELDED);
  @ NUMBERED;
  @ QUIET;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: reply->type == BFTM_MSG_NONE;
  @*/
static void step_yield(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		       struct bftm_msg *push);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures \result ==> req->attempt != 0 && (req->type == BFTM_MSG_TRY ==> req->k != 0);
  @*/
static bool is_formed(const struct bftm_msg *req);

/*@ requires \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result ==> req->attempt != 0 &&
  @   (req->type == BFTM_MSG_STAMP || req->type == BFTM_MSG_TRY);
  @*/
bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/* All of them, for every message. */
/*@ STEP;
  @ requires \valid_read(req) && \valid(reply) && \valid(push);
  @ requires \separated(req, reply, push, lock, cfg, lock->queue);
  @ requires req->type == BFTM_MSG_TRY ==> heard(req->client, req->attempt, req->k);
  @ assigns *lock, QUEUE_FIELDS, *reply, *push;
  @ KEPT((req->type == BFTM_MSG_RELEASE && RELEASED) ||
  @      (req->type == BFTM_MSG_YIELD && YIELDED));
  @ NUMBERED;
  @ QUIET;
  @ ASKED;
  @ PUSHED;
  @ ACCEPTED;
  @ STAYS_OK;
  @*/
void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply, struct bftm_msg *push);

#endif
