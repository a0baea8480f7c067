// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/lease.h"
#include "loop/clock.h"
#include "loop/loop.h"

static int timer_compare(const struct bftm_timer *a, const struct bftm_timer *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

RB_HEAD(timers, bftm_timer);
BFTM_TREE(timers, bftm_timer, node, timer_compare)

static struct timers timers = RB_INITIALIZER(&timers);
static u64 turn_ns;	/* when the turn began */
static int epoll_fd = -1;
static int timer_fd = -1;

static bool stopping;

u64 bftm_now(void)
{
	return bftm_clock_ns();
}

static int timer_add(int fd, void *ptr)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = ptr };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int bftm_loop_init(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (epoll_fd < 0 || timer_fd < 0)
		return -errno;
	return timer_add(timer_fd, NULL);
}

int bftm_watch_add(struct bftm_watch *watch)
{
	return timer_add(watch->fd, watch);
}

void bftm_watch_del(struct bftm_watch *watch)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

void bftm_timer_stop(struct bftm_timer *timer)
{
	if (timer->armed)
		RB_REMOVE(timers, &timers, timer);
	timer->armed = false;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	/* One that is due already keeps its place. */
	if (timer->armed && timer->at_ns <= turn_ns && at_ns <= bftm_now())
		return;
	bftm_timer_stop(timer);
	/* A timer for a time long ago waits for those that were due before. */
	timer->at_ns = at_ns > turn_ns ? at_ns : turn_ns;
	timer->armed = true;
	RB_INSERT(timers, &timers, timer);
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	u64 now = bftm_now();

	if (*last_ns && now - *last_ns < every_ns)
		return false;
	*last_ns = now;
	return true;
}

/*
 * Timers of one turn. Most of them send a request again that nobody has answered: the answers that
 * are here are read before more is sent. Else a daemon with thousands of locks to ask for would be
 * busy with sending, lose the answers that its socket has no room for, and never be done.
 */
#define FIRE_MOST 16

/* Return: are there more that are due? */
static bool fire_due(void)
{
	struct bftm_timer *timer;
	u32 fired = 0;

	turn_ns = bftm_now();
	while ((timer = RB_MIN(timers, &timers)) && timer->at_ns <= turn_ns) {
		if (fired++ >= FIRE_MOST)
			return true;
		bftm_timer_stop(timer);
		timer->fire(timer);
	}
	return false;
}

/*
 * The timer's descriptor is set before each turn, which also clears its expiry. It is not needed
 * while timers are due.
 */
static void set_alarm(bool due)
{
	struct bftm_timer *first = RB_MIN(timers, &timers);
	struct itimerspec at = {};
	u64 now, at_ns;

	if (first && !due) {
		now = bftm_now();
		at_ns = now + bftm_look_after(first->at_ns > now ? first->at_ns - now : 0);
		at_ns = bftm_clock_to_boottime(at_ns);
		at.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		at.it_value.tv_nsec = (long)(at_ns % 1000000000);
	}
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int bftm_loop_run(void)
{
	struct epoll_event event;
	bool due;
	int n;

	while (!stopping) {
		due = fire_due();
		if (stopping)
			break;
		set_alarm(due);
		/* One event a turn: a callback may close the descriptor of the next event. */
		n = epoll_wait(epoll_fd, &event, 1, due ? 0 : -1);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 1 && event.data.ptr) {
			struct bftm_watch *watch = event.data.ptr;

			watch->ready(watch);
		}
	}
	return 0;
}

void bftm_loop_stop(void)
{
	stopping = true;
}
