// SPDX-License-Identifier: GPL-2.0
/* Whether another iteration follows the one under way, and for which operation. */
#include "cluster/cluster.h"
#include "kernel/upcall.h"
#include "order/ordering.h"

bool bftm_order_is_in(const struct bftm_order_work *w, const struct bftm_body_here *state)
{
	struct bftm_applied a;

	return w->submit.op && state->data &&
	       bftm_state_find(state->data, w->ordering->identity->client, &a) &&
	       a.op == w->submit.op;
}

bool bftm_order_wants(const struct bftm_order_work *w)
{
	return w->submit.op && !w->submit.settled;
}

bool bftm_order_request_waits(const struct bftm_order_work *w)
{
	const struct bftm_order_request *next = TAILQ_FIRST(&w->ordering->waiting);

	return next && next->cluster == w->cluster;
}

bool bftm_order_needs_more(const struct bftm_order_work *w)
{
	if (!bftm_upcall_is_open() || !bftm_order_may_go_on(w))
		return false;
	/* An operation that comes soon finds its rank there, and needs no GET. */
	return bftm_order_alone(w) || bftm_order_request_waits(w) ||
	       (bftm_order_wants(w) && !bftm_order_is_in(w, &w->make.next));
}

bool bftm_order_keeps_rank(const struct bftm_order_work *w)
{
	return w->submit.op || (bftm_order_alone(w) && TAILQ_EMPTY(&w->ordering->waiting) &&
				!w->iterate.refresh);
}
