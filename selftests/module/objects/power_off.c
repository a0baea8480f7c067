// SPDX-License-Identifier: GPL-2.0
/*
 * power_off MOUNTPOINT LOG: its file system stops, and what was not synced is lost.
 * Prints how long LOG, which is elsewhere, was just before. Afterwards nothing that
 * the machine says counts: a sync that was under way may seem to have succeeded.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sysexits.h>

#define FS_IOC_SHUTDOWN _IOR('X', 125, __u32)
#define NO_LOG_FLUSH 2

int main(int argc, char **argv)
{
	__u32 how = NO_LOG_FLUSH;
	struct stat log;
	int fd;

	if (argc != 3)
		return EX_USAGE;
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || stat(argv[2], &log) < 0 || ioctl(fd, FS_IOC_SHUTDOWN, &how) < 0) {
		perror(argv[1]);
		return EX_OSERR;
	}
	printf("%lld\n", (long long)log.st_size);
	return 0;
}
