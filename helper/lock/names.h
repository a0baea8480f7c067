/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks that requests of this host name. Several requests for one lock queue
 * here, so that the host contends once, whatever configuration they are under.
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
	BFTM_PLACE_ACTIVE,	/* contends, or holds what it won */
	BFTM_PLACE_ADOPTED,	/* holds what an earlier daemon, or the kernel, won */
};

/**
 * struct bftm_name - a lock
 * @active:  the one that contends or holds, or NULL
 * @waiting: others, in the order in which they came
 * @adopted: holders beside it; while there is one, nobody else becomes active
 * @prio:    highest Lamport priority met: a request that began at 1 again
 *           would go before all that wait
 * @released_ns: when servers were told last that an attempt is over; 0 for never
 */
struct bftm_name {
	RB_ENTRY(bftm_name) node;
	TAILQ_ENTRY(bftm_name) idle;
	u8 len;
	u8 name[BFTM_NAME_LEN_MAX];
	struct bftm_acquire_op *active;
	TAILQ_HEAD(, bftm_acquire_op) waiting;
	TAILQ_HEAD(, bftm_acquire_op) adopted;
	u64 prio;
	u64 released_ns;
};

/* Locks that nobody here names now are remembered, up to so many. */
#define BFTM_NAMES_IDLE	4096u

void bftm_names_init(struct bftm_names *names);
/** bftm_names_free() - nobody is at any of them. */
void bftm_names_free(struct bftm_names *names);

/**
 * bftm_name_join() - put a request at the lock that it asks for
 * @adopted: it holds already; else it becomes active, or waits
 * Return: 0 or -ENOMEM.
 */
int bftm_name_join(struct bftm_names *names, struct bftm_acquire_op *op,
		   bool adopted);

/** bftm_name_leave() - Return: whose turn it is now, active already; or NULL. */
struct bftm_acquire_op *bftm_name_leave(struct bftm_names *names,
					struct bftm_acquire_op *op);

/** bftm_name_find() - NULL when nobody here has named it lately. */
struct bftm_name *bftm_name_find(struct bftm_names *names, const u8 *name,
				 u8 len);

/** bftm_name_op() - the request that contends or holds by this attempt, or NULL. */
struct bftm_acquire_op *bftm_name_op(const struct bftm_name *name, u64 attempt);

#endif /* BFTM_NAMES_H */
