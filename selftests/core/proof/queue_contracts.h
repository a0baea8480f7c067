/* SPDX-License-Identifier: GPL-2.0 */
/* What queue.h promises: all who wait were heard, and keep what they said. */
#ifndef PROOF_QUEUE_CONTRACTS_H
#define PROOF_QUEUE_CONTRACTS_H

#include "lease_contracts.h"
#include "core/backoff/queue.h"

/*@ // heard(c, a, k, lease): client c sent number k of attempt a, for this lease. What it means
  @ // is open: whatever holds of each request holds of each grant.
  @ axiomatic Heard {
  @   predicate heard(integer client, integer attempt, integer k);
  @ }
  @
  @ predicate waiter_ok(struct bftm_waiter *w, integer now) =
  @   lease_ok(w->lease_ns) && w->heard_ns <= now && w->attempt != 0 &&
  @   heard(w->client, w->attempt, w->k);
  @ predicate queue_there(struct bftm_queue *q) =
  @   q == \null || (\valid(q) && q->count <= q->room && q->room <= 65536);
  @ predicate queue_ok(struct bftm_queue *q, integer now) =
  @   queue_there(q) && (q != \null ==>
  @   \forall integer i; 0 <= i < q->count ==> waiter_ok(&q->waiter[i], now));
  @ predicate in_queue(struct bftm_queue *q, struct bftm_waiter *w) =
  @   q != \null && \exists integer i; 0 <= i < q->count && w == &q->waiter[i];
  @*/

/*@ assigns \nothing;
  @ ensures \result <==> prio_a < prio_b || (prio_a == prio_b && client_a < client_b);
  @*/
static inline bool bftm_goes_before(u64 prio_a, u32 client_a, u64 prio_b, u32 client_b);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @ ensures \result <==> (a->held != 0 && b->held == 0) || ((a->held == 0 <==> b->held == 0) &&
  @   (a->prio < b->prio || (a->prio == b->prio && a->client < b->client)));
  @*/
static inline bool bftm_waits_before(const struct bftm_waiter *a, const struct bftm_waiter *b);

/*@ requires queue_there(q);
  @ assigns \result \from q, client, indirect: *q;
  @ ensures \result == \null || (in_queue(q, \result) && \result->client == client);
  @*/
struct bftm_waiter *bftm_queue_find(struct bftm_queue *q, u32 client);

/*@ requires queue_there(q);
  @ assigns \result \from q, indirect: *q;
  @ ensures \result == \null || in_queue(q, \result);
  @*/
struct bftm_waiter *bftm_queue_first(struct bftm_queue *q);

/*@ requires queue_there(q) && \valid_read(w);
  @ assigns \result \from *q, *w;
  @*/
u32 bftm_queue_position(const struct bftm_queue *q, const struct bftm_waiter *w);

/*@ requires queue_there(q) && in_queue(q, w);
  @ assigns q->count, *w;
  @ ensures q->count == \old(q->count) - 1;
  @ ensures *w == \old(q->waiter[q->count - 1]);
  @*/
void bftm_queue_remove(struct bftm_queue *q, struct bftm_waiter *w);

/*@ requires queue_ok(q, now);
  @ assigns q->count, q->waiter[0 .. 65535];
  @ ensures queue_ok(q, now);
  @ ensures q != \null ==> q->count <= \old(q->count) && q->room == \old(q->room);
  @*/
void bftm_queue_forget(struct bftm_queue *q, u64 now);

/*@ requires queue_there(q) && \valid_read(me) && (q != \null ==> \separated(q, me));
  @ assigns q->count, q->waiter[0 .. 65535];
  @ ensures place: \result == \null || in_queue(q, \result);
  @ ensures room: q != \null ==> q->room == \old(q->room) && q->count <= q->room;
  @ ensures others: q != \null ==> \forall integer i; 0 <= i < q->count ==>
  @   (i < \old(q->count) && q->waiter[i] == \old(q->waiter[i])) || q->waiter[i] == *me;
  @*/
struct bftm_waiter *bftm_queue_add(struct bftm_queue *q, const struct bftm_waiter *me);

#endif
