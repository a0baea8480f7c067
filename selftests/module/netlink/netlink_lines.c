// SPDX-License-Identifier: GPL-2.0
/* The kernel's attempts and held locks when its helper lends it another line, or goes. */
#include "lend_fixture.h"

#define GRACE_MS 5000

/* Numbers that follow those that the kernel draws from. */
static struct bftm_counters *later_counters(const struct bftm_counters *now)
{
	struct bftm_counters *later = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (later == MAP_FAILED)
		abort();
	later->seq = now->seq + (1ull << 32);
	later->attempt = now->attempt + (1ull << 32);
	return later;
}

/* The helper that lends from now on is another process, as far as the kernel can tell. */
static void lend_by(lend_t *self, int sock, struct bftm_counters *counters)
{
	self->socket_attr = sock;
	self->counters_attr = (uintptr_t)counters;
}

/* The kernel holds "lock", and asks for "other", which the first server has granted. */
static int one_of_each(lend_t *self, uint32_t flags)
{
	int other = open_here(O_NONBLOCK);

	if (lend(self) || !holds(self, flags) || asked(self, 3, 3, BFTM_MSG_TRY, 0) ||
	    acquire(other, "other", LEASE, 0, NULL) != -EINPROGRESS ||
	    asked(self, 0, 0, BFTM_MSG_TRY, BFTM_MSG_FREE) || asked(self, 1, 3, BFTM_MSG_TRY, 0))
		abort();
	return other;
}

/* The attempt keeps its number and grants; its datagrams have other numbers and another port. */
TEST_F(lend, another_line)
{
	struct bftm_counters *counters = later_counters(self->counters);
	struct sockaddr_in6 from, from_now;
	uint16_t port;
	int sock = bound(&port), other;
	struct bftm_msg msg;
	struct seen s;

	other = one_of_each(self, 0);
	lend_by(self, sock, counters);
	ASSERT_EQ(0, lend(self));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(other));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	/* Servers hear of the address that they push to from now on. */
	ASSERT_EQ(BFTM_MSG_HELLO, told(self, 0, LONG_MS, &msg, &from));
	EXPECT_EQ(100, msg.server_epoch);
	EXPECT_EQ(port, ntohs(from.sin6_port));
	ASSERT_EQ(0, asked(self, 1, 3, BFTM_MSG_HELLO, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 1, LONG_MS, &msg, &from));
	EXPECT_EQ(self->counters->attempt | 1, msg.attempt);
	EXPECT_LT(counters->seq - 8, msg.seq);
	EXPECT_EQ(port, ntohs(from.sin6_port));
	say(self, 1, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &msg, &from_now));
	say(self, 2, msg, BFTM_MSG_FREE, &from_now, self->reply_mac);
	ASSERT_EQ(POLLIN, poll_for(other, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(other));
	EXPECT_EQ(1, counters->won);
	/* The lock that was held before is given back by the line that there is. */
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	/* And the next is numbered above both. */
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 0, LONG_MS, &msg, &from));
	EXPECT_EQ(counters->attempt | 1, msg.attempt);
	EXPECT_LT(self->counters->attempt | 1, msg.attempt);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(other);
	close(sock);
	munmap(counters, 4096);
}

/* The line before goes on as it was, also when both have one socket. */
TEST_F(lend, counters_below)
{
	struct bftm_counters *counters = later_counters(self->counters);
	int sock = bound(NULL), i;

	ASSERT_EQ(0, lend(self));
	for (i = 0; i < 4; i++) {
		*counters = *self->counters;
		counters->seq += i % 2 ? (1ull << 32) : -1ull;
		counters->attempt += i % 2 ? -1ull : (1ull << 32);
		/* Also in another configuration, which has the same client. */
		self->configuration = i / 2;
		lend_by(self, i ? self->sock : sock, counters);
		EXPECT_EQ(-EINVAL, lend(self));
		EXPECT_EQ(BFTMUTEX_A_SESSION_COUNTERS, self->nl.attr);
		EXPECT_STREQ("counters must not be below those that were lent before",
			     self->nl.error);
		ASSERT_TRUE(holds(self, 0));
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	}
	EXPECT_EQ(4, self->counters->won);
	/* The same ones are not below. */
	*counters = *self->counters;
	EXPECT_EQ(0, lend(self));
	close(sock);
	munmap(counters, 4096);
}

/* All servers hear, after polls, that an attempt is over. */
static int ended(lend_t *self)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u, type;

	for (u = 0; u < N; u++) {
		do
			type = told(self, u, LONG_MS, &msg, &from);
		while (type == BFTM_MSG_TRY);
		if (type != BFTM_MSG_RELEASE)
			return type ?: -2;
		say(self, u, msg, BFTM_MSG_RELEASED, &from, self->reply_mac);
	}
	return 0;
}

/* The helper is killed: the kernel goes on with the loan for a while, for new requests too. */
TEST_F(lend, a_helper_that_is_gone)
{
	int other = one_of_each(self, 0), third = open_here(O_NONBLOCK), waits;

	bftm_nl_close(&self->nl);
	close(self->sock);
	ASSERT_EQ(0, asked(self, 1, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(other, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(other));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(-EINPROGRESS, acquire(third, "third", LEASE, 0, NULL));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(third, POLLIN, LONG_MS));
	ASSERT_EQ(0, release(third));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	/* After the grace no request waits any more; a held lock stays held. */
	waits = open_here(O_NONBLOCK);
	ASSERT_EQ(-EINPROGRESS, acquire(waits, "waits", LEASE, 0, NULL));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, BFTM_MSG_LOCKED));
	ASSERT_EQ(POLLIN, poll_for(waits, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_FAILED, state_of(waits));
	EXPECT_EQ(ENOTCONN, status_of(waits).error);
	ASSERT_EQ(0, ended(self));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(other));
	EXPECT_EQ(-ENOTCONN, acquire(third, "third", LEASE, 0, NULL));
	close(other);
	close(third);
	close(waits);
	self->sock = -1;
}

/* Nobody has asked for it, so nobody can say that another has it. */
TEST_F(lend, a_limit_while_no_helper_is_there)
{
	int fd = open_here(0);
	uint64_t begun;

	bftm_nl_close(&self->nl);
	begun = now_ns();
	EXPECT_EQ(-ENOTCONN, acquire(fd, "lock", LEASE, 50 * MS, NULL));
	EXPECT_LT(now_ns() - begun, 3 * SEC);
	close(fd);
}

/* No server answers: the attempt ends with the grace. */
TEST_F(lend, nobody_answers_and_the_helper_is_gone)
{
	int other;

	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 60 * SEC;
	other = one_of_each(self, 0);
	bftm_nl_close(&self->nl);
	ASSERT_EQ(POLLIN, poll_for(other, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_FAILED, state_of(other));
	EXPECT_EQ(ENOTCONN, status_of(other).error);
	ASSERT_EQ(0, ended(self));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	close(other);
}

static int bind_to(struct sockaddr_in6 addr)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;

	close(fd);
	return err;
}

/* A line holds its socket, and so the namespace: it ends at once when nobody can use it. */
TEST_F(lend, without_use)
{
	struct sockaddr_in6 addr;
	socklen_t len = sizeof(addr);
	uint64_t since;

	ASSERT_EQ(0, getsockname(self->sock, (struct sockaddr *)&addr, &len));
	ASSERT_EQ(0, lend(self));
	bftm_nl_close(&self->nl);
	since = now_ns();
	close(self->sock);
	EXPECT_EQ(-EADDRINUSE, bind_to(addr));
	close(self->fd);
	while (bind_to(addr))
		sleep_ns(MS);
	EXPECT_LT(now_ns() - since, GRACE_MS / 2 * MS);
	self->sock = self->fd = -1;
}

/* The next helper lends the same: nothing is pulled, and nothing was told to any server. */
TEST_F(lend, the_next_helper)
{
	struct bftm_counters *counters = later_counters(self->counters);
	int sock = bound(NULL), other = one_of_each(self, BFTM_RENEW), third;
	struct seen s;

	take_over(&self->nl);
	/* Until this helper lends, it may have drawn numbers of its own: it gets new requests. */
	third = open_here(O_NONBLOCK);
	ASSERT_EQ(-EINPROGRESS, acquire(third, "third", LEASE, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_STREQ("third", s.name);
	lend_by(self, sock, counters);
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_HELLO, 0));
	ASSERT_EQ(0, asked(self, 1, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(other, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(other));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	/* The held lock is renewed by the new line. */
	ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	/* The end of the earlier helper's grace does not touch this session. */
	sleep_ns(GRACE_MS * MS);
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(other));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(other);
	close(third);
	close(sock);
	munmap(counters, 4096);
}

/* The next helper lends nothing, or takes back: it gets all, after the grace or at once. */
TEST_F(lend, the_next_helper_does_not_lend_it)
{
	int other, way;
	struct seen s;

	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 60 * SEC;
	for (way = 0; way < 2; way++) {
		self->peers = N;
		other = one_of_each(self, 0);
		take_over(&self->nl);
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		self->peers = 0;
		if (way)
			ASSERT_EQ(0, lend(self));
		while (pull(&self->nl, &s))
			sleep_ns(MS);
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
		EXPECT_STREQ("lock", s.name);
		EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
		while (pull(&self->nl, &s))
			sleep_ns(MS);
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		EXPECT_STREQ("other", s.name);
		ASSERT_EQ(0, release(self->fd));
		close(other);
		while (!pull(&self->nl, &s))
			;
		while (!silence(self))
			;
	}
}

/* So many sessions are looked at in one hold of the lock; one that is lent again is not another. */
TEST_F(lend, clusters)
{
	char name[16];
	int i;

	self->cluster = name;
	for (i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		ASSERT_EQ(0, lend(self));
	}
	EXPECT_EQ(0, lend(self));
	snprintf(name, sizeof(name), "more");
	EXPECT_EQ(-ENOSPC, lend(self));
	EXPECT_EQ(BFTMUTEX_A_SESSION_CLUSTER, self->nl.attr);
	EXPECT_STREQ("64 other clusters are lent, and more cannot be: take one back",
		     self->nl.error);
	/* Taken back. */
	snprintf(name, sizeof(name), "c5");
	self->peers = 0;
	ASSERT_EQ(0, lend(self));
	snprintf(name, sizeof(name), "more");
	self->peers = N;
	EXPECT_EQ(0, lend(self));
}

TEST_HARNESS_MAIN
