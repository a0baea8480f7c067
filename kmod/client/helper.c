// SPDX-License-Identifier: GPL-2.0
/* The helper's side of the upcall: it registers, pulls, reports and ends. */
#include <linux/siphash.h>

#include "client/handle.h"
#include "client/request.h"
#include "client/session.h"
#include "client/submit.h"
#include "debug.h"
#include "netns.h"
#include "notify.h"
#include "time/clock.h"

/* Numbers are consecutive: without a secret, a program could keep only those of one chain. */
static u64 id_key(const struct bftm_upcall *up, u64 id)
{
	return siphash_1u64(id, &up->secret);
}

/* struct adopted - held locks that the previous helper knew of: to be renewed or not */
struct adopted {
	struct list_head renew;
	struct list_head keep;
};

/* A lock that the kernel won by itself stays the kernel's: this helper lends another line. */
static int helper_adopt(struct bftm_handle *h, void *arg)
{
	struct adopted *adopted = arg;

	if (h->state == BFTM_STATE_HELD && !h->request->fast) {
		bftm_request_mark_held(h->request);
		list_move_tail(&h->request->list,
			       h->request->kind == BFTMUTEX_REQUEST_KIND_HELD ?
			       &adopted->keep : &adopted->renew);
	}
	return 0;
}

/* The requests of the previous pull are done. */
static void end_last(struct bftm_upcall *up)
{
	if (up->ending)
		bftm_request_free(up, up->ending);
	up->ending = NULL;
}

int bftm_upcall_register(struct bftm_net *bn, u32 portid)
{
	struct bftm_upcall *up = bn->upcall;
	struct adopted adopted;
	unsigned long at = 0;
	int err = bftm_upcall_prepare(up);

	if (err)
		return err;

	INIT_LIST_HEAD(&adopted.renew);
	INIT_LIST_HEAD(&adopted.keep);
	/* With this mutex, all that the previous helper leaves is in the queue. */
	mutex_lock(&bn->session_mutex);
	spin_lock_bh(&up->lock);
	if (up->portid || up->silent) {
		err = -EBUSY;
	} else if (up->forked) {
		/* The helper that gets this error registers again, with other numbers. */
		up->forked = false;
		err = -ESTALE;
	}
	if (err) {
		spin_unlock_bh(&up->lock);
		mutex_unlock(&bn->session_mutex);
		return err;
	}
	up->portid = portid;
	up->helper++;
	up->deserted = false;
	up->hinted = false;
	/* The timer goes on: when it fires, orphans end that this helper has not lent. */
	/*
	 * Other code runs between two pieces, and may end a request in a list: it becomes a RELEASE
	 * there, or leaves the list. The socket is in use here, so it is not deregistered.
	 */
	while (bftm_handles_walk(up, &at, helper_adopt, &adopted)) {
		spin_unlock_bh(&up->lock);
		cond_resched();
		spin_lock_bh(&up->lock);
	}
	/*
	 * Before all that waits, since these leases run; the leases that are not renewed end
	 * anyway.
	 */
	list_splice(&adopted.keep, &up->queue);
	list_splice_tail_init(&up->owed, &up->queue);
	list_splice(&adopted.renew, &up->queue);
	bftm_upcall_hint(bn);
	spin_unlock_bh(&up->lock);
	mutex_unlock(&bn->session_mutex);
	return 0;
}

/* Requests that are handled in one hold of the lock. */
#define TAKE_BATCH 64

/*
 * Requests that the helper had taken and not finished wait for the next helper, except operations
 * that may have been applied.
 */
static void take_back(struct bftm_upcall *up)
{
	struct bftm_request *request;
	unsigned int i;
	LIST_HEAD(back);

	spin_lock_bh(&up->lock);
	/* Others run between two pieces, and may end what is in either list: it leaves that. */
	while (!list_empty(&up->given)) {
		for (i = 0; i < TAKE_BATCH && !list_empty(&up->given); i++) {
			request = list_first_entry(&up->given, struct bftm_request, list);
			hash_del(&request->by_id);
			list_move_tail(&request->list, &back);
			if (!request->submission)
				continue;
			list_del(&request->list);
			bftm_request_failed(up, request, -EOWNERDEAD);
		}
		spin_unlock_bh(&up->lock);
		cond_resched();
		spin_lock_bh(&up->lock);
	}
	list_splice(&back, &up->queue);
	/* Without a helper, only requests of programs are added any more. */
	hrtimer_start(&up->grace, ns_to_ktime(BFTM_HELPER_GRACE_NS), HRTIMER_MODE_REL_SOFT);
	spin_unlock_bh(&up->lock);
}

void bftm_upcall_deregister(struct bftm_net *bn, u32 portid)
{
	struct bftm_upcall *up = bn->upcall;
	bool was;

	/* A process whose socket is being closed does not become the helper. */
	if (!portid || READ_ONCE(up->portid) != portid)
		return;
	mutex_lock(&bn->session_mutex);
	spin_lock_bh(&up->lock);
	was = up->portid == portid;
	if (was) {
		up->portid = 0;
		up->orphaned = false;
		/* If grace_over() waits for the lock just now, it sees that the timer is armed. */
		hrtimer_start(&up->grace, ns_to_ktime(BFTM_HELPER_GRACE_NS),
			      HRTIMER_MODE_REL_SOFT);
		end_last(up);
	}
	spin_unlock_bh(&up->lock);
	if (was) {
		bftm_sessions_orphaned(bn);
		take_back(up);
	}
	mutex_unlock(&bn->session_mutex);
}

/* The helper goes, if there is one, and all sessions are over, also those of helpers before. */
static void helper_end(struct bftm_net *bn, u32 portid)
{
	bftm_upcall_deregister(bn, portid);
	bftm_session_revoke(bn, NULL, 0);
}

static int lose(struct bftm_handle *h, void *arg)
{
	const enum bftm_lost *why = arg;

	/* A sleep ends leases, since their clock may be wrong afterwards. */
	if (*why != BFTM_LOST_SUSPENDED || !bftm_handle_lasts(h))
		bftm_handle_lose(h, *why);
	return 0;
}

static void lose_all(struct bftm_upcall *up, enum bftm_lost why)
{
	unsigned long at = 0;

	while (bftm_handles_walk(up, &at, lose, &why)) {
		spin_unlock_bh(&up->lock);
		cond_resched();
		spin_lock_bh(&up->lock);
	}
}

/* A RELEASE that waits to be pulled is not sent to any server any more. */
static void drop_releases(struct bftm_upcall *up)
{
	struct bftm_request *request;
	LIST_HEAD(rest);
	LIST_HEAD(all);
	unsigned int i;

	/* Others run between two pieces, and may end what is in either list: it leaves that. */
	list_splice_init(&up->queue, &all);
	list_splice_tail_init(&up->owed, &all);
	while (!list_empty(&all)) {
		for (i = 0; i < TAKE_BATCH && !list_empty(&all); i++) {
			request = list_first_entry(&all, struct bftm_request, list);
			list_move_tail(&request->list, &rest);
			if (request->kind != BFTMUTEX_REQUEST_KIND_RELEASE)
				continue;
			list_del(&request->list);
			bftm_request_free(up, request);
		}
		spin_unlock_bh(&up->lock);
		cond_resched();
		spin_lock_bh(&up->lock);
	}
	list_splice(&rest, &up->queue);
}

void bftm_upcall_forked(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;
	u32 portid;

	spin_lock_bh(&up->lock);
	up->silent = true;
	portid = up->portid;
	spin_unlock_bh(&up->lock);
	helper_end(bn, portid);
	spin_lock_bh(&up->lock);
	lose_all(up, BFTM_LOST_RESTORED);
	drop_releases(up);
	up->silent = false;
	up->forked = true;
	spin_unlock_bh(&up->lock);
	/* The grace may have ended while requests were out of the queue. */
	bftm_upcall_resume(bn);
	/* Without the hint it pulls within a second. */
	if (portid)
		bftm_notify.hint(bn->net, portid, BFTMUTEX_CMD_HELPER_READY);
}

int bftm_upcall_suspend(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;
	u32 portid = READ_ONCE(up->portid);

	/* Without a helper and its session, no lock can be won. */
	helper_end(bn, portid);
	/*
	 * The process pulls at once, and finds that it is not the helper any more. If its socket is
	 * full, it has messages to read in any case; if it is gone, it need not know.
	 */
	if (portid && bftm_notify.hint(bn->net, portid, BFTMUTEX_CMD_HELPER_READY) == -ENOMEM)
		return -ENOMEM;
	spin_lock_bh(&up->lock);
	/* The time asleep does not count against the next helper; see bftm_upcall_resume(). */
	hrtimer_try_to_cancel(&up->grace);
	lose_all(up, BFTM_LOST_SUSPENDED);
	spin_unlock_bh(&up->lock);
	return 0;
}

void bftm_upcall_resume(struct bftm_net *bn)
{
	struct bftm_upcall *up = bn->upcall;

	spin_lock_bh(&up->lock);
	/* If the grace was over, there may be more requests to end. */
	if (!up->portid)
		hrtimer_start(&up->grace, ns_to_ktime(up->deserted ? 0 : BFTM_HELPER_GRACE_NS),
			      HRTIMER_MODE_REL_SOFT);
	spin_unlock_bh(&up->lock);
}

int bftm_upcall_pull(struct bftm_net *bn, u32 portid,
		     int (*give)(const struct bftm_request *request, void *arg),
		     void *arg)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_request *request;
	int err;

	spin_lock_bh(&up->lock);
	err = -EPERM;
	if (up->portid != portid)
		goto out;
	end_last(up);
	err = -ENODATA;
	request = list_first_entry_or_null(&up->queue, struct bftm_request,
					   list);
	if (!request) {
		up->hinted = false;
		goto out;
	}
	request = bftm_local_pull(up, request);
	/* Before the request changes, so a request that did not reach the helper is not lost. */
	err = give(request, arg);
	if (err)
		goto out;
	list_del_init(&request->list);
	if (request->value)
		request->value->leaves = false;
	switch (request->kind) {
	case BFTMUTEX_REQUEST_KIND_ACQUIRE:
	case BFTMUTEX_REQUEST_KIND_EXPIRED:
	case BFTMUTEX_REQUEST_KIND_SUBMIT:
		list_add_tail(&request->list, &up->given);
		hash_add(up->tables->by_id, &request->by_id, id_key(up, request->id));
		break;
	case BFTMUTEX_REQUEST_KIND_RENEW:	/* its handle's, as before */
	case BFTMUTEX_REQUEST_KIND_HELD:
	case BFTMUTEX_REQUEST_KIND_CONVERT:
		break;
	case BFTMUTEX_REQUEST_KIND_CANCEL:
	case BFTMUTEX_REQUEST_KIND_RELEASE:
	case BFTMUTEX_REQUEST_KIND_WITHDRAW:
	case BFTMUTEX_REQUEST_KIND_LOST:
		up->ending = request;
		break;
	}
out:
	spin_unlock_bh(&up->lock);
	return err;
}

static struct bftm_request *helper_find(struct bftm_upcall *up, u64 id)
{
	struct bftm_request *request;

	hash_for_each_possible(up->tables->by_id, request, by_id, id_key(up, id))
		if (request->id == id)
			return request;
	return NULL;
}

/* Fields that were left to defaults keep the defaults of that time, also when these change. */
static void resolve(struct bftm_acquire *arg, const struct bftm_result *result)
{
	if (result->lease_ns)
		arg->lease_ns = result->lease_ns;
	if (result->cluster[0])
		memcpy(arg->cluster, result->cluster, BFTM_CLUSTER_MAX);
}

void bftm_upcall_won(struct bftm_net *bn, struct bftm_request *request,
		     const struct bftm_result *result)
{
	lockdep_assert_held(&bn->upcall->lock);
	request->attempt = result->attempt;
	request->sends = result->sends;
	request->configuration = result->configuration;
	resolve(&request->arg, result);
	resolve(&request->handle->arg, result);
	bftm_held_value_told(request, &result->value);
	if (hlist_unhashed(&request->by_id))
		hash_add(bn->upcall->tables->by_id, &request->by_id,
			 id_key(bn->upcall, request->id));
	bftm_handle_won(request->handle, result);
}

/*
 * An older helper does not know BFTM_NO_LEASE. It gives the lock back when its report is refused,
 * and reports no more.
 */
static bool has_the_end_asked_for(const struct bftm_request *request,
				  const struct bftm_result *result)
{
	return !(request->arg.flags & BFTM_NO_LEASE) == (result->end_ns != BFTM_LEASE_NONE);
}

int bftm_upcall_done(struct bftm_net *bn, u32 portid,
		     struct bftm_result *result)
{
	static const char other_version[] =
		"bftmutexd is of another version than the kernel module; restart bftmutexd";
	struct bftm_upcall *up = bn->upcall;
	struct bftm_request *request;
	int err = 0;

	spin_lock_bh(&up->lock);
	if (up->portid != portid) {
		err = -EPERM;
		goto out;
	}
	request = helper_find(up, result->id);
	if (!request || !request->handle || !bftm_request_is_given(request)) {
		err = -ESTALE;
		goto out;
	}
	if (!result->error && request->arg.flags & BFTM_FENCE && !result->token) {
		err = -EINVAL;
		goto out;
	}
	if (!result->error && !has_the_end_asked_for(request, result)) {
		err = -ERANGE;
		result->error = -EPROTONOSUPPORT;
		/* Without memory for the words the program gets only the error. */
		result->why = kstrdup(other_version, GFP_ATOMIC);
	}
	list_del_init(&request->list);
	if (result->error) {
		hash_del(&request->by_id);
		swap(request->handle->why, result->why);
		bftm_request_failed(up, request, result->error);
	} else if (bftm_clock_left(result->deadline_ns, result->end_ns) > 0) {
		bftm_upcall_won(bn, request, result);
	} else {
		hash_del(&request->by_id);
		list_add(&request->list, &up->queue);
		bftm_upcall_hint(up->bn);
		err = -ESTALE;
	}
out:
	spin_unlock_bh(&up->lock);
	return err;
}

int bftm_upcall_submitted(struct bftm_net *bn, u32 portid,
			  const struct bftm_submitted *answer)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_request *request;
	int err = -EPERM;

	spin_lock_bh(&up->lock);
	if (up->portid != portid)
		goto out;
	err = -ESTALE;
	request = helper_find(up, answer->id);
	if (!request || !request->submission)
		goto out;
	hash_del(&request->by_id);
	list_del(&request->list);
	bftm_submit_answered(request->submission, answer);
	bftm_request_free(up, request);
	err = 0;
out:
	spin_unlock_bh(&up->lock);
	return err;
}

/*
 * The handle that holds a lock by this request of the helper; @sends are noted. Return: NULL if no
 * handle does any more. Of a lock that the kernel took by itself, the attempt knows the end, and
 * nobody may tell another end.
 */
static struct bftm_handle *holder_of(struct bftm_upcall *up, u64 id, u32 sends)
{
	struct bftm_request *request = helper_find(up, id);
	struct bftm_handle *h;

	if (!request || request->fast || !bftm_request_is_held(request))
		return NULL;
	/* Too late? Then this ends lease and request. */
	h = request->handle;
	bftm_handle_check(h);
	if (h->request != request)
		return NULL;
	request->sends = max(request->sends, sends);
	return h;
}

int bftm_upcall_renewed(struct bftm_net *bn, u32 portid, u64 id,
			u64 deadline_ns, u64 end_ns, u32 sends)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_handle *h;
	int err = -EPERM;

	spin_lock_bh(&up->lock);
	if (up->portid == portid) {
		h = holder_of(up, id, sends);
		err = h ? bftm_handle_renewed(h, deadline_ns, end_ns) : -ESTALE;
	}
	spin_unlock_bh(&up->lock);
	return err;
}

int bftm_upcall_converted(struct bftm_net *bn, u32 portid, const struct bftm_converted *result)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_handle *h;
	int err = -EPERM;

	spin_lock_bh(&up->lock);
	if (up->portid == portid) {
		h = holder_of(up, result->id, result->sends);
		err = h ? bftm_handle_converted(h, result) : -ESTALE;
	}
	spin_unlock_bh(&up->lock);
	return err;
}

int bftm_upcall_wanted(struct bftm_net *bn, u32 portid, u64 id, u32 mode)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_handle *h;
	int err = -EPERM;

	spin_lock_bh(&up->lock);
	if (up->portid == portid) {
		h = holder_of(up, id, 0);
		err = h ? bftm_handle_wanted(h, mode) : -ESTALE;
	}
	spin_unlock_bh(&up->lock);
	return err;
}

int bftm_upcall_evicted(struct bftm_net *bn, u32 portid, u64 id)
{
	struct bftm_upcall *up = bn->upcall;
	struct bftm_handle *h;
	int err = -EPERM;

	spin_lock_bh(&up->lock);
	if (up->portid == portid) {
		h = holder_of(up, id, 0);
		err = !h ? -ESTALE : bftm_handle_lasts(h) ? 0 : -EINVAL;
		if (!err)
			bftm_handle_lose(h, BFTM_LOST_EVICTED);
	}
	spin_unlock_bh(&up->lock);
	return err;
}

bool bftm_upcall_is_helper(struct bftm_net *bn, u32 portid)
{
	bool is_helper;

	spin_lock_bh(&bn->upcall->lock);
	is_helper = bn->upcall->portid == portid;
	spin_unlock_bh(&bn->upcall->lock);
	return is_helper;
}
