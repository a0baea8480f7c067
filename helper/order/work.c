// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of objects in use: 110 kB for each, and its state. It stays for a while after the
 * last request, since the next one is cheaper then; but not for too many objects, nor for ever.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "order/ordering.h"

#define IDLE_NS		(60 * BFTM_NS_PER_SEC)
#define IDLE_MAX	128u
/* After so many, what was freed goes back to the kernel. */
#define TRIM_EACH	64u

/* Not in use, oldest first. */
static TAILQ_HEAD(, bftm_order_work) idle = TAILQ_HEAD_INITIALIZER(idle);
static u32 idle_count;
static u32 count;

static void set_idle(struct bftm_order_work *w, bool is_idle)
{
	if (w->idle == is_idle)
		return;
	w->idle = is_idle;
	if (is_idle)
		TAILQ_INSERT_TAIL(&idle, w, idlers);
	else
		TAILQ_REMOVE(&idle, w, idlers);
	idle_count += is_idle ? 1 : -1u;
}

void bftm_order_work_free(struct bftm_order_work *w)
{
	struct bftm_ordering *o = w->ordering;
	static u32 freed;

	set_idle(w, false);
	o->ranks = w->order.rank.count;
	o->work = NULL;
	bftm_order_unlock(w);
	bftm_make_free(w);
	bftm_submit_stop(w);
	bftm_timer_stop(&w->wake);
	bftm_timer_stop(&w->transfer);
	if (w->cluster)
		w->cluster->acquires.count--;
	free(w);
	if (!--count || ++freed % TRIM_EACH == 0)
		malloc_trim(0);
}

static void work_wake(struct bftm_timer *timer)
{
	struct bftm_order_work *w = container_of(timer, struct bftm_order_work, wake);

	if (w->cluster)
		bftm_iterate(w);
	else
		bftm_order_work_free(w);
}

int bftm_order_work_get(struct bftm_ordering *o, struct bftm_order_work **ret)
{
	struct bftm_order_work *w = o->work;

	*ret = w;
	if (w)
		return 0;
	if (count - idle_count >= BFTM_WORKS_MAX)
		return -ENOBUFS;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	count++;
	w->ordering = o;
	w->wake.fire = work_wake;
	w->order.rank.count = o->ranks;
	w->order.rank.client = o->identity->client;
	w->order.rank.incarnation = (u32)(bftm_identity_seq(o->identity) >> 32);
	bftm_submit_init(w);
	bftm_bodies_init(w);
	bftm_make_init(w);
	o->work = w;
	/* Until it is used. */
	set_idle(w, true);
	bftm_timer_arm(&w->wake, bftm_now() + IDLE_NS);
	*ret = w;
	return 0;
}

void bftm_order_soon(struct bftm_order_work *w, u64 at_ns)
{
	if (!w->wake.armed || at_ns < w->wake.at_ns)
		bftm_timer_arm(&w->wake, at_ns);
}

/* Other servers, perhaps: what the old ones said of completed states says nothing. */
static void start_over(struct bftm_order_work *w)
{
	struct bftm_rank rank = w->order.rank;

	bftm_make_anew(w);
	memset(&w->order, 0, sizeof(w->order));
	w->order.rank = rank;
	w->used_by = w->cluster->first_seq;
}

void bftm_order_use(struct bftm_order_work *w, struct bftm_cluster *cl)
{
	if (w->cluster == cl)
		return;
	if (w->cluster)
		w->cluster->acquires.count--;
	w->cluster = cl;
	set_idle(w, !cl);
	if (!cl) {
		bftm_timer_arm(&w->wake, bftm_now() + IDLE_NS);
		if (idle_count > IDLE_MAX)
			bftm_order_work_free(TAILQ_FIRST(&idle));
		return;
	}
	bftm_timer_stop(&w->wake);
	cl->acquires.count++;
	if (w->used_by != cl->first_seq)
		start_over(w);
}
