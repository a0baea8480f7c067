/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the kernel in which the N-th allocation or copy of user memory fails. */
#ifndef BFTM_TEST_FAIL_NTH_H
#define BFTM_TEST_FAIL_NTH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** fail_nth_open() - of this thread; -1: the kernel has no fault injection */
static inline int fail_nth_open(void)
{
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/** fail_nth_arm() - the @n-th from here on fails; 0: none. Asking may fail as well. */
static inline void fail_nth_arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	while (pwrite(fd, text, (size_t)len, 0) != len)
		;
}

/** fail_nth_disarm() - 1 when something has failed, 0 when there are fewer than N */
static inline int fail_nth_disarm(int fd)
{
	char text[16] = "";
	/* When asking failed, that was the N-th, and nothing before it. */
	int left = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 1;

	fail_nth_arm(fd, 0);
	return left == 0;
}

#endif /* BFTM_TEST_FAIL_NTH_H */
