// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl server stop, show: the lock server of this network namespace. */
#include <errno.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "text/json.h"

static int take_server(struct nlattr **attr, void *arg)
{
	struct json_object **object = arg, *stats = NULL;

	json_object_put(*object);
	*object = ctl_object(CTL_SERVER, attr);
	if (!attr[BFTMUTEX_A_SERVER_TOKEN_FLOOR] && !ctl_json)
		bftm_json_add_text(*object, "token_floor", "unknown");
	/* The counters come last, also if members were added after them. */
	if (json_object_object_get_ex(*object, "stats", &stats)) {
		json_object_get(stats);
		json_object_object_del(*object, "stats");
		json_object_object_add(*object, "stats", stats);
	}
	return 0;
}

int ctl_server_get(struct bftm_nl *nl, struct json_object **ret)
{
	struct json_object *object = NULL;
	int r;

	r = bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_GET, 0), take_server,
			 ctl_set_max(CTL_SERVER), &object);
	if (r == 0 && !object)
		r = -ENODATA;
	if (r < 0) {
		json_object_put(object);
		return r;
	}
	*ret = object;
	return 0;
}

static error_t parse_stop(int key, char *arg, struct argp_state *state)
{
	u64 *id = state->input;

	if (key != 'i')
		return ARGP_ERR_UNKNOWN;
	*id = ctl_number(state, "--id", arg, 1, BFTM_SERVER_ID_MAX);
	return 0;
}

int ctl_server_stop(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "id", 'i', "N", 0, "Stop it only if it has this number", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_stop,
		.doc = "Stop the lock server of this network namespace. Locks that it granted stay "
	       "granted by the other servers.",
		.children = ctl_common,
	};
	struct json_object *done;
	struct bftm_nl nl;
	struct nl_msg *msg;
	u64 id = 0;
	int r;

	ctl_parse(&argp, argc, argv, 0, &id);
	r = ctl_open(&nl);
	if (r)
		return r;
	msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_STOP, 0);
	if (msg && id)
		nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, id);
	r = bftm_nl_call(&nl, msg, NULL, 0, NULL);
	if (r == -ENOENT && id)
		r = ctl_fail(EX_UNAVAILABLE, "server %u does not run in this network namespace",
			     (unsigned int)id);
	else if (r < 0)
		r = ctl_refused(&nl, r, CTL_SERVER);
	else {
		done = json_object_new_object();
		bftm_json_add_bool(done, "stopped", true);
		ctl_print(done);
		json_object_put(done);
	}
	bftm_nl_close(&nl);
	return r;
}

int ctl_server_show(int argc, char **argv)
{
	struct json_object *server;
	struct bftm_nl nl;
	int r;

	ctl_no_options(argc, argv, "Describe the lock server of this network namespace.");
	r = ctl_open(&nl);
	if (r)
		return r;
	r = ctl_server_get(&nl, &server);
	if (r < 0) {
		r = ctl_refused(&nl, r, CTL_SERVER);
	} else {
		ctl_print(server);
		json_object_put(server);
	}
	bftm_nl_close(&nl);
	return r;
}
