// SPDX-License-Identifier: GPL-2.0
/* Access rules at a server: who may take what, for how long, behind how many. */
#include "unit.h"

#include <string.h>

#include "core/access.h"
#include "core/backoff/server.h"
#include "core/ordering/wire.h"

#define ALL	BFTM_CLIENT_ID_MAX
#define PREFIX(text) .prefix_len = sizeof(text) - 1, .prefix = text

static const struct bftm_server_cfg server = {
	.lease_max_ns = 10 * BFTM_NS_PER_SEC,
	.waiters_max = 100,
	.rho_ppm = 2000,
	.epoch = 3,
};

static struct bftm_server_cfg cfg;
static struct bftm_msg reply;

static struct bftm_msg message(u8 type, u32 client, const char *name)
{
	struct bftm_msg m = {
		.type = type,
		.proto = BFTM_PROTO_BACKOFF,
		.client = client,
		.server_epoch = 3,
		.seq = 77,
		.attempt = 5,
		.k = 1,
		.mode = BFTM_MODE_EX,
		.lease_ns = BFTM_NS_PER_SEC,
		.flags = BFTM_FLAG_NOQUEUE,
		.name_len = (u8)strlen(name),
	};

	memcpy(m.name, name, m.name_len);
	return m;
}

/* A refusal says the right thing about the right request, and changes nothing. */
static bool admit(const struct bftm_rule *rule, u32 count, struct bftm_msg req)
{
	struct bftm_msg untouched;
	bool yes;

	memset(&reply, 0xee, sizeof(reply));
	memcpy(&untouched, &reply, sizeof(reply));
	cfg = server;
	yes = bftm_access_admit(rule, count, &req, &cfg, &reply);
	if (yes) {
		assert_memory_equal(&reply, &untouched, sizeof(reply));
		return true;
	}
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_ACCESS);
	assert_int_equal(reply.seq, req.seq);
	assert_int_equal(reply.attempt, req.attempt);
	assert_int_equal(reply.client, req.client);
	assert_int_equal(cfg.lease_max_ns, server.lease_max_ns);
	assert_int_equal(cfg.waiters_max, server.waiters_max);
	return false;
}

static bool may(const struct bftm_rule *rule, u32 count, u32 client, const char *name)
{
	bool yes = admit(rule, count, message(BFTM_MSG_TRY, client, name));

	assert_int_equal(admit(rule, count, message(BFTM_MSG_STAMP, client, name)), yes);
	assert_int_equal(admit(rule, count, message(BFTM_MSG_YIELD, client, name)), yes);
	/* A client can give back, whatever the rules say. */
	assert_true(admit(rule, count, message(BFTM_MSG_RELEASE, client, name)));
	assert_int_equal(cfg.lease_max_ns, server.lease_max_ns);
	return yes;
}

static void without_rules_everything_is_allowed(void **state)
{
	(void)state;
	assert_true(may(NULL, 0, 1, "jobs/1"));
	assert_true(may(NULL, 0, ALL, ""));
	assert_true(admit(NULL, 0, message(BFTM_MSG_RECOVER, 1, "")));
}

static void with_rules_what_none_allows_is_refused(void **state)
{
	static const struct bftm_rule rule[] = {
		{ .client_first = 7, .client_last = 9, PREFIX("jobs/") },
	};

	(void)state;
	assert_true(may(rule, 1, 7, "jobs/1"));
	assert_true(may(rule, 1, 8, "jobs/"));
	assert_true(may(rule, 1, 9, "jobs/a/b"));
	assert_false(may(rule, 1, 6, "jobs/1"));
	assert_false(may(rule, 1, 10, "jobs/1"));
	assert_false(may(rule, 1, 7, "jobs"));
	assert_false(may(rule, 1, 7, "job"));
	assert_false(may(rule, 1, 7, "Jobs/1"));
	assert_false(may(rule, 1, 7, "other"));
}

static void the_first_rule_that_fits_decides(void **state)
{
	static const struct bftm_rule rule[] = {
		{ .client_first = 3, .client_last = 3, PREFIX("a/secret"), .deny = true },
		{ .client_first = 1, .client_last = 5, PREFIX("a/") },
		{ .client_first = 1, .client_last = ALL, PREFIX("a/"), .deny = true },
		{ .client_first = 1, .client_last = ALL },
	};

	(void)state;
	assert_false(may(rule, 4, 3, "a/secret"));
	assert_false(may(rule, 4, 3, "a/secrets/1"));
	assert_true(may(rule, 4, 3, "a/other"));
	assert_true(may(rule, 4, 2, "a/secret"));
	assert_false(may(rule, 4, 6, "a/other"));
	assert_true(may(rule, 4, 6, "b"));
	assert_true(may(rule, 4, ALL, "b"));
	/* Without the last one "b" fits none. */
	assert_false(may(rule, 3, 6, "b"));
}

/* It is challenged, and may not be one that this incarnation's rules are for. */
static void another_incarnation_is_not_refused(void **state)
{
	static const struct bftm_rule rule = {
		.client_first = 1, .client_last = ALL, .deny = true,
	};
	struct bftm_msg m = message(BFTM_MSG_TRY, 1, "x");

	(void)state;
	assert_false(admit(&rule, 1, m));
	m.server_epoch = 4;
	assert_true(admit(&rule, 1, m));
	m.server_epoch = 0;
	assert_true(admit(&rule, 1, m));
	assert_true(admit(&rule, 1, message(BFTM_MSG_HELLO, 1, "")));
	/* It names nothing; of each object that it would tell, the server asks itself. */
	assert_true(admit(&rule, 1, message(BFTM_ORDER_LIST, 1, "")));
}

static void names_are_bytes(void **state)
{
	struct bftm_rule rule = { .client_first = 1, .client_last = ALL };
	struct bftm_msg m = message(BFTM_MSG_TRY, 1, "");
	u32 len;

	(void)state;
	memset(m.name, 'x', sizeof(m.name));
	m.name[2] = 0;
	memcpy(rule.prefix, m.name, sizeof(rule.prefix));
	for (len = 0; len <= BFTM_NAME_LEN_MAX; len++) {
		rule.prefix_len = (u8)len;
		m.name_len = BFTM_NAME_LEN_MAX;
		assert_true(admit(&rule, 1, m));
		m.name_len = (u8)len;
		assert_true(admit(&rule, 1, m));
		if (!len)
			continue;
		m.name_len = (u8)(len - 1);
		assert_false(admit(&rule, 1, m));
		m.name_len = BFTM_NAME_LEN_MAX;
		m.name[len - 1] ^= 1;
		assert_false(admit(&rule, 1, m));
		m.name[len - 1] ^= 1;
	}
}

static void a_rule_only_narrows_the_limits(void **state)
{
	static const struct {
		u64 lease, want_lease;
		u32 waiters, want_waiters;
	} row[] = {
		{ 0, 10 * BFTM_NS_PER_SEC, 0, 100 },
		{ BFTM_LEASE_MIN_NS, BFTM_LEASE_MIN_NS, 1, 1 },
		{ 10 * BFTM_NS_PER_SEC, 10 * BFTM_NS_PER_SEC, 100, 100 },
		{ BFTM_LEASE_MAX_NS, 10 * BFTM_NS_PER_SEC, BFTM_WAITERS_MAX, 100 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		const struct bftm_rule rule = {
			.client_first = 1,
			.client_last = 1,
			.lease_max_ns = row[i].lease,
			.waiters_max = row[i].waiters,
		};

		assert_true(admit(&rule, 1, message(BFTM_MSG_TRY, 1, "x")));
		assert_int_equal(cfg.lease_max_ns, row[i].want_lease);
		assert_int_equal(cfg.waiters_max, row[i].want_waiters);
		assert_int_equal(cfg.rho_ppm, server.rho_ppm);
	}
}

/* The protocol refuses by what is left, and says how long a lease may be. */
static void a_longer_lease_is_refused_with_the_longest(void **state)
{
	static const struct bftm_rule rule = {
		.client_first = 1, .client_last = 1, .lease_max_ns = 2 * BFTM_NS_PER_SEC,
	};
	struct bftm_msg m = message(BFTM_MSG_TRY, 1, "x");
	struct bftm_msg push;
	struct bftm_lock lock;

	(void)state;
	bftm_lock_init(&lock, 0, 0);
	m.lease_ns = 2 * BFTM_NS_PER_SEC + 1;
	assert_true(admit(&rule, 1, m));
	bftm_server_step(&cfg, &lock, &m, 1000, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_LEASE);
	assert_int_equal(reply.lease_ns, 2 * BFTM_NS_PER_SEC);
	m.lease_ns--;
	assert_true(admit(&rule, 1, m));
	bftm_server_step(&cfg, &lock, &m, 1000, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_FREE);
}

/* Client 1 may be the third that waits, client 9 not the second. */
static void a_shorter_queue_is_full_earlier(void **state)
{
	static const struct bftm_rule rule[] = {
		{ .client_first = 9, .client_last = 9, .waiters_max = 1 },
		{ .client_first = 1, .client_last = ALL },
	};
	static union {
		struct bftm_queue queue;
		u8 bytes[sizeof(struct bftm_queue) + 8 * sizeof(struct bftm_seat)];
	} space = { .queue.room = 8 };
	static const u32 client[] = { 4, 3, 9, 2, 1 };
	static const u8 answer[] = {
		BFTM_MSG_FREE, BFTM_MSG_WAIT, BFTM_MSG_REFUSED, BFTM_MSG_WAIT, BFTM_MSG_WAIT,
	};
	struct bftm_lock lock;
	struct bftm_msg push;
	size_t i;

	(void)state;
	bftm_lock_init(&lock, 0, 0);
	lock.queue = &space.queue;
	for (i = 0; i < ARRAY_SIZE(client); i++) {
		struct bftm_msg m = message(BFTM_MSG_TRY, client[i], "x");

		m.flags = 0;
		/* A later client waits behind, so that nobody gives way. */
		m.prio = i + 1;
		assert_true(admit(rule, 2, m));
		bftm_server_step(&cfg, &lock, &m, 1000, &reply, &push);
		assert_int_equal(reply.type, answer[i]);
		if (reply.type == BFTM_MSG_REFUSED)
			assert_int_equal(reply.arg, BFTM_REFUSED_WAITERS);
	}
}

/* RECOVER is about all locks: neither a right to some nor to all but some is enough. */
static void who_may_take_every_lock_may_tell_of_tokens(void **state)
{
	static const struct bftm_rule rule[] = {
		{ .client_first = 1, .client_last = 3, PREFIX("a/"), .deny = true },
		{ .client_first = 3, .client_last = 3, .deny = true },
		{ .client_first = 2, .client_last = 4, PREFIX("b/") },
		{ .client_first = 3, .client_last = 4 },
	};

	(void)state;
	assert_false(admit(rule, 4, message(BFTM_MSG_RECOVER, 1, "")));
	assert_false(admit(rule, 4, message(BFTM_MSG_RECOVER, 2, "")));
	assert_false(admit(rule, 4, message(BFTM_MSG_RECOVER, 3, "")));
	assert_true(admit(rule, 4, message(BFTM_MSG_RECOVER, 4, "")));
	assert_false(admit(rule, 4, message(BFTM_MSG_RECOVER, 5, "")));
}

/*
 * The cost of the longest list: printed, and bounded a hundred times above what it takes, by the
 * time that the processor works for us, which other work on it does not add to.
 */
static void the_longest_list_is_read_in_microseconds(void **state)
{
	static struct bftm_rule rule[BFTM_RULES_MAX];
	struct bftm_msg m = message(BFTM_MSG_TRY, 5, "jobs/1");
	struct timespec begin, end;
	double ns;
	u32 i, turns = 2000;

	(void)state;
	for (i = 0; i < BFTM_RULES_MAX; i++)
		rule[i] = (struct bftm_rule){ .client_first = 1, .client_last = ALL,
					      PREFIX("jobs/2") };
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (i = 0; i < turns; i++)
		assert_false(bftm_access_find(rule, BFTM_RULES_MAX, &m));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
	printf("# %u rules: %.0f ns a request, sanitized\n", BFTM_RULES_MAX, ns / turns);
	assert_true(ns / turns < 1e6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_everything_is_allowed),
		cmocka_unit_test(with_rules_what_none_allows_is_refused),
		cmocka_unit_test(the_first_rule_that_fits_decides),
		cmocka_unit_test(another_incarnation_is_not_refused),
		cmocka_unit_test(names_are_bytes),
		cmocka_unit_test(a_rule_only_narrows_the_limits),
		cmocka_unit_test(a_longer_lease_is_refused_with_the_longest),
		cmocka_unit_test(a_shorter_queue_is_full_earlier),
		cmocka_unit_test(who_may_take_every_lock_may_tell_of_tokens),
		cmocka_unit_test(the_longest_list_is_read_in_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
