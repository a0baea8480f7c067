// SPDX-License-Identifier: GPL-2.0
/*
 * The value of a lock, from both sides: the program, and the helper, which is the test. The
 * program reads the value that the helper reported. A value that it sets goes along with the request
 * that gives up the mode in which it could write.
 */
#include "convert_fixture.h"

#define VALID	BFTMUTEX_VALUE_FLAG_VALID
#define LEAVES	BFTMUTEX_VALUE_FLAG_LEAVES
#define LEFT	BFTMUTEX_VALUE_FLAG_LEFT
#define DOUBT	BFTMUTEX_VALUE_FLAG_DOUBT

static int converted_of(struct bftm_nl *nl, uint64_t id, uint32_t conversion, uint64_t deadline_ns,
			uint64_t flags, const char *text, int len)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_CONVERTED, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERSION, conversion);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	put_value(msg, flags, text, len);
	return send_msg(nl, msg);
}

static int get_value(int fd, struct bftm_lock_value *ret)
{
	*ret = (struct bftm_lock_value){ .size = sizeof(*ret), .op = BFTM_VALUE_GET };
	return call(fd, BFTM_IOC_VALUE, ret);
}

static int set_value(int fd, const char *text)
{
	struct bftm_lock_value arg = { .size = sizeof(arg), .op = BFTM_VALUE_SET };

	arg.len = (uint32_t)strlen(text);
	memcpy(arg.bytes, text, arg.len);
	return call(fd, BFTM_IOC_VALUE, &arg);
}

/* Asks, as a helper pulls it. */
static uint64_t asked(struct bftm_nl *nl, int fd, const char *name, uint32_t mode, uint32_t flags)
{
	struct bftm_acquire arg = want(name, 0, 0, flags);
	struct seen s;

	arg.mode = mode;
	if (call(fd, BFTM_IOC_ACQUIRE, &arg) != -EINPROGRESS || pull(nl, &s) || s.flags != flags)
		abort();
	return s.id;
}

#define ASKED(mode) (self->id = asked(&self->nl, self->fd, self->name, mode, BFTM_VALUE))
#define DONE(flags, text, len) done_of(&self->nl, self->id, self->end, flags, text, len)
#define CONVERTED(number, flags, text, len) \
	converted_of(&self->nl, self->id, number, self->end, flags, text, len)
#define HOLD_WITH(mode, text) do {						\
	ASKED(mode);								\
	ASSERT_EQ(0, DONE(VALID, text, (int)strlen(text)));			\
} while (0)
#define IS_VALUE(text) do {							\
	struct bftm_lock_value value_;						\
	ASSERT_EQ(0, get_value(self->fd, &value_));				\
	EXPECT_EQ(1, value_.valid);						\
	EXPECT_EQ(strlen(text), value_.len);					\
	EXPECT_EQ(0, memcmp(value_.bytes, text, strlen(text)));			\
} while (0)
#define NOT_VALID do {								\
	struct bftm_lock_value value_;						\
	ASSERT_EQ(0, get_value(self->fd, &value_));				\
	EXPECT_EQ(0, value_.valid);						\
	EXPECT_EQ(0, value_.len);						\
} while (0)
/* The next request that the helper pulls says this of the value; with LEAVES it has the text. */
#define PULLS(wanted_kind, flags, text) do {					\
	struct seen s_;								\
	PULL(&s_);								\
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_##wanted_kind, s_.kind);		\
	EXPECT_EQ(self->id, s_.id);						\
	EXPECT_EQ((uint32_t)(flags), s_.value_flags);				\
	EXPECT_EQ((int)strlen(text), s_.value_len);				\
	EXPECT_EQ(0, memcmp(s_.value, text, strlen(text)));			\
} while (0)

TEST_F(convert, value_is_what_the_helper_reports)
{
	char most[BFTM_VALUE_MAX + 1] = "";

	HOLD_WITH(PR, "a value");
	IS_VALUE("a value");
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, 0, "");
	ASKED(EX);
	ASSERT_EQ(0, DONE(NONE, NULL, 0));
	NOT_VALID;
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, 0, "");
	/* An empty one is one. */
	ASKED(EX);
	ASSERT_EQ(0, DONE(VALID, NULL, 0));
	IS_VALUE("");
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, 0, "");
	memset(most, 'x', BFTM_VALUE_MAX);
	HOLD_WITH(CR, most);
	IS_VALUE(most);
}

TEST_F(convert, value_that_is_reported_wrongly)
{
	char more[BFTM_VALUE_MAX + 1];

	memset(more, 'x', sizeof(more));
	ASKED(PR);
	EXPECT_EQ(-EINVAL, DONE(NONE, "a", 1));
	EXPECT_EQ(-EINVAL, DONE(0, "a", 1));
	EXPECT_EQ(-EINVAL, DONE(LEAVES, "a", 1));
	EXPECT_EQ(-EINVAL, DONE(LEFT, NULL, 0));
	EXPECT_EQ(-EINVAL, DONE(VALID | DOUBT, "a", 1));
	EXPECT_EQ(-EINVAL, DONE(DOUBT << 1, NULL, 0));
	EXPECT_EQ(-ERANGE, DONE(VALID, more, sizeof(more)));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, DONE(VALID, more, sizeof(more) - 1));
	ASK(EX, 0, 0);
	PULLS(CONVERT, 0, "");
	EXPECT_EQ(-EINVAL, CONVERTED(1, NONE, "a", 1));
	EXPECT_EQ(-EINVAL, CONVERTED(1, LEAVES, NULL, 0));
	EXPECT_EQ(-ERANGE, CONVERTED(1, VALID, more, sizeof(more)));
	IS_HELD(PR, 0);
	ASSERT_EQ(0, CONVERTED(1, VALID, "b", 1));
	IS_VALUE("b");
}

TEST_F(convert, value_of_a_lock_that_is_held_without)
{
	struct bftm_lock_value value;

	EXPECT_EQ(-ENOLCK, get_value(self->fd, &value));
	EXPECT_EQ(-ENOLCK, set_value(self->fd, "a"));
	self->id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ENOLCK, get_value(self->fd, &value));
	/* A report of a value that nobody asked for says nothing. */
	ASSERT_EQ(0, DONE(VALID, "a", 1));
	EXPECT_EQ(-ENODATA, get_value(self->fd, &value));
	EXPECT_EQ(-ENODATA, set_value(self->fd, "a"));
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, 0, "");
	self->end = now_ns() + 50 * MS;
	HOLD_WITH(EX, "a");
	sleep_until(self->end + 1);
	EXPECT_EQ(-EKEYEXPIRED, get_value(self->fd, &value));
	EXPECT_EQ(-EKEYEXPIRED, set_value(self->fd, "a"));
	EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
	EXPECT_EQ(-ENOLCK, get_value(self->fd, &value));
}

TEST_F(convert, value_is_left_with_a_release)
{
	HOLD_WITH(EX, "old");
	ASSERT_EQ(0, set_value(self->fd, "a"));
	ASSERT_EQ(0, set_value(self->fd, "new"));
	IS_VALUE("new");
	NO_REQUEST;
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, LEAVES | LEFT, "new");
	/* In PW too, and an empty one. */
	HOLD_WITH(PW, "old");
	ASSERT_EQ(0, set_value(self->fd, ""));
	IS_VALUE("");
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, LEAVES | LEFT, "");
}

TEST_F(convert, value_is_set_by_writers)
{
	static const uint32_t readers[] = { PR, CW, CR };

	for (size_t i = 0; i < 3; i++) {
		HOLD_WITH(readers[i], "old");
		EXPECT_EQ(-EPERM, set_value(self->fd, "new"));
		IS_VALUE("old");
		ASSERT_EQ(0, release(self->fd));
		PULLS(RELEASE, 0, "");
	}
}

TEST_F(convert, value_after_a_mere_close)
{
	HOLD_WITH(EX, "old");
	close(self->fd);
	PULLS(RELEASE, DOUBT, "");
	self->fd = open_here(O_NONBLOCK);
	HOLD_WITH(PW, "old");
	ASSERT_EQ(0, set_value(self->fd, "new"));
	close(self->fd);
	PULLS(RELEASE, DOUBT, "");
	self->fd = open_here(O_NONBLOCK);
	HOLD_WITH(PR, "old");
	close(self->fd);
	PULLS(RELEASE, 0, "");
	/* One that has no value never leaves any. */
	self->fd = open_here(O_NONBLOCK);
	HOLD(EX, 0);
	close(self->fd);
	PULLS(RELEASE, 0, "");
	self->fd = open_here(O_NONBLOCK);
}

TEST_F(convert, value_is_left_with_a_conversion_to_less)
{
	HOLD_WITH(EX, "old");
	ASSERT_EQ(0, set_value(self->fd, "new"));
	ASSERT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
	PULLS(CONVERT, LEAVES | LEFT, "new");
	IS_VALUE("new");
	EXPECT_EQ(-EPERM, set_value(self->fd, "more"));
	/* The next helper cannot know which servers have heard of it. */
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, LEFT, "");
}

TEST_F(convert, value_comes_with_a_conversion_to_more)
{
	HOLD_WITH(CR, "old");
	ASK(EX, 0, 0);
	PULLS(CONVERT, 0, "");
	ASSERT_EQ(0, CONVERTED(1, VALID, "new", 3));
	IS_VALUE("new");
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, 0, "");
	/* From now on with the value. */
	HOLD(CR, 0);
	ASK(EX, BFTM_VALUE, 0);
	PULL(&self->pulled);
	EXPECT_EQ(BFTM_VALUE, self->pulled.convert_flags | self->pulled.flags);
	ASSERT_EQ(0, CONVERTED(self->pulled.conversion, VALID, "b", 1));
	IS_VALUE("b");
	ASSERT_EQ(0, set_value(self->fd, "c"));
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE, LEAVES | LEFT, "c");
}

TEST_F(convert, value_arguments)
{
	struct bftm_lock_value good = { .size = sizeof(good) }, bad;

	HOLD_WITH(EX, "old");
#define REFUSED(operation, field, value) do {				\
	bad = good;							\
	bad.op = operation;						\
	bad.field = value;						\
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_VALUE, &bad)) {	\
		TH_LOG("%s = %s", #field, #value);			\
	}								\
} while (0)
	for (uint32_t op = BFTM_VALUE_GET; op <= BFTM_VALUE_SET; op++) {
		REFUSED(op, size, sizeof(good) - 1);
		REFUSED(op, valid, 1);
		REFUSED(op, len, BFTM_VALUE_MAX + 1);
		REFUSED(op, len, UINT32_MAX);
		REFUSED(op, bytes[0], 1);
		REFUSED(op, bytes[BFTM_VALUE_MAX - 1], 1);
	}
	REFUSED(BFTM_VALUE_GET, len, 1);
	REFUSED(BFTM_VALUE_SET + 1, op, BFTM_VALUE_SET + 1);
	REFUSED(UINT32_MAX, op, UINT32_MAX);
	IS_VALUE("old");
	NO_REQUEST;
}

TEST_HARNESS_MAIN
