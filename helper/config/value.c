// SPDX-License-Identifier: GPL-2.0
/* Values of a file: numbers, durations and words within their bounds. */
#include <stdio.h>
#include <string.h>

#include "config/conf.h"
#include "config/syntax.h"

/* In a key file even a number may be a misplaced key, so it is not shown. */
static const char *shown(const struct bftm_syntax *syntax, const struct bftm_value *value)
{
	return syntax->secret ? "(not shown)" : value->text;
}

bool bftm_value_range(struct bftm_syntax *syntax, const struct bftm_value *value, bool duration,
		      u64 min, u64 max, u64 *ret)
{
	char low[32], high[32];
	u64 number;
	int r;

	r = duration ? bftm_parse_duration(value->text, &number) :
		       bftm_parse_number(value->text, &number);
	if (r == 0 && number >= min && number <= max) {
		*ret = number;
		return true;
	}
	if (duration)
		bftm_mistake(syntax, value->line, "key '%s' = '%s': must be %s to %s",
			     value->key->name, shown(syntax, value),
			     bftm_format_duration(min, low, sizeof(low)),
			     bftm_format_duration(max, high, sizeof(high)));
	else
		bftm_mistake(syntax, value->line, "key '%s' = '%s': must be %llu to %llu",
			     value->key->name, shown(syntax, value), (unsigned long long)min,
			     (unsigned long long)max);
	return false;
}

bool bftm_value_word(struct bftm_syntax *syntax, const struct bftm_value *value,
		     const char *const *word, u64 *ret)
{
	char list[128] = "";
	size_t len = 0;
	u64 i;

	for (i = 0; word[i]; i++) {
		if (!strcmp(value->text, word[i])) {
			*ret = i;
			return true;
		}
		/* "one", "one or two", "one, two or three" */
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					!i ? "" : word[i + 1] ? ", " : " or ", word[i]);
	}
	bftm_mistake(syntax, value->line, "key '%s' = '%s': must be %s", value->key->name,
		     shown(syntax, value), list);
	return false;
}

/* Hosts share the file, so the device may be one of another host. */
bool bftm_value_device(struct bftm_syntax *syntax, const struct bftm_value *value, char ret[16])
{
	if (!value)
		return true;
	if (!*value->text || strlen(value->text) >= 16) {
		bftm_mistake(syntax, value->line,
			     "key '%s' = '%s': the name of a device is 1 to 15 characters",
			     value->key->name, value->text);
		return false;
	}
	strcpy(ret, value->text);
	return true;
}
