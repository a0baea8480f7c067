// SPDX-License-Identifier: GPL-2.0
/* Responses that do not fit: none is lost, and they do not pile up. */
#include "harness.h"
#include "submit.h"

#define KEPT_MAX 64

FIXTURE(room)
{
	struct bftm_nl nl;
	struct program *p;
	char text[BFTM_SUBMIT_MAX], got[BFTM_SUBMIT_MAX];
	int fd;
};

FIXTURE_SETUP(room)
{
	size_t i;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(0);
	ASSERT_GE(self->fd, 0);
	self->p = calloc(1, sizeof(*self->p));
	for (i = 0; i < sizeof(self->text); i++)
		self->text[i] = (char)(i * 71 >> 2);
}

FIXTURE_TEARDOWN(room)
{
	free(self->p);
	close(self->fd);
	bftm_nl_close(&self->nl);
}

/* Submit with @room for a response of @len bytes. */
static int with_room(struct bftm_nl *nl, struct program *p, int fd, const char *text, size_t room,
		     size_t len)
{
	start_program(p, fd, text_on("x", "get"), room);
	if (report(nl, next_submit(nl), NONE, 5, 9, text, len))
		abort();
	return end_program(p);
}

TEST_F(room, just_enough)
{
	static const size_t lens[] = { 0, 1, 255, BFTM_SUBMIT_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_EQ(0, with_room(&self->nl, self->p, self->fd, self->text, lens[i], lens[i]));
		EXPECT_EQ(lens[i], self->p->arg.response_len);
		EXPECT_EQ(0, memcmp(self->text, self->p->response, lens[i]));
	}
}

TEST_F(room, a_byte_too_little)
{
	static const size_t lens[] = { 1, 2, 256, BFTM_SUBMIT_MAX };
	struct bftm_submit ret;
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		size_t len = lens[i];

		memset(self->p->response, 'r', sizeof(self->p->response));
		ASSERT_EQ(-EOVERFLOW, with_room(&self->nl, self->p, self->fd, self->text, len - 1,
						len));
		id = self->p->arg.id;
		EXPECT_NE(0, id);
		EXPECT_EQ(len, self->p->arg.response_len);
		EXPECT_EQ(9, self->p->arg.number);
		EXPECT_EQ(5, self->p->arg.status);
		EXPECT_EQ('r', self->p->response[0]);
		/* Still too little; nowhere to write; another number: it is kept. */
		EXPECT_EQ(-EOVERFLOW, fetch(self->fd, id, self->got, len - 1, &ret));
		EXPECT_EQ(len, ret.response_len);
		EXPECT_EQ(id, ret.id);
		EXPECT_EQ(-EFAULT, fetch(self->fd, id, NULL, len, &ret));
		EXPECT_EQ(-ENOENT, fetch(self->fd, id + 1, self->got, len, &ret));
		ASSERT_EQ(0, fetch(self->fd, id, self->got, sizeof(self->got), &ret));
		EXPECT_EQ(len, ret.response_len);
		EXPECT_EQ(9, ret.number);
		EXPECT_EQ(5, ret.status);
		EXPECT_EQ(0, ret.id);
		EXPECT_EQ(0, memcmp(self->text, self->got, len));
		EXPECT_EQ(-ENOENT, fetch(self->fd, id, self->got, sizeof(self->got), &ret));
	}
}

TEST_F(room, belongs_to_its_handle)
{
	int other = open_here(0);
	uint64_t id;

	ASSERT_EQ(-EOVERFLOW, with_room(&self->nl, self->p, self->fd, self->text, 0, 10));
	id = self->p->arg.id;
	EXPECT_EQ(-ENOENT, fetch(other, id, self->got, 10, NULL));
	/* The helper is not needed for it. */
	bftm_nl_close(&self->nl);
	EXPECT_EQ(0, fetch(self->fd, id, self->got, 10, NULL));
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	close(other);
}

TEST_F(room, many_are_kept_and_then_no_more)
{
	uint64_t id[KEPT_MAX];
	struct bftm_submit arg = text_on("x", "get");
	int i;

	for (i = 0; i < KEPT_MAX; i++) {
		ASSERT_EQ(-EOVERFLOW, with_room(&self->nl, self->p, self->fd, self->text + i, 3, 4));
		id[i] = self->p->arg.id;
	}
	EXPECT_EQ(-EBUSY, submit(self->fd, &arg));
	/* In any order. */
	for (i = KEPT_MAX - 1; i >= 0; i -= 2) {
		ASSERT_EQ(0, fetch(self->fd, id[i], self->got, 4, NULL));
		EXPECT_EQ(0, memcmp(self->text + i, self->got, 4));
	}
	EXPECT_EQ(0, with_room(&self->nl, self->p, self->fd, self->text, 3, 3));
	/* Those that are left are freed at the end. */
}

/* A response that cannot be written is lost, as said; the next is not. */
TEST_F(room, where_nothing_can_be_written)
{
	self->p->fd = self->fd;
	self->p->arg = text_on("x", "get");
	make_room(&self->p->arg, NULL, 10);
	ASSERT_EQ(0, pthread_create(&self->p->thread, NULL, run_program, self->p));
	ASSERT_EQ(0, report(&self->nl, next_submit(&self->nl), NONE, 0, 1, self->text, 4));
	EXPECT_EQ(-EFAULT, end_program(self->p));
	EXPECT_EQ(0, with_room(&self->nl, self->p, self->fd, self->text, 1, 1));
}

TEST_HARNESS_MAIN
