// SPDX-License-Identifier: GPL-2.0
/*
 * The value of a lock at one client. Of seven servers, one of which may lie, five are F, and four
 * that tell the same make a value valid.
 */
#include "contender.h"

#include "core/release.h"

static struct bftm_msg tells(const char *value, enum bftm_mode mode, u32 k, u64 gno)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_FREE, .attempt = c.base.attempt, .k = k, .gno = gno, .mode = mode,
		.flags = BFTM_FLAG_VALUE | (value ? 0 : BFTM_FLAG_DOUBT),
	};

	if (!value)
		return msg;
	msg.value_len = (u8)strlen(value);
	msg.value_room = (u8)bftm_pad8(msg.value_len);
	memcpy(msg.value, value, msg.value_len);
	return msg;
}

static enum bftm_verdict hears(u32 u, struct bftm_msg msg, u64 now)
{
	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

/* Server @u grants @mode to send 1 by its grant 10 + @u, and tells a value; NULL: in doubt. */
static enum bftm_verdict grants(u32 u, enum bftm_mode mode, const char *value)
{
	return hears(u, tells(value, mode, 1, 10 + u), T0);
}

static void begin(enum bftm_mode mode)
{
	struct bftm_msg msg;

	want.mode = mode;
	want.wait = BFTM_WAIT_QUEUE;
	want.value = true;
	start(1, T0);
	assert_int_equal(bftm_contender_message(&c.base, &out.send[0], ALL, &msg), ALL);
	assert_int_equal(msg.flags, BFTM_FLAG_VALUE);
	assert_int_equal(msg.value_room, BFTM_VALUE_LEN_MAX);
	assert_int_equal(msg.value_k | msg.value_len, 0);
}

/* Inside by servers 0 ... 4. */
static void hold(enum bftm_mode mode, const char *value)
{
	u32 u;

	begin(mode);
	for (u = 0; u < 5; u++)
		grants(u, mode, value);
	assert_int_equal(out.verdict, BFTM_WON);
}

static void is_valid_at(const char *value, u64 now)
{
	struct bftm_value_told told;

	bftm_contend_value(&c, &cfg, now, &told);
	assert_int_equal(told.valid, value != NULL);
	assert_int_equal(told.len, value ? strlen(value) : 0);
	if (value)
		assert_memory_equal(told.bytes, value, told.len);
}

static void is_valid(const char *value)
{
	is_valid_at(value, T0 + MS);
}

static void told_by_enough(void **state)
{
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR, "same");
	is_valid("same");
	fresh_client(state);
	hold(BFTM_MODE_PR, "");
	is_valid("");
	/* Four of five are enough. */
	fresh_client(state);
	begin(BFTM_MODE_PR);
	grants(0, BFTM_MODE_PR, "other");
	for (u = 1; u < 5; u++)
		grants(u, BFTM_MODE_PR, "same");
	assert_int_equal(out.verdict, BFTM_WON);
	is_valid("same");
	/* A sixth is awaited if it matters. */
	fresh_client(state);
	begin(BFTM_MODE_PR);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, BFTM_MODE_PR, u < 2 ? NULL : "same"), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_VALUE);
	assert_int_equal(grants(5, BFTM_MODE_PR, "same"), BFTM_WON);
	is_valid("same");
	/* The same bytes, but not as many. */
	fresh_client(state);
	begin(BFTM_MODE_PR);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_PR, u & 1 ? "same" : "samey");
	assert_int_equal(out.verdict, BFTM_PENDING);
}

static void not_valid(void **state)
{
	u32 u;

	(void)state;
	/* Two more would not help: the lock is had without a wait. */
	hold(BFTM_MODE_EX, NULL);
	is_valid(NULL);
	fresh_client(state);
	begin(BFTM_MODE_EX);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_EX, u < 2 ? NULL : "same");
	assert_int_equal(c.base.wake_ns, T0 + L / 8 < T0 + RESEND ? T0 + L / 8 : T0 + RESEND);
	assert_int_equal(wake(c.base.wake_ns - 1, 0, 0), BFTM_PENDING);
	assert_int_equal(wake(c.base.wake_ns, 0, 0), BFTM_WON);
	is_valid(NULL);
	/* The right bytes, of two servers that doubt them. */
	fresh_client(state);
	begin(BFTM_MODE_EX);
	for (u = 0; u < 5; u++) {
		struct bftm_msg msg = tells("same", BFTM_MODE_EX, 1, 10 + u);

		msg.flags |= u < 2 ? BFTM_FLAG_DOUBT : 0;
		hears(u, msg, T0);
	}
	is_valid(NULL);
	/* Without the value of a grant that was given back. */
	fresh_client(state);
	begin(BFTM_MODE_EX);
	for (u = 0; u < 4; u++)
		grants(u, BFTM_MODE_EX, "same");
	is_valid("same");
	says_of(0, BFTM_MSG_INQUIRE, 1, 10, T0);
	is_valid(NULL);
	/* A value that is longer than was asked for is none. */
	fresh_client(state);
	begin(BFTM_MODE_EX);
	for (u = 0; u < 5; u++) {
		struct bftm_msg msg = tells("same", BFTM_MODE_EX, 1, 10);

		msg.value_room = 0;
		hears(u, msg, T0);
	}
	is_valid(NULL);
	/* Of servers that do not know of values. */
	fresh_client(state);
	begin(BFTM_MODE_EX);
	for (u = 0; u < 5; u++)
		says_of(u, BFTM_MSG_FREE, 1, 10, T0);
	is_valid(NULL);
}

static void newest_of_a_server(void **state)
{
	u32 u;

	(void)state;
	hold(BFTM_MODE_CR, "old");
	bftm_contend_renew(&c, &cfg, T0 + MS, &out);
	for (u = 0; u < 5; u++)
		hears(u, tells("new", BFTM_MODE_CR, 2, 10 + u), T0 + MS);
	is_valid("new");
	for (u = 0; u < 5; u++)
		hears(u, tells("old", BFTM_MODE_CR, 1, 10 + u), T0 + MS);
	is_valid("new");
	for (u = 0; u < 5; u++)
		hears(u, tells("older", BFTM_MODE_CR, 2, 9), T0 + MS);
	is_valid("new");
}

static void written(u32 u, const struct bftm_msg *msg, const char *value)
{
	assert_int_equal(msg->value_k, 10 + u);
	assert_int_equal(msg->value_len, strlen(value));
	assert_memory_equal(msg->value, value, msg->value_len);
}

static const struct bftm_written leaves = { .len = 5, .bytes = "hello" };

/* Each server hears by which of its grants the value was written; others hear of a doubt. */
static void left_with_the_lock(void **state)
{
	struct bftm_release r;
	struct bftm_msg msg;
	u32 u;

	(void)state;
	hold(BFTM_MODE_EX, NULL);
	bftm_contend_leave(&c, &cfg, &leaves, &out);
	assert_int_equal(out.release_to, ALL);
	bftm_release_start(&r, &cfg, &out, T0);
	for (u = 0; u < 7; u++) {
		assert_int_equal(bftm_release_message(&r, ALL & ~((1u << u) - 1), &msg), 1u << u);
		assert_int_equal(msg.flags, BFTM_FLAG_VALUE);
		if (u < 5)
			written(u, &msg, "hello");
		else
			assert_int_equal(msg.value_k, BFTM_GRANT_OTHER);
	}
	/* Nothing new: the value stays. */
	fresh_client(state);
	hold(BFTM_MODE_EX, NULL);
	bftm_contend_leave(&c, &cfg, NULL, &out);
	bftm_release_start(&r, &cfg, &out, T0);
	assert_int_equal(bftm_release_message(&r, ALL, &msg), ALL);
	assert_int_equal(msg.flags, 0);
	/* A reader cannot leave any. */
	fresh_client(state);
	hold(BFTM_MODE_PR, NULL);
	bftm_contend_leave(&c, &cfg, &leaves, &out);
	assert_false(out.written.any);
	assert_false(out.release_doubt);
}

static void ended_without_a_word(void **state)
{
	struct bftm_release r;
	struct bftm_msg msg, stray;

	(void)state;
	hold(BFTM_MODE_PW, NULL);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&r, &cfg, &out, T0);
	assert_int_equal(bftm_release_message(&r, ALL, &msg), ALL);
	assert_int_equal(msg.flags, BFTM_FLAG_DOUBT);
	fresh_client(state);
	hold(BFTM_MODE_PW, NULL);
	assert_int_equal(wake(c.base.wake_ns + L, 0, 0), BFTM_LAPSED);
	assert_true(out.release_doubt);
	fresh_client(state);
	hold(BFTM_MODE_CW, NULL);
	bftm_contend_stop(&c, &cfg, &out);
	assert_false(out.release_doubt);
	/* It never had it. */
	fresh_client(state);
	begin(BFTM_MODE_EX);
	grants(0, BFTM_MODE_EX, NULL);
	bftm_contend_stop(&c, &cfg, &out);
	assert_false(out.release_doubt);
	/* An attempt that nobody remembers. */
	stray = tells(NULL, BFTM_MODE_EX, 1, 10);
	stray.attempt = 99;
	bftm_stray(&stray, 3, &out);
	assert_int_equal(out.release_to, 8);
	assert_true(out.release_doubt);
}

static void shrink(enum bftm_mode mode, const struct bftm_written *value, u64 now)
{
	const struct bftm_conversion to = { .mode = mode, .leaves = value };

	bftm_contend_convert(&c, &cfg, &to, now, &out);
}

/* Until each server has answered, and at the end once more. */
static void left_with_a_mode(void **state)
{
	struct bftm_release r;
	struct bftm_msg msg;
	u32 u;

	(void)state;
	hold(BFTM_MODE_EX, NULL);
	shrink(BFTM_MODE_PR, &leaves, T0 + MS);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	for (u = 0; u < 7; u++) {
		assert_int_equal(bftm_contender_message(&c.base, &out.send[0], 1u << u, &msg), 1u << u);
		assert_int_equal(msg.mode, BFTM_MODE_PR);
		assert_true(msg.flags & BFTM_FLAG_VALUE);
		if (u < 5)
			written(u, &msg, "hello");
		else
			assert_int_equal(msg.value_k, BFTM_GRANT_OTHER);
	}
	is_valid("hello");
	for (u = 1; u < 7; u++)
		hears(u, tells("hello", BFTM_MODE_PR, 2, 10 + u), T0 + MS);
	/* WAIT from before server 0 granted: it has not heard. */
	says_of(0, BFTM_MSG_WAIT, 0, 9, T0 + MS);
	wake(c.base.wake_ns, 0, 0);
	bftm_contender_message(&c.base, &out.send[0], 1, &msg);
	written(0, &msg, "hello");
	bftm_contender_message(&c.base, &out.send[0], 2, &msg);
	assert_int_equal(msg.value_k, 0);
	hears(0, tells("hello", BFTM_MODE_PR, 3, 10), c.base.wake_ns);
	bftm_contend_renew(&c, &cfg, c.base.wake_ns + MS, &out);
	bftm_contender_message(&c.base, &out.send[0], 1, &msg);
	assert_int_equal(msg.value_k, 0);
	bftm_contend_leave(&c, &cfg, NULL, &out);
	bftm_release_start(&r, &cfg, &out, T0);
	for (u = 0; u < 7; u++) {
		bftm_release_message(&r, 1u << u, &msg);
		assert_int_equal(msg.flags, 0);
	}
}

/* A server that never granted it has nothing to hear of, whatever its grants are numbered. */
static void no_grant_to_give_up(void **state)
{
	u32 u;

	(void)state;
	hold(BFTM_MODE_EX, NULL);
	shrink(BFTM_MODE_PR, NULL, T0 + MS);
	for (u = 0; u < 5; u++)
		hears(u, tells(NULL, BFTM_MODE_PR, 2, 10 + u), T0 + MS);
	assert_int_equal(c.owed, 0x60);
	says_of(5, BFTM_MSG_WAIT, 0, 7, T0 + MS);
	says_of(6, BFTM_MSG_WAIT, 0, 3u << 30, T0 + MS);
	assert_int_equal(c.owed, 0);
}

/* The program went down to CR and wants EX, and its helper hears of both at once. */
static void left_on_the_way_up(void **state)
{
	const struct bftm_conversion to = { .mode = BFTM_MODE_EX, .leaves = &leaves };
	struct bftm_msg msg;

	(void)state;
	hold(BFTM_MODE_PW, NULL);
	bftm_contend_renew(&c, &cfg, T0 + MS, &out);
	bftm_contend_convert(&c, &cfg, &to, T0 + MS, &out);
	bftm_contender_message(&c.base, &out.send[0], 1, &msg);
	written(0, &msg, "hello");
	/* An answer to an earlier send says nothing of it. */
	hears(0, tells(NULL, BFTM_MODE_PW, 2, 10), T0 + MS);
	bftm_contend_renew(&c, &cfg, T0 + 2 * MS, &out);
	bftm_contender_message(&c.base, &out.send[0], 1, &msg);
	written(0, &msg, "hello");
	hears(0, tells("hello", BFTM_MODE_PW, 4, 10), T0 + 2 * MS);
	bftm_contend_renew(&c, &cfg, T0 + 3 * MS, &out);
	bftm_contender_message(&c.base, &out.send[0], 1, &msg);
	assert_int_equal(msg.value_k, 0);
}

/* Of grants of different sends some may be over before others. */
static void a_grant_that_is_over(void **state)
{
	u32 u;

	(void)state;
	begin(BFTM_MODE_PR);
	for (u = 0; u < 3; u++)
		grants(u, BFTM_MODE_PR, "old");
	wake(T0 + L / 8, 0, 0);
	assert_true(c.base.sends > 1);
	hears(3, tells("old", BFTM_MODE_PR, c.base.sends, 13), T0 + L / 8);
	is_valid_at("old", T0 + L / 8);
	is_valid_at(NULL, T0 + L);
}

/* In the lesser mode another could have written since. */
static void read_again_in_a_greater_mode(void **state)
{
	u32 u;

	(void)state;
	hold(BFTM_MODE_CR, "old");
	shrink(BFTM_MODE_EX, NULL, T0 + MS);
	is_valid(NULL);
	/* A grant of what is held, and then of what is wanted. */
	hears(0, tells("old", BFTM_MODE_CR, 2, 10), T0 + MS);
	for (u = 0; u < 5; u++)
		assert_int_equal(hears(u, tells(u < 2 ? NULL : "new", BFTM_MODE_EX, 2, 20 + u),
				       T0 + MS), BFTM_PENDING);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
	assert_int_equal(hears(5, tells("new", BFTM_MODE_EX, 2, 20), T0 + MS), BFTM_CONVERTED);
	is_valid("new");
	/* It waits no longer than for an acquire, and goes back when it is given up. */
	fresh_client(state);
	hold(BFTM_MODE_CR, "old");
	shrink(BFTM_MODE_EX, NULL, T0 + MS);
	for (u = 0; u < 5; u++)
		hears(u, tells(u < 2 ? NULL : "new", BFTM_MODE_EX, 2, 20 + u), T0 + MS);
	assert_int_equal(wake(c.base.wake_ns, 0, 0), BFTM_CONVERTED);
	is_valid(NULL);
	fresh_client(state);
	hold(BFTM_MODE_CR, "old");
	shrink(BFTM_MODE_EX, NULL, T0 + MS);
	for (u = 0; u < 5; u++)
		hears(u, tells(u < 2 ? NULL : "new", BFTM_MODE_EX, 2, 20 + u), T0 + MS);
	bftm_contend_keep(&c, &cfg, T0 + MS, &out);
	assert_int_equal(out.verdict, BFTM_KEPT);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_CR);
}

/* An earlier helper left a value: by which grants is not known. */
static void adopted(void **state)
{
	struct bftm_msg msg;

	(void)state;
	want.mode = BFTM_MODE_PR;
	want.value = true;
	bftm_contend_adopt(&c, &cfg, &want, 7, T0 + L, 3, true);
	bftm_contend_renew(&c, &cfg, T0, &out);
	assert_int_equal(bftm_contender_message(&c.base, &out.send[0], 2, &msg), 2);
	assert_int_equal(msg.value_k, BFTM_GRANT_OTHER);
	bftm_contend_adopt(&c, &cfg, &want, 7, T0 + L, 3, false);
	bftm_contend_renew(&c, &cfg, T0, &out);
	bftm_contender_message(&c.base, &out.send[0], 2, &msg);
	assert_int_equal(msg.value_k, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
	const struct CMUnitTest tests[] = {
		TEST(told_by_enough),
		TEST(not_valid),
		TEST(newest_of_a_server),
		TEST(left_with_the_lock),
		TEST(ended_without_a_word),
		TEST(left_with_a_mode),
		TEST(no_grant_to_give_up),
		TEST(left_on_the_way_up),
		TEST(a_grant_that_is_over),
		TEST(read_again_in_a_greater_mode),
		TEST(adopted),
	};

	return cmocka_run_group_tests_name("client value", tests, NULL, NULL);
}
