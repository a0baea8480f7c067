/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/bftmutex: locks of a cluster whose servers may lie.
 *
 * One open file is one lock handle. It holds at most one lock, is inherited
 * over fork() and exec(), can be passed over a socket, and gives its lock back
 * at the last close(), however the process ends. Up to 131072 can be open in a
 * network namespace (ENFILE).
 *
 * All times are nanoseconds on CLOCK_BOOTTIME. A deadline is computed with the clock's present
 * rate: while CLOCK_BOOTTIME is slowed down, because it was ahead, a lock is lost before its
 * deadline, and poll(), the signal and STATUS tell when. Every structure begins with its own size;
 * a longer one is accepted when the fields that the kernel does not know are zero (E2BIG
 * otherwise), a shorter one than the first version is EINVAL. Flags and reserved fields that the
 * kernel does not know must be zero (EINVAL).
 */
#ifndef _UAPI_LINUX_BFTMUTEX_H
#define _UAPI_LINUX_BFTMUTEX_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define BFTM_NAME_MAX		64	/* bytes of a lock name, no terminator */
#define BFTM_CLUSTER_MAX	32	/* bytes of a cluster name, likewise */
#define BFTM_WHY_MAX		248	/* bytes of a sentence, its zero byte included */
#define BFTM_VALUE_MAX		64	/* bytes of a lock's value */
#define BFTM_SUBMIT_NAME_MAX	63	/* bytes of an object name, no terminator */
#define BFTM_SUBMIT_MAX		16384	/* bytes of an operation, and of a response */
#define BFTM_NUMBERS		100000	/* of one version, and more: see struct bftm_submit */

/**
 * enum bftm_acquire_flags - how to acquire
 * @BFTM_TRY:   ask once; EWOULDBLOCK when somebody else has the lock in a mode that excludes this
 *              one, or waits for it
 * @BFTM_RENEW: the helper renews the lock while the handle holds it, so that it
 *              is held until it is released or closed, or until too few servers
 *              answer for the rest of a lease
 * @BFTM_FENCE: deliver a fencing token, which is not 0: larger than the tokens of all earlier
 *              holders whose modes exclude this one, and not less than those of the others.
 *              ENODATA when there is none
 * @BFTM_VALUE: with the lock's value, see BFTM_IOC_VALUE
 * @BFTM_NO_LEASE: the lock has no end: it is held until it is released or closed, or until this
 *              host was cut off and its servers evict it (BFTM_LOST_EVICTED). Deadline and rest are
 *              all ones. Without a helper the lock stays held, also when the handle is closed:
 *              then until the next helper tells the servers. @lease_ns is 0, and BFTM_RENEW not
 *              set (EINVAL). EACCES unless the helper's configuration says "leaseless = yes" and
 *              the servers allow it
 */
enum bftm_acquire_flags {
	BFTM_TRY = 1 << 0,
	BFTM_RENEW = 1 << 1,
	BFTM_FENCE = 1 << 2,
	BFTM_VALUE = 1 << 3,
	BFTM_NO_LEASE = 1 << 4,
};

/**
 * enum bftm_way - how to wait while somebody else has the lock
 * @BFTM_WAY_DEFAULT:    as the cluster's configuration says
 * @BFTM_WAY_BACKOFF:    sleep for a random time that grows with each failure
 * @BFTM_WAY_NO_BACKOFF: ask again at once; for one preferred client
 * @BFTM_WAY_QUEUE:      wait in the queue of the servers, which hand the lock over; fair as far as
 *                       correct servers agree on the order. The default of a configuration that
 *                       says nothing
 */
enum bftm_way {
	BFTM_WAY_DEFAULT = 0,
	BFTM_WAY_BACKOFF = 1,
	BFTM_WAY_NO_BACKOFF = 2,
	BFTM_WAY_QUEUE = 3,
};

/**
 * enum bftm_lock_mode - what else may be held while a lock is held, the modes of a DLM
 * @BFTM_LOCK_EX: exclusive: nothing else
 * @BFTM_LOCK_PW: protected write: the holder writes, and others may hold CR
 * @BFTM_LOCK_PR: protected read, a shared lock: others may hold PR and CR, so nobody writes
 * @BFTM_LOCK_CW: concurrent write: others may hold CW and CR
 * @BFTM_LOCK_CR: concurrent read: others may hold all but EX
 * @BFTM_LOCK_NL: null: nothing is held, and nothing excluded. The device takes it nowhere: a handle
 *                without a lock has it already. bftmutex_dlm.h of libbftmutex has such locks
 *
 * Two modes exclude each other or do not, whichever is held first. Servers of a version that knew
 * no modes grant EX alone: EPROTONOSUPPORT.
 */
enum bftm_lock_mode {
	BFTM_LOCK_EX = 0,
	BFTM_LOCK_PW = 1,
	BFTM_LOCK_PR = 2,
	BFTM_LOCK_CW = 3,
	BFTM_LOCK_CR = 4,
	BFTM_LOCK_NL = 5,
};

/**
 * struct bftm_acquire - argument of BFTM_IOC_ACQUIRE
 * @size:        sizeof(struct bftm_acquire)
 * @flags:       enum bftm_acquire_flags
 * @way:         enum bftm_way
 * @name_len:    bytes of @name, 1 to BFTM_NAME_MAX
 * @cluster:     name from the helper's configuration, zero-filled; empty for
 *               the default cluster
 * @name:        of the lock, any bytes
 * @lease_ns:    how long the lock may be held, 1 ms to 1 h and at most what
 *               the servers grant; 0 for the cluster's default. A renewal is
 *               for as long again
 * @timeout_ns:  how long to wait, and with BFTM_TRY how long for answers of servers, 10 s at
 *               most; 0 for ever (or until a signal)
 * @deadline_ns: out: CLOCK_BOOTTIME until which the lock is held; renewals move the deadline, see
 *               STATUS. All ones: it has no end (BFTM_NO_LEASE)
 * @token:       out: fencing token, 0 when none was asked for (BFTM_FENCE)
 * @attempts:    out: how often the servers were asked
 * @mode:        enum bftm_lock_mode, but not BFTM_LOCK_NL (EINVAL): 0, and thus every program
 *               that was built before there were modes, gets the lock for itself
 */
struct bftm_acquire {
	__u32 size;
	__u32 flags;
	__u32 way;
	__u32 name_len;
	char cluster[BFTM_CLUSTER_MAX];
	char name[BFTM_NAME_MAX];
	__u64 lease_ns;
	__u64 timeout_ns;
	__u64 deadline_ns;
	__u64 token;
	__u32 attempts;
	__u32 mode;
};

/**
 * struct bftm_renew - argument of BFTM_IOC_RENEW
 * @size:        sizeof(struct bftm_renew)
 * @flags:       zero
 * @lease_ns:    0, or the lease of the acquire
 * @timeout_ns:  how long to wait; 0 until the lease is over (or until a signal)
 * @deadline_ns: out: CLOCK_BOOTTIME until which the lock is held now
 */
struct bftm_renew {
	__u32 size;
	__u32 flags;
	__u64 lease_ns;
	__u64 timeout_ns;
	__u64 deadline_ns;
};

/**
 * struct bftm_convert - argument of BFTM_IOC_CONVERT
 * @size:        sizeof(struct bftm_convert)
 * @flags:       BFTM_TRY: ask once. BFTM_FENCE: with a fencing token for the new mode. BFTM_VALUE:
 *               from now on with the lock's value, if it was acquired without. No others
 * @mode:        enum bftm_lock_mode that is wanted, but not BFTM_LOCK_NL (EINVAL)
 * @reserved:    zero
 * @timeout_ns:  how long to wait; 0 for as long as the lock is held (or until a signal)
 * @deadline_ns: out: CLOCK_BOOTTIME until which the lock is held now, not earlier than before
 * @token:       out: fencing token of the lock in its new mode, 0 for none. A mode that the one
 *               before covers keeps the token of that if no other was asked for or could be had
 */
struct bftm_convert {
	__u32 size;
	__u32 flags;
	__u32 mode;
	__u32 reserved;
	__u64 timeout_ns;
	__u64 deadline_ns;
	__u64 token;
};

/**
 * enum bftm_value_op - what to do with the value
 * @BFTM_VALUE_GET: read it
 * @BFTM_VALUE_SET: leave another to the next holders
 */
enum bftm_value_op {
	BFTM_VALUE_GET = 0,
	BFTM_VALUE_SET = 1,
};

/**
 * struct bftm_lock_value - argument of BFTM_IOC_VALUE
 * @size:  sizeof(struct bftm_lock_value)
 * @op:    enum bftm_value_op
 * @len:   bytes of @bytes, 0 to BFTM_VALUE_MAX; of GET out, and 0 if it is not valid
 * @valid: of GET out: 1 if the last holder in EX or PW left @bytes; 0: not known. Of SET zero
 * @bytes: the value; zeroes fill it up
 */
struct bftm_lock_value {
	__u32 size;
	__u32 op;
	__u32 len;
	__u32 valid;
	__u8 bytes[BFTM_VALUE_MAX];
};

/**
 * enum bftm_state - state of a handle
 * @BFTM_STATE_IDLE:    nothing
 * @BFTM_STATE_PENDING: an acquire is under way
 * @BFTM_STATE_HELD:    the lock is held until the deadline
 * @BFTM_STATE_LOST:    the lock was held, and was lost; @reason says why
 * @BFTM_STATE_FAILED:  an asynchronous acquire failed; @error says why
 */
enum bftm_state {
	BFTM_STATE_IDLE = 0,
	BFTM_STATE_PENDING = 1,
	BFTM_STATE_HELD = 2,
	BFTM_STATE_LOST = 3,
	BFTM_STATE_FAILED = 4,
};

/**
 * enum bftm_lost - why a lock was lost
 * @BFTM_LOST_NOT:         it was not lost
 * @BFTM_LOST_EXPIRED:     its lease ended, and nobody had asked for a renewal
 * @BFTM_LOST_NOT_RENEWED: its lease ended before a renewal that was asked for,
 *                         by BFTM_RENEW or BFTM_IOC_RENEW, was reported
 * @BFTM_LOST_NO_HELPER:   as NOT_RENEWED, and no helper ran at that moment that had to renew it
 * @BFTM_LOST_SUSPENDED:   the machine was suspended
 * @BFTM_LOST_RESTORED:    the virtual machine was cloned, or set back to an earlier state
 * @BFTM_LOST_EVICTED:     servers have evicted this host: its locks without a lease are others'
 */
enum bftm_lost {
	BFTM_LOST_NOT = 0,
	BFTM_LOST_EXPIRED = 1,
	BFTM_LOST_NOT_RENEWED = 2,
	BFTM_LOST_NO_HELPER = 3,
	BFTM_LOST_SUSPENDED = 4,
	BFTM_LOST_RESTORED = 5,
	BFTM_LOST_EVICTED = 6,
};

/**
 * struct bftm_status - argument of BFTM_IOC_STATUS, all out but @size
 * @size:         sizeof(struct bftm_status)
 * @state:        enum bftm_state, judged by the clock now
 * @reason:       enum bftm_lost
 * @error:        errno of the last acquire or conversion if it failed, 0 for none
 * @deadline_ns:  end of the lease, 0 when nothing is or was held; all ones: it has no end
 * @remaining_ns: ns until then, 0 unless held; all ones likewise
 * @token:        fencing token, 0 for none
 * @attempts:     how often the servers were asked
 * @mode:         enum bftm_lock_mode in which the lock is or was held; 0 when nothing is or was
 */
struct bftm_status {
	__u32 size;
	__u32 state;
	__u32 reason;
	__s32 error;
	__u64 deadline_ns;
	__u64 remaining_ns;
	__u64 token;
	__u32 attempts;
	__u32 mode;
};

/**
 * struct bftm_signal - argument of BFTM_IOC_SET_SIGNAL
 * @size:      sizeof(struct bftm_signal)
 * @signo:     signal for the calling process, 0 for none; sent when the lease
 *             is over, and @margin_ns before that when it is not 0. SIGIO is
 *             sent instead of a real-time signal for which the process has no
 *             room (RLIMIT_SIGPENDING)
 * @margin_ns: ns of warning before the deadline, at most 1 h; poll() shows it as POLLPRI. A renewal
 *             that moves the deadline beyond the margin ends the warning, and there is another one
 *             before the new deadline
 * @reserved:  zero
 */
struct bftm_signal {
	__u32 size;
	__u32 signo;
	__u64 margin_ns;
	__u64 reserved;
};

/**
 * struct bftm_why - argument of BFTM_IOC_WHY, all out but @size
 * @size:     sizeof(struct bftm_why)
 * @reserved: zero
 * @text:     why the last acquire failed, for people to read: the end of a sentence in
 *            English that has no full stop, such as "2 of 4 servers answer, a lock needs 3";
 *            ends with a zero byte. Empty when the helper had nothing to
 *            add to the error, while an acquire is under way, and after a successful one
 */
struct bftm_why {
	__u32 size;
	__u32 reserved;
	char text[BFTM_WHY_MAX];
};

/**
 * enum bftm_submit_flags - how to submit
 * @BFTM_FETCH: submit nothing; get a response that did not fit
 */
enum bftm_submit_flags {
	BFTM_FETCH = 1 << 0,
};

/**
 * struct bftm_submit - argument of BFTM_IOC_SUBMIT
 * @size:          sizeof(struct bftm_submit)
 * @flags:         enum bftm_submit_flags
 * @name_len:      bytes of @name, 1 to BFTM_SUBMIT_NAME_MAX
 * @op_len:        bytes at @op, 1 to BFTM_SUBMIT_MAX
 * @cluster:       name from the helper's configuration, zero-filled; empty for
 *                 the default cluster
 * @name:          of the object, any bytes
 * @op:            address of the operation
 * @response:      address of the room for the response, which may not be touched
 *                 until the call returns; 0 for none
 * @response_room: bytes at @response
 * @response_len:  out: bytes of the response, also after EOVERFLOW
 * @timeout_ns:    how long to wait; 0 for ever (or until a signal)
 * @id:            out: number of the response that did not fit, after EOVERFLOW;
 *                 otherwise 0. in: that number, with BFTM_FETCH
 * @number:        out: of the request among all that were done to the object: each has
 *                 a larger number than all requests of any client before it. It is
 *                 BFTM_NUMBERS times the version of the object's state after the request
 *                 (which begins with 1), plus the count of requests that were done before
 *                 it in that version
 * @status:        out: errno of the object: 0 when it did as it was asked
 * @reserved:      zero
 *
 * With BFTM_FETCH all fields except @size, @flags, @response, @response_room and @id are zero.
 */
struct bftm_submit {
	__u32 size;
	__u32 flags;
	__u32 name_len;
	__u32 op_len;
	char cluster[BFTM_CLUSTER_MAX];
	char name[BFTM_NAME_MAX];
	__u64 op;
	__u64 response;
	__u32 response_room;
	__u32 response_len;
	__u64 timeout_ns;
	__u64 id;
	__u64 number;
	__u32 status;
	__u32 reserved;
};

#define BFTM_IOC_MAGIC		0xbf

/*
 * BFTM_IOC_ACQUIRE - take a lock. Blocks until it is held, the time is over or
 * a signal arrives. On an O_NONBLOCK file it returns EINPROGRESS at once and
 * poll() reports POLLIN when it is decided; STATUS tells the result.
 *
 * EINPROGRESS · EKEYEXPIRED: BFTM_TRY, and the lock was had, but its lease was over
 * before this task ran; without BFTM_TRY it is asked for again ·
 * ECANCELED: another thread released the handle meanwhile ·
 * EALREADY: the handle holds a lock (release it first) · EBUSY: an acquire is
 * under way on it · EWOULDBLOCK: BFTM_TRY, and somebody else has the lock ·
 * ETIMEDOUT · EINTR · ENOTCONN: no helper for 5 s · ENETUNREACH: too few servers
 * answered for a whole round · EACCES: b + 1 servers refused · ERANGE: the lease is not granted
 * by b + 1 servers, or outside 1 ms to 1 h · ENOSPC: a table at b + 1 servers
 * is full · ENOBUFS: too many requests wait · ENOKEY: unknown cluster, or no
 * credentials · EPROTONOSUPPORT: b + 1 servers do not serve the protocol, the mode or the
 * value, or speak another version of the wire format; or BFTM_NO_LEASE, which the protocol of
 * the cluster does not have · ENODATA: BFTM_FENCE, and fewer than q servers know which tokens
 * were given ·
 * EINVAL: no name, an unknown flag, way or mode, or BFTM_LOCK_NL, an out field that is not zero,
 * BFTM_NO_LEASE with a lease or BFTM_RENEW · ENAMETOOLONG, E2BIG, EFAULT, ENOMEM.
 */
#define BFTM_IOC_ACQUIRE	_IOWR(BFTM_IOC_MAGIC, 1, struct bftm_acquire)
/*
 * BFTM_IOC_RELEASE - give the lock back, or cancel the acquire under way. ENOLCK: the handle holds
 * nothing · EKEYEXPIRED: the lease was over before.
 */
#define BFTM_IOC_RELEASE	_IO(BFTM_IOC_MAGIC, 3)
/*
 * BFTM_IOC_RENEW - ask the servers for a renewal now. Blocks until the deadline has moved. On an
 * O_NONBLOCK file it returns EINPROGRESS at once; STATUS shows the new deadline. After ETIMEDOUT
 * and EINTR the renewal goes on. With BFTM_RENEW this request is not needed.
 *
 * EINPROGRESS · ENOLCK: nothing is held · EKEYEXPIRED: the lease is over, before the call
 * or before a renewal · ETIMEDOUT · EINTR · ENOTCONN: no helper · ECANCELED: another
 * thread released the handle meanwhile · EINVAL: @lease_ns differs from that of the acquire,
 * flags or @deadline_ns not zero, or the lock has no lease · E2BIG, EFAULT.
 */
#define BFTM_IOC_RENEW		_IOWR(BFTM_IOC_MAGIC, 2, struct bftm_renew)
/* BFTM_IOC_STATUS - state of the handle, judged by the clock now. */
#define BFTM_IOC_STATUS		_IOWR(BFTM_IOC_MAGIC, 4, struct bftm_status)
/* BFTM_IOC_SET_SIGNAL - be told by a signal. EINVAL: no such signal. */
#define BFTM_IOC_SET_SIGNAL	_IOW(BFTM_IOC_MAGIC, 5, struct bftm_signal)

/*
 * BFTM_IOC_SUBMIT - have an operation applied to an object that all clients share, once, in an
 * order that is the same for all. Blocks until there is a response, the time is over or a signal
 * arrives, also on an O_NONBLOCK file. It is independent of the lock that the handle may hold; any
 * number of threads may submit on one handle at once. RELEASE and close() by another thread do not
 * end the call.
 *
 * The call succeeds when the operation was applied, even if the object did not do as it was
 * asked: then @status says why. A response longer than @response_room is EOVERFLOW: then the
 * operation was applied, @response_len, @number and @status are as in success, and the handle
 * keeps the response, as number @id, until BFTM_FETCH has got it or the handle is closed.
 *
 * EIDRM: the operation was applied, but its response is no longer kept: the object needed the room
 * for responses to other clients before this helper could get it.
 *
 * Unknown whether it was or will be applied: ETIMEDOUT · EINTR · EFAULT, when writing the
 * response failed · EOWNERDEAD: the helper ended before it reported · ENETUNREACH: too few
 * servers answered · EREMOTEIO: servers refuse the operation, or the object has no room for
 * one more client, but some servers may have taken it.
 *
 * Not applied: ENOTCONN: no helper · EACCES: b + 1 servers refused · ENOSPC: a table at b +
 * 1 servers is full · EPROTONOSUPPORT: the cluster has too few servers for objects, or b + 1
 * do not serve the protocol · ENOBUFS: too many requests wait, or too many bytes of them, or
 * too many other objects are in use · EBUSY: the handle keeps 64 responses that no call
 * fetched · EMSGSIZE: @op_len is more than BFTM_SUBMIT_MAX, or too long to be sent with the
 * 8 bytes that the helper adds · ENOKEY: unknown cluster, or no credentials · ENAMETOOLONG
 * · EINVAL: no name, no operation, bytes behind the name that are not zero, an out field or
 * @reserved that is not, an unknown flag · E2BIG, EFAULT, ENOMEM.
 *
 * BFTM_FETCH: ENOENT: no such response on this handle · EOVERFLOW: the response still does
 * not fit, and is kept · EINVAL · EFAULT.
 */
#define BFTM_IOC_SUBMIT		_IOWR(BFTM_IOC_MAGIC, 6, struct bftm_submit)

/* BFTM_IOC_WHY - in words, why the last acquire failed. */
#define BFTM_IOC_WHY		_IOWR(BFTM_IOC_MAGIC, 7, struct bftm_why)

/*
 * BFTM_IOC_CONVERT - hold the lock in another mode. A mode covers another that excludes no more
 * than it does. A mode that the present one covers (EX covers all) is held at once: before the
 * call, the program must stop doing what the new mode does not allow. For any other mode the
 * call waits, as BFTM_IOC_ACQUIRE does, and the present mode is held meanwhile. New acquires do
 * not overtake a conversion that they exclude. With the present mode as @mode, BFTM_FENCE gets
 * another token. On an O_NONBLOCK file it returns EINPROGRESS at once, unless nothing has to be
 * waited for; poll() shows POLLIN again when it is decided, and STATUS the mode that is held,
 * and the error. Another call takes the place of such a conversion: one to the mode that is held
 * cancels it.
 *
 * The present mode is still held, with its token, after: EINPROGRESS · EDEADLK: another holder
 * converts too, and each of the two waits for the other to give up its mode: convert to a mode
 * that the other conversion does not exclude, or release; the other goes on · EWOULDBLOCK:
 * BFTM_TRY, and others are in the way · ETIMEDOUT · EINTR · ENODATA: BFTM_FENCE, and fewer than
 * q servers know which tokens were given · ENOTCONN: no helper · ENOKEY: the helper that came
 * meanwhile does not know the cluster · EBUSY: another call waits for a conversion · EINVAL: no
 * such mode, or BFTM_LOCK_NL, an unknown flag, @reserved or an out field that is not zero ·
 * E2BIG, EFAULT. But a mode that the present one covers is held as soon as the call waits for
 * its token, whatever ends the waiting; and where only the result could not be written (EFAULT),
 * the new mode is held. STATUS tells.
 *
 * Nothing is held: ENOLCK · EKEYEXPIRED: the lease is over · ECANCELED: another thread released
 * the handle meanwhile.
 */
#define BFTM_IOC_CONVERT	_IOWR(BFTM_IOC_MAGIC, 8, struct bftm_convert)

/*
 * BFTM_IOC_VALUE - the value of a lock that is held with BFTM_VALUE: up to 64 bytes that each
 * holder reads and a holder in EX or PW may leave to the next. It costs no round trip.
 *
 * GET gives what the servers told with the lock, or with the last conversion to a mode that the
 * one before did not cover, or else what this handle has set since. Liars cannot forge it: with
 * @valid it is what the last holder in EX or PW left. It is not valid before any holder has set
 * one; when that last holder lost its lease, or had BFTM_VALUE and was closed without
 * BFTM_IOC_RELEASE; and when too few servers told the same. GET succeeds all the same. In mode CR
 * others may write at the same time.
 *
 * SET is for EX and PW. The value goes to the servers when the handle gives that mode up, by
 * BFTM_IOC_CONVERT or BFTM_IOC_RELEASE, and never without one of these: after a mere close() the
 * value is not valid, whether or not it was set.
 *
 * ENODATA: the lock is held without BFTM_VALUE · EPERM: SET, and the mode is not EX or PW ·
 * ENOLCK: nothing is held · EKEYEXPIRED: the lease is over · EINVAL: an unknown @op, @len above
 * 64, bytes behind it that are not zero, @valid of SET, or any of @len, @valid and @bytes of GET,
 * that is not zero · E2BIG, EFAULT.
 */
#define BFTM_IOC_VALUE		_IOWR(BFTM_IOC_MAGIC, 9, struct bftm_lock_value)

/*
 * poll(): POLLIN - the asynchronous acquire is decided, or the lock is held and no asynchronous
 * conversion is under way;
 * POLLPRI - the margin before the deadline is reached; POLLHUP - the lease is
 * over.
 *
 * POLLRDBAND (BFTM_EVENT_WANTED) - another program waits for a mode that the held one excludes, or
 * has waited since this mode is held. b liars cannot make this up. It is not shown while an
 * asynchronous conversion is under way: select() counts it as readable. It ends when the lock is
 * converted to another mode or given up. In the new mode, as in the first, the kernel always tells
 * of a program of the same host that waits. It may tell of others, but hardly after a conversion:
 * no message is spent for this, see modes.rst ("Somebody waits"). A module that does not know it
 * never shows it.
 */
#define BFTM_EVENT_WANTED	0x0080	/* POLLRDBAND of most architectures; see <poll.h> */

#define BFTM_ATTEMPT_KERNEL	1	/* bit of an attempt: the kernel's; the helper's are even */

/**
 * struct bftm_counters - numbers that kernel and helper draw for one client, each
 * adding atomically, the kernel also for five seconds after the helper's end; see helper-lend of
 * the netlink family
 * @seq:     last sequence number used; the next is one more
 * @attempt: grows by two for each attempt; the attempt's number is the sum, with the
 *           lowest bit set by the kernel and cleared by the helper
 * @won:     acquires that the kernel won by itself
 * @lost:    acquires that the kernel left to the helper after it had asked servers
 */
struct bftm_counters {
	__u64 seq;
	__u64 attempt;
	__u64 won;
	__u64 lost;
};

#endif /* _UAPI_LINUX_BFTMUTEX_H */
