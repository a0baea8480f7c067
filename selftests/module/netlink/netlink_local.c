// SPDX-License-Identifier: GPL-2.0
/* local-get: what became of the acquires of a namespace, counted once each. */
#include "selftests/module/device/harness.h"
#include "selftests/module/device/fake_helper.h"

FIXTURE(local)
{
	struct bftm_nl nl;
	int fd;
	const char *name;
};

FIXTURE_SETUP(local)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
}

FIXTURE_TEARDOWN(local)
{
	close(self->fd);
	bftm_nl_close(&self->nl);
}

static int take_counts(struct nlattr **attr, void *arg)
{
	static const int order[] = {
		BFTMUTEX_A_LOCAL_ACQUIRES, BFTMUTEX_A_LOCAL_WON, BFTMUTEX_A_LOCAL_BUSY,
		BFTMUTEX_A_LOCAL_TIMEOUTS, BFTMUTEX_A_LOCAL_FAILED, BFTMUTEX_A_LOCAL_CANCELLED,
		BFTMUTEX_A_LOCAL_RELEASED, BFTMUTEX_A_LOCAL_LOST, BFTMUTEX_A_LOCAL_RENEWED,
	};
	char *text = arg;
	size_t i, len = 0;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		len += (size_t)sprintf(text + len, "%s%llu", i ? " " : "",
				       (unsigned long long)number(attr[order[i]]));
	return 0;
}

/* Acquires, won, busy, timeouts, failed, cancelled, released, lost, renewed. */
static const char *counts(struct bftm_nl *nl)
{
	static char text[256];
	int err;

	*text = '\0';
	err = bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_LOCAL_GET, 0), take_counts,
			   BFTMUTEX_A_LOCAL_MAX, text);
	if (err)
		sprintf(text, "error %d", err);
	return text;
}

TEST_F(local, what_fails)
{
	static const struct {
		uint32_t error;
		const char *counts;
	} cases[] = {
		{ EWOULDBLOCK, "1 0 1 0 0 0 0 0 0" }, { ETIMEDOUT, "2 0 1 1 0 0 0 0 0" },
		{ ENETUNREACH, "3 0 1 1 1 0 0 0 0" }, { EACCES, "4 0 1 1 2 0 0 0 0" },
	};
	size_t i;

	EXPECT_STREQ("0 0 0 0 0 0 0 0 0", counts(&self->nl));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, done(&self->nl, pulled(&self->nl, self->fd, self->name),
				  cases[i].error, NONE, NONE));
		EXPECT_STREQ(cases[i].counts, counts(&self->nl));
	}
	/* Refused before it began. */
	EXPECT_NE(0, call(self->fd, BFTM_IOC_ACQUIRE, &(struct bftm_acquire){}));
	EXPECT_STREQ("4 0 1 1 2 0 0 0 0", counts(&self->nl));
}

TEST_F(local, what_is_won)
{
	uint64_t end = now_ns() + 50 * SEC;
	uint64_t id = pulled(&self->nl, self->fd, self->name);
	struct seen s;

	EXPECT_STREQ("1 0 0 0 0 0 0 0 0", counts(&self->nl));
	ASSERT_EQ(0, done(&self->nl, id, 0, 5, end));
	EXPECT_STREQ("1 1 0 0 0 0 0 0 0", counts(&self->nl));
	ASSERT_EQ(0, renewed(&self->nl, id, end + SEC, 2));
	EXPECT_STREQ("1 1 0 0 0 0 0 0 1", counts(&self->nl));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_STREQ("1 1 0 0 0 0 1 0 1", counts(&self->nl));
	pull(&self->nl, &s);	/* the RELEASE */
	id = pulled(&self->nl, self->fd, self->name);
	ASSERT_EQ(0, done(&self->nl, id, 0, 7, now_ns() + 100 * MS));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_STREQ("2 2 0 0 0 0 1 1 1", counts(&self->nl));
	/* It was counted, so not once more. */
	EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
	EXPECT_STREQ("2 2 0 0 0 0 1 1 1", counts(&self->nl));
}

TEST_F(local, what_nobody_waits_for)
{
	int fd = open_here(O_NONBLOCK);

	ASSERT_EQ(-EINPROGRESS, acquire(self->fd, self->name, 0, 0, NULL));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_STREQ("1 0 0 0 0 1 0 0 0", counts(&self->nl));
	pulled(&self->nl, fd, self->name);
	close(fd);
	EXPECT_STREQ("2 0 0 0 0 2 0 0 0", counts(&self->nl));
}

TEST_HARNESS_MAIN
