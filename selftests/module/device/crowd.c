// SPDX-License-Identifier: GPL-2.0
/*
 * Many requests at once, of one process: each on a lock of its own, or all on one. Each lock is
 * given back at once; all requests must get theirs in the end.
 *
 *	crowd COUNT NAME [one]
 */
#include <err.h>
#include <sysexits.h>

#include "handle.h"

#define LEASE		SEC
#define PATIENCE_MS	60000
#define COUNT_MAX	1000

int main(int argc, char **argv)
{
	static struct pollfd all[COUNT_MAX];
	char name[BFTM_NAME_MAX];
	int count, left, i, failed = 0;

	count = argc < 3 ? 0 : atoi(argv[1]);
	if (count < 1 || count > COUNT_MAX)
		errx(EX_USAGE, "crowd COUNT NAME [one]");
	for (i = 0; i < count; i++) {
		all[i].fd = open_here(O_NONBLOCK);
		all[i].events = POLLIN;
		snprintf(name, sizeof(name), argc > 3 ? "%s" : "%s.%d", argv[2], i);
		if (acquire(all[i].fd, name, LEASE, 0, NULL) != -EINPROGRESS)
			err(EX_UNAVAILABLE, "%s", name);
	}
	for (left = count; left; ) {
		if (poll(all, (nfds_t)count, PATIENCE_MS) <= 0)
			errx(EX_UNAVAILABLE, "%d of %d are still waiting", left, count);
		for (i = 0; i < count; i++) {
			struct bftm_status status;

			if (all[i].fd < 0 || !all[i].revents)
				continue;
			/* On a slow machine, a lease that is already over counts as well. */
			status = status_of(all[i].fd);
			if (status.state != BFTM_STATE_HELD && status.state != BFTM_STATE_LOST) {
				warnx("%d: state %u, error %d", i, status.state, status.error);
				failed++;
			}
			close(all[i].fd);
			all[i].fd = -1;
			left--;
		}
	}
	return failed ? EX_UNAVAILABLE : 0;
}
