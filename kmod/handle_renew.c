// SPDX-License-Identifier: GPL-2.0
/*
 * Renewal: the helper makes what a handle holds last longer, because the program
 * asked for it once (BFTM_IOC_RENEW) or for good (BFTM_RENEW).
 *
 * A lease that is over stays over: the deadline moves only while the clock has
 * not passed the old one, and only away.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/timekeeping.h>

#include "handle.h"
#include "netlink.h"
#include "trace.h"

bool bftm_handle_is_renewed(const struct bftm_handle *h)
{
	return h->state == BFTM_STATE_HELD &&
	       (h->renewing || h->arg.flags & BFTM_RENEW);
}

static int begin(struct bftm_handle *h, u64 lease_ns, struct bftm_renewal *ret)
{
	int err;

	bftm_handle_check(h, ktime_get_boottime_ns());
	if (h->state == BFTM_STATE_LOST)
		return -EKEYEXPIRED;
	if (h->state != BFTM_STATE_HELD)
		return -ENOLCK;
	if (lease_ns && lease_ns != h->arg.lease_ns)
		return -EINVAL;
	err = bftm_upcall_renew(h->bn, h->request);
	if (err)
		return err;
	h->renewing = true;
	ret->id = h->id;
	ret->deadline_ns = h->arg.deadline_ns;
	return 0;
}

int bftm_handle_renew(struct bftm_handle *h, u64 lease_ns,
		      struct bftm_renewal *ret)
{
	int err;

	spin_lock_bh(&h->bn->upcall.lock);
	err = begin(h, lease_ns, ret);
	spin_unlock_bh(&h->bn->upcall.lock);
	return err;
}

/* What became of a renewal; -EINPROGRESS while it is not decided. */
static int outcome(struct bftm_handle *h, const struct bftm_renewal *renewal,
		   u64 *ret_deadline_ns)
{
	int err = -ECANCELED;	/* another thread released it meanwhile */

	spin_lock_bh(&h->bn->upcall.lock);
	bftm_handle_check(h, ktime_get_boottime_ns());
	if (h->id != renewal->id)
		goto out;
	if (h->state == BFTM_STATE_LOST) {
		err = -EKEYEXPIRED;
	} else if (h->state == BFTM_STATE_HELD) {
		if (h->arg.deadline_ns > renewal->deadline_ns) {
			*ret_deadline_ns = h->arg.deadline_ns;
			err = 0;
		} else {
			err = h->bn->upcall.deserted ? -ENOTCONN : -EINPROGRESS;
		}
	}
out:
	spin_unlock_bh(&h->bn->upcall.lock);
	return err;
}

int bftm_handle_renew_wait(struct bftm_handle *h,
			   const struct bftm_renewal *renewal, u64 timeout_ns,
			   u64 *ret_deadline_ns)
{
	ktime_t until = ktime_add_safe(ktime_get_boottime(),
				       min_t(u64, timeout_ns, KTIME_MAX / 4));
	ktime_t *expires = timeout_ns ? &until : NULL;
	struct wait_queue_entry entry;
	bool timed_out = false;
	int err, interrupted;

	init_wait_entry(&entry, 0);
	for (;;) {
		interrupted = prepare_to_wait_event(&h->wait, &entry,
						    TASK_INTERRUPTIBLE);
		err = outcome(h, renewal, ret_deadline_ns);
		if (err != -EINPROGRESS)
			break;
		if (interrupted || timed_out) {
			err = interrupted ? -EINTR : -ETIMEDOUT;
			break;
		}
		/* By the clock of leases, which wait_event_*() cannot. */
		timed_out = !schedule_hrtimeout_range_clock(expires, 0,
							    HRTIMER_MODE_ABS,
							    CLOCK_BOOTTIME);
	}
	finish_wait(&h->wait, &entry);
	return err;
}

int bftm_handle_renewed(struct bftm_handle *h, u64 deadline_ns)
{
	lockdep_assert_held(&h->bn->upcall.lock);
	if (deadline_ns <= h->arg.deadline_ns)
		return -EALREADY;
	h->arg.deadline_ns = deadline_ns;
	h->renewing = false;
	/* Who is in a margin that is longer than the lease knows it. */
	if (!bftm_handle_in_margin(h, ktime_get_boottime_ns()))
		h->warned = false;
	bftm_handle_arm(h);
	/* Wakes waiters for a renewal, and is an edge for epoll. */
	wake_up_poll(&h->wait, EPOLLIN | EPOLLRDNORM);
	trace_bftm_renewed(h);
	bftm_netlink_renew_event(h);
	return 0;
}

void bftm_handle_deserted(struct bftm_handle *h)
{
	lockdep_assert_held(&h->bn->upcall.lock);
	if (h->state == BFTM_STATE_HELD && h->renewing)
		wake_up_poll(&h->wait, EPOLLIN | EPOLLRDNORM);
}
