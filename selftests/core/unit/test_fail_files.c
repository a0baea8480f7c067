// SPDX-License-Identifier: GPL-2.0
/* Files read and written while each call fails that can: named, and nothing half done. */
#include "fail.h"
#include "files.h"

#include <errno.h>

#include "config/conf.h"
#include "config/conf_access.h"
#include "crypto/keys.h"
#include "crypto/rank_file.h"

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* libconfuse cannot free what it had no memory to finish. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libconfuse";
}

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}

static int load_conf(void)
{
	struct bftm_conf *conf = NULL;
	int r = bftm_conf_load(unit_path("f"), &conf);

	assert_int_equal(!conf, r < 0);
	if (conf) {
		assert_int_equal(conf->count, 1);
		assert_int_equal(conf->access->count, 2);
		assert_string_equal(conf->type->argv[1], "-x");
	}
	bftm_conf_free(conf);
	return r;
}

static int load_access(void)
{
	struct bftm_conf_access access = {};
	int r = bftm_conf_load_access(unit_path("f"), &access);

	assert_int_equal(access.count, r < 0 ? 0 : 2);
	free(access.rule);
	return r;
}

static int load_master(void)
{
	struct bftm_master master = {};
	int r = bftm_master_load(unit_path("f"), &master);

	assert_int_equal(master.key[31], r < 0 ? 0 : 31);
	return r;
}

static int load_credentials(void)
{
	struct bftm_credentials cred = {};
	int r = bftm_credentials_load(unit_path("f"), &cred);

	assert_int_equal(cred.count, r < 0 ? 0 : 2);
	return r;
}

static int load_private(void)
{
	u8 key[BFTM_RANK_KEY_LEN] = {};
	int r = bftm_rank_private_load(unit_path("f"), 1, 2, key);

	assert_int_equal(key[31], r < 0 ? 0 : 31);
	return r;
}

static int load_public(void)
{
	struct bftm_rank_client *list = NULL;
	u32 count = 0;
	int r = bftm_rank_public_load(unit_path("f"), 1, &list, &count);

	assert_int_equal(count, r < 0 ? 0 : 2);
	assert_int_equal(!list, r < 0);
	if (list)
		assert_int_equal(list[0].client, 3);
	free(list);
	return r;
}

static int save_master(void)
{
	static const struct bftm_master master = { .cluster = 1, .server = 2 };

	return bftm_master_save(unit_path("f"), &master);
}

static int save_credentials(void)
{
	static const struct bftm_credentials cred = {
		.cluster = 1, .client = 2, .count = 2, .key = { { .server = 1 }, { .server = 2 } },
	};

	return bftm_credentials_save(unit_path("f"), &cred);
}

static int save_private(void)
{
	static const u8 key[BFTM_RANK_KEY_LEN];

	return bftm_rank_private_save(unit_path("f"), 1, 2, key);
}

static int save_public(void)
{
	static const struct bftm_rank_client list[2] = { { .client = 2 }, { .client = 3 } };

	return bftm_rank_public_save(unit_path("f"), 1, list, 2);
}

/* A step, and the file that it reads; NULL: it writes one. At least so many calls. */
static const struct {
	const char *what;
	int (*run)(void);
	const char *text;
	u32 calls;
} cases[] = {
	{ "configuration", load_conf,
	  "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1 }\n"
	  "access { client = 1 } access { }\n}\n"
	  "type t { program = /bin/true arguments = -x }", 12 },
	{ "access rules", load_access, "access { client = 1 } access { prefix = a }", 6 },
	{ "master", load_master, "bftmutex-master { cluster = 1 server = 2 key = " KEY " }", 7 },
	{ "credentials", load_credentials, "bftmutex-client { cluster = 1 client = 2 server 1 { key = "
	  KEY " } server 2 { key = " KEY " } }", 8 },
	{ "rank key", load_private, "bftmutex-rank { cluster = 1 client = 2 key = " KEY " }", 7 },
	{ "rank keys", load_public, "bftmutex-ranks { cluster = 1 client 4 { key = " KEY
	  " } client 3 { key = " KEY " } }", 7 },
	{ "new master", save_master, NULL, 4 },
	{ "new credentials", save_credentials, NULL, 5 },
	{ "new rank key", save_private, NULL, 4 },
	{ "new rank keys", save_public, NULL, 6 },
};

static void check_failure(size_t i, int result, const struct fail *failed)
{
	if (result != -failed->error)
		fail_msg("%s: %s fails with %d, which becomes %d", cases[i].what, failed->call,
			 failed->error, result);
	if (!cases[i].text) {
		/* Nothing is there, not even a part. */
		assert_int_equal(access(unit_path("f"), F_OK), -1);
		assert_int_equal(access(unit_path("f.new"), F_OK), -1);
	} else if (!strstr(unit_words, strerror(failed->error))) {
		fail_msg("%s: %s fails, and this is said: %s", cases[i].what, failed->call,
			 unit_words);
	}
}

static void every_call_fails(void **state)
{
	struct fail failed;
	size_t i;
	u32 nth;
	int r;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (nth = 1;; nth++) {
			if (cases[i].text)
				unit_write("f", cases[i].text, strlen(cases[i].text), 0600);
			unit_listen();
			fail_begin(nth, NULL);
			r = cases[i].run();
			failed = fail_end();
			unit_heard();
			if (!failed.call)
				break;
			check_failure(i, r, &failed);
		}
		assert_int_equal(r, 0);
		assert_string_equal(unit_words, "");
		assert_int_equal(unlink(unit_path("f")), 0);
		print_message("# %s: %u calls\n", cases[i].what, nth - 1);
		assert_true(nth - 1 >= cases[i].calls);
	}
}

/* libconfuse takes some to find a section by its name. */
static void a_section_is_found_without_memory(void **state)
{
	struct fail failed;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases) && cases[i].text; i++) {
		unit_write("f", cases[i].text, strlen(cases[i].text), 0600);
		fail_begin(1, "strndup");
		assert_int_equal(cases[i].run(), 0);
		failed = fail_end();
		assert_null(failed.call);
	}
	unlink(unit_path("f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails),
		cmocka_unit_test(a_section_is_found_without_memory),
	};

	return cmocka_run_group_tests_name("fail_files", tests, unit_make_dir, unit_remove_dir);
}
