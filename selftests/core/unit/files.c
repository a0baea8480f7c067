// SPDX-License-Identifier: GPL-2.0
#include "files.h"

char unit_dir[64];
char unit_words[16384];
static int unit_stderr = -1;

int unit_make_dir(void **state)
{
	(void)state;
	strcpy(unit_dir, "/tmp/bftm-unit-XXXXXX");
	return mkdtemp(unit_dir) ? 0 : -1;
}

int unit_remove_dir(void **state)
{
	(void)state;
	return rmdir(unit_dir);
}

const char *unit_path(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	return path;
}

const char *unit_write(const char *name, const char *text, size_t len, int mode)
{
	const char *path = unit_path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

void unit_listen(void)
{
	int fd = open(unit_path("stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	fflush(stderr);
	unit_stderr = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static void unit_leave_out(const char *what)
{
	size_t len = strlen(what);
	char *p;

	while ((p = strstr(unit_words, what)))
		memmove(p, p + len, strlen(p + len) + 1);
}

const char *unit_heard(void)
{
	char name[128];
	ssize_t n;

	fflush(stderr);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	n = read(STDERR_FILENO, unit_words, sizeof(unit_words) - 1);
	dup2(unit_stderr, STDERR_FILENO);
	close(unit_stderr);
	unlink(unit_path("stderr"));
	assert_true(n >= 0);
	unit_words[n] = '\0';
	snprintf(name, sizeof(name), "%s/", unit_dir);
	unit_leave_out(name);
	snprintf(name, sizeof(name), "%s: ", program_invocation_short_name);
	unit_leave_out(name);
	return unit_words;
}

const char *unit_given(const char *text, int mode)
{
	unit_listen();
	return unit_write("f", text, strlen(text), mode);
}

int unit_read(int r)
{
	unit_heard();
	unlink(unit_path("f"));
	return r;
}

void unit_says(const char *text, const char *words)
{
	if (strcmp(unit_words, words))
		fail_msg("%s\n--- says\n%s--- not\n%s", text, unit_words, words);
}
