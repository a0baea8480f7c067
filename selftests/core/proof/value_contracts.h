/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of value.h: only who can write by its grant has a say about the value. */
#ifndef PROOF_VALUE_CONTRACTS_H
#define PROOF_VALUE_CONTRACTS_H

#include "parties_contracts.h"

/*@ requires \valid_read(lock);
  @ assigns \nothing;
  @ ensures \result == the_value;
  @*/
static inline struct bftm_kept_value *bftm_value_of(const struct bftm_lock *lock);

#define WRITES(mode) ((mode) >= 4)
#define WRITTEN ((req->flags & BFTM_FLAG_VALUE) != 0 && req->value_k != 0)
#define DOUBTS ((req->flags & BFTM_FLAG_DOUBT) != 0)
/* The request names the grant of p, which is in the lock. */
#define OWN_GRANT							\
	(req->value_k != 0xffffffff && \exists integer i; 0 <= i < parties(lock) && \
	 (struct bftm_party *)p == party(lock, i) && req->value_k == (u32)number(lock, i))
#define STORED_BEFORE							\
	(the_value->len == \old(the_value->len) && \forall integer j; 0 <= j < 64 ==> \
	 the_value->bytes[j] == \old(the_value->bytes[j]))

/* 12: nothing is stored, nor doubted or believed, but by a writer's grant that the request names. */
/*@ requires places_ok(lock) && in_lock(lock, (struct bftm_party *)p) && mode_ok(p->mode);
  @ requires VALUE_APART && \valid_read(req) && \separated(req, the_value);
  @ requires req->value_len <= BFTM_VALUE_LEN_MAX;
  @ assigns *the_value;
  @ ensures readers: the_value != \null && !WRITES(p->mode) ==> STORED_BEFORE &&
  @   the_value->doubt == \old(the_value->doubt);
  @ ensures own: the_value != \null && !(WRITES(p->mode) && WRITTEN && OWN_GRANT) ==> STORED_BEFORE;
  @ ensures certain: the_value != \null && the_value->doubt == 0 && \old(the_value->doubt) != 0 ==>
  @   WRITES(p->mode) && WRITTEN && OWN_GRANT;
  @ ensures length: the_value != \null && WRITES(p->mode) && WRITTEN && OWN_GRANT ==>
  @   the_value->len == req->value_len;
  @ ensures believed: the_value != \null && WRITES(p->mode) && WRITTEN && OWN_GRANT ==>
  @   the_value->doubt == 0;
  @ ensures doubted: the_value != \null && WRITES(p->mode) && (WRITTEN || DOUBTS) &&
  @   !(WRITTEN && OWN_GRANT) ==> the_value->doubt != 0;
  @*/
void bftm_value_take(struct bftm_lock *lock, const struct bftm_party *p,
		     const struct bftm_msg *req);

/*@ requires \valid_read(lock) && VALUE_APART;
  @ assigns the_value->doubt;
  @ ensures doubted: the_value != \null ==> the_value->doubt != 0;
  @*/
static inline void bftm_value_doubt(struct bftm_lock *lock);

/*@ requires \valid_read(lock) && VALUE_APART;
  @ assigns \nothing;
  @ ensures certain: \result <==> the_value != \null && the_value->doubt == 0;
  @*/
static inline bool bftm_value_certain(const struct bftm_lock *lock);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @*/
static inline u8 bftm_value_room(const struct bftm_msg *req);

/*@ requires places_ok(the_lock);
  @ assigns \nothing;
  @*/
static inline bool bftm_is_free(const struct bftm_lock *lock);

#endif
