// SPDX-License-Identifier: GPL-2.0
/* Programs as types of objects, in a configuration. */
#include "files.h"

#include <errno.h>

#include "config/conf.h"

#define CLUSTER "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1 } } "
#define WITH(more) CLUSTER "type bank { program = /bin/true " more " }"
#define X31 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define NAME_RULE ": a name is 1 to 31 letters, digits and ._-\n"
#define LIMIT_RULE ": must be 1ms to 10s\n"

static const struct {
	const char *text, *words;
} bad[] = {
	{ CLUSTER "type bank { }", "f:1: type 'bank': key 'program' is missing\n" },
	{ CLUSTER "type bank { program = true }",
	  "f:1: key 'program' = 'true': must be an absolute path\n" },
	{ CLUSTER "type bank { program = \"\" }",
	  "f:1: key 'program' = '': must be an absolute path\n" },
	{ CLUSTER "type counter { program = /bin/true }", "f:1: type 'counter' is built in\n" },
	{ CLUSTER "type \"\" { program = /bin/true }", "f:1: type ''" NAME_RULE },
	{ CLUSTER "type \"a b\" { program = /bin/true }", "f:1: type 'a b'" NAME_RULE },
	{ CLUSTER "type " X31 "x { program = /bin/true }", "f:1: type '" X31 "x'" NAME_RULE },
	{ WITH("time-limit = 0"), "f:1: key 'time-limit' = '0'" LIMIT_RULE },
	{ WITH("time-limit = 11s"), "f:1: key 'time-limit' = '11s'" LIMIT_RULE },
	{ WITH("time-limit = soon"), "f:1: key 'time-limit' = 'soon'" LIMIT_RULE },
	{ WITH("argument = x"), "f:1: unknown key 'argument'; did you mean 'arguments'?\n" },
	{ WITH("arguments = \"1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 "
	       "5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5\""),
	  "f:1: key 'arguments': more than 64 words\n" },
	{ WITH("") "\ntype bank { program = /bin/true }", "f:2: type 'bank' is there twice\n" },
};

static void every_mistake_is_named(void **state)
{
	struct bftm_conf *conf = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(unit_read(bftm_conf_load(unit_given(bad[i].text, 0600), &conf)),
				 -EINVAL);
		unit_says(bad[i].text, bad[i].words);
	}
	assert_null(conf);
}

static void types_are_read(void **state)
{
	static const char text[] = CLUSTER
		"type bank { program = /bin/bank arguments = \" --strict\t a  \" time-limit = 250ms }"
		"type " X31 " { program = \"/a program\" }";
	struct bftm_conf *conf;

	(void)state;
	assert_int_equal(bftm_conf_load(unit_write("f", text, strlen(text), 0600), &conf), 0);
	unlink(unit_path("f"));
	assert_int_equal(conf->types, 2);
	assert_string_equal(conf->type[0].name, "bank");
	assert_string_equal(conf->type[0].argv[0], "/bin/bank");
	assert_string_equal(conf->type[0].argv[1], "--strict");
	assert_string_equal(conf->type[0].argv[2], "a");
	assert_null(conf->type[0].argv[3]);
	assert_true(conf->type[0].limit_ns == 250 * BFTM_NS_PER_MS);
	assert_string_equal(conf->type[1].name, X31);
	assert_string_equal(conf->type[1].argv[0], "/a program");
	assert_null(conf->type[1].argv[1]);
	assert_true(conf->type[1].limit_ns == BFTM_TIME_LIMIT_DEFAULT_NS);
	bftm_conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_is_named),
		cmocka_unit_test(types_are_read),
	};

	return cmocka_run_group_tests_name("types", tests, unit_make_dir, unit_remove_dir);
}
