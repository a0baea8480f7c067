// SPDX-License-Identifier: GPL-2.0
/* The rest of keys in memory that was freed, and who could see them there. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "crypto/keys.h"
#include "siphash.h"

/* OpenSSL's memory, with its size in front of it, aligned as malloc's is. */
#define HEAD 16
static u64 wanted[4];
static bool looking;
static int frees, found;

static void *take(size_t size, const char *file, int line)
{
	char *block = malloc(HEAD + size);

	(void)file;
	(void)line;
	if (!block)
		return NULL;
	memcpy(block, &size, sizeof(size));
	return block + HEAD;
}

static void give(void *at, const char *file, int line)
{
	size_t size, i;
	u32 w;

	(void)file;
	(void)line;
	if (!at)
		return;
	memcpy(&size, (char *)at - HEAD, sizeof(size));
	for (i = 0; looking && i + 8 <= size; i += 8)
		for (w = 0; w < ARRAY_SIZE(wanted); w++)
			found += !memcmp((char *)at + i, &wanted[w], 8);
	frees += looking;
	free((char *)at - HEAD);
}

static void *take_more(void *at, size_t size, const char *file, int line)
{
	void *larger = take(size, file, line);
	size_t old;

	if (at && larger) {
		memcpy(&old, (char *)at - HEAD, sizeof(old));
		memcpy(larger, at, old < size ? old : size);
		give(at, file, line);
	}
	return larger;
}

static void no_key_in_what_openssl_frees(void **state)
{
	static const u8 key[16] = "a key to be lost";
	u8 message[8 + BFTM_TAG_LEN] = "message";
	struct bftm_mac *mac = bftm_mac_new(key);
	u64 word;

	(void)state;
	assert_non_null(mac);
	assert_int_equal(bftm_mac_sign_bytes(mac, message, sizeof(message)), 0);
	/* SipHash's state after one word; from it and the word the key follows. */
	memcpy(&word, message, sizeof(word));
	sip_begin(wanted, key);
	sip_word(wanted, le64_to_cpu(word));
	looking = true;
	bftm_mac_free(mac);
	looking = false;
	assert_true(frees > 0);
	assert_int_equal(found, 0);
}

/* In a process of its own: there is no way back. */
static void no_core_and_no_debugger(void **state)
{
	struct rlimit core;
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		bftm_keys_no_dump();
		getrlimit(RLIMIT_CORE, &core);
		_exit(prctl(PR_GET_DUMPABLE) || core.rlim_cur || core.rlim_max);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_in_what_openssl_frees),
		cmocka_unit_test(no_core_and_no_debugger),
	};

	/* Before it has any. */
	if (CRYPTO_set_mem_functions(take, take_more, give) != 1)
		return 1;
	return cmocka_run_group_tests_name("key memory", tests, NULL, NULL);
}
