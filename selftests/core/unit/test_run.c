// SPDX-License-Identifier: GPL-2.0
/*
 * The command of bftmutex(1) and what it starts, with a pipe as the handle: its lease is
 * over when we close our end. All that is started has the end of a second pipe: when that
 * is closed, all has ended.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/grants.h"
#include "run/run.h"
#include "run/value.h"

#define HANDLE 30
#define SECOND 32
#define WITNESS 31
#define ROOM 33

struct tool {
	pid_t pid;
	int lease;
	int second;	/* lease of a second lock, -1 without one */
	int witness;
};

/* Of the next tool: as in struct bftm_run. */
static bool value;
static int room = -1;
static bool more;

/* Runs in the tool's place; the script says "ready" on descriptor 31. */
static void be_tool(const char *script, int flags)
{
	const struct bftm_taken locks[] = {
		{ .fd = HANDLE, .name = "unit", .shown = "unit" },
		{ .fd = SECOND, .name = "more", .shown = "more" },
	};
	struct bftm_run run = {
		.locks = locks,
		.count = more ? 2 : 1,
		.argv = (char *[]){ "bash", "-c", (char *)script, NULL },
		.value = value,
		.room = room,
		.grace_ns = 300000000,
		.lost_code = 79,
		.survivor_code = 80,
	};
	int null = open("/dev/null", O_RDWR);

	fcntl(HANDLE, F_SETFD, flags);
	fcntl(SECOND, F_SETFD, flags);
	dup2(null, STDERR_FILENO);
	/* Signals to its group are not for us. */
	setsid();
	_exit(bftm_run(&run));
}

static void start(struct tool *tool, const char *script, int flags)
{
	int lease[2], witness[2], second[2] = { -1, -1 };
	char byte;

	assert_int_equal(pipe2(lease, O_CLOEXEC), 0);
	if (more)
		assert_int_equal(pipe2(second, O_CLOEXEC), 0);
	assert_int_equal(pipe2(witness, O_CLOEXEC), 0);
	tool->pid = fork();
	assert_true(tool->pid >= 0);
	if (!tool->pid) {
		close(lease[1]);
		close(witness[0]);
		dup2(lease[0], HANDLE);
		if (more) {
			close(second[1]);
			dup2(second[0], SECOND);
			close(second[0]);
		}
		dup2(witness[1], WITNESS);
		close(lease[0]);
		close(witness[1]);
		be_tool(script, flags);
	}
	close(lease[0]);
	close(witness[1]);
	if (more)
		close(second[0]);
	tool->second = second[1];
	tool->lease = lease[1];
	tool->witness = witness[0];
	assert_int_equal(read(tool->witness, &byte, 1), 1);
}

/* Of waitpid(). */
static int end_of(struct tool *tool)
{
	int status;

	assert_int_equal(waitpid(tool->pid, &status, 0), tool->pid);
	return status;
}

static bool all_ended(const struct tool *tool)
{
	struct pollfd fd = { .fd = tool->witness };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLHUP;
}

static void wait_for_end_of_all(const struct tool *tool)
{
	struct pollfd fd = { .fd = tool->witness };

	assert_int_equal(poll(&fd, 1, 60000), 1);
}

static void clean(struct tool *tool)
{
	close(tool->lease);
	close(tool->witness);
	if (tool->second >= 0)
		close(tool->second);
}

static void the_status_is_the_commands(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "echo >&31; exit 0", 0 },
		{ "echo >&31; exit 7", 7 },
		{ "echo >&31; exec setsid sh -c 'exit 8'", 8 },
		{ "echo >&31; kill -KILL $$", 128 + SIGKILL },
	};
	struct tool tool;
	size_t i;
	int status;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(&tool, cases[i].script, 0);
		status = end_of(&tool);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), cases[i].status);
		clean(&tool);
	}
}

/* Each way out of the process group; the last has not left it. */
static void all_end_when_the_lock_is_lost(void **state)
{
	static const char script[] =
		"bash -mc 'sleep 1000 & wait' &\n"
		"setsid sleep 1000 &\n"
		"setsid -w sleep 1000 &\n"
		"(setsid sh -c 'sleep 1000 & exit' &)\n"
		"bash -mc 'sleep 1000 | cat & wait' &\n"
		"timeout 600 sleep 1000 &\n"
		"nohup sleep 1000 >/dev/null 2>&1 &\n"
		"sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &\n"
		"sh -c 'kill -STOP $$; sleep 1000' &\n"
		"chain() { trap '' TERM; chain & exit; }\n"
		"(chain &)\n"
		"echo >&31; sleep 1000";
	struct tool tool;
	int status;

	(void)state;
	start(&tool, script, 0);
	close(tool.lease);
	status = end_of(&tool);
	assert_true(all_ended(&tool));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 79);
	close(tool.witness);
}

static void what_is_left_behind_keeps_the_lock(void **state)
{
	struct tool tool;
	int status;

	(void)state;
	/* The last holder ends: the command's status. */
	start(&tool, "(setsid sleep 0.5 &); echo >&31; exit 5", 0);
	status = end_of(&tool);
	assert_true(all_ended(&tool));
	assert_int_equal(WEXITSTATUS(status), 5);
	clean(&tool);

	/* It does not, and the lock is lost. */
	start(&tool, "(setsid sleep 1000 &); echo >&31; exit 5", 0);
	assert_int_equal(waitpid(tool.pid, &status, WNOHANG), 0);
	close(tool.lease);
	status = end_of(&tool);
	assert_true(all_ended(&tool));
	assert_int_equal(WEXITSTATUS(status), 79);
	close(tool.witness);
}

/* The first and the second of two locks, while the command runs and after it. */
static void the_loss_of_one_lock_ends_all(void **state)
{
	static const char *const scripts[] = {
		"trap '' TERM; echo >&31; sleep 1000; sleep 1000",
		"(setsid sleep 1000 &); echo >&31; exit 5",
	};
	struct tool tool;
	int status;
	size_t i;

	(void)state;
	more = true;
	for (i = 0; i < 2 * ARRAY_SIZE(scripts); i++) {
		bool second = i % 2;

		start(&tool, scripts[i / 2], 0);
		assert_int_equal(waitpid(tool.pid, &status, WNOHANG), 0);
		close(second ? tool.second : tool.lease);
		status = end_of(&tool);
		assert_true(all_ended(&tool));
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 79);
		close(second ? tool.lease : tool.second);
		close(tool.witness);
	}
	more = false;
}

static void one_of_two_descriptors_keeps_its_lock(void **state)
{
	static const char *const scripts[] = {
		"(exec 30<&-; setsid sleep 0.5 &); echo >&31; exit 5",
		"(exec 32<&-; setsid sleep 0.5 &); echo >&31; exit 5",
	};
	struct tool tool;
	int status;
	size_t i;

	(void)state;
	more = true;
	for (i = 0; i < ARRAY_SIZE(scripts); i++) {
		start(&tool, scripts[i], 0);
		status = end_of(&tool);
		assert_true(all_ended(&tool));
		assert_int_equal(WEXITSTATUS(status), 5);
		clean(&tool);
	}
	more = false;
}

/* By bytes: "a" before "a b", upper case before lower case, 8-bit bytes last. */
static void locks_are_taken_in_the_order_of_their_bytes(void **state)
{
	const struct bftm_taken locks[] = {
		{ .name = "b" }, { .name = "a b" }, { .name = "\xff" }, { .name = "a" },
		{ .name = "B" }, { .name = "~" },
	};
	static const unsigned int want[] = { 4, 3, 1, 0, 5, 2 };
	unsigned int order[BFTM_SEVERAL_MAX];

	(void)state;
	bftm_several_order(locks, ARRAY_SIZE(locks), order);
	assert_memory_equal(order, want, sizeof(want));
	bftm_several_order(locks, 1, order);
	assert_int_equal(order[0], 0);
}

static void tokens_are_lines_in_the_order_of_the_command_line(void **state)
{
	char name[BFTM_NAME_MAX + 1], text[BFTM_TOKENS_MAX], line[BFTM_NAME_MAX + 22];
	struct bftmutex_grant grants[BFTM_SEVERAL_MAX] = { { .token = 7 }, { .token = UINT64_MAX } };
	struct bftm_taken locks[BFTM_SEVERAL_MAX] = { { .name = "b c=d" }, { .name = "a" } };
	size_t i;

	(void)state;
	bftm_format_tokens(locks, grants, 2, text);
	assert_string_equal(text, "b c=d=7\na=18446744073709551615");
	memset(name, 'n', BFTM_NAME_MAX);
	name[BFTM_NAME_MAX] = '\0';
	for (i = 0; i < BFTM_SEVERAL_MAX; i++) {
		locks[i].name = name;
		grants[i].token = UINT64_MAX;
	}
	bftm_format_tokens(locks, grants, BFTM_SEVERAL_MAX, text);
	snprintf(line, sizeof(line), "%s=18446744073709551615", name);
	assert_int_equal(strlen(text), BFTM_SEVERAL_MAX * (strlen(line) + 1) - 1);
	assert_string_equal(text + strlen(text) - strlen(line), line);
}

static void who_has_no_descriptor_is_not_waited_for(void **state)
{
	static const struct {
		const char *script;
		int flags;
	} cases[] = {
		{ "(exec 30<&-; setsid sleep 1000 & echo r$! >&31); exit 6", 0 },
		{ "(setsid sleep 1000 & echo r$! >&31); exit 6", FD_CLOEXEC },
	};
	struct tool tool;
	char text[16] = "";
	int status;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(&tool, cases[i].script, cases[i].flags);
		status = end_of(&tool);
		assert_false(all_ended(&tool));
		assert_int_equal(WEXITSTATUS(status), 6);
		memset(text, 0, sizeof(text));
		assert_true(read(tool.witness, text, sizeof(text) - 1) > 0);
		assert_int_equal(kill(atoi(text), SIGKILL), 0);
		clean(&tool);
	}
}

/* The pipe is no device: to give it back is an error that says nothing about the lock. */
static void with_a_value_all_are_waited_for(void **state)
{
	struct tool tool;
	char text[16] = "";
	int status;

	(void)state;
	value = true;
	start(&tool, "(exec 30<&-; setsid sleep 0.5 &); echo >&31; exit 6", 0);
	status = end_of(&tool);
	assert_true(all_ended(&tool));
	assert_int_equal(WEXITSTATUS(status), 6);
	clean(&tool);

	/* But not with --close. */
	start(&tool, "(setsid sleep 1000 & echo r$! >&31); exit 7", FD_CLOEXEC);
	status = end_of(&tool);
	assert_false(all_ended(&tool));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(read(tool.witness, text, sizeof(text) - 1) > 0);
	assert_int_equal(kill(atoi(text), SIGKILL), 0);
	value = false;
	clean(&tool);
}

static void what_a_command_writes_is_left_if_it_succeeds(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "echo >&31; exit 0", 0 },
		/* A pipe takes no value: it was to be left. */
		{ "echo >&31; echo value >&33; exit 0", 65 },
		{ "echo >&31; printf %065d 0 >&33; exit 0", 65 },
		{ "echo >&31; echo value >/dev/fd/33; exit 0", 65 },
		{ "echo >&31; echo value >&33; exit 9", 9 },
		{ "echo >&31; echo value >&33; kill -KILL $$", 128 + SIGKILL },
	};
	struct tool tool;
	int status;
	size_t i;

	(void)state;
	value = true;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int file = memfd_create("unit", 0);

		assert_true(file >= 0);
		room = dup2(file, ROOM);
		close(file);
		start(&tool, cases[i].script, 0);
		status = end_of(&tool);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), cases[i].status);
		clean(&tool);
		close(room);
	}
	value = false;
	room = -1;
}

static void digits_are_bytes(void **state)
{
	static const char *const wrong[] = { "0", "0g", "g0", "0x", "00 ", " 00", "-1", "+1", "000" };
	char most[2 * BFTM_VALUE_MAX + 3];
	struct bftm_hex hex;
	size_t i;

	(void)state;
	assert_int_equal(bftm_hex_parse("", &hex), 0);
	assert_int_equal(hex.len, 0);
	assert_int_equal(bftm_hex_parse("00fFA9", &hex), 0);
	assert_int_equal(hex.len, 3);
	assert_memory_equal(hex.bytes, "\x00\xff\xa9", 3);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(bftm_hex_parse(wrong[i], &hex), -EINVAL);
	memset(most, '1', sizeof(most) - 1);
	most[sizeof(most) - 1] = '\0';
	assert_int_equal(bftm_hex_parse(most, &hex), -EINVAL);
	assert_int_equal(bftm_hex_parse(most + 2, &hex), 0);
	assert_int_equal(hex.len, BFTM_VALUE_MAX);
	assert_int_equal(hex.bytes[BFTM_VALUE_MAX - 1], 0x11);
}

static pid_t keeper_of(const struct tool *tool)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", tool->pid, tool->pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

static void all_end_when_one_of_us_is_killed(void **state)
{
	static const char script[] =
		"trap '' TERM; (setsid sh -c 'sleep 1000; :' &); echo >&31; sleep 1000; sleep 1000";
	struct tool tool;
	int status;

	(void)state;
	start(&tool, script, FD_CLOEXEC);
	kill(-tool.pid, SIGKILL);
	status = end_of(&tool);
	assert_true(WIFSIGNALED(status));
	wait_for_end_of_all(&tool);
	clean(&tool);

	start(&tool, script, FD_CLOEXEC);
	kill(keeper_of(&tool), SIGKILL);
	status = end_of(&tool);
	assert_true(all_ended(&tool));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 71);
	clean(&tool);
}

/* However early somebody kills its group. The field after the parent's and the group's number. */
static void the_keeper_leaves_the_group_before_the_command_runs(void **state)
{
	static const char script[] =
		"session() { read -r _ _ _ _ _ s _ </proc/$1/stat; }\n"
		"session $PPID; keeper=$s; session $$; echo >&31; [ $keeper != $s ] && exit 5";
	struct tool tool;
	int status, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		start(&tool, script, 0);
		status = end_of(&tool);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 5);
		clean(&tool);
	}
}

static void signals_reach_the_group(void **state)
{
	/* SIGRTMIN is no constant. */
	const int signals[] = { SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGIO, SIGRTMIN + 1 };
	struct tool tool;
	int status;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		start(&tool, "sleep 1000 & echo >&31; exec sleep 1000", 0);
		kill(tool.pid, signals[i]);
		status = end_of(&tool);
		assert_true(all_ended(&tool));
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		clean(&tool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_is_the_commands),
		cmocka_unit_test(all_end_when_the_lock_is_lost),
		cmocka_unit_test(what_is_left_behind_keeps_the_lock),
		cmocka_unit_test(the_loss_of_one_lock_ends_all),
		cmocka_unit_test(one_of_two_descriptors_keeps_its_lock),
		cmocka_unit_test(locks_are_taken_in_the_order_of_their_bytes),
		cmocka_unit_test(tokens_are_lines_in_the_order_of_the_command_line),
		cmocka_unit_test(who_has_no_descriptor_is_not_waited_for),
		cmocka_unit_test(with_a_value_all_are_waited_for),
		cmocka_unit_test(what_a_command_writes_is_left_if_it_succeeds),
		cmocka_unit_test(digits_are_bytes),
		cmocka_unit_test(all_end_when_one_of_us_is_killed),
		cmocka_unit_test(the_keeper_leaves_the_group_before_the_command_runs),
		cmocka_unit_test(signals_reach_the_group),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
