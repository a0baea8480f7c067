// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object watch, history. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"

/**
 * struct seen - the result of the last look
 * @type:    name of the object's type
 * @text:    the response, NULL before the first look
 * @len:     bytes of @text
 * @pairs:   those of a map
 * @entries: number of entries of a log that were printed
 */
struct seen {
	char type[64];
	char *text;
	size_t len;
	struct json_object *pairs;
	u64 entries;
};

static void print_text(const char *clock, u64 version, const char *change,
		       struct json_object *key, struct json_object *value)
{
	struct json_object *of = ctl_shown("key", key), *what = ctl_shown("value", value);

	printf("%s  version %" PRIu64 "  %-7s  %s%s%s\n", clock, version, change,
	       key ? json_object_get_string(of) : "", key ? " " : "",
	       json_object_get_string(what));
	json_object_put(of);
	json_object_put(what);
}

/* Takes @value over; @key is of a map, else NULL. */
static void print_line(u64 number, const char *change, struct json_object *key,
		       struct json_object *value)
{
	struct json_object *o;
	struct timespec now;
	char clock[32];
	struct tm tm;
	size_t len;

	if (ctl_json) {
		o = json_object_new_object();
		ctl_add_time(o);
		object_add_number(o, number);
		bftm_json_add_text(o, "change", change);
		json_object_object_add(o, "key", json_object_get(key));
		json_object_object_add(o, "value", json_object_get(value));
		ctl_print_json_line(o);
		json_object_put(o);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		localtime_r(&now.tv_sec, &tm);
		len = strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
		snprintf(clock + len, sizeof(clock) - len, ".%03ld", now.tv_nsec / 1000000);
		print_text(clock, number / BFTM_NUMBERS, change, key, value);
	}
	json_object_put(value);
}

static struct json_object *member(struct json_object *pairs, size_t i, const char *key)
{
	return json_object_object_get(json_object_array_get_idx(pairs, i), key);
}

static struct json_object *value_of(struct json_object *pairs, struct json_object *key)
{
	size_t i;

	for (i = 0; pairs && i < json_object_array_length(pairs); i++)
		if (json_object_equal(member(pairs, i, "key"), key))
			return member(pairs, i, "value");
	return NULL;
}

/* Prints the pairs of one list whose key, or value if @values, differs in the other list. */
static void print_pairs(u64 number, const char *change, struct json_object *pairs,
			struct json_object *other, bool values)
{
	struct json_object *key, *value, *there;
	size_t i;

	for (i = 0; pairs && i < json_object_array_length(pairs); i++) {
		key = member(pairs, i, "key");
		value = member(pairs, i, "value");
		there = value_of(other, key);
		if (!there || (values && !json_object_equal(there, value)))
			print_line(number, change, key, json_object_get(value));
	}
}

static int print_map(struct object *o, struct seen *s)
{
	struct json_object *now;
	u64 number = 0;
	int code = object_read_entries(o, s->type, 0, &now, &number);

	if (code)
		return code;
	print_pairs(number, "gone", s->pairs, now, false);
	print_pairs(number, "set", now, s->pairs, true);
	json_object_put(s->pairs);
	s->pairs = now;
	return 0;
}

static int print_change(struct object *o, struct seen *s, const struct bftmutex_response *r)
{
	const char *refusal = object_refusal(r->status);

	if (!r->status && !strcmp(s->type, "map"))
		return print_map(o, s);
	if (r->status == ENODATA)
		print_line(r->number, "empty", NULL, NULL);
	else if (r->status)
		print_line(r->number, "refused", NULL, bftm_json_bytes(refusal, strlen(refusal)));
	else
		print_line(r->number, !strcmp(s->type, "queue") ? "next" : "is", NULL,
			   bftm_json_bytes(r->data, r->len));
	return 0;
}

/* Prints all new entries, one at a time; none is missed. */
static int look_log(struct object *o, struct seen *s)
{
	struct bftmutex_response r;
	int code;

	while (!(code = object_read_entry(o, s->entries, &r))) {
		print_line(r.number, "entry", NULL, bftm_json_bytes(r.data, r.len));
		s->entries++;
		free(r.data);
	}
	return code == OBJECT_NO_ENTRY ? 0 : code;
}

static int watch_look(struct object *o, struct seen *s)
{
	const char *reading = object_reading(s->type);
	struct bftmutex_response r = {};
	int code;

	if (!strcmp(s->type, "log"))
		return look_log(o, s);
	code = object_ask(o, reading, strlen(reading), &r);
	if (code)
		return code;
	/* A refusal has no text of its own, but is a change as well. */
	if (s->text && s->len == r.len && !memcmp(s->text, r.data, r.len)) {
		free(r.data);
		return 0;
	}
	code = print_change(o, s, &r);
	free(s->text);
	s->text = r.data;
	s->len = r.len;
	return code;
}

static int find_type(struct object *o, struct seen *s)
{
	struct bftmutex_response r = {};
	int code = object_ask(o, "type", 4, &r);

	if (!code && r.status)
		code = ctl_fail(1, "object '%s': %s", o->name, object_refusal(r.status));
	if (!code)
		snprintf(s->type, sizeof(s->type), "%s", (char *)r.data);
	free(r.data);
	if (!code && !object_reading(s->type))
		code = ctl_fail(EX_DATAERR, "object '%s': a %s cannot be read as a whole", o->name,
				s->type);
	return code;
}

int ctl_object_watch(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "interval", 'n', "DUR", 0, "Time between two looks (1s)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = object_option,
		.children = object_children,
		.args_doc = "NAME",
		.doc = "Print a line, or with --json an object in a line, whenever an object has "
		       "changed, until interrupted. Each look is a request. A change that is undone "
		       "before the next look is not printed; of a log, every entry is printed. Options "
		       "come before NAME.",
	};
	struct object o = { .names_max = 1,
			    .interval_ns = BFTM_NS_PER_SEC };
	struct timespec pause;
	struct seen s = {};
	int code;

	object_parse(&argp, argc, argv, &o);
	pause.tv_sec = (time_t)(o.interval_ns / BFTM_NS_PER_SEC);
	pause.tv_nsec = (long)(o.interval_ns % BFTM_NS_PER_SEC);
	code = object_open(&o);
	if (!code)
		code = find_type(&o, &s);
	while (!code) {
		code = watch_look(&o, &s);
		/* A look that took too long was reported; the next one may succeed. */
		if (code == EX_TEMPFAIL)
			code = 0;
		if (fflush(stdout) || ferror(stdout))
			code = EX_IOERR;
		if (!code)
			nanosleep(&pause, NULL);
	}
	free(s.text);
	json_object_put(s.pairs);
	return code;
}

static void print_history(struct json_object *list)
{
	static const struct ctl_column columns[] = {
		{ "invoke_ns", "ASKED", 16 },
		{ "return_ns", "ANSWERED", 16 },
		{ "version", "VERSION", 8 },
		{ "status", "STATUS", 6 },
		{ "request", "REQUEST", -24 },
		{ "response", "RESPONSE", 0 },
		{}
	};
	struct ctl_list table = { .column = columns };
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		ctl_list_row(&table, json_object_get(json_object_array_get_idx(list, i)));
	ctl_list_end(&table, "This host made no requests to it lately.");
}

int ctl_object_history(int argc, char **argv)
{
	static const struct argp argp = {
		.children = object_children,
		.args_doc = "NAME",
		.doc = "List the last requests of this host to an object that its bftmutexd remembers, "
		       "at most 1024. With --json each request is a line, as bftmutex-lin of the "
		       "selftests reads. Options come before NAME.",
	};
	struct object o = { .names_max = 1 };
	struct json_object *answer;
	char question[128];
	size_t i;
	int r;

	object_parse(&argp, argc, argv, &o);
	snprintf(question, sizeof(question), "history %s %s", o.options.cluster ?: "-", o.name);
	r = ctl_ask_helper(question, &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	if (!json_object_is_type(answer, json_type_array)) {
		json_object_put(answer);
		return ctl_fail(EX_CONFIG, "bftmutexd knows no cluster '%s'",
				o.options.cluster ?: "");
	}
	for (i = 0; ctl_json && i < json_object_array_length(answer); i++)
		ctl_print_json_line(json_object_array_get_idx(answer, i));
	if (!ctl_json)
		print_history(answer);
	json_object_put(answer);
	return 0;
}
