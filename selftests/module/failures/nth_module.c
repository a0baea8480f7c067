// SPDX-License-Identifier: GPL-2.0
/* The module itself: it is loaded, and a namespace begins. */
#include <inttypes.h>
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

static void write_range(const char *kind, uint64_t start, uint64_t end)
{
	static const char *const what[] = { "failslab", "fail_page_alloc" };
	char path[80], text[24];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), FAULT "%s/%s-start", what[i], kind);
		snprintf(text, sizeof(text), "%#" PRIx64, start);
		write_to(path, text);
		snprintf(path, sizeof(path), FAULT "%s/%s-end", what[i], kind);
		snprintf(text, sizeof(text), "%#" PRIx64, end);
		write_to(path, text);
	}
}

/* Where it begins, in the kernel. */
static uint64_t look_up(const char *function)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	uint64_t at = 0, start = 0;
	char name[128];

	while (!start && symbols && fscanf(symbols, "%" SCNx64 " %*c %127s%*[^\n]", &at, name) == 2)
		start = strcmp(name, function) ? 0 : at;
	if (!start)
		abort();
	fclose(symbols);
	return start;
}

/* Allocations of a kernel function never fail here: the function itself has faults without them. */
static void spare(const char *function, uint64_t *start)
{
	*start = *start ?: look_up(function);
	write_range("reject", *start, *start + 1024);
}

/*
 * Only what is allocated for a module fails, not what the kernel needs to load it. Modules
 * are there when the kernel's own place is not random.
 */
static void only_modules(bool only)
{
	write_range("require", only ? 0xffffffffa0000000 : 0, only ? 0xffffffffff000000 : UINT64_MAX);
}

static void unloaded(void)
{
	static uint64_t start;

	only_modules(true);
	/* It forgets the name of a cache. */
	spare("sysfs_slab_add", &start);
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
	static uint64_t start;
	int err;

	only_modules(false);
	/* It reads a list without RCU as it ends. */
	spare("fib_net_init", &start);
	err = do_load();
	if (err && err != -EEXIST)
		abort();
}

/* The kernel's code before the module's part, which allocates nothing, and after it. */
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
