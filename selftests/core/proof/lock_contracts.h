/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of parties.h, grants.h and server.h about the grants of one lock, of any number. A
 * logic function names the party at a place, as bftm_party() does; who is there may change places.
 */
#ifndef PROOF_LOCK_CONTRACTS_H
#define PROOF_LOCK_CONTRACTS_H

#include "lease_contracts.h"
#include "mode_contracts.h"
#include "core/backoff/server.h"
#include "core/backoff/value.h"

/*@ logic integer parties{L}(struct bftm_lock *lock) =
  @   lock->queue == \null ? 1 : 1 + lock->queue->count;
  @ logic struct bftm_party *party{L}(struct bftm_lock *lock, integer i) =
  @   i == 0 ? &lock->first : &lock->queue->place[i - 1].party;
  @ logic integer number{L}(struct bftm_lock *lock, integer i) =
  @   i == 0 ? lock->gno : lock->queue->place[i - 1].gno;
  @ predicate in_lock{L}(struct bftm_lock *lock, struct bftm_party *p) =
  @   \exists integer i; 0 <= i < parties(lock) && p == party(lock, i);
  @ predicate named{L}(struct bftm_party *p, integer client, integer attempt) =
  @   p->client == client && p->attempt == attempt;
  @
  @ // An empty place, which only the first can be, has no grant.
  @ predicate party_ok{L}(struct bftm_party *p) =
  @   mode_ok(p->mode) && mode_ok(p->want) && mode_ok(p->held) &&
  @   (p->attempt == 0 ==> p->mode == 0 && p->want == 0 && p->held == 0) &&
  @   (p->attempt != 0 ==> asked_ok(p->lease_ns) &&
  @   (p->lease_ns != UNKNOWN ==> p->time_ns < 0x4000000000000000 + 4000000000000));
  @ predicate places_ok{L}(struct bftm_lock *lock) =
  @   \valid(lock) && (lock->queue != \null ==> \valid(lock->queue) &&
  @   \separated(lock, lock->queue) && lock->queue->count <= lock->queue->room <= 65600);
  @ predicate parties_ok{L}(struct bftm_lock *lock) =
  @   (\forall integer i; 0 <= i < parties(lock) ==> party_ok(party(lock, i))) &&
  @   (\forall integer i; 1 <= i < parties(lock) ==> party(lock, i)->attempt != 0);
  @ // No two grants exclude each other, and no two parties have one name.
  @ predicate compatible{L}(struct bftm_lock *lock) =
  @   \forall integer i, j; 0 <= i < j < parties(lock) ==>
  @   !conflict(party(lock, i)->mode, party(lock, j)->mode);
  @ predicate unique{L}(struct bftm_lock *lock) =
  @   \forall integer i, j; 0 <= i < j < parties(lock) ==>
  @   party(lock, i)->client != party(lock, j)->client ||
  @   party(lock, i)->attempt != party(lock, j)->attempt;
  @ predicate lock_ok{L}(struct bftm_lock *lock) =
  @   places_ok(lock) && parties_ok(lock) && compatible(lock) && unique(lock);
  @ // At this place is the grant number g of that mode to attempt a of client c, until t or later.
  @ predicate grant_at{L}(struct bftm_lock *lock, integer i, integer c, integer a, integer m,
  @   integer t, integer g) =
  @   0 <= i < parties(lock) && named(party(lock, i), c, a) && party(lock, i)->mode == m &&
  @   party(lock, i)->time_ns >= t && number(lock, i) == g && m >= 1;
  @ predicate has_grant{L}(struct bftm_lock *lock, integer c, integer a, integer m, integer t,
  @   integer g) = \exists integer i; grant_at(lock, i, c, a, m, t, g);
  @ // Who was at place j when K is at place i when L, unchanged.
  @ predicate moved{K, L}(struct bftm_lock *lock, integer i, integer j) =
  @   \at(party(lock, i)->client, L) == \at(party(lock, j)->client, K) &&
  @   \at(party(lock, i)->attempt, L) == \at(party(lock, j)->attempt, K) &&
  @   \at(party(lock, i)->mode, L) == \at(party(lock, j)->mode, K) &&
  @   \at(party(lock, i)->want, L) == \at(party(lock, j)->want, K) &&
  @   \at(party(lock, i)->held, L) == \at(party(lock, j)->held, K) &&
  @   \at(party(lock, i)->time_ns, L) == \at(party(lock, j)->time_ns, K) &&
  @   \at(party(lock, i)->lease_ns, L) == \at(party(lock, j)->lease_ns, K) &&
  @   \at(number(lock, i), L) == \at(number(lock, j), K);
  @ // m fits beside all grants but that of p.
  @ predicate fits_beside{L}(struct bftm_lock *lock, struct bftm_party *p, integer m) =
  @   \forall integer i; 0 <= i < parties(lock) && party(lock, i) != p ==>
  @   !conflict(m, party(lock, i)->mode);
  @*/

#define the_lock ((struct bftm_lock *)lock)

/*@ axiomatic Value { logic struct bftm_kept_value *the_value; } // the lock's, or NULL
  @*/

/* The value lies behind the places that there are for parties, and apart from what is given. */
#define VALUE_APART							\
	((the_value == \null || \valid(the_value)) && \separated(the_value, lock, lock->queue))

/*@ requires places_ok(the_lock);
  @ assigns \nothing;
  @ ensures \result == parties(the_lock);
  @*/
static inline u32 bftm_parties(const struct bftm_lock *lock);

/*@ requires places_ok(the_lock) && i < parties(the_lock);
  @ assigns \result \from lock, i;
  @ ensures \result == party(the_lock, i);
  @ ensures \valid(\result);
  @*/
static inline struct bftm_party *bftm_party(const struct bftm_lock *lock, u32 i);

/*@ requires places_ok(the_lock);
  @ assigns \nothing;
  @ ensures \result <==> the_lock->first.attempt == 0 && parties(the_lock) == 1;
  @*/
static inline bool bftm_is_free(const struct bftm_lock *lock);

/*@ requires \valid_read(p);
  @ assigns \nothing;
  @ ensures \result <==> p->mode != 0;
  @*/
static inline bool bftm_party_granted(const struct bftm_party *p);

/*@ requires \valid_read(p) && party_ok((struct bftm_party *)p);
  @ assigns \nothing;
  @ ensures \result <==> !covers(p->mode, p->held);
  @*/
static inline bool bftm_party_lacks(const struct bftm_party *p);

/*@ requires \valid_read(p) && party_ok((struct bftm_party *)p);
  @ assigns \nothing;
  @ ensures \result <==> p->want != 0 &&
  @   (p->mode != 0 || (p->held != 0 && !covers(p->held, p->want)));
  @*/
static inline bool bftm_party_converts(const struct bftm_party *p);

#define BIDS_BEFORE							\
	(a->prio < b->prio || (a->prio == b->prio && (a->client < b->client || \
	 (a->client == b->client && a->attempt < b->attempt))))

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @ ensures \result <==> BIDS_BEFORE;
  @*/
static inline bool bftm_goes_before(const struct bftm_party *a, const struct bftm_party *b);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @ ensures \result <==> (a->held != 0 && b->held == 0) || ((a->held == 0 <==> b->held == 0) &&
  @   BIDS_BEFORE);
  @*/
static inline bool bftm_waits_before(const struct bftm_party *a, const struct bftm_party *b);

/*@ requires lock_ok(the_lock) && \valid(ret) && \separated(ret, lock, lock->queue);
  @ assigns *ret;
  @ ensures there: \result == \null || (in_lock(the_lock, \result) &&
  @   \result->attempt != 0);
  @ ensures mode: \result != \null ==> 1 <= *ret <= 5;
  @ ensures fits: \result != \null ==> fits_beside(the_lock, \result, *ret);
  @*/
struct bftm_party *bftm_grants_next(const struct bftm_lock *lock, u32 most, enum bftm_mode *ret);

/*@ requires lock_ok(the_lock) && \valid_read(me) && party_ok((struct bftm_party *)me);
  @ assigns \nothing;
  @ ensures fits: \result ==>
  @   fits_beside(the_lock, \null, me->held != 0 ? me->held : me->want);
  @*/
bool bftm_grants_beside(const struct bftm_lock *lock, u32 most, const struct bftm_party *me,
			bool last);

/*@ requires \valid_read(p) && party_ok((struct bftm_party *)p);
  @ assigns \nothing;
  @ ensures \result <==> p->want == 0 && p->inquire == 0 && p->probe == 0 && covers(p->mode, p->held);
  @*/
static inline bool bftm_party_content(const struct bftm_party *p);

#define MARKS lock->first.inquire, lock->queue->place[0 .. 65599].party.inquire

/*@ requires lock_ok(lock) && in_lock(lock, (struct bftm_party *)me);
  @ assigns MARKS;
  @ ensures ok: lock_ok(lock);
  @*/
bool bftm_grants_inquire(struct bftm_lock *lock, u32 most, const struct bftm_party *me);

/*@ requires lock_ok(the_lock) && in_lock(the_lock, p);
  @ assigns p->inquire;
  @*/
void bftm_grants_defer(struct bftm_lock *lock, u32 most, struct bftm_party *p);

/*@ requires lock_ok(the_lock) && \valid_read(me) && party_ok((struct bftm_party *)me);
  @ assigns \nothing;
  @*/
bool bftm_grants_deadlock(const struct bftm_lock *lock, const struct bftm_party *me);

/* A seat begins with its party: for the cast in bftm_party_gno(), see annotations. */
/*@ requires places_ok(the_lock) && in_lock(the_lock, (struct bftm_party *)p);
  @ assigns \result \from lock, p;
  @ ensures p != &the_lock->first ==> \exists integer i; 1 <= i < parties(the_lock) &&
  @   p == party(the_lock, i) && \result == &the_lock->queue->place[i - 1];
  @*/
static struct bftm_seat *seat_of(const struct bftm_lock *lock, const struct bftm_party *p);

#endif
