// SPDX-License-Identifier: GPL-2.0
/* Tables are listed while their entries come and go; some listings are left unread. */
#include "lend.h"
#include "server.h"

static struct bftm_nl nl;
static struct lender lender;

/** struct listing - @named: entries with the attribute that each must have */
struct listing {
	int attr;
	uint64_t entries, named;
};

/* Lists, and the attributes that each entry must have. */
static const struct {
	uint8_t cmd;
	int attr, max;
} tables[] = {
	{ BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_A_LOCK_NAME, BFTMUTEX_A_LOCK_MAX },
	{ BFTMUTEX_CMD_CLIENT_GET, BFTMUTEX_A_CLIENT_ID, BFTMUTEX_A_CLIENT_MAX },
	{ BFTMUTEX_CMD_OBJECT_GET, BFTMUTEX_A_OBJECT_NAME, BFTMUTEX_A_OBJECT_MAX },
	{ BFTMUTEX_CMD_HANDLE_GET, BFTMUTEX_A_HANDLE_ID, BFTMUTEX_A_HANDLE_MAX },
	{ BFTMUTEX_CMD_ACCESS_GET, BFTMUTEX_A_SERVER_RULE, BFTMUTEX_A_SERVER_MAX },
};
#define TABLES	(sizeof(tables) / sizeof(tables[0]))

static uint64_t entries[TABLES];

static bool begin(struct races *r)
{
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	return races_start_server(r, &nl, 1024, LONGER) && lender_open(&lender, r) &&
	       lender_lend(&lender, 1);
}

static bool end(struct races *r)
{
	bool good = races_stop(&nl);
	size_t i;

	lender_close(&lender);
	bftm_nl_close(&nl);
	for (i = 0; i < TABLES; i++)
		if (!entries[i] && r->iterations >= RACES_ENOUGH)
			good = races_failed("table %zu was always empty", i);
	return good;
}

static int on_entry(struct nlattr **attr, void *arg)
{
	struct listing *l = arg;

	l->entries++;
	l->named += attr[l->attr] != NULL;
	return 0;
}

/* Asked for, and closed before it is read to its end. */
static bool leave(uint8_t cmd)
{
	struct bftm_nl other;
	struct nl_msg *msg;

	if (bftm_nl_open(&other))
		return races_failed("no family");
	msg = bftm_nl_msg(&other, cmd, NLM_F_DUMP);
	if (nl_send_auto(other.sock, msg) < 0)
		return races_failed("a listing cannot be asked for");
	nlmsg_free(msg);
	bftm_nl_close(&other);
	return true;
}

/* Another list each time, so that listings of it are interrupted. */
static bool replace_rules(void)
{
	struct nl_msg *msg = bftm_nl_msg_room(&nl, BFTMUTEX_CMD_ACCESS_SET, 0, 65536);
	uint32_t i, count = 1 + races_random(1024);
	int err;

	for (i = 0; i < count; i++) {
		struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE);

		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, 1 + i % RACES_CLIENT);
		nla_nest_end(msg, nest);
	}
	err = send_msg(&nl, msg);
	return !err || races_failed("access-set: %s (%s)", strerror(-err), nl.error);
}

static bool dump(struct races *r, uint64_t i)
{
	size_t t = races_random(TABLES);
	struct listing l = { .attr = tables[t].attr };
	int err;

	if (races_random(2))
		races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	if (i % 8 == 0 && (!replace_rules() || !lender_serve(&lender, 8)))
		return false;
	if (i % 64 == 0 && (!races_stop(&nl) || !races_start_server(r, &nl, 1024, LONGER)))
		return false;
	if (!races_random(8))
		return leave(tables[t].cmd);
	err = bftm_nl_call(&nl, bftm_nl_msg(&nl, tables[t].cmd, NLM_F_DUMP), on_entry,
			   tables[t].max, &l);
	if (err)
		return races_failed("table %zu: %s (%s)", t, strerror(-err), nl.error);
	if (l.named != l.entries)
		return races_failed("table %zu: an entry lacks its name", t);
	entries[t] += l.entries;
	return true;
}

const struct scenario races_dumps[] = {
	{ "dumps", "entries of tables that are listed", begin, dump, end, .device = true },
	{}
};
