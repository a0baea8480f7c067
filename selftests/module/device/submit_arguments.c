// SPDX-License-Identifier: GPL-2.0
/* BFTM_IOC_SUBMIT with every field at its bounds, and beyond. */
#include <stddef.h>
#include <sys/mman.h>

#include "harness.h"
#include "submit.h"

/* No helper: a submit that is all right fails with ENOTCONN. */
FIXTURE(arguments)
{
	int fd;
	char op[BFTM_SUBMIT_MAX + 1];
};

FIXTURE_SETUP(arguments)
{
	ASSERT_EQ(0, fresh_netns());
	self->fd = open_here(0);
	ASSERT_GE(self->fd, 0);
	memset(self->op, 'o', sizeof(self->op));
}

FIXTURE_TEARDOWN(arguments)
{
	close(self->fd);
}

TEST_F(arguments, names)
{
	const struct {
		uint32_t len;
		int result;
	} rows[] = {
		{ 0, -EINVAL }, { 1, -ENOTCONN }, { 63, -ENOTCONN }, { 64, -ENAMETOOLONG },
		{ 65, -ENAMETOOLONG }, { UINT32_MAX, -ENAMETOOLONG },
	};
	struct bftm_submit arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		arg = op_on("", self->op, 1);
		arg.name_len = rows[i].len;
		memset(arg.name, 'n', rows[i].len < 64 ? rows[i].len : 64);
		EXPECT_EQ(rows[i].result, submit(self->fd, &arg)) {
			TH_LOG("row %zu", i);
		}
		EXPECT_EQ(0, arg.response_len | arg.number | arg.status | arg.id);
	}
	/* The name may have any bytes, but the rest must be zero. */
	arg = op_on("", self->op, 1);
	arg.name_len = 63;
	EXPECT_EQ(-ENOTCONN, submit(self->fd, &arg));
	arg.name[63] = 1;
	EXPECT_EQ(-EINVAL, submit(self->fd, &arg));
	arg = op_on("x", self->op, 1);
	arg.name[1] = 'x';
	EXPECT_EQ(-EINVAL, submit(self->fd, &arg));
}

TEST_F(arguments, clusters)
{
	struct bftm_submit arg = op_on("x", self->op, 1);

	memset(arg.cluster, 'c', sizeof(arg.cluster));
	EXPECT_EQ(-ENOTCONN, submit(self->fd, &arg));
	arg.cluster[30] = 0;
	EXPECT_EQ(-EINVAL, submit(self->fd, &arg));
	arg.cluster[31] = 0;
	EXPECT_EQ(-ENOTCONN, submit(self->fd, &arg));
}

TEST_F(arguments, operations)
{
	const struct {
		uint32_t len;
		int result;
	} rows[] = {
		{ 0, -EINVAL }, { 1, -ENOTCONN }, { BFTM_SUBMIT_MAX, -ENOTCONN },
		{ BFTM_SUBMIT_MAX + 1, -EMSGSIZE }, { UINT32_MAX, -EMSGSIZE },
	};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bftm_submit arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		arg = op_on("x", self->op, rows[i].len);
		EXPECT_EQ(rows[i].result, submit(self->fd, &arg)) {
			TH_LOG("row %zu", i);
		}
	}
	arg = op_on("x", NULL, 1);
	EXPECT_EQ(-EFAULT, submit(self->fd, &arg));
	arg.op = UINT64_MAX;
	EXPECT_EQ(-EFAULT, submit(self->fd, &arg));
	/* The last byte of the operation is not in our memory. */
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	arg = op_on("x", page + 4096 - 10, 10);
	EXPECT_EQ(-ENOTCONN, submit(self->fd, &arg));
	arg.op_len = 11;
	EXPECT_EQ(-EFAULT, submit(self->fd, &arg));
}

struct field {
	size_t offset, size;
};

#define FIELD(name) ((struct field){ offsetof(struct bftm_submit, name), \
				     sizeof(((struct bftm_submit *)0)->name) })

/* All bits of one field set. */
static int with(int fd, struct bftm_submit arg, struct field f)
{
	memset((char *)&arg + f.offset, 0xff, f.size);
	return submit(fd, &arg);
}

TEST_F(arguments, flags_and_what_comes_out)
{
	struct bftm_submit good = op_on("x", self->op, 1), arg;
	int bit;

	for (bit = 1; bit < 32; bit++) {
		arg = good;
		arg.flags = 1u << bit;
		EXPECT_EQ(-EINVAL, submit(self->fd, &arg));
	}
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(response_len)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(id)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(number)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(status)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(reserved)));
	/* These may be anything. */
	EXPECT_EQ(-ENOTCONN, with(self->fd, good, FIELD(timeout_ns)));
	EXPECT_EQ(-ENOTCONN, with(self->fd, good, FIELD(response_room)));
	EXPECT_EQ(-ENOTCONN, with(self->fd, good, FIELD(response)));
}

TEST_F(arguments, of_a_fetch)
{
	struct bftm_submit good = { .size = sizeof(good), .flags = BFTM_FETCH, .id = 1 };

	EXPECT_EQ(-ENOENT, submit(self->fd, &good));
	EXPECT_EQ(-ENOENT, with(self->fd, good, FIELD(id)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(flags)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(name_len)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(name)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(cluster)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(op)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(op_len)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(timeout_ns)));
	EXPECT_EQ(-EINVAL, with(self->fd, good, FIELD(number)));
	good.id = 0;
	EXPECT_EQ(-ENOENT, submit(self->fd, &good));
}

/* A call without a response leaves nothing on the handle. */
TEST_F(arguments, handle_is_as_before)
{
	struct bftm_submit arg = op_on("x", self->op, 1);

	EXPECT_EQ(-ENOTCONN, submit(self->fd, &arg));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(0, poll_now(self->fd));
	EXPECT_EQ(-ENOLCK, release(self->fd));
}

TEST_HARNESS_MAIN
