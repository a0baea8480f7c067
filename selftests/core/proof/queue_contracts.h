/* SPDX-License-Identifier: GPL-2.0 */
/* What queue.h promises: all who wait were heard, and keep what they said. */
#ifndef PROOF_QUEUE_CONTRACTS_H
#define PROOF_QUEUE_CONTRACTS_H

#include "lease_contracts.h"
#include "core/backoff/queue.h"

/*@ // heard(c, a, k): client c sent number k of attempt a. What it means is open: whatever
  @ // holds of each request holds of each grant. step_time: when the step is, any time.
  @ axiomatic Step {
  @   predicate heard(integer client, integer attempt, integer k);
  @   logic integer step_time;
  @ }
  @*/

#define WAITER_OK(w) (lease_ok((w)->lease_ns) && (w)->heard_ns <= step_time && \
	(w)->attempt != 0 && heard((w)->client, (w)->attempt, (w)->k))

/*@ predicate waiter_ok(struct bftm_waiter *w) = WAITER_OK(w); */

/* What matters of a queue to those who do not write into it; each follows from what is below. */
#ifdef PROOF_ANY_QUEUE
/*@ axiomatic Queue {
  @   predicate queue_ok{L}(struct bftm_queue *q) reads q->count, q->room, q->waiter[0 .. 65535];
  @   predicate in_queue{L}(struct bftm_queue *q, struct bftm_waiter *w) reads q->count;
  @   axiom there{L}: \forall struct bftm_queue *q; queue_ok(q) ==> q == \null || \valid(q);
  @   axiom waits{L}: \forall struct bftm_queue *q, struct bftm_waiter *w;
  @     queue_ok(q) && in_queue(q, w) ==> q != \null && q->count > 0 && \valid(w);
  @ }
  @*/
#else
/*@ predicate queue_there(struct bftm_queue *q) =
  @   q == \null || (\valid(q) && q->count <= q->room && q->room <= 65536);
  @ predicate queue_ok(struct bftm_queue *q) =
  @   queue_there(q) && (q != \null ==>
  @   \forall integer i; 0 <= i < q->count ==> waiter_ok(&q->waiter[i]));
  @ predicate in_queue(struct bftm_queue *q, struct bftm_waiter *w) =
  @   q != \null && \exists integer i; 0 <= i < q->count && w == &q->waiter[i];
  @*/
#endif

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

/*@ requires queue_ok(q);
  @ assigns \result \from q, client, indirect: *q;
  @ ensures found: \result == \null || (in_queue(q, \result) && \result->client == client &&
  @   waiter_ok(\result) && \valid(\result));
  @ ensures some: \result != \null ==> q != \null && q->count > 0;
  @*/
struct bftm_waiter *bftm_queue_find(struct bftm_queue *q, u32 client);

/*@ requires queue_ok(q);
  @ assigns \result \from q, indirect: *q;
  @ ensures first: \result == \null || (in_queue(q, \result) && waiter_ok(\result) &&
  @   \valid(\result));
  @ ensures some: \result != \null ==> q != \null && q->count > 0;
  @*/
struct bftm_waiter *bftm_queue_first(struct bftm_queue *q);

/*@ requires queue_ok(q) && \valid_read(w);
  @ assigns \result \from *q, *w;
  @ ensures place: 1 <= \result && (q != \null ==> \result <= q->count + 1);
  @*/
u32 bftm_queue_position(const struct bftm_queue *q, const struct bftm_waiter *w);

/*@ requires queue_ok(q) && in_queue(q, w);
  @ assigns q->count, q->waiter[0 .. 65535];
  @ ensures one_less: q->count == \old(q->count) - 1;
  @ ensures ok: queue_ok(q);
  @*/
void bftm_queue_remove(struct bftm_queue *q, struct bftm_waiter *w);

/*@ requires queue_ok(q) && now == step_time;
  @ assigns q->count, q->waiter[0 .. 65535];
  @ ensures ok: queue_ok(q);
  @ ensures no_more: q != \null ==> q->count <= \old(q->count);
  @*/
void bftm_queue_forget(struct bftm_queue *q, u64 now);

/*@ requires queue_ok(q) && \valid_read(me) && \separated(q, me) && WAITER_OK(me);
  @ assigns q->count, q->waiter[0 .. 65535];
  @ ensures added: \result == \null || (in_queue(q, \result) && waiter_ok(\result));
  @ ensures ok: queue_ok(q);
  @*/
struct bftm_waiter *bftm_queue_add(struct bftm_queue *q, const struct bftm_waiter *me);

/* What server.c writes into a queue: for proofs a function, see annotations. */
/*@ requires queue_ok(q) && in_queue(q, w) && \valid_read(me) && \separated(q, me);
  @ requires WAITER_OK(me);
  @ assigns q->waiter[0 .. 65535];
  @ ensures ok: queue_ok(q) && in_queue(q, w) && waiter_ok(w);
  @*/
void put_waiter(struct bftm_queue *q, struct bftm_waiter *w, const struct bftm_waiter *me);

/*@ requires queue_ok(q) && in_queue(q, w) && now == step_time;
  @ assigns q->waiter[0 .. 65535];
  @ ensures ok: queue_ok(q) && in_queue(q, w) && waiter_ok(w);
  @*/
void hear_waiter(struct bftm_queue *q, struct bftm_waiter *w, u64 now);

#endif
