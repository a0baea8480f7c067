// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of the objects of any cluster, with liars, servers that lost their memory, and servers out
 * of reach: what is listed exists, and what can be used by those who have told is listed.
 */
#include <string.h>

#include "core/ordering/listing.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "order_table.h"

#define RESEND	1000u

static struct bftm_listing l;

/*
 * Any cluster. Each object was committed some times, at any q servers; servers may lose their
 * memory and be told again, or not. Liars say anything, in any pages. The listing hears of any
 * servers; one is out of reach now and then.
 */
#define OBJECTS	12

static struct {
	u32 n, b, liars, lost;
	u64 version[OBJECTS];		/* that was committed last, 0 for none */
	const char *type[OBJECTS];	/* … "" when it was deleted */
	u32 remember[OBJECTS];		/* servers that are no part of those that recover */
	struct order_table server[13];
} world;

static const char *name_of(u32 object)
{
	static const char names[OBJECTS][4] = {
		"a", "ab", "b", "ba", "c", "d", "e", "f", "g", "h", "i", "j",
	};

	return names[object];
}

static u32 any_servers(u64 *rnd, u32 count)
{
	u32 mask = 0;

	while (count) {
		u32 bit = 1u << unit_between(rnd, 0, world.n - 1);

		count -= !(mask & bit);
		mask |= bit;
	}
	return mask;
}

static void commit_at(u32 object, u32 servers)
{
	u32 u;

	for (u = 0; u < world.n; u++)
		if (servers >> u & 1)
			thing_commit(&world.server[u].thing[object], world.type[object],
				     world.version[object]);
}

/* A client that commits reaches q that remember, and may bring others their memory back. */
static void world_commit(u64 *rnd, u32 object)
{
	static const char *const types[] = { "map", "log", "" };
	u32 q = bftm_order_quorum(world.n, world.b), servers, tries;

	for (tries = 0; tries < 50; tries++) {
		servers = any_servers(rnd, (u32)unit_between(rnd, q, world.n));
		if (bftm_count(servers & world.remember[object]) >= q)
			break;
	}
	if (tries == 50)
		return;
	world.version[object]++;
	if (!world.type[object] || unit_between(rnd, 0, 5) == 0)
		world.type[object] = types[unit_between(rnd, 0, 2)];
	commit_at(object, servers);
	world.remember[object] |= servers;
}

static void world_lose(u64 *rnd)
{
	u32 u = (u32)unit_between(rnd, 0, world.n - 1), i;

	world.server[u].recovering = true;
	for (i = 0; i < OBJECTS; i++) {
		world.server[u].thing[i].object.sc = NULL;
		world.remember[i] &= ~(1u << u);
	}
}

static void world_make(u64 *rnd)
{
	u32 u, i, k;

	world.b = (u32)unit_between(rnd, 0, 2);
	world.n = 6 * world.b + 1 - (world.b && unit_random(rnd) & 1 ? 2 * world.b : 0);
	world.liars = world.b ? any_servers(rnd, world.b) : 0;
	for (u = 0; u < world.n; u++) {
		world.server[u].count = 0;
		world.server[u].recovering = false;
		for (i = 0; i < OBJECTS; i++)
			table_add(&world.server[u], name_of(i), NULL, 0);
	}
	for (i = 0; i < OBJECTS; i++) {
		world.version[i] = 0;
		world.type[i] = NULL;
		world.remember[i] = (1u << world.n) - 1;
	}
	for (k = (u32)unit_between(rnd, 0, 60); k; k--) {
		if (unit_between(rnd, 0, 9) == 0)
			world_lose(rnd);
		else
			world_commit(rnd, (u32)unit_between(rnd, 0, OBJECTS - 1));
	}
}

/* A page of a liar: any objects, true ones and others, any versions. */
static void lie(u64 *rnd, const struct bftm_order_msg *req, struct bftm_order_msg *reply, u8 *out)
{
	static const char *const types[] = { "map", "log", "", "bogus" };
	u32 i;

	*reply = (struct bftm_order_msg){
		.type = BFTM_ORDER_LISTED, .server_epoch = 5, .cursor = req->cursor,
		.next = unit_random(rnd) & 1 ? req->cursor + 1 : 0,
		.recovering = unit_random(rnd) & 1, .data = out,
	};
	for (i = (u32)unit_between(rnd, 0, 30); i; i--) {
		struct bftm_listed listed = {
			.version = unit_between(rnd, 1, unit_random(rnd) & 1 ? 20 : ~0ull >> 1),
			.type = (const u8 *)types[unit_between(rnd, 0, 3)],
		};

		listed.name = (const u8 *)(unit_random(rnd) & 1 ? "x" :
					   name_of((u32)unit_between(rnd, 0, OBJECTS - 1)));
		listed.name_len = (u8)strlen((const char *)listed.name);
		listed.type_len = (u8)strlen((const char *)listed.type);
		bftm_listed_put(&listed, out + reply->data_len);
		reply->data_len = (u16)(reply->data_len + bftm_listed_len(&listed));
	}
}

/* The report of each server about each name; the first word of a liar that says more. */
static struct bftm_listed told[OBJECTS + 1][13];
static u32 has_told[OBJECTS + 1];
static u8 kept[13][64][BFTM_ORDER_ROOM_MAX];

static void keep(u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_listed listed;
	u32 at, i;

	for (at = 0; at < msg->data_len; ) {
		at += bftm_listed_get(msg->data + at, msg->data_len - at, &listed);
		for (i = 0; i < OBJECTS; i++)
			if (strlen(name_of(i)) == listed.name_len &&
			    !memcmp(name_of(i), listed.name, listed.name_len))
				break;
		if (!(has_told[i] >> u & 1))
			told[i][u] = listed;
		has_told[i] |= 1u << u;
	}
}

static void run_listing(u64 *rnd, const struct bftm_order_cfg *cfg, u32 reached)
{
	u64 now = 1;
	u32 u, at;

	memset(has_told, 0, sizeof(has_told));
	bftm_listing_begin(&l, cfg, now);
	for (u = 0; u < world.n; u++)
		for (at = 0; reached >> u & 1 && !((l.told | l.silent) >> u & 1) && at < 64; at++) {
			const struct bftm_order_msg req = {
				.type = BFTM_ORDER_LIST, .cursor = l.server[u].cursor,
				.room = (u16)(8 * unit_between(rnd, 16, 40)),
			};
			struct bftm_order_msg msg;

			if (world.liars >> u & 1) {
				lie(rnd, &req, &msg, kept[u][at]);
			} else {
				msg = table_page(&world.server[u], &req, NULL, 0, kept[u][at]);
				msg.server_epoch = 5;
			}
			if (bftm_listing_page(&l, cfg, u, &msg, now) == BFTM_PAGE_KEPT)
				keep(u, &msg);
		}
	while (bftm_listing_verdict(&l, cfg, now) == BFTM_LISTING_ON) {
		now = bftm_listing_due(&l, cfg);
		assert_true(now < 100 * RESEND);
		bftm_listing_wake(&l, cfg, now);
	}
}

/* Could the object be used by those who have told; or, if the list is complete, by anybody? */
static bool is_usable(const struct bftm_order_cfg *cfg, u32 object)
{
	u32 servers = bftm_listing_complete(&l, cfg) ? bftm_all(world.n) : l.told;

	return bftm_count((world.remember[object] | world.liars) & servers) >=
	       bftm_order_quorum(world.n, world.b);
}

static enum bftm_existence judge_object(u32 object, const char **ret_type)
{
	struct bftm_listed said[13];
	u32 u, i, count = 0;
	enum bftm_existence exists;
	u64 version;

	for (u = 0; u < world.n; u++)
		if (has_told[object] & l.told & 1u << u)
			said[count++] = told[object][u];
	exists = bftm_listing_judge(said, count, world.b, &version, &i);
	*ret_type = exists == BFTM_EXISTS ? (const char *)said[i].type : NULL;
	return exists;
}

static void check_object(const struct bftm_order_cfg *cfg, u32 object)
{
	const char *type, *want = world.type[object];
	enum bftm_existence exists = judge_object(object, &type);

	/* Nothing is under way: whoever can use it must find it at once, as it is. */
	if (!is_usable(cfg, object))
		return;
	if (!want || !*want) {
		assert_int_equal(exists, BFTM_EXISTS_NOT);
		return;
	}
	assert_int_equal(exists, BFTM_EXISTS);
	assert_memory_equal(type, want, strlen(want));
}

static void any_cluster(void **state)
{
	u64 rnd = unit_seed(__func__);
	u32 run, i, done = 0, usable = 0;
	const char *type;

	(void)state;
	for (run = 0; run < 3000; run++) {
		struct bftm_order_cfg cfg = { .resend_ns = RESEND };

		world_make(&rnd);
		cfg.n = world.n;
		cfg.b = world.b;
		run_listing(&rnd, &cfg, (u32)unit_random(&rnd) | (u32)unit_random(&rnd) |
					(u32)unit_random(&rnd));
		if (bftm_listing_verdict(&l, &cfg, ~0ull) == BFTM_LISTING_FEW)
			continue;
		done++;
		for (i = 0; i < OBJECTS; i++) {
			usable += is_usable(&cfg, i);
			check_object(&cfg, i);
		}
		/* Nobody has made x. */
		assert_int_equal(judge_object(OBJECTS, &type), BFTM_EXISTS_NOT);
	}
	printf("# %u listings, %u objects that could be used\n", done, usable);
	/* With n = 1, 5, 7, 9 and 13: more than a third of the lists come about, and always do. */
	assert_true(done > 500 && usable > done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cluster),
	};

	return cmocka_run_group_tests_name("order_listing_any", tests, NULL, NULL);
}
