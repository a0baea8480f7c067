// SPDX-License-Identifier: GPL-2.0
/* Types that are programs: what they are given, what they may say, how they end. */
#include "files.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "config/conf.h"
#include "loop/log.h"
#include "loop/loop.h"
#include "types/exec.h"

/* The program under test; it reads its input as a shell can. */
#define HEAD "#!/bin/bash\nIFS= read -r line; [[ $line == 'bftmutex-object 1' ]] || exit 9\n" \
	"read -r _ len; read -rN \"$len\" state; read -r _\n" \
	"read -r _ len; read -rN \"$len\" request; read -r _\n"
#define ANSWER(status, state, response) \
	"s=\"" state "\" r=\"" response "\"\n" \
	"printf 'status %d\\nstate %d\\n%s\\nresponse %d\\n%s\\n' " status \
	" ${#s} \"$s\" ${#r} \"$r\"\n"

static bool over;

static void stop(struct bftm_object_job *job)
{
	(void)job;
	over = true;
	bftm_loop_stop();
}

/* The output of the process that runs the loop, which does not begin again. */
struct result {
	u32 statuses[8];
	u32 applied;
	u32 state_len;
	char state[256];
	char text[8][256];
	u64 took_ns;
};

static const char *script;
/* The longest there is; what is started takes some milliseconds. */
static const char *limit = "10s";
/* The index of this client's operation; -1: none. */
static int own = -1;

static void configure(void)
{
	char text[512];
	struct bftm_conf *conf;
	char path[128];

	snprintf(path, sizeof(path), "%s", unit_path("program"));
	snprintf(text, sizeof(text),
		 "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1 } }\n"
		 "type bank { program = \"%s\" arguments = \"one  two\" time-limit = %s }\n"
		 "type none { program = /nonexistent/program }\n", path, limit);
	unit_write("program", script, strlen(script), 0700);
	assert_int_equal(bftm_conf_load(unit_write("conf", text, strlen(text), 0600), &conf), 0);
	assert_int_equal(bftm_loop_init(), 0);
	bftm_exec_configure(conf);
	bftm_conf_free(conf);
}

static void take(const struct bftm_object_job *job, struct result *ret)
{
	struct bftm_object_answer answer;
	u64 version;
	u32 i, n;

	ret->applied = job->applied;
	ret->state_len = job->state.len;
	if (job->state.len && job->state.len <= sizeof(ret->state))
		memcpy(ret->state, job->state.data, job->state.len);
	n = (u32)bftm_answers(job->op[0].response.data, job->op[0].response.len, &version);
	for (i = 0; i < n && i < 8; i++) {
		bftm_answer_get(job->op[0].response.data, i, &answer);
		ret->statuses[i] = answer.status;
		memcpy(ret->text[i], answer.data, answer.len < 255 ? answer.len : 255);
	}
}

/* Asks an object that keeps "old" each of the requests, which a | parts. */
static void ask(const char *type, const char *requests, u64 until_ns, struct result *ret)
{
	size_t len;

	struct bftm_bytes body = {}, app = {};
	struct bftm_object_op ops[2];
	struct bftm_object_job job = {
		.version = 1, .room = BFTM_STATE_MAX, .op = ops, .count = 2, .exec = &bftm_exec_programs,
		.now = bftm_now, .done = stop,
	};
	u64 begun = bftm_now();

	bftm_bytes_add(&app, type, (u32)strlen(type) + 1);
	bftm_bytes_add(&app, "old", 3);
	for (;; requests += len + 1) {
		len = strcspn(requests, "|");
		bftm_batch_add(&body, requests, (u32)len);
		if (!requests[len])
			break;
	}
	ops[0] = (struct bftm_object_op){ .body = body.data, .len = body.len };
	ops[1] = ops[0];
	if (own >= 0)
		ops[own].own = true;
	job.app = app.data;
	job.app_len = app.len;
	job.until_ns = until_ns ? begun + until_ns : UINT64_MAX;
	over = false;
	bftm_object_apply(&job);
	if (!over)
		bftm_loop_run();
	ret->took_ns = bftm_now() - begun;
	take(&job, ret);
	bftm_object_free(&job);
	bftm_bytes_free(&body);
	bftm_bytes_free(&app);
	bftm_exec_stop();
}

/* In a process of its own: the loop runs once, and the log would be the test's. */
static void run_until(const char *text, const char *type, const char *requests, u64 until_ns,
		      struct result *ret)
{
	int ends[2], status;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(ends[0]);
		/* A descriptor that the program must not have. */
		dup2(ends[1], 9);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		script = text;
		configure();
		ask(type, requests, until_ns, ret);
		if (write(ends[1], ret, sizeof(*ret)) != sizeof(*ret))
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], ret, sizeof(*ret)), sizeof(*ret));
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(unit_path("program"));
	unlink(unit_path("conf"));
}

static void run(const char *text, const char *requests, struct result *ret)
{
	run_until(text, "bank", requests, 0, ret);
}

#define kept_old(r) do { \
	assert_int_equal((r)->state_len, 8); \
	assert_memory_equal((r)->state, "bank\0old", 8); \
} while (0)

static void a_program_changes_the_state(void **state)
{
	struct result r;

	(void)state;
	run(HEAD ANSWER("0", "$state+$request", "was $state"), "a b|c", &r);
	assert_int_equal(r.applied, 2);
	assert_int_equal(r.statuses[0], 0);
	assert_string_equal(r.text[0], "was old");
	assert_string_equal(r.text[1], "was old+a b");
	assert_memory_equal(r.state, "bank\0old+a b+c+a b+c", 20);
	assert_int_equal(r.state_len, 20);
}

static void it_has_nothing_but_what_it_needs(void **state)
{
	struct result r;

	(void)state;
	run(HEAD "fds=; for i in {0..200}; do [[ ! -e /proc/$$/fd/$i ]] || fds+=$i; done\n"
	    "group=$(cut -d' ' -f5 /proc/$$/stat); [[ $group == $$ ]] && group=own\n"
	    ANSWER("0", "s", "$1,$2,$#,$PWD,$fds,$group,$PATH,$LC_ALL,$BFTMUTEX_TYPE,$HOME"),
	    "x", &r);
	assert_int_equal(r.statuses[0], 0);
	assert_string_equal(r.text[0],
			    "one,two,2,/,012,own,/usr/sbin:/usr/bin:/sbin:/bin,C,bank,");
}

static void a_refusal_leaves_the_state(void **state)
{
	struct result r;

	(void)state;
	run(HEAD ANSWER("61", "new", "because"), "x", &r);
	assert_int_equal(r.statuses[0], ENODATA);
	assert_string_equal(r.text[0], "because");
	kept_old(&r);
	run("#!/bin/sh\nprintf 'status 0\n'\n", "x", &r);
	assert_int_equal(r.statuses[0], 0);
	assert_string_equal(r.text[0], "");
	kept_old(&r);
	run("#!/bin/sh\nprintf 'status 0\nstate 0\n\n'\n", "x", &r);
	assert_int_equal(r.statuses[0], 0);
	assert_int_equal(r.state_len, 5);
}

static void what_fails_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"#!/bin/sh\nprintf 'status 0\nstate 1\nx\n'; exit 1\n",
		"#!/bin/sh\nprintf 'status 0\nstate 1\nx\n'; kill -9 $$\n",
		"#!/bin/sh\nkill -SEGV $$\n",
		"#!/bin/sh\n",
		"#!/bin/sh\necho garbage\n",
		"#!/bin/sh\nprintf 'status 0\nstate 1\nx\nmore'\n",
		"#!/bin/sh\nhead -c 3000000 /dev/zero\n",
		"#!/bin/sh\nprintf 'status 0\nstate 2000000\n'; head -c 2000000 /dev/zero; echo\n",
		"#!/nonexistent\n",
	};
	struct result r;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		run(bad[i], "x", &r);
		assert_int_equal(r.applied, 2);
		assert_int_equal(r.statuses[0], EIO);
		assert_string_equal(r.text[0], "");
		kept_old(&r);
	}
	run_until("", "none", "x", 0, &r);
	assert_int_equal(r.statuses[0], EIO);
}

static void a_crash_does_not_stop_the_next(void **state)
{
	struct result r;

	(void)state;
	run(HEAD "[[ $request != die ]] || kill -9 $$\n" ANSWER("0", "$state$request", "ok"),
	    "1|die|2", &r);
	assert_int_equal(r.statuses[0], 0);
	assert_int_equal(r.statuses[1], EIO);
	assert_int_equal(r.statuses[2], 0);
	assert_memory_equal(r.state, "bank\0old1212", 12);
}

static void a_time_limit_ends_it(void **state)
{
	struct result r;

	(void)state;
	limit = "100ms";
	run("#!/bin/sh\ntrap '' TERM\nsleep 1000\n", "x", &r);
	limit = "10s";
	assert_int_equal(r.applied, 2);
	assert_int_equal(r.statuses[0], EIO);
	kept_old(&r);
	assert_true(r.took_ns >= 200 * BFTM_NS_PER_MS);
	assert_true(r.took_ns < 100 * BFTM_NS_PER_SEC);
}

/* Its own children hold stdout open: its end is what counts, and theirs comes too. */
static void children_are_not_waited_for(void **state)
{
	struct result r;
	pid_t left;

	(void)state;
	run(HEAD "sleep 1000 &\n" ANSWER("0", "s", "$!"), "x", &r);
	assert_int_equal(r.statuses[0], 0);
	left = atoi(r.text[0]);
	assert_true(left > 0);
	while (!kill(left, 0))
		sched_yield();
	assert_true(r.took_ns < 100 * BFTM_NS_PER_SEC);
}

/* All of an operation is done, however long it takes; a second one waits. */
static void time_for_others_has_an_end(void **state)
{
	struct result r;

	(void)state;
	run_until(HEAD ANSWER("0", "$state$request", "ok"), "bank", "1|2|3", 1, &r);
	assert_int_equal(r.applied, 1);
	assert_int_equal(r.statuses[0], 0);
	assert_int_equal(r.statuses[1], 0);
	assert_int_equal(r.statuses[2], 0);
	assert_memory_equal(r.state, "bank\0old123", 11);
	own = 1;
	run_until(HEAD ANSWER("0", "$state$request", "ok"), "bank", "1|2", 1, &r);
	assert_int_equal(r.applied, 2);
	assert_memory_equal(r.state, "bank\0old1212", 12);
	own = -1;
}

static void what_programs_may_write(void **state)
{
	static const struct {
		const char *text;
		u32 len;
		bool good;
	} texts[] = {
		{ "status 0\n", 9, true },
		{ "status 4095\n", 12, true },
		{ "status 0\nstate 3\na\0\n\n", 21, true },
		{ "status 0\nresponse 0\n\n", 21, true },
		{ "status 0\nstate 1\nx\nresponse 2\nyz\n", 33, true },
		{ "status 4096\n", 12, false },
		{ "status -1\n", 10, false },
		{ "status 0", 8, false },
		{ "status\x20\n", 8, false },
		{ "status 0\x20\n", 10, false },
		{ " status 0\n", 10, false },
		{ "status 0\n\n", 10, false },
		{ "status 0\nstate 2\nx\n", 19, false },
		{ "status 0\nstate 1\nxx\n", 20, false },
		{ "status 0\nstate 99999999999999999999\nx\n", 38, false },
		{ "status 0\nresponse 1\nx\nstate 1\nx\n", 33, false },
		{ "status 0\nresponse 16385\n", 24, false },
		{ "status 0\nstate 1048577\n", 23, false },
	};
	struct bftm_exec_output output;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(bftm_exec_parse((const u8 *)texts[i].text, texts[i].len, &output),
				 texts[i].good);
	assert_true(bftm_exec_parse((const u8 *)texts[2].text, 21, &output));
	assert_int_equal(output.state_len, 3);
	assert_memory_equal(output.state, "a\0\n", 3);
	assert_null(output.response);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_changes_the_state),
		cmocka_unit_test(it_has_nothing_but_what_it_needs),
		cmocka_unit_test(a_refusal_leaves_the_state),
		cmocka_unit_test(what_fails_changes_nothing),
		cmocka_unit_test(a_crash_does_not_stop_the_next),
		cmocka_unit_test(a_time_limit_ends_it),
		cmocka_unit_test(children_are_not_waited_for),
		cmocka_unit_test(time_for_others_has_an_end),
		cmocka_unit_test(what_programs_may_write),
	};

	return cmocka_run_group_tests_name("programs", tests, unit_make_dir, unit_remove_dir);
}
