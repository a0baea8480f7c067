/* SPDX-License-Identifier: GPL-2.0 */
/* A program with locks in the shape of libdlm, in a network namespace whose helper is the test. */
#ifndef BFTM_TEST_DLM_FIXTURE_H
#define BFTM_TEST_DLM_FIXTURE_H

#include "lib/bftmutex_dlm.h"
#include "selftests/module/device/fake_helper.h"
#include "selftests/module/device/harness.h"

#define NL	BFTMUTEX_DLM_NL
#define CR	BFTMUTEX_DLM_CR
#define CW	BFTMUTEX_DLM_CW
#define PR	BFTMUTEX_DLM_PR
#define PW	BFTMUTEX_DLM_PW
#define EX	BFTMUTEX_DLM_EX
#define CONVERT	BFTMUTEX_DLM_CONVERT
#define CANCEL	BFTMUTEX_DLM_CANCEL
#define VALBLK	BFTMUTEX_DLM_VALBLK

/**
 * struct lock - what the program knows of one
 * @results, @notices: calls of the callbacks
 * @results_first:     results that had come before the last notice
 */
struct lock {
	struct bftmutex_dlm_lksb lksb;
	char value[BFTMUTEX_DLM_VALUE_LEN];
	int results, notices, results_first;
};

static inline void result(void *arg)
{
	((struct lock *)arg)->results++;
}

static inline void notice(void *arg)
{
	struct lock *lock = arg;

	lock->notices++;
	lock->results_first = lock->results;
}

FIXTURE(dlm)
{
	struct bftm_nl nl;
	struct bftmutex_dlm *dlm;
	struct lock lock;
	const char *name;
	uint64_t end;	/* of the lease */
	struct seen pulled;
};

FIXTURE_SETUP(dlm)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	ASSERT_EQ(0, bftmutex_dlm_open(NULL, &self->dlm));
	self->lock.lksb.sb_lvbptr = self->lock.value;
	self->name = new_name();
	self->end = now_ns() + 50 * SEC;
}

FIXTURE_TEARDOWN(dlm)
{
	if (self->dlm)
		bftmutex_dlm_close(self->dlm);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

#define LOCK(mode, flags) bftmutex_dlm_lock(self->dlm, mode, &self->lock.lksb, flags, self->name, \
					    strlen(self->name), result, notice, &self->lock)
#define UNLOCK(flags) bftmutex_dlm_unlock(self->dlm, self->lock.lksb.sb_lkid, flags, NULL, &self->lock)
#define NO_REQUEST EXPECT_EQ(-ENODATA, pull(&self->nl, &self->pulled))
#define PULL(what) do {								\
	ASSERT_EQ(0, pull(&self->nl, &self->pulled));				\
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_##what, self->pulled.kind);		\
} while (0)
#define WON ASSERT_EQ(0, done(&self->nl, self->pulled.id, 0, 5, self->end))
/* Callbacks are called by this alone, and the descriptor says when. */
#define RESULT(status) do {							\
	const int before_ = self->lock.results;					\
	EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, 0));	\
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));				\
	EXPECT_EQ(before_ + 1, self->lock.results);				\
	EXPECT_EQ(status, self->lock.lksb.sb_status);				\
} while (0)
#define QUIET do {								\
	EXPECT_EQ(0, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, 0));		\
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));				\
} while (0)

#endif /* BFTM_TEST_DLM_FIXTURE_H */
