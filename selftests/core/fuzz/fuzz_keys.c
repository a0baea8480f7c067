// SPDX-License-Identifier: GPL-2.0
/* The parsers of key files: any text is read or refused, and what is saved reads the same. */
#include <errno.h>
#include <unistd.h>

#include "crypto/rank_file.h"
#include "file.h"
#include "fuzz.h"

static void check_master(const char *path)
{
	struct bftm_master master, untouched;

	memset(&master, 0xa5, sizeof(master));
	untouched = master;
	if (bftm_master_load(path, &master)) {
		must(!memcmp(&master, &untouched, sizeof(master)));
		return;
	}
	must(master.server && master.cluster);
}

static void check_credentials(const char *path)
{
	struct bftm_credentials cred;
	u32 i, j;

	if (bftm_credentials_load(path, &cred))
		return;
	must(cred.count <= BFTM_SERVERS_MAX && cred.client && cred.cluster);
	for (i = 0; i < cred.count; i++)
		for (j = 0; j < i; j++)
			must(cred.key[i].server != cred.key[j].server);
}

static void check_ranks(const char *path)
{
	struct bftm_rank_client *client = NULL;
	u8 key[BFTM_RANK_KEY_LEN];
	u32 count = 0, i;

	bftm_rank_private_load(path, 1, 1, key);
	if (bftm_rank_public_load(path, 1, &client, &count)) {
		must(!client && !count);
		return;
	}
	for (i = 0; i < count; i++) {
		must(client[i].client && client[i].client <= BFTM_CLIENT_ID_MAX);
		must(!i || client[i - 1].client <= client[i].client);
	}
	free(client);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const char *path = fuzz_file(data, len);

	fuzz_quiet();
	check_master(path);
	check_credentials(path);
	check_ranks(path);
	return 0;
}
