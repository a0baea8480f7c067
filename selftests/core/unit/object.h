/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of objects: one that is asked request by request. */
#ifndef BFTM_UNIT_OBJECT_H
#define BFTM_UNIT_OBJECT_H

#include <errno.h>
#include <string.h>

#include "unit.h"

#include "types/object.h"

/**
 * struct asked - an object, and what it answered last
 * @room: of the next job
 */
struct asked {
	struct bftm_bytes app;
	struct bftm_bytes response;
	const struct bftm_object_exec *exec;
	u64 version;
	u32 room;
	bool done;
};

static inline void asked_done(struct bftm_object_job *job)
{
	((struct asked *)job->arg)->done = true;
}

/* Applies one operation of these bytes; true when it was. */
static inline bool ask_body(struct asked *a, const u8 *body, u32 len)
{
	struct bftm_object_op op = { .body = body, .len = len, .own = true };
	struct bftm_object_job job = {
		.app = a->app.data, .app_len = a->app.len, .version = ++a->version,
		.room = a->room ?: BFTM_STATE_DEFAULT, .op = &op, .count = 1, .exec = a->exec,
		.done = asked_done, .arg = a,
	};

	a->done = false;
	bftm_object_apply(&job);
	assert_true(a->done);
	assert_int_equal(job.error, 0);
	assert_int_equal(job.applied, op.applied);
	if (!op.applied) {
		bftm_object_free(&job);
		return false;
	}
	bftm_bytes_free(&a->app);
	bftm_bytes_free(&a->response);
	a->app = job.state;
	a->response = op.response;
	return true;
}

/* Asks for bytes; the status. */
static inline u32 ask_bytes(struct asked *a, const void *request, u32 len)
{
	struct bftm_bytes body = {};
	struct bftm_object_answer answer;
	u64 version;

	assert_int_equal(bftm_batch_add(&body, request, len), 0);
	assert_true(ask_body(a, body.data, body.len));
	bftm_bytes_free(&body);
	assert_int_equal(bftm_answers(a->response.data, a->response.len, &version), 1);
	assert_true(version == a->version);
	bftm_answer_get(a->response.data, 0, &answer);
	return answer.status;
}

static inline u32 ask(struct asked *a, const char *request)
{
	return ask_bytes(a, request, (u32)strlen(request));
}

/* The text of the last answer, with a zero byte. */
static inline const char *said(const struct asked *a)
{
	static char text[BFTM_OP_MAX + 1];
	struct bftm_object_answer answer;

	bftm_answer_get(a->response.data, 0, &answer);
	memcpy(text, answer.data, answer.len);
	text[answer.len] = '\0';
	return text;
}

#define says(a, request, status, text) do { \
	assert_int_equal(ask(a, request), status); \
	assert_string_equal(said(a), text); \
} while (0)

static inline void forget(struct asked *a)
{
	bftm_bytes_free(&a->app);
	bftm_bytes_free(&a->response);
}

#endif /* BFTM_UNIT_OBJECT_H */
