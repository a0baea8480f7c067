// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of a handle: end of a timed acquire, margin, and end of the lease.
 *
 * An alarm that was set for a lease or an acquire stays when that is over: each look at a handle
 * judges by the clock.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "client/burst.h"
#include "client/handle.h"
#include "client/trace.h"
#include "netns.h"
#include "notify.h"
#include "time/clock.h"

/*
 * A real-time signal does not come when the process has too many of them pending. Then SIGIO
 * does, as for F_SETSIG: that one was not allowed to be sent is told before that it had no room.
 */
static void send_signal(const struct bftm_handle *h)
{
	int err = kill_pid_usb_asyncio(h->signo, EKEYEXPIRED, (sigval_t){}, h->signal_pid,
				       h->signal_cred);

	if (err == -EAGAIN)
		kill_pid(h->signal_pid, SIGIO, 1);
}

static void announce(struct bftm_handle *h, __poll_t events)
{
	bftm_handle_wake(h, events);
	/* Not for a lock that no program knows to have: the call that waits for it goes on. */
	if (h->signo && h->signal_pid && !h->untold)
		send_signal(h);
}

bool bftm_handle_in_margin(const struct bftm_handle *h, s64 left_ns)
{
	return h->margin_ns && left_ns <= (s64)h->margin_ns;
}

void bftm_handle_arm_at(struct bftm_handle *h, u64 at_ns)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	bftm_alarm_set(&h->bn->upcall->alarms, &h->due, at_ns);
}

/* CLOCK_BOOTTIME at which the margin or the end may be reached; 0 for never. */
static u64 look_at(const struct bftm_handle *h)
{
	s64 wait = bftm_clock_left(h->arg.deadline_ns, h->end_ns);

	if (bftm_handle_lasts(h))
		return 0;
	if (h->margin_ns && !h->warned)
		return bftm_clock_wait(wait - (s64)h->margin_ns);
	return bftm_clock_wait(wait + 1);
}

void bftm_handle_arm(struct bftm_handle *h)
{
	u64 at_ns = look_at(h);

	/* Where the helper is not in time. */
	if (bftm_handle_converts(h) && h->conversion.at_ns)
		at_ns = min_not_zero(at_ns, h->conversion.at_ns + BFTM_TIMEOUT_SLACK_NS);
	if (at_ns)
		bftm_handle_arm_at(h, at_ns);
	else
		bftm_alarm_clear(&h->bn->upcall->alarms, &h->due);
}

/*
 * CLOCK_BOOTTIME at which the acquire fails here; 0 for never. If servers are asked for it, the
 * helper ends it before, and the slack leaves the helper time to say why.
 */
static u64 limit_of(const struct bftm_request *request)
{
	u64 until = request->timeout_at_ns;

	return until && !request->behind ? until + BFTM_TIMEOUT_SLACK_NS : until;
}

void bftm_handle_limit_arm(struct bftm_handle *h)
{
	u64 at_ns = limit_of(h->request);

	if (at_ns)
		bftm_handle_arm_at(h, at_ns);
}

/* No server is asked for the lock: the helper has ended, and no other has come. */
static bool handle_is_forsaken(const struct bftm_handle *h)
{
	const struct bftm_request *request = h->request;

	return !request->behind && !request->fast && !h->bn->upcall->portid &&
	       request->kind == BFTMUTEX_REQUEST_KIND_ACQUIRE;
}

/* Without memory for the words the program gets only the error. */
static void handle_time_out(struct bftm_handle *h)
{
	int error = handle_is_forsaken(h) ? -ENOTCONN : -ETIMEDOUT;
	bool behind = h->request->behind;

	bftm_handle_end(h);
	if (behind)
		h->why = kstrdup("another program of this host has it, or asked for it before",
				 GFP_ATOMIC);
	bftm_handle_failed(h, error);
}

void bftm_handle_tell(struct bftm_handle *h)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	h->untold = false;
	if (!h->warned)
		return;
	/* The margin was reached meanwhile, which nobody was told. */
	h->warned = false;
	bftm_handle_arm(h);
}

static enum bftm_lost handle_why(const struct bftm_handle *h)
{
	if (!bftm_handle_is_renewed(h))
		return BFTM_LOST_EXPIRED;
	/* The kernel renews what it has won, and needs no helper for that. */
	return h->request->fast || h->bn->upcall->portid ? BFTM_LOST_NOT_RENEWED :
							   BFTM_LOST_NO_HELPER;
}

void bftm_handle_lose(struct bftm_handle *h, enum bftm_lost reason)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	if (h->state != BFTM_STATE_HELD)
		return;
	h->bn->upcall->local.lost++;
	h->reason = reason;
	h->state = BFTM_STATE_LOST;
	h->request->lapsed = reason == BFTM_LOST_NOT_RENEWED;
	bftm_held_value_doubt(h->request);
	bftm_handle_end(h);
	trace_bftm_lost(h);
	announce(h, EPOLLHUP | EPOLLIN | EPOLLRDNORM);
	bftm_notify.event(h);
}

u64 bftm_handle_check(struct bftm_handle *h)
{
	s64 left;

	lockdep_assert_held(&h->bn->upcall->lock);
	if (h->state != BFTM_STATE_HELD)
		return 0;
	left = bftm_clock_left(h->arg.deadline_ns, h->end_ns);
	if (left >= 0)
		return left;
	bftm_handle_lose(h, handle_why(h));
	return 0;
}

int bftm_handle_holding(struct bftm_handle *h)
{
	bftm_handle_check(h);
	if (h->state == BFTM_STATE_LOST)
		return -EKEYEXPIRED;
	return h->state == BFTM_STATE_HELD ? 0 : -ENOLCK;
}

/* Each alarm of a handle counts for so many datagrams of a run, and for those that it sends. */
#define TAKES 4

static void handle_ring(struct bftm_handle *h, u64 now)
{
	u64 left = bftm_handle_check(h);

	if (h->state == BFTM_STATE_PENDING) {
		u64 until = limit_of(h->request);

		/*
		 * Without a limit, or before it, the alarm was set for an earlier lease, which was
		 * given back meanwhile, or while the request still waited behind another.
		 */
		if (until && until <= now)
			handle_time_out(h);
		else
			bftm_handle_limit_arm(h);
	} else if (h->state == BFTM_STATE_HELD) {
		if (!h->warned && bftm_handle_in_margin(h, left)) {
			h->warned = true;
			announce(h, EPOLLPRI);
		}
		if (bftm_handle_converts(h) && h->conversion.at_ns &&
		    h->conversion.at_ns + BFTM_TIMEOUT_SLACK_NS <= now)
			bftm_handle_convert_failed(h, -ETIMEDOUT);
		bftm_handle_arm(h);
	}
}

unsigned int bftm_handle_ring(struct timerqueue_node *due, u64 now)
	__must_hold(due)
{
	struct bftm_handle *h = container_of(due, struct bftm_handle, due);
	struct bftm_upcall *up = h->bn->upcall;
	struct bftm_burst burst __uninitialized;

	/* A lease that is over here may be followed by the next request's TRY. */
	bftm_burst_begin(up, &burst);
	handle_ring(h, now);
	/* The handle may be freed as soon as the lock is released. */
	return TAKES + bftm_burst_pause(up, &burst);
}

void bftm_handle_set_signal(struct bftm_handle *h, u32 signo, u64 margin_ns)
{
	struct pid *pid = signo ? get_pid(task_tgid(current)) : NULL;
	const struct cred *cred = signo ? get_current_cred() : NULL;

	spin_lock_bh(&h->bn->upcall->lock);
	swap(h->signal_pid, pid);
	swap(h->signal_cred, cred);
	h->signo = signo;
	h->margin_ns = margin_ns;
	h->warned = false;
	if (h->state == BFTM_STATE_HELD)
		bftm_handle_arm(h);
	spin_unlock_bh(&h->bn->upcall->lock);
	put_pid(pid);
	if (cred)
		put_cred(cred);
}
