/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way to the helper. The kernel queues requests and hints; the helper
 * pulls them one by one and reports. It may die and come back at any moment.
 */
#ifndef BFTM_UPCALL_H
#define BFTM_UPCALL_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/limits.h"
#include "time/alarms.h"
#include "uapi/linux/bftmutex.h"
#include "uapi/linux/bftmutex_netlink.h"

struct bftm_burst;
struct bftm_fast;
struct bftm_handle;
struct bftm_net;
struct bftm_submission;

/* 32 to a chain, of BFTM_REQUESTS_MAX: more than 64 in any chain is less likely than 1 in 2,000. */
#define BFTM_REQUEST_BITS 11

/**
 * struct bftm_tables - where what is on its way to the helper is found, by a number or name
 * @by_id:   requests that are given, and what is held
 * @by_name: one acquisition for each name of a lock
 * @fast:    those that the kernel makes by itself, by attempt
 */
struct bftm_tables {
	DECLARE_HASHTABLE(by_id, BFTM_REQUEST_BITS);
	DECLARE_HASHTABLE(by_name, BFTM_REQUEST_BITS);
	DECLARE_HASHTABLE(fast, BFTM_REQUEST_BITS);
};

/** struct bftm_local - what became of acquires; BFTMUTEX_A_LOCAL_* says what each counts */
struct bftm_local {
	u64 acquires;
	u64 won;
	u64 busy;
	u64 timeouts;
	u64 failed;
	u64 cancelled;
	u64 released;
	u64 lost;
	u64 renewed;
};

/**
 * struct bftm_upcall - the way to the helper
 * @bn:       of this namespace
 * @lock:     guards all of it and every handle of the namespace, taken with
 *            bottom halves off
 * @portid:   netlink port of the helper, 0 for none
 * @helper:   counts helpers: the next process may have the same @portid
 * @hinted:   the helper was told that @queue is not empty
 * @deserted: there has been no helper for longer than the grace period
 * @silent:   servers are told nothing, and no helper may come: see bftm_upcall_forked()
 * @forked:   the next process that registers as the helper must hear of it
 * @count:    requests that exist
 * @bytes:    that submits of the namespace take up
 * @local:    what became of acquires
 * @ingress:  so many answers were taken before IP; without @lock
 * @next_id:  number of the next request
 * @queue:    requests to be pulled, oldest first
 * @owed:     RELEASE of locks without a lease, for the next helper: nothing else ends them
 * @ending:   the end of an acquire, pulled last: until the next pull the helper may not
 *            have sent it, and the lock is none for the fast path
 * @given:    acquires and submits that were pulled and are not done
 * @tables:   NULL until the first handle or helper comes, then the same until the namespace
 *            ends; see bftm_upcall_prepare()
 * @secret:   so that nobody can choose names, or keep numbers, that go to one place of a table
 * @sessions: what the helper, or one before it, has lent
 * @client_room: bytes of a client of any session that was lent so far; read without @lock
 * @burst:    what is sent when the lock is released; NULL: nothing can be
 * @alarms:   handles with something to do at a time
 * @handles:  every open handle, by its number; changed without @lock, looked at with it
 * @told:     handles below that number know that they are deserted
 * @grace:    fires when waiting for a new helper is over
 * @orphaned: @grace has fired since a helper ended: no orphan goes on; see session.c
 * @orphans:  work that ends orphans
 */
struct bftm_upcall {
	struct bftm_net *bn;
	spinlock_t lock;
	u32 portid;
	u32 helper;
	bool hinted;
	bool deserted;
	bool silent;
	bool forked;
	u32 count;
	u64 bytes;
	struct bftm_local local;
	atomic64_t ingress;
	u64 next_id;
	struct list_head queue;
	struct list_head owed;
	struct bftm_request *ending;
	struct list_head given;
	struct bftm_tables *tables;
	siphash_key_t secret;
	struct list_head sessions;
	size_t client_room;
	struct bftm_burst *burst;
	struct bftm_alarms alarms;
	struct xarray handles;
	unsigned long told;
	struct hrtimer grace;
	bool orphaned;
	struct work_struct orphans;
};

/**
 * struct bftm_held_value - the value of a lock that is asked for, or held, with BFTM_VALUE
 * @valid:  @bytes is what its last holder left, or this one set
 * @set:    this one set it, and it goes along when the mode is given up
 * @leaves: it goes along with what waits to be pulled
 * @left:   it did, now or earlier: the next helper cannot know to which servers
 * @len:    bytes of it, 0 to BFTM_VALUE_MAX
 * @bytes:  the value, @len of them count
 */
struct bftm_held_value {
	bool valid;
	bool set;
	bool leaves;
	bool left;
	u8 len;
	u8 bytes[BFTM_VALUE_MAX];
};

/** struct bftm_value_report - what the helper says of it; @bytes are @len */
struct bftm_value_report {
	bool valid;
	u8 len;
	const u8 *bytes;
};

/**
 * struct bftm_request - one acquisition, or one submit, on its way through the helper
 * @list:    in the queue, among the given, or nowhere while its handle holds and
 *           the helper has pulled all that is to be known of it
 * @by_id:   hashed while given and while held
 * @by_name: of an acquisition; the oldest of those for a lock of that name is hashed
 * @same:    the others for a lock of that name, in the order in which they came
 * @behind:  it waits until @fast of the oldest has come to its end, and is in no queue
 * @failed:  it asks once, and the kernel has the lock for another: its handle fails at once
 * @lapsed:  it was held, and could not be renewed
 * @silent:  servers that the kernel has asked, and that answer nothing; a bit mask
 * @prio:    highest Lamport priority that the kernel had met when it was entrusted
 * @spare:   what the kernel's attempt begins with, until it begins or the request is the helper's
 * @fast:    the kernel asks for the lock, or holds it, by itself; else NULL
 * @handle:  that waits or holds; NULL when it lost interest, and of a submit
 * @submission: that waits; NULL when it lost interest, and of an acquisition
 * @id:      number, never used twice in a namespace
 * @kind:    enum bftmutex_request_kind, of what is in the queue
 * @arg:     what the application asked for; of a submit, cluster and name
 * @timeout_at_ns: CLOCK_BOOTTIME at which acquire or submit ends, 0 for never
 * @attempt: that won, once it is held
 * @sends:   highest number of a send for the attempt, as the helper said
 * @configuration: by which it won, or the kernel asked the servers; a number of the helper's own
 * @value: of the lock, NULL when nobody asked for it
 * @doubt: the holder could write, and ended without a word about the value
 *
 * One object lives from the acquire to the release: it is turned into the
 * CANCEL or RELEASE that ends it, so giving a lock back cannot fail for want
 * of memory. It is freed at the pull after that of its end, or when there is no
 * helper to pull it.
 *
 * While its handle holds, it is queued as RENEW, HELD or CONVERT and pulled any number of times;
 * it is in the queue at most once, and belongs to the handle all the time. When
 * the handle is done with it, what waits becomes a RELEASE in its place.
 *
 * A submit goes the way of an acquire that fails: it is freed when it is answered,
 * or turned into the WITHDRAW that tells the helper that nobody waits. It is given
 * to one helper only.
 */
struct bftm_request {
	struct list_head list;
	struct hlist_node by_id;
	struct hlist_node by_name;
	struct list_head same;
	bool behind;
	bool failed;
	bool lapsed;
	u32 silent;
	u64 prio;
	struct bftm_fast *spare;
	struct bftm_fast *fast;
	struct bftm_handle *handle;
	struct bftm_submission *submission;
	u64 id;
	u32 kind;
	struct bftm_acquire arg;
	u64 timeout_at_ns;
	u64 attempt;
	u64 configuration;
	struct bftm_held_value *value;
	bool doubt;
	u32 sends;
};

/** bftm_requests_init() - before any request. Return: -ENOMEM, or 0. */
int bftm_requests_init(void);

/** bftm_requests_exit() - when no namespace is left. */
void bftm_requests_exit(void);

/** bftm_request_alloc() - all zeroes. Context: process. Return: NULL without memory. */
struct bftm_request *bftm_request_alloc(void);

/** bftm_request_discard() - free @request, which nothing refers to, and what it owns. */
void bftm_request_discard(struct bftm_request *request);

/** bftm_upcall_init() - @bn->upcall, of zeroes */
void bftm_upcall_init(struct bftm_net *bn);
void bftm_upcall_destroy(struct bftm_upcall *up);

/**
 * bftm_upcall_prepare() - before a handle or a helper comes, of which most namespaces have none
 * @up: the upcall of the namespace
 * Context: process. Return: 0 or -ENOMEM.
 */
int bftm_upcall_prepare(struct bftm_upcall *up);

/**
 * bftm_upcall_add() - begin an acquire, here or by queueing it, or queue a submit
 * @bn:      the namespace
 * @request: zeroed by the caller; @kind, @arg, @timeout_at_ns and who waits filled in
 *
 * All requests for locks of one name are the kernel's or all are the helper's: see local_queue.c.
 * @request->failed says afterwards that bftm_request_failed() with EWOULDBLOCK comes next.
 *
 * Context: the upcall's lock held. Return: 0, -ENOTCONN without a helper (after its grace),
 * -ENOBUFS when too many requests exist.
 */
int bftm_upcall_add(struct bftm_net *bn, struct bftm_request *request);

/**
 * bftm_upcall_renew() - queue a renewal, unless one is
 * @bn:      the namespace
 * @request: held
 * Context: the upcall's lock held. Return: 0, -ENOTCONN without a helper (after
 * its grace).
 */
int bftm_upcall_renew(struct bftm_net *bn, struct bftm_request *request);

/**
 * bftm_upcall_convert() - queue what the helper is to know of the mode of a held lock
 * @bn:      the namespace
 * @request: held
 *
 * The mode, the one that is wanted, if any, and its limit are read when it is pulled: so it is
 * also for a conversion that is given up. Context and return as bftm_upcall_renew().
 */
int bftm_upcall_convert(struct bftm_net *bn, struct bftm_request *request);

/**
 * bftm_upcall_end() - the waiter or holder is done with a request: cancel it,
 * release its lock, or withdraw it
 * @bn:      the namespace
 * @request: not the caller's any more
 * Context: the upcall's lock held, any. @request is not the caller's any more.
 */
void bftm_upcall_end(struct bftm_net *bn, struct bftm_request *request);

/**
 * bftm_upcall_register() - become the helper
 * @bn:     the namespace
 * @portid: netlink port of the process that wants to be the helper
 *
 * Acquires that the helper before had taken and not finished can be pulled again, and before them
 * each held lock that the kernel does not hold by itself: RENEW if it is to be renewed, else HELD.
 *
 * Return: 0, -EBUSY when there is a helper, -ENOMEM, or -ESTALE once after
 * bftm_upcall_forked().
 */
int bftm_upcall_register(struct bftm_net *bn, u32 portid);

/**
 * bftm_upcall_deregister() - the socket @portid was closed
 * @bn:     the namespace
 * @portid: netlink port of the socket
 *
 * If that was the helper, each submit that it had taken and not answered fails with
 * EOWNERDEAD: nobody else may apply it.
 */
void bftm_upcall_deregister(struct bftm_net *bn, u32 portid);

/**
 * bftm_upcall_suspend() - the machine falls asleep: no lease is left, there is no helper
 * @bn: the namespace
 *
 * Context: process.
 * Return: 0, or -ENOMEM when the last helper is not told of it.
 */
int bftm_upcall_suspend(struct bftm_net *bn);

/**
 * bftm_upcall_forked() - the machine is a copy of what it was: nothing is held
 * @bn: the namespace
 *
 * There is no helper either. The next one has to register twice, and to take new numbers in
 * between. Servers are not told which locks were lost here: another copy of the machine may
 * hold them by the same numbers.
 *
 * Context: process.
 */
void bftm_upcall_forked(struct bftm_net *bn);

/** bftm_upcall_resume() - a helper may come again, and has the time for it from now on. */
void bftm_upcall_resume(struct bftm_net *bn);

/**
 * bftm_upcall_pull() - hand the oldest request to the helper
 * @bn:     the namespace
 * @portid: netlink port of the process that asks
 * @give:   sends it, called with the upcall's lock held; the request may be gone or belong to
 *          others as soon as that is released
 * @arg:    for @give
 * Return: 0, -EPERM when @portid is not the helper, -ENODATA for none, or what
 * @give returned; then nothing was handed over.
 */
int bftm_upcall_pull(struct bftm_net *bn, u32 portid,
		     int (*give)(const struct bftm_request *request, void *arg),
		     void *arg);

/** struct bftm_result - what the helper reports of an acquire */
struct bftm_result {
	u64 id;
	int error;		/* negative errno, 0 when won */
	char cluster[BFTM_CLUSTER_MAX];	/* empty: as it was asked for */
	u64 lease_ns;			/* 0: likewise */
	u64 attempt;
	u32 attempts;
	u64 deadline_ns;		/* CLOCK_BOOTTIME */
	u64 end_ns;			/* the same by the clock of leases */
	u64 token;
	u64 configuration;
	u32 sends;
	struct bftm_value_report value;
	char *why;			/* in words, NULL for nothing; for kfree() */
};

/**
 * bftm_upcall_done() - an acquire is decided
 * @bn:     the namespace
 * @portid: netlink port that the message came from
 * @result: its words are the handle's afterwards, if it failed; what is there instead is the
 *          caller's
 * Return: 0, -EPERM, or -ESTALE when nobody waits for it or its deadline has
 * passed (then it waits to be pulled again), or -EINVAL for BFTM_FENCE without a
 * token, or -ERANGE when only one of request and report is without a lease: the acquire has failed.
 */
int bftm_upcall_done(struct bftm_net *bn, u32 portid,
		     struct bftm_result *result);

/**
 * struct bftm_submitted - what the helper reports of a submit
 * @id:       number of the request
 * @error:    negative errno; 0 when it was applied, and the rest is valid
 * @status:   positive errno of the object, or 0
 * @number:   of the request among all of the object, from 1
 * @response: @len bytes, copied when somebody waits for it
 * @len:      of @response, bytes, at most BFTM_OP_MAX
 */
struct bftm_submitted {
	u64 id;
	int error;
	u32 status;
	u64 number;
	const void *response;
	u32 len;
};

/**
 * bftm_upcall_submitted() - a submit is answered
 * @bn:     the namespace
 * @portid: netlink port that the message came from
 * @answer: the report
 * Return: 0, -EPERM, or -ESTALE when nobody waits for it.
 */
int bftm_upcall_submitted(struct bftm_net *bn, u32 portid,
			  const struct bftm_submitted *answer);

/**
 * bftm_upcall_renewed() - what is held lasts longer
 * @bn:          the namespace
 * @portid:      netlink port that the message came from
 * @id:          number of the request
 * @deadline_ns: CLOCK_BOOTTIME, later than the one known
 * @end_ns:      the same by the clock of leases; 0 of a helper that does not say
 * @sends:       highest number of a send for the attempt
 * Return: 0; -ESTALE when it is not held any more, or was over before; -EALREADY
 * when it lasts as long already (@sends is noted); -EPERM. After -ESTALE alone
 * nobody holds it.
 */
int bftm_upcall_renewed(struct bftm_net *bn, u32 portid, u64 id,
			u64 deadline_ns, u64 end_ns, u32 sends);

/**
 * bftm_upcall_wanted() - somebody waits for a mode that the one held excludes
 * @bn:     the network namespace
 * @portid: of the helper that says so
 * @id:     of the request that holds the lock
 * @mode: enum bftm_lock_mode that is held, as the helper knows it
 * Return: 0; -ESTALE when it is not held any more, or in another mode; -EPERM.
 */
int bftm_upcall_wanted(struct bftm_net *bn, u32 portid, u64 id, u32 mode);

/** struct bftm_converted - what the helper reports of a conversion */
struct bftm_converted {
	u64 id;			/* of the request */
	u32 number;		/* of the conversion */
	int error;		/* negative errno; 0: the lock is held in the mode wanted */
	u64 deadline_ns;	/* as in struct bftm_result */
	u64 end_ns;
	u64 token;		/* new, or 0 */
	u32 sends;
	struct bftm_value_report value;	/* of a mode that the one before does not cover */
};

/**
 * bftm_upcall_converted() - a conversion is decided
 * @bn:     the namespace
 * @portid: netlink port that the message came from
 * @result: the report
 * Return: 0; -ESTALE: nobody holds the lock any more; -ECANCELED: nobody waits for it any
 * more, and a request says which mode is held; -EINVAL: a token is missing; -EPERM.
 */
int bftm_upcall_converted(struct bftm_net *bn, u32 portid, const struct bftm_converted *result);

/**
 * bftm_upcall_evicted() - a lock without a lease is lost: servers have evicted this host
 * @bn:     the namespace
 * @portid: netlink port that the message came from
 * @id:     of the request that holds the lock
 * Return: 0; -ESTALE: it is not held any more; -EINVAL: it has a lease; -EPERM.
 */
int bftm_upcall_evicted(struct bftm_net *bn, u32 portid, u64 id);

/** bftm_upcall_won() - the handle holds. Context: the upcall's lock held. */
void bftm_upcall_won(struct bftm_net *bn, struct bftm_request *request,
		     const struct bftm_result *result);

/** bftm_upcall_requeue() - a request is the helper's now. Context: as above. */
void bftm_upcall_requeue(struct bftm_net *bn, struct bftm_request *request);

/** bftm_upcall_is_helper() - is @portid? */
bool bftm_upcall_is_helper(struct bftm_net *bn, u32 portid);

/** bftm_upcall_held() - what the kernel held by itself is the helper's. Context: as above. */
void bftm_upcall_held(struct bftm_net *bn, struct bftm_request *request);

/* Between the upcall's own files, with its lock held. */

/*
 * An attempt won and its handle holds it: the request is hashed, and in the queue
 * while a RENEW or HELD waits to be pulled.
 */
static inline bool bftm_request_is_held(const struct bftm_request *request)
{
	return request->handle && request->attempt;
}

/* A lock without a lease that was won: servers keep it until they are told. */
static inline bool bftm_request_lasts(const struct bftm_request *request)
{
	return request->attempt && request->arg.flags & BFTM_NO_LEASE;
}

/* The helper has it and is not done. */
static inline bool bftm_request_is_given(const struct bftm_request *request)
{
	return !hlist_unhashed(&request->by_id) && !request->attempt;
}

/** bftm_request_mark_held() - the helper shall know of what is held, and renew it if need be */
void bftm_request_mark_held(struct bftm_request *request);

void bftm_request_free(struct bftm_upcall *up, struct bftm_request *request);

/* local_queue.c, with the upcall's lock held */
/** bftm_local_join() - an acquire begins, waits behind another, or is the helper's. */
void bftm_local_join(struct bftm_net *bn, struct bftm_request *request);
/** bftm_local_leave() - a request goes; another is hashed for those of its name. */
void bftm_local_leave(struct bftm_request *request);
/**
 * bftm_local_end() - a request is over, and the kernel has told servers; the next begins
 * @bn:      the namespace
 * @request: freed, or what tells the helper that the lock is lost
 */
void bftm_local_end(struct bftm_net *bn, struct bftm_request *request);
/** bftm_local_expire() - its time limit is over: the helper says why, and the next begins. */
void bftm_local_expire(struct bftm_net *bn, struct bftm_request *request);
/**
 * bftm_local_pull() - which request the helper is to be given now
 * @up:      the upcall
 * @request: the first in the queue
 *
 * It came while no helper was there, and found a lock that the kernel asks for or holds. The helper
 * has to know that one first: the attempt that it begins for @request is a later one.
 * Return: the other, which is the first in the queue now; or @request.
 */
struct bftm_request *bftm_local_pull(struct bftm_upcall *up, struct bftm_request *request);
/** bftm_local_entrust() - a request that was the kernel's is the helper's, with all behind it. */
void bftm_local_entrust(struct bftm_net *bn, struct bftm_request *request);
/** bftm_local_next() - the first that waits behind a request of the kernel's, or NULL. */
struct bftm_request *bftm_local_next(const struct bftm_request *request);

/* value.c, with the upcall's lock held but for the first */
/** bftm_held_value_new() - for these enum bftm_acquire_flags; NULL for none, or without memory. */
struct bftm_held_value *bftm_held_value_new(u32 flags);
/** bftm_held_value_told() - the helper has told the value of the lock. */
void bftm_held_value_told(struct bftm_request *request, const struct bftm_value_report *report);
/** bftm_held_value_give_up() - the holder gives its mode up; before @request has the next mode. */
void bftm_held_value_give_up(struct bftm_request *request);
/** bftm_held_value_doubt() - the holder ends without a word, or lost the lock. */
void bftm_held_value_doubt(struct bftm_request *request);

/** bftm_request_failed() - the waiter is told a negative errno; the request is freed. */
void bftm_request_failed(struct bftm_upcall *up, struct bftm_request *request, int error);

/** bftm_upcall_desert() - fail what is queued, if the grace is over and no helper is there. */
void bftm_upcall_desert(struct bftm_upcall *up);

/** bftm_upcall_hint() - tell the helper that requests wait, if it is not told. */
void bftm_upcall_hint(struct bftm_net *bn);

#endif /* BFTM_UPCALL_H */
