// SPDX-License-Identifier: GPL-2.0
/*
 * Renewal: the helper makes what a handle holds last longer, because the program
 * asked for it once (BFTM_IOC_RENEW) or for good (BFTM_RENEW).
 *
 * A lease that is over stays over: the deadline moves only while the clock has
 * not passed the old one, and only away.
 */
#include <linux/poll.h>

#include "client/burst.h"
#include "client/handle.h"
#include "client/trace.h"
#include "netns.h"
#include "notify.h"
#include "time/clock.h"
#include "time/sleep.h"

bool bftm_handle_is_renewed(const struct bftm_handle *h)
{
	return h->state == BFTM_STATE_HELD &&
	       (h->renewing || h->arg.flags & BFTM_RENEW);
}

static int renewal_begin(struct bftm_handle *h, u64 lease_ns, struct bftm_renewal *ret)
{
	int err = bftm_handle_holding(h);
	bool before = h->renewing;

	if (err)
		return err;
	if (bftm_handle_lasts(h) || (lease_ns && lease_ns != h->arg.lease_ns))
		return -EINVAL;
	/* The kernel may find that the lease is over just now: it was to be renewed. */
	h->renewing = true;
	err = bftm_upcall_renew(h->bn, h->request);
	if (err) {
		h->renewing = before;
		return err;
	}
	ret->id = h->id;
	ret->deadline_ns = h->arg.deadline_ns;
	ret->end_ns = h->end_ns;
	return 0;
}

int bftm_handle_renew(struct bftm_handle *h, u64 lease_ns,
		      struct bftm_renewal *ret)
{
	struct bftm_upcall *up = h->bn->upcall;
	struct bftm_burst burst __uninitialized;
	int err;

	bftm_burst_lock(up, &burst);
	err = renewal_begin(h, lease_ns, ret);
	bftm_burst_unlock(up, &burst);
	return err;
}

/** struct waiting - for a renewal */
struct waiting {
	struct bftm_handle *h;
	const struct bftm_renewal *renewal;
	u64 *ret_deadline_ns;
};

/* Returns the result of a renewal; -EINPROGRESS while it is not decided. */
static int renewal_outcome(void *arg)
{
	const struct waiting *w = arg;
	struct bftm_handle *h = w->h;
	int err = -ECANCELED;	/* another thread released it meanwhile */

	spin_lock_bh(&h->bn->upcall->lock);
	bftm_handle_check(h);
	if (h->id != w->renewal->id)
		goto out;
	if (h->state == BFTM_STATE_LOST) {
		err = -EKEYEXPIRED;
	} else if (h->state == BFTM_STATE_HELD) {
		if (h->arg.deadline_ns > w->renewal->deadline_ns ||
		    h->end_ns > w->renewal->end_ns) {
			*w->ret_deadline_ns = h->arg.deadline_ns;
			err = 0;
		} else {
			err = h->bn->upcall->deserted ? -ENOTCONN : -EINPROGRESS;
		}
	}
out:
	spin_unlock_bh(&h->bn->upcall->lock);
	return err;
}

int bftm_handle_renew_wait(struct bftm_handle *h,
			   const struct bftm_renewal *renewal, u64 timeout_ns,
			   u64 *ret_deadline_ns)
{
	struct waiting w = {
		.h = h,
		.renewal = renewal,
		.ret_deadline_ns = ret_deadline_ns,
	};

	return bftm_sleep(bftm_handle_place(h), timeout_ns ? bftm_sleep_until(timeout_ns) : 0,
			  renewal_outcome, &w);
}

int bftm_handle_renewed(struct bftm_handle *h, u64 deadline_ns, u64 end_ns)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	/* A lock has a lease for good, or none. */
	if (bftm_handle_lasts(h) || deadline_ns == BFTM_LEASE_NONE || end_ns == BFTM_LEASE_NONE)
		return -EALREADY;
	/* The same end is another deadline each time, by a little. */
	if (end_ns ? end_ns <= h->end_ns : deadline_ns <= h->arg.deadline_ns)
		return -EALREADY;
	h->arg.deadline_ns = max_t(u64, h->arg.deadline_ns, deadline_ns);
	h->end_ns = max(h->end_ns, end_ns ?: bftm_clock_end(deadline_ns));
	h->renewing = false;
	h->bn->upcall->local.renewed++;
	/* A program in a margin that is longer than the lease was warned already. */
	if (!bftm_handle_in_margin(h, bftm_clock_left(h->arg.deadline_ns, h->end_ns)))
		h->warned = false;
	bftm_handle_arm(h);
	/* Wakes waiters for a renewal, and is an edge for epoll. */
	bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM);
	trace_bftm_renewed(h);
	bftm_notify.renewed(h);
	return 0;
}

void bftm_handle_deserted(struct bftm_handle *h)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	if (bftm_handle_converts(h))
		bftm_handle_convert_failed(h, -ENOTCONN);
	if (h->state == BFTM_STATE_HELD && h->renewing)
		bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM);
}
