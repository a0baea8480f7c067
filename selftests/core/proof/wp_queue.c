// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_goes_before: the lower priority goes first, then the lower client
// prove: wp goes_before: the same of two who wait
// prove: wp bftm_queue_find: nobody, or who is named; the queue stays as it is, with any number of waiters
// prove: wp bftm_queue_first: nobody, or somebody who waits
// prove: wp bftm_queue_position: the queue stays as it is
// prove: wp bftm_queue_remove: one place less
// prove: wp bftm_queue_forget: who is left was heard and stands for what it said
#define PROOF_ANY_GUARD
#include "queue_contracts.h"

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static bool goes_before(const struct bftm_waiter *a, const struct bftm_waiter *b);

#include "core/backoff/queue.c"
