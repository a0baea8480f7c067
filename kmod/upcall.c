// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "debug.h"
#include "handle.h"
#include "netlink.h"
#include "upcall.h"

static struct bftm_net *net_of(struct bftm_upcall *up)
{
	return container_of(up, struct bftm_net, upcall);
}

static void request_free(struct bftm_upcall *up, struct bftm_request *request)
{
	lockdep_assert_held(&up->lock);
	up->count--;
	bftm_destroyed("request", request);
	kfree(request);
}

static void hint(struct bftm_net *bn)
{
	struct bftm_upcall *up = &bn->upcall;

	/* Without memory for it, the helper's own clock makes it look. */
	if (up->portid && !up->hinted && !list_empty(&up->queue))
		up->hinted = !bftm_netlink_hint(bn->net, up->portid);
}

/* No helper came back in time: nothing may hang. */
static enum hrtimer_restart grace_over(struct hrtimer *timer)
{
	struct bftm_upcall *up = container_of(timer, struct bftm_upcall, grace);
	struct bftm_request *request, *next;

	spin_lock(&up->lock);
	if (!up->portid) {
		up->deserted = true;
		list_for_each_entry_safe(request, next, &up->queue, list) {
			if (request->handle)
				bftm_handle_failed(request->handle, -ENOTCONN);
			list_del(&request->list);
			request_free(up, request);
		}
	}
	spin_unlock(&up->lock);
	return HRTIMER_NORESTART;
}

void bftm_upcall_init(struct bftm_upcall *up)
{
	spin_lock_init(&up->lock);
	up->deserted = true;
	INIT_LIST_HEAD(&up->queue);
	INIT_LIST_HEAD(&up->given);
	INIT_LIST_HEAD(&up->handles);
	hash_init(up->by_id);
	bftm_hrtimer_setup(&up->grace, grace_over, CLOCK_BOOTTIME,
			   HRTIMER_MODE_REL_SOFT);
}

void bftm_upcall_destroy(struct bftm_upcall *up)
{
	struct bftm_request *request, *next;

	/* No handle is open: what is left are ends that nobody pulled. */
	hrtimer_cancel(&up->grace);
	spin_lock_bh(&up->lock);
	list_for_each_entry_safe(request, next, &up->queue, list) {
		list_del(&request->list);
		request_free(up, request);
	}
	WARN_ON(!list_empty(&up->given) || !list_empty(&up->handles));
	spin_unlock_bh(&up->lock);
}

int bftm_upcall_submit(struct bftm_net *bn, struct bftm_request *request,
		       struct bftm_handle *handle)
{
	struct bftm_upcall *up = &bn->upcall;

	lockdep_assert_held(&up->lock);
	/* A helper that was there a moment ago may be about to come back. */
	if (up->deserted)
		return -ENOTCONN;
	if (up->count >= BFTM_REQUESTS_MAX)
		return -ENOBUFS;
	up->count++;
	request->id = ++up->next_id;
	request->kind = BFTMUTEX_REQUEST_KIND_ACQUIRE;
	request->handle = handle;
	list_add_tail(&request->list, &up->queue);
	bftm_created("request", request);
	hint(bn);
	return 0;
}

static bool is_given(const struct bftm_request *request)
{
	return !hlist_unhashed(&request->by_id);
}

void bftm_upcall_end(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_upcall *up = &bn->upcall;

	lockdep_assert_held(&up->lock);
	request->handle = NULL;
	if (is_given(request)) {
		hash_del(&request->by_id);
		list_del(&request->list);
		request->kind = BFTMUTEX_REQUEST_KIND_CANCEL;
	} else if (request->attempt) {
		request->kind = BFTMUTEX_REQUEST_KIND_RELEASE;
	} else {
		/* The helper never saw it. */
		list_del(&request->list);
		request_free(up, request);
		return;
	}
	if (up->deserted) {
		request_free(up, request);
		return;
	}
	list_add_tail(&request->list, &up->queue);
	hint(bn);
}

int bftm_upcall_register(struct bftm_net *bn, u32 portid)
{
	struct bftm_upcall *up = &bn->upcall;
	int err = -EBUSY;

	spin_lock_bh(&up->lock);
	if (!up->portid) {
		up->portid = portid;
		up->deserted = false;
		up->hinted = false;
		hint(bn);
		err = 0;
	}
	spin_unlock_bh(&up->lock);
	if (!err)
		hrtimer_try_to_cancel(&up->grace);
	return err;
}

/* What the helper had taken and not finished waits for the next one. */
static void take_back(struct bftm_upcall *up)
{
	struct bftm_request *request;

	list_for_each_entry(request, &up->given, list)
		hash_del(&request->by_id);
	list_splice_init(&up->given, &up->queue);
}

void bftm_upcall_deregister(struct bftm_net *bn, u32 portid)
{
	struct bftm_upcall *up = &bn->upcall;

	spin_lock_bh(&up->lock);
	if (up->portid == portid) {
		up->portid = 0;
		take_back(up);
		hrtimer_start(&up->grace, ns_to_ktime(BFTM_HELPER_GRACE_NS),
			      HRTIMER_MODE_REL_SOFT);
	}
	spin_unlock_bh(&up->lock);
}

int bftm_upcall_pull(struct bftm_net *bn, u32 portid,
		     int (*put)(const struct bftm_request *request, void *arg),
		     void *arg, u64 *ret_id)
{
	struct bftm_upcall *up = &bn->upcall;
	struct bftm_request *request;
	int err;

	spin_lock_bh(&up->lock);
	err = -EPERM;
	if (up->portid != portid)
		goto out;
	err = -ENODATA;
	request = list_first_entry_or_null(&up->queue, struct bftm_request,
					   list);
	if (!request) {
		up->hinted = false;
		goto out;
	}
	err = put(request, arg);
	if (err)
		goto out;
	*ret_id = request->id;
	list_del(&request->list);
	if (request->kind == BFTMUTEX_REQUEST_KIND_ACQUIRE) {
		list_add_tail(&request->list, &up->given);
		hash_add(up->by_id, &request->by_id, request->id);
	} else {
		request_free(up, request);
	}
out:
	spin_unlock_bh(&up->lock);
	return err;
}

static struct bftm_request *find_given(struct bftm_upcall *up, u64 id)
{
	struct bftm_request *request;

	hash_for_each_possible(up->by_id, request, by_id, id)
		if (request->id == id)
			return request;
	return NULL;
}

void bftm_upcall_unpull(struct bftm_net *bn, u64 id)
{
	struct bftm_upcall *up = &bn->upcall;
	struct bftm_request *request;

	spin_lock_bh(&up->lock);
	request = find_given(up, id);
	if (request) {
		hash_del(&request->by_id);
		list_move(&request->list, &up->queue);
	}
	spin_unlock_bh(&up->lock);
}

int bftm_upcall_done(struct bftm_net *bn, u32 portid,
		     const struct bftm_result *result)
{
	struct bftm_upcall *up = &bn->upcall;
	struct bftm_request *request;
	int err = 0;

	spin_lock_bh(&up->lock);
	if (up->portid != portid) {
		err = -EPERM;
		goto out;
	}
	request = find_given(up, result->id);
	if (!request) {
		err = -ESTALE;
		goto out;
	}
	hash_del(&request->by_id);
	list_del_init(&request->list);
	if (result->error) {
		bftm_handle_failed(request->handle, result->error);
		request_free(up, request);
	} else if (result->deadline_ns > ktime_get_boottime_ns()) {
		request->attempt = result->attempt;
		bftm_handle_won(request->handle, result);
	} else {
		list_add(&request->list, &up->queue);
		hint(net_of(up));
		err = -ESTALE;
	}
out:
	spin_unlock_bh(&up->lock);
	return err;
}
