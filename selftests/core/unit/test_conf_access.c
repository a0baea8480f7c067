// SPDX-License-Identifier: GPL-2.0
/* Access rules in a configuration and in a file of their own. */
#include "files.h"

#include <errno.h>

#include "config/conf.h"

#define SERVER "server 1 { address = 10.0.0.1 }"
#define WITH(more) "cluster x { id = 1 b = 0 " more " " SERVER " }"
#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define CLIENT_RULE "must be any, a number 1 to 4294967294, or two such as 7-9\n"

#define ENVIRONMENT "f:1: '${' in a value: the environment has no part in this file; write ${ in single quotes if it is meant\n"

/* A configuration, and what is said about it when it stands in file f. */
static const struct {
	const char *text, *words;
} bad[] = {
	{ WITH("access { client = 0 }"), "f:1: key 'client' = '0': " CLIENT_RULE },
	{ WITH("access { client = 4294967295 }"),
	  "f:1: key 'client' = '4294967295': " CLIENT_RULE },
	{ WITH("access { client = \"9-7\" }"), "f:1: key 'client' = '9-7': " CLIENT_RULE },
	{ WITH("access { client = \"7-\" }"), "f:1: key 'client' = '7-': " CLIENT_RULE },
	{ WITH("access { client = \"-7\" }"), "f:1: key 'client' = '-7': " CLIENT_RULE },
	{ WITH("access { client = \"\" }"), "f:1: key 'client' = '': " CLIENT_RULE },
	{ WITH("access { client = all }"), "f:1: key 'client' = 'all': " CLIENT_RULE },
	{ WITH("access { prefix = " X32 X32 "x }"),
	  "f:1: key 'prefix' = '" X32 X32 "x': must be 0 to 64 bytes\n" },
	{ WITH("access { lease-max = 2h }"), "f:1: key 'lease-max' = '2h': must be 1ms to 1h\n" },
	{ WITH("access { waiters = 0 }"), "f:1: key 'waiters' = '0': must be 1 to 65536\n" },
	{ WITH("access { waiters = 65537 }"),
	  "f:1: key 'waiters' = '65537': must be 1 to 65536\n" },
	{ WITH("access { deny = maybe }"), "f:1: key 'deny' = 'maybe': must be no or yes\n" },
	{ WITH("access { deny = yes waiters = 5 }"),
	  "f:1: key 'deny' = 'yes': such a rule has none of 'lease-max', 'waiters', 'leaseless'\n" },
	{ WITH("access { lease = 5s }"),
	  "f:1: unknown key 'lease'\n" },
	{ WITH("access { prefix = \"\\x00a\" }"), "f:1: a value cannot have the byte 0\n" },
	{ WITH("\naccess { prefix = \"a\\x0\" }"), "f:2: a value cannot have the byte 0\n" },
	{ WITH("access { prefix = \"\\0\" }"), "f:1: a value cannot have the byte 0\n" },
	{ WITH("access { prefix = \"a${NO_SUCH}\" deny = yes }"), ENVIRONMENT },
	{ WITH("access { prefix = ${NO_SUCH:-b} }"), ENVIRONMENT },
	{ WITH("\naccess { client = 1 }\naccess {\n client = 2\n client = 3 }"),
	  "f:5: key 'client' was given before, on line 4\n" },
};

/* Text that means what it says. */
static void a_prefix_is_as_it_is_written(void **state)
{
	static const struct {
		const char *written, *meant;
	} good[] = {
		{ "'${HOME}'", "${HOME}" }, { "\"\\${HOME}\"", "${HOME}" },
		{ "\"a\\\\0\"", "a\\0" }, { "\"\\x01\\x10\\01\"", "\x01\x10\x01" },
		{ "'\\x00'", "\\x00" }, { "\"$a\" # ${x}\n", "$a" },
	};
	char text[256];
	struct bftm_conf *conf;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(text, sizeof(text), WITH("access { prefix = %s }"), good[i].written);
		assert_int_equal(unit_read(bftm_conf_load(unit_given(text, 0600), &conf)), 0);
		assert_int_equal(conf->access->rule[0].prefix_len, strlen(good[i].meant));
		assert_memory_equal(conf->access->rule[0].prefix, good[i].meant,
				    strlen(good[i].meant));
		bftm_conf_free(conf);
	}
}

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

static void access_rules_keep_their_order(void **state)
{
	static const char text[] = WITH(
		"access { client = 7 prefix = \"jobs/\" lease-max = 10s waiters = 16 }"
		"access { client = \"8-9\" prefix = \"a\\x01 b\" }"
		"access { client = 7-9 deny = yes }"
		"access { client = any deny = no }"
		"access { }") " cluster y { id = 2 b = 0 " SERVER " }";
	const struct bftm_conf_access *access;
	struct bftm_conf *conf;

	(void)state;
	assert_int_equal(bftm_conf_load(unit_write("f", text, strlen(text), 0600), &conf), 0);
	unlink(unit_path("f"));
	assert_int_equal(conf->access[1].count, 0);
	access = &conf->access[0];
	assert_int_equal(access->count, 5);
	assert_int_equal(access->rule[0].client_first, 7);
	assert_int_equal(access->rule[0].client_last, 7);
	assert_int_equal(access->rule[0].prefix_len, 5);
	assert_memory_equal(access->rule[0].prefix, "jobs/", 5);
	assert_true(access->rule[0].lease_max_ns == 10 * BFTM_NS_PER_SEC);
	assert_int_equal(access->rule[0].waiters_max, 16);
	assert_false(access->rule[0].deny);
	assert_int_equal(access->rule[1].client_first, 8);
	assert_int_equal(access->rule[1].client_last, 9);
	assert_int_equal(access->rule[1].prefix_len, 4);
	assert_memory_equal(access->rule[1].prefix, "a\001 b", 4);
	assert_int_equal(access->rule[1].lease_max_ns, 0);
	assert_int_equal(access->rule[1].waiters_max, 0);
	assert_true(access->rule[2].deny);
	assert_int_equal(access->rule[2].client_last, 9);
	assert_int_equal(access->rule[3].client_first, 1);
	assert_int_equal(access->rule[3].client_last, BFTM_CLIENT_ID_MAX);
	assert_false(access->rule[3].deny);
	assert_int_equal(access->rule[4].client_last, BFTM_CLIENT_ID_MAX);
	assert_int_equal(access->rule[4].prefix_len, 0);
	bftm_conf_free(conf);
}

/* The longest list, and one that is longer, in a file of its own. */
static void a_file_of_access_rules(void **state)
{
	static char text[32 * (BFTM_RULES_MAX + 1)];
	struct bftm_conf_access access = {};
	char words[128];
	u32 i;

	(void)state;
	for (i = 0; i < BFTM_RULES_MAX; i++)
		snprintf(text + strlen(text), 32, "access { client = %u }\n", i + 1);
	assert_int_equal(bftm_conf_load_access(unit_write("f", text, strlen(text), 0600),
					       &access), 0);
	assert_int_equal(access.count, BFTM_RULES_MAX);
	assert_int_equal(access.rule[BFTM_RULES_MAX - 1].client_first, BFTM_RULES_MAX);
	free(access.rule);

	strcat(text, "access { client = any }\n");
	unit_write("f", text, strlen(text), 0600);
	unit_listen();
	assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), -EINVAL);
	snprintf(words, sizeof(words), "f:%u: %u sections 'access', but %u are the most\n",
		 BFTM_RULES_MAX + 1, BFTM_RULES_MAX + 1, BFTM_RULES_MAX);
	assert_string_equal(unit_heard(), words);

	unit_write("f", "# none\n", 7, 0600);
	assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), 0);
	assert_int_equal(access.count, 0);
	unlink(unit_path("f"));
	unit_listen();
	assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), -ENOENT);
	assert_string_equal(unit_heard(), "f: No such file or directory\n");
}

static void a_whole_configuration_is_no_file_of_rules(void **state)
{
	static const char text[] = "# all\n" WITH("\naccess { client = 1 }\n") "\nclusters { }\n";
	struct bftm_conf_access access = {};

	(void)state;
	assert_int_equal(unit_read(bftm_conf_load_access(unit_given(text, 0600), &access)), -EINVAL);
	unit_says(text, "f:2: unknown key 'cluster': here are nothing but sections 'access'; a whole "
		  "configuration is given by --config FILE\nf:5: unknown key 'clusters'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_is_as_it_is_written),
		cmocka_unit_test(every_mistake_is_named),
		cmocka_unit_test(access_rules_keep_their_order),
		cmocka_unit_test(a_file_of_access_rules),
		cmocka_unit_test(a_whole_configuration_is_no_file_of_rules),
	};

	return cmocka_run_group_tests_name("access", tests, unit_make_dir, unit_remove_dir);
}
