// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl who: which client has a lock, as its servers say. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

#include "config/conf.h"
#include "core/limits.h"
#include "ctl/ctl.h"
#include "text/json.h"
#include "text/shown.h"

#define WAIT_DEFAULT_NS	(2 * BFTM_NS_PER_SEC)
#define WAIT_MAX_NS	(24 * 3600 * BFTM_NS_PER_SEC)

struct who {
	const char *name;
	const char *cluster;
	u64 wait_ns;
};

static error_t who_option(int key, char *arg, struct argp_state *state)
{
	struct who *w = state->input;

	switch (key) {
	case 'C':
		w->cluster = arg;
		return 0;
	case 'w':
		w->wait_ns = ctl_duration(state, "--wait", arg, BFTM_NS_PER_MS, WAIT_MAX_NS);
		return 0;
	case ARGP_KEY_ARG:
		if (w->name)
			return ARGP_ERR_UNKNOWN;
		if (!*arg || strlen(arg) > BFTM_NAME_LEN_MAX)
			argp_error(state, "NAME: %zu bytes, 1 to %d are allowed", strlen(arg),
				   BFTM_NAME_LEN_MAX);
		w->name = arg;
		return 0;
	case ARGP_KEY_END:
		if (!w->name)
			argp_error(state, "NAME of the lock is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(ctl_member(o, key));
}

static u64 number_of(struct json_object *o, const char *key)
{
	return json_object_get_uint64(ctl_member(o, key));
}

/* "held by client 3 in mode EX, 2 wait, 4.2s left, token 17" */
static void print_owner(struct json_object *answer, const char *state)
{
	char rest[32];

	if (!strcmp(state, "nobody"))
		printf("nobody has it");
	else
		printf("%s %s client %s in mode %s", state, !strcmp(state, "held") ? "by" : "to",
		       text_of(answer, "client"), text_of(answer, "mode"));
	if (number_of(answer, "holders") > 1)
		printf(", one of %s holders", text_of(answer, "holders"));
	if (number_of(answer, "waiters"))
		printf(", waiters: %s", text_of(answer, "waiters"));
	if (json_object_get_boolean(ctl_member(answer, "lasting")))
		printf(", until it is given back");
	else if (ctl_member(answer, "rest_ns"))
		printf(", %s left", bftm_format_duration(number_of(answer, "rest_ns") /
							 BFTM_NS_PER_MS * BFTM_NS_PER_MS,
							 rest, sizeof(rest)));
	if (number_of(answer, "token"))
		printf(", highest token %s", text_of(answer, "token"));
}

static int who_failure(u64 error)
{
	switch (error) {
	case EACCES:
		return EX_NOPERM;
	case EPROTONOSUPPORT:
		return EX_UNAVAILABLE;
	default:
		return EX_TEMPFAIL;
	}
}

static int who_print(const struct who *w, struct json_object *answer)
{
	char shown[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];
	const char *state = text_of(answer, "state");
	int code = 0;

	bftm_shown(w->name, strlen(w->name), shown, sizeof(shown));
	if (!state && number_of(answer, "errno") == ENOKEY)
		return ctl_fail(EX_UNAVAILABLE, "lock '%s': bftmutexd has no cluster '%s', or no credentials",
				shown, w->cluster ?: "default");
	if (!state)
		return ctl_fail(who_failure(number_of(answer, "errno")), "lock '%s': %s", shown,
				text_of(answer, "error"));
	if (!strcmp(state, "unsure"))
		code = EX_TEMPFAIL;
	if (ctl_json) {
		ctl_print_json(answer);
		return code;
	}
	if (code)
		return ctl_fail(code, "lock '%s': %s", shown, text_of(answer, "reason"));
	printf("lock '%s': ", shown);
	print_owner(answer, state);
	printf(" (%s of %s servers answered)\n", text_of(answer, "told"), text_of(answer, "servers"));
	return 0;
}

int ctl_who(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "cluster", 'C', "NAME", 0, "Cluster of the configuration (the default one)", 0 },
		{ "wait", 'w', "DUR", 0, "Give up after this time (2s)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = who_option,
		.children = ctl_common,
		.args_doc = "NAME",
		.doc = "Ask the servers which client has a lock, how many clients wait for it, and what "
		       "is left of the lease. No lying server can make up a holder.",
	};
	struct who w = { .wait_ns = WAIT_DEFAULT_NS };
	struct json_object *answer, *name;
	char question[512];
	int r;

	ctl_parse(&argp, argc, argv, 0, &w);
	name = bftm_json_bytes(w.name, strlen(w.name));
	snprintf(question, sizeof(question), "who %s %" PRIu64 " %s", w.cluster ?: "-",
		 (u64)(w.wait_ns / BFTM_NS_PER_MS),
		 bftm_json_text(name, JSON_C_TO_STRING_PLAIN));
	json_object_put(name);
	/* The daemon gives up first. */
	r = ctl_ask_helper_for(question, w.wait_ns + 5 * BFTM_NS_PER_SEC, &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	r = who_print(&w, answer);
	json_object_put(answer);
	return r;
}
