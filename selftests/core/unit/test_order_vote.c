// SPDX-License-Identifier: GPL-2.0
/* Responses: what b + 1 servers say alike, piece by piece; and what a committed state says. */
#include "unit.h"

#include "core/ordering/client.h"

static struct bftm_order_cfg cfg;
static struct bftm_vote v;

static int fresh_vote(void **state)
{
	(void)state;
	cfg = (struct bftm_order_cfg){ .n = 7, .b = 1 };
	memset(&v, 0x5a, sizeof(v));
	bftm_vote_begin(&v, 3, 0);
	return 0;
}

static int vote(u32 u, u64 op, u32 len, u32 offset, const char *text)
{
	const struct bftm_order_msg msg = {
		.type = BFTM_ORDER_RESPONSE, .op = op, .id.len = len, .offset = offset,
		.data = (const u8 *)text, .data_len = (u16)strlen(text),
	};

	return bftm_vote_count(&v, &cfg, u, &msg);
}

static void b_plus_1_alike(void **state)
{
	(void)state;
	assert_int_equal(vote(4, 3, 3, 0, "yes"), -1);
	assert_int_equal(vote(4, 3, 3, 0, "yes"), -1);
	assert_int_equal(vote(5, 3, 2, 0, "no"), -1);
	assert_int_equal(vote(6, 3, 3, 0, "yes"), 6);
	assert_memory_equal(v.said[6].data, "yes", 3);
	assert_int_equal(v.said[6].len, 3);
	assert_int_equal(v.heard, 0x70);
}

/* Some servers have the response still, and at others it is gone: b + 1 of either. */
static void a_response_that_is_gone(void **state)
{
	(void)state;
	assert_int_equal(vote(1, 3, 3, 0, "yes"), -1);
	assert_int_equal(vote(2, 3, BFTM_RESPONSE_GONE, 0, ""), -1);
	assert_int_equal(vote(3, 3, BFTM_RESPONSE_GONE, 0, "x"), -1);
	assert_int_equal(vote(4, 3, BFTM_RESPONSE_GONE - 1, 0, ""), -1);
	assert_int_equal(vote(5, 3, BFTM_RESPONSE_GONE, 0, ""), 5);
	assert_int_equal(v.said[5].len, BFTM_RESPONSE_GONE);
	/* Also when a part of it had come. */
	bftm_vote_begin(&v, 3, 1040);
	assert_int_equal(vote(1, 3, BFTM_RESPONSE_GONE, 0, ""), -1);
	assert_int_equal(vote(2, 3, BFTM_RESPONSE_GONE, 1040, ""), -1);
	assert_int_equal(vote(1, 3, BFTM_RESPONSE_GONE, 1040, ""), 1);
}

/* One refuses since it is full, and a liar for another reason. */
static void refusals_with_one_reason(void **state)
{
	u32 *refusal = v.refusal;

	(void)state;
	assert_false(bftm_vote_refused(refusal, &cfg, 0, BFTM_REFUSED_OBJECTS));
	assert_false(bftm_vote_refused(refusal, &cfg, 1, BFTM_REFUSED_ACCESS));
	assert_false(bftm_vote_refused(refusal, &cfg, 1, BFTM_REFUSED_ACCESS));
	assert_false(bftm_vote_refused(refusal, &cfg, 1, BFTM_REFUSED_LEASE));
	assert_false(bftm_vote_refused(refusal, &cfg, 2, BFTM_REFUSED_ACCESS));
	assert_false(bftm_vote_refused(refusal, &cfg, 3, 0));
	assert_true(bftm_vote_refused(refusal, &cfg, 1, BFTM_REFUSED_OBJECTS));
	bftm_vote_begin(&v, 3, 0);
	assert_false(bftm_vote_refused(refusal, &cfg, 1, BFTM_REFUSED_OBJECTS));
}

static void as_many_as_b_says(void **state)
{
	u32 u;

	for (cfg.b = 0; cfg.b <= 7; cfg.b++) {
		u32 b = cfg.b;

		fresh_vote(state);
		cfg.b = b;
		cfg.n = 4 * b + 1;
		for (u = 0; u < b; u++)
			assert_int_equal(vote(u, 3, 3, 0, "yes"), -1);
		assert_int_equal(vote(u, 3, 3, 0, "yes"), u);
	}
}

/* The same bytes of a longer response, or less of them, are another answer. */
static void all_of_it_must_be_alike(void **state)
{
	(void)state;
	vote(0, 3, 5, 0, "yes");
	assert_int_equal(vote(1, 3, 6, 0, "yes"), -1);
	assert_int_equal(vote(2, 3, 5, 0, "yess"), -1);
	assert_int_equal(vote(3, 3, 5, 0, "yex"), -1);
	assert_int_equal(vote(4, 3, 5, 0, ""), -1);
	assert_int_equal(vote(5, 3, 5, 0, "yex"), 5);
}

static void of_this_operation_and_piece(void **state)
{
	struct bftm_order_msg msg = { .type = BFTM_ORDER_PENDING, .op = 3 };
	u32 u;

	(void)state;
	for (u = 0; u < 7; u++) {
		assert_int_equal(vote(u, 4, 3, 0, "yes"), -1);
		assert_int_equal(vote(u, 2, 3, 0, "yes"), -1);
		assert_int_equal(vote(u, 3, 3, 1, "yes"), -1);
		assert_int_equal(vote(u, 3, BFTM_OP_MAX + 1, 0, "yes"), -1);
		assert_int_equal(bftm_vote_count(&v, &cfg, u, &msg), -1);
	}
	assert_int_equal(v.heard, 0);
	bftm_vote_begin(&v, 3, 1024);
	vote(0, 3, 1030, 1024, "second");
	assert_int_equal(vote(1, 3, 1030, 1024, "second"), 1);
	bftm_vote_begin(&v, 4, 0);
	assert_int_equal(vote(2, 4, 1030, 0, "second"), -1);
}

static void an_empty_response(void **state)
{
	(void)state;
	vote(0, 3, 0, 0, "");
	assert_int_equal(vote(1, 3, 0, 0, ""), 1);
}

/* A server that changes its mind has one vote, for what it said last. */
static void one_vote_each(void **state)
{
	(void)state;
	vote(0, 3, 1, 0, "a");
	vote(0, 3, 1, 0, "b");
	assert_int_equal(vote(1, 3, 1, 0, "a"), -1);
	assert_int_equal(vote(2, 3, 1, 0, "b"), 2);
}

static void longest_pieces(void **state)
{
	static u8 data[BFTM_ORDER_SAID_MAX + 1];
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_RESPONSE, .op = 3, .id.len = BFTM_OP_MAX, .data = data,
	};

	(void)state;
	msg.data_len = BFTM_ORDER_SAID_MAX + 1;
	assert_int_equal(bftm_vote_count(&v, &cfg, 0, &msg), -1);
	assert_int_equal(v.heard, 0);
	msg.data_len = BFTM_ORDER_SAID_MAX;
	assert_int_equal(bftm_vote_count(&v, &cfg, 0, &msg), -1);
	assert_int_equal(bftm_vote_count(&v, &cfg, 30, &msg), -1);	/* no server of the 7 */
	assert_int_equal(bftm_vote_count(&v, &cfg, 1, &msg), 1);
}

/* A committed state, with what it reflects of clients 3, 5 and 9. */
struct done {
	struct bftm_order order;
	struct bftm_body_id id;
	u8 body[200];
};

static void commits(struct done *d, u32 gone)
{
	const struct bftm_applied applied[] = {
		{ .client = 3, .op = 7, .len = 5, .response = (const u8 *)"third" },
		{ .client = 5, .op = 7, .len = gone == 5 ? 0 : 5, .gone = gone == 5,
		  .response = (const u8 *)"fifth" },
		{ .client = 9, .op = 8, .len = 0 },
	};

	*d = (struct done){ .order.rank = { .count = 2, .client = 5, .incarnation = 1 } };
	d->id.version = 4;
	d->id.len = bftm_state_make(NULL, 4, applied, 3, NULL, 0, d->body, sizeof(d->body));
	d->id.digest[0] = 0x44;
	d->order.next = d->id;
	assert_true(bftm_state_ok(d->body, d->id.len, 4));
}

static bool reads(const struct done *d, u32 client, u64 op, struct bftm_applied *ret)
{
	struct bftm_order order = d->order;

	order.rank.client = client;
	return bftm_vote_committed(&order, &d->id, d->body, op, ret);
}

static void the_state_answers_its_own_operation(void **state)
{
	struct bftm_applied a;
	struct done d;

	(void)state;
	commits(&d, 0);
	assert_true(reads(&d, 5, 7, &a));
	assert_int_equal(a.len, 5);
	assert_memory_equal(a.response, "fifth", 5);
	assert_true(reads(&d, 3, 7, &a));
	assert_memory_equal(a.response, "third", 5);
	/* An empty response is one. */
	assert_true(reads(&d, 9, 8, &a));
	assert_int_equal(a.len, 0);
}

/* Its entry is of an operation before, of another client, or of one that is to come. */
static void the_state_answers_no_other(void **state)
{
	struct bftm_applied a;
	struct done d;

	(void)state;
	commits(&d, 0);
	assert_false(reads(&d, 5, 8, &a));
	assert_false(reads(&d, 5, 6, &a));
	assert_false(reads(&d, 9, 7, &a));
	assert_false(reads(&d, 4, 7, &a));
	assert_false(reads(&d, 5, 1ull << 32 | 7, &a));
	assert_false(bftm_vote_committed(&d.order, &d.order.next, NULL, 7, &a));
}

/* The state reflects the operation, and its response gave way: b + 1 servers are to say so. */
static void a_response_that_gave_way_in_the_state(void **state)
{
	struct bftm_applied a;
	struct done d;

	(void)state;
	commits(&d, 5);
	assert_false(reads(&d, 5, 7, &a));
	assert_true(reads(&d, 3, 7, &a));
}

/* A state that was proposed by somebody, or that has the same version, may never be committed. */
static void a_state_that_was_not_committed(void **state)
{
	struct bftm_applied a;
	struct done d;

	(void)state;
	commits(&d, 0);
	d.order.next.digest[31] = 1;
	assert_false(reads(&d, 5, 7, &a));
	d.order.next = d.id;
	d.order.next.version = 5;
	assert_false(reads(&d, 5, 7, &a));
	d.order.next = (struct bftm_body_id){};
	assert_false(reads(&d, 5, 7, &a));
	d.order.next = d.id;
	assert_true(reads(&d, 5, 7, &a));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_vote)
	const struct CMUnitTest tests[] = {
		TEST(b_plus_1_alike),
		TEST(a_response_that_is_gone),
		TEST(refusals_with_one_reason),
		TEST(as_many_as_b_says),
		TEST(all_of_it_must_be_alike),
		TEST(of_this_operation_and_piece),
		TEST(an_empty_response),
		TEST(one_vote_each),
		TEST(longest_pieces),
		TEST(the_state_answers_its_own_operation),
		TEST(the_state_answers_no_other),
		TEST(a_response_that_gave_way_in_the_state),
		TEST(a_state_that_was_not_committed),
	};

	return cmocka_run_group_tests_name("order_vote", tests, NULL, NULL);
}
