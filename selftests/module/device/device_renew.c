// SPDX-License-Identifier: GPL-2.0
/*
 * Renewal, tokens and the queue with a real cluster: a lock outlives its leases, its helper, and
 * waiting requests of others.
 */
#include "handle.h"
#include "harness.h"

#define LEASE	(600 * MS)

FIXTURE(renew)
{
	int fd;		/* of client 3, whose helper is killed as needed */
	int other;	/* of client 2 */
	const char *name;
	bool killed;
};

FIXTURE_SETUP(renew)
{
	self->fd = open_client(3, 0);
	self->other = open_client(2, 0);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other, 0);
	self->name = new_name();
	self->killed = false;
}

FIXTURE_TEARDOWN(renew)
{
	close(self->fd);
	close(self->other);
	signal_helper(3, SIGCONT);
	if (self->killed)
		EXPECT_TRUE(restart_helper(3));
}

static int hold(int fd, const char *name, uint64_t lease_ns, uint32_t flags, uint32_t way,
		struct bftm_acquire *ret)
{
	struct bftm_acquire arg = want(name, lease_ns, 0, flags);
	int err;

	arg.way = way;
	err = call(fd, BFTM_IOC_ACQUIRE, &arg);
	if (ret)
		*ret = arg;
	return err;
}

/* The deadline moves past @until_ns; false when the lock was lost instead. */
static bool is_renewed(int fd, uint64_t until_ns)
{
	struct bftm_status s;

	do {
		sleep_ns(10 * MS);
		s = status_of(fd);
	} while (s.state == BFTM_STATE_HELD && s.deadline_ns <= until_ns);
	return s.state == BFTM_STATE_HELD;
}

TEST_F(renew, outlives_leases)
{
	struct bftm_acquire arg;
	int i;

	ASSERT_EQ(0, hold(self->fd, self->name, LEASE_MAX, BFTM_RENEW, 0, &arg));
	for (i = 1; i <= 6; i++) {
		ASSERT_TRUE(is_renewed(self->fd, arg.deadline_ns + (uint64_t)i * LEASE_MAX / 2));
		EXPECT_EQ(-EWOULDBLOCK, try_lock(self->other, self->name, LEASE));
	}
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE));
}

TEST_F(renew, without_the_flag_it_does_not)
{
	ASSERT_EQ(0, hold(self->fd, self->name, LEASE, 0, 0, NULL));
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(BFTM_LOST_EXPIRED, (int)status_of(self->fd).reason);
}

/* A busy machine may need longer than the lease is: again, then. */
TEST_F(renew, by_the_program)
{
	struct bftm_acquire arg;
	uint64_t end;
	int i, again = 0, err = -EKEYEXPIRED;

	for (i = 0; i < 5; i++) {
		if (err == -EKEYEXPIRED)
			ASSERT_EQ(0, hold(self->fd, self->name, LEASE, 0, 0, &arg));
		sleep_ns(LEASE / 4);
		err = renew(self->fd, 0, &end);
		if (err == -EKEYEXPIRED && again++ < 10) {
			release(self->fd);
			i = -1;
			continue;
		}
		ASSERT_EQ(0, err);
		EXPECT_GT(end, arg.deadline_ns);
		EXPECT_LE(end, now_ns() + LEASE);
		EXPECT_EQ(end, status_of(self->fd).deadline_ns);
		arg.deadline_ns = end;
	}
	/* Each time once. */
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(arg.deadline_ns, status_of(self->fd).deadline_ns);
}

/* A busy machine may need longer for a new daemon than the lease is: again, then. */
TEST_F(renew, outlives_its_helper)
{
	int i, adopted = 0;

	for (i = 0; i < 10 && adopted < 2; i++) {
		if (state_of(self->fd) != BFTM_STATE_HELD)
			ASSERT_EQ(0, hold(self->fd, self->name, LEASE_MAX, BFTM_RENEW, 0, NULL));
		signal_helper(3, SIGKILL);
		self->killed = true;
		ASSERT_TRUE(restart_helper(3));
		self->killed = false;
		if (!is_renewed(self->fd, status_of(self->fd).deadline_ns))
			continue;
		adopted++;
		EXPECT_EQ(-EWOULDBLOCK, try_lock(self->other, self->name, LEASE));
	}
	EXPECT_EQ(2, adopted);
	release(self->fd);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE));
}

TEST_F(renew, ends_without_a_helper)
{
	ASSERT_EQ(0, hold(self->fd, self->name, LEASE, BFTM_RENEW, 0, NULL));
	signal_helper(3, SIGKILL);
	self->killed = true;
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(BFTM_LOST_NO_HELPER, (int)status_of(self->fd).reason);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE));
}

TEST_F(renew, ends_with_a_helper_that_sleeps)
{
	ASSERT_EQ(0, hold(self->fd, self->name, LEASE, BFTM_RENEW, 0, NULL));
	signal_helper(3, SIGSTOP);
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(BFTM_LOST_NOT_RENEWED, (int)status_of(self->fd).reason);
	/* When the helper continues, it finds that the lease is over, and gives the lock back. */
	signal_helper(3, SIGCONT);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE));
	sleep_ns(LEASE / 2);
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
}

TEST_F(renew, tokens_grow)
{
	struct bftm_acquire arg;
	uint64_t last = 0;
	int i;

	for (i = 0; i < 6; i++) {
		int fd = i % 2 ? self->other : self->fd;

		ASSERT_EQ(0, hold(fd, self->name, LEASE_MAX, BFTM_FENCE | BFTM_RENEW, 0, &arg));
		EXPECT_GT(arg.token, last);
		EXPECT_EQ(arg.token, status_of(fd).token);
		last = arg.token;
		ASSERT_EQ(0, release(fd));
	}
	ASSERT_EQ(0, hold(self->fd, self->name, LEASE, 0, 0, &arg));
	EXPECT_EQ(0, arg.token);
}

TEST_F(renew, queue_hands_over)
{
	pid_t pid;
	int status, i;

	ASSERT_EQ(0, hold(self->fd, self->name, LEASE_MAX, BFTM_RENEW, BFTM_WAY_QUEUE, NULL));
	pid = fork();
	if (!pid) {
		for (i = 0; i < 10; i++)
			if (hold(self->other, self->name, LEASE_MAX, BFTM_RENEW, BFTM_WAY_QUEUE,
				 NULL) || release(self->other))
				_exit(1);
		_exit(0);
	}
	sleep_ns(LEASE);
	ASSERT_EQ(0, release(self->fd));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, hold(self->fd, self->name, LEASE_MAX, BFTM_RENEW, BFTM_WAY_QUEUE,
				  NULL));
		ASSERT_EQ(0, release(self->fd));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
