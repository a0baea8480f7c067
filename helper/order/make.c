// SPDX-License-Identifier: GPL-2.0
/*
 * Line 2.22: the state that an iteration proposes, and the bodies that it takes.
 *
 * A program may take longer than an iteration may last, and than others go without one.
 * So it runs between two: the first learns what there is to do and is over; the next one
 * proposes what came of it, unless the state is another by then.
 */
#include <stdlib.h>
#include <string.h>

#include "core/servers.h"
#include "cluster/cluster.h"
#include "types/exec.h"
#include "order/ordering.h"

static void drop_next(struct bftm_order_work *w)
{
	if (w->next.data != w->state.data)
		free(w->next.data);
	w->next.data = NULL;
	w->made = false;
}

static void note_kind(struct bftm_order_work *w, const struct bftm_body_here *body)
{
	bool ran = bftm_order_runs(w);
	const u8 *app;
	u32 len;

	app = bftm_state_app(body->data, body->id.len, &len);
	w->ordering->kind = bftm_object_kind(app, len);
	/* Then whoever has the lock needs more time than was thought. */
	if (!ran && bftm_order_runs(w)) {
		w->impatient = false;
		bftm_order_patience(w);
	}
}

void bftm_make_keep(struct bftm_order_work *w, struct bftm_body_here *body)
{
	if (body->data == w->state.data)
		return;
	note_kind(w, body);
	if (w->next.data == w->state.data)
		w->next.data = NULL;
	free(w->state.data);
	w->state = *body;
}

static bool is_here(const struct bftm_order_work *w)
{
	return !w->order.base.len ||
	       (w->state.data && bftm_body_same(&w->state.id, &w->order.base));
}

struct bftm_fetch *bftm_make_fetched(struct bftm_order_work *w, const struct bftm_body_id *id)
{
	u32 i;

	for (i = 0; i < w->fetches; i++)
		if (w->fetch[i].body.data && bftm_body_same(&w->fetch[i].body.id, id))
			return &w->fetch[i];
	return NULL;
}

static void keep_fetched(struct bftm_order_work *w)
{
	u32 i, k, kept = 0;

	for (i = 0; i < w->fetches; i++) {
		bool used = false;

		for (k = 0; k < w->job.count && w->fetch[i].over; k++)
			used |= bftm_body_same(&w->ops[k].id, &w->fetch[i].body.id);
		if (used && w->fetch[i].body.data)
			w->fetch[kept++] = w->fetch[i];
		else
			bftm_fetch_stop(&w->fetch[i]);
	}
	w->fetches = kept;
}

/* What others wait for, without what this client had submitted before a restart. */
static u32 list_ops(struct bftm_order_work *w, u32 *holders)
{
	u32 me = w->ordering->identity->client, i, kept = 0, count;

	count = bftm_order_ops(&w->order, bftm_order_cfg_of(w), w->ops, holders, BFTM_OPS_MAX);
	for (i = 0; i < count; i++) {
		if (w->ops[i].client == me || w->ops[i].id.len > BFTM_OP_MAX)
			continue;
		w->ops[kept] = w->ops[i];
		holders[kept++] = holders[i];
	}
	return kept;
}

static void gather_ops(struct bftm_order_work *w)
{
	u32 holders[BFTM_OPS_MAX], i;

	w->job.count = list_ops(w, holders);
	keep_fetched(w);
	for (i = 0; i < w->job.count; i++)
		if (w->ops[i].id.len && !bftm_make_fetched(w, &w->ops[i].id) &&
		    w->fetches < BFTM_OPS_MAX)
			bftm_fetch_begin(w, &w->fetch[w->fetches++], &w->ops[i].id, holders[i]);
}

static bool is_made(const struct bftm_order_work *w)
{
	return w->made && w->order.applies && bftm_body_same(&w->made_on, &w->order.base) &&
	       w->next.id.len <= w->limit;
}

static void propose(struct bftm_order_work *w);

void bftm_make(struct bftm_order_work *w)
{
	bftm_make_stop(w);
	if (is_made(w)) {
		propose(w);
		return;
	}
	w->gathering = true;
	w->job.count = 0;
	if (!is_here(w))
		bftm_fetch_begin(w, &w->fetch_state, &w->order.base, w->order.holders);
	if (w->order.applies)
		gather_ops(w);
	bftm_make_gathered(w);
}

/* A long body goes ahead: the core's patience is for datagrams. */
static void propose(struct bftm_order_work *w)
{
	if (w->next.id.len <= BFTM_ORDER_DATA_MAX || !w->order.applies) {
		bftm_iterate_made(w, true);
		return;
	}
	bftm_put_begin(&w->put_state, &w->next.id, w->next.data);
	bftm_put_to(w, &w->put_state,
		    bftm_cluster_everyone(w->cluster) & ~w->order.recovering);
}

static void applied(struct bftm_object_job *job)
{
	struct bftm_order_work *w = job->arg;
	bool good;

	w->making = false;
	if (!job->error && !job->applied && w->due)
		bftm_submit_no_room(w);
	good = !job->error && job->applied && bftm_apply_assemble(w);
	bftm_object_free(job);
	if (w->order.phase != BFTM_ORDER_MAKING) {
		w->made = good;
		bftm_iterate_ran(w, good);
	} else if (good) {
		propose(w);
	} else {
		bftm_iterate_made(w, false);
	}
}

static void apply(struct bftm_order_work *w)
{
	struct bftm_object_job *job = &w->job;
	u32 count, app_len;

	/* Whoever has the lock runs the programs that all wait for. */
	if (bftm_order_runs(w) && !bftm_order_may(w)) {
		bftm_order_unmade(&w->order);
		return;
	}
	bftm_apply_collect(w);
	count = job->count;
	if (!count) {
		if (w->due)
			bftm_submit_no_room(w);
		bftm_iterate_made(w, false);
		return;
	}
	*job = (struct bftm_object_job){
		.app = bftm_state_app(bftm_order_base(w), w->order.base.len, &app_len),
		.version = w->order.base.version + 1,
		.room = bftm_order_left(&w->space),
		.spare = bftm_order_spare(&w->space),
		.op = w->job_ops,
		.count = count,
		.exec = &bftm_exec_programs,
		.now = bftm_now,
		.until_ns = bftm_now() + BFTM_OTHERS_NS,
		.done = applied,
		.arg = w,
	};
	job->app_len = app_len;
	w->making = true;
	w->made_on = w->order.base;
	bftm_object_apply(job);
	if (w->making) {
		bftm_order_unmade(&w->order);
		bftm_timer_stop(&w->wake);
	}
}

static bool all_over(const struct bftm_order_work *w)
{
	u32 i;

	for (i = 0; i < w->fetches; i++)
		if (!w->fetch[i].over)
			return false;
	return !w->fetch_state.holders || w->fetch_state.over;
}

void bftm_make_gathered(struct bftm_order_work *w)
{
	struct bftm_body_here *got = &w->fetch_state.body;

	if (!w->gathering || !all_over(w))
		return;
	w->gathering = false;
	drop_next(w);
	if (got->data && bftm_state_ok(got->data, got->id.len, got->id.version)) {
		bftm_make_keep(w, got);
		got->data = NULL;
	}
	bftm_fetch_stop(&w->fetch_state);
	if (!is_here(w)) {
		bftm_iterate_made(w, false);
		return;
	}
	if (w->order.applies) {
		apply(w);
		return;
	}
	w->next.id = w->order.base;
	w->next.data = w->order.base.len ? w->state.data : NULL;
	bftm_iterate_made(w, true);
}

void bftm_make_stop(struct bftm_order_work *w)
{
	u32 i;

	w->gathering = false;
	if (w->making) {
		bftm_object_cancel(&w->job);
		bftm_object_free(&w->job);
	}
	w->making = false;
	bftm_fetch_stop(&w->fetch_state);
	for (i = 0; i < w->fetches; i++)
		if (!w->fetch[i].over)
			bftm_fetch_stop(&w->fetch[i]);
}

void bftm_make_void(struct bftm_order_work *w)
{
	if (w->order.phase == BFTM_ORDER_IDLE)
		bftm_make_stop(w);
	w->made = false;
}

void bftm_make_free(struct bftm_order_work *w)
{
	u32 i;

	bftm_make_stop(w);
	for (i = 0; i < w->fetches; i++)
		bftm_fetch_stop(&w->fetch[i]);
	w->fetches = 0;
	drop_next(w);
	free(w->state.data);
	w->state.data = NULL;
}
