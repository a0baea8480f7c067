/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of the story: of libdlm with STORY_LIBDLM, and else of bftmutex_dlm.h. */
#ifndef BFTM_BENCH_DLM_CALLS_H
#define BFTM_BENCH_DLM_CALLS_H

#include <err.h>
#include <errno.h>
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

#endif /* BFTM_BENCH_DLM_CALLS_H */
