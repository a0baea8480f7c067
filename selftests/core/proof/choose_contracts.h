/* SPDX-License-Identifier: GPL-2.0 */
/* The choice of a client of an object among its servers' answers. */
#ifndef PROOF_CHOOSE_CONTRACTS_H
#define PROOF_CHOOSE_CONTRACTS_H

#include "core/ordering/client.h"
#include "quorum_contracts.h"

/*@ // Server u is one of the quorum.
  @ predicate answers(integer quorum, integer u) = ((quorum >> u) & 1) != 0;
  @ axiomatic Alike {
  @   predicate same_id{L}(struct bftm_body_id *a, struct bftm_body_id *b) reads *a, *b;
  @   // How many of the first n servers are of the quorum and say that id is committed.
  @   logic integer told_by{L}(struct bftm_order *o, struct bftm_body_id *id, integer n)
  @     reads *o, *id;
  @   axiom nobody{L}: \forall struct bftm_order *o, struct bftm_body_id *id, integer n;
  @     n <= 0 ==> told_by(o, id, n) == 0;
  @   axiom one_more{L}: \forall struct bftm_order *o, struct bftm_body_id *id, integer n;
  @     n >= 0 && answers(o->quorum, n) && same_id(id, &o->got[n].sc) ==>
  @     told_by(o, id, n + 1) == told_by(o, id, n) + 1;
  @   axiom no_more{L}: \forall struct bftm_order *o, struct bftm_body_id *id, integer n;
  @     n >= 0 && !(answers(o->quorum, n) && same_id(id, &o->got[n].sc)) ==>
  @     told_by(o, id, n + 1) == told_by(o, id, n);
  @ }
  @ predicate of_got{L}(struct bftm_order *o, struct bftm_body_id *id, integer n) =
  @   \exists integer u; 0 <= u < n && answers(o->quorum, u) &&
  @   (id == &o->got[u].sc || id == &o->got[u].sp);
  @*/

#define CLUSTER \valid_read(cfg) && 1 <= cfg->n <= 31 && cfg->b <= 31 && \separated(o, cfg)

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @ ensures \result <==> same_id(a, b);
  @*/
static inline bool bftm_body_same(const struct bftm_body_id *a, const struct bftm_body_id *b);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static inline int bftm_rank_cmp(const struct bftm_rank *a, const struct bftm_rank *b);

/*@ requires \valid_read(o) && u < 31;
  @ assigns \nothing;
  @ ensures \result <==> answers(o->quorum, u);
  @*/
static bool answered(const struct bftm_order *o, u32 u);

/*@ requires \valid_read(o) && CLUSTER;
  @ assigns \result \from o, *o, *cfg;
  @ ensures told: \result != \null ==> of_got(o, \result, cfg->n) && \valid_read(\result) &&
  @   told_by(o, \result, cfg->n) > cfg->b;
  @*/
static const struct bftm_body_id *choice_committed(const struct bftm_order *o,
						   const struct bftm_order_cfg *cfg);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static bool is_before(const struct bftm_got *a, const struct bftm_got *b);

/*@ requires \valid_read(o) && CLUSTER;
  @ assigns \result \from o, *o, *cfg;
  @ ensures told: \result != \null ==> of_got(o, \result, cfg->n) && \valid_read(\result);
  @*/
static const struct bftm_body_id *proposed(const struct bftm_order *o,
					   const struct bftm_order_cfg *cfg);

/*@ requires \valid_read(o) && CLUSTER;
  @ assigns \nothing;
  @*/
static u64 surely_completed(const struct bftm_order *o, const struct bftm_order_cfg *cfg);

/*@ requires \valid_read(o) && CLUSTER && \valid_read(sc);
  @ assigns \nothing;
  @*/
static bool choice_settled(const struct bftm_order *o, const struct bftm_order_cfg *cfg,
			   const struct bftm_body_id *sc);

/*@ requires \valid_read(o) && CLUSTER;
  @ assigns \nothing;
  @*/
static u32 holders_of(const struct bftm_order *o, const struct bftm_order_cfg *cfg);

/*@ requires \valid(o) && CLUSTER;
  @ assigns o->completed, o->applies, o->base, o->holders;
  @ ensures never_falls: o->completed >= \old(o->completed);
  @ ensures applies: \result && o->applies ==> o->base.version == o->completed;
  @ ensures proposes: \result && !o->applies && !o->refresh ==> o->base.version > o->completed;
  @*/
bool bftm_order_choose(struct bftm_order *o, const struct bftm_order_cfg *cfg);

/*@ requires \valid_read(got) && \valid_read(op) && got->count <= BFTM_ORDER_NEXT_WAITING_MAX;
  @ assigns \nothing;
  @*/
static bool tells(const struct bftm_got *got, const struct bftm_op *op);

/*@ requires \valid(got) && \valid_read(msg);
  @ requires \valid_read(msg->data + (0 .. msg->data_len - 1));
  @ requires \separated(got, msg, msg->data + (0 .. msg->data_len - 1));
  @ assigns *got;
  @ ensures fits: got->count <= BFTM_ORDER_NEXT_WAITING_MAX && got->count * 48 <= msg->data_len;
  @*/
void bftm_order_read_ops(struct bftm_got *got, const struct bftm_order_msg *msg);

/* For memcpy() in bftm_order_read_ops(): bytes of any alignment. */
/*@ requires \valid_read(from + (0 .. size - 1));
  @ assigns \result \from from[0 .. size - 1];
  @*/
static struct bftm_order_waiting waiting_of(const u8 *from, u64 size);

#define OPS_ROOM							\
	room <= 65536 && \valid(ret + (0 .. room - 1)) && \valid(holders + (0 .. room - 1))

/*@ requires OPS_ROOM && total <= room && \valid_read(op);
  @ requires \separated(op, ret + (0 .. room - 1), holders + (0 .. room - 1));
  @ assigns ret[0 .. room - 1], holders[0 .. room - 1];
  @ ensures room: total <= \result <= room;
  @*/
static u32 choice_insert(struct bftm_op *ret, u32 *holders, u32 total, u32 room,
			 const struct bftm_op *op, u32 who);

/*@ requires \valid_read(o) && CLUSTER && OPS_ROOM;
  @ requires \separated(o, cfg, ret + (0 .. room - 1), holders + (0 .. room - 1));
  @ requires \forall integer u; 0 <= u < 31 ==> o->got[u].count <= BFTM_ORDER_NEXT_WAITING_MAX;
  @ assigns ret[0 .. room - 1], holders[0 .. room - 1];
  @ ensures room: \result <= room;
  @*/
u32 bftm_order_ops(const struct bftm_order *o, const struct bftm_order_cfg *cfg,
		   struct bftm_op *ret, u32 *holders, u32 room);

#endif
