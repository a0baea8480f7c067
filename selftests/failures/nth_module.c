// SPDX-License-Identifier: GPL-2.0
/* The module itself: it is loaded, and a namespace begins. */
#include <sys/syscall.h>

#include "fail_nth.h"

#define FAULT	"/sys/kernel/debug/"

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		abort();
	}
	close(fd);
}

/*
 * Only what is allocated for a module fails, not what the kernel needs to load it. Modules
 * are there when the kernel's own place is not random.
 */
static void only_modules(bool only)
{
	static const char *const what[] = { "failslab", "fail_page_alloc" };
	char path[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), FAULT "%s/require-start", what[i]);
		write_to(path, only ? "0xffffffffa0000000" : "0");
		snprintf(path, sizeof(path), FAULT "%s/require-end", what[i]);
		write_to(path, only ? "0xffffffffff000000" : "0xffffffffffffffff");
	}
}

static void unloaded(void)
{
	only_modules(true);
	if (syscall(SYS_delete_module, "bftmutex", 0) && errno != ENOENT)
		abort();
}

static int do_load(void)
{
	int fd = open(getenv("BFTMUTEX_KO"), O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "dyndbg=+p", 0) < 0 ? -errno : 0;
	close(fd);
	return err;
}

void nth_module(void)
{
	int err;

	only_modules(false);
	err = do_load();
	if (err && err != -EEXIST)
		abort();
}

/* What comes before ours, which has nothing to allocate, and after it. */
static int do_netns(void)
{
	return unshare(CLONE_NEWNET) ? -errno : 0;
}

/* A second load says so; what was begun by one that failed must not be in its way. */
static void check_unloaded(int err)
{
	if (err && access("/sys/module/bftmutex", F_OK) == 0) {
		printf("# error %d, and the module is there\n", err);
		exit(1);
	}
}

const struct operation nth_module_operations[] = {
	{ "load", unloaded, do_load, 0, check_unloaded, 0 },
	{ "namespace", nth_module, do_netns, 0, NULL, ANY_ERROR },
	{}
};
