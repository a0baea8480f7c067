// SPDX-License-Identifier: GPL-2.0
/*
 * The list of a server: each object that it remembers and the client may use, once, page by page,
 * whatever comes and goes meanwhile; and no page is longer than it was asked for.
 */
#include <string.h>

#include "order_table.h"

static struct order_table table;
static u8 out[BFTM_ORDER_ROOM_MAX];
/* The content of a listing: how often each object, by its place in the table. */
static u32 told[TABLE_MAX];
static u32 pages;

static int empty_table(void **state)
{
	(void)state;
	table.count = 0;
	table.recovering = false;
	return 0;
}

static struct order_thing *find(const struct bftm_listed *listed)
{
	u32 i;

	for (i = 0; i < table.count; i++)
		if (table.thing[i].name_len == listed->name_len &&
		    !memcmp(table.thing[i].name, listed->name, listed->name_len))
			return &table.thing[i];
	fail_msg("a name that is not in the table");
	return NULL;
}

static struct bftm_order_msg list_request(u64 cursor, u32 room)
{
	return (struct bftm_order_msg){
		.type = BFTM_ORDER_LIST, .client = 7, .seq = 5, .cursor = cursor, .room = (u16)room,
	};
}

/* As it comes out of a datagram that is no longer than the request. */
static void through_the_wire(const struct bftm_order_msg *req, struct bftm_order_msg *reply)
{
	static u8 buf[BFTM_DATAGRAM_MAX + 8];
	size_t len = bftm_order_wire_put(reply, buf);

	assert_true(len <= bftm_order_len(req));
	assert_int_equal(bftm_order_wire_get(buf, len, reply), BFTM_WIRE_OK);
	assert_int_equal(reply->type, BFTM_ORDER_LISTED);
	assert_int_equal(reply->seq, req->seq);
	assert_int_equal(reply->cursor, req->cursor);
}

/* The page from @cursor on. Return: where it goes on. */
static u64 take_page(u64 cursor, u32 room, const struct bftm_rule *rule, u32 rules)
{
	const struct bftm_order_msg req = list_request(cursor, room);
	struct bftm_order_msg reply = table_page(&table, &req, rule, rules, out);
	struct bftm_listed listed;
	u32 at;

	through_the_wire(&req, &reply);
	assert_int_equal(reply.recovering, table.recovering);
	for (at = 0; at < reply.data_len; ) {
		struct order_thing *e;

		at += bftm_listed_get(reply.data + at, reply.data_len - at, &listed);
		e = find(&listed);
		assert_int_equal(listed.version, e->body.id.version);
		told[e - table.thing]++;
	}
	pages++;
	return reply.next;
}

static void take_list(u32 room, const struct bftm_rule *rule, u32 rules)
{
	u64 cursor = 0;

	memset(told, 0, sizeof(told));
	pages = 0;
	do {
		cursor = take_page(cursor, room, rule, rules);
	} while (cursor);
}

static void a_server_without_objects(void **state)
{
	(void)state;
	take_list(BFTM_ORDER_LIST_LEN, NULL, 0);
	assert_int_equal(pages, 1);
	table.recovering = true;
	take_list(BFTM_ORDER_ROOM_MAX, NULL, 0);
	assert_int_equal(pages, 1);
}

static void names_of_any_length(u32 count)
{
	char name[BFTM_NAME_LEN_MAX];
	u32 i;

	for (i = 0; i < count; i++) {
		memset(name, 'a', sizeof(name));
		name[3 + i % (BFTM_OBJECT_NAME_MAX - 2)] = '\0';
		name[0] = (char)('0' + i / 100);
		name[1] = (char)('0' + i / 10 % 10);
		name[2] = (char)('0' + i % 10);
		table_add(&table, name, i % 3 ? "counter" : "the-longest-name-of-all-of-type", i + 1);
	}
}

/* In pages of every size that a request may have; the longest object fits into the smallest. */
static void every_room(void **state)
{
	u32 room, i;

	(void)state;
	names_of_any_length(100);
	for (room = BFTM_ORDER_LIST_LEN; room <= BFTM_ORDER_ROOM_MAX; room += 8) {
		take_list(room, NULL, 0);
		for (i = 0; i < table.count; i++)
			assert_int_equal(told[i], 1);
	}
	assert_in_range(pages, 100 / BFTM_PAGE_LOOKS + 1, 10);
}

/* A name that was only promised is no object; one that was deleted is told as such. */
static void what_is_told(void **state)
{
	struct bftm_order_msg req = list_request(0, BFTM_ORDER_ROOM_MAX), reply;
	struct bftm_listed listed;
	u32 len;

	(void)state;
	table_add(&table, "promised", NULL, 0)->object.max.count = 5;
	table_add(&table, "lost", NULL, 0)->object.recovering = true;
	table_add(&table, "visits", "counter", 9);
	table_add(&table, "deleted", "", 12);
	take_list(BFTM_ORDER_ROOM_MAX, NULL, 0);
	assert_int_equal(told[0] | told[1], 0);
	assert_int_equal(told[2], 1);
	assert_int_equal(told[3], 1);
	reply = table_page(&table, &req, NULL, 0, out);
	len = bftm_listed_get(reply.data, reply.data_len, &listed);
	assert_int_equal(listed.type_len, 7);
	assert_memory_equal(listed.type, "counter", 7);
	assert_int_equal(bftm_listed_get(reply.data + len, reply.data_len - len, &listed),
			 reply.data_len - len);
	assert_int_equal(listed.type_len, 0);
	assert_int_equal(listed.version, 12);
}

/* A client is told of what it may use, by the first rule that fits, and of nothing else. */
static void rights(void **state)
{
	static const struct bftm_rule rules[] = {
		{ .client_first = 7, .client_last = 7, .prefix_len = 4, .prefix = "app/", },
		{ .client_first = 1, .client_last = 9, .deny = true, .prefix_len = 1, .prefix = "a" },
		{ .client_first = 8, .client_last = 8 },
		{ .client_first = 7, .client_last = 7, .prefix_len = 1, .prefix = "b" },
	};

	(void)state;
	table_add(&table, "app/one", "map", 1);
	table_add(&table, "app", "map", 1);
	table_add(&table, "b", "map", 1);
	table_add(&table, "c", "map", 1);
	take_list(BFTM_ORDER_ROOM_MAX, rules, 4);
	assert_int_equal(told[0], 1);
	assert_int_equal(told[1], 0);
	assert_int_equal(told[2], 1);
	assert_int_equal(told[3], 0);
	take_list(BFTM_ORDER_ROOM_MAX, rules + 1, 1);
	assert_int_equal(told[0] | told[1] | told[2] | told[3], 0);
	take_list(BFTM_ORDER_ROOM_MAX, rules, 0);
	assert_int_equal(told[0] & told[1] & told[2] & told[3], 1);
}

/* A page costs a server so much and no more, also where it tells nothing. */
static void a_page_is_bounded(void **state)
{
	static const struct bftm_rule nothing = { .client_first = 7, .client_last = 7, .deny = true };
	u64 cursor;
	u32 i;

	(void)state;
	names_of_any_length(TABLE_MAX);
	cursor = take_page(0, BFTM_ORDER_ROOM_MAX, &nothing, 1);
	assert_int_equal(cursor, table.thing[BFTM_PAGE_LOOKS].key);
	take_list(BFTM_ORDER_ROOM_MAX, &nothing, 1);
	assert_int_equal(pages, (TABLE_MAX + BFTM_PAGE_LOOKS - 1) / BFTM_PAGE_LOOKS);
	for (i = 0; i < TABLE_MAX; i++)
		assert_int_equal(told[i], 0);
}

/* An object that is there from the first page to the last is told once; nothing is told twice. */
static void objects_come_and_go(void **state)
{
	u64 rnd = unit_seed(__func__), cursor;
	bool stayed[TABLE_MAX];
	u32 run, i;

	(void)state;
	names_of_any_length(TABLE_MAX);
	for (run = 0; run < 100; run++) {
		memset(told, 0, sizeof(told));
		for (i = 0; i < TABLE_MAX; i++)
			stayed[i] = table.thing[i].there = unit_random(&rnd) & 1;
		cursor = 0;
		do {
			cursor = take_page(cursor, (u32)unit_between(&rnd, 16, 148) * 8, NULL, 0);
			for (i = 0; i < 20; i++) {
				u32 which = (u32)unit_between(&rnd, 0, TABLE_MAX - 1);

				table.thing[which].there = unit_random(&rnd) & 1;
				stayed[which] &= table.thing[which].there;
			}
		} while (cursor);
		for (i = 0; i < TABLE_MAX; i++)
			assert_in_range(told[i], stayed[i], 1);
	}
}

/* A page promises nothing. */
static void nothing_changes(void **state)
{
	static struct order_table before;

	(void)state;
	names_of_any_length(50);
	memcpy(&before, &table, sizeof(table));
	take_list(BFTM_ORDER_LIST_LEN, NULL, 0);
	assert_memory_equal(&before, &table, sizeof(table));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, empty_table)
	const struct CMUnitTest tests[] = {
		TEST(a_server_without_objects),
		TEST(every_room),
		TEST(what_is_told),
		TEST(rights),
		TEST(a_page_is_bounded),
		TEST(objects_come_and_go),
		TEST(nothing_changes),
	};

	return cmocka_run_group_tests_name("order_page", tests, NULL, NULL);
}
