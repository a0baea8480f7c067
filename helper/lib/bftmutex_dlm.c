// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0
/*
 * Locks in the shape of libdlm, see bftmutex_dlm.h. Each lock is a handle of its own, which does
 * not block. Results that are there at once wait in a queue, so that callbacks are called by
 * bftmutex_dlm_dispatch() alone.
 */
#include "lib/bftmutex_dlm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#define EVENTS	64	/* looked at in one dispatch */

enum doing { NOTHING, ACQUIRING, CONVERTING };

/* struct dlm_caller - what the program gave with a lock: a request that fails leaves it as it was */
struct dlm_caller {
	struct bftmutex_dlm_lksb *lksb;
	void (*ast)(void *arg);
	void (*bast)(void *arg);
	void *ast_arg, *bast_arg;
};

/*
 * struct dlm_lock - a lock
 * @mode:   that it has; @goal: that it is to have, while @doing is CONVERTING
 * @doing:  what the kernel is asked for
 * @reads:  the request reads the value; @is_old: which may have changed since the kernel had it
 * @is_new: no request for it was granted yet: one that fails leaves no lock
 * @is_canceled: the conversion under way is that back to the mode before a canceled one
 * @is_told: the program was told that somebody waits
 * @is_due: @status is to be told
 * @is_over: and then it is gone
 */
struct dlm_lock {
	TAILQ_ENTRY(dlm_lock) all, due;
	uint32_t id;
	int fd;
	uint8_t mode, goal;
	enum doing doing;
	bool reads, is_old, is_new, is_canceled, is_told, is_due, is_over;
	int status;
	char name[BFTM_NAME_MAX];
	size_t len;
	struct dlm_caller to;
};

TAILQ_HEAD(dlm_locks, dlm_lock);

/*
 * struct bftmutex_dlm - locks of one program
 * @poll_fd: watches all handles and @due_fd, which is readable while @due is not empty
 * @opener:  the process; a child of it that was forked shares what @poll_fd watches
 */
struct bftmutex_dlm {
	int poll_fd, due_fd;
	pid_t opener;
	uint32_t last_id;
	uint64_t lease_ns;
	char cluster[BFTM_CLUSTER_MAX + 1];
	struct dlm_locks all, due;
};

static bool is_writer(uint8_t mode)
{
	return mode >= BFTMUTEX_DLM_PW;
}

/* The kernel counts from EX to NL. */
static uint32_t kernel_mode(uint8_t mode)
{
	return BFTMUTEX_DLM_EX - mode;
}

static uint8_t mode_of(const struct bftm_status *held)
{
	return (uint8_t)(BFTMUTEX_DLM_EX - held->mode);
}

int bftmutex_dlm_open(const struct bftmutex_options *options, struct bftmutex_dlm **ret)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct bftmutex_dlm *dlm;
	int err;

	if (options && options->cluster && strlen(options->cluster) > BFTM_CLUSTER_MAX)
		return -ENAMETOOLONG;
	dlm = calloc(1, sizeof(*dlm));
	if (!dlm)
		return -ENOMEM;
	dlm->opener = getpid();
	TAILQ_INIT(&dlm->all);
	TAILQ_INIT(&dlm->due);
	if (options) {
		dlm->lease_ns = options->lease_ns;
		if (options->cluster)
			strcpy(dlm->cluster, options->cluster);
	}
	dlm->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	dlm->due_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dlm->poll_fd < 0 || dlm->due_fd < 0 ||
	    epoll_ctl(dlm->poll_fd, EPOLL_CTL_ADD, dlm->due_fd, &event) < 0) {
		err = -errno;
		bftmutex_dlm_close(dlm);
		return err;
	}
	*ret = dlm;
	return 0;
}

static void lock_free(struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	TAILQ_REMOVE(&dlm->all, l, all);
	if (l->is_due)
		TAILQ_REMOVE(&dlm->due, l, due);
	/*
	 * A process that was forked may keep the handle open, and then close() alone ends no watch. In
	 * that process this would end the watch of its parent.
	 */
	if (dlm->opener == getpid())
		epoll_ctl(dlm->poll_fd, EPOLL_CTL_DEL, l->fd, NULL);
	close(l->fd);
	free(l);
}

void bftmutex_dlm_close(struct bftmutex_dlm *dlm)
{
	while (!TAILQ_EMPTY(&dlm->all))
		lock_free(dlm, TAILQ_FIRST(&dlm->all));
	if (dlm->poll_fd >= 0)
		close(dlm->poll_fd);
	if (dlm->due_fd >= 0)
		close(dlm->due_fd);
	free(dlm);
}

int bftmutex_dlm_fd(const struct bftmutex_dlm *dlm)
{
	return dlm->poll_fd;
}

/* A held lock is always readable: the kernel is only asked for what the program is to be told. */
static void lock_watch(const struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	struct epoll_event event = { .data.ptr = l };

	if (l->doing != NOTHING)
		event.events |= EPOLLIN;
	if (l->to.bast && !l->is_told && l->mode != BFTMUTEX_DLM_NL)
		event.events |= EPOLLRDBAND;
	epoll_ctl(dlm->poll_fd, EPOLL_CTL_MOD, l->fd, &event);
}

static void set_mode(struct dlm_lock *l, uint8_t mode)
{
	if (l->mode != mode)
		l->is_told = false;
	l->mode = mode;
}

static void read_value(struct dlm_lock *l)
{
	struct bftm_lock_value value;

	if (!l->reads)
		return;
	if (l->is_old || l->mode == BFTMUTEX_DLM_NL || bftmutex_value(l->fd, &value) < 0 ||
	    !value.valid) {
		l->to.lksb->sb_flags = BFTMUTEX_DLM_VALNOTVALID;
		return;
	}
	memset(l->to.lksb->sb_lvbptr, 0, BFTMUTEX_DLM_VALUE_LEN);
	memcpy(l->to.lksb->sb_lvbptr, value.bytes,
	       value.len < BFTMUTEX_DLM_VALUE_LEN ? value.len : BFTMUTEX_DLM_VALUE_LEN);
}

/* @status: 0 or positive; the lock is in its present mode */
static void complete(struct bftmutex_dlm *dlm, struct dlm_lock *l, int status)
{
	l->doing = NOTHING;
	/* With a mode that was granted and canceled, the notice that it had has ended. */
	l->is_told = l->is_told && bftmutex_wanted(l->fd, 0) > 0;
	l->to.lksb->sb_flags = 0;
	if (!status)
		read_value(l);
	l->is_over = l->is_over || status == BFTMUTEX_DLM_EUNLOCK || (status && l->is_new);
	l->is_new = false;
	l->status = status;
	l->is_due = true;
	TAILQ_INSERT_TAIL(&dlm->due, l, due);
	eventfd_write(dlm->due_fd, 1);
	lock_watch(dlm, l);
}

static void lock_lost(struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	bftmutex_release(l->fd);	/* notes that the program knows of the loss */
	set_mode(l, BFTMUTEX_DLM_NL);
	complete(dlm, l, EKEYEXPIRED);
}

static void acquire_decided(struct bftmutex_dlm *dlm, struct dlm_lock *l,
			    const struct bftm_status *s)
{
	if (s->state == BFTM_STATE_HELD) {
		set_mode(l, mode_of(s));
		complete(dlm, l, 0);
	} else if (s->state != BFTM_STATE_PENDING) {
		complete(dlm, l, s->error ? s->error : ECANCELED);
	}
}

static void conversion_decided(struct bftmutex_dlm *dlm, struct dlm_lock *l,
			       const struct bftm_status *s)
{
	int status = s->error;

	set_mode(l, mode_of(s));
	/* Without a way back, what was canceled is held. */
	if (l->is_canceled)
		status = l->mode == l->goal ? BFTMUTEX_DLM_ECANCEL : 0;
	complete(dlm, l, status);
}

/* A callback may have changed since epoll_wait() what is there to see. */
static void look_at(struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN | POLLRDBAND };
	struct bftm_status s;

	if (l->is_due || poll(&p, 1, 0) < 0 || bftmutex_status(l->fd, &s) < 0)
		return;
	if (s.state == BFTM_STATE_LOST)
		lock_lost(dlm, l);
	else if (l->doing == ACQUIRING)
		acquire_decided(dlm, l, &s);
	else if (l->doing == CONVERTING && p.revents & POLLIN)
		conversion_decided(dlm, l, &s);
	/* A notice of a mode comes after the result by which the program learns of the mode. */
	if (!l->is_due && p.revents & POLLRDBAND && l->to.bast && !l->is_told &&
	    l->mode != BFTMUTEX_DLM_NL) {
		l->is_told = true;
		lock_watch(dlm, l);
		l->to.bast(l->to.bast_arg);
	}
}

static void tell(struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	void (*ast)(void *arg) = l->to.ast;
	void *arg = l->to.ast_arg;

	TAILQ_REMOVE(&dlm->due, l, due);
	l->is_due = false;
	l->to.lksb->sb_status = l->status;
	if (l->is_over)
		lock_free(dlm, l);
	ast(arg);
}

int bftmutex_dlm_dispatch(struct bftmutex_dlm *dlm)
{
	struct epoll_event event[EVENTS];
	int i, count = epoll_wait(dlm->poll_fd, event, EVENTS, 0);
	struct dlm_lock *last;
	eventfd_t due;

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < count; i++)
		if (event[i].data.ptr)
			look_at(dlm, event[i].data.ptr);
	eventfd_read(dlm->due_fd, &due);
	/* The next dispatch tells the results of requests that callbacks make. */
	last = TAILQ_LAST(&dlm->due, dlm_locks);
	for (i = !last; !i;) {
		struct dlm_lock *l = TAILQ_FIRST(&dlm->due);

		i = l == last;
		tell(dlm, l);
	}
	if (!TAILQ_EMPTY(&dlm->due))
		eventfd_write(dlm->due_fd, 1);
	return 0;
}

/* A writer may leave a value at the end, of which the request did not say so. */
static uint32_t kernel_flags(uint8_t mode, uint32_t flags)
{
	return (flags & BFTMUTEX_DLM_NOQUEUE ? BFTM_TRY : 0) |
	       (flags & BFTMUTEX_DLM_VALBLK || is_writer(mode) ? BFTM_VALUE : 0);
}

/* Return: 0 or a negative errno. */
static int acquire(struct bftmutex_dlm *dlm, struct dlm_lock *l, uint8_t mode, uint32_t flags)
{
	const struct bftmutex_options options = {
		.cluster = *dlm->cluster ? dlm->cluster : NULL,
		.lease_ns = dlm->lease_ns,
		.flags = BFTM_RENEW | BFTMUTEX_MODE(kernel_mode(mode)) | kernel_flags(mode, flags),
	};
	int err = bftmutex_acquire(l->fd, l->name, l->len, &options, NULL);

	if (err != -EINPROGRESS)
		return err;
	l->doing = ACQUIRING;
	lock_watch(dlm, l);
	return 0;
}

/* The lock gives up a mode in which it could write. Return: 0 or a negative errno. */
static int leave_value(struct dlm_lock *l, uint32_t flags)
{
	if (!(flags & BFTMUTEX_DLM_VALBLK) || !is_writer(l->mode))
		return 0;
	return bftmutex_set_value(l->fd, l->to.lksb->sb_lvbptr, BFTMUTEX_DLM_VALUE_LEN);
}

static int give_back(struct dlm_lock *l, uint32_t flags)
{
	int err;

	if (l->mode == BFTMUTEX_DLM_NL)
		return 0;
	err = leave_value(l, flags);
	return err ? err : bftmutex_release(l->fd);
}

/* From a mode that is not NL to one that is not. */
static int convert(struct bftmutex_dlm *dlm, struct dlm_lock *l, uint8_t mode, uint32_t flags)
{
	int err = mode > l->mode ? 0 : leave_value(l, flags);

	if (err)
		return err;
	l->reads = flags & BFTMUTEX_DLM_VALBLK && (mode > l->mode || !is_writer(l->mode));
	/* The servers are not asked, and others in PW may have left a value beside CR. */
	l->is_old = l->mode == BFTMUTEX_DLM_CR && mode == BFTMUTEX_DLM_CR;
	err = bftmutex_convert(l->fd, kernel_mode(mode), kernel_flags(mode, flags), 0, NULL);
	if (err == -EINPROGRESS) {
		l->goal = mode;
		l->doing = CONVERTING;
		l->is_canceled = false;
		lock_watch(dlm, l);
		return 0;
	}
	if (err)
		return err;
	set_mode(l, mode);
	complete(dlm, l, 0);
	return 0;
}

/* Another mode for @l, which waits for nothing. Return: 0 or a negative errno. */
static int change(struct bftmutex_dlm *dlm, struct dlm_lock *l, uint8_t mode, uint32_t flags)
{
	int err;

	l->reads = flags & BFTMUTEX_DLM_VALBLK;
	l->is_old = false;
	if (mode != BFTMUTEX_DLM_NL)
		err = l->mode == BFTMUTEX_DLM_NL ? acquire(dlm, l, mode, flags) :
						   convert(dlm, l, mode, flags);
	else
		err = give_back(l, flags);
	if (!err && mode == BFTMUTEX_DLM_NL) {
		l->reads = l->reads && !is_writer(l->mode);
		set_mode(l, mode);
		complete(dlm, l, 0);
	}
	if (err == -EKEYEXPIRED) {
		lock_lost(dlm, l);
		err = 0;
	}
	return err;
}

static struct dlm_lock *lock_find(const struct bftmutex_dlm *dlm, uint32_t id)
{
	struct dlm_lock *l;

	TAILQ_FOREACH(l, &dlm->all, all)
		if (l->id == id && !l->is_over)
			return l;
	return NULL;
}

/* Return: 0 or a negative errno, and then @ret is untouched. */
static int lock_new(struct bftmutex_dlm *dlm, const void *name, size_t len, struct dlm_lock **ret)
{
	struct epoll_event event = {};
	struct dlm_lock *l;
	int fd, err;

	if (!len)
		return -EINVAL;
	if (len > BFTM_NAME_MAX)
		return -ENAMETOOLONG;
	fd = bftmutex_open(NULL);
	if (fd < 0)
		return fd;
	l = calloc(1, sizeof(*l));
	event.data.ptr = l;
	if (!l || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    epoll_ctl(dlm->poll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		err = l ? -errno : -ENOMEM;
		close(fd);
		free(l);
		return err;
	}
	memcpy(l->name, name, len);
	l->len = len;
	l->fd = fd;
	l->is_new = true;
	do
		l->id = ++dlm->last_id;
	while (!l->id || lock_find(dlm, l->id));
	TAILQ_INSERT_TAIL(&dlm->all, l, all);
	*ret = l;
	return 0;
}

int bftmutex_dlm_lock(struct bftmutex_dlm *dlm, uint32_t mode, struct bftmutex_dlm_lksb *lksb,
		      uint32_t flags, const void *name, size_t len, void (*ast)(void *arg),
		      void (*bast)(void *arg), void *arg)
{
	const uint32_t known = BFTMUTEX_DLM_NOQUEUE | BFTMUTEX_DLM_CONVERT | BFTMUTEX_DLM_VALBLK;
	struct dlm_caller before;
	struct dlm_lock *l = NULL;
	int err;

	if (mode > BFTMUTEX_DLM_EX || flags & ~known || !ast || !lksb ||
	    (flags & BFTMUTEX_DLM_VALBLK && !lksb->sb_lvbptr))
		return -EINVAL;
	if (flags & BFTMUTEX_DLM_CONVERT) {
		l = lock_find(dlm, lksb->sb_lkid);
		err = !l ? -EINVAL : l->doing != NOTHING || l->is_due ? -EBUSY : 0;
	} else {
		err = lock_new(dlm, name, len, &l);
	}
	if (err)
		return err;
	/* NOLINTNEXTLINE: @l is not NULL when err is 0 */
	before = l->to;
	l->to = (struct dlm_caller){ lksb, ast, bast, arg, arg };
	err = change(dlm, l, (uint8_t)mode, flags);
	if (!err) {
		lksb->sb_lkid = l->id;
	} else {
		l->to = before;
		if (l->is_new)
			lock_free(dlm, l);
	}
	return err;
}

/* The mode before stays. Return: 0 or a negative errno. */
static int lock_cancel(struct bftmutex_dlm *dlm, struct dlm_lock *l)
{
	int err = -EBUSY;

	if (l->doing == CONVERTING && l->is_canceled)
		return err;
	if (l->doing == ACQUIRING)
		err = bftmutex_release(l->fd);
	else if (l->doing == CONVERTING)
		err = bftmutex_convert(l->fd, kernel_mode(l->mode), BFTM_TRY, 0, NULL);
	if (err == -EKEYEXPIRED && l->doing == CONVERTING) {
		lock_lost(dlm, l);
		return 0;
	}
	/* It was granted already, across: the way back is another conversion, which asks once. */
	if (err == -EINPROGRESS) {
		l->goal = l->mode;
		l->is_canceled = true;
		return 0;
	}
	/* A request that has failed meanwhile, or was granted and lost, is canceled, too. */
	if (err && err != -ENOLCK && err != -EKEYEXPIRED)
		return err;
	complete(dlm, l, BFTMUTEX_DLM_ECANCEL);
	return 0;
}

/* Return: 0 or a negative errno. */
static int lock_end(struct bftmutex_dlm *dlm, struct dlm_lock *l, uint32_t flags)
{
	int err = give_back(l, flags);

	if (err == -EKEYEXPIRED) {
		l->is_over = true;
		lock_lost(dlm, l);
		return 0;
	}
	if (err)
		return err;
	set_mode(l, BFTMUTEX_DLM_NL);
	complete(dlm, l, BFTMUTEX_DLM_EUNLOCK);
	return 0;
}

int bftmutex_dlm_unlock(struct bftmutex_dlm *dlm, uint32_t lkid, uint32_t flags,
			struct bftmutex_dlm_lksb *lksb, void *arg)
{
	struct dlm_lock *l = lock_find(dlm, lkid);
	bool cancels = flags == BFTMUTEX_DLM_CANCEL;
	struct dlm_caller before;
	int err;

	if (!l || (!cancels && flags & ~(uint32_t)BFTMUTEX_DLM_VALBLK))
		return -EINVAL;
	if (flags & BFTMUTEX_DLM_VALBLK && !(lksb ? lksb : l->to.lksb)->sb_lvbptr)
		return -EINVAL;
	if (l->is_due || (!cancels && l->doing != NOTHING))
		return -EBUSY;
	before = l->to;
	if (lksb)
		l->to.lksb = lksb;
	if (arg)
		l->to.ast_arg = arg;
	err = cancels ? lock_cancel(dlm, l) : lock_end(dlm, l, flags);
	if (err)
		l->to = before;
	return err;
}
