// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_goes_before: the lower priority goes first, then the lower client
// prove: wp bftm_waits_before: who holds goes first, else the same of two who wait
// prove: wp bftm_queue_find: nobody, or who is named; the queue stays as it is, with any number of waiters
// prove: wp bftm_queue_first: nobody, or somebody who waits
// prove: wp bftm_queue_position: the queue stays as it is
// prove: wp bftm_queue_remove: one place less
// prove: wp bftm_queue_forget: no more wait than before, and all with what they sent
// prove: wp last_one: nobody, or somebody who waits
// prove: wp bftm_queue_add: nobody waits but those before, and the new one
// prove: wp put_waiter: who waits may wait with what another sends; used by the steps of a lock
// prove: wp hear_waiter: and was heard now
#define PROOF_ANY_GUARD
#include "queue_contracts.h"

/*@ requires queue_ok(q) && q != \null;
  @ assigns \nothing;
  @ ensures \result == \null || in_queue(q, \result);
  @*/
static struct bftm_waiter *last_one(struct bftm_queue *q);

#include "core/backoff/queue.c"

void put_waiter(struct bftm_queue *q, struct bftm_waiter *w, const struct bftm_waiter *me)
{
	*w = *me;
}

void hear_waiter(struct bftm_queue *q, struct bftm_waiter *w, u64 now)
{
	w->heard_ns = now;
}
