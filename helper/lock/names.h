/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks that requests of this host name. Requests for one lock queue here, whatever configuration
 * they are under, so that one of them contends at a time: servers keep one place in their queue for
 * each client. Those whose modes do not exclude each other hold the lock together.
 */
#ifndef BFTM_NAMES_H
#define BFTM_NAMES_H

#include <sys/queue.h>

#include "core/limits.h"
#include "core/types.h"
#include "cluster/identity.h"
#include "loop/tree.h"

struct bftm_acquire_op;

/** enum bftm_name_place - where a request stands at its lock */
enum bftm_name_place {
	BFTM_PLACE_WAITING,	/* for its turn */
	BFTM_PLACE_ACTIVE,	/* contends, or holds what it won here */
	BFTM_PLACE_ADOPTED,	/* holds what an earlier daemon, or the kernel, won */
};

/*
 * A lock. In a comment that begins with two stars kernel-doc would read TAILQ_HEAD as a member.
 * @len:       bytes of @name
 * @contender: the one that asks servers for the lock, or NULL
 * @holders:   those that hold it, by what they won here or what was adopted
 * @waiting:   others, in the order in which they came; the first begins as soon as nobody contends
 *             and its mode excludes no holder's
 * @prio:      highest Lamport priority met: a request that began at 1 again
 *             would go before all that wait
 * @released_ns: when servers were told last that an attempt is over; 0 for never
 */
struct bftm_name {
	RB_ENTRY(bftm_name) node;
	TAILQ_ENTRY(bftm_name) idle;
	u8 len;
	u8 name[BFTM_NAME_LEN_MAX];
	struct bftm_acquire_op *contender;
	TAILQ_HEAD(, bftm_acquire_op) holders;
	TAILQ_HEAD(, bftm_acquire_op) waiting;
	u64 prio;
	u64 released_ns;
};

/* Locks that nobody here names now are remembered, up to so many. */
#define BFTM_NAMES_IDLE	4096u

void bftm_names_init(struct bftm_names *names);
/** bftm_names_free() - free the names, at which there is no request any more. */
void bftm_names_free(struct bftm_names *names);

/**
 * bftm_name_join() - put a request at the lock that it asks for
 * @names:   locks of the client
 * @op:      the request
 * @adopted: it holds already; else it contends, or waits
 * Return: 0 or -ENOMEM.
 */
int bftm_name_join(struct bftm_names *names, struct bftm_acquire_op *op,
		   bool adopted);

/**
 * bftm_name_won() - the contender @op holds the lock now
 * @op: a request that contends
 * Return: the request that contends now, and is to be sent to servers; or NULL.
 */
struct bftm_acquire_op *bftm_name_won(struct bftm_acquire_op *op);

/** bftm_name_next() - a holder excludes fewer now. Return: as bftm_name_won(). */
struct bftm_acquire_op *bftm_name_next(struct bftm_name *name);

/** bftm_name_leave() - @op is over, wherever it stands. Return: as bftm_name_won(). */
struct bftm_acquire_op *bftm_name_leave(struct bftm_names *names,
					struct bftm_acquire_op *op);

/**
 * bftm_name_excludes() - does @op, which waits, exclude a request of this host that holds the lock,
 * contends for it, or came before it?
 * @op: a request that waits
 */
bool bftm_name_excludes(const struct bftm_acquire_op *op);

/**
 * bftm_name_wanted() - does another request of this host ask for what @op excludes, or convert to it?
 * @op: a request that holds the lock
 */
bool bftm_name_wanted(const struct bftm_acquire_op *op);

/** bftm_name_once() - the first of those that wait and ask once (BFTM_TRY), or NULL. */
struct bftm_acquire_op *bftm_name_once(const struct bftm_name *name);

/** bftm_name_find() - NULL when nobody here has named it lately. */
struct bftm_name *bftm_name_find(struct bftm_names *names, const u8 *name,
				 u8 len);

/** bftm_name_op() - the request that contends or holds by this attempt, or NULL. */
struct bftm_acquire_op *bftm_name_op(const struct bftm_name *name, u64 attempt);

#endif /* BFTM_NAMES_H */
