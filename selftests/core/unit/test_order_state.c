// SPDX-License-Identifier: GPL-2.0
/* Bodies of states: made, read, and hostile ones; and what operation may follow. */
#include "unit.h"

#include "core/limits.h"
#include "core/ordering/state.h"

#define HEAD	sizeof(struct bftm_state_head)
#define ENTRY	sizeof(struct bftm_state_client)
#define ROOM	4096u

static struct bftm_applied done(u32 client, u64 op, const char *response)
{
	return (struct bftm_applied){
		.client = client, .op = op, .len = (u32)strlen(response),
		.response = (const u8 *)response,
	};
}

#define SAYS(body, client, number, text) assert_true(says(body, client, number, text))

/* Does the state know this and no other answer to the client? */
static bool says(const u8 *body, u32 client, u64 op, const char *text)
{
	struct bftm_applied a;

	return bftm_state_find(body, client, &a) && a.client == client && a.op == op &&
	       a.len == strlen(text) && !memcmp(a.response, text, a.len);
}

static void nothing_is_known_at_first(void **state)
{
	struct bftm_applied a;
	u32 len = 7;

	(void)state;
	assert_false(bftm_state_find(NULL, 1, &a));
	assert_int_equal(bftm_state_clients(NULL), 0);
	assert_null(bftm_state_app(NULL, 0, &len));
	assert_int_equal(len, 0);
}

static void what_is_made_can_be_read(void **state)
{
	const struct bftm_applied first[] = {
		done(0, 1, "zero"), done(7, 2, ""), done(0xfffffffe, 3, "last"),
	};
	const struct bftm_applied then[] = { done(5, 9, "five"), done(7, 3, "again") };
	u8 a[ROOM], b[ROOM];
	const u8 *app;
	u32 len, app_len;

	(void)state;
	len = bftm_state_make(NULL, 1, first, 3, (const u8 *)"kept", 4, a, ROOM);
	assert_int_equal(len, HEAD + 3 * ENTRY + 8 + 4);
	assert_true(bftm_state_ok(a, len, 1));
	assert_int_equal(bftm_state_clients(a), 3);
	SAYS(a, 0, 1, "zero");
	SAYS(a, 7, 2, "");
	SAYS(a, 0xfffffffe, 3, "last");
	app = bftm_state_app(a, len, &app_len);
	assert_int_equal(app_len, 4);
	assert_memory_equal(app, "kept", 4);

	len = bftm_state_make(a, 2, then, 2, NULL, 0, b, ROOM);
	assert_int_equal(len, HEAD + 4 * ENTRY + 4 + 4 + 5 + 4);
	assert_true(bftm_state_ok(b, len, 2));
	SAYS(b, 0, 1, "zero");
	SAYS(b, 5, 9, "five");
	SAYS(b, 7, 3, "again");
	SAYS(b, 0xfffffffe, 3, "last");
	bftm_state_app(b, len, &app_len);
	assert_int_equal(app_len, 0);
}

/* In each of these, no byte more is written than there is room for. */
static void every_room(void **state)
{
	const struct bftm_applied old[] = { done(1, 1, "one"), done(3, 1, "three") };
	const struct bftm_applied news[] = { done(2, 1, "two"), done(3, 2, "") };
	u8 before[ROOM], want[ROOM];
	u32 room, len, want_len;

	(void)state;
	assert_int_not_equal(bftm_state_make(NULL, 4, old, 2, (const u8 *)"abc", 3, before, ROOM),
			     0);
	len = bftm_state_make(before, 5, news, 2, (const u8 *)"abcde", 5, want, ROOM);
	assert_int_equal(len, HEAD + 3 * ENTRY + 6 + 5);
	for (room = 0; room <= len + 8; room++) {
		u8 *ret = malloc(room ? room : 1);

		assert_non_null(ret);
		/* The response to client 1 may give way. */
		want_len = room >= len ? len : room >= len - 3 ? len - 3 : 0;
		assert_int_equal(bftm_state_make(before, 5, news, 2, (const u8 *)"abcde", 5, ret,
						 room), want_len);
		if (room >= len)
			assert_memory_equal(ret, want, len);
		free(ret);
	}
}

/* A client at random, its last operation and response, again and again. */
static void random_histories(void **state)
{
	u64 rnd = unit_seed(__func__), version, op[8] = {};
	char text[8][24] = {};
	u8 body[2][ROOM], app[300], *old = NULL;
	u32 i, len;

	(void)state;
	memset(app, 'a', sizeof(app));
	for (version = 1; version < 3000; version++) {
		struct bftm_applied news[8];
		u8 *now = body[version & 1];
		u32 count = 0, kept = (u32)unit_between(&rnd, 0, sizeof(app));

		for (i = 0; i < 8; i++) {
			if (unit_random(&rnd) % 3)
				continue;
			op[i]++;
			snprintf(text[i], sizeof(text[i]), "%.*s",
				 (int)(unit_random(&rnd) % 20), "twenty bytes or less");
			news[count++] = done(10 * i, op[i], text[i]);
		}
		len = bftm_state_make(old, version, news, count, app, kept, now, ROOM);
		assert_true(len && bftm_state_ok(now, len, version));
		for (i = 0; i < 8; i++)
			assert_int_equal(says(now, 10 * i, op[i], text[i]), op[i] != 0);
		assert_false(says(now, 5, 0, ""));
		old = now;
	}
}

static void set_client(u8 *body, u32 i, struct bftm_state_client c)
{
	memcpy(body + HEAD + i * ENTRY, &c, ENTRY);
}

static void set_head(u8 *body, u64 version, u32 clients, u32 app_len)
{
	const struct bftm_state_head head = {
		.version = cpu_to_le64(version), .clients = cpu_to_le32(clients),
		.app_len = cpu_to_le32(app_len),
	};

	memcpy(body, &head, sizeof(head));
}

/* Where responses may be: behind all clients, before what the type keeps. */
static void hostile_responses(void **state)
{
	static const u32 spot[] = {
		0, 1, 15, 16, 39, 40, 41, 63, 64, 65, 95, 96, 99, 100, 101, 1u << 20,
		0x7fffffff, 0x80000000, 0xffffffc0, 0xffffffe0, 0xfffffff0, 0xffffffff,
	};
	size_t i, k;
	u8 *body;

	(void)state;
	/* Two clients, 32 bytes of responses, 4 of the type: 100 in all. */
	body = malloc(100);
	assert_non_null(body);
	memset(body, 0, 100);
	set_head(body, 3, 2, 4);
	set_client(body, 0, (struct bftm_state_client){ .client = cpu_to_le32(1),
							.response_at = cpu_to_le32(64) });
	for (i = 0; i < ARRAY_SIZE(spot); i++)
		for (k = 0; k < ARRAY_SIZE(spot); k++) {
			u64 at = spot[i], len = spot[k];

			set_client(body, 1, (struct bftm_state_client){
				.client = cpu_to_le32(2), .response_at = cpu_to_le32(spot[i]),
				.response_len = cpu_to_le32(spot[k]),
			});
			assert_int_equal(bftm_state_ok(body, 100, 3),
					 spot[k] == BFTM_RESPONSE_GONE ? !at :
					 at >= 64 && at + len <= 96);
		}
	free(body);
}

static void hostile_heads(void **state)
{
	static const u32 count[] = {
		0, 1, 2, 3, 4, 5, 43690, 43691, 0x0aaaaaaa, 0x0aaaaaab, 0x15555555, 0x2aaaaaab,
		0x55555556, 0x80000000, 0xaaaaaaab, 0xffffffff,
	};
	static const u32 app[] = {
		0, 1, 83, 84, 85, 99, 100, 101, 0x7fffffff, 0x80000000, 0xffffff9c, 0xffffffff,
	};
	u8 body[100] = {};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(count); i++)
		for (k = 0; k < ARRAY_SIZE(app); k++) {
			set_head(body, 3, count[i], app[k]);
			/* Zeroes are no entries that may stand there: client 0 twice, at 0. */
			assert_int_equal(bftm_state_ok(body, sizeof(body), 3),
					 !count[i] && app[k] <= sizeof(body) - HEAD);
		}
	set_head(body, 3, 0, 0);
	assert_true(bftm_state_ok(body, HEAD, 3));
	for (i = 0; i < HEAD; i++)
		assert_false(bftm_state_ok(body, (u32)i, 3));
	assert_false(bftm_state_ok(body, HEAD, 2));
	assert_false(bftm_state_ok(body, HEAD, 0));
	set_head(body, 0, 0, 0);
	assert_false(bftm_state_ok(body, HEAD, 0));
}

static void no_longer_than_the_limit(void **state)
{
	u8 *body = calloc(1, BFTM_STATE_MAX + 1);

	(void)state;
	assert_non_null(body);
	set_head(body, 1, 0, BFTM_STATE_MAX - HEAD);
	assert_true(bftm_state_ok(body, BFTM_STATE_MAX, 1));
	assert_false(bftm_state_ok(body, BFTM_STATE_MAX + 1, 1));
	assert_false(bftm_state_ok(body, 0xffffffff, 1));
	free(body);
}

/* As many clients as fit the longest body; each is found, no other. */
static void as_many_clients_as_fit(void **state)
{
	u32 most = (BFTM_STATE_MAX - HEAD) / ENTRY, i, len;
	struct bftm_applied *all = calloc(most + 1, sizeof(*all)), a;
	u8 *body = malloc(BFTM_STATE_MAX);

	(void)state;
	assert_true(all && body);
	for (i = 0; i <= most; i++)
		all[i] = done(2 * i, i + 1, "");
	assert_int_equal(bftm_state_make(NULL, 1, all, most + 1, NULL, 0, body, BFTM_STATE_MAX), 0);
	len = bftm_state_make(NULL, 1, all, most, NULL, 0, body, BFTM_STATE_MAX);
	assert_int_equal(len, HEAD + most * ENTRY);
	assert_true(bftm_state_ok(body, len, 1));
	for (i = 0; i < most; i++) {
		assert_true(bftm_state_find(body, 2 * i, &a) && a.op == i + 1);
		assert_false(bftm_state_find(body, 2 * i + 1, &a));
	}
	free(body);
	free(all);
}

static void clients_ascend_or_it_is_no_state(void **state)
{
	const struct bftm_applied two[] = { done(1, 1, ""), done(2, 1, "") };
	u8 body[ROOM];
	u32 len, i, k;

	(void)state;
	len = bftm_state_make(NULL, 1, two, 2, NULL, 0, body, ROOM);
	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++) {
			memcpy(body + HEAD, &(__le32){ cpu_to_le32(i) }, 4);
			memcpy(body + HEAD + ENTRY, &(__le32){ cpu_to_le32(k) }, 4);
			assert_int_equal(bftm_state_ok(body, len, 1), i < k);
		}
}

/* Any byte of a good body changed, or any noise: what passes can be read whole. */
static void noise(void **state)
{
	u64 rnd = unit_seed(__func__), passed = 0;
	const struct bftm_applied some[] = { done(1, 5, "one"), done(2, 6, "two"), done(9, 7, "x") };
	u8 good[ROOM];
	u32 len, i, k, app_len;

	(void)state;
	len = bftm_state_make(NULL, 1, some, 3, (const u8 *)"kept", 4, good, ROOM);
	for (i = 0; i < 100000; i++) {
		u8 *body = malloc(len);
		struct bftm_applied a;

		assert_non_null(body);
		memcpy(body, good, len);
		for (k = 0; k <= i % 3; k++)
			body[unit_between(&rnd, 8, len - 1)] = (u8)unit_random(&rnd);
		if (bftm_state_ok(body, len, 1)) {
			passed++;
			for (k = 0; k < 256; k++)
				if (bftm_state_find(body, k, &a) && a.len)
					assert_non_null(memchr(a.response, a.response[a.len - 1],
							       a.len));
			assert_true(bftm_state_app(body, len, &app_len) + app_len == body + len);
		}
		free(body);
	}
	assert_in_range(passed, 1, 99999);
}

#define OP(incarnation, number) ((u64)(incarnation) << 32 | (number))

static void which_operation_follows(void **state)
{
	static const struct {
		u64 last, op;
		bool follows;
	} cases[] = {
		{ 0, OP(0, 0), false }, { 0, OP(0, 1), true }, { 0, OP(0, 2), false },
		{ 0, OP(3, 1), true }, { 0, OP(3, 2), false }, { 0, OP(3, 0), false },
		{ OP(3, 1), OP(3, 1), false }, { OP(3, 1), OP(3, 2), true },
		{ OP(3, 1), OP(3, 3), false }, { OP(3, 2), OP(3, 1), false },
		{ OP(3, 7), OP(4, 1), true }, { OP(3, 7), OP(9, 1), true },
		{ OP(3, 7), OP(4, 2), false }, { OP(3, 7), OP(4, 0), false },
		{ OP(3, 7), OP(2, 1), false }, { OP(3, 7), OP(2, 8), false },
		{ OP(3, 0xffffffff), OP(4, 0), false }, { OP(3, 0xffffffff), OP(4, 1), true },
		{ OP(3, 0xffffffff), OP(3, 0), false }, { ~0ull, 0, false }, { ~0ull, 1, false },
		{ OP(0xffffffff, 5), OP(0xffffffff, 6), true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (bftm_op_follows(cases[i].last, cases[i].op) != cases[i].follows)
			fail_msg("%llx after %llx", (unsigned long long)cases[i].op,
				 (unsigned long long)cases[i].last);
}

static void ranks_are_ordered(void **state)
{
	static const struct bftm_rank r[] = {
		{ 0, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 }, { 1, 0, 0xffffffff },
		{ 1, 1, 0 }, { 1, 0xffffffff, 0 }, { 2, 0, 0 }, { ~0ull, 0, 0 },
		{ ~0ull, 0xffffffff, 0xffffffff },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(r); i++)
		for (k = 0; k < ARRAY_SIZE(r); k++) {
			int cmp = bftm_rank_cmp(&r[i], &r[k]);

			assert_int_equal(cmp < 0, i < k);
			assert_int_equal(cmp > 0, i > k);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(what_is_made_can_be_read),
		cmocka_unit_test(every_room),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(hostile_responses),
		cmocka_unit_test(hostile_heads),
		cmocka_unit_test(no_longer_than_the_limit),
		cmocka_unit_test(as_many_clients_as_fit),
		cmocka_unit_test(clients_ascend_or_it_is_no_state),
		cmocka_unit_test(noise),
		cmocka_unit_test(which_operation_follows),
		cmocka_unit_test(ranks_are_ordered),
	};

	return cmocka_run_group_tests_name("order_state", tests, NULL, NULL);
}
