// SPDX-License-Identifier: GPL-2.0
/*
 * Makes requests that fail at once, again and again, until it is killed: the daemon always has
 * another one to answer. Prints "pestering" when the first ones have failed.
 *
 *	pester COUNT
 */
#include <err.h>
#include <sysexits.h>

#include "selftests/module/device/handle.h"

#define COUNT_MAX	1000

static void ask(const int *fd, int count)
{
	struct bftm_acquire arg = want("pest", 0, 0, 0);
	int i;

	set_cluster(&arg, "nobodys");
	for (i = 0; i < count; i++)
		/* EBUSY while the last one has not failed. */
		if (ioctl(fd[i], BFTM_IOC_ACQUIRE, &arg) < 0 && errno != EINPROGRESS &&
		    errno != EBUSY)
			err(EX_UNAVAILABLE, "%d", i);
}

int main(int argc, char **argv)
{
	int fd[COUNT_MAX], count, i;
	struct pollfd last;

	count = argc < 2 ? 0 : atoi(argv[1]);
	if (count < 1 || count > COUNT_MAX)
		errx(EX_USAGE, "pester COUNT");
	for (i = 0; i < count; i++)
		fd[i] = open_here(O_NONBLOCK);
	ask(fd, count);
	last = (struct pollfd){ .fd = fd[count - 1], .events = POLLIN };
	if (poll(&last, 1, LONG_MS) <= 0 || status_of(last.fd).error != ENOKEY)
		errx(EX_UNAVAILABLE, "it does not fail");
	puts("pestering");
	fflush(stdout);
	for (;;)
		ask(fd, count);
}
