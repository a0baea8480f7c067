/* SPDX-License-Identifier: GPL-2.0 */
/* An object in use, in parts: each has its writers, and all of the ordering thread read it. */
#ifndef BFTM_WORK_H
#define BFTM_WORK_H

#include <sys/queue.h>

#include "core/ordering/client.h"
#include "lock/acquire.h"
#include "loop/loop.h"
#include "order/bodies.h"
#include "order/request.h"
#include "order/room.h"
#include "types/object.h"

struct bftm_cluster;
struct bftm_ordering;

/* One iteration applies at most so many operations of others, and its own. */
#define BFTM_OPS_MAX		32

/** enum bftm_order_lock - the mutex of line 2.9 */
enum bftm_order_lock {
	BFTM_ORDER_UNLOCKED,
	BFTM_ORDER_QUEUED,
	BFTM_ORDER_LOCKED,
	BFTM_ORDER_NO_LOCK,	/* it is refused: go on without */
};

/**
 * struct bftm_order_submit - the operation under way; written by submit.c and request.c
 * @op:         its number, 0 for none
 * @body:       of the operation
 * @id:         of @body
 * @batch:      its requests
 * @room:       for its response in one datagram
 * @known:      servers that said that it waits there, or were told a state that reflects it
 * @submitted:  sequence numbers of the last SUBMIT to each server
 * @submits:    how often SUBMIT was sent since the last news
 * @timer:      when SUBMIT is repeated
 * @vote:       what servers say of its response
 * @response:   what b + 1 servers said alike, or the committed state says
 * @settled:    the state that is committed reflects it
 * @kept:       SUBMIT was not sent; servers hear of the operation as part of a state
 * @put:        its body, on its way
 */
struct bftm_order_submit {
	u64 op;
	struct bftm_bytes body;
	struct bftm_body_id id;
	struct bftm_requests batch;
	u16 room;
	u32 known;
	u64 submitted[BFTM_SERVERS_MAX];
	u32 submits;
	struct bftm_timer timer;
	struct bftm_vote vote;
	struct bftm_bytes response;
	bool settled;
	bool kept;
	struct bftm_put put;
};

/**
 * struct bftm_order_iterate - one iteration, and the next; written by iterate.c and phase.c
 * @first_seq:  what was asked in this iteration has higher sequence numbers
 * @awaits:     before the state is made, servers may say that they recover
 * @held:       it began with the commit of the one before, and waits for the operation that it
 *              is for: that one's response is not here yet
 * @asked:      the last answer was of an iteration that waited for answers to GET
 * @behind:     the last iteration was outranked, by a rank that need not be in use
 * @refresh:    the next iteration is for the sake of servers that were restarted
 * @owed:       servers that get the message of the phase when they have the body
 * @put:        the state that is proposed, on its way
 * @pauses:     iterations in a row that came to nothing
 * @not_before_ns: when the next one may begin
 * @unreachable_ns: since when too few servers answer, which an iteration has found; 0: they do
 */
struct bftm_order_iterate {
	u64 first_seq;
	bool awaits;
	bool held;
	bool asked;
	bool behind;
	bool refresh;
	u32 owed;
	struct bftm_put put;
	u32 pauses;
	u64 not_before_ns;
	u64 unreachable_ns;
};

/**
 * struct bftm_order_make - the state that an iteration proposes; written by make.c and apply.c
 * @state:       the last known one
 * @next:        the one that is proposed
 * @made_on:     the state that @next was made of by programs
 * @made:        @made_on is set: the next iteration that chooses it proposes @next, and need not
 *               run them
 * @gathering:   bodies are on their way
 * @fetch_state: the state that was chosen, when it is not here
 * @fetch:       bodies of operations
 * @fetches:     entries of @fetch in use
 * @ops:         that an iteration applies, @job.count
 * @job_ops:     bodies of @ops
 * @job:         the application of @job_ops to @state
 * @running:     @job is under way; without an iteration, while a program runs
 * @from:        pending operations from this client on are asked for
 * @limit:       bytes that a state may have
 * @space:       of the next state
 * @due:         the operation under way is still to be applied
 */
struct bftm_order_make {
	struct bftm_body_here state;
	struct bftm_body_here next;
	struct bftm_body_id made_on;
	bool made;
	bool gathering;
	struct bftm_fetch fetch_state;
	struct bftm_fetch fetch[BFTM_OPS_MAX];
	u32 fetches;
	struct bftm_op ops[BFTM_OPS_MAX + 1];
	struct bftm_object_op job_ops[BFTM_OPS_MAX + 1];
	struct bftm_object_job job;
	bool running;
	u32 from;
	u32 limit;
	struct bftm_order_space space;
	bool due;
};

/**
 * struct bftm_order_mutex - the mutex of line 2.9; written by lock.c
 * @state:       whether the lock is had
 * @id:          of the request for it, 0 for none
 * @patience_ns: until then the lock is waited for
 * @impatient:   the last wait for the lock was in vain
 * @inside:      the request @id as one of the daemon's own locks
 */
struct bftm_order_mutex {
	enum bftm_order_lock state;
	u64 id;
	u64 patience_ns;
	bool impatient;
	struct bftm_inside inside;
};

/**
 * struct bftm_order_work - an object in use; its parts have each their writers, all read them
 * @ordering: the object
 * @idlers:   among those that are @idle
 * @idle:     it was in use, and nothing is under way
 * @cluster:  whose servers are asked; NULL while nothing is under way
 * @used_by:  the @first_seq of the cluster that was used last
 * @order:    the iteration, as the core has it
 * @wake:     when the iteration goes on; between two, when the next may begin; when idle, the end
 * @again_ns: when a server was asked again because of its new epoch
 * @transfer: of all bodies that are on their way
 * @submit:   the operation under way
 * @iterate:  the iteration under way, and the next
 * @make:     the state that it proposes
 * @mutex:    the lock of the object
 */
struct bftm_order_work {
	struct bftm_ordering *ordering;
	TAILQ_ENTRY(bftm_order_work) idlers;
	bool idle;
	struct bftm_cluster *cluster;
	u64 used_by;
	u64 again_ns[BFTM_SERVERS_MAX];
	struct bftm_order order;
	struct bftm_timer wake;
	struct bftm_timer transfer;
	struct bftm_order_submit submit;
	struct bftm_order_iterate iterate;
	struct bftm_order_make make;
	struct bftm_order_mutex mutex;
};

#endif /* BFTM_WORK_H */
