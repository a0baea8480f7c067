// SPDX-License-Identifier: GPL-2.0
/* bftmutex_submit() and the other functions for objects. */
#include "lib/libbftmutex.h"
#include "harness.h"
#include "submit.h"

FIXTURE(library)
{
	struct bftm_nl nl;
	pthread_t helper;
	int fd;
};

/* Answers "N" by N bytes, and "error N" by that error; "end" is the last. */
static void *help(void *arg)
{
	static char response[BFTM_SUBMIT_MAX];
	static struct asked a;
	struct bftm_nl *nl = arg;

	memset(response, 'r', sizeof(response));
	while (!next_asked(nl, &a)) {
		a.op[a.op_len < 32 ? a.op_len : 32] = '\0';
		if (!strncmp(a.op, "error ", 6))
			refuse(nl, a.head.id, (uint32_t)atoi(a.op + 6));
		else
			report(nl, a.head.id, NONE, a.head.cluster[0] ? ESRCH : 0, 3, response,
			       (size_t)atoi(a.op));
		if (!strcmp(a.op, "end"))
			break;
	}
	return NULL;
}

FIXTURE_SETUP(library)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = bftmutex_open(NULL);
	ASSERT_GE(self->fd, 0);
	pthread_create(&self->helper, NULL, help, &self->nl);
}

FIXTURE_TEARDOWN(library)
{
	struct bftmutex_response r = {};

	bftmutex_submit(self->fd, "x", 1, "end", 3, NULL, &r);
	pthread_join(self->helper, NULL);
	close(self->fd);
	bftm_nl_close(&self->nl);
}

static int ask(int fd, const char *op, struct bftmutex_response *r)
{
	return bftmutex_submit(fd, "x", 1, op, strlen(op), NULL, r);
}

TEST_F(library, fills_in_what_came)
{
	char room[10];
	struct bftmutex_options west = { .cluster = "west", .timeout_ns = 50 * SEC };
	struct bftmutex_response r = { .data = room, .room = sizeof(room) };

	ASSERT_EQ(0, ask(self->fd, "10", &r));
	EXPECT_EQ(10, r.len);
	EXPECT_EQ(3, r.number);
	EXPECT_EQ(0, r.status);
	EXPECT_EQ(0, r.id);
	EXPECT_EQ('r', room[9]);
	ASSERT_EQ(0, bftmutex_submit(self->fd, "x", 1, "0", 1, &west, &r));
	EXPECT_EQ(0, r.len);
	EXPECT_EQ(ESRCH, r.status);
	r.room = SIZE_MAX;
	EXPECT_EQ(0, ask(self->fd, "1", &r));
}

TEST_F(library, leaves_all_alone_after_an_error)
{
	struct bftmutex_response r = { .len = 1, .number = 2, .id = 3, .status = 4 };

	EXPECT_EQ(-ENETUNREACH, ask(self->fd, "error 101", &r));
	/* The helper's own, which says nothing about room. */
	EXPECT_EQ(-EOVERFLOW, ask(self->fd, "error 75", &r));
	EXPECT_TRUE(r.len == 1 && r.number == 2 && r.id == 3 && r.status == 4);
	EXPECT_EQ(-ENETUNREACH,
		  bftmutex_submit_alloc(self->fd, "x", 1, "error 101", 9, NULL, &r));
	EXPECT_EQ(-EOVERFLOW, bftmutex_submit_alloc(self->fd, "x", 1, "error 75", 8, NULL, &r));
	EXPECT_TRUE(r.len == 1 && r.number == 2 && r.id == 3 && r.status == 4);
}

TEST_F(library, gets_what_did_not_fit)
{
	char room[300];
	struct bftmutex_response r = { .data = room, .room = 9 };

	ASSERT_EQ(-EOVERFLOW, ask(self->fd, "300", &r));
	EXPECT_EQ(300, r.len);
	EXPECT_EQ(3, r.number);
	EXPECT_EQ(-EOVERFLOW, bftmutex_fetch(self->fd, &r));
	r.room = r.len;
	ASSERT_EQ(0, bftmutex_fetch(self->fd, &r));
	EXPECT_EQ(300, r.len);
	EXPECT_EQ('r', room[299]);
	EXPECT_EQ(-ENOENT, bftmutex_fetch(self->fd, &r));
}

TEST_F(library, makes_room)
{
	static const char *const lens[] = { "0", "1", "255", "256", "257", "16384" };
	struct bftmutex_response r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_EQ(0, bftmutex_submit_alloc(self->fd, "x", 1, lens[i], strlen(lens[i]),
						   NULL, &r));
		EXPECT_EQ((size_t)atoi(lens[i]), r.len);
		EXPECT_EQ(r.len, strlen(r.data));
		EXPECT_EQ(3, r.number);
		EXPECT_EQ(0, r.id);
		free(r.data);
	}
}

TEST_F(library, refuses_what_is_wrong)
{
	struct bftmutex_options lock = { .lease_ns = 1 }, flags = { .flags = BFTM_TRY },
				long_name = { .cluster = "123456789012345678901234567890123" };
	static char op[BFTM_SUBMIT_MAX + 1], name[BFTM_SUBMIT_NAME_MAX + 1];
	struct bftmutex_response r = {};

	memset(op, '0', sizeof(op));
	EXPECT_EQ(-EINVAL, bftmutex_submit(self->fd, "", 0, "0", 1, NULL, &r));
	EXPECT_EQ(-ENAMETOOLONG, bftmutex_submit(self->fd, name, 64, "0", 1, NULL, &r));
	EXPECT_EQ(-ENAMETOOLONG, bftmutex_submit(self->fd, name, SIZE_MAX, "0", 1, NULL, &r));
	EXPECT_EQ(0, bftmutex_submit(self->fd, name, 63, "0", 1, NULL, &r));
	EXPECT_EQ(-EINVAL, bftmutex_submit(self->fd, "x", 1, "", 0, NULL, &r));
	EXPECT_EQ(-EMSGSIZE, bftmutex_submit(self->fd, "x", 1, op, sizeof(op), NULL, &r));
	EXPECT_EQ(-EMSGSIZE, bftmutex_submit(self->fd, "x", 1, op, 1ull << 32 | 1, NULL, &r));
	EXPECT_EQ(0, bftmutex_submit(self->fd, "x", 1, op, sizeof(op) - 1, NULL, &r));
	EXPECT_EQ(-EINVAL, bftmutex_submit(self->fd, "x", 1, "0", 1, &lock, &r));
	EXPECT_EQ(-EINVAL, bftmutex_submit(self->fd, "x", 1, "0", 1, &flags, &r));
	EXPECT_EQ(-ENAMETOOLONG, bftmutex_submit(self->fd, "x", 1, "0", 1, &long_name, &r));
	EXPECT_EQ(-ENOTTY, bftmutex_submit(open("/dev/null", O_RDONLY), "x", 1, "0", 1, NULL, &r));
}

TEST_HARNESS_MAIN
