// SPDX-License-Identifier: GPL-2.0
/*
 * A capture of all packets in all named network namespaces, which reads late, so that it shares
 * each packet with its receiver meanwhile:
 *
 *	capture FILE FILE has the number of captured packets; it ends with its parent
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <net/ethernet.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#define FOLDER		"/run/netns"
#define NAMES_MAX	128
#define LATE_US		20000
#define ROOM		(4 << 20)

static struct capture {
	ino_t ino;
	int sock;
	bool there;
} captures[NAMES_MAX];

static int packets(void)
{
	int sock = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	int room = ROOM;

	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		err(EX_OSERR, "packets");
	return sock;
}

/* Skip a namespace that is just being made or removed. */
static void look_at(int folder, const char *name, int home)
{
	struct capture *free = NULL, *c;
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		goto out;
	for (c = captures; c < captures + NAMES_MAX; c++) {
		if (c->sock >= 0 && c->ino == st.st_ino) {
			c->there = true;
			goto out;
		}
		if (c->sock < 0)
			free = c;
	}
	if (!free || setns(fd, CLONE_NEWNET))
		goto out;
	*free = (struct capture){ .ino = st.st_ino, .sock = packets(), .there = true };
	if (setns(home, CLONE_NEWNET))
		err(EX_OSERR, "setns");
out:
	if (fd >= 0)
		close(fd);
}

static void look(int home)
{
	DIR *dir = opendir(FOLDER);
	struct dirent *entry;
	struct capture *c;

	for (c = captures; c < captures + NAMES_MAX; c++)
		c->there = false;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			look_at(dirfd(dir), entry->d_name, home);
	if (dir)
		closedir(dir);
	/* A capture must not keep a namespace whose name is gone. */
	for (c = captures; c < captures + NAMES_MAX; c++) {
		if (c->sock < 0 || c->there)
			continue;
		close(c->sock);
		c->sock = -1;
	}
}

int main(int argc, char **argv)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), out, len;
	unsigned long count = 0, told = 0;
	struct capture *c;
	char buf[65536];

	if (argc != 2)
		errx(EX_USAGE, "capture FILE");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (home < 0 || out < 0)
		err(EX_CANTCREAT, "%s", argv[1]);
	for (c = captures; c < captures + NAMES_MAX; c++)
		c->sock = -1;
	for (;; usleep(LATE_US)) {
		look(home);
		for (c = captures; c < captures + NAMES_MAX; c++)
			while (c->sock >= 0 && recv(c->sock, buf, sizeof(buf), 0) > 0)
				count++;
		if (count == told)
			continue;
		told = count;
		len = snprintf(buf, sizeof(buf), "%lu\n", count);
		if (pwrite(out, buf, (size_t)len, 0) != len)
			err(EX_IOERR, "%s", argv[1]);
	}
}
