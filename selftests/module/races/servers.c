// SPDX-License-Identifier: GPL-2.0
/* A server stops and starts, its rules are replaced, its port is taken. */
#include "server.h"

#define RULES_MAX	1024

static struct bftm_nl nl;

struct nl_msg *races_start_msg(struct races *r, struct bftm_nl *to, uint32_t max_locks,
			       uint64_t lease_max_ns)
{
	static struct bftm_master master;
	struct nl_msg *msg = bftm_nl_msg(to, BFTMUTEX_CMD_SERVER_START, 0);
	char path[128];

	snprintf(path, sizeof(path), "%s/server-%d.key", r->dir, RACES_SERVER);
	if (!master.cluster && bftm_master_load(path, &master) < 0)
		exit(1);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, master.cluster);
	nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, master.server);
	nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(master.key), master.key);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_LEASE_MAX_NS, lease_max_ns);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, max_locks);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_CLIENTS, 64);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_TOKEN_FLOOR, 0);
	return msg;
}

static bool started(struct bftm_nl *to, struct nl_msg *msg)
{
	int err = send_msg(to, msg);

	return err ? races_failed("server-start: %s (%s)", strerror(-err), to->error) : true;
}

bool races_start_server(struct races *r, struct bftm_nl *to, uint32_t max_locks,
			uint64_t lease_max_ns)
{
	return started(to, races_start_msg(r, to, max_locks, lease_max_ns));
}

bool races_stop(struct bftm_nl *to)
{
	int err = stop_server(to);

	return err ? races_failed("server-stop: %s (%s)", strerror(-err), to->error) : true;
}

static bool begin(struct races *r)
{
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	return races_start_server(r, &nl, 128, SHORT);
}

static bool end(struct races *r)
{
	bool good = races_stop(&nl);

	(void)r;
	bftm_nl_close(&nl);
	return good;
}

/* Until the server that is there answers, or not. */
static void let_answer(struct races *r)
{
	if (races_random(8))
		races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	races_pause(1000);
}

static bool restart(struct races *r, uint64_t i)
{
	(void)i;
	let_answer(r);
	return races_stop(&nl) && races_start_server(r, &nl, 64 + races_random(128), SHORT);
}

/* One that has the port of one family. */
static int block(int family)
{
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr any;
	} to = { .v6.sin6_family = (sa_family_t)family };
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;

	to.v4.sin_port = htons(BFTM_PORT_DEFAULT);
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, &to.any, family == AF_INET ? sizeof(to.v4) : sizeof(to.v6)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* By IPv6 alone: then the other socket is open, and at work, when this one fails. */
static bool in_use(struct races *r, uint64_t i)
{
	int fd, err;

	let_answer(r);
	if (!races_stop(&nl))
		return false;
	fd = block(i % 4 ? AF_INET6 : AF_INET);
	if (fd < 0)
		return races_failed("bind: %s", strerror(errno));
	err = send_msg(&nl, races_start_msg(r, &nl, 64, SHORT));
	close(fd);
	if (err != -EADDRINUSE)
		return races_failed("a start without a port: %s", strerror(-err));
	return races_start_server(r, &nl, 64, SHORT);
}

static void put_rule(struct nl_msg *msg, uint32_t turn)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE);
	char prefix[8];

	if (races_random(2)) {
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, RACES_CLIENT + turn % 8);
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, RACES_HELPER);
	}
	snprintf(prefix, sizeof(prefix), "n%u", races_random(50));
	if (races_random(2))
		nla_put(msg, BFTMUTEX_A_RULE_PREFIX, (int)strlen(prefix), prefix);
	if (!races_random(4))
		nla_put_flag(msg, BFTMUTEX_A_RULE_DENY);
	nla_nest_end(msg, nest);
}

/* None, some, or as many as there may be. */
static bool rules(struct races *r, uint64_t i)
{
	uint32_t count = i % 32 ? races_random(16) : RULES_MAX, turn;
	struct nl_msg *msg = bftm_nl_msg_room(&nl, BFTMUTEX_CMD_ACCESS_SET, 0, 64 + count * 48);
	int err;

	for (turn = 0; turn < count; turn++)
		put_rule(msg, turn);
	err = send_msg(&nl, msg);
	if (err)
		return races_failed("access-set of %u: %s (%s)", count, strerror(-err), nl.error);
	let_answer(r);
	return true;
}

const struct scenario races_servers[] = {
	{ "rebind", "server, by stop and start", begin, restart, end,
	  .device = false },
	{ "address-in-use", "server; its port is another's at first", begin, in_use, end,
	  .device = false },
	{ "rules", "access rules, replaced; locks of a full table", begin, rules, end,
	  .device = false },
	{}
};
