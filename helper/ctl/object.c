// SPDX-License-Identifier: GPL-2.0
/* Shared by the commands "bftmutexctl object": their options, and requests. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"

#define WAIT_NS (30 * BFTM_NS_PER_SEC)	/* without --wait */
#define WAIT_MAX_NS (24 * 3600 * BFTM_NS_PER_SEC)
#define INTERVAL_MAX_NS (3600 * BFTM_NS_PER_SEC)

/* Refuses a word that looks like an option and would become part of the request or a value. */
static void refuse_options(const struct object *o, struct argp_state *state)
{
	static const char *const name[] = {
		"--cluster", "--wait", "--json", "--stdin", "--raw", "--interval",
	};
	char **word;
	size_t i;

	for (word = o->words; *word && !state->quoted; word++)
		for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
			if (!strncmp(*word, name[i], strcspn(*word, "=")) &&
			    strlen(name[i]) == strcspn(*word, "="))
				argp_error(state, "'%s' comes after NAME: options come before NAME. "
					   "If it is no option, put -- before NAME", *word);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct object *o = state->input;
	u32 count;

	switch (key) {
	case 'C':
		if (!*arg || strlen(arg) > BFTM_CLUSTER_MAX)
			argp_error(state, "--cluster '%s': must be a name of 1 to %d bytes", arg,
				   BFTM_CLUSTER_MAX);
		o->options.cluster = arg;
		return 0;
	case 'w':
		o->options.timeout_ns = ctl_duration(state, "--wait", arg, BFTM_NS_PER_MS,
						     WAIT_MAX_NS);
		return 0;
	case ARGP_KEY_ARG:
		if (!o->names_max)
			return ARGP_ERR_UNKNOWN;
		o->name = arg;
		o->name_len = strlen(arg);
		if (!o->name_len || o->name_len > BFTM_SUBMIT_NAME_MAX)
			argp_error(state, "NAME '%s': must be 1 to %d bytes", arg,
				   BFTM_SUBMIT_NAME_MAX);
		/* The rest belongs to the request, even if it looks like an option. */
		o->words = state->argv + state->next;
		refuse_options(o, state);
		count = (u32)(state->argc - state->next);
		if (count < o->words_min)
			argp_error(state, "an argument is missing after '%s'", arg);
		if (o->names_max == 1 && count > o->words_max)
			argp_error(state, "'%s': no such argument is expected",
				   o->words[o->words_max]);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!o->name && o->names_max == 1)
			argp_error(state, "NAME is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "cluster", 'C', "NAME", 0, "Cluster, as the configuration names it", 0 },
	{ "wait", 'w', "DUR", 0, "Give up after this time (30s)", 0 },
	{}
};

static const struct argp common = {
	.options = options, .parser = parse_common, .children = ctl_common,
};

const struct argp_child object_children[] = { { .argp = &common }, {} };

error_t object_option(int key, char *arg, struct argp_state *state)
{
	struct object *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o;
		return 0;
	case 'i':
		o->input = true;
		return 0;
	case 'l':
		o->local = true;
		return 0;
	case 'n':
		o->interval_ns = ctl_duration(state, "--interval", arg, BFTM_NS_PER_MS,
					      INTERVAL_MAX_NS);
		return 0;
	case 'r':
		o->raw = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void object_parse(const struct argp *argp, int argc, char **argv, struct object *o)
{
	o->options.timeout_ns = WAIT_NS;
	ctl_parse(argp, argc, argv, ARGP_IN_ORDER, o);
}

int object_open(struct object *o)
{
	o->fd = bftmutex_open(NULL);
	if (o->fd == -EACCES)
		return ctl_fail(EX_NOPERM, "not permitted to open " BFTMUTEX_DEVICE);
	return o->fd < 0 ? ctl_fail(EX_UNAVAILABLE, "%s", bftmutex_strerror(o->fd)) : 0;
}

/* Exit codes for requests that no object has answered. */
static int failed(const struct object *o, int error)
{
	const char *why = bftmutex_strerror(error), *servers = "";

	switch (-error) {
	case ETIMEDOUT:
	case ENETUNREACH:
		servers = ctl_check_words(o->options.cluster);
		/* fall through */
	case EINTR:
	case EOWNERDEAD:
	case EREMOTEIO:
		return ctl_fail(EX_TEMPFAIL, "object '%s': %s; the request may be applied, or not%s%s%s",
				o->name, why, *servers ? " (" : "", servers, *servers ? ")" : "");
	case EIDRM:
		return ctl_fail(EX_TEMPFAIL, "object '%s': %s", o->name, why);
	case EACCES:
		return ctl_fail(EX_NOPERM, "object '%s': %s", o->name, why);
	case ENOKEY:
		if (o->options.cluster)
			return ctl_fail(EX_CONFIG, "bftmutexd has no cluster '%s', or no credentials",
					o->options.cluster);
		return ctl_fail(EX_CONFIG, "bftmutexd has no default cluster, or no credentials");
	case ENOSPC:
		return ctl_fail(EX_UNAVAILABLE, "object '%s': the object tables of the servers are "
				"full (max-objects, 4096 unless configured), or their memory for "
				"objects (object-memory). 'bftmutexctl server show' on a server says "
				"which; start the servers with more", o->name);
	case EMSGSIZE:
		return ctl_fail(EX_DATAERR, "object '%s': a request is at most %u bytes", o->name,
				BFTM_SUBMIT_MAX - 8);
	case ENOMEM:
		return ctl_fail(EX_OSERR, "no memory");
	}
	return ctl_fail(EX_UNAVAILABLE, "object '%s': %s", o->name, why);
}

int object_ask(struct object *o, const void *request, size_t len, struct bftmutex_response *ret)
{
	int r = bftmutex_submit_alloc(o->fd, o->name, o->name_len, request, len, &o->options, ret);

	return r < 0 ? failed(o, r) : 0;
}

const char *object_refusal(u32 status)
{
	switch (status) {
	case ENOENT:
		return "there is no such object; create it first";
	case EEXIST:
		return "the object exists already";
	case ENODATA:
		return "the object has no such value";
	case ESTALE:
		return "the object is not as the request expects";
	case EINVAL:
		return "the object does not understand the request";
	case ERANGE:
		return "the result would be out of range";
	case EMSGSIZE:
		return "the object or the response would be too large";
	case EIO:
		return "the program of the object's type failed; the log of bftmutexd says why";
	case ENOPKG:
		return "the configuration of this host has no program for the object's type";
	case EBADMSG:
		return "the object is damaged";
	}
	return strerror((int)status);
}

void object_add_number(struct json_object *o, u64 number)
{
	bftm_json_add_number(o, "version", number / BFTM_NUMBERS);
	bftm_json_add_number(o, "number", number);
}

const char *object_reading(const char *type)
{
	static const char *const by_type[][2] = {
		{ "register", "read" }, { "counter", "get" }, { "map", "list" },
		{ "queue", "peek" }, { "log", "len" },
	};
	size_t i;

	for (i = 0; i < sizeof(by_type) / sizeof(by_type[0]); i++)
		if (!strcmp(by_type[i][0], type))
			return by_type[i][1];
	return NULL;
}
