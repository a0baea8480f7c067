// SPDX-License-Identifier: GPL-2.0
/*
 * Descendants, found in /proc by their parents.
 *
 * Our process is a subreaper (prctl(2)), so the new parent of an orphan belongs to the family as
 * well, and no process leaves the family by a new group, a new session, or by forking twice.
 *
 * During a walk processes begin and end. An open folder of /proc belongs to one process for ever: a
 * read from it and a signal by it concern the same process, or fail. Entries come in the order of
 * numbers, and few at a time, so that a process is signalled a moment after it was listed: the
 * children of a process that forks and ends, over and over, have higher numbers each time and are
 * met at the end of the list.
 */
#include "run/family.h"
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* PID_MAX_LIMIT of 64-bit kernels. */
#define PIDS (4 * 1024 * 1024)
/* Longest time to look for processes that fork meanwhile. */
#define WALK_NS (300 * 1000000ull)

/* A bit for each process, so that nothing is allocated. */
struct pid_set {
	uint64_t bits[PIDS / 64];
};

/**
 * struct walk - one signal for all
 * @proc:   /proc
 * @pgrp:   only processes of this group are signalled; 0: of any group
 * @signo:  the signal; 0 only finds the descendants
 * @info:   siginfo of the signal; NULL: as by kill()
 * @found:  the result
 * @family: the descendants met so far, and the root
 * @told:   processes that were signalled, or could not be, and the root
 * @news:   this pass has met processes that no earlier pass has met
 */
struct walk {
	int proc;
	pid_t pgrp;
	int signo;
	siginfo_t *info;
	struct bftm_found *found;
	struct pid_set *family;
	struct pid_set *told;
	bool news;
};

/* A line of /proc/PID/stat. */
struct process {
	char name[64];
	pid_t parent;
	pid_t pgrp;
	bool ended;
};

static bool has(const struct pid_set *set, pid_t pid)
{
	return pid > 0 && pid < PIDS && set->bits[pid / 64] >> (pid % 64) & 1;
}

static void family_add(struct pid_set *set, pid_t pid)
{
	if (pid > 0 && pid < PIDS)
		set->bits[pid / 64] |= 1ull << (pid % 64);
}

static bool family_parse(char *line, struct process *ret)
{
	/* A name may contain any character, also parentheses. */
	char *name = strchr(line, '('), *end = strrchr(line, ')');
	int threads;
	char state;

	if (!name || !end || end < name ||
	    sscanf(end + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
		   &state, &ret->parent, &ret->pgrp, &threads) != 4)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(end - name - 1), name + 1);
	/* The first thread may have ended before others. */
	ret->ended = state == 'X' || (state == 'Z' && threads <= 1);
	return true;
}

static bool family_look(int folder, struct process *ret)
{
	int fd = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	char line[1024];
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (len <= 0)
		return false;
	line[len] = '\0';
	return family_parse(line, ret);
}

/* Names of processes that could not be signalled replace the others. */
static void family_note(struct bftm_found *found, pid_t pid, const char *name, int error)
{
	size_t len;

	found->alive++;
	if (error && !found->refused++) {
		found->error = error;
		found->names[0] = '\0';
	}
	if (!error && found->refused)
		return;
	len = strlen(found->names);
	/* The longest name, a number, and the characters around them. */
	if (len + 90 < sizeof(found->names))
		sprintf(found->names + len, "%s%d (%s)", len ? ", " : "", pid, name);
	else if (!strstr(found->names, "…"))
		strcat(found->names, ", …");
}

static void family_tell(struct walk *walk, int folder, pid_t pid, const struct process *process)
{
	int error = 0;

	family_add(walk->told, pid);
	walk->news = true;
	/* A zombie accepts signals as well, so its state need not be read first. */
	if (walk->signo && pidfd_send_signal(folder, walk->signo, walk->info, 0))
		error = errno;
	if (!process->ended && error != ESRCH)
		family_note(walk->found, pid, process->name, error);
}

static void meet(struct walk *walk, const char *entry)
{
	pid_t pid = (pid_t)strtol(entry, NULL, 10);
	struct process process;
	int folder;

	if (pid <= 0 || has(walk->told, pid))
		return;
	folder = openat(walk->proc, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	if (family_look(folder, &process) &&
	    (has(walk->family, pid) || has(walk->family, process.parent))) {
		if (!has(walk->family, pid)) {
			family_add(walk->family, pid);
			walk->news = true;
		}
		if (!walk->pgrp || process.pgrp == walk->pgrp)
			family_tell(walk, folder, pid, &process);
	}
	close(folder);
}

static void pass(struct walk *walk)
{
	char buf[sizeof(struct dirent64)] __attribute__((aligned(8)));
	struct dirent64 *entry;
	ssize_t len, at;

	walk->news = false;
	lseek(walk->proc, 0, SEEK_SET);
	while ((len = getdents64(walk->proc, buf, sizeof(buf))) > 0) {
		for (at = 0; at < len; at += entry->d_reclen) {
			entry = (struct dirent64 *)(buf + at);
			meet(walk, entry->d_name);
		}
	}
}

/* /proc must be that of our PID namespace, or its numbers mean other processes. */
static int open_proc(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char self[16] = "";

	if (proc < 0)
		return -errno;
	if (readlinkat(proc, "self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid())
		return proc;
	close(proc);
	return -ESRCH;
}

void bftm_family_signal(pid_t root, pid_t child, pid_t pgrp, int signo, siginfo_t *info,
			struct bftm_found *ret)
{
	static struct pid_set family, told;
	uint64_t end = bftm_boottime() + WALK_NS;
	struct walk walk = {
		.proc = open_proc(),
		.pgrp = pgrp,
		.signo = signo,
		.info = info,
		.found = ret,
		.family = &family,
		.told = &told,
	};

	memset(ret, 0, sizeof(*ret));
	memset(&family, 0, sizeof(family));
	memset(&told, 0, sizeof(told));
	family_add(&told, root);
	family_add(&family, root);
	family_add(&family, child);
	if (walk.proc >= 0) {
		do
			pass(&walk);
		while (walk.news && bftm_boottime() < end);
		close(walk.proc);
	} else {
		ret->error = -walk.proc;
	}
	/*
	 * If /proc is missing, or hides the processes of others, at least the command is signalled.
	 */
	if (child && !has(&told, child) && (!pgrp || getpgid(child) == pgrp))
		family_note(ret, child, "?", kill(child, signo) ? errno : 0);
}

bool bftm_family_is_gone(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD;
}
