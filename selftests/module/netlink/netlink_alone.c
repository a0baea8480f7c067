// SPDX-License-Identifier: GPL-2.0
/* The kernel serves this host by itself while no helper is there, for some seconds. */
#include "lend_fixture.h"

/* A lock is held, to be renewed, and its helper is gone. Return: did that come about? */
static bool holds_alone(lend_t *self, uint64_t lease_ns)
{
	struct bftm_acquire arg = want("lock", lease_ns, 0, BFTM_RENEW);

	if (lend(self) || call(self->fd, BFTM_IOC_ACQUIRE, &arg) != -EINPROGRESS ||
	    asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE) ||
	    poll_for(self->fd, POLLIN, LONG_MS) != POLLIN || asked(self, 3, 3, BFTM_MSG_TRY, 0))
		return false;
	bftm_nl_close(&self->nl);
	return true;
}

/*
 * A request that the kernel cannot serve waits for the next helper, and takes nothing from the
 * holder. That helper is told of the holder first: its attempt for the other is a later one.
 */
TEST_F(lend, a_holder_beside_another_mode)
{
	struct bftm_acquire shared = want("lock", LEASE, 0, 0);
	int second = open_here(O_NONBLOCK), third = open_here(O_NONBLOCK);
	struct seen s;

	shared.mode = BFTM_LOCK_PR;
	ASSERT_TRUE(holds_alone(self, 2 * SEC));
	ASSERT_EQ(-EINPROGRESS, call(second, BFTM_IOC_ACQUIRE, &shared));
	/* One that might wait behind the holder does not overtake that one. */
	ASSERT_EQ(-EINPROGRESS, acquire(third, "lock", LEASE, 0, NULL));
	/* At half of the lease. */
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	take_over(&self->nl);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
	EXPECT_EQ(2, s.sends);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_EQ(BFTM_LOCK_PR, s.mode);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_EQ(BFTM_LOCK_EX, s.mode);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	close(second);
	close(third);
}

/* The holder is done before a helper comes: those behind it go on, up to the one that waits. */
TEST_F(lend, a_release_beside_another_mode)
{
	struct bftm_acquire shared = want("lock", LEASE, 0, 0);
	int behind = open_here(O_NONBLOCK), second = open_here(O_NONBLOCK);
	struct seen s;

	shared.mode = BFTM_LOCK_PR;
	ASSERT_TRUE(holds_alone(self, LEASE));
	ASSERT_EQ(-EINPROGRESS, acquire(behind, "lock", LEASE, 0, NULL));
	ASSERT_EQ(-EINPROGRESS, call(second, BFTM_IOC_ACQUIRE, &shared));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(behind, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(behind));
	ASSERT_EQ(0, release(behind));
	take_over(&self->nl);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_EQ(BFTM_LOCK_PR, s.mode);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(behind);
	close(second);
}

/* Servers do not answer the kernel's renewals: that is the reason, and the next helper logs it. */
TEST_F(lend, a_holder_whose_servers_are_silent)
{
	struct seen s;

	ASSERT_TRUE(holds_alone(self, SEC));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, POLLHUP, LONG_MS));
	EXPECT_EQ(BFTM_LOST_NOT_RENEWED, status_of(self->fd).reason);
	take_over(&self->nl);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_LOST, s.kind);
	EXPECT_STREQ("lock", s.name);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

/* The kernel serves an acquire that a helper would have to watch. */
TEST_F(lend, nobody_watches)
{
	int second = open_here(O_NONBLOCK);

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_LOCKED));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	bftm_nl_close(&self->nl);
	ASSERT_EQ(-EINPROGRESS, acquire(second, "other", LEASE, 0, NULL));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(second, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(second));
	close(second);
}

TEST_HARNESS_MAIN
