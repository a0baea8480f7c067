/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0 */
/*
 * libbftmutex: cluster locks from C. A thin layer over /dev/bftmutex, which bftmutex(4) describes;
 * the library keeps no state and starts no threads.
 *
 *	int fd = bftmutex_open(NULL);
 *	int err = bftmutex_acquire(fd, "jobs", 4, NULL, NULL);
 *	if (err < 0)
 *		errx(1, "%s", bftmutex_strerror(err));
 *	…
 *	close(fd);
 *
 * Functions that can fail return a negative errno. Times are nanoseconds,
 * points in time are on CLOCK_BOOTTIME. poll() the descriptor for POLLHUP to
 * learn that the lease is over, and for POLLPRI to be warned before.
 */
#ifndef LIBBFTMUTEX_H
#define LIBBFTMUTEX_H

#include <stddef.h>
#include <stdint.h>
#include <linux/bftmutex.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BFTMUTEX_DEVICE "/dev/bftmutex"

/**
 * BFTMUTEX_MODE() - a mode among the flags of struct bftmutex_options
 * @mode: enum bftm_lock_mode, such as BFTM_LOCK_PR for a shared lock; without it, it is BFTM_LOCK_EX
 *
 * Two modes that exclude each other are never held at once. A library that knows no modes refuses
 * them, as a module does (-EINVAL).
 */
#define BFTMUTEX_MODE(mode)	((uint32_t)(mode) << 28)

/**
 * struct bftmutex_options - how to acquire; all zero is fine
 * @cluster:    name of at most BFTM_CLUSTER_MAX bytes, NULL for the default
 * @lease_ns:   how long the lock may be held, 1 ms to 1 h; 0 for the default
 * @timeout_ns: how long to wait, and with BFTM_TRY how long for answers of servers, 10 s at most; 0
 *              for ever
 * @flags:      BFTM_TRY, BFTM_RENEW, BFTM_FENCE, BFTM_VALUE, BFTM_NO_LEASE, and one BFTMUTEX_MODE()
 * @way:        BFTM_WAY_QUEUE, BFTM_WAY_BACKOFF, BFTM_WAY_NO_BACKOFF
 */
struct bftmutex_options {
	const char *cluster;
	uint64_t lease_ns;
	uint64_t timeout_ns;
	uint32_t flags;
	uint32_t way;
};

/**
 * struct bftmutex_grant - an acquired lock
 * @deadline_ns: end of the lease, on CLOCK_BOOTTIME; UINT64_MAX with BFTM_NO_LEASE: none
 * @token:       fencing token, 0 for none
 * @attempts:    how often the servers were asked
 */
struct bftmutex_grant {
	uint64_t deadline_ns;
	uint64_t token;
	uint32_t attempts;
};

/**
 * bftmutex_open() - make a lock handle
 * @path: of the device, NULL for BFTMUTEX_DEVICE
 *
 * The descriptor is close-on-exec, and 3 or above, even if 0, 1 or 2 is closed. close() it to give
 * the lock back.
 *
 * Return: a descriptor, or -ENOENT (the module is not loaded), -EACCES or
 * another error of open().
 */
int bftmutex_open(const char *path);

/**
 * bftmutex_acquire() - take a lock
 * @fd:      a handle
 * @name:    of the lock, any bytes
 * @len:     of @name, 1 to BFTM_NAME_MAX
 * @options: NULL for the defaults
 * @ret:     the acquired lock, untouched on failure; may be NULL
 *
 * On an O_NONBLOCK descriptor the result is -EINPROGRESS at once; poll() then shows POLLIN when the
 * acquire is decided, and bftmutex_status() tells the result.
 *
 * Return: 0, -EINVAL or -ENAMETOOLONG for a bad name, or an error that
 * BFTM_IOC_ACQUIRE lists in <linux/bftmutex.h>, such as -EWOULDBLOCK (BFTM_TRY
 * and somebody else has the lock), -EKEYEXPIRED (BFTM_TRY, and the lease was over before
 * the call could return), -ETIMEDOUT, -EINTR, -ENOTCONN (no helper).
 */
int bftmutex_acquire(int fd, const void *name, size_t len,
		     const struct bftmutex_options *options, struct bftmutex_grant *ret);

/**
 * bftmutex_release() - give the lock back, or cancel the acquire under way
 * @fd: handle, from bftmutex_open()
 *
 * Return: 0, -ENOLCK (the handle holds nothing) or -EKEYEXPIRED (the lease was over before, so
 * somebody else may have held the lock since).
 */
int bftmutex_release(int fd);

/**
 * bftmutex_renew() - renew the lease of the held lock, now
 * @fd:         handle, from bftmutex_open()
 * @timeout_ns: how long to wait; 0 until the lease is over
 * @ret_deadline_ns: the new deadline, untouched on failure; may be NULL
 *
 * A lock that was acquired with BFTM_RENEW does not need this. On an O_NONBLOCK descriptor the
 * result is -EINPROGRESS at once; bftmutex_status() shows the new deadline when it has come.
 *
 * Return: 0, -ENOLCK (the handle holds nothing), -EKEYEXPIRED (the lease is over), -ETIMEDOUT or
 * -EINTR (the renewal goes on), -ENOTCONN (no helper), -ECANCELED (another thread released the
 * handle).
 */
int bftmutex_renew(int fd, uint64_t timeout_ns, uint64_t *ret_deadline_ns);

/**
 * bftmutex_convert() - hold the lock in another mode
 * @fd:         handle, from bftmutex_open()
 * @mode:       enum bftm_lock_mode, not BFTM_LOCK_NL
 * @flags:      BFTM_TRY, BFTM_FENCE, BFTM_VALUE
 * @timeout_ns: how long to wait; 0 for as long as the lock is held
 * @ret:        deadline and token of the lock in its new mode, @attempts is 0; untouched on
 *              failure; may be NULL
 *
 * A mode that the present one covers is held at once: first stop doing what it does not allow. For
 * any other mode the call waits. The present mode is held meanwhile, and after these errors.
 *
 * Return: 0, -EDEADLK (another holder converts too, and each waits for the other: release, or
 * convert to less), -EWOULDBLOCK (BFTM_TRY, and others are in the way), -ETIMEDOUT, -EINTR,
 * -ENODATA (BFTM_FENCE, and too few servers know which tokens were given), -ENOTCONN (no helper),
 * -EBUSY (another thread waits for a conversion), -EINVAL; or, when nothing is held, -ENOLCK,
 * -EKEYEXPIRED (the lease is over) or -ECANCELED (another thread released the handle). On an
 * O_NONBLOCK descriptor the result is -EINPROGRESS at once: poll(), and look at bftmutex_status().
 */
int bftmutex_convert(int fd, uint32_t mode, uint32_t flags, uint64_t timeout_ns,
		     struct bftmutex_grant *ret);

/**
 * bftmutex_value() - read the value of a lock that is held with BFTM_VALUE
 * @fd:  handle, from bftmutex_open()
 * @ret: @valid is 1 if the last holder in BFTM_LOCK_EX or BFTM_LOCK_PW left the first @len of
 *       @bytes, or this handle has set them since; 0, as is @len, if that is not known. Untouched on
 *       failure
 *
 * The servers told the value with the lock, or with its last conversion to a mode that the one
 * before did not cover: no server is asked now. Lying servers cannot forge it.
 *
 * Return: 0, also if the value is not valid; -ENODATA (the lock is held without BFTM_VALUE),
 * -ENOLCK (nothing is held), -EKEYEXPIRED (the lease is over), -ENOTTY (@fd is not of a bftmutex
 * device, or of a module that does not know this).
 */
int bftmutex_value(int fd, struct bftm_lock_value *ret);

/**
 * bftmutex_set_value() - leave a value to the next holders
 * @fd:    handle, from bftmutex_open()
 * @bytes: any bytes; may be NULL if @len is 0
 * @len:   of @bytes, 0 to BFTM_VALUE_MAX
 *
 * The lock is held with BFTM_VALUE, in BFTM_LOCK_EX or BFTM_LOCK_PW. The servers get the value when
 * bftmutex_release() or bftmutex_convert() gives that mode up. A lock that is only closed, or is
 * lost, has no valid value afterwards, whether or not it was set.
 *
 * Return: 0, -EMSGSIZE (@len is above BFTM_VALUE_MAX), -EPERM (another mode is held), or as
 * bftmutex_value().
 */
int bftmutex_set_value(int fd, const void *bytes, size_t len);

/**
 * bftmutex_wanted() - does somebody wait for a mode that the held one excludes?
 * @fd: of bftmutex_open()
 * @timeout_ns: how long to wait for it; 0 not at all, UINT64_MAX for ever
 *
 * The same as poll() for POLLRDBAND (BFTM_EVENT_WANTED in <linux/bftmutex.h>), which says when it
 * ends, and of which waiters a holder is told.
 *
 * Return: 1: somebody waits, or has waited since this mode is held; 0: the time is over, or nothing
 * is held: when the call begins, because the lease ends, or because another thread releases the
 * lock, which the call sees within a second; 0 also with a module that does not know this; -EINTR,
 * or another error of poll() or bftmutex_status().
 */
int bftmutex_wanted(int fd, uint64_t timeout_ns);

/**
 * bftmutex_status() - state of a handle
 * @fd:  handle, from bftmutex_open()
 * @ret: state, deadline, reason of a loss; untouched on failure
 *
 * Return: 0, or -ENOTTY when @fd is not of a bftmutex device.
 */
int bftmutex_status(int fd, struct bftm_status *ret);

/**
 * bftmutex_why() - why the last acquire on a handle failed, in words
 * @fd:   handle, from bftmutex_open()
 * @text: gets the end of a sentence in English, without a full stop, such as "2 of 4 servers can
 *        grant, a lock needs 3; servers 3 and 4 are silent". Empty when there is nothing to add to
 *        the error, while an acquire is under way, and after a successful one
 * @room: bytes at @text; BFTM_WHY_MAX are always enough
 *
 * Return: 0, -EINVAL when @room is 0, or -ENOTTY when @fd is not of a bftmutex device, or of a
 * module that does not know this; then @text is untouched.
 */
int bftmutex_why(int fd, char *text, size_t room);

/**
 * bftmutex_set_signal() - be told by a signal when the lease is over
 * @fd:        handle, from bftmutex_open()
 * @signo:     signal for the calling process, 0 for none
 * @margin_ns: send it this much before the end too, 0 to 1 h
 *
 * The signal applies to all locks that this handle will hold. Set it before the lock is acquired:
 * no signal is sent for a lock that is already lost. SIGIO is sent instead of a real-time signal
 * for which the process has no room (RLIMIT_SIGPENDING).
 *
 * Return: 0, -EINVAL (no such signal) or -ERANGE (@margin_ns is too long).
 */
int bftmutex_set_signal(int fd, int signo, uint64_t margin_ns);

/**
 * struct bftmutex_response - response of an object
 * @data:    room for the response; in
 * @room:    bytes at @data; in
 * @len:     bytes of the response
 * @number:  of the request among all that were done to the object, which grows from one to
 *           the next; see struct bftm_submit
 * @id:      after -EOVERFLOW: number of the response, for bftmutex_fetch(); else 0
 * @status:  0, or errno of the object, positive: why it did not do as it was asked
 */
struct bftmutex_response {
	void *data;
	size_t room;
	size_t len;
	uint64_t number;
	uint64_t id;
	uint32_t status;
};

/**
 * bftmutex_submit() - have an operation applied to an object that all clients share
 * @fd:       a handle in any state; any number of threads may submit on it at once
 * @name:     of the object, any bytes
 * @len:      of @name, 1 to BFTM_SUBMIT_NAME_MAX
 * @op:       the operation, such as "add 1"
 * @op_len:   of @op, 1 to BFTM_SUBMIT_MAX
 * @options:  cluster and timeout_ns; the rest is 0. NULL for the defaults
 * @response: data and room are set by the caller, BFTM_SUBMIT_MAX bytes are always
 *            enough; the rest is filled in when the operation was applied, that is
 *            after 0 and -EOVERFLOW, and untouched otherwise
 *
 * Return: 0 when the operation was applied, even if the object refused it (see status), or an error
 * that BFTM_IOC_SUBMIT lists in <linux/bftmutex.h>. After -EOVERFLOW (applied, but the response is
 * longer than @room) bftmutex_fetch() gets the response. After -ETIMEDOUT, -EINTR, -EOWNERDEAD and
 * -ENETUNREACH the operation may have been applied or not, or may still be applied.
 */
int bftmutex_submit(int fd, const void *name, size_t len, const void *op, size_t op_len,
		    const struct bftmutex_options *options,
		    struct bftmutex_response *response);

/**
 * bftmutex_submit_alloc() - submit, with as much room as the response takes
 * @fd:       handle, from bftmutex_open()
 * @name:     of the object, any bytes
 * @len:      bytes of @name, 1 to BFTM_SUBMIT_NAME_MAX
 * @op:       the request
 * @op_len:   bytes of @op
 * @options:  as of bftmutex_submit(); may be NULL
 * @response: filled in when the operation was applied: data is from malloc(), with a zero
 *            byte behind it that len does not count
 *
 * Return: as bftmutex_submit(), but never -EOVERFLOW; -ENOMEM also when the operation was applied
 * and there is no memory for the response.
 */
int bftmutex_submit_alloc(int fd, const void *name, size_t len, const void *op,
			  size_t op_len, const struct bftmutex_options *options,
			  struct bftmutex_response *response);

/**
 * bftmutex_fetch() - get a response that did not fit
 * @fd:       handle, from bftmutex_open()
 * @response: as -EOVERFLOW left it, with data and room for len bytes
 *
 * The handle keeps such a response until it is fetched or the handle is closed. A handle that keeps
 * 64 responses takes no more submits (-EBUSY).
 *
 * Return: 0; -EOVERFLOW when the response still does not fit, and is kept; -ENOENT when the handle
 * keeps no such response.
 */
int bftmutex_fetch(int fd, struct bftmutex_response *response);

/**
 * bftmutex_strerror() - describe an error of these functions
 * @err: errno, negative or positive
 *
 * Return: half a sentence without a full stop; valid until the next call.
 */
const char *bftmutex_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif /* LIBBFTMUTEX_H */
