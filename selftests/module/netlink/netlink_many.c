// SPDX-License-Identifier: GPL-2.0
/* More acquires of the kernel's own, and more leases that end, than it handles at a time. */
#include <sys/resource.h>

#include "lend_fixture.h"

/* Acquires of locks @first to @last, one by one. */
static bool begin_many(int *fds, int first, int last)
{
	char name[16];
	int i;

	for (i = first; i < last; i++) {
		snprintf(name, sizeof(name), "%d", i);
		fds[i] = open_here(O_NONBLOCK);
		if (acquire(fds[i], name, 0, 0, NULL) != -EINPROGRESS)
			return false;
	}
	return true;
}

/* How many acquires that were not seen yet are pulled, until there is none, or within @ms. */
static int pull_many(lend_t *self, bool *seen, uint64_t ms, int most)
{
	uint64_t until = now_ns() + ms * MS;
	struct seen s;
	int count = 0;

	while (count < most) {
		if (pull(&self->nl, &s)) {
			if (now_ns() >= until)
				break;
			sleep_ns(MS);
			continue;
		}
		if (s.kind != BFTMUTEX_REQUEST_KIND_ACQUIRE || seen[s.id])
			return -1;
		seen[s.id] = true;
		count++;
	}
	return count;
}

/* No server answers: the kernel asks for all of them, and the helper gets all in the end. */
TEST_F_TIMEOUT(lend, many_that_nobody_answers, 1200)
{
	enum { FIRST = 1124, MORE = 1024, COUNT = FIRST + MORE };
	const int again = short_run() ? MORE / 16 : MORE, count = FIRST + again;
	struct rlimit limit = { COUNT + 100, COUNT + 100 };
	static bool seen[COUNT + 1];
	int fds[COUNT], i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	self->backoff = true;
	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 60 * SEC;
	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(begin_many(fds, 0, FIRST));
	EXPECT_EQ(0, pull_many(self, seen, 0, COUNT));
	EXPECT_EQ(0, self->counters->lost);
	/* A new session leaves them to the helper; the timer does so, later. */
	self->wrong = 0;
	ASSERT_EQ(0, lend(self));
	EXPECT_EQ(FIRST, pull_many(self, seen, 0, COUNT));
	EXPECT_EQ(FIRST, self->counters->lost);
	ASSERT_TRUE(begin_many(fds, FIRST, count));
	EXPECT_EQ(again, pull_many(self, seen, LONG_MS, again));
	EXPECT_EQ(count, self->counters->lost);
	EXPECT_EQ(0, self->counters->won);
	/* None is lost when the helper goes for good. */
	bftm_nl_close(&self->nl);
	for (i = 0; i < count; i++) {
		ASSERT_EQ(POLLIN, poll_for(fds[i], POLLIN, LONG_MS));
		ASSERT_EQ(BFTM_STATE_FAILED, state_of(fds[i]));
		close(fds[i]);
	}
}

/* Each RELEASE is sent to all servers; more than the kernel handles in one run. */
TEST_F_TIMEOUT(lend, leases_that_end_together, 1200)
{
	enum { COUNT = 200 };
	uint64_t end = now_ns() + 15 * SEC;
	int fds[COUNT], i, u, released = 0;
	struct sockaddr_in6 from;
	struct bftm_acquire arg;
	struct bftm_msg msg;
	char name[16];

	ASSERT_EQ(0, lend(self));
	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "%d", i);
		fds[i] = open_here(O_NONBLOCK);
		arg = want(name, (end - now_ns()) / 998 * 1000, 0, 0);
		ASSERT_EQ(-EINPROGRESS, call(fds[i], BFTM_IOC_ACQUIRE, &arg));
		ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
		ASSERT_EQ(BFTM_STATE_HELD, state_of(fds[i]));
		while (told(self, 3, 0, &msg, &from))
			;
	}
	/* Woken, each of them, with no look at the clock by who waits. */
	for (i = 0; i < COUNT; i++) {
		ASSERT_EQ(POLLHUP, poll_for(fds[i], 0, LONG_MS));
		ASSERT_EQ(BFTM_LOST_EXPIRED, (int)status_of(fds[i]).reason);
		close(fds[i]);
	}
	for (u = 0; u < 3; u++)
		while (released < COUNT * (u + 1)) {
			i = told(self, u, LONG_MS, &msg, &from);
			ASSERT_EQ(BFTM_MSG_RELEASE, i);
			say(self, u, msg, BFTM_MSG_RELEASED, &from, self->reply_mac);
			released++;
		}
}

TEST_HARNESS_MAIN
