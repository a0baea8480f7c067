// SPDX-License-Identifier: GPL-2.0
/* Conversions that are asked for wrongly, and reports that are wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "convert_fixture.h"
#include "lib/libbftmutex.h"

TEST_F(convert, arguments)
{
	struct bftm_convert good = { .size = sizeof(good), .mode = CR }, bad;

	HOLD(PR, 0);
#define REFUSED(field, value) do {					\
	bad = good;							\
	bad.field = value;						\
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_CONVERT, &bad)) {	\
		TH_LOG("%s = %s", #field, #value);			\
	}								\
} while (0)
	REFUSED(size, sizeof(good) - 1);
	REFUSED(mode, BFTM_LOCK_NL);
	REFUSED(mode, BFTM_LOCK_NL + 1);
	REFUSED(mode, UINT32_MAX);
	REFUSED(reserved, 1);
	REFUSED(deadline_ns, 1);
	REFUSED(token, 1ull << 63);
	REFUSED(flags, BFTM_RENEW);
	REFUSED(flags, UINT32_MAX);
	for (int bit = 4; bit < 32; bit++)
		REFUSED(flags, 1u << bit);
	NO_REQUEST;
	IS_HELD(PR, 0);
	bad = good;
	ASSERT_EQ(0, call(self->fd, BFTM_IOC_CONVERT, &bad));
	EXPECT_EQ(self->end, bad.deadline_ns);
	IS_HELD(CR, 0);
}

/* The conversion is done; only the answer has no place. */
TEST_F(convert, argument_that_cannot_be_written)
{
	struct bftm_convert arg = { .size = sizeof(arg), .mode = PR };
	void *page = mmap(NULL, sizeof(arg), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, &arg, sizeof(arg));
	ASSERT_EQ(0, mprotect(page, sizeof(arg), PROT_READ));
	HOLD(EX, 0);
	EXPECT_EQ(-EFAULT, call(self->fd, BFTM_IOC_CONVERT, page));
	IS_HELD(PR, 0);
	munmap(page, sizeof(arg));
}

TEST_F(convert, of_nothing)
{
	EXPECT_EQ(-ENOLCK, convert(self->fd, CR, 0, 0, NULL));
	self->id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ENOLCK, convert(self->fd, CR, 0, 0, NULL));
	ASSERT_EQ(0, done(&self->nl, self->id, EIO, NONE, NONE));
	EXPECT_EQ(-ENOLCK, convert(self->fd, CR, 0, 0, NULL));
	NO_REQUEST;
	self->end = now_ns() + 50 * MS;
	HOLD(PR, 0);
	sleep_until(self->end + 1);
	EXPECT_EQ(-EKEYEXPIRED, convert(self->fd, CR, 0, 0, NULL));
	EXPECT_EQ(PR, status_of(self->fd).mode);
	EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
	EXPECT_EQ(-ENOLCK, convert(self->fd, CR, 0, 0, NULL));
}

TEST_F(convert, bad_reports_change_nothing)
{
	const uint64_t hour = 3600 * SEC, end = self->end + SEC;
	struct bftm_nl other;
	uint64_t pending;
	struct seen s;
	int fd;

	HOLD(PR, 0);
	EXPECT_EQ(-ECANCELED, REPORT(1, 0, end, 0));
	ASK(EX, 0, 0);
	PULL(&s);
	EXPECT_EQ(-EINVAL, converted(&self->nl, 0, 1, 0, end, 0));
	EXPECT_EQ(-ESTALE, converted(&self->nl, self->id + 1, 1, 0, end, 0));
	EXPECT_EQ(-EINVAL, REPORT(0, 0, end, 0));
	EXPECT_EQ(-EINVAL, REPORT(1, 0, 0, 0));
	EXPECT_EQ(-EINVAL, REPORT(1, EDEADLK, end, 0));
	EXPECT_EQ(-ECANCELED, REPORT(2, 0, end, 0));
	EXPECT_EQ(-ECANCELED, REPORT(2, EDEADLK, 0, 0));
	EXPECT_EQ(-ECANCELED, REPORT(UINT32_MAX, 0, end, 0));
	EXPECT_EQ(-ERANGE, REPORT(1, 512, 0, 0));
	EXPECT_EQ(-ERANGE, REPORT(1, UINT32_MAX, 0, 0));
	EXPECT_EQ(-ERANGE, REPORT(1, 0, now_ns() + hour + 60 * SEC, 0));
	EXPECT_EQ(-ERANGE, REPORT(1, 0, UINT64_MAX, 0));
	ASSERT_EQ(0, bftm_nl_open(&other));
	EXPECT_EQ(-EPERM, converted(&other, self->id, 1, 0, end, 0));
	bftm_nl_close(&other);
	fd = open_here(O_NONBLOCK);
	pending = pulled(&self->nl, fd, "pending");
	EXPECT_EQ(-ESTALE, converted(&self->nl, pending, 1, 0, end, 0));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(fd));
	close(fd);
	IS_HELD(PR, 0);
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	EXPECT_EQ(0, REPORT(1, 0, end, 0));
}

static void on_alarm(int signo)
{
}

/* Without a limit: it does not wait for what cannot come. */
TEST_F(convert, nobody_waits_for_what_is_not_held)
{
	/* Only a call that hangs sees the alarm. */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
	alarm(30);
	EXPECT_EQ(0, bftmutex_wanted(self->fd, UINT64_MAX));
	self->id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(0, bftmutex_wanted(self->fd, UINT64_MAX));
	ASSERT_EQ(0, done(&self->nl, self->id, 0, 5, self->end));
	EXPECT_EQ(0, wanted(&self->nl, self->id, EX));
	EXPECT_EQ(1, bftmutex_wanted(self->fd, UINT64_MAX));
	EXPECT_EQ(-EBADF, bftmutex_wanted(-1, 0));
	alarm(0);
}

/** struct waiter - a thread that waits for others, without a limit */
struct waiter {
	int fd;
	atomic_int tid;
	int result;
};

static void *wait_for_others(void *arg)
{
	struct waiter *w = arg;

	w->tid = gettid();
	w->result = bftmutex_wanted(w->fd, UINT64_MAX);
	return NULL;
}

/* The kernel tells the system call of a thread that sleeps in one, and else "running". */
static bool sleeps(int tid)
{
	char path[64], first = 'r';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = tid ? fopen(path, "r") : NULL;
	if (!file)
		return false;
	first = (char)fgetc(file);
	fclose(file);
	return first >= '0' && first <= '9';
}

TEST_F(convert, a_release_ends_the_wait_for_others)
{
	struct waiter w = { .fd = self->fd, .result = -1 };
	struct timespec limit;
	pthread_t thread;

	HOLD(EX, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_others, &w));
	while (!sleeps(w.tid))
		sched_yield();
	ASSERT_EQ(0, release(self->fd));
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 30;
	ASSERT_EQ(0, pthread_timedjoin_np(thread, NULL, &limit));
	EXPECT_EQ(0, w.result);
}

TEST_HARNESS_MAIN
