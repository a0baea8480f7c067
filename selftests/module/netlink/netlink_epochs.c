// SPDX-License-Identifier: GPL-2.0
/* Servers are started anew: the kernel learns their epochs, by sessions of a helper. */
#include "lend_fixture.h"

/* Read and drop the datagrams that the kernel left to the helper. Return: their number. */
static int helper_reads(lend_t *self)
{
	u8 data[BFTM_WIRE_LEN_MAX];
	int count = 0;

	while (recv(self->sock, data, sizeof(data), MSG_DONTWAIT) > 0)
		count++;
	return count;
}

/* Server @u answers @msg by STALE, since it was started anew; the kernel then says HELLO. */
static struct bftm_msg restarted(lend_t *self, int u, struct bftm_msg msg, uint64_t epoch,
				 struct sockaddr_in6 *from)
{
	self->epoch[u] = epoch;
	msg.server_epoch = epoch;
	say(self, u, msg, BFTM_MSG_STALE, from, self->reply_mac);
	if (told(self, u, LONG_MS, &msg, from) != BFTM_MSG_HELLO)
		abort();
	return msg;
}

/* STALE says where to send; what is granted counts after CHALLENGE, without a new session. */
TEST_F(lend, a_server_that_was_restarted)
{
	struct bftm_msg try, again, hello;
	struct sockaddr_in6 from;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &try, &from));
	hello = restarted(self, 2, try, 777, &from);
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &again, &from));
	EXPECT_EQ(try.attempt, again.attempt);
	EXPECT_EQ(try.k, again.k);
	EXPECT_LT(hello.seq, again.seq);
	say(self, 2, again, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(0, poll_for(self->fd, POLLIN, 2));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	/* The helper hears of STALE, and not of a grant to an attempt that it does not know. */
	EXPECT_EQ(1, helper_reads(self));
	say(self, 2, hello, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	say(self, 2, again, BFTM_MSG_FREE, &from, self->reply_mac);
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(1, helper_reads(self));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	/* The next one as ever. */
	ASSERT_TRUE(holds(self, 0));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

/* Lent before any server was heard: the first acquire hears of all epochs. */
TEST_F(lend, before_hello)
{
	struct sockaddr_in6 from[N];
	struct bftm_msg try[N], hello;
	struct seen s;
	int u;

	self->peer_leave_out = BFTMUTEX_A_PEER_EPOCH;
	ASSERT_EQ(0, lend(self));
	memset(self->epoch, 0, sizeof(self->epoch));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	for (u = 0; u < N; u++)
		ASSERT_EQ(BFTM_MSG_TRY, told(self, u, LONG_MS, &try[u], &from[u]));
	for (u = 0; u < N - 1; u++) {
		hello = restarted(self, u, try[u], 500 + (uint32_t)u, &from[u]);
		say(self, u, hello, BFTM_MSG_CHALLENGE, &from[u], self->reply_mac);
	}
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

/* A CHALLENGE that nobody asked for, or that an earlier line did, turns no epoch back. */
TEST_F(lend, an_old_challenge)
{
	const uint64_t first = self->counters->seq;
	struct sockaddr_in6 from;
	struct bftm_msg try, old;
	int i;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 0, LONG_MS, &try, &from));
	for (i = 0; i < 2; i++) {
		old = try;
		old.server_epoch = 99;
		old.seq = i ? self->counters->seq + 1 : first;
		say(self, 0, old, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	}
	say(self, 0, try, BFTM_MSG_FREE, &from, self->reply_mac);
	ASSERT_EQ(0, asked(self, 1, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(2, helper_reads(self));
}

/* CHALLENGE says that more servers may forget than "needed" leaves room for: no grant counts. */
TEST_F(lend, a_challenge_of_a_forgetful_server)
{
	struct sockaddr_in6 from;
	struct bftm_msg try, hello;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 0, LONG_MS, &try, &from));
	hello = restarted(self, 0, try, 600, &from);
	hello.spared = 1;
	say(self, 0, hello, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(0, poll_for(self->fd, POLLIN, 2));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/* All servers let an attempt wait, and tell of @prio. Return: the priority of its next TRY. */
static uint64_t waits_behind(lend_t *self, uint64_t prio)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	for (u = 0; u < N; u++) {
		if (told(self, u, LONG_MS, &msg, &from) != BFTM_MSG_TRY || msg.k != 1)
			return 0;
		msg.position = 1;
		msg.prio = prio;
		say(self, u, msg, BFTM_MSG_WAIT, &from, self->reply_mac);
	}
	return told(self, 1, LONG_MS, &msg, &from) == BFTM_MSG_TRY && msg.k == 2 ? msg.prio : 0;
}

/*
 * CHALLENGE does not say BFTM_FEATURE_PRIO: a grant of the server would keep the priority that it
 * began with. The session that takes the place of this one knows it as well.
 */
TEST_F(lend, a_challenge_of_an_older_server)
{
	struct sockaddr_in6 from;
	struct bftm_msg try, hello;
	struct seen s;
	int second = open_here(O_NONBLOCK);

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 0, LONG_MS, &try, &from));
	hello = restarted(self, 0, try, 600, &from);
	say(self, 0, hello, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	EXPECT_EQ(1, waits_behind(self, 40));
	ASSERT_EQ(0, asked(self, 0, 0, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 2, 3, BFTM_MSG_TRY, 0));
	self->needed = 3;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, pull(&self->nl, &s));
	ASSERT_EQ(-EINPROGRESS, acquire(second, "another", LEASE, 0, NULL));
	EXPECT_EQ(1, waits_behind(self, 80));
	close(second);
}

/* RELEASE overtook TRY at a server that was started anew: what it grants then is given back. */
TEST_F(lend, a_grant_of_another_start_is_given_back)
{
	struct bftm_msg first, msg;
	struct sockaddr_in6 from;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 3, LONG_MS, &first, &from));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(BFTM_MSG_RELEASE, told(self, 3, LONG_MS, &msg, &from));
	say(self, 3, msg, BFTM_MSG_RELEASED, &from, self->reply_mac);
	first.server_epoch++;
	say(self, 3, first, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(BFTM_MSG_HELLO, told(self, 3, LONG_MS, &msg, &from));
	EXPECT_EQ(BFTM_MSG_RELEASE, told(self, 3, LONG_MS, &msg, &from));
	EXPECT_EQ(first.attempt, msg.attempt);
}

TEST_HARNESS_MAIN
