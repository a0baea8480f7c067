// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/conf.h"
#include "config/conf_type.h"
#include "loop/log.h"
#include "loop/loop.h"
#include "types/exec.h"

/**
 * struct bftm_object_run - a program while it runs
 * @list:     among all that run
 * @type:     name of the type
 * @pid:      of the program, which leads its process group
 * @exit:     its pidfd
 * @output:   its stdout, -1 when it was closed
 * @limit:    timer that kills it
 * @limit_ns: the time that it may take, ns
 * @text:     its output so far
 * @done:     NULL when the result is not needed any more, and it only has to be reaped
 * @arg:      for @done
 */
struct bftm_object_run {
	LIST_ENTRY(bftm_object_run) list;
	char type[BFTM_TYPE_NAME_MAX + 1];
	pid_t pid;
	struct bftm_watch exit;
	struct bftm_watch output;
	struct bftm_timer limit;
	u64 limit_ns;
	struct bftm_bytes text;
	void (*done)(void *arg, u32 status, const struct bftm_bytes *state,
		     const struct bftm_bytes *response);
	void *arg;
};

static LIST_HEAD(, bftm_object_run) runs = LIST_HEAD_INITIALIZER(runs);
static struct bftm_conf_type *types;
static u32 type_count;

static const struct bftm_conf_type *exec_find(const char *name)
{
	u32 i;

	for (i = 0; i < type_count; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

u64 bftm_exec_limit_ns(void)
{
	u64 longest = 0;
	u32 i;

	for (i = 0; i < type_count; i++)
		if (longest < types[i].limit_ns)
			longest = types[i].limit_ns;
	return longest;
}

static bool knows(const struct bftm_object_exec *exec, const char *type)
{
	(void)exec;
	return exec_find(type);
}

/* The child's side. Its messages go to our stderr. */
_Noreturn static void child(const struct bftm_conf_type *type, int input, int output,
			    pid_t parent)
{
	const char *name = type->name;
	struct rlimit none = {};
	char type_text[64];
	char *environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", type_text,
				NULL };
	sigset_t set;
	int signo;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	snprintf(type_text, sizeof(type_text), "BFTMUTEX_TYPE=%s", name);
	for (signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	setrlimit(RLIMIT_CORE, &none);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) < 0 || chdir("/") < 0)
		_exit(127);
	execve(type->argv[0], type->argv, environment);
	_exit(127);
}

/* A file with the program's input, positioned at its beginning; -errno. */
static int make_input(const u8 *state, u32 state_len, const u8 *request, u32 request_len)
{
	int fd = memfd_create("bftmutex-object", MFD_CLOEXEC), copy;
	FILE *file;

	if (fd < 0)
		return -errno;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	file = copy < 0 ? NULL : fdopen(copy, "w");
	if (!file) {
		if (copy >= 0)
			close(copy);
		close(fd);
		return -ENOMEM;
	}
	fprintf(file, "bftmutex-object 1\nstate %u\n", state_len);
	fwrite(state, 1, state_len, file);
	fprintf(file, "\nrequest %u\n", request_len);
	fwrite(request, 1, request_len, file);
	fputc('\n', file);
	if (fclose(file) || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static void free_run(struct bftm_object_run *run)
{
	LIST_REMOVE(run, list);
	bftm_timer_stop(&run->limit);
	if (run->output.fd >= 0) {
		bftm_watch_del(&run->output);
		close(run->output.fd);
	}
	bftm_watch_del(&run->exit);
	close(run->exit.fd);
	bftm_bytes_free(&run->text);
	free(run);
}

static void exec_end(const struct bftm_object_run *run)
{
	kill(-run->pid, SIGKILL);
	kill(run->pid, SIGKILL);
}

/* Tells the caller, which may then start the next program or cancel. */
static void exec_tell(struct bftm_object_run *run, u32 status, const struct bftm_bytes *state,
		      const struct bftm_bytes *response)
{
	void (*done)(void *arg, u32 status, const struct bftm_bytes *new_state,
		     const struct bftm_bytes *new_response) = run->done;

	run->done = NULL;
	if (done)
		done(run->arg, status, state, response);
}

static void exec_fail(struct bftm_object_run *run, const char *why)
{
	static const struct bftm_bytes nothing;

	if (run->done)
		bftm_log(LOG_WARNING, "type %s: its program %s; the object is unchanged",
			 run->type, why);
	exec_tell(run, EIO, NULL, &nothing);
}

/* Reads the available output; false when there is too much. */
static bool read_output(struct bftm_object_run *run)
{
	u8 part[16384];
	ssize_t n;

	while (run->output.fd >= 0) {
		n = read(run->output.fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			bftm_watch_del(&run->output);
			close(run->output.fd);
			run->output.fd = -1;
			return true;
		}
		if (run->text.len + n > BFTM_EXEC_OUTPUT_MAX ||
		    !bftm_bytes_add(&run->text, part, n))
			return false;
	}
	return true;
}

static void on_output(struct bftm_watch *watch)
{
	struct bftm_object_run *run = container_of(watch, struct bftm_object_run, output);

	if (read_output(run) && run->done)
		return;
	/* Otherwise the closed pipe would be readable for ever. */
	if (run->output.fd >= 0) {
		bftm_watch_del(&run->output);
		close(run->output.fd);
		run->output.fd = -1;
	}
	if (run->done) {
		exec_end(run);
		exec_fail(run, "wrote too much");
	}
}

static void on_limit(struct bftm_timer *timer)
{
	struct bftm_object_run *run = container_of(timer, struct bftm_object_run, limit);
	char words[64], limit[32];

	snprintf(words, sizeof(words), "took longer than its time-limit %s",
		 bftm_format_duration(run->limit_ns, limit, sizeof(limit)));
	exec_end(run);
	exec_fail(run, words);
}

static void succeed(struct bftm_object_run *run)
{
	struct bftm_exec_output output;
	struct bftm_bytes state, response;

	if (!bftm_exec_parse(run->text.data, run->text.len, &output)) {
		exec_fail(run, "wrote no valid answer");
		return;
	}
	state = (struct bftm_bytes){ .data = (u8 *)output.state, .len = output.state_len };
	response = (struct bftm_bytes){ .data = (u8 *)output.response,
					.len = output.response_len };
	exec_tell(run, output.status, output.state ? &state : NULL, &response);
}

static void on_exit_of(struct bftm_watch *watch)
{
	struct bftm_object_run *run = container_of(watch, struct bftm_object_run, exit);
	char words[64];
	int status;

	/* Until it is reaped, no other group can have its number. */
	kill(-run->pid, SIGKILL);
	if (waitpid(run->pid, &status, 0) < 0)
		status = -1;
	if (!run->done) {
		;
	} else if (!read_output(run)) {
		exec_fail(run, "wrote too much");
	} else if (!status) {
		succeed(run);
	} else if (WIFEXITED(status)) {
		snprintf(words, sizeof(words), WEXITSTATUS(status) == 127 ?
			 "cannot be run, or ended with %d" : "ended with %d",
			 WEXITSTATUS(status));
		exec_fail(run, words);
	} else {
		snprintf(words, sizeof(words), "was killed by signal %d", WTERMSIG(status));
		exec_fail(run, words);
	}
	free_run(run);
}

static struct bftm_object_run *exec_start(const struct bftm_object_exec *exec, const char *name,
					  const u8 *state, u32 state_len, const u8 *request,
					  u32 request_len,
					  void (*done)(void *arg, u32 status,
						       const struct bftm_bytes *new_state,
						       const struct bftm_bytes *response),
					  void *arg)
{
	const struct bftm_conf_type *type = exec_find(name);
	int input, output[2] = { -1, -1 }, pidfd = -1;
	struct bftm_object_run *run = calloc(1, sizeof(*run));
	pid_t parent = getpid(), pid;

	(void)exec;
	input = make_input(state, state_len, request, request_len);
	if (!run || input < 0 || pipe2(output, O_CLOEXEC) < 0)
		goto err_input;
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid < 0)
		goto err_output;
	if (!pid)
		child(type, input, output[1], parent);
	/* Parent and child both set the group: neither may go on before it is set. */
	setpgid(pid, pid);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		goto err_pid;
	close(input);
	close(output[1]);

	snprintf(run->type, sizeof(run->type), "%s", name);
	run->pid = pid;
	run->done = done;
	run->arg = arg;
	run->limit_ns = type->limit_ns;
	run->exit = (struct bftm_watch){ .fd = pidfd, .ready = on_exit_of };
	run->output = (struct bftm_watch){ .fd = output[0], .ready = on_output };
	run->limit.fire = on_limit;
	LIST_INSERT_HEAD(&runs, run, list);
	bftm_timer_arm(&run->limit, bftm_now() + run->limit_ns);
	if (bftm_watch_add(&run->exit) == 0 && bftm_watch_add(&run->output) == 0)
		return run;
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free_run(run);
	return NULL;

err_pid:
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
err_output:
	close(output[0]);
	close(output[1]);
err_input:
	bftm_log(LOG_ERR, "type %s: its program cannot be started: %s", name, strerror(errno));
	if (input >= 0)
		close(input);
	free(run);
	return NULL;
}

/* The program is reaped when it has ended, see on_exit_of(). */
static void cancel(struct bftm_object_run *run)
{
	run->done = NULL;
	bftm_timer_stop(&run->limit);
	exec_end(run);
}

const struct bftm_object_exec bftm_exec_programs = {
	.knows = knows,
	.start = exec_start,
	.cancel = cancel,
};

void bftm_exec_configure(struct bftm_conf *conf)
{
	bftm_conf_free_types(types, type_count);
	types = conf->type;
	type_count = conf->types;
	conf->type = NULL;
	conf->types = 0;
}

void bftm_exec_stop(void)
{
	struct bftm_object_run *run;

	while ((run = LIST_FIRST(&runs))) {
		exec_end(run);
		free_run(run);
	}
	bftm_conf_free_types(types, type_count);
	types = NULL;
	type_count = 0;
}
