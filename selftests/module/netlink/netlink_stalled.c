// SPDX-License-Identifier: GPL-2.0
/*
 * A YIELD that was decided, and whose processor stands still before it is sent, while the lock goes
 * over to the helper. The helper counts a FREE of that server, which the YIELD would undo. Run by
 * stalled.sh: the module "stall" stops the processor at bftm_line_send().
 */
#include <pthread.h>
#include <sched.h>

#include "lend_fixture.h"

#define STALL "/sys/module/stall/parameters/"

static void set_stall(const char *path, char to)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &to, 1) != 1)
		abort();
	close(fd);
}

static bool is_stalled(void)
{
	int fd = open(STALL "stands", O_RDONLY | O_CLOEXEC);
	char c;

	if (fd < 0 || read(fd, &c, 1) != 1)
		abort();
	close(fd);
	return c == '1';
}

static void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

struct inquiry {
	lend_t *self;
	struct bftm_msg msg;
	struct sockaddr_in6 from;
	pthread_t thread;
};

/* The datagram is received by the processor that sends it, and the YIELD is sent there. */
static void *inquire(void *arg)
{
	struct inquiry *i = arg;

	run_on(1);
	say(i->self, 3, i->msg, BFTM_MSG_INQUIRE, &i->from, i->self->reply_mac);
	return NULL;
}

/* Return: 0, or at which step something else happened. The processor 1 stands. */
static int stall_yield(lend_t *self, struct inquiry *i)
{
	i->self = self;
	/* A long delta: nothing else is sent meanwhile. */
	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 2 * SEC;
	if (lend(self))
		return 1;
	if (begin(self, BFTM_RENEW) != -EINPROGRESS)
		return 2;
	if (told(self, 3, LONG_MS, &i->msg, &i->from) != BFTM_MSG_TRY)
		return 3;
	say(self, 3, i->msg, BFTM_MSG_FREE, &i->from, self->reply_mac);
	set_stall(STALL "armed", '1');
	if (pthread_create(&i->thread, NULL, inquire, i))
		return 4;
	while (!is_stalled())
		sched_yield();
	return 0;
}

/* The processor goes on. Return: what it sends to the server that has asked, 0 for nothing. */
static int go_on(struct inquiry *i)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;

	set_stall(STALL "stands", '0');
	pthread_join(i->thread, NULL);
	return told(i->self, 3, 0, &msg, &from);
}

static bool wins(lend_t *self)
{
	return !asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE) &&
	       poll_for(self->fd, POLLIN, LONG_MS) == POLLIN;
}

/* While the lock is the kernel's, the YIELD is only late. */
TEST_F(lend, a_late_yield_is_sent)
{
	struct inquiry i;

	run_on(0);
	ASSERT_EQ(0, stall_yield(self, &i));
	EXPECT_TRUE(wins(self));
	EXPECT_TRUE(is_stalled());
	EXPECT_EQ(BFTM_MSG_YIELD, go_on(&i));
}

TEST_F(lend, a_late_yield_is_not_sent_for_the_helper)
{
	struct inquiry i;

	run_on(0);
	ASSERT_EQ(0, stall_yield(self, &i));
	EXPECT_TRUE(wins(self));
	/* The mode held covers this one: the helper has the lock from now on. */
	EXPECT_EQ(0, convert(self->fd, BFTM_LOCK_PR, 0, 0, NULL));
	EXPECT_TRUE(is_stalled());
	EXPECT_EQ(0, go_on(&i));
}

static _Atomic pid_t lender;

static void *lend_again(void *self)
{
	run_on(0);
	lender = gettid();
	return (void *)(intptr_t)lend(self);
}

/* The line of before may be used until all processors have gone on: the thread waits for them. */
static void wait_for_lender(void)
{
	char path[64], stat[512], state = 0;
	int fd;

	while (!lender)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", lender);
	while (state != 'D') {
		ssize_t n;

		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
		if (n <= 0)
			abort();
		close(fd);
		stat[n] = 0;
		state = strrchr(stat, ')')[2];
		sched_yield();
	}
}

/* The numbers are skipped by a second line, which has the same counters. */
TEST_F(lend, nor_by_the_line_of_before)
{
	struct inquiry i;
	pthread_t thread;
	void *error;

	run_on(0);
	ASSERT_EQ(0, stall_yield(self, &i));
	EXPECT_TRUE(wins(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, lend_again, self));
	wait_for_lender();
	EXPECT_EQ(0, convert(self->fd, BFTM_LOCK_PR, 0, 0, NULL));
	EXPECT_TRUE(is_stalled());
	EXPECT_EQ(0, go_on(&i));
	pthread_join(thread, &error);
	EXPECT_EQ(NULL, error);
}

TEST_HARNESS_MAIN
