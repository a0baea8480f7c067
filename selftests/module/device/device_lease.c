// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel ends a lease by itself: never before its deadline, always after
 * it, whether the helper works, is stopped or is dead.
 */
#include "handle.h"
#include "harness.h"

#define LEASE	(500 * MS)

FIXTURE(lease)
{
	int fd;
	uint64_t deadline_ns;
};

FIXTURE_VARIANT(lease)
{
	int signo;	/* signal for the helper once the lock is held */
};

FIXTURE_VARIANT_ADD(lease, helper_works)
{
	.signo = 0,
};

FIXTURE_VARIANT_ADD(lease, helper_stopped)
{
	.signo = SIGSTOP,
};

FIXTURE_VARIANT_ADD(lease, helper_killed)
{
	.signo = SIGKILL,
};

static uint64_t hold(int fd)
{
	struct bftm_acquire arg;

	return acquire(fd, new_name(), LEASE, 0, &arg) ? 0 : arg.deadline_ns;
}

FIXTURE_SETUP(lease)
{
	self->fd = open_client(3, 0);
	ASSERT_GE(self->fd, 0);
	self->deadline_ns = hold(self->fd);
	ASSERT_NE(0, self->deadline_ns);
	signal_helper(3, variant->signo);
}

FIXTURE_TEARDOWN(lease)
{
	bool works = true;

	close(self->fd);
	if (variant->signo == SIGKILL)
		works = restart_helper(3);
	else
		signal_helper(3, SIGCONT);
	EXPECT_TRUE(works);
}

TEST_F(lease, status_agrees_with_the_clock)
{
	struct bftm_status status;
	uint64_t before, after;
	int looks = 0;

	do {
		before = now_ns();
		status = status_of(self->fd);
		after = now_ns();
		looks++;
		if (status.state == BFTM_STATE_HELD) {
			ASSERT_LE(before, self->deadline_ns);
			ASSERT_LE(status.remaining_ns, self->deadline_ns - before);
			ASSERT_EQ(BFTM_LOST_NOT, (int)status.reason);
		} else {
			ASSERT_EQ(BFTM_STATE_LOST, (int)status.state);
			ASSERT_GT(after, self->deadline_ns);
			ASSERT_EQ(0u, status.remaining_ns);
			ASSERT_EQ(BFTM_LOST_EXPIRED, (int)status.reason);
		}
		ASSERT_EQ(self->deadline_ns, status.deadline_ns);
		look_again(self->deadline_ns);
	} while (before <= self->deadline_ns);
	/* The last look began after the deadline. */
	EXPECT_EQ(BFTM_STATE_LOST, (int)status.state);
	EXPECT_GT(looks, 1);
}

TEST_F(lease, poll_agrees_with_the_clock)
{
	uint64_t before, after;
	int events;

	do {
		before = now_ns();
		events = poll_now(self->fd);
		after = now_ns();
		ASSERT_TRUE(events & POLLHUP ? after > self->deadline_ns :
					       before <= self->deadline_ns);
		ASSERT_EQ(POLLIN, events & ~POLLHUP);
		look_again(self->deadline_ns);
	} while (before <= self->deadline_ns);
	EXPECT_EQ(POLLIN | POLLHUP, events);
}

TEST_F(lease, poll_is_woken_at_the_deadline)
{
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_GT(now_ns(), self->deadline_ns);
}

TEST_F(lease, release_after_the_deadline)
{
	sleep_until(self->deadline_ns + 1);
	EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
	EXPECT_EQ(-ENOLCK, release(self->fd));
	EXPECT_EQ(0, poll_now(self->fd));
}

TEST_F(lease, release_before_the_deadline)
{
	int err = release(self->fd);

	/* A machine that stood still is no failure. */
	if (now_ns() <= self->deadline_ns)
		EXPECT_EQ(0, err);
	sleep_until(self->deadline_ns + 1);
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(0, poll_now(self->fd));
}

TEST_F(lease, lost_lock_is_free_for_others)
{
	int other = open_client(2, 0);
	struct bftm_acquire arg = want(new_name(), LEASE, 0, 0);

	/* The lock of the setup: its name is the first one of this process. */
	snprintf(arg.name, sizeof(arg.name), "test.%d.1", getpid());
	ASSERT_EQ(0, call(other, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_GT(now_ns(), self->deadline_ns);
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
	close(other);
}

TEST_F(lease, signal_comes_too)
{
	struct timespec patience = { .tv_sec = LONG_MS / 1000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ASSERT_EQ(0, set_signal(self->fd, SIGUSR1, 0));
	if (state_of(self->fd) == BFTM_STATE_LOST)
		SKIP(return, "the machine slept for a lease");
	EXPECT_EQ(SIGUSR1, sigtimedwait(&set, NULL, &patience));
	EXPECT_GT(now_ns(), self->deadline_ns);
	EXPECT_EQ(POLLIN | POLLHUP, poll_now(self->fd));
}

TEST_HARNESS_MAIN
