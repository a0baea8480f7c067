// SPDX-License-Identifier: GPL-2.0
/* The machine falls asleep while requests end that no helper will serve. */
#include <sys/resource.h>

#include "harness.h"
#include "fake_helper.h"

/* This many requests take a tenth of a second to end, in runs of a timer. */
#define COUNT_MAX 60000

/* Return: 0 when the machine has slept, and woken up again, as suspend.sh has set it up. */
static int sleep_now(void)
{
	int fd = open("/sys/power/state", O_WRONLY | O_CLOEXEC);
	ssize_t n = write(fd, "freeze", 6);

	close(fd);
	return n == 6 ? 0 : -errno;
}

FIXTURE(machine)
{
};

FIXTURE_SETUP(machine)
{
}

FIXTURE_TEARDOWN(machine)
{
}

TEST_F_TIMEOUT(machine, what_waits_ends, 1200)
{
	int count = short_run() ? COUNT_MAX / 3 : COUNT_MAX;
	struct rlimit limit = { COUNT_MAX + 100, COUNT_MAX + 100 };
	static int fds[COUNT_MAX];
	struct bftm_acquire arg;
	struct bftm_nl nl;
	char name[16];
	int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&nl));
	ASSERT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%d", i);
		arg = want(name, 0, 0, 0);
		fds[i] = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, call(fds[i], BFTM_IOC_ACQUIRE, &arg));
	}
	bftm_nl_close(&nl);
	/* The first has ended, so the others are about to. */
	ASSERT_EQ(POLLIN, poll_for(fds[0], POLLIN, LONG_MS));
	ASSERT_EQ(0, sleep_now());
	for (i = 0; i < count; i++) {
		ASSERT_EQ(POLLIN, poll_for(fds[i], POLLIN, LONG_MS));
		ASSERT_EQ(BFTM_STATE_FAILED, state_of(fds[i]));
		close(fds[i]);
	}
}

/* A lock without a lease is counted by no clock, so it is held, and can be released, afterwards. */
TEST_F(machine, only_leases_end)
{
	struct bftm_acquire arg = want("lasts", 0, 0, BFTM_NO_LEASE);
	int lasting, leased;
	struct bftm_nl nl;
	struct seen s;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&nl));
	ASSERT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	lasting = open_here(O_NONBLOCK);
	leased = open_here(O_NONBLOCK);
	ASSERT_EQ(-EINPROGRESS, call(lasting, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&nl, &s));
	ASSERT_EQ(0, held_until(&nl, BFTMUTEX_CMD_HELPER_DONE, s.id, UINT64_MAX, UINT64_MAX));
	held(&nl, leased, "leased", 0, now_ns() + 1000 * SEC);
	ASSERT_EQ(0, sleep_now());
	EXPECT_EQ(BFTM_STATE_HELD, state_of(lasting));
	EXPECT_EQ(BFTM_STATE_LOST, state_of(leased));
	EXPECT_EQ(BFTM_LOST_SUSPENDED, status_of(leased).reason);
	ASSERT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	do {
		ASSERT_EQ(0, pull(&nl, &s));
	} while (s.kind != BFTMUTEX_REQUEST_KIND_HELD);
	EXPECT_STREQ("lasts", s.name);
	ASSERT_EQ(0, release(lasting));
	/* The lost lease is given back as well. */
	do {
		ASSERT_EQ(0, pull(&nl, &s));
	} while (s.kind != BFTMUTEX_REQUEST_KIND_RELEASE || strcmp(s.name, "lasts"));
	bftm_nl_close(&nl);
	close(lasting);
	close(leased);
}

TEST_HARNESS_MAIN
