/* SPDX-License-Identifier: GPL-2.0 */
/* The invariants of one lock at a server, as Documentation/proof.rst numbers them. */
#ifndef PROOF_LOCK_CONTRACTS_H
#define PROOF_LOCK_CONTRACTS_H

#include "queue_contracts.h"
#include "core/backoff/server.h"

/*@ predicate cfg_ok(struct bftm_server_cfg *cfg) =
  @   \valid_read(cfg) && rho_ok(cfg->rho_ppm) && lease_ok(cfg->lease_max_ns) &&
  @   time_ok(cfg->quarantine_until_ns);
  @ predicate owned(struct bftm_lock *lock, integer now) =
  @   lock->attempt != 0 && now <= lock->until_ns;
  @ predicate lock_ok(struct bftm_lock *lock, integer now) =
  @   \valid(lock) && queue_ok(lock->queue, now) &&
  @   lock->until_ns <= now + 4000000000000 && lock->gno < 0xffffffffffffffff &&
  @   (lock->attempt != 0 ==>
  @     lease_ok(lock->lease_ns) && heard(lock->client, lock->attempt, lock->k));
  @*/

#define STEP								\
	requires cfg_ok(cfg) && lock_ok(lock, now) && time_ok(now);	\
	requires \separated(lock, cfg, lock->queue)

/* 1: what is owned and not over stays with its owner, and its end does not come nearer. */
#define KEPT								\
	ensures kept: \old(owned(lock, now)) ==>			\
		lock->attempt == \old(lock->attempt) &&			\
		lock->client == \old(lock->client) &&			\
		lock->lease_ns == \old(lock->lease_ns) &&		\
		lock->gno == \old(lock->gno) &&				\
		lock->until_ns >= \old(lock->until_ns)

/* 2: each grant has a new number, and lasts for its own lease from now on. */
#define NUMBERED							\
	ensures numbered: lock->gno == \old(lock->gno) ||		\
		(lock->gno == \old(lock->gno) + 1 && lock->attempt != 0 && \
		 lock->until_ns == now + at_server(lock->lease_ns, cfg->rho_ppm)); \
	ensures no_other: lock->gno == \old(lock->gno) ==>		\
		lock->attempt == 0 || (lock->attempt == \old(lock->attempt) && \
		lock->client == \old(lock->client) && lock->lease_ns == \old(lock->lease_ns))

/* 5: no step but STAMP moves the highest token. */
#define SAME_TOKEN							\
	ensures token: lock->hi == \old(lock->hi) &&			\
		lock->hi_attempt == \old(lock->hi_attempt) &&		\
		lock->hi_client == \old(lock->hi_client)

/* 3: FREE that nobody asked for goes to the owner, with the number of its grant. */
#define PUSHED								\
	ensures pushed: push->type == BFTM_MSG_FREE ==>			\
		lock->gno == \old(lock->gno) + 1 &&			\
		push->client == lock->client && push->attempt == lock->attempt && \
		push->k == lock->k && push->gno == lock->gno &&		\
		push->token == lock->hi &&				\
		heard(push->client, push->attempt, push->k)

#define STAYS_OK							\
	ensures ok: \valid(lock) && queue_ok(lock->queue, now) &&	\
		lock->until_ns <= now + 4000000000000 &&		\
		(lock->attempt != 0 ==> lease_ok(lock->lease_ns) &&	\
		 heard(lock->client, lock->attempt, lock->k));		\
	ensures same_queue: lock->queue == \old(lock->queue)

#define GRANT_FIELDS lock->until_ns, lock->k, lock->attempt, lock->client, lock->lease_ns, \
	lock->prio, lock->held, lock->gno
#define QUEUE_FIELDS lock->queue->count, lock->queue->waiter[0 .. 65535]

/*@ requires \valid_read(lock);
  @ assigns \nothing;
  @ ensures \result <==> owned(lock, now);
  @*/
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/*@ requires \valid_read(lock) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> lock->attempt != 0 && lock->attempt == req->attempt &&
  @   lock->client == req->client;
  @*/
static bool is_owner(const struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> req->type == 2 && req->arg != 0;
  @*/
static bool says_held(const struct bftm_msg *req);

/*@ requires \valid_read(lock) && \valid_read(req);
  @ assigns \nothing;
  @*/
static bool is_over(const struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires \valid(lock) && \valid_read(req) && \separated(lock, req);
  @ assigns lock->tomb[0 .. 1];
  @*/
static void bury(struct bftm_lock *lock, const struct bftm_msg *req);

/*@ requires cfg_ok(cfg) && \valid(lock) && \separated(cfg, lock);
  @ requires lease_ok(lock->lease_ns) && time_ok(now);
  @ assigns lock->until_ns, lock->k;
  @ ensures lasts: lock->until_ns >= now + at_server(lock->lease_ns, cfg->rho_ppm);
  @ ensures never_nearer: lock->until_ns >= \old(lock->until_ns);
  @ ensures one_of: lock->until_ns == \old(lock->until_ns) ||
  @   lock->until_ns == now + at_server(lock->lease_ns, cfg->rho_ppm);
  @ ensures guard: 0 < at_server(lock->lease_ns, cfg->rho_ppm) <= 4000000000000;
  @ ensures echo: lock->k >= k && lock->k >= \old(lock->k) && (lock->k == k || lock->k == \old(lock->k));
  @*/
static void grant_refresh(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u32 k,
			  u64 now);

/*@ requires cfg_ok(cfg) && \valid(lock) && \valid_read(w) && \separated(cfg, lock, w);
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
  @   push->client, push->attempt, push->k, push->gno, push->prio, push->token;
  @ ensures push->type == type && push->client == lock->client &&
  @   push->attempt == lock->attempt && push->k == lock->k && push->gno == lock->gno &&
  @   push->token == lock->hi;
  @*/
static void tell_owner(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock, u8 type,
		       struct bftm_msg *push);

/*@ STEP;
  @ requires \valid(push) && \separated(push, lock, cfg, lock->queue);
  @ requires push->type == BFTM_MSG_NONE;
  @ assigns GRANT_FIELDS, QUEUE_FIELDS, *push;
  @ KEPT;
  @ NUMBERED;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures quiet: push->type == BFTM_MSG_NONE || push->type == BFTM_MSG_FREE;
  @ ensures silent: push->type == BFTM_MSG_NONE ==> lock->gno == \old(lock->gno);
  @ ensures none: lock->queue == \null ==> lock->gno == \old(lock->gno);
  @*/
static void grant_next(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		       struct bftm_msg *push);

/*@ STEP;
  @ requires \valid(push) && \separated(push, lock, cfg, lock->queue);
  @ assigns GRANT_FIELDS, QUEUE_FIELDS, *push;
  @ KEPT;
  @ NUMBERED;
  @ PUSHED;
  @ STAYS_OK;
  @*/
bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		      struct bftm_msg *push);

/*@ requires \valid(lock) && \valid_read(req) && \valid(reply) && \separated(lock, req, reply);
  @ assigns lock->hi, lock->hi_attempt, lock->hi_client, *reply;
  @ ensures unknown: \old(lock->hi) == BFTM_TOKEN_UNKNOWN ==>
  @   lock->hi == BFTM_TOKEN_UNKNOWN && reply->type == BFTM_MSG_REFUSED;
  @ ensures never_falls: lock->hi >= \old(lock->hi);
  @ ensures accepted: reply->type == BFTM_MSG_SACK ==>
  @   lock->hi == req->token && lock->hi_attempt == req->attempt &&
  @   lock->hi_client == req->client && reply->gno == req->token &&
  @   (req->token > \old(lock->hi) || (req->token == \old(lock->hi) &&
  @    req->attempt == \old(lock->hi_attempt) && req->client == \old(lock->hi_client)));
  @ ensures else_same: reply->type != BFTM_MSG_SACK ==> lock->hi == \old(lock->hi) &&
  @   lock->hi_attempt == \old(lock->hi_attempt) && lock->hi_client == \old(lock->hi_client);
  @*/
static void step_stamp(struct bftm_lock *lock, const struct bftm_msg *req,
		       struct bftm_msg *reply);

/*@ requires \valid_read(req) && \valid(reply) && \separated(req, reply);
  @ assigns *reply;
  @ ensures reply->type == BFTM_MSG_REFUSED && reply->arg == reason &&
  @   reply->token == 0;
  @*/
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply, enum bftm_refusal reason);

#define REQUEST								\
	requires \valid_read(req) && \valid(reply) && \valid(push);	\
	requires \separated(req, reply, push, lock, cfg, lock->queue);	\
	requires push->type == BFTM_MSG_NONE

/*@ STEP;
  @ requires \valid(reply) && \valid_read(me) && \separated(reply, lock, cfg, lock->queue, me);
  @ requires lease_ok(me->lease_ns) && me->heard_ns == now && me->attempt != 0;
  @ requires heard(me->client, me->attempt, me->k) && owned(lock, now);
  @ assigns QUEUE_FIELDS, reply->type, reply->position, reply->lease_ns;
  @ STAYS_OK;
  @ ensures reply->type == BFTM_MSG_WAIT || reply->type == BFTM_MSG_REFUSED;
  @*/
static void wait_for_it(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			const struct bftm_waiter *me, u64 now, struct bftm_msg *reply);

/*@ STEP;
  @ REQUEST;
  @ requires \valid_read(me) && \separated(me, reply, push, lock, lock->queue);
  @ requires lease_ok(me->lease_ns) && me->heard_ns == now && me->attempt != 0;
  @ requires heard(me->client, me->attempt, me->k) && owned(lock, now);
  @ assigns QUEUE_FIELDS, *reply, *push;
  @ STAYS_OK;
  @ ensures not_free: reply->type == BFTM_MSG_WAIT || reply->type == BFTM_MSG_REFUSED ||
  @   reply->type == BFTM_MSG_LOCKED;
  @*/
static void step_contended(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			   const struct bftm_msg *req, const struct bftm_waiter *me, u64 now,
			   struct bftm_msg *reply, struct bftm_msg *push);

/* 4: in the quarantine nothing is granted. 3: FREE to the owner that asked. */
/*@ STEP;
  @ REQUEST;
  @ requires req->attempt != 0 && heard(req->client, req->attempt, req->k);
  @ requires reply->k == req->k;
  @ assigns GRANT_FIELDS, QUEUE_FIELDS, lock->lam, *reply, *push;
  @ KEPT;
  @ NUMBERED;
  @ STAYS_OK;
  @ ensures quarantine: now <= cfg->quarantine_until_ns ==>
  @   lock->gno == \old(lock->gno) && lock->attempt == \old(lock->attempt) &&
  @   lock->until_ns == \old(lock->until_ns) && reply->type != BFTM_MSG_FREE;
  @ ensures free: reply->type == BFTM_MSG_FREE ==>
  @   lock->attempt == req->attempt && lock->client == req->client &&
  @   lock->until_ns >= now + at_server(lock->lease_ns, cfg->rho_ppm) &&
  @   lock->k >= req->k && reply->gno == lock->gno;
  @*/
static void step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply, struct bftm_msg *push);

/* 6: RELEASE ends the attempt that it names, and no other. */
/*@ STEP;
  @ REQUEST;
  @ assigns GRANT_FIELDS, QUEUE_FIELDS, lock->tomb[0 .. 1], reply->type, *push;
  @ ensures kept: \old(owned(lock, now)) &&
  @   !(\old(lock->attempt) == req->attempt && \old(lock->client) == req->client) ==>
  @   lock->attempt == \old(lock->attempt) && lock->client == \old(lock->client) &&
  @   lock->lease_ns == \old(lock->lease_ns) && lock->gno == \old(lock->gno) &&
  @   lock->until_ns == \old(lock->until_ns);
  @ NUMBERED;
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
  @ assigns GRANT_FIELDS, QUEUE_FIELDS, reply->type, *push;
  @ ensures kept: \old(owned(lock, now)) &&
  @   !(\old(lock->attempt) == req->attempt && \old(lock->client) == req->client &&
  @     \old(lock->gno) == req->gno) ==>
  @   lock->attempt == \old(lock->attempt) && lock->client == \old(lock->client) &&
  @   lock->lease_ns == \old(lock->lease_ns) && lock->gno == \old(lock->gno) &&
  @   lock->until_ns == \old(lock->until_ns);
  @ NUMBERED;
  @ PUSHED;
  @ STAYS_OK;
  @ ensures said: reply->type == BFTM_MSG_NONE;
  @*/
static void step_yield(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		       struct bftm_msg *push);

#endif
