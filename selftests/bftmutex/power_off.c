// SPDX-License-Identifier: GPL-2.0
/* power_off MOUNTPOINT: its file system stops, and what was not synced is lost. */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sysexits.h>

#define FS_IOC_SHUTDOWN _IOR('X', 125, __u32)
#define NO_LOG_FLUSH 2

int main(int argc, char **argv)
{
	__u32 how = NO_LOG_FLUSH;
	int fd;

	if (argc != 2)
		return EX_USAGE;
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FS_IOC_SHUTDOWN, &how) < 0) {
		perror(argv[1]);
		return EX_OSERR;
	}
	return 0;
}
