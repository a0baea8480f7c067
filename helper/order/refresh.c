// SPDX-License-Identifier: GPL-2.0
/*
 * A server that was restarted has lost all objects and gets each back by INSTALL,
 * from a client that commits something. For those that nobody uses just then, a
 * client that knows them commits the last state once more.
 */
#include "core/servers.h"
#include "cluster/cluster.h"
#include "order/ordering.h"

#define FIRST_NS		(1 * BFTM_NS_PER_SEC)
#define DOUBLINGS_MAX		6
/* Then the first refresh after it comes soon again. */
#define QUIET_NS		(600 * BFTM_NS_PER_SEC)

static u64 pause_ns(const struct bftm_ordering *o)
{
	u64 pause = FIRST_NS << (o->refreshes < DOUBLINGS_MAX ? o->refreshes : DOUBLINGS_MAX);

	/* Not all objects, and not all clients, at once. */
	return pause / 2 + bftm_random(pause);
}

static void refresh_fire(struct bftm_timer *timer)
{
	struct bftm_ordering *o = container_of(timer, struct bftm_ordering, refresh);
	struct bftm_order_work *w;
	struct bftm_cluster *cl;

	if (!o->restarted)
		return;
	o->refreshes++;
	o->refreshed_ns = bftm_now();
	bftm_timer_arm(timer, bftm_now() + pause_ns(o));
	cl = bftm_cluster_of(o->identity);
	if (!cl || !bftm_cluster_orders(cl) || bftm_order_work_get(o, &w))
		return;
	bftm_iterate_refresh(w);
	if (!w->cluster)
		bftm_order_use(w, cl);
	bftm_order_soon(w, bftm_now());
}

void bftm_refresh_init(struct bftm_ordering *o)
{
	o->refresh.fire = refresh_fire;
}

/* A liar may pretend to be restarted again and again: that is answered less and less. */
static void refresh_note(struct bftm_ordering *o, u32 u, u64 from_ns)
{
	if (o->restarted >> u & 1)
		return;
	o->restarted |= 1u << u;
	if (bftm_now() - o->refreshed_ns > QUIET_NS)
		o->refreshes = 0;
	bftm_timer_arm(&o->refresh, from_ns + pause_ns(o));
}

void bftm_refresh_restarted(struct bftm_ordering *o, struct bftm_cluster *cl, u32 u)
{
	u64 quiet = cl->peer[u].quarantine_until_ns, now = bftm_now();

	/* Until then it says nothing of objects. */
	refresh_note(o, u, quiet > now ? quiet : now);
}

void bftm_refresh_heard(struct bftm_ordering *o, u32 u, const struct bftm_order_msg *msg)
{
	switch (msg->type) {
	case BFTM_ORDER_RECOVERING:
		refresh_note(o, u, bftm_now());
		break;
	case BFTM_ORDER_GOT:
	case BFTM_ORDER_PROPOSED:
	case BFTM_ORDER_COMMITTED:
	case BFTM_ORDER_COMMITTED_GOT:
	case BFTM_ORDER_INSTALLED:
		bftm_order_totals.installed += msg->type == BFTM_ORDER_INSTALLED &&
					       o->restarted >> u & 1;
		o->restarted &= ~(1u << u);
		break;
	}
}

u32 bftm_refresh_awaited(const struct bftm_order_work *w)
{
	const struct bftm_cluster *cl = w->cluster;
	u64 now = bftm_now();
	u32 u, awaited = 0;

	for (u = 0; u < cl->conf.n; u++)
		if (w->ordering->restarted >> u & 1 && now > cl->peer[u].quarantine_until_ns)
			awaited |= 1u << u;
	return awaited;
}
