// SPDX-License-Identifier: GPL-2.0
/* Numbers and durations as people write them. */
#include "unit.h"

#include <errno.h>

#include "config/conf.h"

static const struct {
	const char *text;
	u64 ns;
	const char *shortest;	/* what it is printed as */
} good[] = {
	{ "0", 0, "0s" },
	{ "0h", 0, "0s" },
	{ "1ns", 1, "1ns" },
	{ "999ns", 999, "999ns" },
	{ "1us", 1000, "1us" },
	{ "1.5us", 1500, "1.5us" },
	{ "0.001us", 1, "1ns" },
	{ "250us", 250000, "250us" },
	{ "5ms", 5000000, "5ms" },
	{ "0.5ms", 500000, "500us" },
	{ "1.000001ms", 1000001, "1.000001ms" },
	{ "10", 10000000000, "10s" },
	{ "10s", 10000000000, "10s" },
	{ "1.5s", 1500000000, "1.5s" },
	{ "1.50", 1500000000, "1.5s" },
	{ "1.000000001", 1000000001, "1.000000001s" },
	{ "1.0000000010", 1000000001, "1.000000001s" },
	{ "60s", 60000000000, "1m" },
	{ "90s", 90000000000, "90s" },
	{ "2m", 120000000000, "2m" },
	{ "1h", 3600000000000, "1h" },
	{ "1.5h", 5400000000000, "90m" },
	{ "60m", 3600000000000, "1h" },
	{ "18446744073709551615ns", UINT64_MAX, "18446744073.709551615s" },
	{ "007ms", 7000000, "7ms" },
};

static const char *const bad[] = {
	"", " ", "s", "ms", "-1", "+1", "-1s", " 1s", "1 s", "1s ", "1.s", ".5s", ".", "1..5s",
	"1.5.5s", "0x10", "1e3", "1d", "1S", "1sec", "1,5s", "inf", "nan", "0.0000000001s",
	"1.0001ns", "0.5ns", "18446744073709551616ns", "18446744073709551615us",
	"18446744073.709551616", "99999999999999999999", "5124096h", "1\n",
};

static void durations_in_all_spellings(void **state)
{
	char buf[64];
	size_t i;
	u64 ns;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ns = ~good[i].ns;
		if (bftm_parse_duration(good[i].text, &ns) != 0 || ns != good[i].ns)
			fail_msg("'%s' gives %llu", good[i].text, (unsigned long long)ns);
		assert_string_equal(bftm_format_duration(ns, buf, sizeof(buf)), good[i].shortest);
	}
}

static void what_is_no_duration_leaves_the_result_alone(void **state)
{
	u64 ns = 42;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (bftm_parse_duration(bad[i], &ns) != -EINVAL || ns != 42)
			fail_msg("'%s' gives %llu", bad[i], (unsigned long long)ns);
}

static void what_is_printed_can_be_read(void **state)
{
	u64 rnd = unit_seed("durations"), ns, back;
	char buf[64];
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		ns = unit_random(&rnd) >> unit_between(&rnd, 0, 63);
		bftm_format_duration(ns, buf, sizeof(buf));
		if (bftm_parse_duration(buf, &back) != 0 || back != ns)
			fail_msg("%llu is printed as %s", (unsigned long long)ns, buf);
	}
}

static void numbers_are_digits_alone(void **state)
{
	static const char *const no_number[] = {
		"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "a", "1a", "18446744073709551616",
	};
	u64 value = 42;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(no_number); i++) {
		assert_int_equal(bftm_parse_number(no_number[i], &value), -EINVAL);
		assert_int_equal(value, 42);
	}
	assert_int_equal(bftm_parse_number("0", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(bftm_parse_number("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(bftm_parse_number("0042", &value), 0);
	assert_int_equal(value, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_in_all_spellings),
		cmocka_unit_test(what_is_no_duration_leaves_the_result_alone),
		cmocka_unit_test(what_is_printed_can_be_read),
		cmocka_unit_test(numbers_are_digits_alone),
	};

	return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
