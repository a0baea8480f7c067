// SPDX-License-Identifier: GPL-2.0
/* SET_SIGNAL and POLLPRI: told at the margin, and at the loss. */
#include <sys/resource.h>

#include "handle.h"
#include "harness.h"

#define LEASE	(600 * MS)
#define MARGIN	(250 * MS)

static sigset_t all;

/* The next signal; 0 when none comes. */
static int next_signal(siginfo_t *info, uint64_t patience_ns)
{
	struct timespec patience = {
		.tv_sec = (time_t)(patience_ns / SEC),
		.tv_nsec = (long)(patience_ns % SEC),
	};
	int signo = sigtimedwait(&all, info, &patience);

	return signo < 0 ? 0 : signo;
}

FIXTURE(signal)
{
	int fd;
	int signo;
	uint64_t deadline_ns;
};

FIXTURE_SETUP(signal)
{
	self->fd = open_here(0);
	ASSERT_GE(self->fd, 0);
	/* Queued, so that each one is counted. */
	self->signo = SIGRTMIN + 3;
	sigemptyset(&all);
	sigaddset(&all, self->signo);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

FIXTURE_TEARDOWN(signal)
{
	close(self->fd);
}

static uint64_t hold(int fd, uint64_t lease_ns)
{
	struct bftm_acquire arg;

	return acquire(fd, new_name(), lease_ns, 0, &arg) ? 0 : arg.deadline_ns;
}

TEST_F(signal, at_the_loss)
{
	siginfo_t info;

	ASSERT_EQ(0, set_signal(self->fd, self->signo, 0));
	self->deadline_ns = hold(self->fd, LEASE);
	ASSERT_NE(0, self->deadline_ns);
	ASSERT_EQ(self->signo, next_signal(&info, LONG_MS * MS));
	EXPECT_GT(now_ns(), self->deadline_ns);
	EXPECT_EQ(EKEYEXPIRED, info.si_errno);
	EXPECT_EQ(SI_ASYNCIO, info.si_code);
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, at_the_margin_and_at_the_loss)
{
	ASSERT_EQ(0, set_signal(self->fd, self->signo, MARGIN));
	self->deadline_ns = hold(self->fd, LEASE);
	ASSERT_NE(0, self->deadline_ns);
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_GE(now_ns(), self->deadline_ns - MARGIN);
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_GT(now_ns(), self->deadline_ns);
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, for_every_lock_of_the_handle)
{
	int i;

	ASSERT_EQ(0, set_signal(self->fd, self->signo, 100 * MS));
	for (i = 0; i < 2; i++) {
		self->deadline_ns = hold(self->fd, 300 * MS);
		ASSERT_NE(0, self->deadline_ns);
		ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
		ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
		EXPECT_GT(now_ns(), self->deadline_ns);
		EXPECT_EQ(0, next_signal(NULL, 0));
	}
}

TEST_F(signal, margin_longer_than_the_lease)
{
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 3600 * SEC));
	self->deadline_ns = hold(self->fd, LEASE_MAX);
	ASSERT_NE(0, self->deadline_ns);
	/* At once, not at the end. */
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_NE(0, poll_now(self->fd) & POLLPRI);
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_GT(now_ns(), self->deadline_ns);
}

TEST_F(signal, not_after_a_release)
{
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 100 * MS));
	self->deadline_ns = hold(self->fd, LEASE_MAX);
	ASSERT_EQ(0, release(self->fd));
	sleep_until(self->deadline_ns + 50 * MS);
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, not_after_a_close)
{
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 100 * MS));
	self->deadline_ns = hold(self->fd, LEASE_MAX);
	ASSERT_EQ(0, close(self->fd));
	sleep_until(self->deadline_ns + 50 * MS);
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, zero_is_none_and_the_margin_is_still_polled)
{
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 0));
	ASSERT_EQ(0, set_signal(self->fd, 0, MARGIN));
	self->deadline_ns = hold(self->fd, LEASE);
	ASSERT_NE(0, self->deadline_ns);
	EXPECT_NE(0, poll_for(self->fd, POLLPRI, LONG_MS) & (POLLPRI | POLLHUP));
	EXPECT_GE(now_ns(), self->deadline_ns - MARGIN);
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, margin_is_polled_in_time)
{
	uint64_t before, after;
	int events;

	ASSERT_EQ(0, set_signal(self->fd, 0, MARGIN));
	self->deadline_ns = hold(self->fd, LEASE);
	ASSERT_NE(0, self->deadline_ns);
	do {
		before = now_ns();
		events = poll_now(self->fd);
		after = now_ns();
		if (events & POLLPRI) {
			ASSERT_GE(after, self->deadline_ns - MARGIN);
			ASSERT_LE(before, self->deadline_ns);
		} else {
			ASSERT_TRUE(before <= self->deadline_ns - MARGIN ||
				    after > self->deadline_ns);
		}
	} while (before <= self->deadline_ns);
	/* A lease that is over needs no warning. */
	EXPECT_EQ(POLLIN | POLLHUP, events);
}

TEST_F(signal, set_while_held)
{
	self->deadline_ns = hold(self->fd, LEASE);
	ASSERT_NE(0, self->deadline_ns);
	ASSERT_EQ(0, set_signal(self->fd, self->signo, MARGIN));
	if (state_of(self->fd) == BFTM_STATE_LOST)
		SKIP(return, "the machine slept for a lease");
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_GE(now_ns(), self->deadline_ns - MARGIN);
	ASSERT_EQ(self->signo, next_signal(NULL, LONG_MS * MS));
	EXPECT_GT(now_ns(), self->deadline_ns);
}

TEST_F(signal, set_after_the_loss_is_too_late)
{
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 0));
	EXPECT_EQ(0, next_signal(NULL, 100 * MS));
}

/* The same as for F_SETSIG. A signal that is no real-time signal needs no room. */
TEST_F(signal, that_finds_no_room_is_sigio)
{
	struct rlimit none = { 0, 0 };
	siginfo_t info;

	sigaddset(&all, SIGIO);
	sigaddset(&all, SIGUSR1);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ASSERT_EQ(0, setrlimit(RLIMIT_SIGPENDING, &none));
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 0));
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	ASSERT_EQ(SIGIO, next_signal(&info, LONG_MS * MS));
	EXPECT_EQ(SI_KERNEL, info.si_code);
	EXPECT_EQ(0, next_signal(NULL, 0));
	ASSERT_EQ(0, set_signal(self->fd, SIGUSR1, 0));
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	EXPECT_EQ(SIGUSR1, next_signal(NULL, LONG_MS * MS));
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, bad_arguments)
{
	struct bftm_signal arg = { .size = sizeof(arg), .reserved = 1 };

	EXPECT_EQ(0, set_signal(self->fd, 64, 0));
	EXPECT_EQ(-EINVAL, set_signal(self->fd, 65, 0));
	EXPECT_EQ(-EINVAL, set_signal(self->fd, 0xffffffff, 0));
	EXPECT_EQ(0, set_signal(self->fd, SIGUSR1, 3600 * SEC));
	EXPECT_EQ(-ERANGE, set_signal(self->fd, SIGUSR1, 3600 * SEC + 1));
	EXPECT_EQ(-ERANGE, set_signal(self->fd, SIGUSR1, UINT64_MAX));
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_SET_SIGNAL, &arg));
}

/* A child that has asked for the signal and waits for it. */
static pid_t child_asks(int fd, int signo)
{
	int done[2];
	char byte;
	pid_t pid;

	if (pipe(done) < 0)
		return -1;
	pid = fork();
	if (!pid) {
		set_signal(fd, signo, 0);
		close(done[0]);
		close(done[1]);
		_exit(next_signal(NULL, LONG_MS * MS) != signo);
	}
	close(done[1]);
	while (read(done[0], &byte, 1) > 0)
		;
	close(done[0]);
	return pid;
}

TEST_F(signal, goes_to_the_process_that_asked)
{
	pid_t pid = child_asks(self->fd, self->signo);
	int status;

	ASSERT_GT(pid, 0);
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, next_signal(NULL, 0));
}

TEST_F(signal, for_a_process_that_is_gone)
{
	pid_t pid = fork();

	if (!pid)
		_exit(set_signal(self->fd, self->signo, 100 * MS));
	waitpid(pid, NULL, 0);
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(0, next_signal(NULL, 0));
}

/*
 * The signal is sent with the rights at the time of asking, so it cannot reach a more privileged
 * process.
 */
TEST_F(signal, with_the_rights_of_the_asker)
{
	struct rlimit none = { 0, 0 };

	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	ASSERT_EQ(0, set_signal(self->fd, self->signo, 0));
	ASSERT_EQ(0, setresuid(0, 0, 0));
	/* Nor is SIGIO sent instead. */
	ASSERT_EQ(0, setrlimit(RLIMIT_SIGPENDING, &none));
	sigaddset(&all, SIGIO);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ASSERT_NE(0, hold(self->fd, 300 * MS));
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(0, next_signal(NULL, 100 * MS));
}

TEST_HARNESS_MAIN
