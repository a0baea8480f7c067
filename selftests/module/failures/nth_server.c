// SPDX-License-Identifier: GPL-2.0
/* The netlink commands of a server and of its journal. */
#include "fail_nth.h"
#include "nth_change.h"

static int do_server_start(void)
{
	struct nl_msg *msg = start_msg(&nth_nl);
	struct nlattr *rule;

	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, 64);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_DURABILITY, BFTMUTEX_DURABILITY_SYNC);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_JOURNAL_ID, 77);
	rule = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, 1);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, 9);
	nla_nest_end(msg, rule);
	return send_msg(&nth_nl, msg);
}

static void with_server(void)
{
	if (server_value(&nth_calm, BFTMUTEX_A_SERVER_ID) != SERVER_ID && do_server_start())
		abort();
}

/* A dump that was not read to its end is in the way of the next on its socket. */
static void with_socket(void)
{
	with_server();
	bftm_nl_close(&nth_nl);
	if (bftm_nl_open(&nth_nl))
		abort();
}

static void without_server(void)
{
	stop_server(&nth_calm);
}

static int do_server_stop(void)
{
	return stop_server(&nth_nl);
}

static int do_server_get(void)
{
	struct wanted w = { .attr = BFTMUTEX_A_SERVER_ID };

	return bftm_nl_call(&nth_nl, bftm_nl_msg(&nth_nl, BFTMUTEX_CMD_SERVER_GET, 0), take_number,
			    BFTMUTEX_A_SERVER_MAX, &w);
}

static int set_rules(struct bftm_nl *by, uint32_t count)
{
	struct nl_msg *msg = bftm_nl_msg(by, BFTMUTEX_CMD_ACCESS_SET, 0);
	uint32_t i;

	for (i = 1; i <= count; i++) {
		struct nlattr *rule = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);

		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, i);
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, i);
		nla_nest_end(msg, rule);
	}
	return send_msg(by, msg);
}

static int do_access_set(void)
{
	return set_rules(&nth_nl, 3);
}

static void reset_rules(void)
{
	with_socket();
	if (set_rules(&nth_calm, 1))
		abort();
}

static int list(uint8_t cmd)
{
	int count = 0;

	return nth_dump(&nth_nl, cmd, &count);
}

static int do_access_get(void)
{
	return list(BFTMUTEX_CMD_ACCESS_GET);
}

static int do_lock_get(void)
{
	return list(BFTMUTEX_CMD_LOCK_GET);
}

static int do_object_get(void)
{
	return list(BFTMUTEX_CMD_OBJECT_GET);
}

static int do_client_get(void)
{
	return list(BFTMUTEX_CMD_CLIENT_GET);
}

static struct bftm_nl journal;	/* whose it is: it ends when this is closed */

static int do_journal_open(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_OPEN, 0);

	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_ID, 77);
	return send_msg(&journal, msg);
}

/* A server anew that waits for its journal, which is somebody else. */
static void new_journal(void)
{
	without_server();
	with_server();
	if (journal.sock)
		bftm_nl_close(&journal);
	if (bftm_nl_open(&journal))
		abort();
}

static void with_journal(void)
{
	new_journal();
	if (do_journal_open())
		abort();
}

static void put_rank(struct nl_msg *msg, int attr)
{
	struct nlattr *nest = nla_nest_start(msg, attr | NLA_F_NESTED);

	nla_put_u64(msg, BFTMUTEX_A_RANK_COUNT, 1);
	nla_put_u32(msg, BFTMUTEX_A_RANK_CLIENT, 1);
	nla_put_u32(msg, BFTMUTEX_A_RANK_INCARNATION, 1);
	nla_nest_end(msg, nest);
}

static void put_state(struct nl_msg *msg, int attr, uint64_t version, uint32_t len)
{
	uint8_t digest[BFTMUTEX_DIGEST_LEN] = { (uint8_t)version };
	struct nlattr *nest = nla_nest_start(msg, attr | NLA_F_NESTED);

	nla_put_u64(msg, BFTMUTEX_A_STATE_VERSION, version);
	nla_put_u32(msg, BFTMUTEX_A_STATE_LENGTH, len);
	nla_put(msg, BFTMUTEX_A_STATE_DIGEST, sizeof(digest), digest);
	nla_nest_end(msg, nest);
}

/* An object whose state is still to come: of @len bytes, none for 0. */
static int load(uint32_t len)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_LOAD, 0);
	uint8_t signature[BFTMUTEX_SIGNATURE_LEN] = {};

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, 6, "object");
	put_rank(msg, BFTMUTEX_A_JOURNAL_RANK);
	put_rank(msg, BFTMUTEX_A_JOURNAL_PROPOSER);
	nla_put(msg, BFTMUTEX_A_JOURNAL_SIGNATURE, sizeof(signature), signature);
	put_state(msg, BFTMUTEX_A_JOURNAL_COMMITTED, len ? 1 : 0, len);
	put_state(msg, BFTMUTEX_A_JOURNAL_PROPOSED, len ? 1 : 0, len);
	return send_msg(&journal, msg);
}

static int do_journal_load(void)
{
	return load(0);
}

/* Its state has room, and no pieces yet: the object is not there before they are. */
static int do_journal_load_state(void)
{
	return load(4096);
}

static int do_journal_loaded(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_LOADED, 0);

	nla_put_flag(msg, BFTMUTEX_A_JOURNAL_COMPLETE);
	return send_msg(&journal, msg);
}

static void with_object(void)
{
	with_journal();
	with_socket();
	if (load(0))
		abort();
}

static int do_journal_pull(void)
{
	return command(&journal, BFTMUTEX_CMD_JOURNAL_PULL, 0);
}

static void with_loaded(void)
{
	with_object();
	if (do_journal_loaded())
		abort();
}

static int do_journal_done(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_DONE, 0);

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, 6, "object");
	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_CHANGE, 1);
	return send_msg(&journal, msg);
}

/* The journal pulls what it has not written yet, and says that it has. */
static void with_change(void)
{
	with_loaded();
	nth_change(SERVER_CLUSTER, SERVER_ID, server_key, "object");
}

static void with_pulled(void)
{
	with_change();
	if (do_journal_pull())
		abort();
}

/* The next journal gets a change that this one did not get. */
static void check_pull(int err)
{
	if (!err)
		return;
	bftm_nl_close(&journal);
	if (bftm_nl_open(&journal) || do_journal_open() || do_journal_pull()) {
		printf("# the change is lost\n");
		exit(1);
	}
}

const struct operation nth_server_operations[] = {
	/* ENFILE is what the kernel says when there is no memory for a socket. */
	{ "server-start", without_server, do_server_start, 0, NULL, -ENFILE },
	{ "server-stop", with_server, do_server_stop, 0, NULL, 0 },
	{ "server-get", with_socket, do_server_get, 0, NULL, 0 },
	{ "access-set", reset_rules, do_access_set, 0, NULL, 0 },
	{ "access-get", reset_rules, do_access_get, 0, NULL, 0 },
	{ "lock-get", with_socket, do_lock_get, 0, NULL, 0 },
	{ "client-get", with_socket, do_client_get, 0, NULL, 0 },
	{ "journal-open", new_journal, do_journal_open, 0, NULL, 0 },
	{ "journal-load", with_journal, do_journal_load, 0, NULL, -ENOSPC },
	{ "journal-load, state", with_journal, do_journal_load_state, 0, NULL, 0 },
	{ "object-get", with_object, do_object_get, 0, NULL, 0 },
	{ "journal-loaded", with_object, do_journal_loaded, 0, NULL, 0 },
	{ "journal-pull", with_loaded, do_journal_pull, -ENODATA, NULL, 0 },
	{ "journal-pull, changed", with_change, do_journal_pull, 0, check_pull, 0 },
	{ "journal-done", with_loaded, do_journal_done, -ESTALE, NULL, 0 },
	{ "journal-done, changed", with_pulled, do_journal_done, 0, NULL, 0 },
	{}
};
