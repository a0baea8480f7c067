// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl watch: events of locks, and suspicions against servers. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include <netlink/genl/ctrl.h>

#include "ctl/ctl.h"
#include "text/json.h"

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return value ? json_object_get_string(value) : "-";
}

/* The name of the event. */
static const char *event_of(u8 cmd, struct json_object *handle)
{
	const char *state = text_of(handle, "state");

	if (cmd == BFTMUTEX_CMD_SUSPECT_EVENT)
		return "suspect";
	if (cmd == BFTMUTEX_CMD_RENEW_EVENT)
		return "renewed";
	if (cmd == BFTMUTEX_CMD_HANDLE_GET)
		return "held";
	/* IDLE is the state of a handle after a release. */
	if (!strcmp(state, "held"))
		return json_object_object_get(handle, "conversion") ? "converted" : "acquired";
	return !strcmp(state, "idle") ? "released" : state;
}

static void print_now(void)
{
	struct timespec now;
	char text[32];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	printf("%s.%03ld  ", text, now.tv_nsec / 1000000);
}

static void print_lock(struct json_object *event, const char *what)
{
	struct json_object *name = ctl_shown("name", json_object_object_get(event, "name"));
	struct json_object *comm = ctl_shown("comm", json_object_object_get(event, "comm"));

	printf("%-8s  %s  by %s[%s], mode %s, token %s", what, json_object_get_string(name),
	       json_object_get_string(comm), text_of(event, "pid"), text_of(event, "mode"),
	       text_of(event, "token"));
	if (!strcmp(what, "lost"))
		printf(", %s", text_of(event, "reason"));
	putchar('\n');
	json_object_put(name);
	json_object_put(comm);
}

static void print_suspect(struct json_object *event)
{
	printf("%-8s  server %s of cluster %s: %s, count %s\n", "suspect",
	       text_of(event, "server_id"), text_of(event, "cluster"),
	       text_of(event, "evidence"), text_of(event, "count"));
}

/* Time and event come first. */
static void print_json(const char *what, struct json_object *event)
{
	struct json_object *line = json_object_new_object();

	ctl_add_time(line);
	bftm_json_add_text(line, "event", what);
	json_object_object_foreach(event, key, value) {
		struct json_object *shared = json_object_get(value);

		json_object_object_add(line, key, shared);
	}
	ctl_print_json_line(line);
	json_object_put(line);
}

static void watch_print(u8 cmd, struct json_object *event)
{
	const char *what = event_of(cmd, event);

	if (ctl_json) {
		print_json(what, event);
		return;
	}
	print_now();
	if (cmd == BFTMUTEX_CMD_SUSPECT_EVENT)
		print_suspect(event);
	else
		print_lock(event, what);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_HANDLE_MAX + 1];
	const bool *lost = arg;
	struct json_object *event;
	enum ctl_set set;
	u8 cmd;

	if (!genlmsg_valid_hdr(nlmsg_hdr(msg), 0))
		return NL_SKIP;
	cmd = genlmsg_hdr(nlmsg_hdr(msg))->cmd;
	/*
	 * The held locks are about to be listed; until then there may be very many of these events.
	 */
	if (*lost && cmd != BFTMUTEX_CMD_SUSPECT_EVENT)
		return NL_SKIP;
	set = cmd == BFTMUTEX_CMD_SUSPECT_EVENT ? CTL_SUSPECT : CTL_HANDLE;
	_Static_assert((int)BFTMUTEX_A_SUSPECT_MAX <= (int)BFTMUTEX_A_HANDLE_MAX, "attr is too small");
	if ((cmd != BFTMUTEX_CMD_LOCK_EVENT && cmd != BFTMUTEX_CMD_RENEW_EVENT &&
	     cmd != BFTMUTEX_CMD_SUSPECT_EVENT) ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, attr, ctl_set_max(set), NULL) < 0)
		return NL_SKIP;
	event = ctl_object(set, attr);
	watch_print(cmd, event);
	json_object_put(event);
	fflush(stdout);
	return NL_OK;
}

static int on_handle(struct nlattr **attr, void *arg)
{
	struct json_object *handle = ctl_object(CTL_HANDLE, attr);

	(void)arg;
	if (!strcmp(text_of(handle, "state"), "held"))
		watch_print(BFTMUTEX_CMD_HANDLE_GET, handle);
	json_object_put(handle);
	return 0;
}

static void print_missed(void)
{
	struct json_object *nothing = json_object_new_object();

	print_json("missed", nothing);
	json_object_put(nothing);
}

/*
 * Events were lost: print the locks that are held now, so that a reader can start over from there.
 */
static int resync(void)
{
	struct bftm_nl nl;
	int r = ctl_open(&nl);

	if (r)
		return r;
	if (ctl_json)
		print_missed();
	r = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HANDLE_GET, NLM_F_DUMP), on_handle,
			 BFTMUTEX_A_HANDLE_MAX, NULL);
	bftm_nl_close(&nl);
	fflush(stdout);
	return r ? ctl_fail(EX_OSERR, "netlink: %s", strerror(-r)) : 0;
}

static int join(struct bftm_nl *nl, const char *name)
{
	int group = genl_ctrl_resolve_grp(nl->sock, BFTMUTEX_FAMILY_NAME, name);
	int r = bftm_nl_errno(group < 0 ? group : nl_socket_add_membership(nl->sock, group));

	if (r == -EPERM)
		return ctl_refused(nl, r, CTL_HANDLE);
	return r < 0 ? ctl_fail(EX_OSERR, "netlink: %s", strerror(-r)) : 0;
}

static int watch(struct bftm_nl *nl, bool renewals)
{
	struct pollfd events = { .fd = nl_socket_get_fd(nl->sock), .events = POLLIN };
	int r = join(nl, BFTMUTEX_MCGRP_EVENTS);
	bool lost = false;

	if (!r && renewals)
		r = join(nl, BFTMUTEX_MCGRP_RENEWALS);
	if (r)
		return r;
	nl_socket_disable_seq_check(nl->sock);
	nl_socket_set_nonblocking(nl->sock);
	nl_socket_modify_cb(nl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_event, &lost);
	if (!ctl_json)
		fputs("Waiting for locks to be acquired, released or lost; end with Ctrl-C.\n",
		      stderr);
	while (!ferror(stdout)) {
		r = bftm_nl_errno(nl_recvmsgs_default(nl->sock));
		if (r == -ENOBUFS) {
			if (!lost)
				ctl_fail(0, "events came faster than they could be printed; some are lost: the locks that are held now follow");
			lost = true;
		} else if (r == -EAGAIN && lost) {
			lost = false;
			r = resync();
			if (r)
				return r;
		} else if (r == -EAGAIN) {
			ppoll(&events, 1, NULL, NULL);
		} else if (r < 0 && r != -EINTR) {
			return ctl_fail(EX_OSERR, "netlink: %s", strerror(-r));
		}
	}
	return EX_IOERR;
}

static error_t watch_parse(int key, char *arg, struct argp_state *state)
{
	bool *renewals = state->input;

	(void)arg;
	if (key != 'r')
		return ARGP_ERR_UNKNOWN;
	*renewals = true;
	return 0;
}

int ctl_watch(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "renewals", 'r', NULL, 0, "Print renewals of locks too", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = watch_parse,
		.children = ctl_common,
		.doc = "Print a line, or with --json an object in a line, whenever a lock is "
		       "acquired, released or lost through this host's /dev/bftmutex, or the "
		       "daemon has evidence against a server.",
	};
	bool renewals = false;
	struct bftm_nl nl;
	int r;

	ctl_parse(&argp, argc, argv, 0, &renewals);
	r = ctl_open(&nl);
	if (r)
		return r;
	r = watch(&nl, renewals);
	bftm_nl_close(&nl);
	return r;
}
