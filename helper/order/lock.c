// SPDX-License-Identifier: GPL-2.0
/*
 * Line 2.9: contend(). A client that meets no other one takes no lock, and saves a round trip;
 * one that does queues for the lock named like the object with a zero byte behind it.
 * The lock is advisory: a client whose operation nobody applies for long goes on without.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "types/exec.h"
#include "order/ordering.h"

/* Nobody else was met for so long, in repetitions: then it is tried without. */
#define ALONE	32
/*
 * For so many repetitions, or up to twice that, one operation waits for the lock; and for
 * as long as the host that has it may run programs: for itself, for others, and the last one.
 */
#define PATIENCE	32

/* Numbers of the kernel's requests do not get there. */
#define INSIDE_IDS	(1ull << 63)

static u64 resend_ns(const struct bftm_order_work *w)
{
	return bftm_order_cfg_of(w)->resend_ns;
}

static void mutex_won(void *arg)
{
	struct bftm_order_work *w = arg;

	bftm_order_totals.locked++;
	w->mutex.impatient = false;
	w->mutex.state = BFTM_ORDER_LOCKED;
	bftm_order_soon(w, 0);
}

/* It could not be had, or the lease is over. */
static void mutex_over(void *arg)
{
	struct bftm_order_work *w = arg;

	w->mutex.state = w->mutex.state == BFTM_ORDER_QUEUED ? BFTM_ORDER_NO_LOCK : BFTM_ORDER_UNLOCKED;
	w->mutex.id = 0;
	if (w->mutex.state == BFTM_ORDER_NO_LOCK)
		bftm_order_soon(w, 0);
}

static void contend(struct bftm_order_work *w)
{
	static u64 last;
	struct bftm_ask ask = {
		.id = INSIDE_IDS | ++last,
		.name_len = w->ordering->len + 1,
		.lease_ns = w->cluster->conf.lease_ns,
		.renew = bftm_order_runs(w),
		.inside = &w->mutex.inside,
	};

	snprintf(ask.cluster, sizeof(ask.cluster), "%s", w->cluster->conf.name);
	memcpy(ask.name, w->ordering->name, w->ordering->len);
	w->mutex.inside = (struct bftm_inside){ .won = mutex_won, .over = mutex_over, .arg = w };
	w->mutex.state = BFTM_ORDER_QUEUED;
	w->mutex.id = ask.id;
	bftm_order_patience(w);
	bftm_acquire_begin(&ask);
}

static u64 running_ns(const struct bftm_order_work *w)
{
	if (!bftm_order_runs(w))
		return 0;
	return 2 * (bftm_exec_limit_ns() ?: BFTM_TIME_LIMIT_MAX_NS) + BFTM_OTHERS_NS;
}

void bftm_order_patience(struct bftm_order_work *w)
{
	/* Once it was of no use, the holder is taken for dead, until another is met. */
	if (!w->mutex.impatient)
		w->mutex.patience_ns = bftm_now() + running_ns(w) +
				 (PATIENCE + bftm_random(PATIENCE)) * resend_ns(w);
}

void bftm_order_patience_anew(struct bftm_order_work *w)
{
	w->mutex.impatient = false;
	bftm_order_patience(w);
}

void bftm_order_met(struct bftm_order_work *w)
{
	w->ordering->contended_ns = bftm_now();
	if (w->mutex.state == BFTM_ORDER_NO_LOCK)
		w->mutex.state = BFTM_ORDER_UNLOCKED;
	bftm_order_patience_anew(w);
}

/* The holder of the lock applies the operations of all: nobody has to wait for its turn. */
static bool waits(struct bftm_order_work *w)
{
	if (w->mutex.state != BFTM_ORDER_QUEUED)
		return false;
	if (bftm_now() >= w->mutex.patience_ns) {
		w->mutex.impatient = true;
		return false;
	}
	bftm_timer_arm(&w->wake, w->mutex.patience_ns);
	return true;
}

static bool is_alone(const struct bftm_order_work *w)
{
	u64 met = w->ordering->contended_ns;

	return !met || bftm_now() - met > ALONE * resend_ns(w);
}

bool bftm_order_alone(const struct bftm_order_work *w)
{
	return !bftm_order_runs(w) && w->mutex.state == BFTM_ORDER_UNLOCKED && is_alone(w);
}

bool bftm_order_may_go_on(const struct bftm_order_work *w)
{
	/* Before a program runs, each host waits for its turn. */
	if (bftm_order_runs(w) || w->mutex.state == BFTM_ORDER_QUEUED)
		return false;
	return w->mutex.state != BFTM_ORDER_UNLOCKED || is_alone(w);
}

bool bftm_order_may(struct bftm_order_work *w)
{
	if (w->mutex.state != BFTM_ORDER_UNLOCKED)
		return !waits(w);
	if (!bftm_order_runs(w) && is_alone(w))
		return true;
	contend(w);
	return !waits(w);
}

void bftm_order_unlock(struct bftm_order_work *w)
{
	u64 id = w->mutex.id;

	w->mutex.id = 0;
	w->mutex.state = BFTM_ORDER_UNLOCKED;
	w->mutex.inside = (struct bftm_inside){};
	if (id)
		bftm_acquire_cancel(id);
}
