// SPDX-License-Identifier: GPL-2.0
/* An honest program: it acquires a lock and gives it back, as often as it can. */
#include <err.h>

#include "selftests/module/device/handle.h"

int flood_goodput(int argc, char **argv);

int flood_goodput(int argc, char **argv)
{
	uint64_t ms = strtoull(argv[0], NULL, 10), begin, end, pairs = 0, failed = 0;
	int fd = open_here(0), result;
	char name[24];

	(void)argc;
	if (ms < 1 || ms > 3600000)
		errx(64, "MS '%s': must be 1 to 3600000", argv[0]);
	if (fd < 0)
		errx(69, "/dev/bftmutex: %s", strerror(-fd));
	begin = now_ns();
	end = begin + ms * MS;
	while (now_ns() < end) {
		/* A few names, so that a release under way does not delay the next acquire. */
		snprintf(name, sizeof(name), "goodput%d", (int)(pairs % 16));
		result = acquire(fd, name, SEC, 5 * SEC, NULL);
		if (result == -ETIMEDOUT) {
			failed++;
			continue;
		}
		if (result < 0)
			errx(69, "acquire: %s", strerror(-result));
		/* A lock that was lost meanwhile does not count. */
		result = release(fd);
		failed += result < 0;
		pairs += !result;
	}
	printf("%.0f %lu\n", (double)pairs * 1e9 / (double)(now_ns() - begin),
	       (unsigned long)failed);
	return 0;
}
