// SPDX-License-Identifier: GPL-2.0
/*
 * A host whose clock is slowed down, since it was ahead: its leases last no longer, in the kernel
 * and in the helper.
 */
#include "handle.h"
#include "harness.h"
#include "slew.h"

FIXTURE(slewed)
{
	int fd;
};

FIXTURE_VARIANT(slewed)
{
	int client;	/* the helper of 3 does all */
};

FIXTURE_VARIANT_ADD(slewed, kernel)
{
	.client = 1,
};

FIXTURE_VARIANT_ADD(slewed, helper)
{
	.client = 3,
};

static uint64_t raw_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

FIXTURE_SETUP(slewed)
{
	self->fd = open_client(variant->client, 0);
	ASSERT_GE(self->fd, 0);
	ASSERT_TRUE(set_tick(TICK_SLOW_US));
}

FIXTURE_TEARDOWN(slewed)
{
	EXPECT_TRUE(set_tick(TICK_US));
	close(self->fd);
}

/* The lease counts from before the first datagram, which was sent before the answer. */
TEST_F(slewed, status_agrees_with_the_lease)
{
	uint64_t boot = now_ns(), raw = raw_ns(), acquired, before;
	int state;

	ASSERT_EQ(0, acquire(self->fd, new_name(), LEASE_MAX, 0, NULL));
	acquired = raw_ns();
	do {
		before = raw_ns();
		state = state_of(self->fd);
		if (state == BFTM_STATE_HELD)
			ASSERT_LE(before, acquired + LEASE_MAX);
		if (before < acquired + LEASE_MAX * 98 / 100)
			sleep_ns(MS);
	} while (state == BFTM_STATE_HELD);
	EXPECT_EQ(BFTM_STATE_LOST, state);
	/* The clock really was slower. */
	EXPECT_LT((now_ns() - boot) * 20, (raw_ns() - raw) * 19);
}

/* With CLOCK_BOOTTIME as clock of leases, it came a tenth of the lease later each time. */
TEST_F(slewed, the_end_is_announced)
{
	uint64_t acquired;
	bool in_time;
	int i = 0;

	do {
		ASSERT_EQ(0, acquire(self->fd, new_name(), LEASE_MAX, 0, NULL));
		acquired = raw_ns();
		ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
		in_time = raw_ns() - acquired < LEASE_MAX + LEASE_MAX / 20;
		EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
	} while (!in_time && ++i < 10);
	EXPECT_TRUE(in_time);
}

TEST_F(slewed, what_is_renewed_stays)
{
	struct bftm_acquire arg = want(new_name(), LEASE_MAX, 0, BFTM_RENEW);

	ASSERT_EQ(0, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_EQ(0, poll_for(self->fd, 0, 3 * LEASE_MAX / MS));
	EXPECT_EQ(0, release(self->fd));
}

TEST_HARNESS_MAIN
