// SPDX-License-Identifier: GPL-2.0
/* Ed25519 signatures of ranks, by OpenSSL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "crypto/rank_keys.h"
#include "crypto/rank_file.h"

#define LABEL "bftmutex rank"	/* with its final zero byte */

struct bftm_rank_keys {
	u32 cluster;
	EVP_PKEY *own;
	struct bftm_rank_client *client;	/* ascending */
	u32 count;
};

/* The signed text; see bftm_rank_keys_sign(). Fields of fixed length at both ends. */
struct text {
	u8 bytes[sizeof(LABEL) + 4 + 1 + BFTM_NAME_LEN_MAX + 16];
	size_t len;
};

static void rank_add(struct text *t, const void *data, size_t len)
{
	memcpy(t->bytes + t->len, data, len);
	t->len += len;
}

static void make_text(u32 cluster, const u8 *name, u8 len, const struct bftm_rank *rank,
		      struct text *t)
{
	__le32 number = cpu_to_le32(cluster), client = cpu_to_le32(rank->client);
	__le32 incarnation = cpu_to_le32(rank->incarnation);
	__le64 count = cpu_to_le64(rank->count);

	t->len = 0;
	rank_add(t, LABEL, sizeof(LABEL));
	rank_add(t, &number, sizeof(number));
	rank_add(t, &len, sizeof(len));
	rank_add(t, name, len);
	rank_add(t, &count, sizeof(count));
	rank_add(t, &client, sizeof(client));
	rank_add(t, &incarnation, sizeof(incarnation));
}

int bftm_rank_create(u8 private_key[BFTM_RANK_KEY_LEN], u8 public_key[BFTM_RANK_KEY_LEN])
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	size_t private_len = BFTM_RANK_KEY_LEN, public_len = BFTM_RANK_KEY_LEN;
	bool good;

	good = key && EVP_PKEY_get_raw_private_key(key, private_key, &private_len) == 1 &&
	       EVP_PKEY_get_raw_public_key(key, public_key, &public_len) == 1;
	EVP_PKEY_free(key);
	return good ? 0 : -EIO;
}

int bftm_rank_keys_load(const char *credentials, u32 cluster, u32 client,
			struct bftm_rank_keys **ret)
{
	struct bftm_rank_keys *keys = calloc(1, sizeof(*keys));
	u8 own[BFTM_RANK_KEY_LEN];
	char path[PATH_MAX];
	int r;

	if (!keys)
		return -ENOMEM;
	keys->cluster = cluster;
	r = bftm_rank_private_load(bftm_rank_private_path(credentials, path), cluster, client,
				   own);
	if (r == 0)
		r = bftm_rank_public_load(bftm_rank_public_path(credentials, path), cluster,
					  &keys->client, &keys->count);
	if (r == 0) {
		keys->own = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, own,
							 sizeof(own));
		r = keys->own ? 0 : -EIO;
	}
	OPENSSL_cleanse(own, sizeof(own));
	if (r < 0) {
		bftm_rank_keys_free(keys);
		return r;
	}
	*ret = keys;
	return 0;
}

void bftm_rank_keys_free(struct bftm_rank_keys *keys)
{
	if (!keys)
		return;
	EVP_PKEY_free(keys->own);
	free(keys->client);
	free(keys);
}

int bftm_rank_keys_sign(struct bftm_rank_keys *keys, const u8 *name, u8 len,
			const struct bftm_rank *rank, u8 ret[BFTM_SIGNATURE_LEN])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t got = BFTM_SIGNATURE_LEN;
	struct text t;
	bool good;

	make_text(keys->cluster, name, len, rank, &t);
	good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, keys->own) == 1 &&
	       EVP_DigestSign(ctx, ret, &got, t.bytes, t.len) == 1 &&
	       got == BFTM_SIGNATURE_LEN;
	EVP_MD_CTX_free(ctx);
	return good ? 0 : -EIO;
}

static const struct bftm_rank_client *rank_find(const struct bftm_rank_keys *keys, u32 client)
{
	u32 low = 0, high = keys->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (keys->client[middle].client < client)
			low = middle + 1;
		else
			high = middle;
	}
	return low < keys->count && keys->client[low].client == client ? &keys->client[low] : NULL;
}

bool bftm_rank_keys_know(const struct bftm_rank_keys *keys, u32 client)
{
	return rank_find(keys, client);
}

bool bftm_rank_keys_verify(struct bftm_rank_keys *keys, const u8 *name, u8 len,
			   const struct bftm_rank *rank,
			   const u8 signature[BFTM_SIGNATURE_LEN])
{
	const struct bftm_rank_client *client = rank_find(keys, rank->client);
	EVP_MD_CTX *ctx;
	EVP_PKEY *key;
	struct text t;
	bool good;

	if (!client)
		return false;
	ctx = EVP_MD_CTX_new();
	key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, client->key,
					  sizeof(client->key));
	make_text(keys->cluster, name, len, rank, &t);
	good = ctx && key && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
	       EVP_DigestVerify(ctx, signature, BFTM_SIGNATURE_LEN, t.bytes, t.len) == 1;
	EVP_PKEY_free(key);
	EVP_MD_CTX_free(ctx);
	return good;
}
