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
	struct bftm_order_make *m = &w->make;

	if (m->next.data != m->state.data)
		free(m->next.data);
	m->next.data = NULL;
	m->made = false;
}

static void note_kind(struct bftm_order_work *w, const struct bftm_body_here *body)
{
	bool ran = bftm_order_runs(w);
	const u8 *app;
	u32 len;

	app = bftm_state_app(body->data, body->id.len, &len);
	w->ordering->kind = bftm_object_kind(app, len);
	if (ran || !bftm_order_runs(w))
		return;
	/* Then whoever has the lock needs more time than was thought, and runs it for all. */
	bftm_order_patience_anew(w);
	bftm_submit_show(w);
}

void bftm_make_keep(struct bftm_order_work *w, struct bftm_body_here *body)
{
	struct bftm_order_make *m = &w->make;

	if (body->data == m->state.data)
		return;
	note_kind(w, body);
	if (m->next.data == m->state.data)
		m->next.data = NULL;
	free(m->state.data);
	m->state = *body;
}

static bool is_here(const struct bftm_order_work *w)
{
	const struct bftm_order_make *m = &w->make;

	return !w->order.base.len ||
	       (m->state.data && bftm_body_same(&m->state.id, &w->order.base));
}

struct bftm_fetch *bftm_make_fetched(struct bftm_order_work *w, const struct bftm_body_id *id)
{
	struct bftm_order_make *m = &w->make;
	u32 i;

	for (i = 0; i < m->fetches; i++)
		if (m->fetch[i].body.data && bftm_body_same(&m->fetch[i].body.id, id))
			return &m->fetch[i];
	return NULL;
}

static void keep_fetched(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	u32 i, k, kept = 0;

	for (i = 0; i < m->fetches; i++) {
		bool used = false;

		for (k = 0; k < m->job.count && m->fetch[i].over; k++)
			used |= bftm_body_same(&m->ops[k].id, &m->fetch[i].body.id);
		if (used && m->fetch[i].body.data)
			m->fetch[kept++] = m->fetch[i];
		else
			bftm_fetch_stop(&m->fetch[i]);
	}
	m->fetches = kept;
}

/* Operations that others wait for, without those that this client submitted before a restart. */
static u32 list_ops(struct bftm_order_work *w, u32 *holders)
{
	struct bftm_order_make *m = &w->make;
	u32 me = w->ordering->identity->client, i, kept = 0, count;

	count = bftm_order_ops(&w->order, bftm_order_cfg_of(w), m->ops, holders, BFTM_OPS_MAX);
	for (i = 0; i < count; i++) {
		if (m->ops[i].client == me || m->ops[i].id.len > BFTM_OP_MAX)
			continue;
		m->ops[kept] = m->ops[i];
		holders[kept++] = holders[i];
	}
	return kept;
}

static void gather_ops(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	u32 holders[BFTM_OPS_MAX], i;

	m->job.count = list_ops(w, holders);
	keep_fetched(w);
	for (i = 0; i < m->job.count; i++)
		if (m->ops[i].id.len && !bftm_make_fetched(w, &m->ops[i].id) &&
		    m->fetches < BFTM_OPS_MAX)
			bftm_fetch_begin(w, &m->fetch[m->fetches++], &m->ops[i].id, holders[i]);
}

static bool is_made(const struct bftm_order_work *w)
{
	const struct bftm_order_make *m = &w->make;

	return m->made && w->order.applies && bftm_body_same(&m->made_on, &w->order.base) &&
	       m->next.id.len <= m->limit;
}

static void make_propose(struct bftm_order_work *w);

void bftm_make(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;

	bftm_make_stop(w);
	if (is_made(w)) {
		make_propose(w);
		return;
	}
	m->gathering = true;
	m->job.count = 0;
	if (!is_here(w))
		bftm_fetch_begin(w, &m->fetch_state, &w->order.base, w->order.holders);
	if (w->order.applies)
		gather_ops(w);
	bftm_make_gathered(w);
}

/* A long body goes ahead: the core's patience is for datagrams. */
static void make_propose(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;

	if (m->next.id.len <= BFTM_ORDER_DATA_MAX || !w->order.applies) {
		bftm_iterate_made(w, true);
		return;
	}
	bftm_put_begin(&w->iterate.put, &m->next.id, m->next.data);
	bftm_put_to(w, &w->iterate.put,
		    bftm_cluster_everyone(w->cluster) & ~w->order.recovering);
}

static void applied(struct bftm_object_job *job)
{
	struct bftm_order_work *w = job->arg;
	bool good;

	w->make.running = false;
	if (!job->error && !job->applied && w->make.due)
		bftm_submit_no_room(w);
	good = !job->error && job->applied && bftm_apply_assemble(w);
	bftm_object_free(job);
	if (w->order.phase != BFTM_ORDER_MAKING) {
		w->make.made = good;
		bftm_iterate_ran(w, good);
	} else if (good) {
		make_propose(w);
	} else {
		bftm_iterate_made(w, false);
	}
}

static void make_state(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	struct bftm_object_job *job = &m->job;
	u32 count, app_len;

	/* The holder of the lock runs the programs for all. */
	if (bftm_order_runs(w) && !bftm_order_may(w)) {
		bftm_order_unmade(&w->order);
		return;
	}
	bftm_apply_collect(w);
	count = job->count;
	if (!count) {
		if (m->due)
			bftm_submit_no_room(w);
		bftm_iterate_made(w, false);
		return;
	}
	*job = (struct bftm_object_job){
		.app = bftm_state_app(bftm_order_base(w), w->order.base.len, &app_len),
		.version = w->order.base.version + 1,
		.room = bftm_order_left(&m->space),
		.spare = bftm_order_spare(&m->space),
		.op = m->job_ops,
		.count = count,
		.exec = &bftm_exec_programs,
		.now = bftm_now,
		.until_ns = bftm_now() + BFTM_OTHERS_NS,
		.done = applied,
		.arg = w,
	};
	job->app_len = app_len;
	m->running = true;
	m->made_on = w->order.base;
	bftm_object_apply(job);
	if (m->running) {
		bftm_order_unmade(&w->order);
		bftm_timer_stop(&w->wake);
	}
}

static bool all_over(const struct bftm_order_work *w)
{
	const struct bftm_order_make *m = &w->make;
	u32 i;

	for (i = 0; i < m->fetches; i++)
		if (!m->fetch[i].over)
			return false;
	return !m->fetch_state.holders || m->fetch_state.over;
}

void bftm_make_gathered(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	struct bftm_body_here *got = &m->fetch_state.body;

	if (!m->gathering || !all_over(w))
		return;
	m->gathering = false;
	drop_next(w);
	if (got->data && bftm_state_ok(got->data, got->id.len, got->id.version)) {
		bftm_make_keep(w, got);
		got->data = NULL;
	}
	bftm_fetch_stop(&m->fetch_state);
	if (!is_here(w)) {
		bftm_iterate_made(w, false);
		return;
	}
	if (w->order.applies) {
		make_state(w);
		return;
	}
	m->next.id = w->order.base;
	m->next.data = w->order.base.len ? m->state.data : NULL;
	bftm_iterate_made(w, true);
}

void bftm_make_init(struct bftm_order_work *w)
{
	w->make.fetch_state.over = true;
}

void bftm_make_stop(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	u32 i;

	m->gathering = false;
	if (m->running) {
		bftm_object_cancel(&m->job);
		bftm_object_free(&m->job);
	}
	m->running = false;
	bftm_fetch_stop(&m->fetch_state);
	for (i = 0; i < m->fetches; i++)
		if (!m->fetch[i].over)
			bftm_fetch_stop(&m->fetch[i]);
}

bool bftm_make_lower(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;

	if (!m->next.data || m->next.id.len > m->limit)
		return false;
	m->limit = m->next.id.len - 1;
	return true;
}

void bftm_make_anew(struct bftm_order_work *w)
{
	bftm_make_void(w);
	w->make.limit = w->cluster->conf.state_max;
}

void bftm_make_void(struct bftm_order_work *w)
{
	if (w->order.phase == BFTM_ORDER_IDLE)
		bftm_make_stop(w);
	w->make.made = false;
}

void bftm_make_free(struct bftm_order_work *w)
{
	struct bftm_order_make *m = &w->make;
	u32 i;

	bftm_make_stop(w);
	for (i = 0; i < m->fetches; i++)
		bftm_fetch_stop(&m->fetch[i]);
	m->fetches = 0;
	drop_next(w);
	free(m->state.data);
	m->state.data = NULL;
}
