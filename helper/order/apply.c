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
	struct bftm_op own = {
		.op = w->op,
		.client = w->ordering->identity->client,
		.id = w->id,
	};
	u32 i = 0;

	while (i < w->job.count && w->ops[i].client < own.client)
		i++;
	memmove(&w->ops[i + 1], &w->ops[i], (w->job.count - i) * sizeof(own));
	memmove(&w->job_ops[i + 1], &w->job_ops[i], (w->job.count - i) * sizeof(w->job_ops[0]));
	w->ops[i] = own;
	w->job_ops[i] = (struct bftm_object_op){
		.body = w->body.data,
		.len = w->body.len,
		.own = true,
	};
	w->job.count++;
}

/* Not all may find time: so not the same clients come first each time. */
static void rotate(struct bftm_order_work *w, u32 from)
{
	struct bftm_object_op job_ops[BFTM_OPS_MAX + 1];
	struct bftm_op ops[BFTM_OPS_MAX + 1];
	u32 i, first = 0, count = w->job.count;

	while (first < count && w->ops[first].client < from)
		first++;
	memcpy(ops, w->ops, sizeof(ops));
	memcpy(job_ops, w->job_ops, sizeof(job_ops));
	for (i = 0; i < count; i++) {
		w->ops[i] = ops[(first + i) % count];
		w->job_ops[i] = job_ops[(first + i) % count];
	}
}

void bftm_apply_collect(struct bftm_order_work *w)
{
	u32 i, kept = 0, count = w->job.count, from = w->from;
	enum bftm_order_turn own = BFTM_TURN_NOT;
	const struct bftm_fetch *f;

	w->space = (struct bftm_order_space){
		.base = bftm_order_base(w), .base_len = w->order.base.len, .limit = w->limit,
	};
	if (w->op)
		own = bftm_order_turn(&w->space, w->ordering->identity->client, w->op);
	w->due = own != BFTM_TURN_NOT;
	for (i = 0; i < count; i++) {
		f = bftm_make_fetched(w, &w->ops[i].id);
		if ((!f && w->ops[i].id.len) ||
		    bftm_order_turn(&w->space, w->ops[i].client, w->ops[i].op) != BFTM_TURN_NOW)
			continue;
		w->ops[kept] = w->ops[i];
		w->job_ops[kept] = (struct bftm_object_op){
			.body = f ? f->body.data : NULL,
			.len = w->ops[i].id.len,
		};
		kept++;
	}
	w->job.count = kept;
	/* Whom there was no room to tell of comes first the next time. */
	w->from = kept ? w->ops[kept - 1].client + 1 : 0;
	if (own == BFTM_TURN_NOW)
		insert_own(w);
	if (bftm_order_runs(w))
		rotate(w, from);
}

/* Into @ret, ascending by client. Return: how many. */
static u32 list_applied(struct bftm_order_work *w, struct bftm_applied *ret)
{
	const struct bftm_object_op *op = w->job.op;
	u32 i, k, count = 0;

	for (i = 0; i < w->job.count; i++) {
		if (!op[i].applied)
			continue;
		for (k = count++; k && ret[k - 1].client > w->ops[i].client; k--)
			ret[k] = ret[k - 1];
		ret[k] = (struct bftm_applied){
			.op = w->ops[i].op,
			.client = w->ops[i].client,
			.len = op[i].response.len,
			.response = op[i].response.data,
		};
		if (bftm_order_runs(w) && !op[i].own)
			w->from = w->ops[i].client + 1;
	}
	return count;
}

bool bftm_apply_assemble(struct bftm_order_work *w)
{
	const struct bftm_object_job *job = &w->job;
	struct bftm_applied applied[BFTM_OPS_MAX + 1];
	u64 version = w->order.base.version + 1;
	u32 count = list_applied(w, applied), len;
	u8 *body;

	body = malloc(w->limit);
	len = body ? bftm_state_make(bftm_order_base(w), version, applied, count, job->state.data,
				     job->state.len, body, w->limit) : 0;
	if (!len || bftm_body_describe(version, body, len, &w->next.id) < 0) {
		free(body);
		return false;
	}
	w->next.data = realloc(body, len) ?: body;
	bftm_order_totals.applied += count;
	return true;
}
