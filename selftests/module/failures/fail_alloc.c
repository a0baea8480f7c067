// SPDX-License-Identifier: GPL-2.0
/*
 * The N-th allocation of a program fails. To be preloaded (LD_PRELOAD):
 *
 *	FAIL_ALLOC_NTH   which, from 1; 0 or unset: none. From "N+" on all fail
 *	FAIL_ALLOC_FILE  is made when one has failed
 *	FAIL_ALLOC_TRACE set: who wanted it is said on stderr
 *
 * Counted are malloc, calloc, realloc, reallocarray, aligned_alloc and
 * posix_memalign, of the program and of its libraries, from main() on: what goes
 * before it is the C library's own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail_alloc.h"

#define CALLERS_MAX 32

static long nth;
static bool all_after;
static long count;

static void note(void)
{
	void *callers[CALLERS_MAX];
	const char *path = getenv("FAIL_ALLOC_FILE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	if (getenv("FAIL_ALLOC_TRACE"))
		backtrace_symbols_fd(callers, backtrace(callers, CALLERS_MAX), STDERR_FILENO);
}

static bool fails(void)
{
	long i;

	if (!nth)
		return false;
	i = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (i != nth && (!all_after || i < nth))
		return false;
	if (i == nth)
		note();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return size && fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = fails() ? NULL : __libc_memalign(align, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

typedef int main_t(int argc, char **argv, char **env);

static main_t *real_main;

static int begin(int argc, char **argv, char **env)
{
	const char *text = getenv("FAIL_ALLOC_NTH");
	void *caller;

	/* Once now, since its first call allocates. */
	backtrace(&caller, 1);
	nth = text ? atol(text) : 0;
	all_after = text && strchr(text, '+');
	return real_main(argc, argv, env);
}

/* The function that starts a program, with its main() as argument. */
int __libc_start_main(main_t *main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_t *main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	int (*next)(main_t *main, int argc, char **argv, void (*init)(void),
		    void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

	*(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = main;
	return next(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
