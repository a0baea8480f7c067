// SPDX-License-Identifier: GPL-2.0
/*
 * Several locks for one command, with pipes as handles: what happens to locks between the calls of
 * bftmutex(1), while it is stopped or its host sleeps.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "run/refused.h"
#include "run/several.h"

#define LOCKS 3

static struct bftm_taken locks[LOCKS] = {
	{ .name = "a", .shown = "a" }, { .name = "b", .shown = "b" }, { .name = "c", .shown = "c" },
};
static struct bftm_status status[LOCKS];
static int far_end[LOCKS];
static u64 now_ns;
/* Of the next acquires: what each of them takes, and which lock is lost by the last one. */
static u64 each_ns;
static int loses;
static u32 asked;
static u64 asked_ns;

uint64_t bftm_boottime(void)
{
	return now_ns;
}

const char *bftm_lost_why(uint32_t reason)
{
	return reason == BFTM_LOST_EVICTED ? " lost: evicted" : NULL;
}

int bftm_refused(const struct options *o, int fd, int err)
{
	(void)o;
	(void)fd;
	return -err;
}

int bftmutex_set_signal(int fd, int signo, uint64_t margin_ns)
{
	(void)fd;
	(void)signo;
	(void)margin_ns;
	return 0;
}

static u32 of(int fd)
{
	u32 i;

	for (i = 0; locks[i].fd != fd; i++)
		;
	return i;
}

int bftmutex_acquire(int fd, const void *name, size_t len, const struct bftmutex_options *options,
		     struct bftmutex_grant *ret)
{
	(void)name;
	(void)len;
	(void)ret;
	asked_ns = options->timeout_ns;
	now_ns += each_ns;
	status[of(fd)].state = BFTM_STATE_HELD;
	assert_int_equal(write(far_end[of(fd)], "", 1), 1);
	if (++asked == LOCKS && loses >= 0) {
		/* Its deadline is in the future, as that of a lock without a lease always is. */
		status[loses].state = BFTM_STATE_LOST;
		status[loses].reason = BFTM_LOST_EVICTED;
	}
	return -EINPROGRESS;
}

int bftmutex_status(int fd, struct bftm_status *ret)
{
	*ret = status[of(fd)];
	return 0;
}

static void nothing(const struct options *o, const struct bftm_taken *lock)
{
	(void)o;
	(void)lock;
}

/* The exit status, or -1 when all are held. */
static int take(u64 wait_ns)
{
	const struct options o = {
		.lock.timeout_ns = wait_ns, .wait = "some", .verbose = true, .conflict_code = 1,
		.lost_code = 79,
	};
	struct bftmutex_grant grant[LOCKS];
	int fds[2], ret = -1;
	u32 i;

	for (i = 0; i < LOCKS; i++) {
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		locks[i].fd = fds[0];
		far_end[i] = fds[1];
		status[i] = (struct bftm_status){ .deadline_ns = BFTM_LEASE_NONE };
	}
	asked = 0;
	now_ns = 1000;
	bftm_several_take(&o, locks, LOCKS, nothing, grant, &ret);
	for (i = 0; i < LOCKS; i++) {
		close(locks[i].fd);
		close(far_end[i]);
	}
	return ret;
}

static void a_lock_that_was_lost_when_the_last_one_came_starts_nothing(void **state)
{
	(void)state;
	each_ns = 0;
	for (loses = -1; loses < LOCKS; loses++)
		assert_int_equal(take(0), loses < 0 ? -1 : 79);
	loses = -1;
}

static void a_lock_that_comes_after_the_limit_is_not_held(void **state)
{
	(void)state;
	each_ns = 10;
	assert_int_equal(take(0), -1);
	assert_int_equal(take(31), -1);
	assert_int_equal(asked_ns, 11);
	assert_int_equal(take(30), 1);
	assert_int_equal(asked, 3);
	assert_int_equal(take(20), 1);
	assert_int_equal(asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_that_was_lost_when_the_last_one_came_starts_nothing),
		cmocka_unit_test(a_lock_that_comes_after_the_limit_is_not_held),
	};

	return cmocka_run_group_tests_name("several", tests, NULL, NULL);
}
