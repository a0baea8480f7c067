// SPDX-License-Identifier: GPL-2.0
/*
 * access-set and access-get: rules of a server, refused when wrong, replaced whole; the members
 * that they make, and evictions.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "selftests/module/device/handle.h"
#include "selftests/module/device/harness.h"
#include "netlink.h"

#define RULES_MAX	1024
#define CLIENT_MAX	0xfffffffeu
#define TURNS		300

/* A network namespace with a server. */
FIXTURE(access)
{
	struct bftm_nl nl;
};

FIXTURE_SETUP(access)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, start_server(&self->nl));
}

FIXTURE_TEARDOWN(access)
{
	bftm_nl_close(&self->nl);
}

/* A request with room for rules. */
static struct nl_msg *rules_msg(struct bftm_nl *nl, uint32_t count)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_ACCESS_SET, 0);

	nlmsg_expand(msg, 4096 + count * 128);
	return msg;
}

static struct nlattr *begin_rule(struct nl_msg *msg)
{
	return nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);
}

static void put_clients(struct nl_msg *msg, uint32_t first, uint32_t last)
{
	struct nlattr *nest = begin_rule(msg);

	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, first);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, last);
	nla_nest_end(msg, nest);
}

/* That many rules, of clients @first, @first + 1 and so on; the longest there are. */
static int set_rules(struct bftm_nl *nl, uint32_t count, uint32_t first)
{
	struct nl_msg *msg = rules_msg(nl, count);
	char prefix[BFTMUTEX_LOCK_NAME_MAX];
	struct nlattr *nest;
	uint32_t i;

	memset(prefix, 'p', sizeof(prefix));
	for (i = 0; i < count; i++) {
		nest = begin_rule(msg);
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, first + i);
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, CLIENT_MAX);
		nla_put(msg, BFTMUTEX_A_RULE_PREFIX, sizeof(prefix), prefix);
		nla_put_u64(msg, BFTMUTEX_A_RULE_LEASE_MAX_NS, SEC);
		nla_put_u32(msg, BFTMUTEX_A_RULE_MAX_WAITERS, 5);
		nla_nest_end(msg, nest);
	}
	return send_msg(nl, msg);
}

static int set_one(struct bftm_nl *nl, int attr, int len, const void *data)
{
	struct nl_msg *msg = rules_msg(nl, 1);
	struct nlattr *nest = begin_rule(msg);

	nla_put(msg, attr, len, data);
	nla_nest_end(msg, nest);
	return send_msg(nl, msg);
}

static int set_number(struct bftm_nl *nl, int attr, int len, uint64_t value)
{
	return set_one(nl, attr, len, low_bytes(&value, len));
}

/* A dump returns the rules as they were given. */
struct list {
	uint32_t count, first, last;
	uint64_t lease, waiters;
	bool deny, in_order;
	int prefix_len;
};

static int take_rule(struct nlattr **attr, void *arg)
{
	struct nlattr *a[BFTMUTEX_A_RULE_MAX + 1];
	struct list *l = arg;
	uint32_t first;

	if (!attr[BFTMUTEX_A_SERVER_RULE] ||
	    nla_parse_nested(a, BFTMUTEX_A_RULE_MAX, attr[BFTMUTEX_A_SERVER_RULE], NULL) < 0)
		return -EBADMSG;
	first = (uint32_t)number(a[BFTMUTEX_A_RULE_CLIENT_FIRST]);
	l->in_order = l->count ? l->in_order && first == l->first + l->count : true;
	if (!l->count++)
		l->first = first;
	l->last = (uint32_t)number(a[BFTMUTEX_A_RULE_CLIENT_LAST]);
	l->lease = number(a[BFTMUTEX_A_RULE_LEASE_MAX_NS]);
	l->waiters = number(a[BFTMUTEX_A_RULE_MAX_WAITERS]);
	l->deny = a[BFTMUTEX_A_RULE_DENY];
	l->prefix_len = a[BFTMUTEX_A_RULE_PREFIX] ? nla_len(a[BFTMUTEX_A_RULE_PREFIX]) : -1;
	return 0;
}

static struct list list_rules(struct bftm_nl *nl)
{
	struct list l = {};

	if (bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_ACCESS_GET, NLM_F_DUMP), take_rule,
			 BFTMUTEX_A_SERVER_MAX, &l))
		l.count = UINT32_MAX;
	return l;
}

TEST_F(access, without_a_server)
{
	ASSERT_EQ(0, stop_server(&self->nl));
	EXPECT_EQ(-ENOENT, set_rules(&self->nl, 0, 1));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(-ENOENT, set_rules(&self->nl, RULES_MAX, 1));
	EXPECT_EQ(0, list_rules(&self->nl).count);
}

TEST_F(access, as_many_as_there_may_be)
{
	static const uint32_t counts[] = { 1, 0, 2, RULES_MAX - 1, RULES_MAX, 3, 0, 0 };
	struct list l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		ASSERT_EQ(0, set_rules(&self->nl, counts[i], 7));
		EXPECT_EQ(counts[i], server_value(&self->nl, BFTMUTEX_A_SERVER_RULES));
		l = list_rules(&self->nl);
		ASSERT_EQ(counts[i], l.count);
		if (!l.count)
			continue;
		EXPECT_TRUE(l.in_order);
		EXPECT_EQ(7, l.first);
		EXPECT_EQ(CLIENT_MAX, l.last);
		EXPECT_EQ(SEC, l.lease);
		EXPECT_EQ(5, l.waiters);
		EXPECT_EQ(BFTMUTEX_LOCK_NAME_MAX, l.prefix_len);
		EXPECT_FALSE(l.deny);
	}
	ASSERT_EQ(0, set_rules(&self->nl, 3, 1));
	EXPECT_EQ(-E2BIG, set_rules(&self->nl, RULES_MAX + 1, 1));
	EXPECT_STRNE("", self->nl.error);
	/* The refused rules have changed nothing. */
	EXPECT_EQ(3, list_rules(&self->nl).count);
}

TEST_F(access, what_is_left_out)
{
	struct nl_msg *msg = rules_msg(&self->nl, 1);
	struct list l;

	nla_nest_end(msg, begin_rule(msg));
	/* libnl takes an empty nest out again. */
	nla_put(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED, 0, NULL);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	l = list_rules(&self->nl);
	EXPECT_EQ(1, l.count);
	EXPECT_EQ(1, l.first);
	EXPECT_EQ(CLIENT_MAX, l.last);
	EXPECT_EQ(0, l.lease);
	EXPECT_EQ(0, l.waiters);
	EXPECT_EQ(0, l.prefix_len);
	EXPECT_FALSE(l.deny);

	ASSERT_EQ(0, set_one(&self->nl, BFTMUTEX_A_RULE_DENY, 0, NULL));
	EXPECT_TRUE(list_rules(&self->nl).deny);
}

TEST_F(access, ranges_and_lengths)
{
	static const struct {
		int attr, len;
		uint64_t min, max;
	} rows[] = {
		{ BFTMUTEX_A_RULE_CLIENT_FIRST, 4, 1, CLIENT_MAX },
		{ BFTMUTEX_A_RULE_CLIENT_LAST, 4, 1, CLIENT_MAX },
		{ BFTMUTEX_A_RULE_LEASE_MAX_NS, 8, MS, 3600 * SEC },
		{ BFTMUTEX_A_RULE_MAX_WAITERS, 4, 1, 1 << 16 },
	};
	uint8_t bytes[BFTMUTEX_LOCK_NAME_MAX + 1] = {};
	size_t i;
	int len;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		TH_LOG("attribute %d", rows[i].attr);
		EXPECT_EQ(-ERANGE, set_number(&self->nl, rows[i].attr, rows[i].len, rows[i].min - 1));
		EXPECT_STRNE("", self->nl.error);
		EXPECT_EQ(BFTMUTEX_A_SERVER_RULE, self->nl.attr);
		EXPECT_EQ(-ERANGE, set_number(&self->nl, rows[i].attr, rows[i].len, rows[i].max + 1));
		EXPECT_EQ(0, set_number(&self->nl, rows[i].attr, rows[i].len, rows[i].min));
		EXPECT_EQ(0, set_number(&self->nl, rows[i].attr, rows[i].len, rows[i].max));
		for (len = 0; len <= 12; len++)
			if (len != rows[i].len)
				EXPECT_NE(0, set_one(&self->nl, rows[i].attr, len, bytes));
	}
	/* Each right one walks through all locks. */
	for (len = 0; len <= (int)sizeof(bytes); len += short_run() && len >= 1 && len < 60 ? 20 : 1)
		EXPECT_EQ(len <= BFTMUTEX_LOCK_NAME_MAX ? 0 : -ERANGE,
			  set_one(&self->nl, BFTMUTEX_A_RULE_PREFIX, len, bytes));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_NE(0, set_one(&self->nl, BFTMUTEX_A_RULE_DENY, 1, bytes));
	EXPECT_NE(0, set_one(&self->nl, BFTMUTEX_A_RULE_PAD, 0, bytes));
	EXPECT_NE(0, set_one(&self->nl, BFTMUTEX_A_RULE_MAX + 1, 4, bytes));
	EXPECT_NE(0, set_one(&self->nl, 0, 4, bytes));
}

TEST_F(access, rules_that_contradict_themselves)
{
	struct nl_msg *msg = rules_msg(&self->nl, 2);
	struct nlattr *nest;

	put_clients(msg, 1, 9);
	put_clients(msg, 9, 8);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(BFTMUTEX_A_SERVER_RULE, self->nl.attr);

	msg = rules_msg(&self->nl, 1);
	nest = begin_rule(msg);
	nla_put_flag(msg, BFTMUTEX_A_RULE_DENY);
	nla_put_u32(msg, BFTMUTEX_A_RULE_MAX_WAITERS, 5);
	nla_nest_end(msg, nest);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	EXPECT_STRNE("", self->nl.error);

	/* Not marked as nested, and not one at all. */
	msg = rules_msg(&self->nl, 1);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_RULE, 5);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	msg = rules_msg(&self->nl, 1);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_PORT, 5);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	EXPECT_EQ(0, list_rules(&self->nl).count);
}

TEST_F(access, a_server_starts_with_rules_and_takes_them_away)
{
	struct nl_msg *msg;

	ASSERT_EQ(0, stop_server(&self->nl));
	msg = start_msg(&self->nl);
	put_clients(msg, 3, 4);
	put_clients(msg, 4, 3);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	msg = start_msg(&self->nl);
	put_clients(msg, 3, 4);
	put_clients(msg, 4, 4);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	EXPECT_EQ(2, list_rules(&self->nl).count);
	/* The rules of a start that fails are not those of what runs. */
	msg = start_msg(&self->nl);
	put_clients(msg, 3, 4);
	EXPECT_EQ(-EEXIST, send_msg(&self->nl, msg));
	EXPECT_EQ(2, list_rules(&self->nl).count);
	ASSERT_EQ(0, stop_server(&self->nl));
	ASSERT_EQ(0, start_server(&self->nl));
	EXPECT_EQ(0, list_rules(&self->nl).count);
}

static void put_member_rule(struct nl_msg *msg, uint32_t first, uint32_t last)
{
	struct nlattr *nest = begin_rule(msg);

	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, first);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, last);
	nla_put_flag(msg, BFTMUTEX_A_RULE_LEASELESS);
	nla_nest_end(msg, nest);
}

static void put_eviction(struct nl_msg *msg, uint32_t client, uint32_t incarnation)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_EVICTION | NLA_F_NESTED);

	nla_put_u32(msg, BFTMUTEX_A_EVICTION_CLIENT, client);
	nla_put_u32(msg, BFTMUTEX_A_EVICTION_INCARNATION, incarnation);
	nla_nest_end(msg, nest);
}

/** struct member_list - a dump of members, in numbers */
struct member_list {
	uint32_t count, awaited, evicted, last;
	bool in_order;
};

static int take_member(struct nlattr **attr, void *arg)
{
	struct member_list *l = arg;
	uint32_t id = (uint32_t)number(attr[BFTMUTEX_A_MEMBER_ID]);

	l->in_order = (!l->count || l->in_order) && id > l->last;
	l->last = id;
	l->count++;
	l->awaited += attr[BFTMUTEX_A_MEMBER_AWAITED] != NULL;
	l->evicted += (uint32_t)number(attr[BFTMUTEX_A_MEMBER_EVICTED]);
	return 0;
}

static struct member_list list_members(struct bftm_nl *nl)
{
	struct member_list l = {};

	if (bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_MEMBER_GET, NLM_F_DUMP), take_member,
			 BFTMUTEX_A_MEMBER_MAX, &l))
		l.count = UINT32_MAX;
	return l;
}

static int evict(struct bftm_nl *nl, uint32_t client, uint32_t incarnation)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_MEMBER_EVICT, 0);

	nla_put_u32(msg, BFTMUTEX_A_MEMBER_ID, client);
	nla_put_u32(msg, BFTMUTEX_A_MEMBER_EVICTED, incarnation);
	return send_msg(nl, msg);
}

TEST_F(access, members)
{
	struct nl_msg *msg = rules_msg(&self->nl, 3);
	struct member_list l;

	EXPECT_EQ(0, list_members(&self->nl).count);
	EXPECT_EQ(-ESRCH, evict(&self->nl, 7, 1));
	/* Overlapping rules make each client a member once. */
	put_member_rule(msg, 100, 1122);
	put_member_rule(msg, 7, 7);
	put_member_rule(msg, 7, 7);
	put_clients(msg, 1, CLIENT_MAX);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	l = list_members(&self->nl);
	EXPECT_EQ(RULES_MAX, l.count);
	EXPECT_TRUE(l.in_order);
	/* They are no members of before, so nobody waits for them. */
	EXPECT_EQ(0, l.awaited);
	EXPECT_EQ(RULES_MAX, server_value(&self->nl, BFTMUTEX_A_SERVER_MEMBERS));
	msg = rules_msg(&self->nl, 2);
	put_member_rule(msg, 100, 1123);
	put_member_rule(msg, 7, 7);
	EXPECT_EQ(-E2BIG, send_msg(&self->nl, msg));
	EXPECT_STRNE("", self->nl.error);
	msg = rules_msg(&self->nl, 1);
	put_member_rule(msg, 1, CLIENT_MAX);
	EXPECT_EQ(-E2BIG, send_msg(&self->nl, msg));
	EXPECT_EQ(RULES_MAX, list_members(&self->nl).count);

	EXPECT_EQ(-ERANGE, evict(&self->nl, 0, 1));
	EXPECT_EQ(-ERANGE, evict(&self->nl, 7, 0));
	EXPECT_EQ(-ESRCH, evict(&self->nl, 8, 1));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(0, evict(&self->nl, 7, 5));
	EXPECT_EQ(0, evict(&self->nl, 7, 3));
	EXPECT_EQ(5, list_members(&self->nl).evicted);
}

/* After a start all are awaited, the evicted too, until they are evicted once more. */
TEST_F(access, members_after_a_start)
{
	/* Each eviction walks through all locks. */
	const uint32_t many = short_run() ? 10 : RULES_MAX - 1;
	struct nl_msg *msg = start_msg(&self->nl);
	struct member_list l;
	uint32_t i;

	ASSERT_EQ(0, stop_server(&self->nl));
	nlmsg_expand(msg, 4096 + RULES_MAX * 64);
	put_member_rule(msg, 100, 99 + many);
	put_member_rule(msg, 7, 7);
	for (i = 0; i < many; i++)
		put_eviction(msg, 100 + i, 1);
	put_eviction(msg, 99, 1);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	l = list_members(&self->nl);
	EXPECT_EQ(many + 1, l.count);
	EXPECT_EQ(many + 1, l.awaited);
	EXPECT_EQ(many, l.evicted);
	EXPECT_EQ(many + 1, server_value(&self->nl, BFTMUTEX_A_SERVER_AWAITED));
	/* Their rules stay until all have told. */
	EXPECT_EQ(-EBUSY, set_rules(&self->nl, 1, 7));
	EXPECT_STRNE("", self->nl.error);
	for (i = 0; i < many; i++)
		EXPECT_EQ(0, evict(&self->nl, 100 + i, 2));
	EXPECT_EQ(-EBUSY, set_rules(&self->nl, 1, 7));
	EXPECT_EQ(0, evict(&self->nl, 7, 2));
	EXPECT_EQ(0, server_value(&self->nl, BFTMUTEX_A_SERVER_AWAITED));
	EXPECT_EQ(0, set_rules(&self->nl, 1, 7));
	EXPECT_EQ(0, list_members(&self->nl).count);
}

TEST_F(access, evictions_that_are_wrong)
{
	struct nl_msg *msg = rules_msg(&self->nl, 1);
	struct nlattr *nest;

	put_member_rule(msg, 7, 7);
	nla_nest_end(msg, nla_nest_start(msg, BFTMUTEX_A_SERVER_EVICTION | NLA_F_NESTED));
	nla_put(msg, BFTMUTEX_A_SERVER_EVICTION | NLA_F_NESTED, 0, NULL);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	EXPECT_STRNE("", self->nl.error);
	msg = rules_msg(&self->nl, 1);
	put_member_rule(msg, 7, 7);
	put_eviction(msg, 0, 1);
	EXPECT_EQ(-ERANGE, send_msg(&self->nl, msg));
	msg = rules_msg(&self->nl, 1);
	put_member_rule(msg, 7, 7);
	put_eviction(msg, 7, 0);
	EXPECT_EQ(-ERANGE, send_msg(&self->nl, msg));
	EXPECT_EQ(0, list_members(&self->nl).count);
	/* A client that is denied every name is no member. */
	msg = rules_msg(&self->nl, 2);
	nest = begin_rule(msg);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, 7);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, 7);
	nla_put_flag(msg, BFTMUTEX_A_RULE_DENY);
	nla_nest_end(msg, nest);
	put_member_rule(msg, 6, 8);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	EXPECT_EQ(2, list_members(&self->nl).count);
}

static atomic_bool over;

static void *replace(void *arg)
{
	struct bftm_nl nl;
	uint32_t turn;

	(void)arg;
	if (bftm_nl_open(&nl))
		abort();
	for (turn = 0; !over; turn++)
		if (set_rules(&nl, turn % 3 ? RULES_MAX / (turn % 3) : 0, 1 + turn % 2))
			abort();
	bftm_nl_close(&nl);
	return NULL;
}

/* A list that does not say that it was interrupted is one that was set. */
TEST_F(access, replaced_while_listed)
{
	const int turns = short_run() ? TURNS / 10 : TURNS;
	int turn, whole = 0;
	pthread_t thread;
	struct list l;

	over = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, replace, NULL));
	for (turn = 0; turn < turns; turn++) {
		l = list_rules(&self->nl);
		if (self->nl.changed)
			continue;
		whole++;
		EXPECT_TRUE(!l.count || l.count == RULES_MAX || l.count == RULES_MAX / 2);
		EXPECT_TRUE(!l.count || l.in_order);
	}
	over = true;
	pthread_join(thread, NULL);
	TH_LOG("%d of %d lists were not interrupted", whole, turns);
	EXPECT_GT(whole, 0);
}

TEST_HARNESS_MAIN
