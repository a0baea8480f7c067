// SPDX-License-Identifier: GPL-2.0
/*
 * Conversions that a program waits for: what ends the waiting, and which mode is held then. And
 * helpers that end while a conversion is under way.
 */
#include <pthread.h>
#include <sys/epoll.h>

#include "convert_fixture.h"

/** struct waiter - a thread of the program that waits for EX */
struct waiter {
	pthread_t thread;
	int fd, result;
	uint64_t timeout_ns;
	struct bftm_convert arg;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->result = convert(w->fd, EX, 0, w->timeout_ns, &w->arg);
	return NULL;
}

/* The helper has pulled its request: so it waits, or is about to. */
static void start_waiter(struct waiter *w, struct bftm_nl *nl, struct seen *ret)
{
	fcntl(w->fd, F_SETFL, 0);
	pthread_create(&w->thread, NULL, wait_in_thread, w);
	while (pull(nl, ret))
		sched_yield();
}

static int end_waiter(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->result;
}

#define START(w)	start_waiter(w, &self->nl, &self->pulled)
/* The helper is told that the mode that is held is all. */
#define GIVES_UP(mode_) do {					\
	struct seen s_;						\
	PULL(&s_);						\
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s_.kind);	\
	EXPECT_EQ(mode_, s_.mode);				\
	EXPECT_EQ(mode_, s_.goal);				\
	EXPECT_EQ(0, s_.conversion);				\
	EXPECT_EQ(-ECANCELED, REPORT(self->pulled.conversion, 0, self->end + SEC, 0)); \
	IS_HELD(mode_, 0);					\
} while (0)

TEST_F(convert, waits_for_the_report)
{
	struct waiter w = { .fd = self->fd };

	HOLD(PR, 0);
	START(&w);
	EXPECT_EQ(PR, self->pulled.mode);
	EXPECT_EQ(EX, self->pulled.goal);
	ASSERT_EQ(0, REPORT(1, 0, self->end + SEC, 0));
	EXPECT_EQ(0, end_waiter(&w));
	EXPECT_EQ(self->end + SEC, w.arg.deadline_ns);
	EXPECT_EQ(0, w.arg.token);
	EXPECT_EQ(sizeof(w.arg), w.arg.size);
	IS_HELD(EX, 0);
	/* The call that is over blocks no other. */
	ASSERT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
}

TEST_F(convert, waits_for_a_failure)
{
	struct waiter w = { .fd = self->fd };

	HOLD(PR, 0);
	START(&w);
	ASSERT_EQ(0, REPORT(1, EDEADLK, 0, 0));
	EXPECT_EQ(-EDEADLK, end_waiter(&w));
	EXPECT_EQ(0, w.arg.deadline_ns);
	IS_HELD(PR, 0);
}

TEST_F(convert, one_call_waits_at_a_time)
{
	struct waiter w = { .fd = self->fd };

	HOLD(PR, 0);
	START(&w);
	EXPECT_EQ(-EBUSY, convert(self->fd, EX, 0, 0, NULL));
	EXPECT_EQ(-EBUSY, convert(self->fd, CR, 0, 0, NULL));
	IS_HELD(PR, 0);
	ASSERT_EQ(0, REPORT(1, 0, self->end, 0));
	EXPECT_EQ(0, end_waiter(&w));
	IS_HELD(EX, 0);
}

/* Of O_NONBLOCK, and of a call that waits. */
TEST_F(convert, wait_takes_the_place_of_one_that_nobody_waits_for)
{
	struct waiter w = { .fd = self->fd };

	HOLD(PR, 0);
	ASK(PW, 0, 0);
	PULL(&self->pulled);
	START(&w);
	EXPECT_EQ(2, self->pulled.conversion);
	EXPECT_EQ(-ECANCELED, REPORT(1, 0, self->end, 0));
	ASSERT_EQ(0, REPORT(2, 0, self->end, 0));
	EXPECT_EQ(0, end_waiter(&w));
	IS_HELD(EX, 0);
}

static void on_signal(int signo)
{
	(void)signo;
}

TEST_F(convert, signal_gives_up)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct waiter w = { .fd = self->fd };

	sigaction(SIGUSR1, &action, NULL);
	HOLD(PR, 0);
	START(&w);
	pthread_kill(w.thread, SIGUSR1);
	EXPECT_EQ(-EINTR, end_waiter(&w));
	EXPECT_EQ(EINTR, status_of(self->fd).error);
	GIVES_UP(PR);
}

/* The helper's time is up, and a second more. */
TEST_F(convert, time_limit_needs_no_helper)
{
	struct waiter w = { .fd = self->fd, .timeout_ns = 100 * MS };
	uint64_t begin = now_ns();

	HOLD(PR, 0);
	START(&w);
	EXPECT_EQ(-ETIMEDOUT, end_waiter(&w));
	EXPECT_GE(now_ns(), begin + 100 * MS);
	EXPECT_EQ(ETIMEDOUT, status_of(self->fd).error);
	GIVES_UP(PR);
	/* Of one that nobody waits for. */
	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	ASK(EX, 0, 1);
	PULL(&self->pulled);
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(ETIMEDOUT, status_of(self->fd).error);
	GIVES_UP(PR);
}

TEST_F(convert, release_ends_the_wait)
{
	struct waiter w = { .fd = self->fd };
	struct seen s;

	HOLD(PR, 0);
	START(&w);
	EXPECT_EQ(0, release(self->fd));
	EXPECT_EQ(-ECANCELED, end_waiter(&w));
	EXPECT_EQ(-ESTALE, REPORT(1, 0, self->end, 0));
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	NO_REQUEST;
}

TEST_F(convert, lease_ends_the_wait)
{
	struct waiter w = { .fd = self->fd };

	self->end = now_ns() + 300 * MS;
	HOLD(PR, 0);
	START(&w);
	EXPECT_EQ(-EKEYEXPIRED, end_waiter(&w));
	EXPECT_GT(now_ns(), self->end);
	EXPECT_EQ(-ESTALE, REPORT(1, 0, now_ns() + SEC, 0));
	EXPECT_EQ(PR, status_of(self->fd).mode);
}

TEST_F(convert, next_helper_goes_on)
{
	struct waiter w = { .fd = self->fd };
	struct seen s;
	int i;

	HOLD(PR, 0);
	START(&w);
	/* One that has pulled it, and one that has not. */
	for (i = 0; i < 3; i++) {
		take_over(&self->nl);
		if (i == 1)
			continue;
		PULL(&s);
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
		EXPECT_EQ(self->id, s.id);
		EXPECT_EQ(5, s.attempt);
		EXPECT_EQ(PR, s.mode);
		EXPECT_EQ(EX, s.goal);
		EXPECT_EQ(1, s.conversion);
		NO_REQUEST;
	}
	ASSERT_EQ(0, REPORT(1, 0, self->end, 0));
	EXPECT_EQ(0, end_waiter(&w));
	IS_HELD(EX, 0);
}

/* The last one did not hear that a mode is given up. */
TEST_F(convert, next_helper_hears_of_the_mode)
{
	struct seen s;

	HOLD(EX, 0);
	ASSERT_EQ(0, convert(self->fd, CW, 0, 0, NULL));
	take_over(&self->nl);
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
	EXPECT_EQ(CW, s.mode);
	EXPECT_EQ(CW, s.goal);
	EXPECT_EQ(0, s.conversion);
	/* The one after it has nothing to do. */
	take_over(&self->nl);
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
	EXPECT_EQ(CW, s.mode);
	NO_REQUEST;
}

TEST_F(convert, ends_without_a_helper)
{
	struct waiter w = { .fd = self->fd };

	HOLD(PR, 0);
	START(&w);
	bftm_nl_close(&self->nl);
	EXPECT_EQ(-ENOTCONN, end_waiter(&w));
	IS_HELD(PR, 0);
	/* Nobody would tell servers, so what is covered is not given up either. */
	EXPECT_EQ(-ENOTCONN, convert(self->fd, EX, 0, 0, NULL));
	EXPECT_EQ(-ENOTCONN, convert(self->fd, CR, 0, 0, NULL));
	IS_HELD(PR, 0);
	EXPECT_EQ(0, release(self->fd));
}

/* It may come back in a moment, so this waits for it. */
TEST_F(convert, begun_between_two_helpers)
{
	HOLD(PR, 0);
	bftm_nl_close(&self->nl);
	ASK(EX, 0, 0);
	ASSERT_EQ(0, convert(self->fd, CR, 0, 0, NULL));
	ASK(EX, 0, 0);
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(ENOTCONN, status_of(self->fd).error);
	IS_HELD(CR, 0);
}

/* select() counts the word that somebody waits as "readable", and must not end for it. */
TEST_F(convert, who_waits_for_it_is_told_of_nothing_else)
{
	struct epoll_event event = { .events = EPOLLRDBAND };
	int watch = epoll_create1(0), i;
	struct seen s;

	HOLD(PR, 0);
	ASK(EX, 0, 0);
	PULL(&s);
	EXPECT_EQ(0, wanted(&self->nl, self->id, PR));
	EXPECT_EQ(0, poll_for(self->fd, POLLIN | POLLRDBAND, 0));
	ASSERT_EQ(0, epoll_ctl(watch, EPOLL_CTL_ADD, self->fd, &event));
	EXPECT_EQ(0, epoll_wait(watch, &event, 1, 0));
	/* It fails, and then it is replaced: both end the wait. */
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, i ? convert(self->fd, PR, 0, 0, NULL) :
				 REPORT(s.conversion, EDEADLK, 0, 0));
		EXPECT_EQ(1, epoll_wait(watch, &event, 1, 0));
		EXPECT_EQ(POLLIN | POLLRDBAND, poll_for(self->fd, POLLIN | POLLRDBAND, 0));
		ASK(EX, 0, 0);
		EXPECT_EQ(0, epoll_wait(watch, &event, 1, 0));
		PULL(&s);
	}
	close(watch);
}

TEST_HARNESS_MAIN
