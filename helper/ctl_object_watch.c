// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object watch, history. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf.h"
#include "ctl_object.h"

#define INTERVAL_MAX_NS (3600 * BFTM_NS_PER_SEC)

static const struct argp_child children[] = { { .argp = &object_args }, {} };

/**
 * struct seen - what was there at the last look
 * @text:    the response, NULL before the first
 * @entries: of a log, that were printed
 */
struct seen {
	char type[64];
	char *text;
	size_t len;
	u64 entries;
};

static void print_line(u64 number, const char *change, const char *line, size_t len)
{
	struct json_object *o;
	struct timespec now;
	char clock[32];
	struct tm tm;

	if (ctl_json) {
		o = json_object_new_object();
		object_add_number(o, number);
		object_add_text(o, "change", change);
		json_object_object_add(o, "value", object_text(line, len));
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		localtime_r(&now.tv_sec, &tm);
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
		o = ctl_escape(line, len);
		printf("%s.%03ld  version %" PRIu64 "  %-7s  %s\n", clock, now.tv_nsec / 1000000,
		       number / BFTM_NUMBERS, change, json_object_get_string(o));
	}
	json_object_put(o);
}

static bool has_line(const char *text, size_t text_len, const char *line, size_t len)
{
	const char *at = text, *end = text + text_len, *next;

	for (; at && at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at)) ?: end;
		if ((size_t)(next - at) == len && !memcmp(at, line, len))
			return true;
	}
	return false;
}

/* Lines of one text that the other does not have. */
static void print_lines(u64 number, const char *change, const char *text, size_t len,
			const char *other, size_t other_len)
{
	const char *at = text, *end = text + len, *next;

	for (; at && at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at)) ?: end;
		if (!has_line(other, other_len, at, (size_t)(next - at)))
			print_line(number, change, at, (size_t)(next - at));
	}
}

static void print_change(const struct seen *s, const struct bftmutex_response *r)
{
	if (r->status) {
		print_line(r->number, r->status == ENODATA ? "empty" : "refused",
			   object_refusal(r->status), strlen(object_refusal(r->status)));
	} else if (!strcmp(s->type, "map")) {
		print_lines(r->number, "gone", s->text, s->len, r->data, r->len);
		print_lines(r->number, "set", r->data, r->len, s->text, s->len);
	} else {
		print_line(r->number, !strcmp(s->type, "queue") ? "next" : "is", r->data, r->len);
	}
}

/* All entries that have come, none is missed; a few at a time. */
static int look_log(struct object *o, struct seen *s)
{
	struct bftmutex_response r;
	char request[64];
	int code;

	do {
		r = (struct bftmutex_response){};
		snprintf(request, sizeof(request), "read %" PRIu64 " 1", s->entries);
		code = object_ask(o, request, strlen(request), &r);
		if (!code && r.status)
			code = ctl_fail(1, "object '%s': %s", o->name, object_refusal(r.status));
		if (!code && r.len) {
			print_line(r.number, "entry", r.data, r.len - 1);
			s->entries++;
		}
		free(r.data);
	} while (!code && r.len);
	return code;
}

static int look(struct object *o, struct seen *s)
{
	const char *reading = object_reading(s->type);
	struct bftmutex_response r = {};
	int code;

	if (!strcmp(s->type, "log"))
		return look_log(o, s);
	code = object_ask(o, reading, strlen(reading), &r);
	if (code)
		return code;
	/* A refusal has no text of its own, but is a change all the same. */
	if (!s->text || s->len != r.len || memcmp(s->text, r.data, r.len)) {
		print_change(s, &r);
		free(s->text);
		s->text = r.data;
		s->len = r.len;
	} else {
		free(r.data);
	}
	return 0;
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

static error_t parse_watch(int key, char *arg, struct argp_state *state)
{
	struct object *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o;
		return 0;
	case 'n':
		o->interval_ns = ctl_duration(state, "--interval", arg, BFTM_NS_PER_MS,
					      INTERVAL_MAX_NS);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int ctl_object_watch(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "interval", 'n', "DUR", 0, "Look so often (1s)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_watch,
		.children = children,
		.args_doc = "NAME",
		.doc = "Print a line, or with --json an object in a line, whenever an object has "
		       "changed, until interrupted. Each look is a request; what changes back "
		       "between two is not seen, but every entry of a log is. Options come before "
		       "NAME.",
	};
	struct object o = { .names_max = 1, .options.timeout_ns = 30 * BFTM_NS_PER_SEC,
			    .interval_ns = BFTM_NS_PER_SEC };
	struct timespec pause;
	struct seen s = {};
	int code;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	pause.tv_sec = (time_t)(o.interval_ns / BFTM_NS_PER_SEC);
	pause.tv_nsec = (long)(o.interval_ns % BFTM_NS_PER_SEC);
	code = object_open(&o);
	if (!code)
		code = find_type(&o, &s);
	while (!code) {
		code = look(&o, &s);
		/* One that took too long was said to have; the next one may do better. */
		if (code == EX_TEMPFAIL)
			code = 0;
		if (fflush(stdout) || ferror(stdout))
			code = EX_IOERR;
		if (!code)
			nanosleep(&pause, NULL);
	}
	free(s.text);
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
	static const char *const texts[] = { "request", "response" };
	struct ctl_list table = { .column = columns };
	struct json_object *row, *value;
	size_t i, k;

	for (i = 0; i < json_object_array_length(list); i++) {
		row = json_object_get(json_object_array_get_idx(list, i));
		for (k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			value = json_object_object_get(row, texts[k]);
			if (value)
				json_object_object_add(row, texts[k],
						       ctl_escape(json_object_get_string(value),
								  json_object_get_string_len(value)));
		}
		ctl_list_row(&table, row);
	}
	ctl_list_end(&table, "This host asked nothing of it lately.");
}

int ctl_object_history(int argc, char **argv)
{
	static const struct argp argp = {
		.children = children,
		.args_doc = "NAME",
		.doc = "List the last requests of this host for an object, as its bftmutexd "
		       "remembers them, at most 1024. With --json each is a line of its own, which "
		       "bftmutex-lin of the selftests reads. Options come before NAME.",
	};
	struct object o = { .names_max = 1 };
	struct json_object *answer;
	char question[128];
	size_t i;
	int r;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
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
		puts(json_object_to_json_string_ext(json_object_array_get_idx(answer, i),
						    JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	if (!ctl_json)
		print_history(answer);
	json_object_put(answer);
	return 0;
}
