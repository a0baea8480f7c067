// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexd: contends for the applications of one network namespace.
 *
 * One thread. It sleeps in epoll until the kernel hints at requests (kernel/upcall.c), a server
 * answers (cluster/cluster.c), a timer is due (loop/loop.c), a program asks for the state
 * (daemon/status.c) or a signal comes. Otherwise the thread waits only in calls of the kernel's
 * netlink family, which are short, and for a client of daemon/status.c, at most 200 ms. The daemon
 * may die at any moment: its requests wait in the kernel, and held locks stay held.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "loop/descriptors.h"
#include "loop/log.h"
#include "loop/loop.h"
#include "types/exec.h"
#include "daemon/ready.h"
#include "daemon/sandbox.h"
#include "daemon/status.h"
#include "kernel/upcall.h"

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

#define STATE_DIR "/var/lib/bftmutex"
#define HEX "0123456789abcdefABCDEF"

const char *argp_program_version = "bftmutexd " BFTM_VERSION;

static struct {
	const char *conf;
	const char *state;
	const char *pid_file;
	bool foreground;
	bool debug;
	bool check;
} args = { .conf = BFTM_CONF_PATH, .state = STATE_DIR };

static struct bftm_watch signals;
static enum bftm_sandbox sandbox;
static bool closed;

static const struct argp_option options[] = {
	{ "config", 'c', "FILE", 0, "Configuration (default " BFTM_CONF_PATH ")", 0 },
	{ "state", 's', "DIR", 0, "Folder for files that must survive a restart (default " STATE_DIR ")", 0 },
	{ "pid-file", 'p', "FILE", 0, "Write the process's number there", 0 },
	{ "foreground", 'f', NULL, 0, "Stay in the foreground, and log to stderr", 0 },
	{ "boot-id", 'b', "ID", 0, "Identity of this boot of the host, where /proc has none", 0 },
	{ "debug", 'd', NULL, 0, "Log more", 0 },
	{ "check", 'n', NULL, 0, "Check the configuration and its keys, and exit", 0 },
	{ 0 },
};

static error_t daemon_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'c':
		args.conf = arg;
		break;
	case 's':
		if (*arg != '/')
			argp_error(state, "--state '%s': must be an absolute path, or the next "
			   "daemon does not find the files of this one", arg);
		args.state = arg;
		break;
	case 'p':
		args.pid_file = arg;
		break;
	case 'b':
		if (!*arg || strspn(arg, HEX "-") != strlen(arg))
			argp_error(state, "--boot-id '%s': must be digits, a to f and dashes, such as "
				   "/proc/sys/kernel/random/boot_id", arg);
		bftm_boot_id_set(arg);
		break;
	case 'f':
		args.foreground = true;
		break;
	case 'd':
		args.debug = true;
		break;
	case 'n':
		args.check = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': no arguments are expected", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = daemon_parse,
	.doc = "Contends for the cluster locks that programs of this network "
	       "namespace ask for through /dev/bftmutex.\v"
	       "SIGHUP reads the configuration again; if the new one has a mistake, "
	       "the old one stays. SIGTERM and SIGINT end the daemon; programs keep "
	       "their locks until the deadlines, and those without a lease.",
};

static int configure(void)
{
	struct bftm_conf *conf;
	int err = bftm_conf_load(args.conf, &conf);

	if (err < 0)
		return err;
	err = args.check ? bftm_clusters_check(conf) :
			   bftm_clusters_configure(conf, args.state);
	if (!err && closed && conf->sandbox != sandbox)
		bftm_log(LOG_WARNING, "%s: the new value of sandbox is used from the next start on", args.conf);
	else if (!err)
		sandbox = conf->sandbox;
	if (!args.check && !err)
		bftm_exec_configure(conf);
	bftm_conf_free(conf);
	return err;
}

static void on_signal(struct bftm_watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGHUP) {
		bftm_loop_stop();
		return;
	}
	if (configure() < 0)
		bftm_log(LOG_ERR,
			 "%s: cannot be used, the old configuration stays; see bftmutexd --check -c %s",
			 args.conf, args.conf);
	else
		bftm_log(LOG_INFO, "%s: the configuration was read again", args.conf);
}

static int watch_signals(void)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	signals.ready = on_signal;
	err = signals.fd < 0 ? -errno : bftm_watch_add(&signals);
	if (err < 0)
		bftm_log(LOG_ERR, "cannot wait for signals: %s", strerror(-err));
	return err;
}

static int exit_code(int err)
{
	switch (-err) {
	case 0:
		return EX_OK;
	case EINVAL:
	case ENOKEY:
	case ENODEV:
	case EISDIR:
		return EX_CONFIG;
	case ENOENT:
	case EBUSY:
	case EPROTO:
		return EX_UNAVAILABLE;
	case EPERM:
	case EACCES:
		return EX_NOPERM;
	}
	return EX_OSERR;
}

static int serve(void)
{
	int err = bftm_upcall_open();

	if (err == -ENOENT)
		bftm_log(LOG_ERR, "the kernel module is not loaded: insmod bftmutex.ko or modprobe bftmutex");
	else if (err == -EBUSY)
		bftm_log(LOG_ERR, "this network namespace has a bftmutexd already");
	else if (err == -EPERM)
		bftm_log(LOG_ERR, "bftmutexd needs CAP_NET_ADMIN: start it as root");
	else if (err < 0 && err != -EPROTO)	/* which upcall.c has logged */
		bftm_log(LOG_ERR, "cannot serve the kernel: %s", strerror(-err));
	return err;
}

static int begin_loop(void)
{
	int err = bftm_loop_init();

	if (err < 0)
		bftm_log(LOG_ERR, "cannot wait for events: %s", strerror(-err));
	return err;
}

static int daemon_start(void)
{
	int err;

	if (mkdir(args.state, 0700) < 0 && errno != EEXIST) {
		err = -errno;
		bftm_log(LOG_ERR, "--state %s: %s", args.state, strerror(-err));
		return err;
	}
	err = bftm_sandbox_begin();
	err = err ?: begin_loop();
	err = err ?: watch_signals();
	err = err ?: configure();
	err = err ?: serve();
	return err ?: bftm_status_open();
}

static const char *pid_file;	/* the file that this process made */

static int write_pid(void)
{
	FILE *file;

	if (!args.pid_file)
		return 0;
	file = fopen(args.pid_file, "we");
	pid_file = file ? args.pid_file : NULL;
	if (file && fprintf(file, "%d\n", (int)getpid()) > 0 && !fclose(file))
		return 0;
	bftm_log(LOG_ERR, "--pid-file '%s': %s", args.pid_file, strerror(errno));
	return -EIO;
}

static void cannot_detach(void)
{
	bftm_log(LOG_ERR, "cannot go to the background: %s", strerror(errno));
	exit(EX_OSERR);
}

/* The parent exits when the daemon serves, or with the status of its failure. */
static void daemon_detach(int *ret_report)
{
	int report[2];
	char code;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		cannot_detach();
	pid = fork();
	if (pid < 0)
		cannot_detach();
	if (pid > 0) {
		close(report[1]);
		if (read(report[0], &code, 1) != 1) {
			bftm_log(LOG_ERR, "the daemon ended before it was ready");
			code = EX_SOFTWARE;
		}
		_exit(code);
	}
	close(report[0]);
	setsid();
	*ret_report = report[1];
}

/* A process that waits for the end of the daemon's output must not wait for ever. */
static void let_go(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    dup2(fd, STDERR_FILENO) < 0)
		bftm_log(LOG_DEBUG, "cannot let go of the terminal: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void tell_parent(int report, int code)
{
	char byte = (char)code;

	if (write(report, &byte, 1) != 1)
		bftm_log(LOG_DEBUG, "nobody waits for the start");
	close(report);
	if (!code)
		let_go();
}

int main(int argc, char **argv)
{
	int report = -1, err;

	argp_err_exit_status = EX_USAGE;
	bftm_log_stderr("bftmutexd");
	err = bftm_standard_fds();
	if (err) {
		bftm_log(LOG_ERR, "cannot take the place of a closed standard stream: %s",
			 strerror(-err));
		return EX_OSERR;
	}
	bftm_output_watch();
	err = argp_parse(&argp, argc, argv, 0, NULL, NULL);
	bftm_output_trust();
	bftm_log_open("bftmutexd", false, args.debug);
	if (err) {
		bftm_log(LOG_ERR, "the command line cannot be read: %s", strerror(err));
		return EX_OSERR;
	}
	/* Check with the rights that a start would have when it reads keys. */
	if (args.check)
		return exit_code(bftm_sandbox_begin() ?: configure());
	if (!args.foreground)
		daemon_detach(&report);
	err = daemon_start();
	err = err ?: write_pid();
	err = err ?: bftm_sandbox_close(sandbox);
	closed = true;
	if (!err) {
		if (report >= 0) {
			tell_parent(report, EX_OK);
			report = -1;
			bftm_log_open("bftmutexd", true, args.debug);
		}
		bftm_log(LOG_INFO, "ready");
		bftm_ready_begin();
		err = bftm_loop_run();
		if (err < 0)
			bftm_log(LOG_ERR, "cannot wait for events: %s", strerror(-err));
	}
	bftm_status_close();
	bftm_upcall_close();
	bftm_clusters_stop();
	bftm_exec_stop();
	if (pid_file)
		unlink(pid_file);
	/* The process that gets the report may start another daemon at once. */
	if (report >= 0)
		tell_parent(report, exit_code(err));
	return exit_code(err);
}
