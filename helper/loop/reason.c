// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop/reason.h"

static void strip_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0';
}

/* The file, or if that cannot be looked at or is not there, the lowest folder above it that can be. */
static bool lowest_seen(const char *path, char ret[PATH_MAX], struct stat *ret_st)
{
	snprintf(ret, PATH_MAX, "%s", path);
	while (stat(ret, ret_st) < 0) {
		if (!strcmp(ret, "/") || !strcmp(ret, "."))
			return false;
		strip_last(ret);
	}
	return true;
}

/* Adds whose it is to the words in @ret. */
static void add_owner(const char *path, char ret[BFTM_REASON_MAX])
{
	size_t len = strlen(ret);
	char seen[PATH_MAX];
	const char *kind;
	struct stat st;

	if (geteuid() || !lowest_seen(path, seen, &st))
		return;
	kind = S_ISDIR(st.st_mode) ? "folder" : "file";
	if (st.st_uid)
		snprintf(ret + len, BFTM_REASON_MAX - len,
			 ": the %s belongs to user %u, and root has no right here to files of other users; correct it by: chown root %s",
			 kind, (unsigned int)st.st_uid, seen);
	else
		snprintf(ret + len, BFTM_REASON_MAX - len,
			 ": the %s has mode %04o; correct it by: chmod u+rw%s %s", kind,
			 (unsigned int)st.st_mode & 07777, S_ISDIR(st.st_mode) ? "x" : "", seen);
}

const char *bftm_file_reason(const char *path, int error, char ret[BFTM_REASON_MAX])
{
	struct stat st;

	error = abs(error);
	snprintf(ret, BFTM_REASON_MAX, "%s", strerror(error));
	if (error == EACCES)
		add_owner(path, ret);
	else if (error == ELOOP && !fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) &&
		 S_ISLNK(st.st_mode))
		snprintf(ret, BFTM_REASON_MAX,
			 "it is a symbolic link, and links are refused here; put the file itself there");
	return ret;
}
