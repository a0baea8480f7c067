// SPDX-License-Identifier: GPL-2.0
/*
 * Locks in the shape of libdlm when things cross: a cancel and a grant, a notice and a result, a
 * loss and an unlock; requests that are wrong; and values that a program may not take for the last.
 */
#include <sys/wait.h>

#include "dlm_fixture.h"

#define VALUES	(BFTM_RENEW | BFTM_VALUE)

#define GET(mode, flags) do {							\
	ASSERT_EQ(0, LOCK(mode, flags));					\
	PULL(ACQUIRE);								\
	WON;									\
	RESULT(0);								\
} while (0)
/* The helper says what became of the conversion that it pulls. */
#define CONVERTED(error) do {							\
	PULL(CONVERT);								\
	ASSERT_EQ(0, converted(&self->nl, self->pulled.id, self->pulled.conversion, error,	\
			       (error) ? 0 : self->end, 0));			\
} while (0)
/* The kernel holds it in this mode: it takes no notice for another. */
#define IS_HELD(mode) EXPECT_EQ(0, wanted(&self->nl, self->pulled.id, mode))

TEST_F(dlm, a_conversion_up_is_canceled_when_it_is_granted)
{
	GET(PR, 0);
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	CONVERTED(0);
	ASSERT_EQ(0, UNLOCK(CANCEL));
	RESULT(BFTMUTEX_DLM_ECANCEL);
	PULL(CONVERT);
	IS_HELD(BFTM_LOCK_PR);
}

/* PR and CW do not cover each other, so that the way back has to be asked for. */
TEST_F(dlm, a_conversion_across_is_canceled_when_it_is_granted)
{
	GET(PR, 0);
	ASSERT_EQ(0, LOCK(CW, CONVERT));
	CONVERTED(0);
	ASSERT_EQ(0, UNLOCK(CANCEL));
	QUIET;
	EXPECT_EQ(-EBUSY, UNLOCK(CANCEL));
	EXPECT_EQ(-EBUSY, LOCK(EX, CONVERT));
	IS_HELD(BFTM_LOCK_CW);
	CONVERTED(0);
	EXPECT_EQ(BFTM_LOCK_PR, self->pulled.goal);
	EXPECT_EQ(BFTM_TRY, self->pulled.convert_flags);
	RESULT(BFTMUTEX_DLM_ECANCEL);
	IS_HELD(BFTM_LOCK_PR);
	/* The notice of mode CW is no notice of PR. */
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(1, self->lock.notices);
}

TEST_F(dlm, a_cancel_that_comes_too_late)
{
	GET(PR, 0);
	ASSERT_EQ(0, LOCK(CW, CONVERT));
	CONVERTED(0);
	ASSERT_EQ(0, UNLOCK(CANCEL));
	CONVERTED(EWOULDBLOCK);
	/* It is held as the request asked. */
	RESULT(0);
	IS_HELD(BFTM_LOCK_CW);
	ASSERT_EQ(0, UNLOCK(0));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
}

TEST_F(dlm, a_writer_leaves_a_value_that_it_did_not_read)
{
	GET(EX, 0);
	EXPECT_EQ(VALUES, self->pulled.flags);
	EXPECT_EQ(0, self->lock.lksb.sb_flags);
	strcpy(self->lock.value, "released");
	ASSERT_EQ(0, UNLOCK(VALBLK));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
	PULL(RELEASE);
	EXPECT_EQ(BFTMUTEX_VALUE_FLAG_LEAVES, self->pulled.value_flags & BFTMUTEX_VALUE_FLAG_LEAVES);
	EXPECT_STREQ("released", self->pulled.value);
	GET(PR, 0);
	EXPECT_EQ(BFTM_RENEW, self->pulled.flags);
	ASSERT_EQ(0, LOCK(PW, CONVERT));
	CONVERTED(0);
	EXPECT_EQ(VALUES, self->pulled.flags);
	RESULT(0);
	EXPECT_EQ(0, self->lock.lksb.sb_flags);
	strcpy(self->lock.value, "converted");
	ASSERT_EQ(0, LOCK(PR, CONVERT | VALBLK));
	RESULT(0);
	PULL(CONVERT);
	EXPECT_EQ(BFTMUTEX_VALUE_FLAG_LEAVES, self->pulled.value_flags & BFTMUTEX_VALUE_FLAG_LEAVES);
	EXPECT_STREQ("converted", self->pulled.value);
}

static void lost_before(struct __test_metadata *_metadata, struct _test_data_dlm *self,
			uint32_t flags)
{
	self->end = now_ns() + 100 * MS;
	GET(EX, 0);
	sleep_until(self->end + 1);
	ASSERT_EQ(0, UNLOCK(flags));
	RESULT(EKEYEXPIRED);
	EXPECT_EQ(-EINVAL, UNLOCK(0));
	QUIET;
}

TEST_F(dlm, an_unlock_of_a_lost_lock)
{
	lost_before(_metadata, self, 0);
}

TEST_F(dlm, an_unlock_with_a_value_of_a_lost_lock)
{
	lost_before(_metadata, self, VALBLK);
}

TEST_F(dlm, a_notice_comes_after_the_result)
{
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, LOCK(i ? EX : PR, i ? CONVERT : 0));
		if (i) {
			CONVERTED(0);
		} else {
			PULL(ACQUIRE);
			WON;
		}
		IS_HELD(i ? BFTM_LOCK_EX : BFTM_LOCK_PR);
		RESULT(0);
		EXPECT_EQ(i, self->lock.notices);
		EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, 0));
		EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
		EXPECT_EQ(i + 1, self->lock.notices);
		EXPECT_EQ(i + 1, self->lock.results_first);
		QUIET;
	}
}

TEST_F(dlm, a_value_beside_which_others_may_write_is_old)
{
	static const uint32_t modes[] = { CR, PR };
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, LOCK(modes[i], VALBLK));
		PULL(ACQUIRE);
		ASSERT_EQ(0, done_of(&self->nl, self->pulled.id, self->end,
				     BFTMUTEX_VALUE_FLAG_VALID, "left", 4));
		RESULT(0);
		EXPECT_EQ(0, self->lock.lksb.sb_flags);
		EXPECT_STREQ("left", self->lock.value);
		strcpy(self->lock.value, "mine");
		ASSERT_EQ(0, LOCK(modes[i], CONVERT | VALBLK));
		RESULT(0);
		EXPECT_EQ(i ? 0 : BFTMUTEX_DLM_VALNOTVALID, self->lock.lksb.sb_flags);
		EXPECT_STREQ(i ? "left" : "mine", self->lock.value);
		ASSERT_EQ(0, UNLOCK(0));
		RESULT(BFTMUTEX_DLM_EUNLOCK);
		PULL(RELEASE);
	}
}

TEST_F(dlm, a_request_that_fails_changes_nothing)
{
	struct lock other = {};

	GET(PR, 0);
	other.lksb.sb_lkid = self->lock.lksb.sb_lkid;
	EXPECT_EQ(-EINVAL, bftmutex_dlm_unlock(self->dlm, other.lksb.sb_lkid, VALBLK, &other.lksb,
					       &other));
	bftm_nl_close(&self->nl);
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	EXPECT_EQ(POLLIN, poll_for(bftmutex_dlm_fd(self->dlm), POLLIN, LONG_MS));
	RESULT(ENOTCONN);
	EXPECT_EQ(-ENOTCONN, bftmutex_dlm_lock(self->dlm, EX, &other.lksb, CONVERT, NULL, 0, result,
					       notice, &other));
	/* No argument: the callback gets that of the lock. */
	ASSERT_EQ(0, bftmutex_dlm_unlock(self->dlm, other.lksb.sb_lkid, 0, NULL, NULL));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
	EXPECT_EQ(0, other.results);
}

TEST_F(dlm, a_cancel_leaves_the_notice_its_argument)
{
	struct lock other = {};

	GET(PR, 0);
	ASSERT_EQ(0, LOCK(EX, CONVERT));
	PULL(CONVERT);
	ASSERT_EQ(0, bftmutex_dlm_unlock(self->dlm, self->lock.lksb.sb_lkid, CANCEL, &other.lksb,
					 &other));
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(1, other.results);
	EXPECT_EQ(BFTMUTEX_DLM_ECANCEL, other.lksb.sb_status);
	IS_HELD(BFTM_LOCK_PR);
	EXPECT_EQ(0, bftmutex_dlm_dispatch(self->dlm));
	EXPECT_EQ(1, self->lock.notices);
	EXPECT_EQ(0, other.notices);
}

/* Return: how many descriptors an epoll descriptor watches. */
static int watched(int fd)
{
	char path[64], line[256];
	int count = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		count += !strncmp(line, "tfd:", 4);
	fclose(f);
	return count;
}

/* A child keeps all descriptors open. */
TEST_F(dlm, a_lock_that_is_gone_is_not_watched)
{
	int fd = bftmutex_dlm_fd(self->dlm), before = watched(fd);
	pid_t child;

	GET(PR, 0);
	EXPECT_EQ(before + 1, watched(fd));
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	ASSERT_EQ(0, UNLOCK(0));
	RESULT(BFTMUTEX_DLM_EUNLOCK);
	EXPECT_EQ(before, watched(fd));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_HARNESS_MAIN
