// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_party_find: nobody, or that client and attempt
// prove: wp is_waiting: has no grant
// prove: wp bftm_is_free: only the first place, and it is empty
// prove: wp is_unheard: one that waits
// prove: wp bftm_parties_look: the party of that client and attempt, if there is one; each grant is counted, and one that is over is not overlooked; unsigned numbers may wrap around
// prove: wp bftm_party_plain: nobody, or one of that client that waits and holds nothing
// prove: wp bftm_party_last: nobody, or one that waits
// prove: wp bftm_party_position: looks only
// prove: wp bftm_party_gno: the number of that grant
// prove: wp bftm_party_add: one more that waits, if there is room; all grants stay as they are, and there is no new one
// prove: wp bftm_parties_ended: all parties stay as they are
// prove: wp bftm_party_remove: that party goes; all other grants stay as they are, and there is no new one
// prove: wp bftm_parties_forget: those that hold nothing go; all grants stay as they are, and there is no new one; unsigned numbers may wrap around
// prove: wp bftm_parties_expire: each grant stays until its end, strictly, and there is no new one
// prove: wp bftm_party_number: inside the lock, with the next number; all other grants stay as they are
// prove: wp full: it trades places with the party inside the lock; all other grants stay as they are
// prove: wp empty: it leaves its place to the last one; all other grants stay as they are
// prove: wp trade: the party inside the lock is in its place
// prove: wp fetch: the last one is in its place
// prove: wp into_place: the others stay where they are
// prove: wp close_up: the others stay where they are
// prove: wp bring: those in the queue stay as they are
// prove: wp count_up: all grants but the newest keep their numbers
// prove: wp place_of: it is in the queue there
// prove: wp seat_of: where the party is
// frama-c: -wp-model Typed+cast+ref
// frama-c bftm_party_add bftm_parties_expire: -wp-steps 400000
// frama-c bftm_party_remove bftm_party_number full empty trade fetch into_place close_up bring: -wp-steps 200000
// frama-c bftm_parties_forget is_unheard bftm_parties_look: -no-warn-unsigned-overflow
// frama-c bftm_parties_expire bftm_party_add full trade fetch: -wp-no-pruning
// takes 100: bftm_party_add
// takes 20: bftm_parties_expire bftm_party_remove bftm_party_number full empty trade fetch
// takes 25: close_up into_place
#define PROOF_ANY_GUARD
#define PROOF_ENDED_KEEPS
#include "value_contracts.h"
#include "core/backoff/parties.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

/*
 * The parts of bftm_party_number() for a party in the queue, see annotations: into_place() and
 * close_up() fill its place, bring() brings it into the lock, trade() and fetch() do both, full()
 * and empty() say what that is to the lock, and count_up() numbers it. bftm_party_remove() closes
 * up as well.
 */
/*@ predicate brought{K, L}(struct bftm_lock *lock, integer j) =
  @   \at(lock->first.client, L) == \at(party(lock, j)->client, K) &&
  @   \at(lock->first.attempt, L) == \at(party(lock, j)->attempt, K) &&
  @   \at(lock->first.mode, L) == \at(party(lock, j)->mode, K) &&
  @   \at(lock->first.want, L) == \at(party(lock, j)->want, K) &&
  @   \at(lock->first.held, L) == \at(party(lock, j)->held, K) &&
  @   \at(lock->first.time_ns, L) == \at(party(lock, j)->time_ns, K) &&
  @   \at(lock->first.lease_ns, L) == \at(party(lock, j)->lease_ns, K) &&
  @   \at(lock->first.k, L) == \at(party(lock, j)->k, K);
  @*/
#define STAYS(field, but)						\
	\forall integer i; 1 <= i < parties(lock) && i != (but) ==>	\
	party(lock, i)->field == \old(party(lock, i)->field)
#define PLACES_STAY(but)						\
	ensures client: STAYS(client, but);				\
	ensures attempt: STAYS(attempt, but);				\
	ensures mode: STAYS(mode, but);					\
	ensures want: STAYS(want, but);					\
	ensures held: STAYS(held, but);					\
	ensures time: STAYS(time_ns, but);				\
	ensures lease: STAYS(lease_ns, but);				\
	ensures number: \forall integer i; 1 <= i < parties(lock) && i != (but) ==> \
	  number(lock, i) == \old(number(lock, i))
#define A_PLACE places_ok(lock) && lock->queue != \null && hole < lock->queue->count

/*@ requires A_PLACE;
  @ assigns lock->queue->place[hole];
  @ ensures places: places_ok(lock) && SAME_PLACES && parties(lock) == \old(parties(lock));
  @ ensures same: lock->gno == \old(lock->gno);
  @ PLACES_STAY(hole + 1);
  @ ensures filled: moved{Pre, Post}(lock, hole + 1, 0);
  @*/
static void into_place(struct bftm_lock *lock, u32 hole);

/*@ requires A_PLACE;
  @ assigns lock->queue->count, lock->queue->place[hole];
  @ ensures places: places_ok(lock) && SAME_PLACES && parties(lock) == \old(parties(lock)) - 1;
  @ ensures same: lock->gno == \old(lock->gno);
  @ PLACES_STAY(hole + 1);
  @ ensures filled: hole + 1 < parties(lock) ==>
  @   \forall integer j; j == parties(lock) ==> moved{Pre, Post}(lock, hole + 1, j);
  @*/
static void close_up(struct bftm_lock *lock, u32 hole);

/*@ requires places_ok(lock);
  @ assigns lock->first;
  @ ensures places: places_ok(lock) && SAME_PLACES && parties(lock) == \old(parties(lock));
  @ ensures same: lock->gno == \old(lock->gno);
  @ ensures mine: lock->first.client == newest.client && lock->first.attempt == newest.attempt &&
  @   lock->first.mode == newest.mode && lock->first.want == newest.want && lock->first.held == newest.held &&
  @   lock->first.time_ns == newest.time_ns && lock->first.lease_ns == newest.lease_ns && lock->first.k == newest.k;
  @ PLACES_STAY(0);
  @*/
static void bring(struct bftm_lock *lock, struct bftm_party newest);

/*@ requires A_PLACE;
  @ assigns lock->first, lock->queue->place[hole];
  @ ensures places: places_ok(lock) && SAME_PLACES && parties(lock) == \old(parties(lock));
  @ ensures same: lock->gno == \old(lock->gno);
  @ ensures mine: brought{Pre, Post}(lock, hole + 1);
  @ PLACES_STAY(hole + 1);
  @ ensures filled: moved{Pre, Post}(lock, hole + 1, 0);
  @*/
static void trade(struct bftm_lock *lock, u32 hole);

/*@ requires A_PLACE;
  @ assigns lock->first, lock->queue->count, lock->queue->place[hole];
  @ ensures places: places_ok(lock) && SAME_PLACES && parties(lock) == \old(parties(lock)) - 1;
  @ ensures same: lock->gno == \old(lock->gno);
  @ ensures mine: brought{Pre, Post}(lock, hole + 1);
  @ PLACES_STAY(hole + 1);
  @ ensures filled: hole + 1 < parties(lock) ==>
  @   \forall integer j; j == parties(lock) ==> moved{Pre, Post}(lock, hole + 1, j);
  @*/
static void fetch(struct bftm_lock *lock, u32 hole);

#define BRINGS_IN							\
	requires lock_ok(lock) && in_lock(lock, p) && p->attempt != 0 && p != &lock->first; \
	assigns lock->first, QUEUE_FIELDS;				\
	ensures ok: lock_ok(lock) && SAME_PLACES;			\
	ensures inside: AS_NUMBERED(&lock->first);			\
	ensures same: lock->gno == \old(lock->gno);			\
	ensures kept: KEPT_IF(NAMED_OTHERWISE(p))

/*@ requires lock->first.attempt != 0;
  @ BRINGS_IN;
  @*/
static void full(struct bftm_lock *lock, struct bftm_party *p);

/*@ requires lock->first.attempt == 0;
  @ BRINGS_IN;
  @*/
static void empty(struct bftm_lock *lock, struct bftm_party *p);

/*@ requires lock_ok(lock) && lock->gno < 0xffffffffffffffff;
  @ assigns lock->gno;
  @ ensures ok: lock_ok(lock);
  @ ensures numbered: lock->gno == \old(lock->gno) + 1;
  @ ensures stay: \forall integer i, c, a, m, t, g; i != 0 && \old(grant_at(lock, i, c, a, m, t, g)) ==>
  @   grant_at(lock, i, c, a, m, t, g);
  @*/
static void count_up(struct bftm_lock *lock);

#include "core/backoff/parties.c"

/* A cast says the same, since a seat begins with its party. */
static_assert(offsetof(struct bftm_seat, party) == 0);

static u32 place_of(const struct bftm_lock *lock, const struct bftm_party *p)
{
	u32 i = 0;

	/*@ loop invariant 0 <= i <= lock->queue->count;
	  @ loop invariant not_yet: \forall integer j; 0 <= j < i ==> p != &lock->queue->place[j].party;
	  @ loop assigns i;
	  @ loop variant lock->queue->count - i;
	  @*/
	while (p != &lock->queue->place[i].party)
		i++;
	return i;
}

static struct bftm_seat *seat_of(const struct bftm_lock *lock, const struct bftm_party *p)
{
	return p == &lock->first ? NULL : &lock->queue->place[place_of(lock, p)];
}
