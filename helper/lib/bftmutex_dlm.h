/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0 */
/*
 * Cluster locks in the shape of libdlm, for programs that use a DLM: requests return at once, and
 * callbacks tell their results. It is a part of libbftmutex, above the functions of libbftmutex.h.
 *
 *	struct bftmutex_dlm *dlm;
 *	int err = bftmutex_dlm_open(NULL, &dlm);
 *	...
 *	err = bftmutex_dlm_lock(dlm, BFTMUTEX_DLM_PR, &lksb, 0, "image", 5, granted, wanted, arg);
 *	for (;;)		// with a struct pollfd of bftmutex_dlm_fd(dlm)
 *		if (poll(&p, 1, -1) > 0)
 *			bftmutex_dlm_dispatch(dlm);
 *
 * Numbers of modes, flags and results are those of libdlm. Modes, conversions, values, and how they
 * differ from a DLM: Documentation/modes.rst ("For users of a DLM"). All functions return 0 or a
 * negative errno. One thread at a time may use what one bftmutex_dlm_open() has made; callbacks may
 * call all functions but bftmutex_dlm_close() and bftmutex_dlm_dispatch().
 *
 * After fork() the locks are the parent's. The child shares their descriptors, and may call
 * bftmutex_dlm_close() alone, which closes its own copies and changes nothing for the parent; exec()
 * does that, too. Until then a parent that ends, or calls bftmutex_dlm_close(), leaves its locks held.
 */
#ifndef BFTMUTEX_DLM_H
#define BFTMUTEX_DLM_H

#include "libbftmutex.h"

#ifdef __cplusplus
extern "C" {
#endif

/** enum bftmutex_dlm_mode - modes, as LKM_NLMODE and so on */
enum bftmutex_dlm_mode {
	BFTMUTEX_DLM_NL = 0,
	BFTMUTEX_DLM_CR = 1,
	BFTMUTEX_DLM_CW = 2,
	BFTMUTEX_DLM_PR = 3,
	BFTMUTEX_DLM_PW = 4,
	BFTMUTEX_DLM_EX = 5,
};

/**
 * enum bftmutex_dlm_flag - flags of requests, as LKF_NOQUEUE and so on
 * @BFTMUTEX_DLM_NOQUEUE: of a lock: EAGAIN if others are in the way
 * @BFTMUTEX_DLM_CANCEL:  of an unlock: give up the request that waits; the lock stays as it was
 * @BFTMUTEX_DLM_CONVERT: of a lock: another mode for the lock @sb_lkid
 * @BFTMUTEX_DLM_VALBLK:  of a request that gives PW or EX up: leave the value at @sb_lvbptr to
 *                        others; of any other: read the value into @sb_lvbptr
 */
enum bftmutex_dlm_flag {
	BFTMUTEX_DLM_NOQUEUE = 1 << 0,
	BFTMUTEX_DLM_CANCEL = 1 << 1,
	BFTMUTEX_DLM_CONVERT = 1 << 2,
	BFTMUTEX_DLM_VALBLK = 1 << 3,
};

/* Results beside 0 and positive errnos, as ECANCEL and EUNLOCK. */
#define BFTMUTEX_DLM_ECANCEL	0x10001
#define BFTMUTEX_DLM_EUNLOCK	0x10002

#define BFTMUTEX_DLM_VALNOTVALID 0x02	/* in sb_flags: the value is not known; *sb_lvbptr stays */
#define BFTMUTEX_DLM_VALUE_LEN	32	/* bytes at sb_lvbptr; a longer value is cut off */

/**
 * struct bftmutex_dlm_lksb - the result of a request; belongs to the library until the lock is gone
 * @sb_status: 0: the lock is held in the mode asked for; EAGAIN, EDEADLK, another positive errno;
 *             ECANCEL; EUNLOCK: it is gone. EKEYEXPIRED: the lock is lost, since too few servers
 *             could be reached for a lease, and is in mode NL now; this comes also when nothing was
 *             asked for. As the result of an unlock, EKEYEXPIRED says that the lock was lost before
 *             it was given back: it is gone, and its value did not reach the servers
 * @sb_lkid:   number of the lock, from bftmutex_dlm_lock()
 * @sb_flags:  BFTMUTEX_DLM_VALNOTVALID
 * @sb_lvbptr: BFTMUTEX_DLM_VALUE_LEN bytes; needed with BFTMUTEX_DLM_VALBLK only
 */
struct bftmutex_dlm_lksb {
	int sb_status;
	uint32_t sb_lkid;
	char sb_flags;
	char *sb_lvbptr;
};

struct bftmutex_dlm;

/**
 * bftmutex_dlm_open() - as dlm_open_lockspace()
 * @options: cluster and lease_ns, for all locks; the rest is 0. NULL for the defaults
 * @ret:     untouched on failure
 */
int bftmutex_dlm_open(const struct bftmutex_options *options, struct bftmutex_dlm **ret);

/**
 * bftmutex_dlm_close() - give all locks back, without their values; no callback is called
 * @dlm: the locks of the program; in a child that was forked the locks stay the parent's
 */
void bftmutex_dlm_close(struct bftmutex_dlm *dlm);

/** bftmutex_dlm_fd() - a descriptor to poll: POLLIN says that bftmutex_dlm_dispatch() has work */
int bftmutex_dlm_fd(const struct bftmutex_dlm *dlm);

/** bftmutex_dlm_dispatch() - call the callbacks that are due, and do not wait for others */
int bftmutex_dlm_dispatch(struct bftmutex_dlm *dlm);

/**
 * bftmutex_dlm_lock() - ask for a lock, or for another mode of one, as dlm_ls_lock()
 * @dlm:   the locks of the program
 * @mode:  BFTMUTEX_DLM_NL to BFTMUTEX_DLM_EX
 * @lksb:  for the result; with BFTMUTEX_DLM_CONVERT its number says which lock
 * @flags: BFTMUTEX_DLM_CONVERT and others, 0 for none
 * @name:  of the lock; not looked at with BFTMUTEX_DLM_CONVERT
 * @len:   of @name, in bytes
 * @arg:   for the callbacks
 * @ast:        called with @arg when @lksb has the result
 * @bast:       called with @arg when another program waits for a mode that the held one excludes,
 *              once in each mode, after @ast and not while a conversion waits; NULL: never. Not
 *              every waiter of another host is noticed, and hardly any after a renewal or a
 *              conversion: modes.rst ("Somebody waits")
 *
 * The lease is renewed until the lock is given back. A lock in mode NL is known to this library
 * alone, and costs no message. Each lock is an open descriptor until it is gone, also in mode NL.
 *
 * Return: 0, and @ast is called later; an error, and it is not: -EINVAL, -EBUSY (a request for this
 * lock waits, or its result is not dispatched yet), -ENOTCONN (no helper), -EMFILE (too many open
 * descriptors) or another error of bftmutex_open() and bftmutex_acquire(). After an error the lock
 * has the @lksb and the callbacks that it had.
 */
int bftmutex_dlm_lock(struct bftmutex_dlm *dlm, uint32_t mode, struct bftmutex_dlm_lksb *lksb,
		      uint32_t flags, const void *name, size_t len, void (*ast)(void *arg),
		      void (*bast)(void *arg), void *arg);

/**
 * bftmutex_dlm_unlock() - give a lock back, or cancel a request that waits, as dlm_ls_unlock()
 * @dlm:   the locks of the program
 * @lkid:  number of the lock, of its struct bftmutex_dlm_lksb
 * @flags: BFTMUTEX_DLM_VALBLK or BFTMUTEX_DLM_CANCEL
 * @lksb:  for the result; NULL for that of the lock
 * @arg:   for the callback of the result; NULL for that of the lock. @bast keeps its own
 *
 * A canceled request for a new lock leaves no lock. A conversion that was granted before the cancel
 * is undone; if that fails, since others are in the way by now, its result is 0.
 *
 * Return: as bftmutex_dlm_lock(). With BFTMUTEX_DLM_CANCEL, -EBUSY if no request waits.
 */
int bftmutex_dlm_unlock(struct bftmutex_dlm *dlm, uint32_t lkid, uint32_t flags,
			struct bftmutex_dlm_lksb *lksb, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* BFTMUTEX_DLM_H */
