// SPDX-License-Identifier: GPL-2.0
/* The device's side of the upcall: requests come, are renewed and end. */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "client/fast.h"
#include "client/handle.h"
#include "client/request.h"
#include "client/session.h"
#include "client/submit.h"
#include "compat.h"
#include "debug.h"
#include "netns.h"
#include "notify.h"

void bftm_request_free(struct bftm_upcall *up, struct bftm_request *request)
{
	lockdep_assert_held(&up->lock);
	up->count--;
	bftm_local_leave(request);
	bftm_destroyed("request", request);
	bftm_request_discard(request);
}

void bftm_request_failed(struct bftm_upcall *up, struct bftm_request *request, int error)
{
	struct bftm_submitted answer = { .error = error };

	if (request->handle)
		bftm_handle_failed(request->handle, error);
	if (request->submission)
		bftm_submit_answered(request->submission, &answer);
	bftm_request_free(up, request);
}

void bftm_upcall_hint(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;

	/* Without memory for it, the helper's own clock makes it look. */
	if (up->portid && !up->hinted && !list_empty(&up->queue))
		up->hinted = !bftm_notify.hint(bn->net, up->portid,
						BFTMUTEX_CMD_HELPER_READY);
}

/* Ended in one run of the timer, or hold of the lock; then others may run. */
#define GRACE_BATCH	64
#define GRACE_PAUSE_NS	(100 * BFTM_NS_PER_US)

static int desert(struct bftm_handle *h, void *arg)
{
	bftm_handle_deserted(h);
	return 0;
}

/* No helper came back in time: nothing may hang. */
static enum hrtimer_restart grace_over(struct hrtimer *timer)
{
	struct bftm_upcall *up = container_of(timer, struct bftm_upcall, grace);
	struct bftm_request *request;
	unsigned int i;
	bool more;

	spin_lock(&up->lock);
	/* A helper came and went meanwhile, and has armed the timer anew. */
	if (hrtimer_is_queued(timer))
		goto out;
	/* Also when a helper has come that does not lend what the one before did. */
	up->orphaned = true;
	bftm_sessions_look(up);
	if (up->portid)
		goto out;
	if (!up->deserted)
		up->told = 0;
	up->deserted = true;
	more = bftm_handles_walk(up, &up->told, desert, NULL);
	for (i = 0; i < GRACE_BATCH && !list_empty(&up->queue); i++) {
		request = list_first_entry(&up->queue, struct bftm_request, list);
		list_del_init(&request->list);
		if (bftm_request_is_held(request))
			continue;		/* it is its handle's */
		if (bftm_request_lasts(request))
			list_add_tail(&request->list, &up->owed);
		else
			bftm_request_failed(up, request, -ENOTCONN);
	}
	if (more || !list_empty(&up->queue))
		hrtimer_start(timer, ns_to_ktime(GRACE_PAUSE_NS), HRTIMER_MODE_REL_SOFT);
out:
	spin_unlock(&up->lock);
	return HRTIMER_NORESTART;
}

void bftm_upcall_desert(struct bftm_upcall *up)
{
	spin_lock_bh(&up->lock);
	if (up->deserted && !list_empty(&up->queue))
		hrtimer_start(&up->grace, 0, HRTIMER_MODE_REL_SOFT);
	spin_unlock_bh(&up->lock);
}

void bftm_upcall_init(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;

	up->bn = bn;
	spin_lock_init(&up->lock);
	up->deserted = true;
	INIT_LIST_HEAD(&up->queue);
	INIT_LIST_HEAD(&up->owed);
	INIT_LIST_HEAD(&up->given);
	xa_init_flags(&up->handles, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	get_random_bytes(&up->secret, sizeof(up->secret));
	INIT_LIST_HEAD(&up->sessions);
	bftm_alarms_init(&up->alarms, &up->lock, bftm_handle_ring);
	INIT_WORK(&up->orphans, bftm_sessions_work);
	bftm_hrtimer_setup(&up->grace, grace_over, CLOCK_BOOTTIME,
			   HRTIMER_MODE_REL_SOFT);
}

/*
 * Lifetime of the tables: what is in them is a handle's, or was given to a helper, or is a
 * session's, which a helper lent. So nobody looks in them before the first handle or helper, for
 * which they are made, and they stay until the namespace's end, when all of these are gone.
 */
int bftm_upcall_prepare(struct bftm_upcall *up)
{
	struct bftm_tables *tables;

	/* A caller that sees them goes on to take the lock. */
	if (READ_ONCE(up->tables))
		return 0;
	tables = kvzalloc(sizeof(*tables), GFP_KERNEL_ACCOUNT);
	if (!tables)
		return -ENOMEM;
	spin_lock_bh(&up->lock);
	if (!up->tables) {
		bftm_created("tables", tables);
		swap(up->tables, tables);
	}
	spin_unlock_bh(&up->lock);
	/* Another was faster. */
	kvfree(tables);
	return 0;
}

void bftm_upcall_destroy(struct bftm_upcall *up)
{
	struct bftm_request *request;
	unsigned int i;
	bool more;

	/*
	 * No helper is there, no session, so the timer does not queue the work any more, and no
	 * handle. Only ends of requests are left, which nobody pulled.
	 */
	cancel_work_sync(&up->orphans);
	hrtimer_cancel(&up->grace);
	bftm_alarms_stop(&up->alarms);
	do {
		spin_lock_bh(&up->lock);
		if (up->ending)
			bftm_request_free(up, up->ending);
		up->ending = NULL;
		list_splice_init(&up->owed, &up->queue);
		for (i = 0; i < GRACE_BATCH && !list_empty(&up->queue); i++) {
			request = list_first_entry(&up->queue, struct bftm_request, list);
			list_del(&request->list);
			bftm_request_free(up, request);
		}
		more = !list_empty(&up->queue);
		spin_unlock_bh(&up->lock);
		cond_resched();
	} while (more);
	WARN_ON(!list_empty(&up->given) || !xa_empty(&up->handles));
	if (up->tables)
		bftm_destroyed("tables", up->tables);
	kvfree(up->tables);
	up->tables = NULL;
}

void bftm_request_mark_held(struct bftm_request *request)
{
	struct bftm_handle *h = request->handle;

	/* The helper is still to be told which mode it has. */
	if (request->kind == BFTMUTEX_REQUEST_KIND_CONVERT && !list_empty(&request->list))
		return;
	if (bftm_handle_converts(h))
		request->kind = BFTMUTEX_REQUEST_KIND_CONVERT;
	else
		request->kind = bftm_handle_is_renewed(h) ? BFTMUTEX_REQUEST_KIND_RENEW :
							    BFTMUTEX_REQUEST_KIND_HELD;
}

void bftm_upcall_held(struct bftm_net *bn, struct bftm_request *request)
{
	bftm_request_mark_held(request);
	bftm_local_entrust(bn, request);
}

void bftm_upcall_requeue(struct bftm_net *bn, struct bftm_request *request)
{
	bftm_fast_discard(request->spare);
	request->spare = NULL;
	list_add_tail(&request->list, &bn->upcall->queue);
	bftm_upcall_hint(bn);
}

int bftm_upcall_add(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_upcall *up = bn->upcall;

	lockdep_assert_held(&up->lock);
	/* A helper that was there a moment ago may be about to come back. */
	if (up->deserted)
		return -ENOTCONN;
	if (up->count >= BFTM_REQUESTS_MAX)
		return -ENOBUFS;
	up->count++;
	request->id = ++up->next_id;
	INIT_LIST_HEAD(&request->list);
	INIT_LIST_HEAD(&request->same);
	bftm_created("request", request);
	if (request->submission)
		bftm_upcall_requeue(bn, request);
	else
		bftm_local_join(bn, request);
	return 0;
}

/* Of what is held. */
static int ask_helper(struct bftm_net *bn, struct bftm_request *request, u32 kind)
{
	struct bftm_upcall *up = bn->upcall;
	bool queued;

	lockdep_assert_held(&up->lock);
	if (up->deserted)
		return -ENOTCONN;
	if (request->fast) {
		bftm_fast_leave(request);
		request->kind = kind;
		bftm_local_entrust(bn, request);
		return 0;
	}
	queued = !list_empty(&request->list);
	/* A conversion renews as well. */
	if (!queued || request->kind != BFTMUTEX_REQUEST_KIND_CONVERT)
		request->kind = kind;
	if (!queued)
		bftm_upcall_requeue(bn, request);
	return 0;
}

int bftm_upcall_renew(struct bftm_net *bn, struct bftm_request *request)
{
	if (request->fast) {
		bftm_fast_renew(request);
		return 0;
	}
	return ask_helper(bn, request, BFTMUTEX_REQUEST_KIND_RENEW);
}

int bftm_upcall_convert(struct bftm_net *bn, struct bftm_request *request)
{
	return ask_helper(bn, request, BFTMUTEX_REQUEST_KIND_CONVERT);
}

void bftm_upcall_end(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_upcall *up = bn->upcall;

	lockdep_assert_held(&up->lock);
	if (request->fast) {
		bftm_fast_end(request);
		hash_del(&request->by_id);
		bftm_local_end(bn, request);
		return;
	}
	if (bftm_request_is_given(request)) {
		hash_del(&request->by_id);
		list_del_init(&request->list);
		request->kind = request->submission ? BFTMUTEX_REQUEST_KIND_WITHDRAW :
						      BFTMUTEX_REQUEST_KIND_CANCEL;
	} else if (request->attempt) {
		hash_del(&request->by_id);
		/* In place, when a RENEW or HELD waits: it is pulled no later. */
		request->kind = BFTMUTEX_REQUEST_KIND_RELEASE;
	} else {
		/* The helper never saw it. */
		list_del(&request->list);
		bftm_request_free(up, request);
		return;
	}
	request->handle = NULL;
	request->submission = NULL;
	if (up->deserted && !up->silent && bftm_request_lasts(request)) {
		list_move_tail(&request->list, &up->owed);
		return;
	}
	if (up->deserted || up->silent) {
		list_del(&request->list);
		bftm_request_free(up, request);
		return;
	}
	if (list_empty(&request->list))
		list_add_tail(&request->list, &up->queue);
	bftm_upcall_hint(bn);
}
