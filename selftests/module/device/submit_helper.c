// SPDX-License-Identifier: GPL-2.0
/* Submits and the helper: requests that it gets, and reports that it may make. */
#include "harness.h"
#include "submit.h"

/* We are the helper of a network namespace of our own. */
FIXTURE(helper)
{
	struct bftm_nl nl;
	struct program *p;
	struct asked a;
	int fd;
};

FIXTURE_SETUP(helper)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->p = calloc(3, sizeof(*self->p));
}

FIXTURE_TEARDOWN(helper)
{
	free(self->p);
	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

TEST_F(helper, is_handed_all_that_was_asked)
{
	struct bftm_submit arg = text_on("object", "add 1");
	uint64_t before = now_ns(), id;

	memset(arg.cluster, 'c', sizeof(arg.cluster));
	arg.timeout_ns = 34 * SEC;
	start_program(self->p, self->fd, arg, 100);
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_SUBMIT, self->a.head.kind);
	EXPECT_STREQ("object", self->a.head.name);
	EXPECT_EQ(BFTM_CLUSTER_MAX, strspn(self->a.head.cluster, "c"));
	EXPECT_GE(self->a.head.timeout_at_ns, before + 34 * SEC);
	EXPECT_LE(self->a.head.timeout_at_ns, now_ns() + 34 * SEC);
	EXPECT_EQ(5, self->a.op_len);
	EXPECT_EQ(0, memcmp("add 1", self->a.op, 5));
	EXPECT_EQ(0, self->a.head.flags);
	EXPECT_EQ(0, self->a.head.attempt);
	id = self->a.head.id;
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
	ASSERT_EQ(0, answer(&self->nl, id, 0, 17, "five"));
	ASSERT_EQ(0, end_program(self->p));
	EXPECT_EQ(4, self->p->arg.response_len);
	EXPECT_STREQ("five", self->p->response);
	EXPECT_EQ(17, self->p->arg.number);
	EXPECT_EQ(0, self->p->arg.status);
	EXPECT_EQ(0, self->p->arg.id);
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
	EXPECT_EQ(-ESTALE, answer(&self->nl, id, 0, 18, "six"));
}

TEST_F(helper, longest_operation_and_response)
{
	static char op[BFTM_SUBMIT_MAX];
	size_t i;

	for (i = 0; i < sizeof(op); i++)
		op[i] = (char)(i * 131 >> 3);
	start_program(self->p, self->fd, op_on("x", op, sizeof(op)), sizeof(op));
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	ASSERT_EQ(sizeof(op), self->a.op_len);
	EXPECT_EQ(0, memcmp(op, self->a.op, sizeof(op)));
	EXPECT_EQ(-ERANGE, report(&self->nl, self->a.head.id, NONE, 0, 1, calloc(1, 16385), 16385));
	ASSERT_EQ(0, report(&self->nl, self->a.head.id, NONE, 0, 1, op, sizeof(op)));
	ASSERT_EQ(0, end_program(self->p));
	EXPECT_EQ(sizeof(op), self->p->arg.response_len);
	EXPECT_EQ(0, memcmp(op, self->p->response, sizeof(op)));
}

TEST_F(helper, status_is_the_objects)
{
	static const uint32_t statuses[] = { 0, 1, ENOENT, EMSGSIZE, 4095 };
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		start_program(self->p, self->fd, text_on("x", "get"), 1);
		id = next_submit(&self->nl);
		ASSERT_EQ(0, report(&self->nl, id, i & 1 ? 0 : NONE, statuses[i], UINT64_MAX - 1,
				    NULL, 0));
		ASSERT_EQ(0, end_program(self->p));
		EXPECT_EQ(statuses[i], self->p->arg.status);
		EXPECT_EQ(0, self->p->arg.response_len);
		EXPECT_EQ(UINT64_MAX - 1, self->p->arg.number);
	}
}

TEST_F(helper, any_error_is_passed_on)
{
	static const uint32_t errors[] = { 1, EACCES, ENETUNREACH, EPROTONOSUPPORT, EINPROGRESS,
					   EOVERFLOW, 511 };
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		start_program(self->p, self->fd, text_on("x", "get"), 10);
		id = next_submit(&self->nl);
		ASSERT_EQ(0, refuse(&self->nl, id, errors[i]));
		EXPECT_EQ(-(int)errors[i], end_program(self->p));
		EXPECT_EQ(0, self->p->arg.id);
		EXPECT_EQ(0, self->p->arg.number);
	}
}

TEST_F(helper, bad_reports_change_nothing)
{
	struct bftm_nl other;
	uint64_t id, lock;
	size_t i;

	start_program(self->p, self->fd, text_on("x", "get"), 10);
	id = next_submit(&self->nl);
	ASSERT_NE(0, id);
	lock = pulled(&self->nl, self->fd, "a lock");
	{
		const struct {
			uint64_t id, error, status, version;
			int result;
		} rows[] = {
			{ NONE, NONE, 0, 1, -EINVAL },		{ 0, NONE, 0, 1, -EINVAL },
			{ id + 7, NONE, 0, 1, -ESTALE },	{ NONE - 1, NONE, 0, 1, -ESTALE },
			{ lock, NONE, 0, 1, -ESTALE },		{ lock, EIO, NONE, NONE, -ESTALE },
			{ id, NONE, 0, NONE, -EINVAL },		{ id, NONE, 0, 0, -EINVAL },
			{ id, NONE, 4096, 1, -ERANGE },		{ id, NONE, UINT32_MAX, 1, -ERANGE },
			{ id, 512, NONE, NONE, -ERANGE },	{ id, UINT32_MAX, NONE, NONE, -ERANGE },
			{ id, EIO, 1, NONE, -EINVAL },		{ id, EIO, NONE, 1, -EINVAL },
		};

		for (i = 0; i < ARRAY_SIZE(rows); i++)
			EXPECT_EQ(rows[i].result,
				  report(&self->nl, rows[i].id, rows[i].error, rows[i].status,
					 rows[i].version, NULL, 0)) {
				TH_LOG("row %zu", i);
			}
	}
	EXPECT_EQ(-EINVAL, report(&self->nl, id, EIO, NONE, NONE, "x", 1));
	/* Reports of locks are not for submits. */
	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 5, now_ns() + SEC));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, EIO, NONE, NONE));
	EXPECT_EQ(-ESTALE, renewed(&self->nl, id, now_ns() + SEC, 1));
	ASSERT_EQ(0, bftm_nl_open(&other));
	EXPECT_EQ(-EPERM, answer(&other, id, 0, 1, "not ours"));
	bftm_nl_close(&other);
	ASSERT_EQ(0, answer(&self->nl, id, 0, 1, "ours"));
	ASSERT_EQ(0, end_program(self->p));
	EXPECT_STREQ("ours", self->p->response);
}

TEST_F(helper, is_not_one_without_register)
{
	struct bftm_nl other;
	uint64_t id;

	start_program(self->p, self->fd, text_on("x", "get"), 10);
	ASSERT_EQ(0, bftm_nl_open(&other));
	EXPECT_EQ(-EPERM, pull_asked(&other, &self->a));
	id = next_submit(&self->nl);
	EXPECT_EQ(-EPERM, refuse(&other, id, EIO));
	bftm_nl_close(&other);
	ASSERT_EQ(0, refuse(&self->nl, id, EIO));
	EXPECT_EQ(-EIO, end_program(self->p));
}

/* The handle may hold a lock, wait for one, or be released: a submit goes on. */
TEST_F(helper, locks_of_the_handle_do_not_matter)
{
	uint64_t lock = pulled(&self->nl, self->fd, "a lock"), id;

	start_program(self->p, self->fd, text_on("x", "get"), 10);
	id = next_submit(&self->nl);
	ASSERT_NE(0, id);
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, done(&self->nl, lock, 0, 5, now_ns() + 50 * SEC));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, answer(&self->nl, id, 0, 1, "got"));
	EXPECT_EQ(0, end_program(self->p));
}

TEST_F(helper, file_closed_by_another_thread)
{
	int fd = open_here(0);
	uint64_t id;

	start_program(self->p, fd, text_on("x", "get"), 10);
	id = next_submit(&self->nl);
	close(fd);
	ASSERT_EQ(0, answer(&self->nl, id, 0, 1, "got"));
	EXPECT_EQ(0, end_program(self->p));
	EXPECT_STREQ("got", self->p->response);
}

TEST_F(helper, several_on_one_handle_in_any_order)
{
	uint64_t id[3];
	int i;

	for (i = 0; i < 3; i++) {
		start_program(&self->p[i], self->fd, text_on("x", "get"), 10);
		id[i] = next_submit(&self->nl);
		ASSERT_NE(0, id[i]);
	}
	ASSERT_EQ(0, answer(&self->nl, id[1], 0, 2, "second"));
	EXPECT_EQ(0, end_program(&self->p[1]));
	ASSERT_EQ(0, refuse(&self->nl, id[2], EACCES));
	EXPECT_EQ(-EACCES, end_program(&self->p[2]));
	ASSERT_EQ(0, answer(&self->nl, id[0], 0, 1, "first"));
	EXPECT_EQ(0, end_program(&self->p[0]));
	EXPECT_STREQ("first", self->p[0].response);
	EXPECT_STREQ("second", self->p[1].response);
}

TEST_HARNESS_MAIN
