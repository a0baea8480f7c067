// SPDX-License-Identifier: GPL-2.0
/* Files of keys that are too many, nowhere, or no longer fit the disk. */
#include "files.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

#include "crypto/keys.h"
#include "crypto/rank_file.h"

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static int load(const char *text, struct bftm_credentials *cred)
{
	return unit_read(bftm_credentials_load(unit_given(text, 0600), cred));
}

static void servers_have_numbers(void **state)
{
	static const char *const bad[] = { "0", "65536", "x" };
	struct bftm_credentials cred = {};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "bftmutex-client { cluster = 1 client = 7\n"
			 " server %s { key = " KEY " } }", bad[i]);
		assert_int_equal(load(text, &cred), -EINVAL);
		assert_string_equal(unit_words, "f:2: a server's number must be 1 to 65535\n");
	}
	assert_int_equal(cred.count, 0);
}

static void servers_are_31_at_most(void **state)
{
	struct bftm_credentials cred = {};
	char text[8192];
	size_t len;
	int n, i;

	(void)state;
	for (n = 31; n <= 32; n++) {
		len = (size_t)snprintf(text, sizeof(text), "bftmutex-client { cluster = 1 client = 7");
		for (i = 1; i <= n; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						" server %d { key = " KEY " }", i);
		snprintf(text + len, sizeof(text) - len, " }");
		assert_int_equal(load(text, &cred), n == 31 ? 0 : -EINVAL);
		assert_int_equal(cred.count, 31);
	}
	assert_string_equal(unit_words, "f:1: keys for 32 servers: must be 1 to 31\n");
}

/* Either all is written or there is no file. */
static void a_full_disk(void **state)
{
	static const struct bftm_master master = { .cluster = 1, .server = 2 };
	struct rlimit before, little;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little = before;
	little.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(bftm_master_save(unit_path("f"), &master), -ENOSPC);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(access(unit_path("f"), F_OK), -1);
}

static void rank_files_that_are_nowhere(void **state)
{
	static const struct bftm_rank_client list[1] = { { .client = 1 } };
	struct bftm_rank_client *ret = NULL;
	char path[PATH_MAX + 1];
	u32 count = 0;

	(void)state;
	unit_listen();
	assert_int_equal(bftm_rank_public_load(unit_path("none"), 1, &ret, &count), -ENOENT);
	assert_string_equal(unit_heard(), "none: No such file or directory\n");
	unit_listen();
	assert_int_equal(bftm_rank_private_load(unit_path("none"), 1, 1, (u8 *)path), -ENOENT);
	assert_string_equal(unit_heard(), "none: No such file or directory\n");
	assert_null(ret);
	assert_int_equal(count, 0);

	assert_int_equal(bftm_rank_public_save(unit_path("none/f"), 1, list, 1), -ENOENT);
	/* Too long for the name under which it is written. */
	memset(path, 'p', sizeof(path));
	path[PATH_MAX - 4] = '\0';
	assert_int_equal(bftm_rank_public_save(path, 1, list, 1), -ENAMETOOLONG);
}

/* Files beside credentials, whatever they are called. */
static void rank_files_have_names(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_string_equal(bftm_rank_private_path("x", path), "x.rank");
	assert_string_equal(bftm_rank_private_path("7.client", path), "7.rank");
	assert_string_equal(bftm_rank_public_path("x", path), "./ranks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_have_numbers),
		cmocka_unit_test(servers_are_31_at_most),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(rank_files_that_are_nowhere),
		cmocka_unit_test(rank_files_have_names),
	};

	return cmocka_run_group_tests_name("key_files", tests, unit_make_dir, unit_remove_dir);
}
