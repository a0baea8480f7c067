// SPDX-License-Identifier: GPL-2.0
/* Locks in the shape of libdlm, and what they ask of the helper, which is the test. */
#include <sys/wait.h>

#include "dlm_fixture.h"

TEST_F(dlm, null_is_the_librarys_own)
{
	ASSERT_EQ(0, LOCK(NL, 0));
	EXPECT_EQ(-EBUSY, LOCK(PR, CONVERT));	/* its result is not told yet */
	RESULT(0);
	QUIET;
	ASSERT_EQ(0, LOCK(NL, CONVERT | BFTMUTEX_DLM_VALBLK));
	RESULT(0);
	EXPECT_EQ(BFTMUTEX_DLM_VALNOTVALID, self->lock.lksb.sb_flags);
	NO_REQUEST;
	ASSERT_EQ(0, LOCK(PR, CONVERT));
	QUIET;
	PULL(ACQUIRE);
	EXPECT_EQ(BFTM_LOCK_PR, self->pulled.mode);
	EXPECT_EQ(BFTM_RENEW, self->pulled.flags);
	WON;
	RESULT(0);
	QUIET;
	ASSERT_EQ(0, LOCK(NL, CONVERT));
	RESULT(0);
	PULL(RELEASE);
	ASSERT_EQ(0, UNLOCK(0));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
	EXPECT_EQ(-EINVAL, UNLOCK(0));
	NO_REQUEST;
}

TEST_F(dlm, somebody_waits)
{
	uint64_t id;

	ASSERT_EQ(0, LOCK(EX, 0));
	PULL(ACQUIRE);
	id = self->pulled.id;
	WON;
	RESULT(0);
	ASSERT_EQ(0, wanted(&self->nl, id, BFTM_LOCK_EX));
	EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, 0));
	EXPECT_EQ(0, self->lock.notices);
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(1, self->lock.notices);
	/* Once in a mode. */
	QUIET;
	ASSERT_EQ(0, LOCK(PR, CONVERT));
	RESULT(0);
	QUIET;
	ASSERT_EQ(0, wanted(&self->nl, id, BFTM_LOCK_PR));
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(2, self->lock.notices);
}

TEST_F(dlm, a_child_that_closes_takes_nothing_from_its_parent)
{
	int status = -1;
	uint64_t id;
	pid_t child;

	ASSERT_EQ(0, LOCK(PR, 0));
	PULL(ACQUIRE);
	id = self->pulled.id;
	WON;
	RESULT(0);
	child = fork();
	if (!child) {
		bftmutex_dlm_close(self->dlm);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, wanted(&self->nl, id, BFTM_LOCK_PR));
	EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, 0));
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(1, self->lock.notices);
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	PULL(CONVERT);
	ASSERT_EQ(0, UNLOCK(CANCEL));
	RESULT(BFTMUTEX_DLM_ECANCEL);
	ASSERT_EQ(0, UNLOCK(0));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
}

TEST_F(dlm, what_waits_is_canceled)
{
	ASSERT_EQ(0, LOCK(PR, 0));
	EXPECT_EQ(-EBUSY, UNLOCK(0));
	PULL(ACQUIRE);
	WON;
	RESULT(0);
	EXPECT_EQ(-EBUSY, UNLOCK(CANCEL));
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	PULL(CONVERT);
	QUIET;
	ASSERT_EQ(0, UNLOCK(CANCEL));
	RESULT(BFTMUTEX_DLM_ECANCEL);
	/* It is held as before. */
	PULL(CONVERT);
	EXPECT_EQ(BFTM_LOCK_PR, self->pulled.mode);
	ASSERT_EQ(0, UNLOCK(0));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
	PULL(RELEASE);
	/* Of a new lock nothing is left. */
	ASSERT_EQ(0, LOCK(PR, 0));
	PULL(ACQUIRE);
	ASSERT_EQ(0, UNLOCK(CANCEL));
	RESULT(BFTMUTEX_DLM_ECANCEL);
	PULL(CANCEL);
	EXPECT_EQ(-EINVAL, UNLOCK(0));
}

TEST_F(dlm, requests_that_fail)
{
	ASSERT_EQ(0, LOCK(PR, BFTMUTEX_DLM_NOQUEUE));
	PULL(ACQUIRE);
	EXPECT_EQ(BFTM_TRY | BFTM_RENEW, self->pulled.flags);
	ASSERT_EQ(0, done(&self->nl, self->pulled.id, EWOULDBLOCK, NONE, NONE));
	RESULT(EAGAIN);
	EXPECT_EQ(-EINVAL, UNLOCK(0));		/* there is no lock */
	ASSERT_EQ(0, LOCK(NL, 0));
	RESULT(0);
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	PULL(ACQUIRE);
	ASSERT_EQ(0, done(&self->nl, self->pulled.id, ENOSPC, NONE, NONE));
	RESULT(ENOSPC);
	ASSERT_EQ(0, LOCK(NL, CONVERT));	/* it is in NL still */
	RESULT(0);
	NO_REQUEST;
	EXPECT_EQ(-EINVAL, LOCK(EX + 1, 0));
	EXPECT_EQ(-EINVAL, LOCK(EX, CANCEL));
	EXPECT_EQ(-EINVAL, LOCK(EX, 1 << 4));
	EXPECT_EQ(-EINVAL, UNLOCK(CONVERT));
	self->lock.lksb.sb_lvbptr = NULL;
	EXPECT_EQ(-EINVAL, LOCK(EX, BFTMUTEX_DLM_VALBLK));
	EXPECT_EQ(-EINVAL, UNLOCK(BFTMUTEX_DLM_VALBLK));
	QUIET;
}

TEST_F(dlm, a_loss_is_told_though_nothing_was_asked)
{
	self->end = now_ns() + 100 * MS;
	ASSERT_EQ(0, LOCK(PR, 0));
	PULL(ACQUIRE);
	WON;
	RESULT(0);
	EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, LONG_MS));
	RESULT(EKEYEXPIRED);
	QUIET;
	/* The lock is in NL, from where it can be asked for again. */
	while (!pull(&self->nl, &self->pulled))
		;
	self->end = now_ns() + 50 * SEC;
	ASSERT_EQ(0, LOCK(PR, CONVERT));
	PULL(ACQUIRE);
	WON;
	RESULT(0);
}

TEST_HARNESS_MAIN
