// SPDX-License-Identifier: GPL-2.0
/* Output of bftmutexctl: text for people, JSON for programs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "text/json.h"
#include "text/shown.h"

/* Room for a value of a table, also for the longest name. */
#define SHOWN_MAX BFTM_SHOWN_ROOM(256)

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

struct json_object *ctl_member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return value;
}

size_t ctl_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

void ctl_print_json(struct json_object *object)
{
	puts(bftm_json_text(object, JSON_FLAGS | JSON_C_TO_STRING_PRETTY));
}

void ctl_print_json_line(struct json_object *object)
{
	puts(bftm_json_text(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
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

/* Bytes as bftm_shown() has them; NULL without memory. */
static struct json_object *show_bytes(const char *bytes, size_t len)
{
	size_t size = BFTM_SHOWN_ROOM(len);
	char *text = malloc(size);
	struct json_object *o;

	if (!text)
		return NULL;
	o = json_object_new_string(bftm_shown(bytes, len, text, size));
	free(text);
	return o;
}

struct json_object *ctl_shown(const char *key, struct json_object *value)
{
	struct json_object *text;
	char buf[64], *bytes;
	size_t len;

	if (json_object_is_type(value, json_type_boolean))
		return json_object_new_string(json_object_get_boolean(value) ? "yes" : "no");
	if (json_object_is_type(value, json_type_null))
		return json_object_new_string("-");
	if (is_duration(key))
		return json_object_new_string(format_rounded(json_object_get_uint64(value), buf,
							     sizeof(buf)));
	bytes = bftm_json_read_bytes(value, &len);
	if (!bytes)
		return json_object_new_string(json_object_get_string(value));
	text = show_bytes(bytes, len);
	free(bytes);
	return text;
}

/*
 * Pads like printf(), but by columns of the terminal: a character may have several bytes, or be
 * wide.
 */
static void print_padded(int width, const char *text)
{
	size_t room = (size_t)(width < 0 ? -width : width);
	wchar_t wide[SHOWN_MAX];
	int columns = (int)strlen(text);
	size_t n = mbstowcs(wide, text, SHOWN_MAX);

	if (n < SHOWN_MAX && wcswidth(wide, n) >= 0)
		columns = wcswidth(wide, n);
	room = room > (size_t)columns ? room - (size_t)columns : 0;
	printf("%*s%s%*s", width > 0 ? (int)room : 0, "", text, width < 0 ? (int)room : 0, "");
}

static void print_value(int width, const char *key, struct json_object *value, const char *end)
{
	struct json_object *text = ctl_shown(key, value);

	print_padded(width, json_object_get_string(text) ?: "");
	fputs(end, stdout);
	json_object_put(text);
}

static bool has_members(struct json_object *value)
{
	size_t len;
	char *bytes;

	if (!json_object_is_type(value, json_type_object))
		return false;
	bytes = bftm_json_read_bytes(value, &len);
	free(bytes);
	return !bytes;
}

static void fields_describe(struct json_object *object, int indent)
{
	char label[64];

	json_object_object_foreach(object, key, value) {
		size_t i, len = strlen(key) - (is_duration(key) ? 3 : 0);

		/* The text for people leaves out unknown values. */
		if (!value)
			continue;
		snprintf(label, sizeof(label), "%.*s", (int)len, key);
		for (i = 0; label[i]; i++)
			if (label[i] == '_')
				label[i] = ' ';
		if (has_members(value)) {
			printf("%*s%s\n", indent, "", label);
			fields_describe(value, indent + 2);
		} else {
			printf("%*s%-*s ", indent, "", 24 - indent, label);
			print_value(0, key, value, "\n");
		}
	}
}

void ctl_describe(struct json_object *object)
{
	fields_describe(object, 0);
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

/* Of a lock that is held. */
static bool has_no_end(const char *key, struct json_object *row)
{
	struct json_object *state = NULL;

	json_object_object_get_ex(row, "state", &state);
	return !strcmp(key, "remaining_ns") && state && !strcmp(json_object_get_string(state), "held");
}

static void print_row(const struct ctl_column *column, struct json_object *row)
{
	struct json_object *value;

	for (; column->title; column++) {
		value = NULL;
		json_object_object_get_ex(row, column->key, &value);
		if (!value && has_no_end(column->key, row)) {
			print_padded(column->width, "no end");
			fputs("  ", stdout);
			continue;
		}
		print_value(column[1].title ? column->width : 0, column->key, value,
			    column[1].title ? "  " : "\n");
	}
}

void ctl_list_row(struct ctl_list *list, struct json_object *row)
{
	if (ctl_json) {
		fputs(list->rows ? ",\n  " : "[\n  ", stdout);
		fputs(bftm_json_text(row, JSON_FLAGS), stdout);
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

void ctl_add_time(struct json_object *o)
{
	struct timespec now;
	char text[48];
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%06ldZ", now.tv_nsec / 1000);
	bftm_json_add_text(o, "time", text);
}
