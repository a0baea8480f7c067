// SPDX-License-Identifier: GPL-2.0
/* The checker of histories: good ones pass, planted violations do not. */
#include "object.h"

#include "selftests/core/lin/lin.h"
#include "lin_stories.h"

static void add(struct lin_history *history, const char *object, u32 client,
		const struct row *row, u64 version)
{
	struct lin_op op = {
		.client = client,
		.invoke_ns = row->invoke,
		.return_ns = row->answer ?: LIN_NEVER,
		.version = version,
		.status = row->status,
		.request_len = (u32)strlen(row->request),
		.response_len = (u32)strlen(row->response),
		.request = (const u8 *)row->request,
		.response = (const u8 *)row->response,
	};

	lin_add(history, (const u8 *)object, (u32)strlen(object), &op);
}

static enum lin_verdict judge(const struct row *row, u32 count, bool backwards, FILE *to)
{
	struct lin_history *history = lin_new();
	enum lin_verdict verdict;
	u32 i;

	for (i = 0; i < count && row[i].request; i++)
		add(history, "x", i + 1, &row[i], backwards ? count - i : i + 1);
	verdict = lin_check(history, 0, to);
	lin_free(history);
	return verdict;
}

/* Versions tell where to look first; wrong ones change nothing. */
static void stories(const struct story *story, size_t count, enum lin_verdict verdict)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (judge(story[i].row, 8, false, NULL) != verdict ||
		    judge(story[i].row, 8, true, NULL) != verdict)
			fail_msg("%s", story[i].what);
	}
}

static void good_stories(void **state)
{
	(void)state;
	stories(good, ARRAY_SIZE(good), LIN_GOOD);
}

static void planted_violations(void **state)
{
	(void)state;
	stories(violations, ARRAY_SIZE(violations), LIN_VIOLATED);
}

static void objects_are_apart(void **state)
{
	static const struct row create = C("counter"), first = { 3, 4, "add 1", 0, "1" };
	static const struct row second = { 5, 6, "add 1", 0, "1" };
	struct lin_history *history = lin_new();
	u32 objects;

	(void)state;
	add(history, "a", 1, &create, 0);
	add(history, "b", 1, &create, 0);
	add(history, "a", 1, &first, 0);
	add(history, "b", 1, &second, 0);
	assert_int_equal(lin_check(history, 0, NULL), LIN_GOOD);
	assert_int_equal(lin_count(history, &objects), 4);
	assert_int_equal(objects, 2);
	add(history, "b", 1, &first, 0);
	assert_int_equal(lin_check(history, 0, NULL), LIN_VIOLATED);
	lin_free(history);
}

static void objects_without_a_beginning(void **state)
{
	static const struct row row = { 3, 4, "add 1", 0, "1" };
	struct lin_history *history = lin_new();

	(void)state;
	add(history, "a", 1, &row, 0);
	assert_int_equal(lin_check(history, 0, NULL), LIN_NO_MODEL);
	assert_false(lin_model(history, "heap"));
	assert_true(lin_model(history, "counter"));
	assert_int_equal(lin_check(history, 0, NULL), LIN_GOOD);
	assert_true(lin_model(history, "queue"));
	assert_int_equal(lin_check(history, 0, NULL), LIN_VIOLATED);
	lin_free(history);
}

/* Nothing here can tell what these do. */
static void objects_as_a_whole(void **state)
{
	static const struct row create = C("counter"), rows[] = {
		{ 3, 4, "txn set a 1", 0, "" },
		{ 3, 4, "dump 0", 0, "16 x" }, { 3, 4, "delete-object", 0, "" },
		{ 3, 4, "restore 0 counter", EEXIST, "" },
	};
	struct lin_history *history;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		history = lin_new();
		add(history, "a", 1, &create, 0);
		assert_int_equal(lin_check(history, 0, NULL), LIN_GOOD);
		add(history, "a", 1, &rows[i], 0);
		assert_int_equal(lin_check(history, 0, NULL), LIN_NO_MODEL);
		lin_free(history);
	}
}

/* The shortest beginning that nothing explains, and no word of what follows. */
static void a_violation_is_explained(void **state)
{
	static const struct row row[] = {
		C("register"), { 3, 4, "write a", 0, "" }, { 5, 6, "write b", 0, "" },
		{ 7, 8, "read", 0, "a" }, { 9, 10, "write c", 0, "" }, { 11, 12, "read", 0, "q" },
	};
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(judge(row, ARRAY_SIZE(row), false, to), LIN_VIOLATED);
	fclose(to);
	assert_string_equal(text,
		"object x, a register: not linearizable.\n"
		"       invoked     returned  client/process, times in ms\n"
		"      0.000000     0.000001     1/0      'create register' → '' (version 1)\n"
		"      0.000002     0.000003     2/0      'write a' → '' (version 2)\n"
		"      0.000004     0.000005     3/0      'write b' → '' (version 3)\n"
		"explain all answers before, in this order; but none explains\n"
		"      0.000006     0.000007     4/0      'read' → 'a' (version 4)\n");
	free(text);
}

/* Against trying every order, with the daemon's types as the object. */

#define DRAWN_MAX 7

struct drawn {
	struct row row[DRAWN_MAX];
	char request[DRAWN_MAX][32];
	char response[DRAWN_MAX][64];
	u32 count;
};

static bool answers(struct asked *a, const struct row *row)
{
	u32 status = ask(a, row->request);

	if (!row->answer)
		return true;
	return status == row->status && (status == EINVAL || !strcmp(said(a), row->response));
}

static bool every_order(const struct drawn *d, const struct bftm_bytes *app, u32 placed)
{
	u32 i, k, missing = 0, may;
	bool found = false;

	for (i = 0; i < d->count; i++)
		missing += d->row[i].answer && !(placed & 1u << i);
	if (!missing)
		return true;
	for (i = 0; i < d->count && !found; i++) {
		struct asked a = {};

		may = !(placed & 1u << i);
		for (k = 0; k < d->count; k++)
			may &= placed & 1u << k || !d->row[k].answer ||
			       d->row[k].answer >= d->row[i].invoke;
		if (!may)
			continue;
		bftm_bytes_add(&a.app, app->data, app->len);
		found = answers(&a, &d->row[i]) && every_order(d, &a.app, placed | 1u << i);
		forget(&a);
	}
	return found;
}

static const char *const words[][7] = {
	{ "counter", "add 1", "add 2", "add -1", "get", "get", "x" },
	{ "register", "write a", "write b", "cas a b", "cas b a", "read", "cas  a" },
	{ "register", "decide a", "decide b", "write b", "read", "cas a b", "write " },
	{ "map", "set a 1", "set b 1", "cas a 1 2", "delete a", "get a", "list" },
	{ "queue", "push a", "push b", "push b", "pop", "peek", "len" },
	{ "log", "append a", "append b", "append b", "read 0", "read 1 1", "len" },
};

/* Overlapping requests, answered in the order they are drawn, some of it changed. */
static void draw(struct drawn *d, const char *const *word, u64 *seed)
{
	u32 i, at, from, lost = (u32)unit_between(seed, 0, 1) ? 1 : 5;
	struct asked a = {};

	d->count = (u32)unit_between(seed, 2, DRAWN_MAX);
	for (i = 0; i < d->count; i++) {
		struct row *row = &d->row[i];

		at = 10 + 10 * i;
		from = (u32)unit_between(seed, 0, 25);
		if (i && unit_between(seed, 0, 9))
			snprintf(d->request[i], sizeof(d->request[i]), "%s",
				 word[unit_between(seed, 1, 6)]);
		else
			snprintf(d->request[i], sizeof(d->request[i]), "create %s", word[0]);
		row->invoke = at > from ? at - from : 1;
		row->answer = unit_between(seed, 0, lost) ? at + (u32)unit_between(seed, 0, 25) : NEVER;
		row->request = d->request[i];
		row->response = d->response[i];
		row->status = row->answer || unit_between(seed, 0, 1) ? ask(&a, row->request) : 0;
		snprintf(d->response[i], sizeof(d->response[i]), "%.63s",
			 a.response.len ? said(&a) : "");
	}
	forget(&a);
	for (i = 0; i < 2 && !unit_between(seed, 0, 1); i++) {
		at = (u32)unit_between(seed, 0, d->count - 1);
		from = (u32)unit_between(seed, 0, d->count - 1);
		memcpy(d->response[at], d->response[from], sizeof(d->response[at]));
		d->row[at].status = d->row[from].status;
	}
}

static void as_every_order_says(void **state)
{
	u64 seed = unit_seed("as_every_order_says");
	u32 run, verdicts[2] = {};
	struct drawn d;

	(void)state;
	for (run = 0; run < 6000; run++) {
		struct bftm_bytes none = {};
		enum lin_verdict verdict;
		bool possible;
		u32 i;

		draw(&d, words[run % ARRAY_SIZE(words)], &seed);
		verdict = judge(d.row, d.count, run & 1, NULL);
		if (verdict == LIN_NO_MODEL)
			continue;
		possible = every_order(&d, &none, 0);
		verdicts[possible]++;
		if (possible == (verdict == LIN_GOOD))
			continue;
		for (i = 0; i < d.count; i++)
			print_message("%u %u '%s' %u '%s'\n", d.row[i].invoke, d.row[i].answer,
				      d.row[i].request, d.row[i].status, d.row[i].response);
		fail_msg("verdict %d of what is %spossible", verdict, possible ? "" : "im");
	}
	assert_true(verdicts[0] > 500 && verdicts[1] > 500);
}

/* 8 clients, 10,000 operations: seconds, whatever the versions say. */
static void long_histories(void **state)
{
	u64 seed = unit_seed("long_histories");
	struct lin_history *history = lin_new();
	struct row create = C("counter");
	u32 i, value = 0;

	(void)state;
	add(history, "x", 1, &create, 1);
	for (i = 1; i < 10000; i++) {
		char request[32], response[32];
		u32 more = (u32)unit_between(&seed, 0, 9);
		struct row row = {
			.invoke = 10 + 10 * i - (u32)unit_between(&seed, 0, 40 < 10 * i ? 40 : 0),
			.answer = 10 + 10 * i + (u32)unit_between(&seed, 0, 40),
			.request = request,
			.response = response,
		};

		value += more;
		snprintf(request, sizeof(request), more ? "add %u" : "get", more);
		snprintf(response, sizeof(response), "%u", i == 9990 ? value + 100 : value);
		add(history, "x", i % 8, &row, i == 9990 ? 1 : 0);
		if (i == 9980)
			assert_int_equal(lin_check(history, 0, NULL), LIN_GOOD);
	}
	assert_int_equal(lin_check(history, 0, NULL), LIN_VIOLATED);
	lin_free(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_stories),
		cmocka_unit_test(planted_violations),
		cmocka_unit_test(objects_are_apart),
		cmocka_unit_test(objects_without_a_beginning),
		cmocka_unit_test(objects_as_a_whole),
		cmocka_unit_test(a_violation_is_explained),
		cmocka_unit_test(as_every_order_says),
		cmocka_unit_test(long_histories),
	};

	return cmocka_run_group_tests_name("linearizability", tests, NULL, NULL);
}
