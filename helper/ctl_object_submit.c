// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object create, submit, show. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "ctl_object.h"

#define EX_REFUSED 1	/* applied, and the object did not do as it was asked */

static const struct argp_child children[] = { { .argp = &object_args }, {} };

static void add_status(struct json_object *all, const struct bftmutex_response *r)
{
	json_object_object_add(all, "status", json_object_new_uint64(r->status));
	json_object_object_add(all, "refusal", r->status ?
			       json_object_new_string(object_refusal(r->status)) : NULL);
	object_add_number(all, r->number);
}

static void print_json(const struct object *o, const char *request, size_t len,
		       const struct bftmutex_response *r)
{
	struct json_object *all = json_object_new_object();

	object_add_text(all, "object", o->name);
	json_object_object_add(all, "request", object_text(request, len));
	add_status(all, r);
	json_object_object_add(all, "response", object_text(r->data, r->len));
	ctl_print_json(all);
	json_object_put(all);
}

/* The response, and a line's end when it has none; a refusal's goes to stderr. */
static int print_response(const struct object *o, const struct bftmutex_response *r)
{
	const char *text = r->data;

	if (r->status)
		ctl_fail(0, "object '%s': %s%s%s", o->name, object_refusal(r->status),
			 r->len ? ": " : "", text);
	else
		fwrite(text, 1, r->len, stdout);
	if (!r->status && !o->raw && r->len && text[r->len - 1] != '\n')
		putchar('\n');
	return r->status ? EX_REFUSED : 0;
}

int object_submit(struct object *o, const char *request, size_t len)
{
	struct bftmutex_response r = {};
	int code = object_open(o);

	if (!code)
		code = object_ask(o, request, len, &r);
	if (!code && ctl_json) {
		print_json(o, request, len, &r);
		code = r.status ? EX_REFUSED : 0;
	} else if (!code) {
		code = print_response(o, &r);
	}
	free(r.data);
	return code;
}

int ctl_object_create(int argc, char **argv)
{
	static const struct argp argp = {
		.children = children,
		.args_doc = "NAME TYPE",
		.doc = "Make an object that all clients share: a register, counter, map, queue or "
		       "log, or of a type that the configuration has a program for. Options "
		       "come before NAME.",
	};
	struct object o = { .names_max = 1, .words_min = 1, .words_max = 1,
			    .options.timeout_ns = 30 * BFTM_NS_PER_SEC };
	char request[128];
	int len;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	len = snprintf(request, sizeof(request), "create %s", o.words[0]);
	if (len >= (int)sizeof(request))
		return ctl_fail(EX_USAGE, "TYPE '%s': too long", o.words[0]);
	return object_submit(&o, request, (size_t)len);
}

/* Words with spaces between, then standard input; exit code. */
static int compose(const struct object *o, char **ret, size_t *ret_len)
{
	char *text = NULL, part[4096];
	size_t size = 0, n;
	FILE *to = open_memstream(&text, &size);
	char **word;

	if (!to)
		return ctl_fail(EX_OSERR, "no memory");
	for (word = o->words; *word; word++)
		fprintf(to, "%s%s", word == o->words ? "" : " ", *word);
	if (o->input)
		fputc(' ', to);
	while (o->input && (n = fread(part, 1, sizeof(part), stdin)) > 0) {
		fwrite(part, 1, n, to);
		if (ftell(to) > (long)BFTM_SUBMIT_MAX)
			break;
	}
	if (fclose(to) || (o->input && ferror(stdin))) {
		free(text);
		return ctl_fail(EX_IOERR, "cannot read standard input");
	}
	*ret = text;
	*ret_len = size;
	return 0;
}

static error_t parse_submit(int key, char *arg, struct argp_state *state)
{
	struct object *o = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o;
		return 0;
	case 'i':
		o->input = true;
		return 0;
	case 'r':
		o->raw = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int ctl_object_submit(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "stdin", 'i', NULL, 0, "Standard input is the last argument, all its bytes", 0 },
		{ "raw", 'r', NULL, 0, "Print the response without an end of line", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_submit,
		.children = children,
		.args_doc = "NAME REQUEST...",
		.doc = "Have a request applied to an object, once, and print its response. "
		       "Options come before NAME.\v"
		       "register: read, write VALUE, cas OLD NEW\n"
		       "counter: add N, get\n"
		       "map: set K V, get K, delete K, cas K OLD NEW, list [PREFIX]\n"
		       "queue: push VALUE, pop, peek, len\n"
		       "log: append VALUE, read FROM [COUNT], len\n"
		       "all: type",
	};
	struct object o = { .names_max = 1, .words_min = 1, .words_max = UINT_MAX,
			    .options.timeout_ns = 30 * BFTM_NS_PER_SEC };
	char *request = NULL;
	size_t len = 0;
	int code;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	code = compose(&o, &request, &len);
	if (!code)
		code = object_submit(&o, request, len);
	free(request);
	return code;
}

/* One more line: the answer to a question. */
static int add_answer(struct object *o, struct json_object *all, const char *key,
		      const char *question, char **ret)
{
	struct bftmutex_response r = {};
	int code = object_ask(o, question, strlen(question), &r);

	if (code)
		return code;
	if (r.status && r.status != ENODATA && r.status != EMSGSIZE) {
		code = ctl_fail(EX_REFUSED, "object '%s': %s", o->name, object_refusal(r.status));
	} else {
		json_object_object_add(all, key, r.status ? NULL :
				       ctl_json ? object_text(r.data, r.len) :
				       ctl_escape(r.data, r.len));
		object_add_number(all, r.number);
	}
	if (ret)
		*ret = r.data;
	else
		free(r.data);
	return code;
}

int ctl_object_show(int argc, char **argv)
{
	static const struct argp argp = {
		.children = children,
		.args_doc = "NAME",
		.doc = "Show an object's type, version and what it keeps: of a queue its length "
		       "and what comes next, of a log its length. It is a request as any other: "
		       "it makes a new version. Options come before NAME.",
	};
	struct object o = { .names_max = 1, .options.timeout_ns = 30 * BFTM_NS_PER_SEC };
	struct json_object *all;
	const char *reading;
	char *type = NULL;
	int code;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	code = object_open(&o);
	if (code)
		return code;
	all = json_object_new_object();
	object_add_text(all, "object", o.name);
	code = add_answer(&o, all, "type", "type", &type);
	reading = code ? NULL : object_reading(type);
	if (reading)
		code = add_answer(&o, all, reading, reading, NULL);
	if (!code && reading && !strcmp(type, "queue"))
		code = add_answer(&o, all, "len", "len", NULL);
	if (!code)
		ctl_print(all);
	json_object_put(all);
	free(type);
	return code;
}
