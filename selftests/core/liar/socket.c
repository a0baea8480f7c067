// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams in and out. An answer leaves from the address that was asked, as
 * the kernel's does, and perhaps much later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "liar.h"

#define BATCH		64
#define SOCKET_BUFFER	(4 << 20)
#define WAITING_MAX	65536u	/* late datagrams; more are lost */

/* Room for the control message that says which address was asked. */
union control {
	struct cmsghdr align;
	u8 raw[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static int open_one(int family, u16 port)
{
	struct sockaddr_in6 any = { .sin6_family = (sa_family_t)family, .sin6_port = htons(port) };
	int fd, on = 1, size = SOCKET_BUFFER, err;

	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
	} else {
		setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	/* All zero bytes are any address of either family. */
	if (bind(fd, (struct sockaddr *)&any, family == AF_INET ? sizeof(struct sockaddr_in) :
								  sizeof(any)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int liar_sockets_open(struct liar *l)
{
	static const int family[] = { AF_INET, AF_INET6 };
	u32 i;

	for (i = 0; i < 2; i++) {
		l->fd[i] = open_one(family[i], l->opt.port);
		/* A machine may do without one of the two. */
		if (l->fd[i] == -EAFNOSUPPORT)
			l->fd[i] = -1;
		if (l->fd[i] < -1) {
			fprintf(stderr, "bftmutex-liar: cannot open UDP port %u for IPv%d: %s\n",
				l->opt.port, i ? 6 : 4, strerror(-l->fd[i]));
			return l->fd[i];
		}
	}
	return l->fd[0] < 0 && l->fd[1] < 0 ? -EAFNOSUPPORT : 0;
}

static void read_control(struct msghdr *msg, struct liar_from *from)
{
	struct cmsghdr *c;

	memset(&from->local, 0, sizeof(from->local));
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			memcpy(&from->local.v4, CMSG_DATA(c), sizeof(from->local.v4));
			from->local.v4.ipi_ifindex = 0;		/* the route decides */
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&from->local.v6, CMSG_DATA(c), sizeof(from->local.v6));
			if (!IN6_IS_ADDR_LINKLOCAL(&from->local.v6.ipi6_addr))
				from->local.v6.ipi6_ifindex = 0;
		}
	}
}

void liar_receive(struct liar *l, int fd)
{
	/* Some bytes more than a message, to see what is too long. */
	u8 data[BFTM_DATAGRAM_MAX + 8];
	struct liar_from from = { .fd = fd };
	union control control;
	ssize_t len;
	int i;

	for (i = 0; i < BATCH; i++) {
		struct iovec part = { .iov_base = data, .iov_len = sizeof(data) };
		struct msghdr msg = {
			.msg_name = &from.peer, .msg_namelen = sizeof(from.peer),
			.msg_iov = &part, .msg_iovlen = 1,
			.msg_control = &control, .msg_controllen = sizeof(control),
		};

		len = recvmsg(fd, &msg, 0);
		if (len < 0)
			return;
		from.peer_len = msg.msg_namelen;
		read_control(&msg, &from);
		liar_handle(l, &from, &data, (size_t)len);
	}
}

static void send_now(struct liar *l, const struct liar_from *to, const void *data, size_t len)
{
	bool v4 = to->fd == l->fd[0];
	size_t local_len = v4 ? sizeof(to->local.v4) : sizeof(to->local.v6);
	struct iovec part = { .iov_base = (void *)data, .iov_len = len };
	union control control = { .raw = {} };
	struct msghdr msg = {
		.msg_name = (void *)&to->peer, .msg_namelen = to->peer_len,
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = CMSG_SPACE(local_len),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	c->cmsg_type = v4 ? IP_PKTINFO : IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(local_len);
	memcpy(CMSG_DATA(c), &to->local, local_len);
	/* A datagram that cannot go is lost, as on any network. */
	if (sendmsg(to->fd, &msg, 0) >= 0)
		l->replies++;
}

void liar_send_to(struct liar *l, const struct liar_from *to, const void *data, size_t len,
		  u64 delay_ns)
{
	struct liar_late *late, *earlier;

	if (!delay_ns) {
		send_now(l, to, data, len);
		return;
	}
	late = l->waiting < WAITING_MAX ? malloc(sizeof(*late) + len) : NULL;
	if (!late)
		return;
	late->at_ns = liar_now() + delay_ns;
	late->to = *to;
	late->len = len;
	memcpy(late->data, data, len);
	l->waiting++;
	TAILQ_FOREACH_REVERSE(earlier, &l->late, liar_lates, list)
		if (earlier->at_ns <= late->at_ns)
			break;
	if (earlier)
		TAILQ_INSERT_AFTER(&l->late, earlier, late, list);
	else
		TAILQ_INSERT_HEAD(&l->late, late, list);
}

u64 liar_send_due(struct liar *l, u64 now)
{
	struct liar_late *late;

	while ((late = TAILQ_FIRST(&l->late))) {
		if (late->at_ns > now)
			return late->at_ns;
		send_now(l, &late->to, late->data, late->len);
		TAILQ_REMOVE(&l->late, late, list);
		l->waiting--;
		free(late);
	}
	return 0;
}
