// SPDX-License-Identifier: GPL-2.0
/* Datagrams of the kernel by a lent socket take the same way as those of its owner. */
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "lend_fixture.h"

#define WATCH	16	/* acquires that are the helper's after one in vain */
#define MARK	9

static int run(const char *command)
{
	return system(command);
}

/* Rules come before local addresses, as they do for all others. */
static int forbid(const char *what)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "for f in -4 -6; do ip $f rule add pref 10 lookup local && ip $f rule del pref 0 && "
		 "ip $f rule add pref 1 %s prohibit || exit; done", what);
	return run(command);
}

static int set_mark(int sock, int mark)
{
	return setsockopt(sock, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

/* Of the next datagram for server @u; -1 for none. */
static int mark_for(lend_t *self, int u)
{
	char data[BFTM_WIRE_LEN_MAX], control[256];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int mark = -1;

	if (!poll_for(self->server[u], POLLIN, LONG_MS) || recvmsg(self->server[u], &msg, 0) < 0)
		return -1;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_MARK)
			memcpy(&mark, CMSG_DATA(c), sizeof(mark));
	return mark;
}

TEST_F(lend, marked)
{
	int on = 1, u;

	for (u = 0; u < N; u++)
		ASSERT_EQ(0, setsockopt(self->server[u], SOL_SOCKET, SO_RCVMARK, &on, sizeof(on)));
	ASSERT_EQ(0, set_mark(self->sock, MARK));
	/* Not sent again meanwhile. */
	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = SEC;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	for (u = 0; u < N; u++)
		EXPECT_EQ(MARK, mark_for(self, u));
	ASSERT_EQ(0, set_mark(self->sock, MARK + 1));
	ASSERT_EQ(0, release(self->fd));
	for (u = 0; u < N; u++)
		EXPECT_EQ(MARK + 1, mark_for(self, u));
}

/* How often the kernel began by itself while so many acquires were cancelled. */
static int begun(lend_t *self, int acquires)
{
	uint64_t before = self->counters->attempt;
	struct seen s;
	int i;

	for (i = 0; i < acquires; i++) {
		if (begin(self, 0) != -EINPROGRESS || pull(&self->nl, &s) ||
		    s.kind != BFTMUTEX_REQUEST_KIND_ACQUIRE || release(self->fd) ||
		    pull(&self->nl, &s) || s.kind != BFTMUTEX_REQUEST_KIND_CANCEL ||
		    pull(&self->nl, &s) != -ENODATA)
			return -1;
	}
	return (int)(self->counters->attempt - before) / 2;
}

/*
 * The helper gets the request as soon as a datagram cannot be sent, not after a resend; after some
 * failures the kernel stops trying, until it can send again.
 */
TEST_F(lend, what_cannot_go_is_the_helpers)
{
	char command[64];
	struct seen s;

	snprintf(command, sizeof(command), "fwmark %d", MARK);
	if (forbid(command))
		SKIP(return, "no rules of routing in this kernel");
	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	/* Also where a route was known. */
	ASSERT_EQ(0, set_mark(self->sock, MARK));
	EXPECT_EQ(1, begun(self, 1));
	EXPECT_EQ(0, begun(self, WATCH));
	EXPECT_EQ(1, begun(self, 1));
	EXPECT_EQ(0, begun(self, 2 * WATCH));
	EXPECT_EQ(2, self->counters->lost);
	EXPECT_TRUE(silence(self));
	/* Of those before RELEASE may be told now, so who is asked is not looked at. */
	ASSERT_EQ(0, set_mark(self->sock, 0));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(2, self->counters->lost);
}

/* Rules for a user apply to the user who made the socket. */
TEST_F(lend, by_its_user)
{
	if (forbid("uidrange 1000-1000"))
		SKIP(return, "no rules of routing in this kernel");
	ASSERT_EQ(0, seteuid(1000));
	self->socket_attr = bound(NULL);
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, lend(self));
	EXPECT_EQ(1, begun(self, 1));
	EXPECT_TRUE(silence(self));
	close(self->socket_attr);
}

TEST_F(lend, by_its_device)
{
	ASSERT_EQ(0, run("ip link add away type dummy && ip link set away up"));
	ASSERT_EQ(0, setsockopt(self->sock, SOL_SOCKET, SO_BINDTODEVICE, "away", 5));
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	EXPECT_TRUE(silence(self));
}

/*
 * Datagrams that wait in a device take room of the socket, which is limited. One without room is lost,
 * as it may be on its way: the kernel goes on.
 */
TEST_F(lend, room)
{
	int queued = 0, size = 4096, room = 0, fd[32], i;
	socklen_t len = sizeof(room);
	char name[16];
	struct seen s;

	/* Not netem, which lets go of the socket of what it delays. */
	if (run("tc qdisc add dev lo root tbf rate 8bit burst 250 limit 100000"))
		SKIP(return, "no tbf in this kernel");
	ASSERT_EQ(0, setsockopt(self->sock, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
	ASSERT_EQ(0, getsockopt(self->sock, SOL_SOCKET, SO_SNDBUF, &room, &len));
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, ioctl(self->sock, SIOCOUTQ, &queued));
	EXPECT_LT(N * BFTM_DATAGRAM_MIN, queued);
	for (i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "lock %d", i);
		fd[i] = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, acquire(fd[i], name, LEASE, 0, NULL));
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	}
	/* The last one took what was left, and some more. */
	ASSERT_EQ(0, ioctl(self->sock, SIOCOUTQ, &queued));
	EXPECT_LE(room, queued);
	EXPECT_GT(room + 4096, queued);
	for (i = 0; i < 32; i++)
		close(fd[i]);
	ASSERT_EQ(0, run("tc qdisc del dev lo root"));
}

TEST_HARNESS_MAIN
