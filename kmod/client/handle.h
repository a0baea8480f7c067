/* SPDX-License-Identifier: GPL-2.0 */
/* A lock handle: the states of one open /dev/bftmutex. */
#ifndef BFTM_HANDLE_H
#define BFTM_HANDLE_H

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/timerqueue.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "client/request.h"
#include "core/wire.h"

/** bftm_mode_of() - an enum bftm_lock_mode as servers know it: they count from NL to EX. */
static inline enum bftm_mode bftm_mode_of(u32 lock_mode)
{
	return BFTM_MODE_EX - lock_mode;
}

/**
 * enum bftm_progress - of a conversion
 * @BFTM_PROGRESS_NONE:    there is none, or the caller knows what became of it
 * @BFTM_PROGRESS_ASKED:   the helper has not reported yet
 * @BFTM_PROGRESS_DECIDED: a call that waits has not seen the report yet
 */
enum bftm_progress {
	BFTM_PROGRESS_NONE,
	BFTM_PROGRESS_ASKED,
	BFTM_PROGRESS_DECIDED,
};

/**
 * struct bftm_conversion_of - the last conversion of a handle
 * @id:       of the request that held the lock: it says nothing of another
 * @number:   among all of the handle; 0 before the first
 * @progress: enum bftm_progress
 * @waits:    a call waits for the decision
 * @flags:    BFTM_TRY, BFTM_FENCE
 * @mode:     enum bftm_lock_mode that is wanted
 * @error:    negative errno, when it is decided
 * @at_ns:    CLOCK_BOOTTIME at which the helper is to have reported, 0 for never
 */
struct bftm_conversion_of {
	u64 id;
	u32 number;
	enum bftm_progress progress;
	bool waits;
	u32 flags;
	u32 mode;
	int error;
	u64 at_ns;
};

/**
 * struct bftm_handle - guarded by the lock of its namespace's upcall
 * @number:      among all handles of the namespace
 * @bn:          the namespace, whose reference the file holds
 * @request:     while pending or held; belongs to the handle
 * @wait:        watchers of the state, which are woken with the lock held
 * @crowd:       the other watchers: to wake all with the lock held would take too long
 * @usher:       wakes the crowd
 * @due:         alarm for the end of a timed acquire, the margin and the end of the lease
 * @state:       enum bftm_state
 * @reason:      enum bftm_lost
 * @error:       positive errno of the last acquire that failed
 * @why:         the helper's words about that failure, NULL for none
 * @warned:      the margin was announced
 * @wanted:      somebody waits for a mode that the one held excludes, or has since it is held
 * @untold:      a call that waits for the held lock has not returned yet
 * @renewing:    the program asked for a renewal that has not come yet
 * @conversion:  to another mode of the held lock
 * @id:          of the last request
 * @arg:         of the last acquire; deadline, token and attempts filled in
 * @end_ns:      end of the held lease by the clock of leases; this or the deadline ends it,
 *               whichever comes first. BFTM_LEASE_NONE: it has no end, nor has the deadline
 * @margin_ns:   warning before the deadline
 * @signo:       signal to send, 0 for none
 * @signal_pid:  process that gets it
 * @signal_cred: credentials of the process that asked for the signal
 * @owner:       process that asked for the lock
 * @comm:        its name
 * @kept:        responses to submits that did not fit, oldest first
 * @kept_count:  number of these
 */
struct bftm_handle {
	u32 number;
	struct bftm_net *bn;
	struct bftm_request *request;
	wait_queue_head_t wait;
	wait_queue_head_t crowd;
	struct work_struct usher;
	struct timerqueue_node due;
	enum bftm_state state;
	enum bftm_lost reason;
	int error;
	char *why;
	bool warned;
	bool wanted;
	bool untold;
	bool renewing;
	struct bftm_conversion_of conversion;
	u64 id;
	struct bftm_acquire arg;
	u64 end_ns;
	u64 margin_ns;
	u32 signo;
	struct pid *signal_pid;
	const struct cred *signal_cred;
	struct pid *owner;
	char comm[TASK_COMM_LEN];
	struct list_head kept;
	u32 kept_count;
};

/**
 * struct bftm_renewal - a renewal that a program waits for
 * @id:          of the request: the handle may be used for another meanwhile
 * @deadline_ns: that was known when the program asked
 * @end_ns:      the end of the lease at that time
 */
struct bftm_renewal {
	u64 id;
	u64 deadline_ns;
	u64 end_ns;
};

/** bftm_handle_new() - a new handle. Return: it, or ERR_PTR: -ENOMEM, -ENFILE for too many. */
struct bftm_handle *bftm_handle_new(struct bftm_net *bn);

/** bftm_handle_free() - gives back what it holds. Context: process. */
void bftm_handle_free(struct bftm_handle *h);

/**
 * bftm_handle_limit() - when an acquire or a conversion that begins now is over
 * @flags:      BFTM_TRY: ten seconds at most, so that it does not wait for silent servers for ever
 * @timeout_ns: of the program; 0 for none
 * Return: CLOCK_BOOTTIME, 0 for never.
 */
u64 bftm_handle_limit(u32 flags, u64 timeout_ns);

/**
 * bftm_handle_acquire() - begin an acquire
 * @h:        the handle
 * @arg:      checked
 * @limit_ns: by bftm_handle_limit()
 * @waits:    bftm_handle_wait() comes next
 * @ret_id:   number of the request, for bftm_handle_wait()
 * Return: 0, -EALREADY, -EBUSY, -ENOTCONN, -ENOBUFS or -ENOMEM.
 */
int bftm_handle_acquire(struct bftm_handle *h, const struct bftm_acquire *arg,
			u64 limit_ns, bool waits, u64 *ret_id);

/**
 * bftm_handle_wait() - sleep until the acquire is decided
 * @h:   the handle
 * @id:  of the request: the handle may be used for another meanwhile
 * @ret: deadline and token, untouched on failure; attempts are added to earlier ones
 * Return: 0, -EINTR after which nothing is pending, -EKEYEXPIRED when the lock was held and its
 * lease over before this task ran, or why the acquire failed.
 */
int bftm_handle_wait(struct bftm_handle *h, u64 id, struct bftm_acquire *ret);

/**
 * bftm_handle_renew() - ask the helper for a renewal of the held lock
 * @h:        the handle
 * @lease_ns: 0, or the lease of the acquire
 * @ret:      for bftm_handle_renew_wait()
 * Return: 0, -EINVAL (also without a lease), -EKEYEXPIRED, -ENOLCK or -ENOTCONN.
 */
int bftm_handle_renew(struct bftm_handle *h, u64 lease_ns,
		      struct bftm_renewal *ret);

/**
 * bftm_handle_renew_wait() - sleep until the deadline has moved
 * @h:          the handle
 * @renewal:    from bftm_handle_renew()
 * @timeout_ns: 0 for none; the end of the lease ends it in any case
 * @ret_deadline_ns: the new deadline; untouched on failure
 * Return: 0, -EKEYEXPIRED, -ETIMEDOUT, -EINTR, -ENOTCONN or -ECANCELED.
 */
int bftm_handle_renew_wait(struct bftm_handle *h,
			   const struct bftm_renewal *renewal, u64 timeout_ns,
			   u64 *ret_deadline_ns);

/**
 * bftm_handle_convert() - begin to hold the lock in another mode
 * @h:      the handle
 * @arg:    checked; deadline and token are filled in when nothing has to be waited for
 * @waits:  bftm_handle_convert_wait() comes next
 * @ret_id: of the request, for that; 0: it is done
 * Return: 0, -EBUSY, -EKEYEXPIRED, -ENOLCK or -ENOTCONN.
 */
int bftm_handle_convert(struct bftm_handle *h, struct bftm_convert *arg, bool waits, u64 *ret_id);

/**
 * bftm_handle_convert_wait() - sleep until it is decided
 * @h:   the handle
 * @id:  of the request
 * @ret: deadline and token, untouched on failure
 * Return: 0, or what BFTM_IOC_CONVERT fails with.
 */
int bftm_handle_convert_wait(struct bftm_handle *h, u64 id, struct bftm_convert *ret);

/**
 * bftm_handle_value() - BFTM_IOC_VALUE, of an @arg that is checked
 * @h:   the handle
 * @arg: checked; filled in, or read when it sets the value
 * Return: 0, -ENODATA, -EPERM, -EKEYEXPIRED or -ENOLCK.
 */
int bftm_handle_value(struct bftm_handle *h, struct bftm_lock_value *arg);

/**
 * bftm_handle_release() - give the lock back, or cancel the acquire
 * @h:  the handle
 * @id: of the acquire; 0 for any
 * Return: 0, -ENOLCK or -EKEYEXPIRED; -ECANCELED when another acquire has begun since.
 */
int bftm_handle_release(struct bftm_handle *h, u64 id);

/** bftm_handle_status() - judged by the clocks, not by the timer. */
void bftm_handle_status(struct bftm_handle *h, struct bftm_status *ret);

/** bftm_handle_why() - copies the helper's words about the last acquire, if it failed. */
void bftm_handle_why(struct bftm_handle *h, char text[BFTM_WHY_MAX]);

/** bftm_handle_set_signal() - @signo 0 for none. */
void bftm_handle_set_signal(struct bftm_handle *h, u32 signo, u64 margin_ns);

/** bftm_handle_place() - the wait queue for one more watcher of its changes */
struct wait_queue_head *bftm_handle_place(struct bftm_handle *h);

/** bftm_handle_poll() - events that are true now. */
__poll_t bftm_handle_poll(struct bftm_handle *h);

/* Called by the upcall, with its lock held. */
void bftm_handle_won(struct bftm_handle *h, const struct bftm_result *result);
void bftm_handle_failed(struct bftm_handle *h, int error);
/** bftm_handle_renewed() - Return: 0, or -EALREADY: the lease already lasts as long. */
int bftm_handle_renewed(struct bftm_handle *h, u64 deadline_ns, u64 end_ns);
/**
 * bftm_handle_converted() - the helper reports
 * @h:      the handle
 * @result: the report; its number says of which conversion
 * Return: 0; -ECANCELED: nobody waits for it any more, and the mode before is held; -EINVAL:
 * without the token that was asked for; -ERANGE: without an end, and the lock has a lease.
 */
int bftm_handle_converted(struct bftm_handle *h, const struct bftm_converted *result);
/**
 * bftm_handle_wanted() - somebody waits for a mode that @mode excludes
 * @h:    the handle that holds the lock
 * @mode: enum bftm_lock_mode
 * Return: 0, or -ESTALE: the lock is not held in this mode any more.
 */
int bftm_handle_wanted(struct bftm_handle *h, u32 mode);
/** bftm_handle_lose() - end the lease of the lock that it holds, if any. */
void bftm_handle_lose(struct bftm_handle *h, enum bftm_lost reason);
/** bftm_handle_deserted() - no helper is left to renew its lock. */
void bftm_handle_deserted(struct bftm_handle *h);

/**
 * bftm_handles_walk() - look at some of the handles of a namespace
 * @up:    the upcall of the namespace
 * @at:    number of the first handle to visit; moved to the next one
 * @visit: ends the walk at a handle by returning other than 0
 * @arg:   for @visit
 * Context: the upcall's lock held; the caller may release it before the rest. Return: false at the
 * end.
 */
bool bftm_handles_walk(struct bftm_upcall *up, unsigned long *at,
		       int (*visit)(struct bftm_handle *h, void *arg), void *arg);

/** bftm_handle_is_renewed() - does the helper have to renew the held lock? */
bool bftm_handle_is_renewed(const struct bftm_handle *h);

/** bftm_handle_lasts() - does it hold a lock without a lease, which no clock ends? */
static inline bool bftm_handle_lasts(const struct bftm_handle *h)
{
	return h->state == BFTM_STATE_HELD && h->end_ns == BFTM_LEASE_NONE;
}

/** bftm_handle_converts() - is a conversion under way? */
static inline bool bftm_handle_converts(const struct bftm_handle *h)
{
	return h->state == BFTM_STATE_HELD && h->conversion.id == h->id &&
	       h->conversion.progress == BFTM_PROGRESS_ASKED;
}

/* For the handle's own files. */
void bftm_handle_watch_init(struct bftm_handle *h);
/** bftm_handle_watch_end() - stop the usher; no watcher is woken any more. Context: process. */
void bftm_handle_watch_end(struct bftm_handle *h);

/* For the handle's own files, with the upcall's lock held. */
/** bftm_handle_wake() - wake all watchers of its changes */
void bftm_handle_wake(struct bftm_handle *h, __poll_t events);
/** bftm_handle_tell() - a call returns with the held lock. */
void bftm_handle_tell(struct bftm_handle *h);
/** bftm_handle_ring() - the alarm @due of a handle is due. */
unsigned int bftm_handle_ring(struct timerqueue_node *due, u64 now);
/** bftm_handle_arm() - set its alarm for the margin, or the deadline, of the held lock. */
void bftm_handle_arm(struct bftm_handle *h);
/** bftm_handle_arm_at() - @at_ns: CLOCK_BOOTTIME */
void bftm_handle_arm_at(struct bftm_handle *h, u64 at_ns);
/** bftm_handle_limit_arm() - set its alarm for the end of a timed acquire. */
void bftm_handle_limit_arm(struct bftm_handle *h);
/**
 * bftm_handle_check() - lose the held lock if its deadline has passed
 * @h: the handle
 * Return: ns that are left of the lease, S64_MAX without one, 0 if the handle holds no lock.
 */
u64 bftm_handle_check(struct bftm_handle *h);
/** bftm_handle_convert_failed() - its conversion under way is over, for a negative errno. */
void bftm_handle_convert_failed(struct bftm_handle *h, int error);
/** bftm_handle_holding() - does it hold a lock now? Return: 0, -EKEYEXPIRED or -ENOLCK. */
int bftm_handle_holding(struct bftm_handle *h);
/** bftm_handle_in_margin() - is the margin reached when @left_ns are left? */
bool bftm_handle_in_margin(const struct bftm_handle *h, s64 left_ns);
/** bftm_handle_end() - cancel or release its request. */
void bftm_handle_end(struct bftm_handle *h);

#endif /* BFTM_HANDLE_H */
