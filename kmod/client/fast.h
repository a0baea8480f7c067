/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fast path: the kernel itself asks servers for a lock, waits in their queue, renews the lock
 * and gives it back, without waking the helper. An acquire that would have to sleep (Figure 1), or
 * which too few servers answer, or would grant, is the helper's, as if it had just come.
 */
#ifndef BFTM_FAST_H
#define BFTM_FAST_H

#include "client/session.h"
#include "core/backoff/host.h"

struct bftm_request;

/**
 * struct bftm_fast - one acquisition by the kernel, until servers know of its end;
 * guarded by the upcall's lock
 * @by_attempt: among all of the namespace
 * @list:       of its session
 * @due:        queued while it has something to do at a time
 * @alarms:     of the session, where @due is queued
 * @armed_ns:   @host.due_ns when @due was queued; 0: it was queued for @unsent
 * @armed_state: @host.state then
 * @session:    it goes when that does
 * @request:    that waits or holds; NULL when it is given back
 * @unsent:     had no room, and leaves by the next alarm; to no server: nothing
 * @hindering:  servers that have answered last that they grant it nothing: they refuse it, or wait
 *              for members
 * @room:       bytes behind it, of the client that @host has at the beginning
 * @host:       the core
 * @name_len:   bytes of @name, 1 to BFTM_NAME_LEN_MAX
 * @name:       of the lock
 */
struct bftm_fast {
	struct hlist_node by_attempt;
	struct list_head list;
	struct timerqueue_node due;
	struct bftm_alarms *alarms;
	u64 armed_ns;
	enum bftm_host_state armed_state;
	struct bftm_session *session;
	struct bftm_request *request;
	struct bftm_send unsent;
	u32 hindering;
	size_t room;
	struct bftm_host host;
	u8 name_len;
	u8 name[BFTM_NAME_LEN_MAX];
};

/**
 * bftm_fast_alloc() - for an attempt of the kernel
 * @room: bytes of its client in the core
 *
 * Context: process. Return: zeroes but for the room, or NULL.
 */
struct bftm_fast *bftm_fast_alloc(size_t room);

/** bftm_fast_discard() - free @f, which nothing refers to, or NULL. */
void bftm_fast_discard(struct bftm_fast *f);

/* All that follow with the upcall's lock held. */

/**
 * bftm_fast_begin() - ask the servers for a lock
 * @bn:      the namespace
 * @request: not queued; numbered
 * Return: false when that is better left to the helper.
 */
bool bftm_fast_begin(struct bftm_net *bn, struct bftm_request *request);

/** bftm_fast_end() - the waiter or holder is done; the request stays the caller's. */
void bftm_fast_end(struct bftm_request *request);

/** bftm_fast_renew() - ask now for a longer lease of the held lock. */
void bftm_fast_renew(struct bftm_request *request);

/** bftm_fast_leave() - the helper goes on with the held lock. */
void bftm_fast_leave(struct bftm_request *request);

/** bftm_fast_entrust() - the helper goes on with what the kernel asks for or holds. */
void bftm_fast_entrust(struct bftm_request *request);

/**
 * bftm_fast_retire() - a session goes, nothing begins by it: the helper goes on with some of it
 * @s: the session
 * Return: true when there is more, for another hold of the lock.
 */
bool bftm_fast_retire(struct bftm_session *s);

/**
 * bftm_fast_ring() - an attempt has something to do
 * @due:     of it
 * @boot_ns: CLOCK_BOOTTIME
 * Return: the datagrams that were sent, one at least. The upcall's lock is released meanwhile.
 */
unsigned int bftm_fast_ring(struct timerqueue_node *due, u64 boot_ns);

/** bftm_fast_unsent() - TRY of an attempt did not go out to the servers @failed. */
void bftm_fast_unsent(struct bftm_session *s, u64 attempt, u32 failed);

/**
 * bftm_fast_answer() - an authentic answer of server number @u
 * @s:   the session that the answer belongs to
 * @u:   its number, less than s->cfg.n
 * @msg: the answer
 * @counts: does it count as a grant or stamp? See bftm_epoch_known(). The kernel gives a grant that
 *          does not count back when the attempt is over: the helper does not know the attempt.
 * Return: false when it is no answer to what the kernel does.
 */
bool bftm_fast_answer(struct bftm_session *s, u32 u, const struct bftm_msg *msg, bool counts);

/** bftm_fast_stale() - server number @u has another epoch, and has not taken the request. */
void bftm_fast_stale(struct bftm_session *s, u32 u, const struct bftm_msg *msg);

#endif /* BFTM_FAST_H */
