// SPDX-License-Identifier: GPL-2.0
/*
 * The handles are watched by epoll(7), which forgets a file when its last descriptor in any process
 * is closed: when the command has ended, the keeper closes its own, and /proc/self/fdinfo tells
 * whether other processes keep a lock.
 */
#include "run/keeping.h"
#include "lib/libbftmutex.h"
#include "run/run.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sysexits.h>

const char *bftm_lost_why(uint32_t reason)
{
	switch (reason) {
	case BFTM_LOST_NOT_RENEWED:
		return " lost: its lease ended before enough servers had renewed it";
	case BFTM_LOST_NO_HELPER:
		return " lost: its lease ended, and bftmutexd, which renews it, is not running";
	case BFTM_LOST_SUSPENDED:
		return " lost: the machine was put to sleep";
	case BFTM_LOST_RESTORED:
		return " lost: this virtual machine was cloned, or set back to an earlier state";
	case BFTM_LOST_EVICTED:
		return " lost: servers have evicted this host, and another one may have the lock";
	}
	return NULL;
}

void bftm_keeper_lost(struct bftm_keeping *k, const struct bftm_taken *lock)
{
	struct bftm_status status = {};
	const char *why;

	if (k->closed || bftmutex_status(lock->fd, &status))
		status.reason = BFTM_LOST_NOT;
	why = bftm_lost_why(status.reason);
	if (!why)
		why = k->stage == LEFT ? " lost: its lease ended while processes of the command still ran" :
					 " lost: its lease ended before the command";
	k->name = lock->shown;
	k->lost = true;
	if (k->stage < ENDING)
		bftm_keeper_terminate(k, why);
	else
		say(k, "%s", why);
}

/* The lock is not lost yet, but was not renewed in time: end the command before it is lost. */
static void on_margin(struct bftm_keeping *k, const struct bftm_taken *lock)
{
	char why[128];

	if (k->margin)
		return;
	k->name = lock->shown;
	k->margin = true;
	if (k->stage >= ENDING)
		return;
	snprintf(why, sizeof(why), ": its lease ends in less than --margin %s", k->run->margin);
	bftm_keeper_terminate(k, why);
}

void bftm_keeper_look(struct bftm_keeping *k)
{
	struct epoll_event event;
	const struct bftm_taken *lock;

	while (k->epoll >= 0 && !k->lost && epoll_wait(k->epoll, &event, 1, 0) > 0) {
		lock = &k->run->locks[event.data.u32];
		if (event.events & ~(uint32_t)EPOLLPRI)
			bftm_keeper_lost(k, lock);
		else
			on_margin(k, lock);
	}
}

/* Does any process have one of the handles, this one included? */
bool bftm_keeper_is_held(const struct bftm_keeping *k)
{
	char path[64], line[128];
	bool held = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", k->epoll);
	file = fopen(path, "re");
	/* Without /proc, assume that a descendant has it, if there is one. */
	if (!file)
		return true;
	while (!held && fgets(line, sizeof(line), file))
		held = !strncmp(line, "tfd:", 4);
	fclose(file);
	return held;
}

void bftm_keeper_watch(struct bftm_keeping *k)
{
	/* Edge-triggered: after the margin, only the end of the lease may wake the keeper. */
	struct epoll_event event = {
		.events = EPOLLET | (k->run->margin ? EPOLLPRI : 0),
	};

	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0)
		err(EX_OSERR, "epoll");
	for (; event.data.u32 < k->run->count; event.data.u32++)
		if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->run->locks[event.data.u32].fd, &event))
			err(EX_OSERR, "epoll");
}
