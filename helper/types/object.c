// SPDX-License-Identifier: GPL-2.0
/*
 * Applies operations to an object, request by request. proceed() goes on until all are done or a
 * program runs; when the program has ended, it is called again.
 */
#include <errno.h>

#include "types/object.h"

/* Begins a call: @call->word and @call->rest. */
static void call_split(struct bftm_object_job *job, struct bftm_object_call *call)
{
	const u8 *space = job->request_len ? memchr(job->request, ' ', job->request_len) : NULL;

	call->word = job->request;
	call->word_len = space ? (u32)(space - job->request) : job->request_len;
	if (space) {
		call->rest = space + 1;
		call->rest_len = job->request_len - call->word_len - 1;
	}
}

/* Notes the answer to the request. */
static void call_answer(struct bftm_object_job *job, struct bftm_object_call *call, u32 status)
{
	struct bftm_object_op *op = &job->op[job->at];

	if (!status && !call->replaced && job->state.len + (u64)call->response.len > call->room)
		status = EMSGSIZE;
	if (status == ENOMEM)
		job->error = -ENOMEM;
	if (status == EMSGSIZE)
		job->rest = EMSGSIZE;
	/* The words about an error are left out if they find no room. */
	if (status == EMSGSIZE ||
	    (status && job->state.len + (u64)call->response.len > call->room))
		call->response.len = 0;
	if (!bftm_answer_add(&op->response, status, call->response.data, call->response.len))
		job->error = -ENOMEM;
	job->spent += call->response.len;
	bftm_bytes_free(&call->response);
	if (!--job->answers) {
		job->applied++;
		job->at++;
	}
}

static void begin_call(struct bftm_object_job *job, struct bftm_object_call *call)
{
	struct bftm_object_op *op = &job->op[job->at];

	*call = (struct bftm_object_call){ .app = &job->state };
	call_split(job, call);
	call->room = job->room > job->spent ? job->room - job->spent : 0;
	call->spare = job->spare;
	call->answer_room = BFTM_OP_MAX - op->response.len -
			    (bftm_answers_room(job->answers) - bftm_answers_room(0));
}

static void proceed(struct bftm_object_job *job);

/* A program has ended. */
static void ran(void *arg, u32 status, const struct bftm_bytes *state,
		const struct bftm_bytes *response)
{
	struct bftm_object_job *job = arg;
	struct bftm_object_call call;
	u8 *place;

	job->run = NULL;
	begin_call(job, &call);
	call.state_at = strlen((const char *)job->state.data) + 1;
	call.state_len = job->state.len - call.state_at;
	/* cppcheck-suppress selfAssignment; no, for it is GNU's ?: */
	status = bftm_respond(&call, response->data, response->len) ?: status;
	if (!status && state)
		status = bftm_replace(&call, 0, call.state_len, state->len, &place);
	if (!status && state && state->len)
		memcpy(place, state->data, state->len);
	call_answer(job, &call, status);
	proceed(job);
}

static void call_run(struct bftm_object_job *job, const char *type, struct bftm_object_call *call)
{
	u32 at = strlen(type) + 1;

	job->run = job->exec->start(job->exec, type, job->state.data + at, job->state.len - at,
				    job->request, job->request_len, ran, job);
	if (!job->run)
		call_answer(job, call, EIO);
}

static void one_request(struct bftm_object_job *job)
{
	const struct bftm_object_type *builtin_type;
	struct bftm_object_call call;
	const char *type;
	u32 status;

	begin_call(job, &call);
	if (job->rest)
		return call_answer(job, &call, job->rest);
	if (bftm_object_whole(job, &call, &status))
		return call_answer(job, &call, status);
	type = bftm_object_type_of(&job->state);
	builtin_type = bftm_object_builtin(type);
	if (builtin_type) {
		call.state_at = strlen(type) + 1;
		call.state = job->state.data + call.state_at;
		call.state_len = job->state.len - call.state_at;
		return call_answer(job, &call, builtin_type->apply(&call));
	}
	if (bftm_object_runs(job, type))
		call_run(job, type, &call);
	else
		call_answer(job, &call, ENOPKG);
}

/* Can this daemon judge the operation, or must another client? */
static bool is_judged(struct bftm_object_job *job, const struct bftm_object_op *op)
{
	struct bftm_object_call call;
	const char *type;
	u32 at = 0;

	if (op->own)
		return true;
	if (job->state.len) {
		type = bftm_object_type_of(&job->state);
		return !type || bftm_object_knows(job, type);
	}
	while (bftm_batch_next(op->body, op->len, &at, &job->request, &job->request_len)) {
		call = (struct bftm_object_call){};
		call_split(job, &call);
		if (bftm_object_makes_unknown(job, &call))
			return false;
	}
	return true;
}

/* Own callers must not wait for long, and no client for ever. */
static bool out_of_time(const struct bftm_object_job *job, const struct bftm_object_op *op)
{
	const char *type = op->own || !job->others ? NULL : bftm_object_type_of(&job->state);

	return type && bftm_object_runs(job, type) && job->now() >= job->until_ns;
}

/* Is there room for a response of so many bytes? */
static bool call_fits(const struct bftm_object_job *job, u32 bytes)
{
	return (u64)job->spent + bytes + job->state.len <= job->room;
}

/* Begins the next operation, or skips it. */
static void begin_op(struct bftm_object_job *job)
{
	struct bftm_object_op *op = &job->op[job->at];
	u32 requests = bftm_batch_count(op->body, op->len), count = requests;

	/* If the first operation does not fit, it never will. */
	if (!job->applied && !call_fits(job, bftm_answers_room(count)))
		count = 0;
	if (!call_fits(job, bftm_answers_room(count)) || !is_judged(job, op) ||
	    out_of_time(job, op)) {
		job->at++;
		return;
	}
	job->next = 0;
	job->rest = 0;
	job->answers = count;
	job->spent += bftm_answers_room(count);
	job->others += !op->own;
	op->applied = true;
	if (!bftm_answers_begin(&op->response, job->version, job->place, count))
		job->error = -ENOMEM;
	job->place += requests;
	if (!count) {
		job->applied++;
		job->at++;
	}
}

static void proceed(struct bftm_object_job *job)
{
	struct bftm_object_op *op;

	while (job->at < job->count && !job->error) {
		if (!job->answers) {
			begin_op(job);
			continue;
		}
		op = &job->op[job->at];
		bftm_batch_next(op->body, op->len, &job->next, &job->request, &job->request_len);
		one_request(job);
		if (job->run)
			return;
	}
	if (job->error) {
		bftm_object_free(job);
		job->applied = 0;
	}
	job->done(job);
}

void bftm_object_apply(struct bftm_object_job *job)
{
	if (job->app_len && !bftm_bytes_add(&job->state, job->app, job->app_len))
		job->error = -ENOMEM;
	proceed(job);
}

void bftm_object_cancel(struct bftm_object_job *job)
{
	if (job->run)
		job->exec->cancel(job->run);
	job->run = NULL;
}

void bftm_object_free(struct bftm_object_job *job)
{
	u32 i;

	bftm_bytes_free(&job->state);
	for (i = 0; i < job->count; i++) {
		bftm_bytes_free(&job->op[i].response);
		job->op[i].applied = false;
	}
}
