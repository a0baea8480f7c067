/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the ordering thread. */
#ifndef BFTM_ORDERING_H
#define BFTM_ORDERING_H

#include <sys/queue.h>

#include "core/ordering/client.h"
#include "config/conf.h"
#include "lock/acquire.h"
#include "loop/loop.h"
#include "loop/tree.h"
#include "order/bodies.h"
#include "order/order.h"
#include "order/request.h"
#include "order/work.h"

/*
 * A program is begun for an operation of another client only within this time after the work on a
 * state has begun; the first such operation is always done.
 */
#define BFTM_OTHERS_NS		(1 * BFTM_NS_PER_SEC)
/* Objects that are in use at once, of all clusters. */
#define BFTM_WORKS_MAX		1024u
/* A response that should be there, and was asked for this often, is fetched by an iteration. */
#define BFTM_POLLS_MAX		5

/**
 * struct bftm_ordering - an object, as this client knows it
 * @node:         among the objects of @identity
 * @identity:     the client
 * @len:          bytes of @name
 * @name:         of the object
 * @incarnation:  high half of operations
 * @ops:          operations numbered so far
 * @ranks:        count of the highest rank used, when there is no @work
 * @version:      the highest that a state of it is known to have, 0 for none
 * @restarted:    servers that were restarted, and have not told since that they know the object
 * @refreshes:    iterations in a row for the sake of servers that were restarted
 * @refreshed_ns: when the last of @refreshes was begun
 * @refresh:      when the next of @refreshes is due
 * @kind:         as the last known state says
 * @contended_ns: when another was met last
 * @waiting:      requests for the next operation
 * @work:         what is under way; NULL when the object is not in use
 * @history:      the last requests of this host for it
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
 * @o:   the object
 * @ret: @o->work; untouched on failure
 * Return: 0, -ENOMEM, or -ENOBUFS: BFTM_WORKS_MAX other objects are in use.
 */
int bftm_order_work_get(struct bftm_ordering *o, struct bftm_order_work **ret);
void bftm_order_work_free(struct bftm_order_work *w);

/** bftm_order_use() - @w->cluster is @cl from now on; NULL: nothing is under way */
void bftm_order_use(struct bftm_order_work *w, struct bftm_cluster *cl);

/** bftm_order_soon() - think about the object again, from the loop */
void bftm_order_soon(struct bftm_order_work *w, u64 at_ns);

/* submit.c: lines 2.1–7 */

/** bftm_submit_next() - no operation is under way: begin one if requests wait */
void bftm_submit_next(struct bftm_order_work *w);
/**
 * bftm_submit_begin() - the operation, to all servers
 * @w: the object in use
 *
 * A host that has met no other keeps the operation to itself, since nobody else would apply it,
 * until bftm_submit_show() or the first repetition.
 */
void bftm_submit_begin(struct bftm_order_work *w);
/** bftm_submit_show() - an iteration has failed: all servers are told of an operation kept back */
void bftm_submit_show(struct bftm_order_work *w);
/** bftm_submit_proposed() - a state that may reflect the operation goes to servers @to */
void bftm_submit_proposed(struct bftm_order_work *w, u32 to);
/**
 * bftm_submit_committed() - a quorum has committed @w->make.state, which reflects the operation
 * @w: the object in use
 *
 * So its response is known without a vote. The next operation is not begun from here.
 */
void bftm_submit_committed(struct bftm_order_work *w);
/** bftm_submit_settled() - it was committed: the response should come */
void bftm_submit_settled(struct bftm_order_work *w);
/** bftm_submit_polled() - an iteration begins because it did not come: ask as often again */
void bftm_submit_polled(struct bftm_order_work *w);
void bftm_submit_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);
/** bftm_submit_refused() - by server @u. True: the operation was given up */
bool bftm_submit_refused(struct bftm_order_work *w, u32 u, u32 reason);
/** bftm_submit_denied() - b + 1 servers refuse a request for the object, of whatever type. */
void bftm_submit_denied(struct bftm_order_work *w, u32 reason);
/** bftm_submit_no_room() - the state cannot even take note of the operation */
void bftm_submit_no_room(struct bftm_order_work *w);
/** bftm_submit_to() - send the operation once more to these servers */
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
 * @w: the object in use
 *
 * Servers that recover rely on this host to abandon an iteration after Lmax, and a host that sleeps
 * counts wrongly. So no answer from after a sleep is counted with those from before, and no
 * iteration begins while the kernel could not tell that the host slept.
 */
void bftm_iterate_interrupt(struct bftm_order_work *w);
/** bftm_iterate_made() - the state to propose is @w->make.next, or there is none */
void bftm_iterate_made(struct bftm_order_work *w, bool made);
/** bftm_iterate_ran() - programs have, between two iterations; @made: there is a state */
void bftm_iterate_ran(struct bftm_order_work *w, bool made);
/** bftm_iterate_holds() - is there an iteration for an operation that is still to come? */
bool bftm_iterate_holds(const struct bftm_order_work *w);
/** bftm_iterate_refresh() - the next one is for the sake of servers that were restarted, too */
void bftm_iterate_refresh(struct bftm_order_work *w);

/* next.c */

/** bftm_order_is_in() - does @state reflect the operation under way? */
bool bftm_order_is_in(const struct bftm_order_work *w, const struct bftm_body_here *state);
/** bftm_order_wants() - is the operation under way still to be applied? */
bool bftm_order_wants(const struct bftm_order_work *w);
/** bftm_order_request_waits() - can the next operation be packed for the same cluster? */
bool bftm_order_request_waits(const struct bftm_order_work *w);
/** bftm_order_needs_more() - is the commit of the state to get for the next iteration as well? */
bool bftm_order_needs_more(const struct bftm_order_work *w);
/**
 * bftm_order_keeps_rank() - does an iteration that COMMIT_GET began wait for its operation?
 * @w: the object in use
 *
 * Until the last operation is answered; and a host that has met no other waits for the next one.
 */
bool bftm_order_keeps_rank(const struct bftm_order_work *w);

/* phase.c */

/** bftm_phase_send() - @type to @to, with the body or after it, as struct bftm_order_out says */
void bftm_phase_send(struct bftm_order_work *w, u8 type, u32 to);
/** bftm_phase_again() - what this phase asks, to server @u: its epoch is new */
void bftm_phase_again(struct bftm_order_work *w, u32 u);
/** bftm_phase_stored() - server @u has all of @w->iterate.put */
void bftm_phase_stored(struct bftm_order_work *w, u32 u);

/* make.c: line 2.22, and all bodies that it takes */

void bftm_make_init(struct bftm_order_work *w);
/** bftm_make() - the iteration has chosen its base: make what it proposes */
void bftm_make(struct bftm_order_work *w);
/** bftm_make_keep() - @body is the last known state; @w owns its bytes */
void bftm_make_keep(struct bftm_order_work *w, struct bftm_body_here *body);
/** bftm_make_gathered() - a body came, or will not */
void bftm_make_gathered(struct bftm_order_work *w);
void bftm_make_stop(struct bftm_order_work *w);
/** bftm_make_lower() - servers take no state as long as this one. False: none was proposed */
bool bftm_make_lower(struct bftm_order_work *w);
/** bftm_make_anew() - another configuration: its limit, and nothing that was made counts */
void bftm_make_anew(struct bftm_order_work *w);
/** bftm_make_void() - end the programs, since the operation for which they run is over */
void bftm_make_void(struct bftm_order_work *w);
void bftm_make_free(struct bftm_order_work *w);

/** bftm_make_fetched() - a body that is here, for this iteration or one before; or NULL */
struct bftm_fetch *bftm_make_fetched(struct bftm_order_work *w, const struct bftm_body_id *id);

/** bftm_order_base() - the body of the state that operations are applied to; NULL for σ0 */
static inline const u8 *bftm_order_base(const struct bftm_order_work *w)
{
	return w->order.base.len ? w->make.state.data : NULL;
}

/* apply.c: likewise, what is applied and what comes of it */

/** bftm_apply_collect() - into @w->make.job: those whose turn it is, and whose bodies are here */
void bftm_apply_collect(struct bftm_order_work *w);
/** bftm_apply_assemble() - what was applied, as the state @w->make.next. False: no memory */
bool bftm_apply_assemble(struct bftm_order_work *w);

/* lock.c */

/**
 * bftm_order_may() - may an iteration begin? If not, it is to be tried again when
 * the lock is had, or was waited for long enough.
 * @w: the object in use
 */
bool bftm_order_may(struct bftm_order_work *w);
/** bftm_order_may_go_on() - likewise, right after the one that is under way */
bool bftm_order_may_go_on(const struct bftm_order_work *w);
/** bftm_order_alone() - no other host was met for long, and no program runs */
bool bftm_order_alone(const struct bftm_order_work *w);
/** bftm_order_patience() - from now on, the lock is waited for a while */
void bftm_order_patience(struct bftm_order_work *w);
/** bftm_order_patience_anew() - likewise, even if waiting did not help the last time */
void bftm_order_patience_anew(struct bftm_order_work *w);
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
/** bftm_refresh_restarted() - server @u of @cl was restarted */
void bftm_refresh_restarted(struct bftm_ordering *o, struct bftm_cluster *cl, u32 u);
/** bftm_refresh_heard() - what server @u answers tells whether it knows the object */
void bftm_refresh_heard(struct bftm_ordering *o, u32 u, const struct bftm_order_msg *msg);
/** bftm_refresh_awaited() - servers that may soon say that they recover */
u32 bftm_refresh_awaited(const struct bftm_order_work *w);

/* listing.c: which objects there are */

/** bftm_listings_answer() - LISTED of server @u */
void bftm_listings_answer(struct bftm_cluster *cl, u32 u, const struct bftm_order_msg *msg);
/** bftm_listings_epoch() - server @u has not read a LIST, which was for an earlier start */
void bftm_listings_epoch(struct bftm_cluster *cl, u32 u);
/** bftm_listings_stop() - tell those that wait that the daemon ends */
void bftm_listings_stop(struct bftm_cluster *cl);

/* sign.c: signed ranks */

/** bftm_rank_sign() - of @rank, one of this client's. False: ranks are not signed here */
bool bftm_rank_sign(const struct bftm_order_work *w, const struct bftm_rank *rank,
		    u8 ret[BFTM_SIGNATURE_LEN]);
/** bftm_rank_genuine() - is the rank of this EXCEPTION signed by its client? */
bool bftm_rank_genuine(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);

/** bftm_random() - below @limit, which is not 0 */
u64 bftm_random(u64 limit);

#endif /* BFTM_ORDERING_H */
