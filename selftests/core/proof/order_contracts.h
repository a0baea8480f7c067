/* SPDX-License-Identifier: GPL-2.0 */
/* The invariants of one object at a server, by the lines of Figure 3. */
#ifndef PROOF_ORDER_CONTRACTS_H
#define PROOF_ORDER_CONTRACTS_H

#include "core/ordering/pending.h"
#include "core/ordering/upload.h"

/*@ predicate below(integer count, integer client, integer incarnation,
  @                 integer count2, integer client2, integer incarnation2) =
  @   count < count2 || (count == count2 && (client < client2 ||
  @   (client == client2 && incarnation < incarnation2)));
  @*/

#define RANK(r) (r).count, (r).client, (r).incarnation
#define SAME_RANK(r, s) ((r).count == (s).count && (r).client == (s).client && \
	(r).incarnation == (s).incarnation)
#define BELOW(r, s) below(RANK(r), RANK(s))
#define TOO_LOW BELOW(req->rank, o->max)

/* 7: what was proposed has a rank that was promised; who recovers has promised nothing. */
#define OBJECT_OK							\
	\valid(o) && !BELOW(o->max, o->prop) &&				\
	(o->pend == \null || \valid(o->pend)) &&			\
	(o->sc == \null || \valid_read(o->sc)) &&			\
	(o->sp == \null || \valid_read(o->sp)) &&			\
	(o->recovering != 0 ==> o->max.count == 0 && o->max.client == 0 && \
	 o->max.incarnation == 0)
#define ASKED								\
	requires OBJECT_OK && \valid_read(req) && \valid(reply);	\
	requires body == \null || \valid_read(body);			\
	requires \separated(o, req, reply, body)
#define STAYS_OK							\
	ensures ok: OBJECT_OK;						\
	ensures never_falls: !BELOW(o->max, \old(o->max))
#define PROMISED o->max, o->signature[0 .. 63]
#define STATES o->prop, o->sc, o->sp
#define SAME_STATES							\
	(SAME_RANK(o->prop, \old(o->prop)) && o->sc == \old(o->sc) && o->sp == \old(o->sp))
#define SAME_PROMISE SAME_RANK(o->max, \old(o->max))

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @ ensures less: \result < 0 <==> BELOW(*a, *b);
  @ ensures same: \result == 0 <==> SAME_RANK(*a, *b);
  @*/
static inline int bftm_rank_cmp(const struct bftm_rank *a, const struct bftm_rank *b);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static inline bool bftm_body_same(const struct bftm_body_id *a, const struct bftm_body_id *b);

/*@ requires \valid(o);
  @ assigns *o;
  @ ensures ok: OBJECT_OK;
  @ ensures initial: o->sc == \null && o->sp == \null && o->pend == \null;
  @*/
void bftm_object_init(struct bftm_object *o, bool recovering);

/*@ requires body == \null || \valid_read(body);
  @ assigns \nothing;
  @ ensures \valid_read(\result);
  @*/
static inline const struct bftm_body_id *bftm_state_id(const struct bftm_body *body);

/*@ requires \valid_read(id);
  @ assigns \nothing;
  @*/
static inline bool bftm_is_initial(const struct bftm_body_id *id);

/*@ requires \valid_read(o) && \valid_read(id);
  @ assigns \nothing;
  @ ensures \result == \null || \valid_read(\result);
  @*/
struct bftm_body *bftm_object_body(const struct bftm_object *o, const struct bftm_body_id *id);

/*@ requires \valid_read(o) && \valid_read(req);
  @ assigns \nothing;
  @*/
bool bftm_object_stored(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ assigns \nothing; */
bool bftm_state_ok(const u8 *body, u32 len, u64 version);

/*@ requires \valid(reply);
  @ assigns reply->type, reply->offset;
  @ ensures reply->type == BFTM_MSG_REFUSED;
  @*/
static void replica_refuse(struct bftm_order_msg *reply, enum bftm_refusal reason);

/* Its result is for tests; o is constant. Of out, into which it writes, nothing is said here. */
/*@ requires \valid_read(o) && \valid(reply);
  @ assigns *reply;
  @ ensures reply->type == BFTM_ORDER_EXCEPTION;
  @*/
static void replica_except(const struct bftm_object *o, u8 *out, struct bftm_order_msg *reply);

/*@ requires \valid(o);
  @ assigns *o->pend;
  @*/
void bftm_pending_drop(struct bftm_object *o);

/*@ requires \valid(o) && \valid_read(rank) && \separated(o, rank);
  @ assigns PROMISED;
  @ ensures taken: \result <==> !BELOW(*rank, \old(o->max));
  @ ensures highest: \result ==> SAME_RANK(o->max, *rank);
  @ ensures else_same: !\result ==> SAME_PROMISE;
  @*/
static bool rank_ok(struct bftm_object *o, const struct bftm_rank *rank, const u8 *signature);

/* The waiting operations are for tests; o is constant. */
/*@ requires \valid_read(o) && \valid_read(req) && \valid(reply);
  @ assigns reply->type, reply->pending, reply->data, reply->data_len;
  @ ensures reply->type == type;
  @*/
static void tell_waiting(const struct bftm_object *o, const struct bftm_order_msg *req, u8 type,
			 u8 *out, struct bftm_order_msg *reply);

/*@ requires OBJECT_OK && \valid_read(req) && \valid(reply) && \separated(o, req, reply);
  @ requires o->recovering == 0;
  @ assigns PROMISED, *reply;
  @ STAYS_OK;
  @ ensures exception: \old(TOO_LOW) <==> reply->type == BFTM_ORDER_EXCEPTION;
  @ ensures got: reply->type == BFTM_ORDER_GOT ==> SAME_RANK(o->max, req->rank);
  @ ensures unchanged: \old(TOO_LOW) ==> SAME_PROMISE;
  @*/
static void replica_get(struct bftm_object *o, const struct bftm_order_msg *req, u8 *out,
			struct bftm_order_msg *reply);

/*@ requires \valid_read(o) && \valid_read(req) && \valid(ret) && \valid(reply);
  @ requires body == \null || \valid_read(body);
  @ requires \separated(o, req, reply, body, ret);
  @ assigns *ret, reply->type, reply->offset;
  @ ensures answered: !\result ==> reply->type == BFTM_ORDER_NEEDBODY ||
  @   reply->type == BFTM_MSG_REFUSED;
  @ ensures not_yet: \result ==> reply->type == \old(reply->type);
  @ ensures state: \result ==> *ret == \null || \valid_read(*ret);
  @*/
static bool take_state(struct bftm_object *o, const struct bftm_order_msg *req,
		       struct bftm_body *body, struct bftm_body **ret,
		       struct bftm_order_msg *reply);

/*@ ASKED;
  @ requires o->recovering == 0;
  @ assigns PROMISED, STATES, *reply;
  @ STAYS_OK;
  @ ensures too_low: \old(TOO_LOW) ==> reply->type == BFTM_ORDER_EXCEPTION;
  @ ensures proposed: reply->type == BFTM_ORDER_PROPOSED ==> !\old(TOO_LOW) &&
  @   SAME_RANK(o->max, req->rank) && SAME_RANK(o->prop, req->rank);
  @ ensures else_same: reply->type != BFTM_ORDER_PROPOSED ==> SAME_PROMISE && SAME_STATES;
  @ ensures committed: o->sc == \old(o->sc);
  @*/
static void replica_propose(struct bftm_object *o, const struct bftm_order_msg *req,
			    struct bftm_body *body, u8 *out, struct bftm_order_msg *reply);

/*@ requires OBJECT_OK && \valid_read(req) && !TOO_LOW && \separated(o, req);
  @ requires state == \null || \valid_read(state);
  @ assigns PROMISED, STATES, *o->pend;
  @ ensures !BELOW(o->max, o->prop);
  @ ensures adopted: SAME_RANK(o->max, req->rank) && SAME_RANK(o->prop, req->rank) &&
  @   o->sc == state && o->sp == state;
  @*/
static void replica_adopt(struct bftm_object *o, const struct bftm_order_msg *req,
			  struct bftm_body *state);

/*@ ASKED;
  @ requires o->recovering == 0;
  @ assigns PROMISED, STATES, *o->pend, *reply;
  @ STAYS_OK;
  @ ensures too_low: \old(TOO_LOW) ==> reply->type == BFTM_ORDER_EXCEPTION;
  @ ensures committed: reply->type == BFTM_ORDER_COMMITTED ==> !\old(TOO_LOW) &&
  @   SAME_RANK(o->max, req->rank) && SAME_RANK(o->prop, req->rank) && o->sp == o->sc;
  @ ensures else_same: reply->type != BFTM_ORDER_COMMITTED ==> SAME_PROMISE && SAME_STATES;
  @*/
static void commit(struct bftm_object *o, const struct bftm_order_msg *req,
		   struct bftm_body *body, u8 *out, struct bftm_order_msg *reply);

/*@ requires OBJECT_OK && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result ==> SAME_RANK(o->max, req->then);
  @*/
static bool is_done_before(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures own: \result ==> req->type == BFTM_ORDER_SUBMIT || req->type == BFTM_ORDER_FETCH ||
  @   req->rank.client == req->client;
  @ ensures then: \result && req->type == BFTM_ORDER_COMMIT_GET ==> BELOW(req->rank, req->then);
  @*/
static bool rank_is_own(const struct bftm_order_msg *req);

/*@ ASKED;
  @ requires o->recovering == 0 && BELOW(req->rank, req->then);
  @ assigns PROMISED, STATES, *o->pend, *reply;
  @ STAYS_OK;
  @ ensures unchanged: \old(TOO_LOW) ==> SAME_PROMISE && SAME_STATES;
  @*/
static void commit_get(struct bftm_object *o, const struct bftm_order_msg *req,
		       struct bftm_body *body, u8 *out, struct bftm_order_msg *reply);

/*@ requires \valid(o) && \valid_read(rank) && \valid(reply) && \separated(o, rank, reply);
  @ assigns o->told, reply->type, reply->rank;
  @*/
static void recover_get(struct bftm_object *o, const struct bftm_rank *rank,
			struct bftm_order_msg *reply);

/*@ ASKED;
  @ requires reply->type == BFTM_MSG_NONE;
  @ assigns PROMISED, STATES, *o->pend, o->recovering, reply->type, reply->offset;
  @ STAYS_OK;
  @ ensures once: \old(o->recovering) == 0 ||
  @   !SAME_RANK(req->rank, \old(o->told)) ==> SAME_PROMISE && SAME_STATES &&
  @   o->recovering == \old(o->recovering);
  @*/
static void install(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply);

/*@ ASKED;
  @ requires reply->type == BFTM_MSG_NONE && o->recovering != 0;
  @ assigns PROMISED, STATES, *o->pend, o->recovering, o->told, *reply;
  @ STAYS_OK;
  @ ensures installs: req->type != BFTM_ORDER_INSTALL ==> SAME_PROMISE && SAME_STATES &&
  @   o->recovering == \old(o->recovering);
  @*/
static void recover(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply);

/* Both are about operations and bodies, which this leaves out. */
/*@ requires \valid(o) && \valid_read(req) && \valid(reply);
  @ assigns *reply, o->replaced, *o->pend;
  @*/
static void submit(struct bftm_object *o, const struct bftm_order_msg *req,
		   struct bftm_body *body, u8 *out, struct bftm_order_msg *reply);

/*@ requires \valid_read(o) && \valid_read(req) && \valid(reply);
  @ assigns *reply;
  @*/
static void fetch(const struct bftm_object *o, const struct bftm_order_msg *req, u8 *out,
		  struct bftm_order_msg *reply);

/*@ ASKED;
  @ requires \valid_read(cfg) && \separated(cfg, o, reply);
  @ assigns PROMISED, STATES, *o->pend, o->recovering, o->told, o->replaced, *reply;
  @ STAYS_OK;
  @ ensures too_low: \old(TOO_LOW) ==> SAME_PROMISE && SAME_STATES;
  @ ensures own: !SAME_PROMISE || !SAME_STATES ==> req->rank.client == req->client;
  @ ensures restart: \old(o->recovering) != 0 && now <= cfg->quarantine_until_ns ==>
  @   SAME_PROMISE && SAME_STATES && o->recovering == \old(o->recovering) &&
  @   reply->type == BFTM_MSG_NONE;
  @*/
void bftm_order_step(const struct bftm_server_cfg *cfg, struct bftm_object *o,
		     const struct bftm_order_msg *req, struct bftm_body *body,
		     u64 now, u8 *out, struct bftm_order_msg *reply);

/*@ requires offset < len;
  @ assigns \nothing;
  @ ensures \result == (len - offset < 1024 ? len - offset : 1024);
  @*/
static inline u32 bftm_piece_len(u32 len, u32 offset);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures piece: \result ==> req->offset % BFTM_PIECE_LEN == 0 && req->offset < req->id.len &&
  @   req->offset + req->data_len <= req->id.len;
  @*/
bool bftm_piece_ok(const struct bftm_order_msg *req);

/*@ requires \valid(up) && \valid_read(req) && \separated(up, req, up->data);
  @ requires up->id.len == req->id.len && up->id.len <= BFTM_STATE_MAX;
  @ requires \valid(up->data + (0 .. up->id.len - 1)) && up->pieces < 0xffffffff;
  @ assigns *up, up->data[0 .. up->id.len - 1];
  @ ensures up->id.len == \old(up->id.len) && up->data == \old(up->data);
  @ ensures once: up->pieces == \old(up->pieces) || (\result && up->pieces == \old(up->pieces) + 1);
  @*/
bool bftm_upload_take(struct bftm_upload *up, const struct bftm_order_msg *req);

#endif
