// SPDX-License-Identifier: GPL-2.0
#include "daemon/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/conf.h"

static struct sockaddr_un manager = { .sun_family = AF_UNIX };
static socklen_t manager_len;	/* 0: there is none */
static u64 watchdog_ns;

/* A path, or with "@" before it an abstract name. */
static socklen_t read_address(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	if (len < 2 || len >= sizeof(manager.sun_path) || (*path != '/' && *path != '@'))
		return 0;
	memcpy(manager.sun_path, path, len);
	if (*path == '@')
		manager.sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static u64 read_watchdog(const char *usec, const char *pid)
{
	u64 us, whose;

	if (!usec || bftm_parse_number(usec, &us) || us > BFTM_LEASE_MAX_NS / BFTM_NS_PER_US)
		return 0;
	if (pid && (bftm_parse_number(pid, &whose) || whose != (u64)getpid()))
		return 0;
	return us * BFTM_NS_PER_US;
}

bool bftm_notify_begin(void)
{
	manager_len = read_address(getenv("NOTIFY_SOCKET"));
	watchdog_ns = manager_len ? read_watchdog(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID")) : 0;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return manager_len;
}

u64 bftm_notify_watchdog_ns(void)
{
	return watchdog_ns;
}

static void add_descriptor(struct msghdr *msg, int fd)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
}

int bftm_notify(const char *state, int fd, unsigned int wait_ms)
{
	struct timeval patience = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(fd))] = "";
	struct iovec text = { .iov_base = (char *)state, .iov_len = strlen(state) };
	struct msghdr msg = {
		.msg_name = &manager,
		.msg_namelen = manager_len,
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = fd >= 0 ? room : NULL,
		.msg_controllen = fd >= 0 ? sizeof(room) : 0,
	};
	int to, r = 0;

	if (!manager_len)
		return 0;
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (to < 0)
		return -errno;
	if (fd >= 0)
		add_descriptor(&msg, fd);
	setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (sendmsg(to, &msg, MSG_NOSIGNAL | (wait_ms ? 0 : MSG_DONTWAIT)) < 0)
		r = -errno;
	close(to);
	return r;
}
