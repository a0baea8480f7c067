/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of parties.h: grants keep what they are, wherever they are put. */
#ifndef PROOF_PARTIES_CONTRACTS_H
#define PROOF_PARTIES_CONTRACTS_H

#include "lock_contracts.h"

#define LAST_ENDS lock->queue->ends, lock->queue->end_ns[0 .. BFTM_ENDS - 1]
#define QUEUE_FIELDS lock->queue->count, lock->queue->place[0 .. 65599], LAST_ENDS
#define SAME_PLACES lock->queue == \old(lock->queue)
/* Each grant of which this is true before is there afterwards, with mode, number and end. */
#define KEPT_IF(which)							\
	\forall integer c, a, m, t, g; (which) && \old(has_grant(lock, c, a, m, t, g)) ==> \
	has_grant(lock, c, a, m, t, g)
/* And there is none that was not there before. */
#define NO_NEW								\
	\forall integer c, a, m, t, g; has_grant(lock, c, a, m, t, g) ==> \
	\old(has_grant(lock, c, a, m, t, g))
#define NAMED_OTHERWISE(p) !(c == \old((p)->client) && a == \old((p)->attempt))

/* For assertions: a field of the places from the given one on is as it was. */
#define SAME(field, L, from)						\
	\forall integer i; (from) <= i < \at(parties(lock), L) ==>	\
	party(lock, i)->field == \at(party(lock, i)->field, L)
#define SAME_NUMBERS(L, from)						\
	\forall integer i; (from) <= i < \at(parties(lock), L) ==>	\
	number(lock, i) == \at(number(lock, i), L)
#define GRANTS_STAY(L)							\
	\forall integer i, c, a, m, t, g; \at(grant_at(lock, i, c, a, m, t, g), L) ==> \
	grant_at(lock, i, c, a, m, t, g)
#define GRANTS_WERE(L)							\
	\forall integer i, c, a, m, t, g; grant_at(lock, i, c, a, m, t, g) ==> \
	\at(grant_at(lock, i, c, a, m, t, g), L)
#define KEPT(L)								\
	\forall integer c, a, m, t, g; \at(has_grant(lock, c, a, m, t, g), L) ==> \
	has_grant(lock, c, a, m, t, g)
#define NONE_NEW(L)							\
	\forall integer c, a, m, t, g; has_grant(lock, c, a, m, t, g) ==> \
	\at(has_grant(lock, c, a, m, t, g), L)
#define AS_ASKED(p)							\
	(named(p, \at(me->client, Pre), \at(me->attempt, Pre)) && (p)->mode == 0 &&	\
	 (p)->want == \at(me->want, Pre) && (p)->held == \at(me->held, Pre) && \
	 (p)->lease_ns == \at(me->lease_ns, Pre) && (p)->time_ns == \at(me->time_ns, Pre) && \
	 (p)->k == \at(me->k, Pre))

#define AS_NUMBERED(who)						\
	(named(who, \at(p->client, Pre), \at(p->attempt, Pre)) && (who)->mode == \at(p->mode, Pre) && \
	 (who)->want == \at(p->want, Pre) && (who)->held == \at(p->held, Pre) && \
	 (who)->lease_ns == \at(p->lease_ns, Pre) && (who)->time_ns == \at(p->time_ns, Pre) && \
	 (who)->k == \at(p->k, Pre))

/* Field by field: of a structure that is assigned whole, provers do not see that it is the same. */
#define COPY_PARTY(to, from)						\
	do {								\
		(to).attempt = (from).attempt;				\
		(to).prio = (from).prio;				\
		(to).lease_ns = (from).lease_ns;			\
		(to).time_ns = (from).time_ns;				\
		(to).client = (from).client;				\
		(to).k = (from).k;					\
		(to).mode = (from).mode;				\
		(to).want = (from).want;				\
		(to).held = (from).held;				\
		(to).inquire = (from).inquire;				\
		(to).value_room = (from).value_room;			\
		(to).probe = (from).probe;				\
	} while (0)

#define NO_PARTY(to)							\
	do {								\
		(to).attempt = 0;					\
		(to).prio = 0;						\
		(to).lease_ns = 0;					\
		(to).time_ns = 0;					\
		(to).client = 0;					\
		(to).k = 0;						\
		(to).mode = 0;						\
		(to).want = 0;						\
		(to).held = 0;						\
		(to).inquire = 0;					\
		(to).value_room = 0;					\
		(to).probe = 0;						\
	} while (0)

/* Of those that there still are but the one at a place. */
#define SAME_BUT(field, hole)						\
	\forall integer i; 0 <= i < parties(lock) && i != (hole) ==>	\
	party(lock, i)->field == \at(party(lock, i)->field, Pre)
#define SAME_NUMBERS_BUT(hole)						\
	\forall integer i; 0 <= i < parties(lock) && i != (hole) ==>	\
	number(lock, i) == \at(number(lock, i), Pre)

/* A seat begins with its party: for the casts of a party to its seat, see annotations. */
/*@ requires places_ok(the_lock) && in_lock(the_lock, (struct bftm_party *)p) && p != &the_lock->first;
  @ assigns \result \from lock, p;
  @ ensures \result < the_lock->queue->count && p == &the_lock->queue->place[\result].party;
  @*/
static u32 place_of(const struct bftm_lock *lock, const struct bftm_party *p);

/* Only wp_parties.c says it: other proofs do without, and would become long. */
#ifdef PROOF_ENDED_KEEPS
#define ENDED_KEEPS(what) what
#else
#define ENDED_KEEPS(what) 0 < 1
#endif

/*@ requires lock_ok(the_lock);
  @ assigns \result \from lock, client, attempt;
  @ ensures found: \result != \null ==> in_lock(the_lock, \result) && attempt != 0 &&
  @   named(\result, client, attempt);
  @ ensures none: \result == \null && attempt != 0 ==> \forall integer i; 0 <= i < parties(the_lock) ==>
  @   !named(party(the_lock, i), client, attempt);
  @*/
struct bftm_party *bftm_party_find(const struct bftm_lock *lock, u32 client, u64 attempt);

/*@ requires \valid_read(p);
  @ assigns \nothing;
  @ ensures \result <==> p->attempt != 0 && p->mode == 0;
  @*/
static bool is_waiting(const struct bftm_party *p);

/*@ requires \valid_read(p) && party_ok((struct bftm_party *)p);
  @ assigns \nothing;
  @ ensures \result ==> p->attempt != 0 && p->mode == 0;
  @*/
static bool is_unheard(const struct bftm_party *p, u64 now);

/*@ requires lock_ok(the_lock);
  @ assigns \result \from lock, client;
  @ ensures found: \result != \null ==> in_lock(the_lock, \result) && \result->client == client &&
  @   \result->attempt != 0 && \result->mode == 0 && \result->held == 0;
  @*/
struct bftm_party *bftm_party_plain(const struct bftm_lock *lock, u32 client);

/*@ requires lock_ok(the_lock);
  @ assigns \result \from lock;
  @ ensures found: \result != \null ==> in_lock(the_lock, \result) && \result->attempt != 0 &&
  @   \result->mode == 0;
  @*/
struct bftm_party *bftm_party_last(const struct bftm_lock *lock);

/*@ requires lock_ok(the_lock) && \valid_read(p);
  @ assigns \nothing;
  @ ensures 1 <= \result <= parties(the_lock) + 1;
  @*/
u32 bftm_party_position(const struct bftm_lock *lock, const struct bftm_party *p);

/*@ requires places_ok(the_lock) && in_lock(the_lock, (struct bftm_party *)p);
  @ assigns \nothing;
  @ ensures \forall integer i; 0 <= i < parties(the_lock) && p == party(the_lock, i) ==>
  @   \result == number(the_lock, i);
  @*/
static inline u64 bftm_party_gno(const struct bftm_lock *lock, const struct bftm_party *p);

/*@ requires lock_ok(lock) && \valid_read(me) && \separated(me, lock, lock->queue);
  @ requires party_ok((struct bftm_party *)me) && me->attempt != 0 && me->mode == 0;
  @ requires \forall integer i; 0 <= i < parties(lock) ==> !named(party(lock, i), me->client, me->attempt);
  @ assigns lock->first, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures kept: KEPT_IF(0 < 1);
  @ ensures no_new: NO_NEW;
  @ ensures added: \result == \null || (in_lock(lock, \result) && named(\result, \old(me->client), \old(me->attempt)) &&
  @   \result->mode == 0 && \result->want == \old(me->want) && \result->held == \old(me->held) &&
  @   \result->lease_ns == \old(me->lease_ns) && \result->time_ns == \old(me->time_ns) && \result->k == \old(me->k));
  @*/
struct bftm_party *bftm_party_add(struct bftm_lock *lock, const struct bftm_party *me);

/*@ requires lock_ok(lock) && in_lock(lock, p) && p->attempt != 0;
  @ assigns lock->first, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures kept: KEPT_IF(NAMED_OTHERWISE(p));
  @ ensures no_new: NO_NEW;
  @ ensures gone: \forall integer i; 0 <= i < parties(lock) ==>
  @   !named(party(lock, i), \old(p->client), \old(p->attempt));
  @*/
void bftm_party_remove(struct bftm_lock *lock, struct bftm_party *p);

/*@ requires lock_ok(lock) && in_lock(lock, p) && p->attempt != 0 && lock->gno < 0xffffffffffffffff;
  @ assigns lock->first, lock->gno, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures inside: \result == &lock->first && named(\result, \old(p->client), \old(p->attempt)) &&
  @   \result->mode == \old(p->mode) && \result->want == \old(p->want) && \result->held == \old(p->held) &&
  @   \result->time_ns == \old(p->time_ns) && \result->lease_ns == \old(p->lease_ns) && \result->k == \old(p->k);
  @ ensures numbered: lock->gno == \old(lock->gno) + 1;
  @ ensures kept: KEPT_IF(NAMED_OTHERWISE(p));
  @*/
struct bftm_party *bftm_party_number(struct bftm_lock *lock, struct bftm_party *p);

/*@ requires lock_ok(lock);
  @ assigns lock->first, QUEUE_FIELDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures kept: KEPT_IF(0 < 1);
  @ ensures no_new: NO_NEW;
  @*/
void bftm_parties_forget(struct bftm_lock *lock, u64 now);

/*@ requires lock_ok(lock);
  @ assigns LAST_ENDS;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures kept: ENDED_KEEPS(KEPT_IF(0 < 1));
  @ ensures no_new: ENDED_KEEPS(NO_NEW);
  @*/
void bftm_parties_ended(struct bftm_lock *lock, u64 now);

/*@ requires lock_ok(lock) && VALUE_APART;
  @ assigns lock->first, QUEUE_FIELDS, the_value->doubt;
  @ ensures ok: lock_ok(lock) && SAME_PLACES;
  @ ensures strictly: KEPT_IF(now <= t);
  @ ensures no_new: NO_NEW;
  @*/
bool bftm_parties_expire(struct bftm_lock *lock, u64 now);

#endif
