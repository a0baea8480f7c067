// SPDX-License-Identifier: GPL-2.0
/* Line 2.22: which operations are applied, and the state that comes of it. */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "crypto/digest.h"
#include "order/ordering.h"

static_assert((BFTM_OPS_MAX + 1) * (BFTM_OP_MAX / 8) < BFTM_NUMBERS);

static void insert_own(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	struct bftm_op own = {
		.op = w->submit.op,
		.client = w->ordering->identity->client,
		.id = w->submit.id,
	};
	u32 i = 0;

	while (i < m->job.count && m->ops[i].client < own.client)
		i++;
	memmove(&m->ops[i + 1], &m->ops[i], (m->job.count - i) * sizeof(own));
	memmove(&m->job_ops[i + 1], &m->job_ops[i], (m->job.count - i) * sizeof(m->job_ops[0]));
	m->ops[i] = own;
	m->job_ops[i] = (struct bftm_object_op){
		.body = w->submit.body.data,
		.len = w->submit.body.len,
		.own = true,
	};
	m->job.count++;
}

/* Not all may find time: so not the same clients come first each time. */
static void rotate(struct bftm_order_work *w, u32 from)
{
	struct bftm_order_make *m = &w->make;
	struct bftm_object_op job_ops[BFTM_OPS_MAX + 1];
	struct bftm_op ops[BFTM_OPS_MAX + 1];
	u32 i, first = 0, count = m->job.count;

	while (first < count && m->ops[first].client < from)
		first++;
	memcpy(ops, m->ops, sizeof(ops));
	memcpy(job_ops, m->job_ops, sizeof(job_ops));
	for (i = 0; i < count; i++) {
		m->ops[i] = ops[(first + i) % count];
		m->job_ops[i] = job_ops[(first + i) % count];
	}
}

void bftm_apply_collect(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	u32 i, kept = 0, count = m->job.count, from = m->from;
	enum bftm_order_turn own = BFTM_TURN_NOT;
	const struct bftm_fetch *f;

	m->space = (struct bftm_order_space){
		.base = bftm_order_base(w), .base_len = w->order.base.len, .limit = m->limit,
	};
	if (w->submit.op)
		own = bftm_order_turn(&m->space, w->ordering->identity->client, w->submit.op);
	m->due = own != BFTM_TURN_NOT;
	for (i = 0; i < count; i++) {
		f = bftm_make_fetched(w, &m->ops[i].id);
		if ((!f && m->ops[i].id.len) ||
		    bftm_order_turn(&m->space, m->ops[i].client, m->ops[i].op) != BFTM_TURN_NOW)
			continue;
		m->ops[kept] = m->ops[i];
		m->job_ops[kept] = (struct bftm_object_op){
			.body = f ? f->body.data : NULL,
			.len = m->ops[i].id.len,
		};
		kept++;
	}
	m->job.count = kept;
	/* The client that there was no room to tell of comes first the next time. */
	m->from = kept ? m->ops[kept - 1].client + 1 : 0;
	if (own == BFTM_TURN_NOW)
		insert_own(w);
	if (bftm_order_runs(w))
		rotate(w, from);
}

/* Into @ret, ascending by client. Return: how many. */
static u32 list_applied(struct bftm_order_work *w, struct bftm_applied *ret)
{
	struct bftm_order_make *m = &w->make;
	const struct bftm_object_op *op = m->job.op;
	u32 i, k, count = 0;

	for (i = 0; i < m->job.count; i++) {
		if (!op[i].applied)
			continue;
		for (k = count++; k && ret[k - 1].client > m->ops[i].client; k--)
			ret[k] = ret[k - 1];
		ret[k] = (struct bftm_applied){
			.op = m->ops[i].op,
			.client = m->ops[i].client,
			.len = op[i].response.len,
			.response = op[i].response.data,
		};
		if (bftm_order_runs(w) && !op[i].own)
			m->from = m->ops[i].client + 1;
	}
	return count;
}

bool bftm_apply_assemble(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	const struct bftm_object_job *job = &m->job;
	struct bftm_applied applied[BFTM_OPS_MAX + 1];
	u64 version = w->order.base.version + 1;
	u32 count = list_applied(w, applied), len;
	u8 *body;

	body = malloc(m->limit);
	len = body ? bftm_state_make(bftm_order_base(w), version, applied, count, job->state.data,
				     job->state.len, body, m->limit) : 0;
	if (!len || bftm_body_describe(version, body, len, &m->next.id) < 0) {
		free(body);
		return false;
	}
	m->next.data = realloc(body, len) ?: body;
	bftm_order_totals.applied += count;
	return true;
}
