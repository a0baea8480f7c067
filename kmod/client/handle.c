// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a handle is the private data of one file and is freed by its last close. Until then it
 * can be reached from its namespace's array, from its alarms and from its request, all under the
 * upcall's lock. bftm_handle_free() takes it out of the array first: code that found the handle
 * there holds the lock, and is done with the handle when bftm_handle_free() gets the lock, and
 * removes the handle from the alarms and the request in one hold of it.
 *
 * The kernel, not the helper, ends a lease: the timer announces it, and every
 * look at the state compares the clocks with the deadline first.
 */
#include <linux/poll.h>
#include <linux/slab.h>

#include "client/burst.h"
#include "client/fast.h"
#include "client/handle.h"
#include "client/session.h"
#include "client/submit.h"
#include "client/trace.h"
#include "debug.h"
#include "netns.h"
#include "notify.h"
#include "time/clock.h"
#include "time/sleep.h"

void bftm_handle_end(struct bftm_handle *h)
{
	struct bftm_request *request = h->request;

	h->request = NULL;
	bftm_upcall_end(h->bn, request);
}

/* A held lock is released, a pending acquire is cancelled. */
static void give_back(struct bftm_handle *h)
{
	bool held = h->state == BFTM_STATE_HELD;

	if (held)
		bftm_held_value_give_up(h->request);
	bftm_handle_end(h);
	h->state = BFTM_STATE_IDLE;
	if (held) {
		h->bn->upcall->local.released++;
		trace_bftm_released(h);
		bftm_notify.event(h);
	} else {
		h->bn->upcall->local.cancelled++;
		trace_bftm_failed(h, ECANCELED);
	}
}

struct bftm_handle *bftm_handle_new(struct bftm_net *bn)
{
	struct bftm_handle *h;
	int err = bftm_upcall_prepare(bn->upcall);

	if (err)
		return ERR_PTR(err);
	h = kzalloc(sizeof(*h), GFP_KERNEL_ACCOUNT);
	if (!h)
		return ERR_PTR(-ENOMEM);
	h->bn = bn;
	bftm_handle_watch_init(h);
	INIT_LIST_HEAD(&h->kept);
	timerqueue_init(&h->due);
	/* There are as many numbers as there may be handles. */
	err = xa_alloc_bh(&bn->upcall->handles, &h->number, h,
			  XA_LIMIT(0, BFTM_HANDLES_MAX - 1), GFP_KERNEL);
	if (err) {
		kfree(h);
		return ERR_PTR(err == -EBUSY ? -ENFILE : err);
	}
	bftm_created("handle", h);
	return h;
}

void bftm_handle_free(struct bftm_handle *h)
{
	struct bftm_upcall *up = h->bn->upcall;
	struct bftm_burst burst __uninitialized;

	bftm_burst_lock(up, &burst);
	/*
	 * In the same hold: code that loses all locks finds the handle, or the request that it
	 * leaves behind. Softirqs are off wherever the lock of the numbers is held, so that lock
	 * may be taken inside this one.
	 */
	xa_erase(&up->handles, h->number);
	bftm_handle_check(h);
	if (h->request) {
		/*
		 * Closed without BFTM_IOC_RELEASE: the value that the program set may not be the
		 * one to leave.
		 */
		if (h->state == BFTM_STATE_HELD && h->request->value) {
			bftm_held_value_doubt(h->request);
			h->request->value->set = false;
		}
		give_back(h);
	}
	bftm_alarm_clear(&up->alarms, &h->due);
	if (!up->portid && xa_empty(&up->handles))
		bftm_sessions_look(up);
	bftm_burst_unlock(up, &burst);
	/* No code finds the handle any more, so no code calls the usher. */
	bftm_handle_watch_end(h);
	bftm_submit_forget(h);
	kfree(h->why);
	put_pid(h->signal_pid);
	put_pid(h->owner);
	if (h->signal_cred)
		put_cred(h->signal_cred);
	bftm_destroyed("handle", h);
	kfree(h);
}

/* Handles that a walk visits in one hold of the lock. */
#define WALK_BATCH 32

bool bftm_handles_walk(struct bftm_upcall *up, unsigned long *at,
		       int (*visit)(struct bftm_handle *h, void *arg), void *arg)
{
	unsigned int i;

	lockdep_assert_held(&up->lock);
	for (i = 0; i < WALK_BATCH; i++) {
		struct bftm_handle *h = xa_find(&up->handles, at, ULONG_MAX, XA_PRESENT);

		if (!h || visit(h, arg))
			return false;
		++*at;
	}
	return true;
}

u64 bftm_handle_limit(u32 flags, u64 timeout_ns)
{
	u64 limit_ns = flags & BFTM_TRY ? min_not_zero(timeout_ns, BFTM_TRY_LIMIT_NS) : timeout_ns;

	return limit_ns ? bftm_sleep_until(limit_ns) : 0;
}

static int handle_begin(struct bftm_handle *h, struct bftm_request *request, bool waits,
			const char comm[TASK_COMM_LEN])
{
	struct pid *before;
	int err;

	bftm_handle_check(h);
	if (h->state == BFTM_STATE_PENDING)
		return -EBUSY;
	if (h->state == BFTM_STATE_HELD)
		return -EALREADY;
	request->kind = BFTMUTEX_REQUEST_KIND_ACQUIRE;
	request->handle = h;
	err = bftm_upcall_add(h->bn, request);
	if (err)
		return err;
	h->bn->upcall->local.acquires++;
	h->request = request;
	h->id = request->id;
	h->arg = request->arg;
	h->end_ns = 0;
	h->state = BFTM_STATE_PENDING;
	h->reason = BFTM_LOST_NOT;
	h->error = 0;
	kfree(h->why);
	h->why = NULL;
	h->warned = false;
	h->wanted = false;
	h->untold = waits;
	h->renewing = false;
	before = h->owner;
	h->owner = get_pid(task_tgid(current));
	put_pid(before);
	memcpy(h->comm, comm, sizeof(h->comm));
	bftm_handle_limit_arm(h);
	trace_bftm_acquire(h);
	if (request->failed)
		bftm_request_failed(h->bn->upcall, request, -EWOULDBLOCK);
	return 0;
}

/*
 * The kernel's attempt has its memory before the request waits for anything: the program's control
 * group pays, whoever has the attempt begin. Return: NULL without memory, or if nothing is lent.
 */
static struct bftm_fast *fast_alloc(const struct bftm_upcall *up)
{
	/* A session that is lent meanwhile may need more: that acquire is the helper's. */
	size_t room = READ_ONCE(up->client_room);

	return room ? bftm_fast_alloc(room) : NULL;
}

int bftm_handle_acquire(struct bftm_handle *h, const struct bftm_acquire *arg,
			u64 limit_ns, bool waits, u64 *ret_id)
{
	struct bftm_upcall *up = h->bn->upcall;
	struct bftm_request *request;
	struct bftm_burst burst __uninitialized;
	char comm[TASK_COMM_LEN];
	int err;

	/* get_task_comm() takes task_lock(), which must not nest in the upcall's lock. */
	get_task_comm(comm, current);
	request = bftm_request_alloc();
	if (!request)
		return -ENOMEM;
	request->arg = *arg;
	request->timeout_at_ns = limit_ns;
	request->value = bftm_held_value_new(arg->flags);
	if (arg->flags & BFTM_VALUE && !request->value) {
		bftm_request_discard(request);
		return -ENOMEM;
	}
	request->spare = fast_alloc(up);
	bftm_burst_lock(up, &burst);
	err = handle_begin(h, request, waits, comm);
	if (!err)
		*ret_id = h->id;
	bftm_burst_unlock(up, &burst);
	if (err)
		bftm_request_discard(request);
	return err;
}

void bftm_handle_won(struct bftm_handle *h, const struct bftm_result *result)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	h->bn->upcall->local.won++;
	h->state = BFTM_STATE_HELD;
	h->arg.deadline_ns = result->deadline_ns;
	h->end_ns = result->end_ns;
	h->arg.token = h->arg.flags & BFTM_FENCE ? result->token : 0;
	h->arg.attempts = result->attempts;
	bftm_handle_arm(h);
	bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM);
	trace_bftm_won(h);
	bftm_notify.event(h);
}

static void count_failed(struct bftm_local *local, int error)
{
	if (error == -EWOULDBLOCK)
		local->busy++;
	else if (error == -ETIMEDOUT)
		local->timeouts++;
	else
		local->failed++;
}

void bftm_handle_failed(struct bftm_handle *h, int error)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	count_failed(&h->bn->upcall->local, error);
	h->request = NULL;
	h->state = BFTM_STATE_FAILED;
	h->error = -error;
	trace_bftm_failed(h, h->error);
	bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM);
}

static bool is_pending(struct bftm_handle *h, u64 id)
{
	bool pending;

	spin_lock_bh(&h->bn->upcall->lock);
	pending = h->id == id && h->state == BFTM_STATE_PENDING;
	spin_unlock_bh(&h->bn->upcall->lock);
	return pending;
}

int bftm_handle_wait(struct bftm_handle *h, u64 id, struct bftm_acquire *ret)
{
	struct bftm_upcall *up = h->bn->upcall;
	struct bftm_burst burst __uninitialized;
	int err;

	err = wait_event_interruptible(h->wait, !is_pending(h, id));
	bftm_burst_lock(up, &burst);
	if (h->id != id) {
		/* Another thread released the handle, and it was used for another acquire since. */
		err = -ECANCELED;
		goto out;
	}
	bftm_handle_check(h);
	switch (h->state) {
	case BFTM_STATE_LOST:	/* won, and over before this task ran */
		ret->attempts += h->arg.attempts;
		err = -EKEYEXPIRED;
		break;
	case BFTM_STATE_HELD:
		ret->deadline_ns = h->arg.deadline_ns;
		ret->token = h->arg.token;
		ret->attempts += h->arg.attempts;
		bftm_handle_tell(h);
		err = 0;
		break;
	case BFTM_STATE_PENDING:
		bftm_handle_end(h);
		up->local.cancelled++;
		h->state = BFTM_STATE_IDLE;
		h->error = EINTR;
		trace_bftm_failed(h, EINTR);
		err = -EINTR;
		break;
	case BFTM_STATE_FAILED:
		h->state = BFTM_STATE_IDLE;
		err = -h->error;
		break;
	case BFTM_STATE_IDLE:	/* another thread released it meanwhile */
		err = -ECANCELED;
		break;
	}
out:
	bftm_burst_unlock(up, &burst);
	return err;
}

int bftm_handle_release(struct bftm_handle *h, u64 id)
{
	struct bftm_upcall *up = h->bn->upcall;
	enum bftm_state before;
	struct bftm_burst burst __uninitialized;
	int err = 0;

	bftm_burst_lock(up, &burst);
	if (id && h->id != id) {
		err = -ECANCELED;
		goto out;
	}
	bftm_handle_check(h);
	before = h->state;
	switch (before) {
	case BFTM_STATE_HELD:
	case BFTM_STATE_PENDING:
		give_back(h);
		break;
	case BFTM_STATE_LOST:
		err = -EKEYEXPIRED;
		break;
	case BFTM_STATE_IDLE:
	case BFTM_STATE_FAILED:
		err = -ENOLCK;
		break;
	}
	h->state = BFTM_STATE_IDLE;
	if (before != BFTM_STATE_IDLE)
		bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM);
out:
	bftm_burst_unlock(up, &burst);
	return err;
}

void bftm_handle_status(struct bftm_handle *h, struct bftm_status *ret)
{
	spin_lock_bh(&h->bn->upcall->lock);
	ret->remaining_ns = bftm_handle_check(h);
	if (bftm_handle_lasts(h))
		ret->remaining_ns = BFTM_LEASE_NONE;
	ret->state = h->state;
	ret->reason = h->reason;
	ret->error = h->error;
	if (h->state == BFTM_STATE_HELD || h->state == BFTM_STATE_LOST) {
		ret->deadline_ns = h->arg.deadline_ns;
		ret->token = h->arg.token;
		ret->attempts = h->arg.attempts;
		ret->mode = h->arg.mode;
	}
	spin_unlock_bh(&h->bn->upcall->lock);
}

void bftm_handle_why(struct bftm_handle *h, char text[BFTM_WHY_MAX])
{
	spin_lock_bh(&h->bn->upcall->lock);
	if (h->why)
		strscpy(text, h->why, BFTM_WHY_MAX);
	spin_unlock_bh(&h->bn->upcall->lock);
}

__poll_t bftm_handle_poll(struct bftm_handle *h)
{
	__poll_t events = 0;
	u64 left;

	spin_lock_bh(&h->bn->upcall->lock);
	left = bftm_handle_check(h);
	switch (h->state) {
	case BFTM_STATE_HELD:
		/* select() takes either for "readable", and must not end before the conversion. */
		if (!bftm_handle_converts(h) || h->conversion.waits)
			events = EPOLLIN | EPOLLRDNORM | (h->wanted ? EPOLLRDBAND : 0);
		if (bftm_handle_in_margin(h, left))
			events |= EPOLLPRI;
		break;
	case BFTM_STATE_LOST:
		events = EPOLLIN | EPOLLRDNORM | EPOLLHUP;
		break;
	case BFTM_STATE_FAILED:
		events = EPOLLIN | EPOLLRDNORM;
		break;
	case BFTM_STATE_IDLE:
	case BFTM_STATE_PENDING:
		break;
	}
	spin_unlock_bh(&h->bn->upcall->lock);
	return events;
}
