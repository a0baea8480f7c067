/* SPDX-License-Identifier: GPL-2.0 */
/* What parties.h and grants.h promise of a set of grants, of any size. */
#ifndef PROOF_LOCK_CONTRACTS_H
#define PROOF_LOCK_CONTRACTS_H

#include "lease_contracts.h"
#include "mode_contracts.h"
#include "core/backoff/server.h"

/*@ logic integer parties(struct bftm_lock *lock) =
  @   lock->queue == \null ? 1 : 1 + lock->queue->count;
  @ logic struct bftm_party *party(struct bftm_lock *lock, integer i) =
  @   i == 0 ? &lock->first : &lock->queue->place[i - 1].party;
  @ predicate modes_ok(struct bftm_party *p) =
  @   mode_ok(p->mode) && mode_ok(p->want) && mode_ok(p->held);
  @ predicate place_ok(struct bftm_lock *lock) =
  @   \valid(lock) && (lock->queue != \null ==> \valid(lock->queue) &&
  @   \separated(lock, lock->queue) && lock->queue->count <= lock->queue->room <= 65600);
  @ predicate lock_ok(struct bftm_lock *lock) = place_ok(lock) &&
  @   \forall integer i; 0 <= i < parties(lock) ==> modes_ok(party(lock, i));
  @*/

/*@ requires place_ok(lock);
  @ assigns \nothing;
  @ ensures \result == parties(lock);
  @*/
static inline u32 bftm_parties(const struct bftm_lock *lock);

/*@ requires place_ok(lock) && i < parties(lock);
  @ assigns \result \from lock, i;
  @ ensures \result == party((struct bftm_lock *)lock, i);
  @*/
static inline struct bftm_party *bftm_party(const struct bftm_lock *lock, u32 i);

#endif
