// SPDX-License-Identifier: GPL-2.0
/*
 * An iteration from phase to phase, servers that need a body, and answers that
 * belong to something else. How it ends is in test_order_client_ends.c.
 */
#include "order_iteration.h"

static void three_round_trips(void **state)
{
	u32 u;

	(void)state;
	begin();
	assert_int_equal(order_out.send, BFTM_ORDER_GET);
	assert_int_equal(order_out.to, ALL);
	assert_int_equal(o.rank.count, 1);
	assert_int_equal(o.rank.client, ME);
	for (u = 0; u < 4; u++)
		assert_int_equal(got_one(u, state_id(0, 0), 0), BFTM_ORDER_ON);
	assert_int_equal(got_one(4, state_id(0, 0), 0), BFTM_ORDER_MAKE);
	assert_int_equal(order_out.send, 0);
	assert_int_equal(made(state_id(1, 'A')), BFTM_ORDER_ON);
	assert_int_equal(order_out.send, BFTM_ORDER_PROPOSE);
	assert_int_equal(order_out.to, ALL);
	for (u = 6; u > 2; u--) {
		assert_int_equal(order_says(u, BFTM_ORDER_PROPOSED), BFTM_ORDER_ON);
		assert_int_equal(order_out.send, 0);
	}
	order_says(2, BFTM_ORDER_PROPOSED);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT);
	assert_int_equal(order_out.to, ALL);
	for (u = 0; u < 4; u++)
		assert_int_equal(order_says(u, BFTM_ORDER_COMMITTED), BFTM_ORDER_ON);
	assert_int_equal(order_says(4, BFTM_ORDER_COMMITTED), BFTM_ORDER_DONE);
	assert_int_equal(order_out.send, 0);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	assert_int_equal(o.completed, 1);
	begin();
	assert_int_equal(o.rank.count, 2);
}

/* q of the answers, whatever n and b. */
static void every_quorum(void **state)
{
	u32 b, n, u, q;

	for (b = 0; b <= 7; b++)
		for (n = 4 * b + 1; n <= BFTM_SERVERS_MAX; n++) {
			fresh_iteration(state);
			order_cfg.b = b;
			order_cfg.n = n;
			q = (n + 2 * b + 2) / 2;
			reach(BFTM_ORDER_COMMITTING);
			assert_int_equal(order_out.to, n == 32 ? ~0u : (1u << n) - 1);
			for (u = 0; u < q; u++)
				assert_int_equal(order_says(n - 1 - u, BFTM_ORDER_COMMITTED),
						 u == q - 1 ? BFTM_ORDER_DONE : BFTM_ORDER_ON);
		}
}

/* An answer counts once, in the phase and the iteration that asked for it. */
static void late_answers_do_not_count(void **state)
{
	static const enum bftm_order_phase phases[] = {
		BFTM_ORDER_IDLE, BFTM_ORDER_GETTING, BFTM_ORDER_MAKING, BFTM_ORDER_PROPOSING,
		BFTM_ORDER_COMMITTING,
	};
	static const u8 fits[] = {
		[BFTM_ORDER_GETTING] = BFTM_ORDER_GOT,
		[BFTM_ORDER_PROPOSING] = BFTM_ORDER_PROPOSED,
		[BFTM_ORDER_COMMITTING] = BFTM_ORDER_COMMITTED,
		[BFTM_ORDER_MAKING] = 0,
	};
	struct bftm_order before;
	size_t i;
	u32 type, wrong;

	for (i = 0; i < ARRAY_SIZE(phases); i++)
		for (type = 0; type < 256; type++)
			for (wrong = 0; wrong < 4; wrong++) {
				struct bftm_order_msg msg = { .type = (u8)type };

				fresh_iteration(state);
				if (phases[i])
					reach(phases[i]);
				msg.rank = o.rank;
				msg.rank.count += wrong == 1;
				msg.rank.client += wrong == 2;
				msg.rank.incarnation += wrong == 3;
				before = o;
				bftm_order_answer(&o, &order_cfg, 6, &msg, true, now, &order_out);
				assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
				if (wrong || !phases[i] || (type != fits[phases[i]] &&
				    type != BFTM_ORDER_NEEDBODY && type != BFTM_ORDER_RECOVERING)) {
					assert_memory_equal(&o, &before, sizeof(o));
					assert_int_equal(order_out.send, 0);
				}
			}
}

static void twice_is_once(void **state)
{
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 20; i++)
		assert_int_equal(got_one(i % 4, state_id(0, 0), 0), BFTM_ORDER_ON);
	fresh_iteration(state);
	reach(BFTM_ORDER_COMMITTING);
	for (i = 0; i < 20; i++)
		assert_int_equal(order_says(i % 4, BFTM_ORDER_COMMITTED), BFTM_ORDER_ON);
}

/* A second answer to GET does not change what the first said. */
static void the_first_answer_stays(void **state)
{
	(void)state;
	begin();
	got_one(0, state_id(0, 0), 0);
	got_one(0, state_id(5, 'X'), 9);
	assert_int_equal(o.got[0].sc.version, 0);
}

/* More than there can be, none, and half an entry; lies about how many wait. */
static void hostile_lists(void **state)
{
	static u8 data[65536];
	static const u16 lens[] = {
		0, 1, 47, 48, 49, 959, 960, 961, 1055, 1056, 1057, 1103, 1104, 2000, 65535,
	};
	static const u32 pending[] = { 0, 1, 9, 10, 11, 20, 21, 0x7fffffff, ~0u };
	struct bftm_op ret[64];
	u32 holders[64], want;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		for (k = 0; k < ARRAY_SIZE(pending); k++) {
			u32 u;

			fresh_iteration(state);
			memset(data, 0, sizeof(data));
			begin();
			for (u = 0; u < 4; u++)
				got_one(u, state_id(0, 0), 0);
			assert_int_equal(answer(4, (struct bftm_order_msg){
				.type = BFTM_ORDER_GOT, .data = data, .data_len = lens[i],
				.pending = pending[k],
			}), BFTM_ORDER_MAKE);
			want = lens[i] / 48;
			assert_int_equal(o.got[4].count, want < 22 ? want : 22);
			assert_int_equal(bftm_order_ops(&o, &order_cfg, ret, holders, 64), 0);
			assert_int_equal(o.waiting, pending[k]);
			assert_in_range(bftm_order_room(&o, BFTM_ORDER_GET), 128 + 48, BFTM_ORDER_ROOM_SURE);
		}
}

static void making_waits_for_the_caller(void **state)
{
	(void)state;
	get_nothing();
	assert_int_equal(o.wake_ns, T0 + LIMIT);
	bftm_order_unmade(&o);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	/* A state that comes too late is not proposed. */
	made(state_id(1, 'A'));
	assert_int_equal(order_out.send, 0);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
}

static void a_state_made_for_another_base(void **state)
{
	static const u64 versions[] = { 0, 4, 5, 7, ~0ull };
	size_t i;
	u32 u;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		begin();
		for (u = 0; u < 5; u++)
			got_one(u, state_id(5, 'A'), 1);
		assert_true(o.applies);
		assert_int_equal(made(state_id(versions[i], 'B')), BFTM_ORDER_UNSURE);
		assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	}
}

/* It can be committed, but what follows it would be older than all states. */
static void no_version_follows_the_last(void **state)
{
	u32 u;

	(void)state;
	begin();
	for (u = 0; u < 5; u++)
		got_one(u, state_id(~0ull, 'A'), 1);
	assert_true(o.applies);
	assert_int_equal(made(state_id(0, 'B')), BFTM_ORDER_UNSURE);
	assert_int_equal(order_out.send, 0);
	assert_true(o.completed == ~0ull);
}

static void a_body_is_sent_to_who_needs_it(void **state)
{
	u32 u;

	(void)state;
	reach(BFTM_ORDER_COMMITTING);
	order_says(1, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT);
	assert_int_equal(order_out.to, 2);
	assert_int_equal(o.bodyless, 2);
	order_says(1, BFTM_ORDER_NEEDBODY);		/* a copy: it is under way */
	assert_int_equal(order_out.send, 0);
	order_wake(o.wake_ns);
	assert_int_equal(order_out.to, ALL);
	assert_int_equal(o.bodyless, 2);
	order_says(1, BFTM_ORDER_COMMITTED);
	assert_int_equal(o.bodyless, 0);
	order_says(1, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_out.send, 0);
	for (u = 2; u < 6; u++)
		order_says(u, BFTM_ORDER_COMMITTED);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE);
}

/* A server that needed it for the proposal gets it with the commit. */
static void bodyless_outlasts_the_phase(void **state)
{
	u32 u;

	(void)state;
	reach(BFTM_ORDER_PROPOSING);
	order_says(6, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_out.send, BFTM_ORDER_PROPOSE);
	assert_int_equal(order_out.to, 0x40);
	for (u = 0; u < 5; u++)
		order_says(u, BFTM_ORDER_PROPOSED);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT);
	assert_int_equal(o.bodyless, 0x40);
	begin();
	assert_int_equal(o.bodyless, 0);
}

/* A server that has answered with a state has one; one that recovers is not asked again. */
static void recovering_is_believed_at_get_only(void **state)
{
	(void)state;
	begin();
	got_one(0, state_id(0, 0), 0);
	order_says(0, BFTM_ORDER_RECOVERING);
	assert_int_equal(o.recovering, 0);
	order_says(1, BFTM_ORDER_RECOVERING);
	order_wake(o.wake_ns);
	assert_int_equal(order_out.to, ALL & ~3u);
	fresh_iteration(state);
	reach(BFTM_ORDER_PROPOSING);
	order_says(6, BFTM_ORDER_RECOVERING);
	assert_int_equal(o.recovering, 0);
}

/* A refresh commits the last state once more, also where the client knows that it is completed. */
static void refresh(void **state)
{
	u32 u;

	(void)state;
	o.completed = 5;
	bftm_order_begin(&o, &order_cfg, true, now, &order_out);
	for (u = 0; u < 5; u++)
		got_one(u, state_id(5, 'A'), 1);
	assert_int_equal(order_out.verdict, BFTM_ORDER_MAKE);
	assert_false(o.applies);
	assert_int_equal(o.base.version, 5);
	assert_int_equal(o.completed, 5);
	bftm_order_made(&o, &order_cfg, &o.base, now, &order_out);
	assert_int_equal(order_out.send, BFTM_ORDER_PROPOSE);
}

static void room_for_as_many_as_waited(void **state)
{
	static const struct { u32 waiting, room; } cases[] = {
		{ 0, 2 }, { 1, 4 }, { 3, 8 }, { 8, 18 }, { 9, 20 }, { 10, 20 }, { 20, 20 },
		{ ~0u, 20 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		o.waiting = cases[i].waiting;
		assert_int_equal(bftm_order_room(&o, BFTM_ORDER_GET), 128 + 48 * cases[i].room);
	}
}
int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_iteration)
	const struct CMUnitTest tests[] = {
		TEST(three_round_trips),
		TEST(every_quorum),
		TEST(late_answers_do_not_count),
		TEST(twice_is_once),
		TEST(the_first_answer_stays),
		TEST(hostile_lists),
		TEST(making_waits_for_the_caller),
		TEST(a_state_made_for_another_base),
		TEST(no_version_follows_the_last),
		TEST(a_body_is_sent_to_who_needs_it),
		TEST(bodyless_outlasts_the_phase),
		TEST(recovering_is_believed_at_get_only),
		TEST(refresh),
		TEST(room_for_as_many_as_waited),
	};

	return cmocka_run_group_tests_name("order_client", tests, NULL, NULL);
}
