// SPDX-License-Identifier: GPL-2.0
/* Names as people see them. */
#include "unit.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "text/json.h"
#include "text/shown.h"
#include "run/speech.h"

static const struct {
	const char *bytes, *in_utf8, *elsewhere;
} names[] = {
	{ "jobs/1 ~", "jobs/1 ~", "jobs/1 ~" },
	{ "a\\b", "a\\\\b", "a\\\\b" },
	{ "Größe", "Größe", "Gr\\xc3\\xb6\\xc3\\x9fe" },
	{ "日本", "日本", "\\xe6\\x97\\xa5\\xe6\\x9c\\xac" },
	{ "a\nb\t\x1b[31m\x7f", "a\\x0ab\\x09\\x1b[31m\\x7f", "a\\x0ab\\x09\\x1b[31m\\x7f" },
	/* CSI as one character; what turns the direction of text; what nobody sees. */
	{ "\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b" },
	{ "\xe2\x80\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae" },
	{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf", "\\xef\\xbb\\xbf" },
	/* No UTF-8: cut off, too long, a half of UTF-16, in Latin 1. */
	{ "\xc3", "\\xc3", "\\xc3" },
	{ "\xc1\x81", "\\xc1\\x81", "\\xc1\\x81" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "\xe4ö", "\\xe4ö", "\\xe4\\xc3\\xb6" },
};

static const char *show(const char *bytes)
{
	static char buf[BFTM_SHOWN_ROOM(64)];

	return bftm_shown(bytes, strlen(bytes), buf, sizeof(buf));
}

static void as_they_are_where_that_can_be(void **state)
{
	size_t i;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(show(names[i].bytes), names[i].in_utf8);
	setlocale(LC_CTYPE, "C");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(show(names[i].bytes), names[i].elsewhere);
}

/* Never half of a character. */
static void what_has_no_room_is_left_out(void **state)
{
	char buf[9];

	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_string_equal(bftm_shown("ööööööö", 14, buf, sizeof(buf)), "ööö");
	assert_string_equal(bftm_shown("\n\n\n", 3, buf, sizeof(buf)), "\\x0a\\x0a");
	setlocale(LC_CTYPE, "C");
}

/* In JSON a name is all its bytes, in a table it is as people read it. */
static void of_json(void **state)
{
	struct json_object *name, *text;
	size_t i;

	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		name = bftm_json_bytes(names[i].bytes, strlen(names[i].bytes));
		text = ctl_shown("name", name);
		assert_string_equal(json_object_get_string(text), names[i].in_utf8);
		json_object_put(text);
		json_object_put(name);
	}
	setlocale(LC_CTYPE, "C");
}

/* Messages of a command's keeper go to the terminal by itself. */
static void messages_of_the_keeper(void **state)
{
	struct bftm_speech speech = {};
	int err = dup(STDERR_FILENO), pair[2];
	char got[256] = "";

	(void)state;
	assert_int_equal(pipe(pair), 0);
	dup2(pair[1], STDERR_FILENO);
	bftm_speech_add(&speech, "x", ": SIGTERM cannot be sent to 7 (\x1b]0;evil\x07\xc2\x9b)");
	dup2(err, STDERR_FILENO);
	assert_true(read(pair[0], got, sizeof(got) - 1) > 0);
	assert_non_null(strstr(got, ": lock 'x': SIGTERM cannot be sent to 7 (?]0;evil?\?\?)\n"));
	close(pair[0]);
	close(pair[1]);
	close(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_they_are_where_that_can_be),
		cmocka_unit_test(what_has_no_room_is_left_out),
		cmocka_unit_test(of_json),
		cmocka_unit_test(messages_of_the_keeper),
	};

	return cmocka_run_group_tests_name("shown", tests, NULL, NULL);
}
