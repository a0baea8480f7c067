// SPDX-License-Identifier: GPL-2.0
/* Numbers and durations as people write them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/conf.h"

static const struct unit {
	const char *suffix;
	u64 ns;
} units[] = {
	{ "h", 3600 * BFTM_NS_PER_SEC },
	{ "m", 60 * BFTM_NS_PER_SEC },
	{ "s", BFTM_NS_PER_SEC },
	{ "ms", BFTM_NS_PER_MS },
	{ "us", BFTM_NS_PER_US },
	{ "ns", 1 },
};

/* Reads decimal digits only: no sign, no space, no other base. */
static int read_digits(const char **text, u64 *ret)
{
	const char *p = *text;
	u64 value = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*p - '0'), &value))
			return -EINVAL;
	*text = p;
	*ret = value;
	return 0;
}

int bftm_parse_number(const char *text, u64 *ret)
{
	u64 value;
	int r;

	r = read_digits(&text, &value);
	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	*ret = value;
	return 0;
}

static const struct unit *find_unit(const char *suffix)
{
	size_t i;

	if (!*suffix)
		suffix = "s";
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(suffix, units[i].suffix))
			return &units[i];
	return NULL;
}

int bftm_parse_duration(const char *text, u64 *ret_ns)
{
	const struct unit *unit;
	const char *digit = NULL;
	u64 ns, whole, part;
	int r;

	r = read_digits(&text, &whole);
	if (r < 0)
		return r;
	if (*text == '.') {
		digit = text + 1;
		text += 1 + strspn(text + 1, "0123456789");
		if (text == digit)
			return -EINVAL;
	}
	unit = find_unit(text);
	if (!unit || __builtin_mul_overflow(whole, unit->ns, &ns))
		return -EINVAL;

	/* The fraction must not have a part below 1 ns: no silent rounding. */
	for (part = unit->ns; digit && digit < text; digit++) {
		if (*digit != '0' && (part % 10 || !part))
			return -EINVAL;
		part /= 10;
		if (__builtin_add_overflow(ns, part * (u64)(*digit - '0'), &ns))
			return -EINVAL;
	}
	*ret_ns = ns;
	return 0;
}

const char *bftm_format_duration(u64 ns, char *buf, size_t len)
{
	const struct unit *unit = units;
	char part[32];
	u64 rest;
	int end;

	/* Hours and minutes are used only for whole numbers of them: 90s, not 1.5m. */
	while (unit->ns > 1 && (ns < unit->ns || (unit->ns > BFTM_NS_PER_SEC && ns % unit->ns)))
		unit++;
	if (!ns)
		unit = find_unit("s");

	part[0] = '\0';
	rest = ns % unit->ns;
	if (rest) {
		/* The fraction's digits with leading zeros, without trailing ones. */
		end = snprintf(part, sizeof(part), ".%0*llu",
			       unit->ns == BFTM_NS_PER_SEC ? 9 :
			       unit->ns == BFTM_NS_PER_MS ? 6 : 3,
			       (unsigned long long)rest);
		while (part[end - 1] == '0')
			part[--end] = '\0';
	}
	snprintf(buf, len, "%llu%s%s", (unsigned long long)(ns / unit->ns), part, unit->suffix);
	return buf;
}
