// SPDX-License-Identifier: GPL-2.0
/*
 * Takes many locks at once and keeps them until their leases end or it is killed. Prints "held"
 * when it has all of them.
 *
 *	hoard COUNT NAME LEASE-MS
 */
#include <err.h>
#include <sysexits.h>

#include "handle.h"

#define PATIENCE_MS	60000
#define COUNT_MAX	1000

int main(int argc, char **argv)
{
	static struct pollfd all[COUNT_MAX];
	char name[BFTM_NAME_MAX];
	int count, i;

	count = argc < 4 ? 0 : atoi(argv[1]);
	if (count < 1 || count > COUNT_MAX)
		errx(EX_USAGE, "hoard COUNT NAME LEASE-MS");
	for (i = 0; i < count; i++) {
		all[i].fd = open_here(O_NONBLOCK);
		all[i].events = POLLIN;
		snprintf(name, sizeof(name), "%s.%d", argv[2], i);
		if (acquire(all[i].fd, name, strtoull(argv[3], NULL, 10) * MS, 0, NULL) !=
		    -EINPROGRESS)
			err(EX_UNAVAILABLE, "%s", name);
	}
	for (i = 0; i < count; i++) {
		if (poll(&all[i], 1, PATIENCE_MS) <= 0)
			errx(EX_UNAVAILABLE, "%d is still waiting", i);
		if (status_of(all[i].fd).state != BFTM_STATE_HELD)
			errx(EX_UNAVAILABLE, "%d: state %u, error %d", i,
			     status_of(all[i].fd).state, status_of(all[i].fd).error);
	}
	puts("held");
	fflush(stdout);
	pause();
}
