// SPDX-License-Identifier: GPL-2.0
/*
 * power_off MOUNTPOINT LOG: stops the file system, so that data which was not synced is lost.
 * Prints the length of LOG, which is elsewhere, just before that. Later results of the machine do
 * not count: a sync that was under way may seem to have succeeded.
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
