// SPDX-License-Identifier: GPL-2.0
/*
 * Replicated objects: any bytes as state, operation and program's output. A request
 * is answered, changes nothing unless it is good, and keeps to the limits.
 */
#include <string.h>

#include "types/object.h"
#include "types/exec.h"
#include "fuzz.h"

static const char *const types[] = { "counter", "log", "map", "queue", "register", "bank" };

static void done(struct bftm_object_job *job)
{
	++*(int *)job->arg;
}

/* Of the first that is applied there may be none: not even statuses fit. */
static void check_answers(const struct bftm_object_op *op, u64 version, bool first)
{
	u64 said = 0;
	int count = bftm_answers(op->response.data, op->response.len, &said);

	must(said == version && op->response.len <= BFTM_OP_MAX);
	must(count == (int)bftm_batch_count(op->body, op->len) || (first && !count));
}

/* Applies the rest of the input, or one request of it, to a state. */
static void apply(const u8 *app, u32 app_len, u32 room, const u8 *body, u32 len)
{
	struct bftm_object_op op[2] = {
		{ .body = body, .len = len }, { .body = body, .len = len, .own = true },
	};
	int calls = 0;
	struct bftm_object_job job = {
		.app = app, .app_len = app_len, .version = 3, .room = room,
		.op = op, .count = 2, .done = done, .arg = &calls,
	};
	u32 i, applied = 0, used = 0;

	bftm_object_apply(&job);
	must(calls == 1 && !job.error);
	for (i = 0; i < 2; i++) {
		used += op[i].response.len;
		if (op[i].applied)
			check_answers(&op[i], 3, !applied++);
		else
			must(!op[i].response.len);
	}
	must(job.applied == applied);
	must(!applied || job.state.len + used <= room);
	bftm_object_free(&job);
}

/* A request that is refused leaves the state as it was. */
static void one_request(const u8 *app, u32 app_len, const u8 *request, u32 len)
{
	struct bftm_bytes body = {};
	struct bftm_object_op op = { .own = true };
	int calls = 0;
	struct bftm_object_job job = {
		.app = app, .app_len = app_len, .version = 1, .room = BFTM_STATE_DEFAULT,
		.op = &op, .count = 1, .done = done, .arg = &calls,
	};
	struct bftm_object_answer answer;

	must(!bftm_batch_add(&body, request, len));
	op.body = body.data;
	op.len = body.len;
	bftm_object_apply(&job);
	must(calls == 1 && op.applied);
	check_answers(&op, 1, false);
	bftm_answer_get(op.response.data, 0, &answer);
	if (answer.status)
		must(job.state.len == app_len && (!app_len || !memcmp(job.state.data, app, app_len)));
	apply(job.state.data, job.state.len, BFTM_STATE_DEFAULT, body.data, body.len);
	bftm_object_free(&job);
	bftm_bytes_free(&body);
}

static void check_output(const u8 *text, u32 len)
{
	struct bftm_exec_output out;

	if (!bftm_exec_parse(text, len, &out))
		return;
	must(out.status <= 4095 && out.state_len <= len && out.response_len <= len);
	must(!out.state || (out.state >= text && out.state + out.state_len < text + len));
	must(!out.response || (out.response >= text && out.response + out.response_len < text + len));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	u32 kind = (u32)fuzz_take(&in, 1), state_len = (u32)fuzz_take(&in, 1);
	u32 room = (u32)fuzz_take(&in, 2);
	struct bftm_bytes app = {};
	u64 version;

	check_output(data, (u32)len);
	bftm_answers(data, (u32)len, &version);
	/* With a type's name before it, or only what the fuzzer thinks of. */
	if (kind % 8 < sizeof(types) / sizeof(types[0]))
		bftm_bytes_add(&app, types[kind % 8], (u32)strlen(types[kind % 8]) + 1);
	if (state_len > in.left)
		state_len = (u32)in.left;
	bftm_bytes_add(&app, in.at, state_len);
	if (kind % 8 == 7)
		app.len = 0;
	one_request(app.data, app.len, in.at + state_len, (u32)in.left - state_len);
	apply(app.data, app.len, room, in.at + state_len, (u32)in.left - state_len);
	bftm_bytes_free(&app);
	return 0;
}
