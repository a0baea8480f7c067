// SPDX-License-Identifier: GPL-2.0
/*
 * netns_exec NAMESPACE COMMAND [ARG...]: run a command in a network namespace that "ip netns" has made.
 * "ip netns exec" makes a mount namespace as well and mounts /sys in it, which takes longer in a VM
 * than most commands do. Exit status: the command's, or 126 when it cannot be started.
 */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int fd;

	if (argc < 3)
		errx(126, "usage: netns_exec NAMESPACE COMMAND [ARG...]");
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(126, "namespace '%s': must be one of 'ip netns list'", argv[1]);
	execvp(argv[2], argv + 2);
	err(126, "%s", argv[2]);
}
