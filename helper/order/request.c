// SPDX-License-Identifier: GPL-2.0
/* Requests that applications submit, and how they become operations. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "crypto/digest.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "cluster/reach.h"
#include "kernel/upcall.h"

static int request_compare(const struct bftm_order_request *a, const struct bftm_order_request *b)
{
	return a->id < b->id ? -1 : a->id > b->id;
}

RB_HEAD(requests, bftm_order_request);
BFTM_TREE(requests, bftm_order_request, by_id, request_compare)

static struct requests requests = RB_INITIALIZER(&requests);

/* Nobody waits for it any more. */
static void leave(struct bftm_order_request *r)
{
	bftm_timer_stop(&r->timer);
	if (r->id)
		RB_REMOVE(requests, &requests, r);
	r->id = 0;
}

static void request_drop(struct bftm_requests *list, struct bftm_order_request *r)
{
	leave(r);
	TAILQ_REMOVE(list, r, beside);
	r->cluster->acquires.count--;
	free(r);
}

void bftm_requests_drop(struct bftm_requests *list)
{
	struct bftm_order_request *r;

	while ((r = TAILQ_FIRST(list)))
		/* NOLINTNEXTLINE: TAILQ_REMOVE() is not understood */
		request_drop(list, r);
}

static void request_fail(struct bftm_order_request *r, int error)
{
	if (!r->id)
		return;
	bftm_order_totals.timeouts += error == ETIMEDOUT;
	bftm_order_totals.gone += error == EIDRM;
	bftm_order_totals.refused += error != ETIMEDOUT && error != ENETUNREACH &&
				     error != EIDRM;
	bftm_upcall_submit_failed(r->id, error);
	leave(r);
}

/* A request in the operation that is under way stays there: it may be applied. */
static void request_end(struct bftm_order_request *r, int error)
{
	if (r->packed)
		bftm_history_add(&r->ordering->history, r, 0, 0, NULL);
	if (error)
		request_fail(r, error);
	else
		leave(r);
	if (!r->packed)
		request_drop(&r->ordering->waiting, r);
}

static void time_out(struct bftm_timer *timer)
{
	struct bftm_order_request *r = container_of(timer, struct bftm_order_request, timer);
	const struct bftm_order_work *w = r->ordering->work;
	u64 now = bftm_now(), since = w ? w->iterate.unreachable_ns : 0;

	if (r->timed)
		request_end(r, bftm_limit_errno(since));
	else if (bftm_unreachable(since, now))
		request_end(r, ENETUNREACH);
	else
		bftm_timer_arm(timer, (since ?: now) + BFTM_UNREACHABLE_NS);
}

int bftm_request_new(struct bftm_ordering *o, struct bftm_cluster *cl,
		     const struct bftm_submit_ask *ask)
{
	struct bftm_bytes alone = {};
	struct bftm_order_request *r;
	int err;

	/* A request that fits no operation by itself never will. */
	err = bftm_batch_add(&alone, ask->op, ask->op_len);
	bftm_bytes_free(&alone);
	r = err ? NULL : calloc(1, sizeof(*r) + ask->op_len);
	if (!r)
		return err ?: -ENOMEM;
	r->ordering = o;
	r->cluster = cl;
	r->id = ask->id;
	r->process = ask->id;
	r->invoke_ns = bftm_now();
	r->timed = ask->timeout_at_ns;
	r->timer.fire = time_out;
	r->len = ask->op_len;
	memcpy(r->text, ask->op, ask->op_len);
	if (RB_INSERT(requests, &requests, r)) {
		free(r);
		return -EEXIST;
	}
	cl->acquires.count++;
	TAILQ_INSERT_TAIL(&o->waiting, r, beside);
	bftm_timer_arm(&r->timer, ask->timeout_at_ns ?: r->invoke_ns + BFTM_UNREACHABLE_NS);
	return 0;
}

void bftm_order_withdraw(u64 id)
{
	struct bftm_order_request key = { .id = id };
	struct bftm_order_request *r = RB_FIND(requests, &requests, &key);

	bftm_order_totals.withdrawn++;
	if (r)
		request_end(r, 0);
}

void bftm_order_orphan(void)
{
	struct bftm_order_request *r;

	while ((r = RB_MIN(requests, &requests)))
		request_end(r, 0);
}

void bftm_requests_fail(struct bftm_requests *list, int error)
{
	struct bftm_order_request *r, *next;

	for (r = TAILQ_FIRST(list); r; r = next) {
		next = TAILQ_NEXT(r, beside);
		if (r->id)
			request_end(r, error);
	}
}

/*
 * As many of one cluster as fit, in the order in which they came; one where a program
 * runs for each, so that nobody waits for more than that.
 */
static void pack(struct bftm_order_work *w, struct bftm_cluster *cl)
{
	struct bftm_order_submit *s = &w->submit;
	struct bftm_requests *waiting = &w->ordering->waiting;
	struct bftm_order_request *r;

	while ((r = TAILQ_FIRST(waiting)) && r->cluster == cl &&
	       !(bftm_order_runs(w) && s->body.len) && !bftm_batch_add(&s->body, r->text, r->len)) {
		TAILQ_REMOVE(waiting, r, beside);
		TAILQ_INSERT_TAIL(&s->batch, r, beside);
		r->packed = true;
	}
}

bool bftm_order_pack(struct bftm_order_work *w)
{
	struct bftm_order_submit *s = &w->submit;
	struct bftm_ordering *o = w->ordering;
	struct bftm_order_request *first = TAILQ_FIRST(&o->waiting);

	if (!first)
		return false;
	/* An operation under way through an older configuration ends there. */
	if (w->cluster && w->cluster != first->cluster &&
	    w->order.phase != BFTM_ORDER_IDLE)
		return false;
	bftm_order_use(w, first->cluster);
	s->body.len = 0;
	pack(w, first->cluster);
	if (TAILQ_EMPTY(&s->batch) ||
	    bftm_body_describe(0, s->body.data, s->body.len, &s->id) < 0) {
		bftm_requests_fail(&s->batch, ENOMEM);
		bftm_requests_drop(&s->batch);
		return false;
	}
	/* Each host in its turn, where programs take long. */
	if (bftm_order_runs(w) && w->mutex.state == BFTM_ORDER_LOCKED)
		bftm_order_unlock(w);
	s->op = (u64)o->incarnation << 32 | ++o->ops;
	bftm_order_totals.operations++;
	return true;
}

static void request_answer(struct bftm_order_work *w, struct bftm_order_request *r, u64 number,
			   const struct bftm_object_answer *a)
{
	struct bftm_submit_report done = {
		.id = r->id,
		.number = number,
		.status = a->status,
		.response = a->data,
		.len = a->len,
	};

	if (r->id) {
		bftm_upcall_submitted(&done);
		bftm_order_totals.answered++;
		bftm_history_add(&w->ordering->history, r, bftm_now(), number, a);
	}
}

void bftm_order_deliver(struct bftm_order_work *w)
{
	struct bftm_order_submit *s = &w->submit;
	/* A response without answers says that there was no room even for these. */
	static const struct bftm_object_answer no_room = { .status = EMSGSIZE };
	struct bftm_order_request *r, *next;
	u64 version = 0, number = 0;
	int count, i = 0;

	count = bftm_answers(s->response.data, s->response.len, &version);
	if (count >= 0)
		number = bftm_answers_number(s->response.data);
	for (r = TAILQ_FIRST(&s->batch); r; r = next, i++) {
		struct bftm_object_answer a;

		next = TAILQ_NEXT(r, beside);
		if (i < count) {
			bftm_answer_get(s->response.data, (u32)i, &a);
			request_answer(w, r, number + (u32)i, &a);
		} else if (!count) {
			request_answer(w, r, number + (u32)i, &no_room);
		} else {
			request_fail(r, EREMOTEIO);
		}
		request_drop(&s->batch, r);
	}
	if (count && i != count)
		bftm_log(LOG_WARNING, "cluster %s: operation %" PRIu64 " of this host has %d requests, but the state has %d answers to it",
			 w->cluster->conf.name, s->op, i, count);
	if (w->ordering->version < version)
		w->ordering->version = version;
	s->op = 0;
}

void bftm_order_abandon(struct bftm_order_work *w, int error)
{
	bftm_requests_fail(&w->submit.batch, error);
	bftm_requests_drop(&w->submit.batch);
	w->submit.op = 0;
}
