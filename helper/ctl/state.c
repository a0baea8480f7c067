// SPDX-License-Identifier: GPL-2.0
/*
 * Was this server ever started on this host, and how often? A restarted server does not know which
 * tokens it stamped, and may assume that there was none only at its very first start. And a journal
 * may be believed only if it was used at the last start. The file with these notes stays for ever,
 * and is made before the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"

const char *ctl_state_path(const char *dir, u32 cluster, u16 server, char *ret)
{
	snprintf(ret, PATH_MAX, "%s/server-%u-%u", dir, cluster, server);
	return ret;
}

/* The name in the folder must outlive a loss of power as well. */
static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (fd < 0 || fsync(fd) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int ctl_state_begin(const char *dir, u32 cluster, u16 server, bool *ret_first)
{
	char path[PATH_MAX];
	int fd, r = 0;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(ctl_state_path(dir, cluster, server, path),
		  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno != EEXIST)
		return -errno;
	*ret_first = fd >= 0;
	if (fd < 0)
		return 0;
	/* The text is for people; only the existence of the file counts. */
	if (dprintf(fd, "first started at %" PRIu64 "\n", (u64)time(NULL)) < 0 || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	close(fd);
	r = r ?: sync_dir(dir);
	if (r < 0)
		unlink(path);
	return r;
}

u64 ctl_state_last(const char *dir, u32 cluster, u16 server)
{
	char path[PATH_MAX], line[128];
	u64 last = 0;
	FILE *file;

	file = fopen(ctl_state_path(dir, cluster, server, path), "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "start %" SCNx64, &last);
	if (file)
		fclose(file);
	return last;
}

const char *ctl_state_journal(const char *dir, u32 cluster, u16 server, char *ret)
{
	static const char word[] = "journal ";
	char path[PATH_MAX], line[PATH_MAX + sizeof(word)];
	FILE *file;

	*ret = '\0';
	file = fopen(ctl_state_path(dir, cluster, server, path), "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)))
			snprintf(ret, PATH_MAX, "%.*s", (int)strcspn(line + strlen(word), "\n"),
				 line + strlen(word));
	if (file)
		fclose(file);
	return ret;
}

int ctl_state_write(const char *dir, const char *path, const char *text)
{
	char fresh[PATH_MAX + 8];
	int fd, r = 0;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%s", text) < 0 || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	close(fd);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(fresh);
	return r ?: sync_dir(dir);
}

/* The first line stays. */
int ctl_state_note(const char *dir, u32 cluster, u16 server, u64 start, const char *journal)
{
	char path[PATH_MAX], first[128] = "", text[PATH_MAX + 192];
	FILE *file;

	file = fopen(ctl_state_path(dir, cluster, server, path), "re");
	if (!file)
		return -errno;
	if (!fgets(first, sizeof(first), file))
		strcpy(first, "\n");
	fclose(file);
	snprintf(text, sizeof(text), "%sstart %" PRIx64 "\n%s%s%s", first, start,
		 journal ? "journal " : "", journal ? journal : "", journal ? "\n" : "");
	return ctl_state_write(dir, path, text);
}

int ctl_state_hold(const char *dir, u32 cluster, u16 server, const char *unknown, int *ret_fd)
{
	char path[PATH_MAX];
	int fd, r;

	fd = open(ctl_state_path(dir, cluster, server, path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ctl_fail(errno == EACCES ? EX_NOPERM : EX_NOINPUT,
				"%s: %s: --state must be as it was for 'server start', or the next start does not know %s",
				path, strerror(errno), unknown);
	if (flock(fd, LOCK_EX) < 0) {
		r = ctl_fail(EX_OSERR, "%s: %s", path, strerror(errno));
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

void ctl_state_undo(const char *dir, u32 cluster, u16 server)
{
	char path[PATH_MAX];

	unlink(ctl_state_path(dir, cluster, server, path));
}
