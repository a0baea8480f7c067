// SPDX-License-Identifier: GPL-2.0
/* The kernel's own acquires by sessions of a helper. */
#include "lend_fixture.h"

TEST_F(lend, one_round)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	uint64_t before;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	before = now_ns();
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 3, LONG_MS, &msg, &from));
	EXPECT_EQ(0, msg.flags);
	EXPECT_EQ((5ull << 32) + 13, msg.attempt);
	EXPECT_EQ((5ull << 32) + 4, msg.seq);
	EXPECT_EQ(LEASE, msg.lease_ns);
	EXPECT_EQ(4, msg.name_len);
	EXPECT_GE(status_of(self->fd).deadline_ns, before + LEASE / 2);
	EXPECT_LE(status_of(self->fd).deadline_ns, now_ns() + LEASE);
	EXPECT_EQ(1, status_of(self->fd).attempts);
	EXPECT_EQ(1, self->counters->won);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	/* The lock is given back to all servers, and again to silent ones. */
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_TRUE(silence(self));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	/* Datagrams for which the kernel does not wait go to the helper. */
	say(self, 3, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
}

/* A helper that is wrong about whose a lock is: the attempt alone knows how long it is held. */
TEST_F(lend, the_helper_does_not_prolong_what_the_kernel_has)
{
	uint64_t id, deadline;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	deadline = status_of(self->fd).deadline_ns;
	for (id = 1; id < 16; id++) {
		EXPECT_EQ(-ESTALE, renewed(&self->nl, id, now_ns() + 10 * LEASE, 1));
		EXPECT_EQ(-ESTALE, wanted(&self->nl, id, BFTM_LOCK_EX));
	}
	EXPECT_EQ(deadline, status_of(self->fd).deadline_ns);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(lend, what_is_lost_is_sent_again)
{
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(0, asked(self, 2, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 2, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/*
 * Somebody has the lock, for which this request backs off: it goes to the helper, and servers
 * forget the attempt.
 */
TEST_F(lend, what_is_not_free_is_the_helpers)
{
	struct seen s;

	self->backoff = true;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_LOCKED));
	ASSERT_EQ(0, asked(self, 2, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_STREQ("lock", s.name);
	EXPECT_EQ(1, self->counters->lost);
	ASSERT_EQ(0, done(&self->nl, s.id, 0, 20, now_ns() + LEASE));
	/*
	 * While the lock is held, other requests for it go to the helper, too, but requests for
	 * other locks do not.
	 */
	int other = open_here(O_NONBLOCK);

	EXPECT_EQ(-EINPROGRESS, acquire(other, "lock", LEASE, 0, NULL));
	EXPECT_EQ(0, pull(&self->nl, &s));
	EXPECT_TRUE(silence(self));
	close(other);
}

/* Servers are asked for the mode; and one that has a waiter asks for it in the same mode. */
TEST_F(lend, each_mode)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, 0);
	struct sockaddr_in6 from;
	struct bftm_msg try[3];
	struct seen s;
	int u;

	ASSERT_EQ(0, lend(self));
	for (arg.mode = BFTM_LOCK_EX; arg.mode < BFTM_LOCK_NL; arg.mode++) {
		ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
		for (u = 0; u < 3; u++) {
			ASSERT_EQ(BFTM_MSG_TRY, told(self, u, LONG_MS, &try[u], &from));
			EXPECT_EQ(BFTM_MODE_EX - arg.mode, try[u].mode);
			EXPECT_EQ(BFTM_MODE_NL, try[u].arg);
			say(self, u, try[u], BFTM_MSG_FREE, &from, self->reply_mac);
		}
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
		EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
		EXPECT_EQ(arg.mode, status_of(self->fd).mode);
		EXPECT_EQ(0, poll_for(self->fd, POLLRDBAND, 0));
		say(self, 0, try[0], BFTM_MSG_INQUIRE, &from, self->reply_mac);
		say(self, 1, try[1], BFTM_MSG_INQUIRE, &from, self->reply_mac);
		EXPECT_EQ(POLLRDBAND, poll_for(self->fd, POLLRDBAND, LONG_MS));
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	}
	EXPECT_TRUE(silence(self));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(BFTM_LOCK_NL, self->counters->won);
	EXPECT_EQ(0, self->counters->lost);
}

/* A grant of less is none. */
TEST_F(lend, what_is_granted_in_a_lesser_mode)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, 0);
	struct sockaddr_in6 from;
	struct bftm_msg msg;

	arg.mode = BFTM_LOCK_PR;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &msg, &from));
	msg.mode = BFTM_MODE_CR;
	say(self, 2, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(0, poll_for(self->fd, POLLIN, 2));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/* Another reader of this host: the helper gets both, the holder first. */
TEST_F(lend, readers_of_one_host_are_the_helpers)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, 0);
	int second = open_here(O_NONBLOCK);
	struct seen s;

	arg.mode = BFTM_LOCK_PR;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	ASSERT_EQ(-EINPROGRESS, call(second, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
	EXPECT_EQ(BFTM_LOCK_PR, s.mode);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_EQ(BFTM_LOCK_PR, s.mode);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_TRUE(silence(self));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	close(second);
}

/* A server that may forget too much has no say in the kernel either. */
TEST_F(lend, forgetful_servers_do_not_count)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;

	self->forgetful = 1;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(0, told(self, 0, 2, &msg, &from));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/* Sigma: more grants than F. */
TEST_F(lend, as_many_as_needed)
{
	self->liars = 0;
	self->needed = 4;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/* The configuration of a lock is the one of its session, not that of a later session. */
TEST_F(lend, lent_by_another_configuration)
{
	static const uint64_t numbers[] = { 0xfedcba9876543210, 0, 1 };
	struct seen s;
	size_t i;

	for (i = 0; i < 3; i++) {
		self->configuration = numbers[i];
		ASSERT_EQ(0, lend(self));
		ASSERT_TRUE(holds(self, i % 2 ? BFTM_RENEW : 0));
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		self->configuration = 7;
		ASSERT_EQ(0, lend(self));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(i % 2 ? BFTMUTEX_REQUEST_KIND_RENEW : BFTMUTEX_REQUEST_KIND_HELD, s.kind);
		EXPECT_EQ(numbers[i], s.configuration);
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
		EXPECT_EQ(numbers[i], s.configuration);
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	}
}

/* The longest name of a cluster comes back whole. */
TEST_F(lend, a_long_name)
{
	static const char longest[] = "12345678901234567890123456789012";
	struct seen s;

	ASSERT_EQ(BFTM_CLUSTER_MAX, strlen(longest));
	self->cluster = longest;
	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	self->configuration++;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
	EXPECT_STREQ(longest, s.cluster);
}

/* The helper queues for locks of objects, whose names end in a zero byte, by itself. */
TEST_F(lend, a_lock_of_an_object)
{
	struct bftm_acquire arg = want("object", LEASE, 0, 0);
	struct seen s;

	arg.name_len++;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_TRUE(silence(self));
}

TEST_F(lend, who_is_silent_is_the_helpers)
{
	struct seen s;
	int i;

	self->backoff = true;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_EQ(0, pull(&self->nl, &s));
}

/* The kernel waits as long after the last request as from the first to the last. */
TEST_F(lend, who_is_silent_is_waited_for)
{
	uint64_t first, last;

	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 500 * MS;
	self->backoff = true;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	first = now_ns();
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	last = now_ns();
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, 0));
	EXPECT_GE(now_ns() - last, (last - first) / 16 * 15);
}

/* Answers that are not authentic, of another attempt or name, or of a restart, are no grants. */
TEST_F(lend, what_proves_nothing)
{
	struct bftm_mac *wrong = bftm_mac_new(request_key);
	struct sockaddr_in6 from;
	struct bftm_msg msg, other;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &msg, &from));
	say(self, 2, msg, BFTM_MSG_FREE, &from, wrong);
	other = msg;
	other.attempt += 2;
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	say(self, 2, msg, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	other = msg;
	other.name[0] = 'L';
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	/* Of one that is counted already; server N + 1 has epoch 100 + N. */
	other = msg;
	other.server = 2;
	other.server_epoch--;
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	/* The first three are the helper's to read. */
	for (int i = 0; i < 3; i++) {
		u8 data[BFTM_WIRE_LEN_MAX];

		ASSERT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
		EXPECT_LE(BFTM_DATAGRAM_MIN, recv(self->sock, data, sizeof(data), 0));
	}
	EXPECT_EQ(0, poll_for(self->sock, POLLIN, 0));
	say(self, 2, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	bftm_mac_free(wrong);
}

TEST_F(lend, cancelled)
{
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
}

/*
 * As long as may be, and longer than the machine has run: at once, not when the helper
 * is to take it over.
 */
TEST_F(lend, a_margin_that_has_begun)
{
	const struct timespec patience = { .tv_sec = LEASE / SEC / 8 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (now_ns() > 3000 * SEC)
		SKIP(return, "the machine runs for longer");
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(0, set_signal(self->fd, SIGUSR1, 3600 * SEC));
	ASSERT_TRUE(holds(self, BFTM_RENEW));
	EXPECT_EQ(SIGUSR1, sigtimedwait(&set, NULL, &patience));
}

/* When a session is taken back, or replaced by another, held locks stay, and waiting requests are pulled. */
TEST_F(lend, taken_back)
{
	int waits = open_here(O_NONBLOCK), way;
	struct seen s;

	for (way = 0; way < 2; way++) {
		ASSERT_EQ(0, lend(self));
		ASSERT_TRUE(holds(self, 0));
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		ASSERT_EQ(-EINPROGRESS, acquire(waits, "other", LEASE, 0, NULL));
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
		self->peers = way ? N : 0;
		self->configuration++;
		ASSERT_EQ(0, lend(self));
		self->peers = N;
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, 0));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
		EXPECT_STREQ("lock", s.name);
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		EXPECT_STREQ("other", s.name);
		EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
		ASSERT_EQ(0, release(waits));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CANCEL, s.kind);
		/*
		 * With the next pull the helper has done the request: the lock is free for the
		 * kernel.
		 */
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		EXPECT_TRUE(silence(self));
	}
	close(waits);
}

/* As it is, from server @u. */
static bool says(lend_t *self, int u, const struct bftm_msg *msg, const struct sockaddr_in6 *to)
{
	struct bftm_wire wire;

	bftm_wire_put(msg, &wire);
	bftm_mac_sign(self->reply_mac, &wire);
	return sendto(self->server[u], wire.data, wire.len, 0, (struct sockaddr *)to,
		      sizeof(*to)) == (ssize_t)wire.len;
}

TEST_F(lend, with_a_token)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, BFTM_FENCE));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	/* q = 3 of 4 */
	for (u = 0; u < 3; u++) {
		ASSERT_EQ(BFTM_MSG_STAMP, told(self, u, LONG_MS, &msg, &from));
		EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
		msg.gno = msg.token;
		msg.type = BFTM_MSG_SACK;
		/* Of a start that has not said what it forgot. */
		msg.server_epoch++;
		ASSERT_TRUE(says(self, u, &msg, &from));
		ASSERT_EQ(0, asked(self, u, u, BFTM_MSG_HELLO, 0));
		EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
		msg.server_epoch--;
		ASSERT_TRUE(says(self, u, &msg, &from));
	}
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(msg.token, status_of(self->fd).token);
	EXPECT_NE(0, status_of(self->fd).token);
}

TEST_F(lend, a_release_is_sent_three_times)
{
	int i;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, 0));
	EXPECT_TRUE(silence(self));
}

TEST_HARNESS_MAIN
