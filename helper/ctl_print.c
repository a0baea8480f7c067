// SPDX-License-Identifier: GPL-2.0
/* What bftmutexctl prints: text for people, JSON for programs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "conf.h"
#include "ctl.h"
#include "shown.h"

/* A value of a table, and more than the longest name takes. */
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

/* What ctl_escape() made of bytes, and longer for none. */
static size_t unescape(const char *text, char *ret)
{
	char *end = ret;
	int n;

	while (*text) {
		n = 0;
		if (sscanf(text, "\\x%2hhx%n", (unsigned char *)end, &n) != 1 || n != 4) {
			text += *text == '\\' && text[1] == '\\';
			*end = *text;
			n = 1;
		}
		text += n;
		end++;
	}
	return (size_t)(end - ret);
}

const char *ctl_readable(const char *text, char *buf, size_t size)
{
	char bytes[1024];

	/* Nothing in it was escaped, or it is no name. */
	if (!strchr(text, '\\') || strlen(text) >= sizeof(bytes))
		return text;
	return bftm_shown(bytes, unescape(text, bytes), buf, size);
}

static const char *format_value(const char *key, struct json_object *value, char *buf, size_t len)
{
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "yes" : "no";
	if (json_object_is_type(value, json_type_null))
		return "-";
	if (is_duration(key))
		return format_rounded(json_object_get_uint64(value), buf, len);
	return ctl_readable(json_object_get_string(value), buf, len);
}

/* As printf() does, but in columns of the terminal: a character may be of several bytes, or wide. */
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

static void describe(struct json_object *object, int indent)
{
	char label[64], buf[SHOWN_MAX];

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
	char buf[SHOWN_MAX];

	for (; column->title; column++) {
		value = NULL;
		json_object_object_get_ex(row, column->key, &value);
		print_padded(column[1].title ? column->width : 0,
			     format_value(column->key, value, buf, sizeof(buf)));
		fputs(column[1].title ? "  " : "\n", stdout);
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
