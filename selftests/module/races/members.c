// SPDX-License-Identifier: GPL-2.0
/*
 * Members are evicted, and the server that waits for them restarts, while they SYNC, assert again
 * and take locks without a lease.
 */
#include "server.h"

static struct bftm_nl nl;

/* All clients of the traffic, which are RACES_LOCKS, are members for all names. */
static void put_rules(struct nl_msg *msg)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE);

	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, RACES_CLIENT);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, RACES_CLIENT + RACES_LOCKS - 1);
	nla_put_flag(msg, BFTMUTEX_A_RULE_LEASELESS);
	nla_nest_end(msg, nest);
	nla_nest_end(msg, nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED));
}

static bool start(struct races *r)
{
	struct nl_msg *msg = races_start_msg(r, &nl, 64 + races_random(128), SHORT);
	int err;

	put_rules(msg);
	err = send_msg(&nl, msg);
	return !err || races_failed("server-start: %s (%s)", strerror(-err), nl.error);
}

static bool begin(struct races *r)
{
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	return start(r);
}

static bool end(struct races *r)
{
	bool good = races_stop(&nl);

	bftm_nl_close(&nl);
	if (r->iterations >= RACES_ENOUGH && !(r->shared->lasting && r->shared->synced))
		good = races_failed("no lock without a lease was granted, or no member was SYNCED");
	return good;
}

/*
 * Incarnations of the traffic are units of some four seconds. An eviction of the present one refuses
 * all that comes of the member for the rest of these, or until the server has forgotten the eviction.
 */
static bool evict(void)
{
	struct nl_msg *msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_MEMBER_EVICT, 0);
	int err;

	nla_put_u32(msg, BFTMUTEX_A_MEMBER_ID, RACES_CLIENT + races_random(RACES_LOCKS));
	nla_put_u32(msg, BFTMUTEX_A_MEMBER_EVICTED,
		    (uint32_t)(clock_ns(CLOCK_REALTIME) >> 32) - !!races_random(16));
	err = send_msg(&nl, msg);
	return !err || races_failed("member-evict: %s (%s)", strerror(-err), nl.error);
}

static bool once(struct races *r, uint64_t i)
{
	(void)i;
	if (races_random(8))
		races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	races_pause(1000);
	/* Seldom enough that members are SYNCED in between. */
	if (!races_random(16) && !(races_stop(&nl) && start(r)))
		return false;
	return !races_random(4) || evict();
}

const struct scenario races_members[] = {
	{ "members", "members evicted, and the server that waits for them restarted", begin, once,
	  end, .device = false },
	{}
};
