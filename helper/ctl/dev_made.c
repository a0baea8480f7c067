// SPDX-License-Identifier: GPL-2.0
/*
 * The list of all parts of a development cluster. A line is written just before the part is made,
 * so the list lacks nothing; a listed part that does not exist is skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/dev.h"

static const char *const kinds[] = {
	[DEV_DIRECTORY] = "directory",
	[DEV_TREE] = "tree",
	[DEV_NETNS] = "netns",
	[DEV_HELPER] = "helper",
	[DEV_MODULE] = "module",
};

const char *dev_path(const struct dev *dev, char ret[PATH_MAX], const char *format, ...)
{
	int len = snprintf(ret, PATH_MAX, "%s/", dev->dir);
	va_list args;

	va_start(args, format);
	vsnprintf(ret + len, PATH_MAX - len, format, args);
	va_end(args);
	return ret;
}

int dev_made(const struct dev *dev, enum dev_kind kind, const char *name)
{
	char path[PATH_MAX];
	FILE *list;
	bool bad;

	dev_path(dev, path, "made");
	list = fopen(path, "ae");
	if (!list)
		return ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
	bad = fprintf(list, "%s %s\n", kinds[kind], name) < 0;
	bad |= fclose(list) != 0;
	return bad ? ctl_fail(EX_IOERR, "%s: %s", path, strerror(errno)) : 0;
}

/* Root removes everything in the list, so others must not be able to write it. */
int dev_check_dir(const struct dev *dev)
{
	struct stat st;

	if (stat(dev->dir, &st) < 0)
		return ctl_fail(EX_NOINPUT, "%s: %s", dev->dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return ctl_fail(EX_NOPERM, "%s must be a folder that only root can write to",
				dev->dir);
	return 0;
}

bool dev_is_up(const struct dev *dev)
{
	char path[PATH_MAX];

	dev_path(dev, path, "made");
	return access(path, F_OK) == 0;
}

const char *dev_self(void)
{
	static char path[PATH_MAX];
	ssize_t len;

	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0)
		return CTL_NAME;
	path[len] = '\0';
	return path;
}

static bool is_netns(const char *name, char path[64])
{
	snprintf(path, 64, DEV_NETNS_DIR "/%.40s", name);
	return access(path, F_OK) == 0;
}

static int remove_netns(const char *netns)
{
	char path[64];

	return is_netns(netns, path) ? ctl_run("ip", "netns", "delete", netns, NULL) : 0;
}

/* Is @pid still the bftmutexd that was started, in its namespace? */
static bool is_helper(pid_t pid, const char *netns)
{
	char path[64], comm[32] = "";
	struct stat a, b;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	fclose(file);
	if (strcmp(comm, "bftmutexd\n") || !is_netns(netns, path) || stat(path, &a) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int remove_helper(const char *name)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	char netns[32];
	int pid, i;

	if (sscanf(name, "%d %31s", &pid, netns) != 2)
		return ctl_fail(EX_DATAERR, "the list of 'dev up': line 'helper %s': must have a PID and a network namespace",
				name);
	/* SIGTERM gives it 5 s to end in order. */
	for (i = 0; i < 300 && is_helper(pid, netns); i++) {
		if (i == 0 || i == 250)
			kill(pid, i ? SIGKILL : SIGTERM);
		nanosleep(&pause, NULL);
		ctl_progress("waiting for bftmutexd in %s to end", netns);
	}
	return is_helper(pid, netns) ? ctl_fail(EX_OSERR, "bftmutexd (PID %d) did not end after SIGKILL", pid) : 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

static int remove_tree(const char *path)
{
	if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return ctl_fail(EX_OSERR, "%s: %s", path, strerror(errno));
	return 0;
}

/* Files of others in the folder stay, and so does the folder. */
static int remove_directory(const char *path)
{
	if (rmdir(path) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		return ctl_fail(EX_OSERR, "%s: %s", path, strerror(errno));
	return 0;
}

/* Its last namespaces may still be on their way out. */
static int remove_module(const char *name)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int i;

	for (i = 0; syscall(SYS_delete_module, name, O_NONBLOCK) < 0; i++) {
		if (errno == ENOENT || errno == ENOSYS)
			break;		/* it was never loaded */
		if (i == 30 || (errno != EAGAIN && errno != EBUSY))
			return ctl_fail(EX_OSERR, "module %s cannot be unloaded: %s", name,
					strerror(errno));
		nanosleep(&pause, NULL);
		ctl_progress("waiting for the module to be unused");
	}
	return 0;
}

static int list_failed(const char *line)
{
	return ctl_fail(EX_DATAERR, "the list of 'dev up': line '%s': no such kind of entry", line);
}

static int remove_line(char *line)
{
	static int (*const by_kind[])(const char *name) = {
		[DEV_DIRECTORY] = remove_directory,
		[DEV_TREE] = remove_tree,
		[DEV_NETNS] = remove_netns,
		[DEV_HELPER] = remove_helper,
		[DEV_MODULE] = remove_module,
	};
	char *name = strchr(line, ' ');
	size_t i;

	if (!name)
		return list_failed(line);
	*name++ = '\0';
	for (i = 0; i < sizeof(by_kind) / sizeof(by_kind[0]); i++)
		if (!strcmp(line, kinds[i]))
			return by_kind[i](name);
	return list_failed(line);
}

/* The lines of the list; the last one is NULL. */
static char **read_lines(FILE *list)
{
	char **lines = calloc(1, sizeof(*lines)), **more;
	size_t size = 0, count = 0;
	char *line = NULL;
	ssize_t len;

	while (lines && (len = getline(&line, &size, list)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		more = reallocarray(lines, count + 2, sizeof(*lines));
		if (!more)
			break;
		lines = more;
		lines[count++] = line;
		lines[count] = NULL;
		line = NULL;
		size = 0;
	}
	free(line);
	return lines;
}

static bool is_directory(const char *line)
{
	size_t len = strlen(kinds[DEV_DIRECTORY]);

	return !strncmp(line, kinds[DEV_DIRECTORY], len) && line[len] == ' ';
}

/* In reverse: helpers before their namespaces, contents before their folder. */
static int remove_lines(char **lines, const char *list)
{
	size_t count, i;
	int failed = 0, r;

	for (count = 0; lines[count]; count++)
		;
	for (i = count; i-- > 0;) {
		ctl_progress("removed %zu of %zu", count - i - 1, count);
		r = is_directory(lines[i]) ? 0 : remove_line(lines[i]);
		if (r)
			failed = r;
	}
	/* The list stays for another try; it is in one of the folders. */
	if (failed)
		return failed;
	unlink(list);
	for (i = count; i-- > 0;) {
		r = is_directory(lines[i]) ? remove_line(lines[i]) : 0;
		if (r)
			failed = r;
	}
	return failed;
}

int dev_remove(const struct dev *dev)
{
	char path[PATH_MAX], **lines;
	FILE *list;
	size_t i;
	int r;

	dev_path(dev, path, "made");
	r = dev_check_dir(dev);
	if (r)
		return r;
	list = fopen(path, "re");
	if (!list)
		return ctl_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	lines = read_lines(list);
	fclose(list);
	if (!lines)
		return ctl_fail(EX_OSERR, "no memory");
	r = remove_lines(lines, path);
	for (i = 0; lines[i]; i++)
		free(lines[i]);
	free(lines);
	return r;
}
