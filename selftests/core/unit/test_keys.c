// SPDX-License-Identifier: GPL-2.0
/* Keys: derivation and tags by published vectors, and the files they are kept in. */
#include "files.h"

#include <errno.h>

#include "crypto/keys.h"
#include "loop/log.h"
#include "loop/reason.h"
#include "siphash.h"

#define HEX64 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define MASTER(keys) "bftmutex-master { " keys " }"
#define KEY "key = \"" HEX64 "\""
#define SECTION_RULE(kind) "f:1: must hold one section 'bftmutex-" kind "' and nothing else\n"
#define KEY_RULE "key 'key' must be 64 hexadecimal digits\n"

static const struct bftm_master counting = {
	.cluster = 1,
	.server = 3,
	.key = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
		 23, 24, 25, 26, 27, 28, 29, 30, 31 },
};

/* From vectors.h of https://github.com/veorq/SipHash: key 00…0f, data 00…(len - 1). */
static void the_reference_is_siphash(void **state)
{
	static const struct {
		size_t len;
		u8 tag[16];
	} vector[] = {
		{ 0, { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
		       0x55, 0x02, 0x93 } },
		{ 1, { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
		       0x22, 0xfc, 0x45 } },
		{ 63, { 0x51, 0x50, 0xd1, 0x77, 0x2f, 0x50, 0x83, 0x4a, 0x50, 0x3e, 0x06, 0x9a,
			0x97, 0x3f, 0xbd, 0x7c } },
	};
	u8 data[64], tag[16];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (u8)i;
	for (i = 0; i < ARRAY_SIZE(vector); i++) {
		sip_hash(counting.key, data, vector[i].len, tag);
		assert_memory_equal(tag, vector[i].tag, 16);
	}
}

static void a_tag_is_siphash_of_what_stands_before_it(void **state)
{
	u64 rnd = unit_seed("tags");
	struct bftm_wire wire;
	struct bftm_mac *mac;
	u8 key[16], tag[16];
	size_t i;
	int round;

	(void)state;
	for (round = 0; round < 100; round++) {
		for (i = 0; i < sizeof(key); i++)
			key[i] = round ? (u8)unit_random(&rnd) : counting.key[i];
		for (i = 0; i < sizeof(wire.data); i++)
			wire.data[i] = (u8)unit_random(&rnd);
		wire.len = 8 * (BFTM_TAG_LEN / 8 + unit_random(&rnd) % 26);
		mac = bftm_mac_new(key);
		assert_non_null(mac);
		/* Twice with one prepared key: nothing of a message may remain in it. */
		assert_int_equal(bftm_mac_sign(mac, &wire), 0);
		sip_hash(key, wire.data, wire.len - BFTM_TAG_LEN, tag);
		assert_memory_equal(wire.data + wire.len - BFTM_TAG_LEN, tag, 16);
		wire.data[wire.len - 1] ^= 1;
		assert_false(bftm_mac_verify(mac, &wire));
		assert_int_equal(bftm_mac_sign(mac, &wire), 0);
		sip_hash(key, wire.data, wire.len - BFTM_TAG_LEN, tag);
		assert_memory_equal(wire.data + wire.len - BFTM_TAG_LEN, tag, 16);
		assert_true(bftm_mac_verify(mac, &wire));
		bftm_mac_free(mac);
	}
	bftm_mac_free(NULL);
}

static void every_bit_of_a_datagram_is_covered(void **state)
{
	struct bftm_mac *mac = bftm_mac_new(counting.key), *other = bftm_mac_new(counting.key + 1);
	struct bftm_wire wire = { .len = BFTM_WIRE_LEN_MAX };
	size_t bit;

	(void)state;
	assert_int_equal(bftm_mac_sign(mac, &wire), 0);
	assert_false(bftm_mac_verify(other, &wire));
	for (bit = 0; bit < 8 * wire.len; bit++) {
		wire.data[bit / 8] ^= (u8)(1 << bit % 8);
		assert_false(bftm_mac_verify(mac, &wire));
		wire.data[bit / 8] ^= (u8)(1 << bit % 8);
	}
	assert_true(bftm_mac_verify(mac, &wire));
	bftm_mac_free(mac);
	bftm_mac_free(other);
}

/* By Python: hashlib.blake2s(message, key=key, digest_size=32). */
static void pairs_are_derived_by_blake2s(void **state)
{
	static const u8 expected[] = {
		0x27, 0x2e, 0x00, 0xd0, 0x2b, 0xe4, 0x19, 0x0f, 0xb7, 0xe3, 0x5d, 0xbf, 0x19, 0xfc,
		0x04, 0xf8, 0x00, 0x5a, 0xaf, 0x38, 0x0b, 0x7a, 0xc5, 0x5d, 0x36, 0x43, 0x1f, 0x49,
		0xae, 0xdd, 0xee, 0x54,
	};
	static const u8 expected_highest[] = {
		0x15, 0x86, 0xd5, 0xf5, 0x8f, 0xec, 0xba, 0x03, 0x29, 0x1a, 0xcf, 0x70, 0x15, 0xb6,
		0x47, 0xa0, 0x21, 0xb1, 0xfb, 0x96, 0x5d, 0xd7, 0x7d, 0xe0, 0xc4, 0x59, 0xfe, 0x00,
		0x35, 0x92, 0x8e, 0x14,
	};
	struct bftm_master master = counting;
	struct bftm_pair pair;

	(void)state;
	assert_int_equal(bftm_derive(&master, 7, &pair), 0);
	assert_memory_equal(&pair, expected, sizeof(pair));
	master.cluster = 0xffffffff;
	master.server = 65535;
	assert_int_equal(bftm_derive(&master, 0xfffffffe, &pair), 0);
	assert_memory_equal(&pair, expected_highest, sizeof(pair));
}

static void assert_private(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
}

static void masters_survive_a_file(void **state)
{
	const struct bftm_master *before = &counting;
	struct bftm_master master = {};
	mode_t mask = umask(0);

	(void)state;
	assert_int_equal(bftm_master_save(unit_path("f"), before), 0);
	umask(mask);
	assert_private(unit_path("f"));
	assert_int_equal(bftm_master_load(unit_path("f"), &master), 0);
	assert_int_equal(master.cluster, 1);
	assert_int_equal(master.server, 3);
	assert_memory_equal(master.key, before->key, sizeof(master.key));

	/* Never over what is there, not even through a link. */
	assert_int_equal(bftm_master_save(unit_path("f"), before), -EEXIST);
	unlink(unit_path("f"));
	assert_int_equal(symlink("g", unit_path("f")), 0);
	assert_int_equal(bftm_master_save(unit_path("f"), before), -EEXIST);
	unlink(unit_path("f"));
	assert_int_equal(access(unit_path("g"), F_OK), -1);
}

static void credentials_survive_a_file(void **state)
{
	struct bftm_credentials before = {
		.cluster = 4294967295u,
		.client = BFTM_CLIENT_ID_MAX,
		.count = BFTM_SERVERS_MAX,
	};
	struct bftm_credentials after;
	u32 i;

	(void)state;
	memset(&after, 0, sizeof(after));
	for (i = 0; i < before.count; i++) {
		before.key[i].server = (u16)(65535 - i);
		memset(&before.key[i].pair, (int)(0xff - i), sizeof(before.key[i].pair));
	}
	assert_int_equal(bftm_credentials_save(unit_path("f"), &before), 0);
	assert_private(unit_path("f"));
	assert_int_equal(bftm_credentials_load(unit_path("f"), &after), 0);
	assert_memory_equal(&before, &after, sizeof(after));
	unlink(unit_path("f"));
}

static const struct {
	const char *text, *words;
	bool client;
} bad[] = {
	{ "", SECTION_RULE("master"), false },
	{ "", SECTION_RULE("client"), true },
	{ "bftmutex-client { }", SECTION_RULE("master"), false },
	{ MASTER("cluster = 1 server = 1 " KEY), SECTION_RULE("client"), true },
	{ MASTER("cluster = 1 server = 1 " KEY) MASTER(""), SECTION_RULE("master"), false },
	{ MASTER("server = 1 " KEY), "f:1: key 'cluster' is missing\n", false },
	{ MASTER("cluster = 1 " KEY), "f:1: key 'server' is missing\n", false },
	{ MASTER("cluster = 1 server = 1"), "f:1: key 'key' is missing\n", false },
	{ MASTER("cluster = 0 server = 1 " KEY),
	  "f:1: key 'cluster' = '(not shown)': must be 1 to 4294967295\n", false },
	{ MASTER("cluster = 1 server = 65536 " KEY),
	  "f:1: key 'server' = '(not shown)': must be 1 to 65535\n", false },
	{ MASTER("cluster = 1 server = 1\nkey = \"" HEX64 "0\""), "f:2: " KEY_RULE, false },
	{ MASTER("cluster = 1 server = 1\nkey = \"0001020304\""), "f:2: " KEY_RULE, false },
	{ MASTER("cluster = 1 server = 1\nkey = \"g" HEX64 "\""), "f:2: " KEY_RULE, false },
	{ MASTER("cluster = 1 server = 1\nkey = \"g00102030405060708090a0b0c0d0e0f10111213"
		 "1415161718191a1b1c1d1e1f\""), "f:2: " KEY_RULE, false },
	{ MASTER("cluster = 1 server = 1 " KEY "\n" KEY),
	  "f:2: key 'key' was given before, on line 1\n", false },
	/* A key in the wrong place stays a secret. */
	{ MASTER("cluster = 1 server = 1 key = 00 " HEX64),
	  "f:1: unknown key, not shown here\n", false },
	{ MASTER("cluster = 1 server = 1 key " HEX64), "f:1: syntax error\n", false },
	{ MASTER("cluster = " HEX64 " server = 1 " KEY),
	  "f:1: key 'cluster' = '(not shown)': must be 1 to 4294967295\n", false },
	{ "bftmutex-master { cluster = \"" HEX64, "f:1: \" is never closed\n", false },

	{ "bftmutex-client { cluster = 1\n client = 4294967295 server 1 { " KEY " } }",
	  "f:2: key 'client' = '(not shown)': must be 1 to 4294967294\n", true },
	{ "bftmutex-client { cluster = 1 client = 7 }",
	  "f:1: keys for 0 servers: must be 1 to 31\n", true },
	{ "bftmutex-client { cluster = 1 client = 7 server " HEX64 " { " KEY " } }",
	  "f:1: a server's number must be 1 to 65535\n", true },
	{ "bftmutex-client { cluster = 1 client = 7 server 1 { " KEY " } server 1 { " KEY " } }",
	  "f:1: server '(not shown)' is there twice\n", true },
	{ "bftmutex-client { cluster = 1 client = 7 server 1 { " KEY " } server 01 { " KEY " } }",
	  "f:1: server 1 is there twice\n", true },
	{ "bftmutex-client { cluster = 1 client = 7 server 1 { } }",
	  "f:1: key 'key' is missing\n", true },
};

static int load(const char *text, int mode, bool client, struct bftm_credentials *cred,
		struct bftm_master *master)
{
	const char *path = unit_given(text, mode);

	return unit_read(client ? bftm_credentials_load(path, cred) :
				  bftm_master_load(path, master));
}

static void every_mistake_is_named_and_no_key_is(void **state)
{
	struct bftm_credentials cred, cred_before;
	struct bftm_master master, master_before;
	size_t i;

	(void)state;
	memset(&cred, 0x55, sizeof(cred));
	memset(&master, 0x55, sizeof(master));
	cred_before = cred;
	master_before = master;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (load(bad[i].text, 0600, bad[i].client, &cred, &master) != -EINVAL)
			fail_msg("taken for good: %s", bad[i].text);
		if (strstr(unit_words, "01020304"))
			fail_msg("a key is shown: %s", unit_words);
		unit_says(bad[i].text, bad[i].words);
		assert_memory_equal(&cred, &cred_before, sizeof(cred));
		assert_memory_equal(&master, &master_before, sizeof(master));
	}
}

static void keys_that_others_can_read_are_refused(void **state)
{
	static const int modes[] = { 0640, 0604, 0620, 0602, 0610, 0601, 0644, 0660, 0666, 0777 };
	static const char good[] = MASTER("cluster = 1 server = 1 " KEY);
	struct bftm_master master;
	char words[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(load(good, modes[i], false, NULL, &master), -EPERM);
		snprintf(words, sizeof(words),
			 "f: mode %04o lets others use the key; if the file is a key, correct it by: chmod 600 f\n",
			 (unsigned int)modes[i]);
		assert_string_equal(unit_words, words);
	}
	assert_int_equal(load(good, 0600, false, NULL, &master), 0);
	assert_int_equal(load(good, 0400, false, NULL, &master), 0);

	unit_listen();
	assert_int_equal(bftm_master_load(unit_path("none"), &master), -ENOENT);
	assert_string_equal(unit_heard(), "none: No such file or directory\n");
}

static void keys_of_another_user_are_refused(void **state)
{
	static const char good[] = MASTER("cluster = 1 server = 1 " KEY);
	struct bftm_master master;
	const char *path;

	(void)state;
	if (geteuid())
		skip();
	path = unit_given(good, 0600);
	assert_int_equal(chown(path, 1000, 0), 0);
	assert_int_equal(unit_read(bftm_master_load(path, &master)), -EPERM);
	assert_string_equal(unit_words, "f: the file belongs to user 1000, who could use the key; if it is a key, "
			    "correct it by: chown root f\n");
}

/* The words are those of a daemon that runs as root and may open files of root alone. */
static void files_of_another_user_are_said_to_be(void **state)
{
	char why[BFTM_REASON_MAX], want[BFTM_REASON_MAX];
	const char *path;

	(void)state;
	if (geteuid())
		skip();
	path = unit_write("f", "", 0, 0600);
	assert_int_equal(chown(path, 1000, 0), 0);
	snprintf(want, sizeof(want), "Permission denied: the file belongs to user 1000, and root has no right here to files of other users; correct it by: chown root %s", path);
	assert_string_equal(bftm_file_reason(path, -EACCES, why), want);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chmod(path, 0400), 0);
	snprintf(want, sizeof(want), "Permission denied: the file has mode 0400; correct it by: chmod u+rw %s",
		 path);
	assert_string_equal(bftm_file_reason(path, EACCES, why), want);
	unlink(path);
	/* One that cannot be made. */
	assert_int_equal(chown(unit_dir, 1000, 0), 0);
	snprintf(want, sizeof(want), "Permission denied: the folder belongs to user 1000, and root has no right here to files of other users; correct it by: chown root %s", unit_dir);
	assert_string_equal(bftm_file_reason(path, -EACCES, why), want);
	assert_int_equal(chown(unit_dir, 0, 0), 0);
	assert_string_equal(bftm_file_reason(path, -EIO, why), "Input/output error");
	assert_int_equal(symlink("none", path), 0);
	assert_string_equal(bftm_file_reason(path, -ELOOP, why), "it is a symbolic link, and links are refused here; put the file itself there");
	unlink(path);
}

static void a_folder_is_no_key(void **state)
{
	struct bftm_master master;

	(void)state;
	assert_int_equal(mkdir(unit_path("f"), 0755), 0);
	unit_listen();
	assert_int_equal(bftm_master_load(unit_path("f"), &master), -EISDIR);
	assert_string_equal(unit_heard(), "f: Is a directory: the file of a key is wanted\n");
	rmdir(unit_path("f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_is_siphash),
		cmocka_unit_test(a_tag_is_siphash_of_what_stands_before_it),
		cmocka_unit_test(every_bit_of_a_datagram_is_covered),
		cmocka_unit_test(pairs_are_derived_by_blake2s),
		cmocka_unit_test(masters_survive_a_file),
		cmocka_unit_test(credentials_survive_a_file),
		cmocka_unit_test(every_mistake_is_named_and_no_key_is),
		cmocka_unit_test(keys_that_others_can_read_are_refused),
		cmocka_unit_test(keys_of_another_user_are_refused),
		cmocka_unit_test(files_of_another_user_are_said_to_be),
		cmocka_unit_test(a_folder_is_no_key),
	};

	return cmocka_run_group_tests_name("keys", tests, unit_make_dir, unit_remove_dir);
}
