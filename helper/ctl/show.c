// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl locks, objects, clients, holders: tables of the module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/ctl.h"
#include "text/json.h"

struct show_dump {
	enum ctl_set set;
	struct ctl_list list;
	bool asked;
	char *cluster;
};

/* A waiter in the default cluster names no cluster; the daemon knows its name. */
static void add_cluster(struct show_dump *dump, struct json_object *handle)
{
	if (json_object_object_get(handle, "cluster"))
		return;
	if (!dump->asked)
		dump->cluster = ctl_default_cluster();
	dump->asked = true;
	bftm_json_add_text(handle, "cluster", dump->cluster);
}

static int take_row(struct nlattr **attr, void *arg)
{
	struct show_dump *dump = arg;
	struct json_object *row = ctl_object(dump->set, attr);

	if (dump->set == CTL_HANDLE)
		add_cluster(dump, row);
	if (dump->set == CTL_CLIENT && attr[BFTMUTEX_A_CLIENT_LAST_SEQ])
		bftm_json_add_number(row, "incarnation", nla_get_u64(attr[BFTMUTEX_A_CLIENT_LAST_SEQ]) >> 32);
	ctl_list_row(&dump->list, row);
	return ferror(stdout) ? -EIO : 0;
}

/* A dump of @set by @cmd as a table; @nothing is printed when it is empty. */
static int show_table(u8 cmd, enum ctl_set set, const struct ctl_column *column,
		      const char *nothing)
{
	struct show_dump d = { .set = set, .list = { .column = column } };
	struct json_object *server = NULL;
	struct bftm_nl nl;
	int r;

	r = ctl_open(&nl);
	if (r)
		return r;
	/* Without a server the list is empty as well. */
	r = set == CTL_HANDLE ? 0 : ctl_server_get(&nl, &server);
	if (r == 0)
		r = bftm_nl_call(&nl, bftm_nl_msg(&nl, cmd, NLM_F_DUMP), take_row, ctl_set_max(set), &d);
	if (r == 0 || d.list.rows)
		ctl_list_end(&d.list, nothing);
	json_object_put(server);
	free(d.cluster);
	if (r < 0)
		r = ctl_refused(&nl, r, set);
	bftm_nl_close(&nl);
	return r;
}

int ctl_locks(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "client", "CLIENT", 10 },
		{ "attempt", "ATTEMPT", 20 },
		{ "mode", "MODE", -4 },
		{ "remaining_ns", "REMAINING", 10 },
		{ "holders", "HOLDERS", 7 },
		{ "waiters", "WAITERS", 7 },
		{ "token", "TOKEN", 8 },
		{ "gno", "GRANT", 20 },
		{ "name", "LOCK", 0 },
		{}
	};

	ctl_no_options(argc, argv, "List the locks in the table of the server that runs here.");
	return show_table(BFTMUTEX_CMD_LOCK_GET, CTL_LOCK, columns, "The server has no locks.");
}

int ctl_objects(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "version", "VERSION", 10 },
		{ "length", "BYTES", 8 },
		{ "proposed_version", "PROPOSED", 10 },
		{ "rank_count", "RANK", 10 },
		{ "rank_client", "OF CLIENT", 10 },
		{ "pending", "PENDING", 7 },
		{ "recovering", "RECOVERING", 10 },
		{ "name", "OBJECT", 0 },
		{}
	};

	ctl_no_options(argc, argv, "List the objects in the table of the server that runs here.");
	return show_table(BFTMUTEX_CMD_OBJECT_GET, CTL_OBJECT, columns,
			  "The server has no objects.");
}

int ctl_clients(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "id", "CLIENT", 10 },
		{ "idle_ns", "IDLE", 10 },
		{ "received", "RECEIVED", 12 },
		{ "replayed", "REPLAYED", 12 },
		{ "incarnation", "INCARNATION", 11 },
		{ "last_seq", "LAST", 0 },
		{}
	};

	ctl_no_options(argc, argv,
		       "List the clients that the server that runs here has authenticated.");
	return show_table(BFTMUTEX_CMD_CLIENT_GET, CTL_CLIENT, columns,
			  "The server has seen no client.");
}

int ctl_server_members(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "id", "CLIENT", 10 },
		{ "awaited", "AWAITED", -7 },
		{ "incarnation", "INCARNATION", 11 },
		{ "noted", "IN-ROLL", 11 },
		{ "evicted", "EVICTED-UP-TO", 0 },
		{}
	};

	ctl_no_options(argc, argv,
		       "List the clients that may hold locks without a lease. After a start the server "
		       "grants such locks to nobody until each of them has told what it holds: the "
		       "others are awaited.");
	return show_table(BFTMUTEX_CMD_MEMBER_GET, CTL_MEMBER, columns,
			  "No client may hold locks without a lease.");
}

static const struct ctl_column handle_columns[] = {
	{ "state", "STATE", -7 },
	{ "mode", "MODE", -5 },
	{ "goal", "TO", -3 },
	{ "reason", "REASON", -11 },
	{ "remaining_ns", "REMAINING", 10 },
	{ "token", "TOKEN", 8 },
	{ "attempts", "TRIES", 6 },
	{ "pid", "PID", 8 },
	{ "comm", "COMMAND", -15 },
	{ "cluster", "CLUSTER", -10 },
	{ "name", "LOCK", 0 },
	{}
};

int ctl_holders(int argc, char **argv)
{
	ctl_no_options(argc, argv,
		       "List the handles that hold, wait for or have lost a lock through this host's "
		       "/dev/bftmutex.");
	return show_table(BFTMUTEX_CMD_HANDLE_GET, CTL_HANDLE, handle_columns,
			  "Nobody here holds or waits for a lock.");
}
