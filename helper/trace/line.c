// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "text/json.h"
#include "trace/line.h"

void trace_line_wrong(struct trace_line *l, const char *key, const char *must)
{
	if (l->key)
		return;
	l->key = key;
	l->must = must;
}

u64 trace_line_number(struct trace_line *l, const char *key, u64 max, u64 missing)
{
	struct json_object *value = NULL;
	const char *text;
	char *end;
	u64 n;

	if (!json_object_object_get_ex(l->object, key, &value) || !value)
		return missing;
	text = json_object_get_string(value);
	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > max) {
		if (!l->key)
			l->max = max;
		trace_line_wrong(l, key, NULL);
		return missing;
	}
	return n;
}

bool trace_line_has(const struct trace_line *l, const char *key)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(l->object, key, &value) && value;
}

u8 trace_line_word(struct trace_line *l, const char *key, const char *const *list, u8 count,
		   u8 missing, const char *must)
{
	struct json_object *value = NULL;
	u8 i;

	if (!json_object_object_get_ex(l->object, key, &value) || !value)
		return missing;
	for (i = 0; i < count; i++)
		if (json_object_is_type(value, json_type_string) && list[i] &&
		    !strcmp(json_object_get_string(value), list[i]))
			return i;
	trace_line_wrong(l, key, must);
	return missing;
}
