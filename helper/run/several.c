// SPDX-License-Identifier: GPL-2.0
/*
 * Several locks for one command. They are asked for by handles that do not block, so that one
 * poll() sees both the lock that is waited for and the end of those that are held.
 */
#include "run/several.h"
#include "run/refused.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

/**
 * struct taking - locks that are being taken
 * @o:        the command line
 * @locks:    all locks
 * @order:    indices of @locks in the order in which they are taken
 * @waiting:  called before each of them
 * @held:     number of @order that are held
 * @start_ns: begin of the time limit
 * @status:   exit status after a failure
 */
struct taking {
	const struct options *o;
	const struct bftm_taken *locks;
	unsigned int order[BFTM_SEVERAL_MAX];
	void (*waiting)(const struct options *o, const struct bftm_taken *lock);
	unsigned int held;
	u64 start_ns;
	int status;
};

void bftm_several_order(const struct bftm_taken *locks, unsigned int count,
			unsigned int ret[BFTM_SEVERAL_MAX])
{
	unsigned int i, at;

	for (i = 0; i < count; i++) {
		for (at = i; at && strcmp(locks[ret[at - 1]].name, locks[i].name) > 0; at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
	}
}

static const struct bftm_taken *taking_at(const struct taking *t, unsigned int i)
{
	return &t->locks[t->order[i]];
}

static bool taking_failed(struct taking *t, const struct bftm_taken *lock, int err)
{
	struct options one = *t->o;

	one.name = lock->name;
	one.shown = lock->shown;
	t->status = bftm_refused(&one, lock->fd, err);
	return false;
}

/* Is --wait over before @lock is @what? */
static bool taking_late(struct taking *t, const struct bftm_taken *lock, const char *what)
{
	u64 limit_ns = t->o->lock.timeout_ns;

	if (!limit_ns || bftm_boottime() - t->start_ns < limit_ns)
		return false;
	if (t->o->verbose)
		warnx("lock '%s': --wait %s was over before it was %s", lock->shown,
		      t->o->wait, what);
	t->status = t->o->conflict_code;
	return true;
}

static bool taking_lost(struct taking *t, const struct bftm_taken *lock)
{
	const struct bftm_taken *next = taking_at(t, t->held);
	struct bftm_status status = {};
	const char *why;

	t->status = t->o->lost_code;
	if (!bftmutex_status(lock->fd, &status) && status.state == BFTM_STATE_HELD) {
		warnx("lock '%s': its lease ends in less than --margin %s, while lock '%s' is waited for",
		      lock->shown, t->o->margin, next->shown);
		return false;
	}
	why = bftm_lost_why(status.reason);
	warnx("lock '%s'%s, while lock '%s' was waited for", lock->shown,
	      why ? why : " lost: its lease ended", next->shown);
	return false;
}

/* Waits until the next lock is decided. */
static bool taking_wait(struct taking *t)
{
	struct pollfd fds[BFTM_SEVERAL_MAX];
	unsigned int i;

	/* A held lock shows POLLIN all the time. */
	for (i = 0; i < t->held; i++)
		fds[i] = (struct pollfd){ .fd = taking_at(t, i)->fd,
					  .events = t->o->margin ? POLLPRI : 0 };
	fds[i] = (struct pollfd){ .fd = taking_at(t, i)->fd, .events = POLLIN };
	do {
		/* A signal either ends this process or was a stop. */
		if (poll(fds, i + 1, -1) < 0 && errno != EINTR)
			return taking_failed(t, taking_at(t, i), -errno);
		for (i = 0; i < t->held; i++)
			if (fds[i].revents)
				return taking_lost(t, taking_at(t, i));
	} while (!fds[i].revents);
	return true;
}

static int taking_ask(const struct taking *t)
{
	const struct bftm_taken *lock = taking_at(t, t->held);
	struct bftmutex_options ask = t->o->lock;
	u64 end_ns = t->start_ns + ask.timeout_ns, now = bftm_boottime();

	if (ask.timeout_ns)
		ask.timeout_ns = now < end_ns ? end_ns - now : 1;
	if (t->o->margin) {
		int r = bftmutex_set_signal(lock->fd, 0, t->o->margin_ns);

		if (r < 0)
			return r;
	}
	if (fcntl(lock->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return bftmutex_acquire(lock->fd, lock->name, strlen(lock->name), &ask, NULL);
}

static bool taking_next(struct taking *t)
{
	const struct bftm_taken *lock = taking_at(t, t->held);
	struct bftm_status status = {};
	int r;

	t->waiting(t->o, lock);
	if (taking_late(t, lock, "asked for"))
		return false;
	r = taking_ask(t);
	if (r < 0 && r != -EINPROGRESS)
		return taking_failed(t, lock, r);
	if (!taking_wait(t))
		return false;
	r = bftmutex_status(lock->fd, &status);
	if (r < 0 || status.state == BFTM_STATE_FAILED)
		return taking_failed(t, lock, r < 0 ? r : -status.error);
	/* The command may inherit it, and expects requests that block. */
	if (fcntl(lock->fd, F_SETFL, 0) < 0)
		return taking_failed(t, lock, -errno);
	if (status.state != BFTM_STATE_HELD) {
		warnx("lock '%s' lost: its lease was over at once", lock->shown);
		t->status = t->o->lost_code;
		return false;
	}
	/* While this process is stopped or its host sleeps, the lock may be granted. */
	if (taking_late(t, lock, "held"))
		return false;
	t->held++;
	return true;
}

/* Before the command: a renewal may have moved the deadline of a lock, or its lease has ended. */
static bool taking_grant(struct taking *t, const struct bftm_taken *lock,
			 struct bftmutex_grant *ret)
{
	struct bftm_status status = {};
	const char *why;
	int r = bftmutex_status(lock->fd, &status);

	if (r < 0)
		return taking_failed(t, lock, r);
	if (status.state != BFTM_STATE_HELD) {
		why = bftm_lost_why(status.reason);
		warnx("lock '%s'%s before the command", lock->shown,
		      why ? why : " lost: its lease ended");
		t->status = t->o->lost_code;
		return false;
	}
	*ret = (struct bftmutex_grant){
		.deadline_ns = status.deadline_ns,
		.token = status.token,
		.attempts = status.attempts,
	};
	return true;
}

bool bftm_several_take(const struct options *o, const struct bftm_taken *locks, unsigned int count,
		       void (*waiting)(const struct options *o, const struct bftm_taken *lock),
		       struct bftmutex_grant *ret_grant, int *ret_status)
{
	struct taking t = {
		.o = o, .locks = locks, .waiting = waiting, .start_ns = bftm_boottime(),
	};
	unsigned int i;

	bftm_several_order(locks, count, t.order);
	while (t.held < count)
		if (!taking_next(&t))
			goto failed;
	for (i = 0; i < count; i++)
		if (!taking_grant(&t, &locks[i], &ret_grant[i]))
			goto failed;
	return true;

failed:
	*ret_status = t.status;
	return false;
}
