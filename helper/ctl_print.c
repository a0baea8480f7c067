// SPDX-License-Identifier: GPL-2.0
/* What bftmutexctl prints: text for people, JSON for programs. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "conf.h"
#include "ctl.h"

#define JSON_FLAGS (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

int ctl_fail(int code, const char *format, ...)
{
	va_list args;

	fputs(CTL_NAME ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

void ctl_progress(const char *format, ...)
{
	static struct timespec next;
	struct timespec now;
	va_list args;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (next.tv_sec && (now.tv_sec < next.tv_sec ||
			    (now.tv_sec == next.tv_sec && now.tv_nsec < next.tv_nsec)))
		return;
	if (next.tv_sec) {
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
		fputs(" ...\n", stderr);
	}
	next = now;
	next.tv_sec++;
}

void ctl_print_json(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_FLAGS | JSON_C_TO_STRING_PRETTY));
}

static bool is_duration(const char *key)
{
	size_t len = strlen(key);

	return len > 3 && !strcmp(key + len - 3, "_ns");
}

/* People need three digits of a duration, or the whole part. */
static const char *format_rounded(u64 ns, char *buf, size_t len)
{
	u64 unit = 1;

	while (ns / unit >= 1000)
		unit *= 1000;
	if (unit > 1000000000)
		unit = 1000000000;
	if (ns / unit < 100 && unit > 1)
		unit /= 1000;
	return bftm_format_duration((ns + unit / 2) / unit * unit, buf, len);
}

static const char *format_value(const char *key, struct json_object *value, char *buf, size_t len)
{
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "yes" : "no";
	if (json_object_is_type(value, json_type_null))
		return "-";
	if (is_duration(key))
		return format_rounded(json_object_get_uint64(value), buf, len);
	return json_object_get_string(value);
}

static void describe(struct json_object *object, int indent)
{
	char label[64], buf[64];

	json_object_object_foreach(object, key, value) {
		size_t i, len = strlen(key) - (is_duration(key) ? 3 : 0);

		snprintf(label, sizeof(label), "%.*s", (int)len, key);
		for (i = 0; label[i]; i++)
			if (label[i] == '_')
				label[i] = ' ';
		if (json_object_is_type(value, json_type_object)) {
			printf("%*s%s\n", indent, "", label);
			describe(value, indent + 2);
		} else {
			printf("%*s%-*s %s\n", indent, "", 24 - indent, label,
			       format_value(key, value, buf, sizeof(buf)));
		}
	}
}

void ctl_describe(struct json_object *object)
{
	describe(object, 0);
}

void ctl_print(struct json_object *object)
{
	if (ctl_json)
		ctl_print_json(object);
	else
		ctl_describe(object);
}

static void print_heading(const struct ctl_column *column)
{
	for (; column->title; column++)
		printf("%*s%s", column[1].title ? column->width : 0, column->title,
		       column[1].title ? "  " : "\n");
}

static void print_row(const struct ctl_column *column, struct json_object *row)
{
	struct json_object *value;
	char buf[64];

	for (; column->title; column++) {
		value = NULL;
		json_object_object_get_ex(row, column->key, &value);
		printf("%*s%s", column[1].title ? column->width : 0,
		       format_value(column->key, value, buf, sizeof(buf)),
		       column[1].title ? "  " : "\n");
	}
}

void ctl_list_row(struct ctl_list *list, struct json_object *row)
{
	if (ctl_json) {
		fputs(list->rows ? ",\n  " : "[\n  ", stdout);
		fputs(json_object_to_json_string_ext(row, JSON_FLAGS), stdout);
	} else {
		if (!list->rows)
			print_heading(list->column);
		print_row(list->column, row);
	}
	list->rows++;
	json_object_put(row);
}

void ctl_list_end(struct ctl_list *list, const char *nothing)
{
	if (ctl_json)
		puts(list->rows ? "\n]" : "[]");
	else if (!list->rows)
		puts(nothing);
}

struct json_object *ctl_escape(const void *bytes, size_t len)
{
	const u8 *p = bytes, *end = p + len;
	char text[4 * 256 + 1];
	size_t done = 0;

	for (; p < end && done + 5 <= sizeof(text); p++) {
		if (*p == '\\')
			done += snprintf(text + done, sizeof(text) - done, "\\\\");
		else if (*p < 0x20 || *p > 0x7e)
			done += snprintf(text + done, sizeof(text) - done, "\\x%02x", *p);
		else
			text[done++] = *p;
	}
	return json_object_new_string_len(text, done);
}
