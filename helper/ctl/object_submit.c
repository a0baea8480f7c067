// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object create, submit, show. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"

#define EX_REFUSED 1	/* applied, and the object did not do as it was asked */

static void add_status(struct json_object *all, const struct bftmutex_response *r)
{
	bftm_json_add_number(all, "status", r->status);
	bftm_json_add_text(all, "refusal", r->status ? object_refusal(r->status) : NULL);
	object_add_number(all, r->number);
}

static void print_json(const struct object *o, const char *request, size_t len,
		       const struct bftmutex_response *r)
{
	struct json_object *all = json_object_new_object();

	bftm_json_add_text(all, "object", o->name);
	bftm_json_add_bytes(all, "request", request, len);
	add_status(all, r);
	bftm_json_add_bytes(all, "response", r->data, r->len);
	ctl_print_json(all);
	json_object_put(all);
}

/* Prints the response, with a newline if it has none; the response of a refusal goes to stderr. */
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
		.children = object_children,
		.args_doc = "NAME TYPE",
		.doc = "Make an object that all clients share: a register, counter, map, queue, log, or "
		       "an object of a type for which the configuration has a program. Options come "
		       "before NAME.",
	};
	struct object o = { .names_max = 1, .words_min = 1, .words_max = 1 };
	char request[128];
	int len;

	object_parse(&argp, argc, argv, &o);
	len = snprintf(request, sizeof(request), "create %s", o.words[0]);
	if (len >= (int)sizeof(request))
		return ctl_fail(EX_USAGE, "TYPE '%s': must be at most %zu bytes", o.words[0],
				sizeof(request) - sizeof("create "));
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

int ctl_object_submit(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "stdin", 'i', NULL, 0, "Standard input is the last argument, all its bytes", 0 },
		{ "raw", 'r', NULL, 0, "Print the response without an end of line", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = object_option,
		.children = object_children,
		.args_doc = "NAME REQUEST...",
		.doc = "Apply a request to an object, once, and print the response. "
		       "Options come before NAME.\v"
		       "register: read, write VALUE, cas OLD NEW, decide VALUE\n"
		       "counter: add N, get\n"
		       "map: set K V, get K, delete K, cas K OLD NEW, list [PREFIX], txn LINES\n"
		       "queue: push VALUE, pop, peek, len\n"
		       "log: append VALUE, read FROM [COUNT], len\n"
		       "all: type",
	};
	struct object o = { .names_max = 1, .words_min = 1, .words_max = UINT_MAX };
	char *request = NULL;
	size_t len = 0;
	int code;

	object_parse(&argp, argc, argv, &o);
	code = compose(&o, &request, &len);
	if (!code)
		code = object_submit(&o, request, len);
	free(request);
	return code;
}

/* Makes one more request; ENODATA and EMSGSIZE leave the value unknown. */
static int learn(struct object *o, const char *question, struct bftmutex_response *ret,
		 u64 *ret_number)
{
	int code = object_ask(o, question, strlen(question), ret);

	if (!code && ret->status && ret->status != ENODATA && ret->status != EMSGSIZE)
		code = ctl_fail(EX_REFUSED, "object '%s': %s", o->name,
				object_refusal(ret->status));
	if (!code)
		*ret_number = ret->number;
	return code;
}

/**
 * struct shown - the content of an object; members of other types are NULL
 * @value:   of a register or counter
 * @next:    of a queue
 * @len:     of a queue or log
 * @entries: of a map or log
 * @number:  of the request that the content was read by
 */
struct shown {
	struct json_object *value, *next, *len, *entries;
	u64 number;
};

static int learn_value(struct object *o, const char *type, struct shown *shown)
{
	bool queue = !strcmp(type, "queue"), log = !strcmp(type, "log");
	const char *reading = object_reading(type);
	struct bftmutex_response r = {};
	u64 count = 0;
	int code = 0;

	if (reading && strcmp(type, "map") && !log) {
		code = learn(o, reading, &r, &shown->number);
		if (!code && !r.status)
			*(queue ? &shown->next : &shown->value) = bftm_json_bytes(r.data, r.len);
		free(r.data);
	}
	r = (struct bftmutex_response){};
	if (!code && (queue || log)) {
		code = learn(o, "len", &r, &shown->number);
		if (!code && !r.status && bftm_parse_number(r.data, &count) == 0)
			shown->len = json_object_new_uint64(count);
		free(r.data);
	}
	if (!code)
		code = object_read_entries(o, type, count, &shown->entries, &shown->number);
	return code;
}

/* Entries of a log are bytes, those of a map have a key. */
static void print_entry(struct json_object *entry)
{
	struct json_object *pair = json_object_object_get(entry, "value");
	struct json_object *key = ctl_shown("key", json_object_object_get(entry, "key"));
	struct json_object *value = ctl_shown("value", pair ? pair : entry);

	printf("  %s%s%s\n", pair ? json_object_get_string(key) : "", pair ? " " : "",
	       json_object_get_string(value));
	json_object_put(key);
	json_object_put(value);
}

static void print_entries(struct json_object *entries)
{
	size_t i;

	puts("entries");
	for (i = 0; i < json_object_array_length(entries); i++)
		print_entry(json_object_array_get_idx(entries, i));
}

static void print_shown(const struct object *o, const char *type, const struct shown *shown)
{
	struct json_object *all = json_object_new_object();

	bftm_json_add_text(all, "object", o->name);
	bftm_json_add_text(all, "type", type);
	if (ctl_json)
		object_add_number(all, shown->number);
	else
		bftm_json_add_number(all, "version", shown->number / BFTM_NUMBERS);
	json_object_object_add(all, "value", json_object_get(shown->value));
	json_object_object_add(all, "next", json_object_get(shown->next));
	json_object_object_add(all, "len", json_object_get(shown->len));
	if (ctl_json)
		json_object_object_add(all, "entries", json_object_get(shown->entries));
	ctl_print(all);
	if (!ctl_json && shown->entries)
		print_entries(shown->entries);
	json_object_put(all);
}

int ctl_object_show(int argc, char **argv)
{
	static const struct argp argp = {
		.children = object_children,
		.args_doc = "NAME",
		.doc = "Show an object's type, version and content: of a map and a log each "
	       "entry, of a queue its length and its next value. This takes requests, "
	       "which make new versions. Options come before NAME.",
	};
	struct object o = { .names_max = 1 };
	struct bftmutex_response type = {};
	struct shown shown = {};
	int code;

	object_parse(&argp, argc, argv, &o);
	code = object_open(&o);
	if (!code)
		code = learn(&o, "type", &type, &shown.number);
	if (!code)
		code = learn_value(&o, type.data, &shown);
	if (!code)
		print_shown(&o, type.data, &shown);
	json_object_put(shown.value);
	json_object_put(shown.next);
	json_object_put(shown.len);
	json_object_put(shown.entries);
	free(type.data);
	return code;
}
