// SPDX-License-Identifier: GPL-2.0
/*
 * One story, told by bftmutex through bftmutex_dlm.h and, with STORY_LIBDLM, by a DLM through libdlm:
 * two locks of one program, "left" and "right", for one resource.
 *
 *	dlm_story SPACE LOCK    SPACE is a cluster, or a lockspace
 *
 * Each line tells the result of a request, when it is known. The two programs print the same lines:
 * selftests/module/device/dlm.sh.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#ifdef STORY_LIBDLM
#include <libdlm.h>

static dlm_lshandle_t space;

static void story_open(const char *name)
{
	space = dlm_open_lockspace(name);
	if (!space)
		err(EX_UNAVAILABLE, "lockspace '%s'", name);
}

static int story_fd(void)
{
	return dlm_ls_get_fd(space);
}

static void story_dispatch(void)
{
	if (dlm_dispatch(story_fd()) < 0)
		err(EX_UNAVAILABLE, "dispatch");
}

static int story_lock(uint32_t mode, struct dlm_lksb *lksb, uint32_t flags, const char *name,
		      void (*ast)(void *arg), void (*bast)(void *arg), void *arg)
{
	return dlm_ls_lock(space, mode, lksb, flags, name, (unsigned int)strlen(name), 0, ast, arg, bast,
			   NULL);
}

static int story_unlock(uint32_t id, uint32_t flags, struct dlm_lksb *lksb, void *arg)
{
	return dlm_ls_unlock(space, id, flags, lksb, arg);
}
#else
#include "lib/bftmutex_dlm.h"

#define LKM_NLMODE	BFTMUTEX_DLM_NL
#define LKM_PRMODE	BFTMUTEX_DLM_PR
#define LKM_EXMODE	BFTMUTEX_DLM_EX
#define LKF_NOQUEUE	BFTMUTEX_DLM_NOQUEUE
#define LKF_CANCEL	BFTMUTEX_DLM_CANCEL
#define LKF_CONVERT	BFTMUTEX_DLM_CONVERT
#define LKF_VALBLK	BFTMUTEX_DLM_VALBLK
#define ECANCEL		BFTMUTEX_DLM_ECANCEL
#define EUNLOCK		BFTMUTEX_DLM_EUNLOCK
#define dlm_lksb	bftmutex_dlm_lksb

static struct bftmutex_dlm *space;

static void story_open(const char *name)
{
	const struct bftmutex_options options = { .cluster = name };

	errno = -bftmutex_dlm_open(&options, &space);
	if (errno)
		err(EX_UNAVAILABLE, "cluster '%s'", name);
}

static int story_fd(void)
{
	return bftmutex_dlm_fd(space);
}

static void story_dispatch(void)
{
	errno = -bftmutex_dlm_dispatch(space);
	if (errno)
		err(EX_UNAVAILABLE, "dispatch");
}

static int story_lock(uint32_t mode, struct dlm_lksb *lksb, uint32_t flags, const char *name,
		      void (*ast)(void *arg), void (*bast)(void *arg), void *arg)
{
	errno = -bftmutex_dlm_lock(space, mode, lksb, flags, name, strlen(name), ast, bast, arg);
	return errno ? -1 : 0;
}

static int story_unlock(uint32_t id, uint32_t flags, struct dlm_lksb *lksb, void *arg)
{
	errno = -bftmutex_dlm_unlock(space, id, flags, lksb, arg);
	return errno ? -1 : 0;
}
#endif

#define VALUE_LEN	32
#define PATIENCE_MS	20000

/** struct side - one of the two locks */
struct side {
	const char *name;
	struct dlm_lksb lksb;
	char value[VALUE_LEN];
	bool is_done;		/* the last request has its result */
	bool is_wanted;		/* somebody waits for what is held */
};

static struct side left = { .name = "left" }, right = { .name = "right" };
static const char *resource;

static void done(void *arg)
{
	((struct side *)arg)->is_done = true;
}

static void wanted(void *arg)
{
	((struct side *)arg)->is_wanted = true;
}

static void wait_until(const bool *flag, const struct side *s, const char *what)
{
	struct pollfd p = { .fd = story_fd(), .events = POLLIN };

	while (!*flag) {
		if (poll(&p, 1, PATIENCE_MS) <= 0)
			errx(EX_SOFTWARE, "%s: no %s", s->name, what);
		story_dispatch();
	}
}

static const char *meaning(int status)
{
	switch (status) {
	case 0:
		return "granted";
	case ECANCEL:
		return "canceled";
	case EUNLOCK:
		return "unlocked";
	}
	return strerror(status);
}

static int result(struct side *s, const char *what)
{
	wait_until(&s->is_done, s, "result");
	printf("%s %s: %s\n", s->name, what, meaning(s->lksb.sb_status));
	return s->lksb.sb_status;
}

static void ask(struct side *s, uint32_t mode, uint32_t flags)
{
	s->is_done = false;
	s->is_wanted = false;
	s->lksb.sb_lvbptr = s->value;
	if (story_lock(mode, &s->lksb, flags, resource, done, wanted, s) < 0)
		err(EX_SOFTWARE, "%s: lock", s->name);
}

static void convert(struct side *s, uint32_t mode, uint32_t flags, const char *what)
{
	ask(s, mode, flags | LKF_CONVERT);
	result(s, what);
}

static void give_up(struct side *s, uint32_t flags, const char *what)
{
	s->is_done = false;
	if (story_unlock(s->lksb.sb_lkid, flags, &s->lksb, s) < 0)
		err(EX_SOFTWARE, "%s: unlock", s->name);
	result(s, what);
}

/* Both convert to EX; the story does not say which of them is told. */
static void deadlock(void)
{
	struct side *loser, *winner;
	struct pollfd p = { .fd = story_fd(), .events = POLLIN };

	ask(&left, LKM_EXMODE, LKF_CONVERT);
	ask(&right, LKM_EXMODE, LKF_CONVERT);
	while (!left.is_done && !right.is_done) {
		if (poll(&p, 1, PATIENCE_MS) <= 0)
			errx(EX_SOFTWARE, "nobody is told of the deadlock");
		story_dispatch();
	}
	loser = left.is_done ? &left : &right;
	winner = left.is_done ? &right : &left;
	printf("both PR to EX, one: %s\n", meaning(loser->lksb.sb_status));
	printf("the other %s\n", winner->is_done ? "has a result" : "waits");
	ask(loser, LKM_NLMODE, LKF_CONVERT);
	wait_until(&loser->is_done, loser, "result");
	wait_until(&winner->is_done, winner, "result");
	printf("one to NL, the other: %s\n", meaning(winner->lksb.sb_status));
	/* From here on the left side has EX, and the right one NL. */
	if (winner == &left)
		return;
	ask(&right, LKM_NLMODE, LKF_CONVERT);
	wait_until(&right.is_done, &right, "result");
	ask(&left, LKM_EXMODE, LKF_CONVERT);
	wait_until(&left.is_done, &left, "result");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(EX_USAGE, "usage: dlm_story SPACE LOCK");
	setvbuf(stdout, NULL, _IOLBF, 0);
	story_open(argv[1]);
	resource = argv[2];

	ask(&left, LKM_NLMODE, 0);
	result(&left, "NL");
	convert(&left, LKM_PRMODE, 0, "NL to PR");
	ask(&right, LKM_PRMODE, LKF_VALBLK);
	result(&right, "PR");

	ask(&right, LKM_EXMODE, LKF_CONVERT | LKF_VALBLK);
	wait_until(&left.is_wanted, &left, "word of one that waits");
	printf("left is told that somebody waits, right %s\n", right.is_done ? "has EX" : "has not EX yet");
	convert(&left, LKM_NLMODE, 0, "PR to NL");
	result(&right, "PR to EX");

	strcpy(right.value, "seventeen");
	convert(&right, LKM_PRMODE, LKF_VALBLK, "EX to PR, with a value");
	convert(&left, LKM_PRMODE, LKF_VALBLK, "NL to PR, with the value");
	printf("it is %s\n", left.value);
	deadlock();

	ask(&right, LKM_PRMODE, LKF_CONVERT | LKF_NOQUEUE);
	result(&right, "NL to PR, at once or not");
	ask(&right, LKM_PRMODE, LKF_CONVERT);
	wait_until(&left.is_wanted, &left, "word of one that waits");
	printf("left is told that somebody waits\n");
	give_up(&right, LKF_CANCEL, "NL to PR, given up");
	give_up(&right, 0, "NL");
	give_up(&left, 0, "EX");
	return 0;
}
