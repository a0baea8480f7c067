// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_goes_before: the lower priority goes first, then the lower client
// prove: wp bftm_waits_before: who holds goes first, else the same of two who wait
// prove: wp bftm_queue_find: nobody, or who is named; the queue stays as it is, with any number of waiters
// prove: wp bftm_queue_first: nobody, or somebody who waits
// prove: wp bftm_queue_position: the queue stays as it is
// prove: wp bftm_queue_remove: one place less
// prove: open bftm_queue_forget: the contract stands in queue_contracts.h; the provers do not get through it in time
// prove: wp last_one: nobody, or somebody who waits
// prove: open bftm_queue_add: the contract stands in queue_contracts.h; the provers do not get through it in time
#define PROOF_ANY_GUARD
#include "queue_contracts.h"

/*@ requires queue_there(q) && q != \null;
  @ assigns \nothing;
  @ ensures \result == \null || in_queue(q, \result);
  @*/
static struct bftm_waiter *last_one(struct bftm_queue *q);

#include "core/backoff/queue.c"
