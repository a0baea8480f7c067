// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of the objects of a cluster, as the daemon makes them: what is sent to which server, and
 * the answer, when servers say the same, or say a name twice, never end, are restarted or silent.
 */
#include <errno.h>
#include <string.h>

#include "unit.h"

#include "cluster/cluster.h"
#include "core/ordering/listing.h"
#include "order/ordering.h"
#include "text/json.h"

#define SERVERS	7u
#define LIMIT	(1000 * BFTM_NS_PER_SEC)

struct bftm_order_totals bftm_order_totals;

static struct bftm_counters counters;
static struct bftm_identity identity = { .counters = &counters };
static struct bftm_cluster cluster, other = { .conf.n = 3, .conf.b = 1 };
static u64 now;
static struct bftm_timer *armed;
/* Of each server: how often it was asked, and for which page the last time. */
static u32 asked[SERVERS];
static u64 cursor[SERVERS];
static struct json_object *said;
static u32 ends;

u64 bftm_now(void)
{
	return now;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	armed = timer;
	timer->at_ns = at_ns;
}

void bftm_timer_stop(struct bftm_timer *timer)
{
	if (armed == timer)
		armed = NULL;
}

void bftm_cluster_send_order(struct bftm_cluster *cl, u32 to, const struct bftm_order_msg *msg)
{
	u32 u;

	assert_ptr_equal(cl, &cluster);
	assert_int_equal(msg->type, BFTM_ORDER_LIST);
	assert_int_equal(bftm_order_len(msg), BFTM_DATAGRAM_MAX);
	for (u = 0; u < SERVERS; u++)
		if (to >> u & 1) {
			asked[u]++;
			cursor[u] = msg->cursor;
			counters.seq++;
		}
}

static void take_said(int arg, struct json_object *answer)
{
	assert_int_equal(arg, 17);
	json_object_put(said);
	said = answer;
	ends++;
}

static int start(void **state)
{
	(void)state;
	cluster.identity = &identity;
	cluster.conf.n = SERVERS;
	cluster.conf.b = 1;
	cluster.order_cfg = (struct bftm_order_cfg){ .n = SERVERS, .b = 1, .resend_ns = 1000 };
	memset(asked, 0, sizeof(asked));
	counters.seq = 100;
	now = 1;
	ends = 0;
	return bftm_listing_start(&cluster, LIMIT, take_said, 17);
}

static int stop(void **state)
{
	(void)state;
	bftm_listings_stop(&cluster);
	assert_int_equal(cluster.acquires.count, 0);
	json_object_put(said);
	said = NULL;
	return 0;
}

/* A page with these objects, "name:type:version" each. */
static void tell(u32 u, const char *words, u64 next)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_LISTED, .seq = counters.seq, .cursor = cursor[u], .next = next,
		.server_epoch = 5,
	};
	char text[128], *word, *type;
	u8 data[512];

	snprintf(text, sizeof(text), "%s", words);
	msg.data = data;
	for (word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		struct bftm_listed listed = { .name = (u8 *)word };

		type = strchr(word, ':') + 1;
		listed.name_len = (u8)(type - word - 1);
		listed.type = (u8 *)type;
		listed.type_len = (u8)strcspn(type, ":");
		listed.version = strtoull(type + listed.type_len + 1, NULL, 10);
		bftm_listed_put(&listed, data + msg.data_len);
		msg.data_len = (u16)(msg.data_len + bftm_listed_len(&listed));
	}
	bftm_listings_answer(&cluster, u, &msg);
}

static void assert_said(const char *words)
{
	assert_int_equal(ends, 1);
	assert_string_equal(json_object_to_json_string_ext(said, JSON_C_TO_STRING_PLAIN), words);
}

#define LIST(objects) \
	"{\"objects\":[" objects "],\"servers\":7,\"told\":5,\"complete\":true}"
#define MAP_A "{\"name\":\"a\",\"type\":\"map\",\"version\":3}"
#define LOG_B "{\"name\":\"b\",\"type\":\"log\",\"version\":9}"

/* Page by page, by name, whatever order the servers have. */
static void servers_agree(void **state)
{
	u32 u;

	(void)state;
	for (u = 0; u < SERVERS; u++)
		assert_int_equal(asked[u], 1);
	assert_int_equal(cluster.acquires.count, 1);
	for (u = 0; u < 5; u++) {
		assert_int_equal(ends, 0);
		tell(u, u & 1 ? "a:map:3" : "b:log:9", 44);
		assert_int_equal(asked[u], 2);
		assert_int_equal(cursor[u], 44);
		tell(u, u & 1 ? "b:log:9 gone::4" : "gone::4 a:map:3", 0);
		assert_int_equal(asked[u], 2);
	}
	assert_said(LIST(MAP_A "," LOG_B));
	assert_int_equal(cluster.acquires.count, 0);
	assert_null(armed);
}

/*
 * A server that says a name twice has said it once; a name that one server says alone is not
 * listed.
 */
static void a_liar_repeats_itself(void **state)
{
	u32 u;

	(void)state;
	tell(0, "x:map:1 x:map:1 x:map:1 a:map:3", 0);
	for (u = 1; u < 5; u++)
		tell(u, "a:map:3", 0);
	assert_said(LIST(MAP_A));
}

static void a_list_without_end(void **state)
{
	u32 i, u;

	(void)state;
	for (i = 0; i <= BFTM_LISTING_PAGES_MAX; i++)
		tell(6, "x:map:1", i + 1);
	assert_int_equal(asked[6], BFTM_LISTING_PAGES_MAX + 1);
	tell(6, "x:map:1", 0);
	for (u = 1; u < 6; u++)
		tell(u, "a:map:3", 0);
	assert_said(LIST(MAP_A));
}

/* It changes just now, and a liar pretends to have the last version. */
static void an_object_that_changes(void **state)
{
	(void)state;
	tell(0, "a::99", 0);
	tell(1, "a:map:4", 0);
	tell(2, "a:map:3", 0);
	tell(3, "a:map:3", 0);
	tell(4, "a:map:2", 0);
	assert_said(LIST("{\"name\":\"a\",\"type\":null,\"version\":4}"));
}

/* The list of a server from before its restart is void. */
static void a_server_is_restarted(void **state)
{
	u32 u;

	(void)state;
	tell(0, "old:map:1", 44);
	tell(1, "old:map:1", 44);
	bftm_listings_epoch(&cluster, 0);
	bftm_listings_epoch(&cluster, 1);
	assert_int_equal(cursor[0] | cursor[1], 0);
	assert_int_equal(asked[0], 3);
	for (u = 0; u < 5; u++)
		tell(u, "a:map:3", 0);
	assert_said(LIST(MAP_A));
	bftm_listings_epoch(&cluster, 0);
	assert_int_equal(asked[0], 3);
}

/* An answer to what was asked before is none. */
static void what_was_asked_before(void **state)
{
	struct bftm_order_msg msg = { .type = BFTM_ORDER_LISTED, .seq = 100, .server_epoch = 5 };

	(void)state;
	bftm_listings_answer(&cluster, 0, &msg);
	bftm_listings_answer(&other, 1, &msg);
	assert_int_equal(asked[0], 1);
	tell(0, "a:map:3", 2);
	assert_int_equal(asked[0], 2);
}

static void too_few_answer(void **state)
{
	u32 u, wakes = 0;

	(void)state;
	for (u = 0; u < 4; u++)
		tell(u, "a:map:3", 0);
	for (; armed; wakes++) {
		assert_true(armed->at_ns > now);
		now = armed->at_ns;
		armed->fire(armed);
	}
	assert_int_equal(wakes, BFTM_ORDER_SENDS);
	assert_int_equal(asked[3], 1);
	assert_int_equal(asked[6], BFTM_ORDER_SENDS);
	assert_said("{\"error\":\"too few servers answer\",\"errno\":101}");
}

static void the_time_is_over(void **state)
{
	u32 u, i;

	(void)state;
	for (u = 0; u < 4; u++)
		tell(u, "a:map:3", 0);
	/* A page each time it is waited for: a liar that is not silent. */
	for (i = 0; armed && i < 5000; i++) {
		now += 500 * BFTM_NS_PER_SEC;
		tell(4, "", i + 1);
	}
	assert_int_equal(i, 2);
	assert_said("{\"error\":\"the time is over\",\"errno\":110}");
}

static void the_daemon_ends(void **state)
{
	(void)state;
	bftm_listings_stop(&other);
	assert_int_equal(ends, 0);
	bftm_listings_stop(&cluster);
	assert_said("{\"error\":\"bftmutexd ends\",\"errno\":125}");
}

static void so_many_at_a_time(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(bftm_listing_start(&other, LIMIT, take_said, 17), -EPROTONOSUPPORT);
	for (i = 1; i < 8; i++)
		assert_int_equal(bftm_listing_start(&cluster, LIMIT, take_said, 17), 0);
	assert_int_equal(bftm_listing_start(&cluster, LIMIT, take_said, 17), -EAGAIN);
	/* One answer is for all of them. */
	for (i = 0; i < 5; i++)
		tell(i, "a:map:3", 0);
	assert_int_equal(ends, 8);
	assert_int_equal(bftm_listing_start(&cluster, LIMIT, take_said, 17), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(servers_agree),
		TEST(a_liar_repeats_itself),
		TEST(a_list_without_end),
		TEST(an_object_that_changes),
		TEST(a_server_is_restarted),
		TEST(what_was_asked_before),
		TEST(too_few_answer),
		TEST(the_time_is_over),
		TEST(the_daemon_ends),
		TEST(so_many_at_a_time),
	};

	return cmocka_run_group_tests_name("order_lists", tests, NULL, NULL);
}
