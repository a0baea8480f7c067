// SPDX-License-Identifier: GPL-2.0
/* ACQUIRE and RELEASE: results, waiting, ways to stop waiting. */
#include <pthread.h>

#include "handle.h"
#include "harness.h"

FIXTURE(acquire)
{
	int fd;		/* of client 1, where we are */
	int other;	/* of client 2 */
	const char *name;
};

FIXTURE_SETUP(acquire)
{
	self->fd = open_here(0);
	self->other = open_client(2, 0);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other, 0);
	self->name = new_name();
}

FIXTURE_TEARDOWN(acquire)
{
	close(self->fd);
	close(self->other);
}

static void on_signal(int signo)
{
	(void)signo;
}

/* Not restarted: the call must return. */
static void catch_signal(int signo)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(signo, &action, NULL);
}

struct waiter {
	pthread_t thread;
	int fd;
	const char *name;
	uint64_t timeout_ns;
	int result;
	uint64_t returned_ns;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->result = acquire(w->fd, w->name, LEASE_MAX, w->timeout_ns, NULL);
	w->returned_ns = now_ns();
	return NULL;
}

static void start_waiter(struct waiter *w)
{
	pthread_create(&w->thread, NULL, wait_in_thread, w);
	while (state_of(w->fd) != BFTM_STATE_PENDING)
		sched_yield();
}

TEST_F(acquire, out_fields)
{
	struct bftm_acquire arg;
	struct bftm_status status;
	uint64_t before = now_ns(), after;

	ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, &arg));
	after = now_ns();
	status = status_of(self->fd);
	EXPECT_GT(arg.deadline_ns, before);
	/* The lease counts from the first send, so it ends before this. */
	EXPECT_LT(arg.deadline_ns, after + LEASE_MAX);
	EXPECT_GE(arg.attempts, 1u);
	EXPECT_EQ(arg.token, 0u);
	EXPECT_EQ(arg.mode, (uint32_t)BFTM_LOCK_EX);
	EXPECT_EQ(arg.size, sizeof(arg));
	EXPECT_EQ(arg.name_len, strlen(self->name));
	EXPECT_EQ(status.state, (uint32_t)BFTM_STATE_HELD);
	EXPECT_EQ(status.reason, (uint32_t)BFTM_LOST_NOT);
	EXPECT_EQ(status.error, 0);
	EXPECT_EQ(status.deadline_ns, arg.deadline_ns);
	EXPECT_EQ(status.attempts, arg.attempts);
	EXPECT_EQ(0, release(self->fd));
}

TEST_F(acquire, deadline_grows_and_remaining_shrinks)
{
	struct bftm_acquire first, second;
	struct bftm_status a, b;
	uint64_t before, after;

	ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, &first));
	before = now_ns();
	a = status_of(self->fd);
	after = now_ns();
	b = status_of(self->fd);
	EXPECT_LE(a.remaining_ns, first.deadline_ns - before);
	EXPECT_GE(a.remaining_ns, first.deadline_ns - after);
	EXPECT_LT(b.remaining_ns, a.remaining_ns);
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, &second));
	EXPECT_GT(second.deadline_ns, first.deadline_ns);
}

TEST_F(acquire, default_lease_and_cluster)
{
	struct bftm_acquire named = want(self->name, 0, 0, 0);

	set_cluster(&named, "demo");
	ASSERT_EQ(0, acquire(self->fd, self->name, 0, 0, NULL));
	EXPECT_EQ(-EWOULDBLOCK, try_lock(self->other, self->name, 0));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, call(self->other, BFTM_IOC_ACQUIRE, &named));
}

TEST_F(acquire, names_are_bytes)
{
	struct bftm_acquire a = want("ab", LEASE_MAX, 0, 0), b = a;

	/* "ab" with a zero byte behind it is another lock. */
	b.name_len = 3;
	ASSERT_EQ(0, call(self->fd, BFTM_IOC_ACQUIRE, &a));
	EXPECT_EQ(0, call(self->other, BFTM_IOC_ACQUIRE, &b));
}

TEST_F(acquire, try_fails_when_another_client_holds)
{
	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	EXPECT_EQ(-EWOULDBLOCK, try_lock(self->fd, self->name, LEASE_MAX));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(EWOULDBLOCK, status_of(self->fd).error);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->other));
}

TEST_F(acquire, try_fails_when_the_same_client_holds)
{
	int mine = open_here(0);

	ASSERT_EQ(0, acquire(mine, self->name, LEASE_MAX, 0, NULL));
	EXPECT_EQ(-EWOULDBLOCK, try_lock(self->fd, self->name, LEASE_MAX));
	ASSERT_EQ(0, release(mine));
	EXPECT_EQ(0, get_soon(self->fd, self->name, LEASE_MAX));
}

TEST_F(acquire, way_no_backoff_gets_a_released_lock)
{
	struct bftm_acquire arg = want(self->name, LEASE_MAX, 0, 0);

	arg.way = BFTM_WAY_NO_BACKOFF;
	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	ASSERT_EQ(0, release(self->other));
	EXPECT_EQ(0, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
}

TEST_F(acquire, timeout_is_kept)
{
	uint64_t asked[] = { 100 * MS, 400 * MS }, took[2], begin;
	int i, err;

	for (i = 0; i < 2; i++) {
		do {	/* again when the machine slept longer than the lease */
			release(self->other);
			self->name = new_name();
			ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
			begin = now_ns();
			err = acquire(self->fd, self->name, LEASE_MAX, asked[i], NULL);
			took[i] = now_ns() - begin;
			release(self->fd);
		} while (state_of(self->other) != BFTM_STATE_HELD);
		EXPECT_EQ(-ETIMEDOUT, err);
		EXPECT_GE(took[i], asked[i]);
		EXPECT_EQ(ETIMEDOUT, status_of(self->fd).error);
	}
	EXPECT_LT(took[0], took[1]);
}

TEST_F(acquire, signal_interrupts)
{
	struct waiter w = { .fd = self->fd, .name = self->name };
	int mine = open_here(0);

	catch_signal(SIGUSR1);
	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	start_waiter(&w);
	pthread_kill(w.thread, SIGUSR1);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-EINTR, w.result);
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(EINTR, status_of(self->fd).error);
	ASSERT_EQ(0, release(self->other));
	/* Nothing of the request is left that would keep it from others. */
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
	ASSERT_EQ(0, release(self->other));
	EXPECT_EQ(0, get_soon(mine, self->name, LEASE_MAX));
}

TEST_F(acquire, release_cancels_a_waiter)
{
	struct waiter w = { .fd = self->fd, .name = self->name };

	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	start_waiter(&w);
	EXPECT_EQ(0, release(self->fd));
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-ECANCELED, w.result);
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
}

/*
 * While a cancelled waiter has not run yet, its handle acquires another lock:
 * the waiter must not take that for its own.
 */
TEST_F(acquire, cancelled_waiter_does_not_win_the_next_lock)
{
	struct sched_param first = { .sched_priority = 1 };
	struct waiter w = { .fd = self->fd, .name = self->name };
	char next[BFTM_NAME_MAX];

	snprintf(next, sizeof(next), "%s.next", self->name);
	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	start_waiter(&w);
	/* The waiter runs only while we sleep. */
	ASSERT_EQ(0, pthread_setschedparam(pthread_self(), SCHED_FIFO, &first));
	EXPECT_EQ(0, release(self->fd));
	EXPECT_EQ(0, acquire(self->fd, next, LEASE_MAX, 0, NULL));
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-ECANCELED, w.result);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(0, release(self->fd));
}

TEST_F(acquire, busy_while_pending_already_while_held)
{
	struct waiter w = { .fd = self->fd, .name = self->name };

	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	start_waiter(&w);
	EXPECT_EQ(-EBUSY, acquire(self->fd, "another", LEASE_MAX, 0, NULL));
	EXPECT_EQ(-EALREADY, acquire(self->other, "another", LEASE_MAX, 0, NULL));
	release(self->fd);
	pthread_join(w.thread, NULL);
}

TEST_F(acquire, nonblock)
{
	int fd = open_here(O_NONBLOCK);
	uint64_t before = now_ns();

	EXPECT_EQ(-EINPROGRESS, acquire(fd, self->name, LEASE_MAX, 0, NULL));
	EXPECT_EQ(POLLIN, poll_for(fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(fd));
	EXPECT_GT(status_of(fd).deadline_ns, before);
	EXPECT_EQ(-EWOULDBLOCK, try_lock(self->other, self->name, LEASE_MAX));
	EXPECT_EQ(0, release(fd));
}

TEST_F(acquire, nonblock_failure)
{
	struct bftm_acquire arg = want(self->name, LEASE_MAX, 0, BFTM_TRY);
	int fd = open_here(O_NONBLOCK);

	ASSERT_EQ(0, acquire(self->other, self->name, LEASE_MAX, 0, NULL));
	EXPECT_EQ(-EINPROGRESS, call(fd, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_EQ(POLLIN, poll_for(fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_FAILED, state_of(fd));
	EXPECT_EQ(EWOULDBLOCK, status_of(fd).error);
	EXPECT_EQ(0u, status_of(fd).deadline_ns);
}

/* The helper of client 3 sleeps, so that what is asked for stays pending. */
FIXTURE(timer)
{
	int fd;
};

FIXTURE_SETUP(timer)
{
	self->fd = open_client(3, 0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(timer)
{
	signal_helper(3, SIGCONT);
	close(self->fd);
}

static int still_pending(int fd, uint64_t until_ns)
{
	signal_helper(3, SIGSTOP);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (acquire(fd, new_name(), LEASE_MAX, 0, NULL) != -EINPROGRESS)
		return 0;
	sleep_until(until_ns);
	return state_of(fd) == BFTM_STATE_PENDING;
}

TEST_F(timer, of_a_timed_acquire_does_not_end_the_next)
{
	struct bftm_acquire arg = want(new_name(), LEASE_MAX, 200 * MS, 0);
	uint64_t begin = now_ns();

	set_cluster(&arg, "nonesuch");
	ASSERT_EQ(-ENOKEY, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	/* The kernel's own time limit is a second later than the asked one. */
	EXPECT_TRUE(still_pending(self->fd, begin + 1600 * MS));
}

TEST_F(timer, of_a_released_lease_does_not_end_the_next)
{
	struct bftm_acquire arg;

	ASSERT_EQ(0, acquire(self->fd, new_name(), 500 * MS, 0, &arg));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_TRUE(still_pending(self->fd, arg.deadline_ns + 300 * MS));
}

TEST_F(timer, one_that_asks_once_has_its_limit)
{
	struct bftm_acquire arg = want(new_name(), LEASE_MAX, 300 * MS, BFTM_TRY);
	uint64_t begin = now_ns();

	signal_helper(3, SIGSTOP);
	EXPECT_EQ(-ETIMEDOUT, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_GE(now_ns() - begin, 300 * MS);
	EXPECT_LT(now_ns() - begin, 5 * SEC);
	signal_helper(3, SIGCONT);
}

TEST_F(timer, timed_acquire_ends_without_the_helper)
{
	uint64_t begin = now_ns();

	signal_helper(3, SIGSTOP);
	EXPECT_EQ(-ETIMEDOUT, acquire(self->fd, new_name(), LEASE_MAX, 300 * MS, NULL));
	EXPECT_GE(now_ns() - begin, 300 * MS);
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
}

TEST_HARNESS_MAIN
