// SPDX-License-Identifier: GPL-2.0
/*
 * A program that gets the processor only when the lease that it waited for is over.
 *
 * We are the helper, and do not let it run: one processor for both, and a priority in real
 * time for us, until the lease that we have reported is over.
 */
#include <sched.h>
#include <sys/mman.h>

#include "selftests/module/device/harness.h"
#include "selftests/module/device/fake_helper.h"

#define SHORT	(3 * MS)
#define LONG	(50 * SEC)
#define SIGNO	(SIGRTMIN + 3)

/* Results of the program, in shared memory. */
struct got {
	int err;
	struct bftm_acquire arg;
};

FIXTURE(late)
{
	struct bftm_nl nl;
	int fd;
	struct got *got;
	struct bftm_acquire want;
	pid_t program;
};

static void on_signal(int signo)
{
	(void)signo;
}

FIXTURE_SETUP(late)
{
	struct sched_param first = { .sched_priority = 1 };
	struct sigaction action = { .sa_handler = on_signal };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(0);
	ASSERT_GE(self->fd, 0);
	self->got = mmap(NULL, sizeof(*self->got), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->got);
	self->want = want(new_name(), 0, 0, 0);
	self->program = 0;
}

FIXTURE_TEARDOWN(late)
{
	if (self->program > 0)
		kill(self->program, SIGKILL);
	close(self->fd);
	bftm_nl_close(&self->nl);
}

/* @margin_ns: the program asks for SIGNO, so much before the end; 0 for none at all */
static pid_t start(int fd, const struct bftm_acquire *arg, uint64_t margin_ns, struct got *got)
{
	/* One that is to come takes a while; what was sent before is there. */
	struct timespec patience = { .tv_sec = margin_ns < LONG ? 0 : LONG_MS / 1000 };
	sigset_t set;
	pid_t pid = fork();

	if (pid)
		return pid;
	sigemptyset(&set);
	sigaddset(&set, SIGNO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (margin_ns && set_signal(fd, SIGNO, margin_ns))
		_exit(1);
	got->arg = *arg;
	got->err = call(fd, BFTM_IOC_ACQUIRE, &got->arg);
	_exit(margin_ns && sigtimedwait(&set, NULL, &patience) == SIGNO ? 2 : 0);
}

/* Its next request: asleep until there is one, for it needs the processor. */
static uint64_t next(struct bftm_nl *nl, struct seen *ret)
{
	uint64_t end = now_ns() + LONG_MS * MS;

	while (pull(nl, ret) || ret->kind != BFTMUTEX_REQUEST_KIND_ACQUIRE) {
		if (now_ns() > end)
			return 0;
		sleep_ns(MS);
	}
	return ret->id;
}

/* A lease that is over before the program runs. */
static bool report_late(struct bftm_nl *nl, struct seen *s)
{
	uint64_t end;
	int err;

	/* Over before the kernel heard of it, when the machine stood still: asked for again. */
	do {
		end = now_ns() + SHORT;
		err = done(nl, s->id, NONE, 5, end);
	} while (err == -ESTALE && next(nl, s));
	/* Not asleep: nobody else is to have the processor. */
	while (now_ns() <= end + MS)
		;
	return !err;
}

/* The end of the program: its exit status. */
static int ended(pid_t *program)
{
	int status;

	if (waitpid(*program, &status, 0) != *program)
		return -1;
	*program = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(late, another_attempt)
{
	uint64_t end;
	struct seen s;
	int i;

	self->program = start(self->fd, &self->want, 0, self->got);
	for (i = 0; i < 3; i++) {
		ASSERT_NE(0, next(&self->nl, &s));
		EXPECT_EQ(0, s.timeout_at_ns);
		ASSERT_TRUE(report_late(&self->nl, &s));
	}
	ASSERT_NE(0, next(&self->nl, &s));
	end = now_ns() + LONG;
	ASSERT_EQ(0, done(&self->nl, s.id, NONE, 7, end));
	ASSERT_EQ(0, ended(&self->program));
	EXPECT_EQ(0, self->got->err);
	EXPECT_EQ(end, self->got->arg.deadline_ns);
	EXPECT_EQ(4 * 7, self->got->arg.attempts);
	EXPECT_EQ(0, self->got->arg.timeout_ns);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(late, the_time_limit_is_one_for_all)
{
	struct seen s;
	uint64_t first;

	self->want.timeout_ns = LONG;
	self->program = start(self->fd, &self->want, 0, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	first = s.timeout_at_ns;
	ASSERT_TRUE(report_late(&self->nl, &s));
	ASSERT_NE(0, next(&self->nl, &s));
	EXPECT_EQ(first, s.timeout_at_ns);
	ASSERT_EQ(0, done(&self->nl, s.id, NONE, 7, now_ns() + LONG));
	ASSERT_EQ(0, ended(&self->program));
	EXPECT_EQ(0, self->got->err);
	EXPECT_EQ(LONG, self->got->arg.timeout_ns);
}

TEST_F(late, the_time_limit_ends_it)
{
	struct seen s;

	self->want.timeout_ns = SHORT / 2;
	self->program = start(self->fd, &self->want, 0, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_TRUE(report_late(&self->nl, &s));
	ASSERT_EQ(0, ended(&self->program));
	EXPECT_EQ(-ETIMEDOUT, self->got->err);
}

TEST_F(late, a_signal_ends_it)
{
	struct seen s;

	self->program = start(self->fd, &self->want, 0, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_TRUE(report_late(&self->nl, &s));
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_EQ(0, kill(self->program, SIGUSR1));
	ASSERT_EQ(0, ended(&self->program));
	EXPECT_EQ(-EINTR, self->got->err);
}

/* A program that asks once gets the result of this one acquire. */
TEST_F(late, not_with_try)
{
	struct seen s;

	self->want.flags = BFTM_TRY;
	self->program = start(self->fd, &self->want, 0, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_TRUE(report_late(&self->nl, &s));
	ASSERT_EQ(0, ended(&self->program));
	EXPECT_EQ(-EKEYEXPIRED, self->got->err);
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
}

/* A signal tells of what a program has; "bftmutex -F" would die of any other. */
TEST_F(late, no_signal_for_what_it_never_had)
{
	struct seen s;

	self->program = start(self->fd, &self->want, MS, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_TRUE(report_late(&self->nl, &s));
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_EQ(0, done(&self->nl, s.id, NONE, 7, now_ns() + LONG));
	EXPECT_EQ(0, ended(&self->program));
	EXPECT_EQ(0, self->got->err);
}

/* The margin that was reached before it ran is announced when it has the lock. */
TEST_F(late, the_margin_is_announced_later)
{
	struct seen s;

	self->program = start(self->fd, &self->want, LONG, self->got);
	ASSERT_NE(0, next(&self->nl, &s));
	ASSERT_EQ(0, done(&self->nl, s.id, NONE, 7, now_ns() + LONG / 2));
	EXPECT_EQ(2, ended(&self->program));
	EXPECT_EQ(0, self->got->err);
	EXPECT_NE(0, poll_now(self->fd) & POLLPRI);
}

TEST_HARNESS_MAIN
