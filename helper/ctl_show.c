// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl locks, clients, holders, watch: what the module holds. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <netlink/genl/ctrl.h>

#include "ctl.h"

struct dump {
	enum ctl_set set;
	struct ctl_list list;
};

static int take_row(struct nlattr **attr, void *arg)
{
	struct dump *dump = arg;

	ctl_list_row(&dump->list, ctl_object(dump->set, attr));
	return ferror(stdout) ? -EIO : 0;
}

/* A dump of @set by @cmd as a table; @nothing is said when it is empty. */
static int dump(u8 cmd, enum ctl_set set, const struct ctl_column *column, const char *nothing)
{
	struct dump d = { .set = set, .list = { .column = column } };
	struct bftm_nl nl;
	int r;

	r = ctl_open(&nl);
	if (r)
		return r;
	r = bftm_nl_call(&nl, bftm_nl_msg(&nl, cmd, NLM_F_DUMP), take_row, ctl_set_max(set), &d);
	if (r == 0 || d.list.rows)
		ctl_list_end(&d.list, nothing);
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
		{ "remaining_ns", "REMAINING", 10 },
		{ "gno", "GRANT", 20 },
		{ "name", "LOCK", 0 },
		{}
	};

	ctl_no_options(argc, argv, "List the locks in the table of the server that runs here.");
	return dump(BFTMUTEX_CMD_LOCK_GET, CTL_LOCK, columns, "The server has no locks.");
}

int ctl_clients(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "id", "CLIENT", 10 },
		{ "idle_ns", "IDLE", 10 },
		{ "received", "RECEIVED", 12 },
		{ "replayed", "REPLAYED", 12 },
		{ "last_seq", "LAST", 0 },
		{}
	};

	ctl_no_options(argc, argv,
		       "List the clients that the server that runs here has authenticated.");
	return dump(BFTMUTEX_CMD_CLIENT_GET, CTL_CLIENT, columns, "The server has seen no client.");
}

static const struct ctl_column handle_columns[] = {
	{ "state", "STATE", -7 },
	{ "reason", "REASON", -7 },
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
		       "List who holds, waits for or has lost a lock through this host's "
		       "/dev/bftmutex.");
	return dump(BFTMUTEX_CMD_HANDLE_GET, CTL_HANDLE, handle_columns,
		    "Nobody here holds or waits for a lock.");
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return value ? json_object_get_string(value) : "-";
}

/* IDLE is what a handle is after a release. */
static const char *event_name(struct json_object *event)
{
	const char *state = text_of(event, "state");

	return !strcmp(state, "idle") ? "released" : state;
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_HANDLE_MAX + 1];
	struct json_object *event;
	struct timespec now;
	char text[32];
	struct tm tm;

	(void)arg;
	if (genlmsg_hdr(nlmsg_hdr(msg))->cmd != BFTMUTEX_CMD_LOCK_EVENT ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, attr, BFTMUTEX_A_HANDLE_MAX, NULL) < 0)
		return NL_SKIP;
	event = ctl_object(CTL_HANDLE, attr);
	if (ctl_json) {
		puts(json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		localtime_r(&now.tv_sec, &tm);
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
		printf("%s.%03ld  %-8s  %s  by %s[%s], token %s\n", text, now.tv_nsec / 1000000,
		       event_name(event), text_of(event, "name"), text_of(event, "comm"),
		       text_of(event, "pid"), text_of(event, "token"));
	}
	json_object_put(event);
	fflush(stdout);
	return NL_OK;
}

static int watch(struct bftm_nl *nl)
{
	int group, r;

	group = genl_ctrl_resolve_grp(nl->sock, BFTMUTEX_FAMILY_NAME, BFTMUTEX_MCGRP_EVENTS);
	r = group < 0 ? group : nl_socket_add_membership(nl->sock, group);
	if (r < 0)
		return ctl_fail(EX_OSERR, "netlink: %s", nl_geterror(r));
	nl_socket_disable_seq_check(nl->sock);
	nl_socket_modify_cb(nl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_event, NULL);
	if (!ctl_json)
		fputs("Waiting for locks to be acquired, released or lost; end with Ctrl-C.\n",
		      stderr);
	while (!ferror(stdout)) {
		r = bftm_nl_errno(nl_recvmsgs_default(nl->sock));
		if (r == -ENOBUFS)
			ctl_fail(0, "events came faster than they could be printed; some are lost");
		else if (r < 0 && r != -EINTR && r != -EAGAIN)
			return ctl_fail(EX_OSERR, "netlink: %s", strerror(-r));
	}
	return EX_IOERR;
}

int ctl_watch(int argc, char **argv)
{
	struct bftm_nl nl;
	int r;

	ctl_no_options(argc, argv,
		       "Print a line, or with --json an object in a line, whenever a lock is "
		       "acquired, released or lost through this host's /dev/bftmutex.");
	r = ctl_open(&nl);
	if (r)
		return r;
	r = watch(&nl);
	bftm_nl_close(&nl);
	return r;
}
