// SPDX-License-Identifier: GPL-2.0
/* Renewal, from both sides: the program that asks and the helper that reports. */
#include <pthread.h>

#include "selftests/module/device/fake_helper.h"
#include "selftests/module/device/harness.h"

FIXTURE(renew)
{
	struct bftm_nl nl;
	int fd;
	const char *name;
	uint64_t end;	/* of the lease */
	uint64_t id;
};

FIXTURE_SETUP(renew)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
	self->end = now_ns() + 50 * SEC;
}

FIXTURE_TEARDOWN(renew)
{
	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

#define HOLD(flags) (self->id = held(&self->nl, self->fd, self->name, flags, self->end))

TEST_F(renew, by_the_program)
{
	struct bftm_acquire arg = want(self->name, 7 * SEC, 0, BFTM_FENCE);
	struct seen s;
	uint64_t id;

	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	id = s.id;
	ASSERT_EQ(0, done_with(&self->nl, id, 0, 5, self->end, 13, 3));
	EXPECT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	/* One is enough. */
	EXPECT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
	EXPECT_EQ(id, s.id);
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(BFTM_FENCE, s.flags);
	EXPECT_EQ(7 * SEC, s.lease_ns);
	EXPECT_EQ(5, s.attempt);
	EXPECT_EQ(self->end, s.deadline_ns);
	EXPECT_EQ(13, s.token);
	EXPECT_EQ(3, s.sends);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	ASSERT_EQ(0, renewed(&self->nl, id, self->end + SEC, 9));
	EXPECT_EQ(self->end + SEC, status_of(self->fd).deadline_ns);
	EXPECT_EQ(13, status_of(self->fd).token);
	EXPECT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(self->end + SEC, s.deadline_ns);
	EXPECT_EQ(9, s.sends);
	EXPECT_EQ(0, release(self->fd));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

TEST_F(renew, by_the_helper)
{
	int i;

	HOLD(BFTM_RENEW);
	for (i = 1; i < 100; i++) {
		ASSERT_EQ(0, renewed(&self->nl, self->id, self->end + i, (uint32_t)i));
		ASSERT_EQ(self->end + (uint64_t)i, status_of(self->fd).deadline_ns);
	}
	EXPECT_EQ(0, release(self->fd));
	EXPECT_EQ(-ESTALE, renewed(&self->nl, self->id, self->end + SEC, 100));
}

/* A deadline may move by what the clocks drift, also to and fro. */
TEST_F(renew, what_lasts_longer_is_the_end)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC_RAW) + 50 * SEC;
	uint8_t cmd = BFTMUTEX_CMD_HELPER_RENEWED;

	HOLD(0);
	ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, held_until(&self->nl, cmd, self->id, self->end, end + SEC));
	EXPECT_EQ(-EALREADY, held_until(&self->nl, cmd, self->id, self->end + 1, end + SEC));
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	ASSERT_EQ(0, held_until(&self->nl, cmd, self->id, self->end - 1, end + SEC + 1));
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(renew, keeps_the_lock_past_its_first_deadline)
{
	self->end = now_ns() + 300 * MS;
	HOLD(BFTM_RENEW);
	ASSERT_EQ(0, renewed(&self->nl, self->id, self->end + SEC, 2));
	sleep_until(self->end + 100 * MS);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_GT(now_ns(), self->end + SEC);
}

TEST_F(renew, too_late_is_refused)
{
	struct seen s;

	self->end = now_ns() + 50 * MS;
	HOLD(BFTM_RENEW);
	sleep_until(self->end + 1);
	EXPECT_EQ(-ESTALE, renewed(&self->nl, self->id, self->end + 50 * SEC, 2));
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(-EKEYEXPIRED, renew(self->fd, 0, NULL));
}

TEST_F(renew, bad_reports_change_nothing)
{
	const uint64_t hour = 3600 * SEC;
	uint64_t pending;
	struct bftm_nl other;
	int fd;

	HOLD(0);
	EXPECT_EQ(-EALREADY, renewed(&self->nl, self->id, self->end, 2));
	EXPECT_EQ(-EALREADY, renewed(&self->nl, self->id, self->end - 1, 2));
	EXPECT_EQ(-EALREADY, renewed(&self->nl, self->id, 0, 2));
	EXPECT_EQ(-EINVAL, renewed(&self->nl, self->id, NONE, 2));
	EXPECT_EQ(-EINVAL, renewed(&self->nl, NONE, self->end + 1, 2));
	EXPECT_EQ(-EINVAL, renewed(&self->nl, 0, self->end + 1, 2));
	EXPECT_EQ(-ESTALE, renewed(&self->nl, self->id + 1, self->end + 1, 2));
	EXPECT_EQ(-ERANGE, renewed(&self->nl, self->id, now_ns() + hour + 60 * SEC, 2));
	EXPECT_EQ(-ERANGE, renewed(&self->nl, self->id, UINT64_MAX - 1, 2));
	ASSERT_EQ(0, bftm_nl_open(&other));
	EXPECT_EQ(-EPERM, renewed(&other, self->id, self->end + 1, 2));
	bftm_nl_close(&other);
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	/* A lock that is only asked for cannot be renewed. */
	fd = open_here(O_NONBLOCK);
	pending = pulled(&self->nl, fd, "pending");
	EXPECT_EQ(-ESTALE, renewed(&self->nl, pending, self->end + 1, 2));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(fd));
	/* A held lock cannot be won again. */
	EXPECT_EQ(-ESTALE, done(&self->nl, self->id, 0, 6, self->end + 1));
	EXPECT_EQ(-ESTALE, done(&self->nl, self->id, EIO, NONE, NONE));
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	close(fd);
}

TEST_F(renew, of_nothing)
{
	struct seen s;
	uint64_t id;

	EXPECT_EQ(-ENOLCK, renew(self->fd, 0, NULL));
	id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ENOLCK, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, done(&self->nl, id, EIO, NONE, NONE));
	EXPECT_EQ(-ENOLCK, renew(self->fd, 0, NULL));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

TEST_F(renew, arguments)
{
	struct bftm_acquire arg = want(self->name, 7 * SEC, 0, 0);
	struct bftm_renew good = { .size = sizeof(good), .lease_ns = 7 * SEC }, bad;
	struct seen s;

	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	ASSERT_EQ(0, done(&self->nl, s.id, 0, 5, self->end));
	bad = good;
	bad.lease_ns++;
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_RENEW, &bad));
	bad = good;
	bad.deadline_ns = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_RENEW, &bad));
	for (bad = good, bad.flags = 1; bad.flags; bad.flags <<= 1)
		EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_RENEW, &bad));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_RENEW, &good));
}

/* Queued, and not wanted any more: it is the release that is pulled, in its place. */
TEST_F(renew, queued_becomes_the_release)
{
	int fd = open_here(O_NONBLOCK), i;
	struct seen s;

	for (i = 0; i < 2; i++) {
		HOLD(0);
		ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
		ASSERT_EQ(-EINPROGRESS, acquire(fd, "another", 0, 0, NULL));
		if (i)
			close(self->fd);
		else
			ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
		EXPECT_EQ(self->id, s.id);
		EXPECT_EQ(5, s.attempt);
		EXPECT_EQ(0, s.deadline_ns);
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		ASSERT_EQ(0, release(fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	}
	close(fd);
}

struct waiter {
	pthread_t thread;
	int fd;
	uint64_t timeout_ns, deadline_ns;
	int result;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->result = renew(w->fd, w->timeout_ns, &w->deadline_ns);
	return NULL;
}

/* A program that waits for its renewal, which the helper has pulled. */
static void start_waiter(struct waiter *w, struct bftm_nl *nl)
{
	struct seen s;

	fcntl(w->fd, F_SETFL, 0);
	pthread_create(&w->thread, NULL, wait_in_thread, w);
	while (pull(nl, &s))
		sched_yield();
	sleep_ns(20 * MS);
}

TEST_F(renew, waits_for_the_new_deadline)
{
	struct waiter w = { .fd = self->fd }, x = { .fd = self->fd, .timeout_ns = UINT64_MAX };

	HOLD(0);
	start_waiter(&w, &self->nl);
	start_waiter(&x, &self->nl);
	ASSERT_EQ(0, renewed(&self->nl, self->id, self->end + SEC, 2));
	pthread_join(w.thread, NULL);
	pthread_join(x.thread, NULL);
	EXPECT_EQ(0, w.result);
	EXPECT_EQ(self->end + SEC, w.deadline_ns);
	EXPECT_EQ(0, x.result);
	EXPECT_EQ(self->end + SEC, x.deadline_ns);
}

TEST_F(renew, wait_times_out)
{
	uint64_t begin = now_ns();

	HOLD(0);
	fcntl(self->fd, F_SETFL, 0);
	EXPECT_EQ(-ETIMEDOUT, renew(self->fd, 100 * MS, NULL));
	EXPECT_GE(now_ns(), begin + 100 * MS);
	EXPECT_EQ(-ETIMEDOUT, renew(self->fd, 1, NULL));
	/* The renewal goes on. */
	EXPECT_EQ(0, renewed(&self->nl, self->id, self->end + 1, 2));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(renew, wait_ends_with_the_lease)
{
	struct waiter w = { .fd = self->fd, .timeout_ns = 3600 * SEC };

	self->end = now_ns() + 300 * MS;
	HOLD(0);
	start_waiter(&w, &self->nl);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-EKEYEXPIRED, w.result);
	EXPECT_GT(now_ns(), self->end);
}

TEST_F(renew, wait_ends_with_a_release)
{
	struct waiter w = { .fd = self->fd };

	HOLD(0);
	start_waiter(&w, &self->nl);
	EXPECT_EQ(0, release(self->fd));
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-ECANCELED, w.result);
}

static void on_signal(int signo)
{
	(void)signo;
}

TEST_F(renew, wait_ends_with_a_signal)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct waiter w = { .fd = self->fd };

	sigaction(SIGUSR1, &action, NULL);
	HOLD(0);
	start_waiter(&w, &self->nl);
	pthread_kill(w.thread, SIGUSR1);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-EINTR, w.result);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(renew, wait_ends_without_a_helper)
{
	struct waiter w = { .fd = self->fd };

	HOLD(0);
	start_waiter(&w, &self->nl);
	bftm_nl_close(&self->nl);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-ENOTCONN, w.result);
	EXPECT_EQ(-ENOTCONN, renew(self->fd, 0, NULL));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(0, release(self->fd));
}

TEST_HARNESS_MAIN
