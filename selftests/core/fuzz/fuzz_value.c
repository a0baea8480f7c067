// SPDX-License-Identifier: GPL-2.0
/* Numbers and times as people write them: exact, or refused; what is written reads the same. */
#include <inttypes.h>
#include <string.h>

#include "config/conf.h"
#include "types/object.h"
#include "fuzz.h"

static void check_number(const char *text)
{
	char *end, again[32];
	u64 value = 0x5a5a;
	size_t zeroes;

	if (bftm_parse_number(text, &value)) {
		must(value == 0x5a5a);
		return;
	}
	must(*text && strspn(text, "0123456789") == strlen(text));
	must(strtoull(text, &end, 10) == value && !*end);
	zeroes = strspn(text, "0");
	snprintf(again, sizeof(again), "%" PRIu64, value);
	must(!strcmp(text[zeroes] ? text + zeroes : "0", again));
}

static void check_duration(const char *text)
{
	u64 ns = 0x5a5a, back = 0;
	char again[64];

	if (bftm_parse_duration(text, &ns)) {
		must(ns == 0x5a5a);
		return;
	}
	must(strspn(text, "0123456789.numsh") == strlen(text));
	must(bftm_format_duration(ns, again, sizeof(again)) == again);
	must(!bftm_parse_duration(again, &back) && back == ns);
}

static void check_object_number(const u8 *text, u32 len)
{
	int64_t value = 0;
	char copy[64], *end;

	if (!bftm_read_number(text, len, &value) || len >= sizeof(copy))
		return;
	memcpy(copy, text, len);
	copy[len] = '\0';
	must(strtoll(copy, &end, 10) == value && end == copy + len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	char text[64];

	check_object_number(data, (u32)len);
	if (len >= sizeof(text))
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	check_number(text);
	check_duration(text);
	return 0;
}
