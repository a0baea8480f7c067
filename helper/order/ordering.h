/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the ordering thread (order_*.c) share. */
#ifndef BFTM_ORDERING_H
#define BFTM_ORDERING_H

#include <sys/queue.h>

#include "core/ordering/client.h"
#include "core/ordering/transfer.h"
#include "lock/acquire.h"
#include "config/conf.h"
#include "loop/loop.h"
#include "types/object.h"
#include "order/order.h"
#include "order/room.h"
#include "loop/tree.h"

/* What one iteration applies: at most so many operations of others, and its own. */
#define BFTM_OPS_MAX		32
/* A program is begun for operations of others, but for one, while less has gone by. */
#define BFTM_OTHERS_NS		(1 * BFTM_NS_PER_SEC)
/* Objects that are in use at once, of all clusters. */
#define BFTM_WORKS_MAX		1024u
/* Requests of this host that are remembered, of each object, and their bytes. */
#define BFTM_HISTORY_MAX	1024
#define BFTM_HISTORY_BYTES	(1u << 20)
/* And of all objects together, with all that they take; above it, new ones are not remembered. */
#define BFTM_HISTORY_TOTAL	(64u << 20)
/* Asked for so often, a response that should be there takes an iteration. */
#define BFTM_POLLS_MAX		5

struct bftm_order_work;

/**
 * struct bftm_request - what one application asked for
 * @beside:   among those that wait, or that are in the operation under way
 * @cluster:  where; it counts this request among its acquires
 * @id:       the kernel's number, 0: nobody waits any more
 * @process:  the same, kept
 * @timer:    when its time is over
 * @timed:    the application set a time limit
 * @packed:   it is in the operation under way
 */
struct bftm_request {
	RB_ENTRY(bftm_request) by_id;
	TAILQ_ENTRY(bftm_request) beside;
	struct bftm_ordering *ordering;
	struct bftm_cluster *cluster;
	struct bftm_timer timer;
	u64 id;
	u64 process;
	u64 invoke_ns;
	bool timed;
	bool packed;
	u32 len;
	u8 text[];
};

TAILQ_HEAD(bftm_requests, bftm_request);

/** struct bftm_past - a request that was answered, or whose fate is not known */
struct bftm_past {
	TAILQ_ENTRY(bftm_past) list;
	u64 process;
	u64 invoke_ns;
	u64 return_ns;		/* 0: it was not answered, or not yet */
	u64 number;
	u32 status;
	u32 len;
	u32 response_len;
	u8 text[];		/* the request, then the response */
};

/** struct bftm_history - oldest first */
struct bftm_history {
	TAILQ_HEAD(, bftm_past) list;
	u32 count;
	u32 bytes;
};

/**
 * struct bftm_ordering - an object, as this client knows it
 * @incarnation: high half of operations
 * @ops:         operations numbered so far
 * @ranks:       count of the highest rank used, when there is no @work
 * @restarted:   servers that were, and have not told since that they know it
 * @refresh:     for their sake; @refreshes in a row, the last at @refreshed_ns
 * @kind:        as the last known state says
 * @contended_ns: when another was met last
 * @waiting:     requests for the next operation
 *
 * Neither operations nor ranks are ever used twice: this is kept as long as the
 * daemon runs.
 */
struct bftm_ordering {
	RB_ENTRY(bftm_ordering) node;
	struct bftm_identity *identity;
	u8 len;
	u8 name[BFTM_NAME_LEN_MAX];
	u32 incarnation;
	u32 ops;
	u64 ranks;
	u64 version;
	u32 restarted;
	u32 refreshes;
	u64 refreshed_ns;
	struct bftm_timer refresh;
	enum bftm_object_kind kind;
	u64 contended_ns;
	struct bftm_requests waiting;
	struct bftm_order_work *work;
	struct bftm_history history;
};

/** struct bftm_body_here - a body; @data is NULL for none */
struct bftm_body_here {
	struct bftm_body_id id;
	u8 *data;
};

/**
 * struct bftm_put - a body on its way to servers
 * @to:     servers that it is being sent to
 * @stored: that have all of it
 * @failed: that do not answer
 */
struct bftm_put {
	struct bftm_body_id id;
	const u8 *data;
	u32 to;
	u32 stored;
	u32 failed;
	struct bftm_transfer transfer[BFTM_SERVERS_MAX];
};

/**
 * struct bftm_fetch - a body on its way from a server
 * @holders: who said that they have it
 * @from:    who is asked now
 * @tries:   how many were
 * @over:    it is in @body, or @body.data is NULL and nobody gives it
 */
struct bftm_fetch {
	struct bftm_body_here body;
	u32 holders;
	u32 from;
	u32 tries;
	bool over;
	struct bftm_transfer transfer;
};

/** enum bftm_order_lock - the mutex of line 2.9 */
enum bftm_order_lock {
	BFTM_ORDER_UNLOCKED,
	BFTM_ORDER_QUEUED,
	BFTM_ORDER_LOCKED,
	BFTM_ORDER_NO_LOCK,	/* it is refused: go on without */
};

/**
 * struct bftm_order_work - an object in use
 * @idlers:     among those that are @idle: they were in use, and nothing is under way
 * @cluster:    by which; NULL while nothing is under way
 * @used_by:    its @first_seq, the last time there was one
 * @order:      the iteration
 * @wake:       of it; between two, when the next may begin; when idle, the end
 * @first_seq:  what was asked in this iteration has higher sequence numbers
 * @again_ns:   when a server was asked again because of its new epoch
 * @awaits:     before the state is made, servers may say that they recover
 * @refresh:    the next iteration is for their sake
 * @owed:       servers that get the message of the phase when they have the body
 * @pauses:     iterations in a row that came to nothing
 * @not_before_ns: when the next one may begin
 * @unreachable_ns: since when too few servers answer, which an iteration has found; 0: they do
 * @op:         number of the operation under way, 0 for none
 * @body, @id:  of it
 * @batch:      its requests
 * @room:       for its response in one datagram
 * @known:      servers that said that it waits there
 * @submitted:  sequence numbers of the last SUBMIT to each server
 * @submits:    how often it was sent since the last news
 * @submit:     when it is repeated
 * @vote, @response: what servers say, and what b + 1 said alike so far
 * @settled:    the state that is committed reflects it
 * @put_op, @put_state: bodies on their way
 * @transfer:   of these and @fetch
 * @state:      the last known one
 * @next:       the one that is proposed
 * @made_on:    the state that @next was made of by programs, as @made says: the next
 *              iteration that chooses it proposes @next, and need not run them
 * @ops:        that an iteration applies, @count; @place is that of the own one
 * @making:     @job is under way; without an iteration, while a program runs
 * @from:       pending operations from this client on are asked for
 * @limit:      bytes that a state may have; @space of the next one
 * @due:        the operation under way is still to be applied
 * @lock, @lock_id: the mutex, and the request for it
 * @patience_ns: until then it is waited for; @impatient: in vain, the last time
 */
struct bftm_order_work {
	struct bftm_ordering *ordering;
	TAILQ_ENTRY(bftm_order_work) idlers;
	bool idle;
	struct bftm_cluster *cluster;
	struct bftm_order order;
	u64 used_by;
	struct bftm_timer wake;
	u64 first_seq;
	u64 again_ns[BFTM_SERVERS_MAX];
	u32 owed;
	bool awaits;
	bool refresh;
	u32 pauses;
	u64 not_before_ns;
	u64 unreachable_ns;

	u64 op;
	struct bftm_bytes body;
	struct bftm_body_id id;
	struct bftm_requests batch;
	u16 room;
	u32 known;
	u64 submitted[BFTM_SERVERS_MAX];
	u32 submits;
	struct bftm_timer submit;
	struct bftm_vote vote;
	struct bftm_bytes response;
	bool settled;

	struct bftm_put put_op;
	struct bftm_put put_state;
	struct bftm_timer transfer;
	struct bftm_fetch fetch_state;
	struct bftm_fetch fetch[BFTM_OPS_MAX];
	u32 fetches;
	bool gathering;

	struct bftm_body_here state;
	struct bftm_body_here next;
	struct bftm_body_id made_on;
	bool made;
	struct bftm_op ops[BFTM_OPS_MAX + 1];
	struct bftm_object_op job_ops[BFTM_OPS_MAX + 1];
	struct bftm_object_job job;
	bool making;
	u32 from;
	u32 limit;
	struct bftm_order_space space;
	bool due;

	enum bftm_order_lock lock;
	u64 patience_ns;
	bool impatient;
	u64 lock_id;
	struct bftm_inside inside;
};

/** bftm_order_cfg_of() - of the cluster that works on it */
const struct bftm_order_cfg *bftm_order_cfg_of(const struct bftm_order_work *w);

/* order.c */

/** bftm_ordering_find() - NULL when it is not known here */
struct bftm_ordering *bftm_ordering_find(const struct bftm_cluster *cl, const u8 *name,
					 size_t len);

/** bftm_ordering_next() - the one after @o, the first after NULL; NULL at the end */
const struct bftm_ordering *bftm_ordering_next(const struct bftm_cluster *cl,
					       const struct bftm_ordering *o);

/** bftm_order_send() - @msg of object @w to servers @to; name and room are filled in */
void bftm_order_send(struct bftm_order_work *w, u32 to, struct bftm_order_msg *msg);

/* work.c: what an object in use takes in memory */

/**
 * bftm_order_work_get() - @ret: @o->work, made if need be
 * Return: 0, -ENOMEM, or -ENOBUFS: BFTM_WORKS_MAX other objects are in use.
 */
int bftm_order_work_get(struct bftm_ordering *o, struct bftm_order_work **ret);
void bftm_order_work_free(struct bftm_order_work *w);

/** bftm_order_use() - @w->cluster is @cl from now on; NULL: nothing is under way */
void bftm_order_use(struct bftm_order_work *w, struct bftm_cluster *cl);

/** bftm_order_soon() - think about the object again, from the loop */
void bftm_order_soon(struct bftm_order_work *w, u64 at_ns);


/* request.c */

/** bftm_request_new() - put what was asked among those that wait. 0 or -errno */
int bftm_request_new(struct bftm_ordering *o, struct bftm_cluster *cl,
		     const struct bftm_submit_ask *ask);
/** bftm_requests_fail() - tell all; those of the operation under way stay in it */
void bftm_requests_fail(struct bftm_requests *list, int error);
/** bftm_requests_drop() - forget all without a word */
void bftm_requests_drop(struct bftm_requests *list);
/** bftm_order_pack() - the waiting requests into the next operation. False: none */
bool bftm_order_pack(struct bftm_order_work *w);
/** bftm_order_deliver() - the operation is over, @w->response is its response */
void bftm_order_deliver(struct bftm_order_work *w);
/** bftm_order_abandon() - it is over, and all who asked for it get @error */
void bftm_order_abandon(struct bftm_order_work *w, int error);

/* submit.c: lines 2.1–7 */

/** bftm_submit_next() - no operation is under way: begin one if requests wait */
void bftm_submit_next(struct bftm_order_work *w);
/** bftm_submit_begin() - the operation, to all servers */
void bftm_submit_begin(struct bftm_order_work *w);
/** bftm_submit_poll() - it was committed: the response should come */
void bftm_submit_poll(struct bftm_order_work *w);
void bftm_submit_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);
/** bftm_submit_refused() - by server @u. True: the operation was given up */
bool bftm_submit_refused(struct bftm_order_work *w, u32 u, u32 reason);
/** bftm_submit_denied() - b + 1 refuse, whatever it is that they do. */
void bftm_submit_denied(struct bftm_order_work *w, u32 reason);
/** bftm_submit_no_room() - the state cannot even take note of the operation */
void bftm_submit_no_room(struct bftm_order_work *w);
/** bftm_submit_to() - once more to these */
void bftm_submit_to(struct bftm_order_work *w, u32 to);
void bftm_submit_init(struct bftm_order_work *w);
void bftm_submit_stop(struct bftm_order_work *w);

/* iterate.c: lines 2.8–31 */

/** bftm_iterate() - begin an iteration if one is needed and none is under way */
void bftm_iterate(struct bftm_order_work *w);
void bftm_iterate_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);
void bftm_iterate_refused(struct bftm_order_work *w, u32 u, u32 reason);
/**
 * bftm_iterate_interrupt() - the machine may have slept: end what is under way
 *
 * Servers that recover rely on it that an iteration is abandoned after Lmax, which this
 * host counts, and not rightly while it sleeps. So no answer from after a sleep is counted
 * with those from before; and none begins while the kernel would not say that it slept.
 */
void bftm_iterate_interrupt(struct bftm_order_work *w);
/** bftm_iterate_made() - the state to propose is @w->next, or there is none */
void bftm_iterate_made(struct bftm_order_work *w, bool made);
/** bftm_iterate_ran() - programs have, between two iterations; @made: there is a state */
void bftm_iterate_ran(struct bftm_order_work *w, bool made);
/** bftm_iterate_stored() - server @u has all of @w->put_state */
void bftm_iterate_stored(struct bftm_order_work *w, u32 u);
/** bftm_iterate_again() - what this phase asks, to server @u: its epoch is new */
void bftm_iterate_again(struct bftm_order_work *w, u32 u);
void bftm_iterate_init(struct bftm_order_work *w);

/* make.c: line 2.22, and all bodies that it takes */

/** bftm_make() - the iteration has chosen its base: make what it proposes */
void bftm_make(struct bftm_order_work *w);
/** bftm_make_keep() - @body is the last known state; @w owns its bytes */
void bftm_make_keep(struct bftm_order_work *w, struct bftm_body_here *body);
/** bftm_make_gathered() - a body came, or will not */
void bftm_make_gathered(struct bftm_order_work *w);
void bftm_make_stop(struct bftm_order_work *w);
/** bftm_make_void() - the operation that programs run for is over; so are they */
void bftm_make_void(struct bftm_order_work *w);
void bftm_make_free(struct bftm_order_work *w);

/** bftm_make_fetched() - a body that is here, for this iteration or one before; or NULL */
struct bftm_fetch *bftm_make_fetched(struct bftm_order_work *w, const struct bftm_body_id *id);

/** bftm_order_base() - the body of the state that operations are applied to; NULL for σ0 */
static inline const u8 *bftm_order_base(const struct bftm_order_work *w)
{
	return w->order.base.len ? w->state.data : NULL;
}

/* apply.c: likewise, what is applied and what comes of it */

/** bftm_apply_collect() - into @w->job: those whose turn it is, and whose bodies are here */
void bftm_apply_collect(struct bftm_order_work *w);
/** bftm_apply_assemble() - what was applied, as the state @w->next. False: no memory */
bool bftm_apply_assemble(struct bftm_order_work *w);

/* bodies.c: in pieces */

void bftm_bodies_init(struct bftm_order_work *w);
/** bftm_put_begin() - @data stays until bftm_put_stop() */
void bftm_put_begin(struct bftm_put *put, const struct bftm_body_id *id, const u8 *data);
void bftm_put_stop(struct bftm_put *put);
/** bftm_put_to() - to these servers, too; again to those that have lost it */
void bftm_put_to(struct bftm_order_work *w, struct bftm_put *put, u32 to);
/** bftm_fetch_begin() - body @id, from one of @holders after the other */
void bftm_fetch_begin(struct bftm_order_work *w, struct bftm_fetch *fetch,
		      const struct bftm_body_id *id, u32 holders);
void bftm_fetch_stop(struct bftm_fetch *fetch);
void bftm_bodies_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);

/* lock.c */

/**
 * bftm_order_may() - may an iteration begin? If not, it is to be tried again when
 * the lock is had, or was waited for long enough.
 */
bool bftm_order_may(struct bftm_order_work *w);
/** bftm_order_patience() - from now on, the lock is waited for a while */
void bftm_order_patience(struct bftm_order_work *w);
/** bftm_order_met() - another contends for the object */
void bftm_order_met(struct bftm_order_work *w);
void bftm_order_unlock(struct bftm_order_work *w);
/** bftm_order_runs() - does a program do what this object is asked for? */
static inline bool bftm_order_runs(const struct bftm_order_work *w)
{
	return w->ordering->kind == BFTM_OBJECT_PROGRAM;
}

/* refresh.c: servers that were restarted */

void bftm_refresh_init(struct bftm_ordering *o);
/** bftm_refresh_restarted() - server @u of @cl was */
void bftm_refresh_restarted(struct bftm_ordering *o, struct bftm_cluster *cl, u32 u);
/** bftm_refresh_heard() - what server @u answers tells whether it knows the object */
void bftm_refresh_heard(struct bftm_ordering *o, u32 u, const struct bftm_order_msg *msg);
/** bftm_refresh_awaited() - servers that may soon say that they recover */
u32 bftm_refresh_awaited(const struct bftm_order_work *w);

/* history.c */

void bftm_history_init(struct bftm_history *h);
void bftm_history_free(struct bftm_history *h);
/** bftm_history_add() - @a is NULL when its fate is not known */
void bftm_history_add(struct bftm_history *h, const struct bftm_request *r, u64 now,
		      u64 number, const struct bftm_object_answer *a);

/* rank.c: signed ranks */

/** bftm_rank_sign() - of @w->order.rank. False: not signed here */
bool bftm_rank_sign(const struct bftm_order_work *w, u8 ret[BFTM_SIGNATURE_LEN]);
/** bftm_rank_genuine() - is the rank of this EXCEPTION signed by its client? */
bool bftm_rank_genuine(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);

/** bftm_random() - below @limit, which is not 0 */
u64 bftm_random(u64 limit);

#endif /* BFTM_ORDERING_H */
