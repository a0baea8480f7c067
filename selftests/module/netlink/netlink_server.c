// SPDX-License-Identifier: GPL-2.0
/* server-start, -stop and -get: attributes, rights, ports. */
#include <netinet/in.h>
#include <sys/prctl.h>

#include "selftests/module/device/harness.h"
#include "netlink.h"

/* A network namespace without a server. */
FIXTURE(server)
{
	struct bftm_nl nl;
};

FIXTURE_SETUP(server)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
}

FIXTURE_TEARDOWN(server)
{
	bftm_nl_close(&self->nl);
}

struct range {
	const char *name;
	int attr;
	int len;
	uint64_t min, max;
	bool needed;
};

static const struct range ranges[] = {
	{ "cluster", BFTMUTEX_A_SERVER_CLUSTER, 4, 1, UINT32_MAX, true },
	{ "id", BFTMUTEX_A_SERVER_ID, 2, 1, UINT16_MAX, true },
	{ "port", BFTMUTEX_A_SERVER_PORT, 2, 1, UINT16_MAX, false },
	{ "lease-max-ns", BFTMUTEX_A_SERVER_LEASE_MAX_NS, 8, MS, 3600 * SEC, false },
	{ "rho-ppm", BFTMUTEX_A_SERVER_RHO_PPM, 4, 1, 100000, false },
	{ "max-locks", BFTMUTEX_A_SERVER_MAX_LOCKS, 4, 64, 16 << 20, false },
	{ "max-clients", BFTMUTEX_A_SERVER_MAX_CLIENTS, 4, 1, 1 << 20, false },
	{ "max-waiters", BFTMUTEX_A_SERVER_MAX_WAITERS, 4, 1, 1 << 16, false },
	{ "max-holders", BFTMUTEX_A_SERVER_MAX_HOLDERS, 4, 1, 4096, false },
	{ "max-objects", BFTMUTEX_A_SERVER_MAX_OBJECTS, 4, 1, 1 << 16, false },
	{ "max-state", BFTMUTEX_A_SERVER_MAX_STATE, 4, 1024, 1 << 20, false },
	{ "object-memory", BFTMUTEX_A_SERVER_OBJECT_MEMORY, 8, 16 << 20, 1ull << 40, false },
	{ "no-quarantine", BFTMUTEX_A_SERVER_NO_QUARANTINE, 4, 0, 30, false },
	{ "token-floor", BFTMUTEX_A_SERVER_TOKEN_FLOOR, 8, 0, INT64_MAX, false },
};

static uint64_t top_of(const struct range *r)
{
	return r->len == 8 ? UINT64_MAX : (1ull << 8 * r->len) - 1;
}

/* A start with one attribute as given, and all that is needed besides. */
static struct nl_msg *start_with(struct bftm_nl *nl, int attr, int len, const void *data)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_START, 0);

	if (attr != BFTMUTEX_A_SERVER_CLUSTER)
		nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, SERVER_CLUSTER);
	if (attr != BFTMUTEX_A_SERVER_ID)
		nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, SERVER_ID);
	if (attr != BFTMUTEX_A_SERVER_KEY)
		nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(server_key), server_key);
	/* Small, or the smallest machine has no room for the tables. */
	if (attr != BFTMUTEX_A_SERVER_MAX_LOCKS)
		nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, 64);
	if (len >= 0)
		nla_put(msg, attr, len, data);
	return msg;
}

static int start_value(struct bftm_nl *nl, const struct range *r, uint64_t value)
{
	return send_msg(nl, start_with(nl, r->attr, r->len, low_bytes(&value, r->len)));
}

static uint64_t value_of(struct bftm_nl *nl, const struct range *r)
{
	return server_value(nl, r->attr);
}

TEST_F(server, ranges_of_attributes)
{
	const struct range *r;

	for (r = ranges; r < ranges + ARRAY_SIZE(ranges); r++) {
		TH_LOG("%s", r->name);
		EXPECT_EQ(-ERANGE, start_value(&self->nl, r, r->min - 1));
		EXPECT_STRNE("", self->nl.error);
		EXPECT_EQ(r->attr, self->nl.attr);
		if (r->max < top_of(r)) {
			EXPECT_EQ(-ERANGE, start_value(&self->nl, r, r->max + 1));
			EXPECT_STRNE("", self->nl.error);
			EXPECT_EQ(r->attr, self->nl.attr);
			EXPECT_EQ(-ERANGE, start_value(&self->nl, r, top_of(r)));
		}
		EXPECT_EQ(-ENOENT, stop_server(&self->nl));
		EXPECT_EQ(0, start_value(&self->nl, r, r->min));
		EXPECT_EQ(r->min, value_of(&self->nl, r));
		EXPECT_EQ(0, stop_server(&self->nl));
		EXPECT_EQ(0, start_value(&self->nl, r, r->max));
		EXPECT_EQ(r->max, value_of(&self->nl, r));
		EXPECT_EQ(0, stop_server(&self->nl));
	}
}

TEST_F(server, lengths_of_attributes)
{
	uint8_t data[BFTMUTEX_KEY_LEN + 8] = { 1, 1, 1, 1 };
	const struct range *r;
	int len, err;

	for (r = ranges; r < ranges + ARRAY_SIZE(ranges); r++) {
		for (len = 0; len <= 12; len++) {
			if (len == r->len)
				continue;
			err = send_msg(&self->nl, start_with(&self->nl, r->attr, len, data));
			EXPECT_TRUE(err == -EINVAL || err == -ERANGE) {
				TH_LOG("%s of %d bytes: %d", r->name, len, err);
			}
			EXPECT_STRNE("", self->nl.error);
		}
	}
	for (len = 0; len <= (int)sizeof(data); len++) {
		if (len == BFTMUTEX_KEY_LEN)
			continue;
		err = send_msg(&self->nl,
			       start_with(&self->nl, BFTMUTEX_A_SERVER_KEY, len, data));
		EXPECT_TRUE(err == -EINVAL || err == -ERANGE) {
			TH_LOG("key of %d bytes: %d", len, err);
		}
		EXPECT_STRNE("", self->nl.error);
	}
	EXPECT_EQ(-ENOENT, stop_server(&self->nl));
}

TEST_F(server, missing_attributes)
{
	const struct range *r;

	for (r = ranges; r < ranges + ARRAY_SIZE(ranges); r++) {
		EXPECT_EQ(r->needed ? -EINVAL : 0,
			  send_msg(&self->nl, start_with(&self->nl, r->attr, -1, NULL)));
		if (r->needed)
			EXPECT_STRNE("", self->nl.error);
		EXPECT_EQ(r->needed ? -ENOENT : 0, stop_server(&self->nl));
	}
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, start_with(&self->nl, BFTMUTEX_A_SERVER_KEY, -1,
							  NULL)));
	EXPECT_EQ(-EINVAL, command(&self->nl, BFTMUTEX_CMD_SERVER_START, 0));
	EXPECT_STRNE("", self->nl.error);
}

TEST_F(server, defaults)
{
	ASSERT_EQ(0, start_server(&self->nl));
	EXPECT_EQ(7373, server_value(&self->nl, BFTMUTEX_A_SERVER_PORT));
	EXPECT_EQ(30 * SEC, server_value(&self->nl, BFTMUTEX_A_SERVER_LEASE_MAX_NS));
	EXPECT_EQ(2000, server_value(&self->nl, BFTMUTEX_A_SERVER_RHO_PPM));
	EXPECT_EQ(1 << 20, server_value(&self->nl, BFTMUTEX_A_SERVER_MAX_LOCKS));
	EXPECT_EQ(1 << 16, server_value(&self->nl, BFTMUTEX_A_SERVER_MAX_CLIENTS));
	EXPECT_EQ(1024, server_value(&self->nl, BFTMUTEX_A_SERVER_MAX_WAITERS));
	EXPECT_EQ(0, server_value(&self->nl, BFTMUTEX_A_SERVER_RULES));
	EXPECT_GT(server_value(&self->nl, BFTMUTEX_A_SERVER_QUARANTINE_NS), 0);
	EXPECT_NE(0, server_value(&self->nl, BFTMUTEX_A_SERVER_EPOCH));
	EXPECT_EQ(0, server_value(&self->nl, BFTMUTEX_A_SERVER_KEY));
}

/* That nothing is known of tokens is not that there was none. */
TEST_F(server, token_floor_is_told_or_not)
{
	struct range floor = { "", BFTMUTEX_A_SERVER_TOKEN_FLOOR, 8, 0, 0, false };
	struct wanted w = { .attr = BFTMUTEX_A_SERVER_TOKEN_FLOOR };

	ASSERT_EQ(0, start_server(&self->nl));
	ASSERT_EQ(0, bftm_nl_call(&self->nl, bftm_nl_msg(&self->nl, BFTMUTEX_CMD_SERVER_GET, 0),
				  take_number, BFTMUTEX_A_SERVER_MAX, &w));
	EXPECT_FALSE(w.there);
	ASSERT_EQ(0, stop_server(&self->nl));
	ASSERT_EQ(0, start_value(&self->nl, &floor, 0));
	ASSERT_EQ(0, bftm_nl_call(&self->nl, bftm_nl_msg(&self->nl, BFTMUTEX_CMD_SERVER_GET, 0),
				  take_number, BFTMUTEX_A_SERVER_MAX, &w));
	EXPECT_TRUE(w.there);
	EXPECT_EQ(0, w.value);
}

static int start_at(struct bftm_nl *nl, const char *device)
{
	return send_msg(nl, start_with(nl, BFTMUTEX_A_SERVER_INGRESS, (int)strlen(device) + 1, device));
}

/* Of a namespace that has lo alone: no device that there is will do. */
TEST_F(server, ingress)
{
	struct wanted w = { .attr = BFTMUTEX_A_SERVER_INGRESS };
	int why = start_at(&self->nl, "fifteen-letters");
	/* Not every kernel has hooks there; such a one looks at no device. */
	bool hooks = why != -EOPNOTSUPP;

	EXPECT_EQ(hooks ? -ENODEV : -EOPNOTSUPP, why);
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(-EINVAL, start_at(&self->nl, "sixteen-letters-"));
	EXPECT_EQ(hooks ? -EINVAL : -EOPNOTSUPP, start_at(&self->nl, "lo"));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(-ENOENT, stop_server(&self->nl));
	ASSERT_EQ(0, start_server(&self->nl));
	ASSERT_EQ(0, bftm_nl_call(&self->nl, bftm_nl_msg(&self->nl, BFTMUTEX_CMD_SERVER_GET, 0),
				  take_number, BFTMUTEX_A_SERVER_MAX, &w));
	EXPECT_FALSE(w.there);
}

/* As everywhere in netlink: the last one counts. */
TEST_F(server, duplicate_attribute)
{
	struct nl_msg *msg = start_msg(&self->nl);

	nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, SERVER_ID + 1);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	EXPECT_EQ(SERVER_ID + 1, server_value(&self->nl, BFTMUTEX_A_SERVER_ID));
}

TEST_F(server, attributes_that_are_not_asked_for)
{
	static const int others[] = {
		0, BFTMUTEX_A_SERVER_EPOCH, BFTMUTEX_A_SERVER_STATS, BFTMUTEX_A_SERVER_PAD,
		BFTMUTEX_A_SERVER_MAX + 1, 100, NLA_TYPE_MASK,
		BFTMUTEX_A_SERVER_PORT | NLA_F_NESTED,
	};
	struct nl_msg *msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		msg = start_msg(&self->nl);
		nla_put_u16(msg, others[i], 5);
		EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg)) {
			TH_LOG("attribute %d", others[i]);
		}
		EXPECT_STRNE("", self->nl.error);
	}
	msg = start_msg(&self->nl);
	nlmsg_append(msg, "abc", 3, NLMSG_ALIGNTO);
	EXPECT_EQ(-EINVAL, send_msg(&self->nl, msg));
	EXPECT_EQ(-ENOENT, stop_server(&self->nl));
}

TEST_F(server, unknown_commands_and_kinds)
{
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, BFTMUTEX_CMD_MAX + 1, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, 255, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, BFTMUTEX_CMD_HELPER_READY, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, BFTMUTEX_CMD_LOCK_EVENT, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, BFTMUTEX_CMD_LOCK_GET, 0));
	EXPECT_EQ(-EOPNOTSUPP, command(&self->nl, BFTMUTEX_CMD_SERVER_GET, NLM_F_DUMP));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_LOCK_GET, NLM_F_DUMP));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_OBJECT_GET, NLM_F_DUMP));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_CLIENT_GET, NLM_F_DUMP));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HANDLE_GET, NLM_F_DUMP));
}

TEST_F(server, second_server)
{
	uint64_t epoch;

	ASSERT_EQ(0, start_server(&self->nl));
	epoch = server_value(&self->nl, BFTMUTEX_A_SERVER_EPOCH);
	EXPECT_EQ(-EEXIST, start_server(&self->nl));
	EXPECT_STRNE("", self->nl.error);
	EXPECT_EQ(epoch, server_value(&self->nl, BFTMUTEX_A_SERVER_EPOCH));
	ASSERT_EQ(0, stop_server(&self->nl));
	ASSERT_EQ(0, start_server(&self->nl));
	EXPECT_NE(epoch, server_value(&self->nl, BFTMUTEX_A_SERVER_EPOCH));
}

TEST_F(server, stop_of_another_id)
{
	struct range id = { "id", BFTMUTEX_A_SERVER_ID, 2, 1, UINT16_MAX, false };
	static const struct { uint16_t id; int result; } rows[] = {
		{ 0, -ERANGE }, { SERVER_ID + 1, -ENOENT }, { UINT16_MAX, -ENOENT },
		{ SERVER_ID, 0 }, { SERVER_ID, -ENOENT },
	};
	struct nl_msg *msg;
	size_t i;

	EXPECT_EQ(-ENOENT, stop_server(&self->nl));
	EXPECT_STRNE("", self->nl.error);
	ASSERT_EQ(0, start_server(&self->nl));
	EXPECT_EQ(SERVER_ID, value_of(&self->nl, &id));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		msg = bftm_nl_msg(&self->nl, BFTMUTEX_CMD_SERVER_STOP, 0);
		nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, rows[i].id);
		EXPECT_EQ(rows[i].result, send_msg(&self->nl, msg));
		if (rows[i].result)
			EXPECT_STRNE("", self->nl.error);
	}
	EXPECT_EQ(UINT64_MAX, server_value(&self->nl, BFTMUTEX_A_SERVER_ID));
}

static int bind_port(int family, int port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;

	if (family == AF_INET)
		return bind(fd, (struct sockaddr *)&in4, sizeof(in4)) ? -errno : fd;
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	return bind(fd, (struct sockaddr *)&in6, sizeof(in6)) ? -errno : fd;
}

TEST_F(server, port_in_use)
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		fd = bind_port(families[i], 7373);
		ASSERT_GE(fd, 0);
		EXPECT_EQ(-EADDRINUSE, start_server(&self->nl));
		EXPECT_STRNE("", self->nl.error);
		EXPECT_EQ(UINT64_MAX, server_value(&self->nl, BFTMUTEX_A_SERVER_ID));
		close(fd);
		/* Of the failed start nothing is left in the way. */
		fd = bind_port(families[!i], 7373);
		EXPECT_GE(fd, 0);
		close(fd);
		EXPECT_EQ(0, start_server(&self->nl));
		EXPECT_EQ(-EADDRINUSE, bind_port(AF_INET, 7373));
		EXPECT_EQ(-EADDRINUSE, bind_port(AF_INET6, 7373));
		EXPECT_EQ(0, stop_server(&self->nl));
	}
}

/* A shorter longest lease must not shorten the quarantine of what was granted. */
TEST_F(server, quarantine_covers_the_server_before)
{
	struct range lease = { "", BFTMUTEX_A_SERVER_LEASE_MAX_NS, 8, 0, 0, false };

	ASSERT_EQ(0, start_value(&self->nl, &lease, 100 * SEC));
	ASSERT_EQ(0, stop_server(&self->nl));
	ASSERT_EQ(0, start_value(&self->nl, &lease, SEC));
	EXPECT_GT(server_value(&self->nl, BFTMUTEX_A_SERVER_QUARANTINE_NS), 50 * SEC);
}

TEST_HARNESS_MAIN
