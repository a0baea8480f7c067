// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl keygen: the keys that clients sign ranks with. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "ctl/ctl.h"
#include "crypto/rank_keys.h"

/* Most clients whose public keys fit into a file that can be read. */
#define RANKS_MAX 8192u

/** struct ranks - public keys of all clients, ascending only once they are saved */
struct ranks {
	struct bftm_rank_client *client;
	u32 count;
};

/* Reads the keys of clients that were made before. */
static int keygen_load(const char *path, u32 cluster, struct ranks *ranks)
{
	struct stat st;

	if (stat(path, &st) < 0 && errno == ENOENT)
		return 0;
	return bftm_rank_public_load(path, cluster, &ranks->client, &ranks->count) < 0 ?
	       EX_DATAERR : 0;
}

static int make_one(const char *dir, u32 cluster, u32 client, struct ranks *ranks,
		    struct json_object *made)
{
	struct bftm_rank_client *entry = &ranks->client[ranks->count];
	u8 key[BFTM_RANK_KEY_LEN];
	char path[PATH_MAX];
	u32 i;
	int r;

	snprintf(path, sizeof(path), "%s/client-%u.rank", dir, client);
	r = bftm_rank_create(key, entry->key);
	if (r == 0)
		r = bftm_rank_private_save(path, cluster, client, key);
	OPENSSL_cleanse(key, sizeof(key));
	if (r == -EIO)
		return ctl_fail(EX_SOFTWARE, "%s: OpenSSL cannot make keys (Ed25519)", path);
	if (r < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(-r));
	ctl_note_made(made, path, "rank", client);
	entry->client = client;
	for (i = 0; i < ranks->count; i++)
		if (ranks->client[i].client == client)
			return ctl_fail(EX_DATAERR, "%s/ranks: has a key of client %u already", dir,
					client);
	ranks->count++;
	return 0;
}

/* The old file is kept under this suffix until the change is final. */
#define OLD	".undo"
#define OLD_MAX	(PATH_MAX + sizeof(OLD))

static void old_path(const char *path, char ret[OLD_MAX])
{
	snprintf(ret, OLD_MAX, "%s" OLD, path);
}

/* Other clients' keys were in the file before. */
static bool had_others;

void ctl_ranks_undo(const char *path)
{
	char old[OLD_MAX];

	old_path(path, old);
	/* On a file system without links there is no old file: then one key too many stays. */
	if (had_others)
		rename(old, path);
	else
		unlink(path);
}

void ctl_ranks_done(const char *dir)
{
	char path[PATH_MAX], old[OLD_MAX];

	snprintf(path, sizeof(path), "%s/ranks", dir);
	old_path(path, old);
	unlink(old);
}

int ctl_make_ranks(const char *dir, u32 cluster, const struct ctl_range *range, u32 count,
		   struct json_object *made)
{
	struct ranks ranks = {};
	struct bftm_rank_client *more;
	u64 client, total = 0;
	char path[PATH_MAX], old[OLD_MAX];
	u32 i;
	int r;

	ctl_ranks_done(dir);
	snprintf(path, sizeof(path), "%s/ranks", dir);
	old_path(path, old);
	r = keygen_load(path, cluster, &ranks);
	if (r)
		return r;
	for (i = 0; i < count; i++)
		total += range[i].last - range[i].first + 1;
	if (total + ranks.count > RANKS_MAX) {
		ctl_fail(0, "no keys for signed ranks were made: these are for %u clients at most", RANKS_MAX);
		free(ranks.client);
		return 0;
	}
	more = reallocarray(ranks.client, total + ranks.count + 1, sizeof(*more));
	if (!more) {
		free(ranks.client);
		return ctl_fail(EX_OSERR, "no memory");
	}
	ranks.client = more;
	for (i = 0; i < count && !r; i++)
		for (client = range[i].first; client <= range[i].last && !r; client++)
			r = make_one(dir, cluster, (u32)client, &ranks, made);
	if (!r && total) {
		had_others = ranks.count > total;
		if (had_others && link(path, old) < 0)
			unlink(old);
		r = bftm_rank_public_save(path, cluster, ranks.client, ranks.count);
		r = r < 0 ? ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(-r)) : 0;
		/* This comes last: an earlier failure leaves the old file as it was. */
		if (!r)
			ctl_note_made(made, path, "ranks", 0);
	}
	free(ranks.client);
	return r;
}
