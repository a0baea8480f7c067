/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of a look at all parties of a lock; included in parties.h, where struct bftm_look is
 * known.
 */
#ifndef PROOF_LOOK_CONTRACTS_H
#define PROOF_LOOK_CONTRACTS_H

#include "lock_contracts.h"

#define LOOKED_AT(look, n)						\
	(\forall integer j; 0 <= j < n && party(the_lock, j)->mode != 0 ==> \
	 (look).granted[party(the_lock, j)->mode] >= 1)
#define NONE_OVER(look, n)						\
	((look).over == 0 ==> \forall integer j; 0 <= j < n && party(the_lock, j)->mode != 0 ==> \
	 now <= party(the_lock, j)->time_ns)

/*@ requires lock_ok(the_lock) && \valid(ret) && \separated(ret, lock, lock->queue);
  @ assigns *ret;
  @ ensures named: ret->named != \null ==> in_lock(the_lock, ret->named) &&
  @   named(ret->named, client, attempt);
  @ ensures none: ret->named == \null && attempt != 0 ==> \forall integer i; 0 <= i < parties(the_lock) ==>
  @   !named(party(the_lock, i), client, attempt);
  @ ensures plain: ret->plain != \null ==> in_lock(the_lock, ret->plain) &&
  @   \valid_read(ret->plain) && ret->plain->client == client && ret->plain->attempt != 0 &&
  @   ret->plain->mode == 0 && ret->plain->held == 0;
  @ ensures counted: LOOKED_AT(*ret, parties(the_lock));
  @ ensures over: NONE_OVER(*ret, parties(the_lock));
  @*/
void bftm_parties_look(const struct bftm_lock *lock, u32 client, u64 attempt, u64 now,
		       struct bftm_look *ret);

#define NONE_EXCLUDES(count, mode)					\
	\forall integer o; 1 <= o <= 5 && conflict(mode, o) ==> (count)[o] <= 0

/*@ requires \valid_read(look) && \valid_read(me) && party_ok((struct bftm_party *)me);
  @ assigns \nothing;
  @ ensures held: \result && me->held != 0 ==> NONE_EXCLUDES(look->granted, me->held);
  @ ensures wanted: \result && me->held == 0 ==> NONE_EXCLUDES(look->granted, me->want);
  @*/
bool bftm_grants_share(const struct bftm_look *look, u32 most, const struct bftm_party *me);

#endif
