// SPDX-License-Identifier: GPL-2.0
/* SipHash-2-4-128 tags and the derivation of their keys, by OpenSSL. */
#include <errno.h>
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "crypto/keys.h"

#define LABEL "bftmutex client"	/* with its final zero byte */

struct bftm_mac {
	EVP_MAC_CTX *ctx;
	u8 key[16];
};

/* Input of the derivation of a pair of keys; see struct bftm_pair. */
struct derivation {
	char label[sizeof(LABEL)];
	__le32 cluster;
	__le16 server;
	__le16 zero;
	__le32 client;
} __attribute__((packed));

static EVP_MAC_CTX *new_context(EVP_MAC *mac, size_t size)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC_CTX *ctx;

	ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
	if (ctx && EVP_MAC_CTX_set_params(ctx, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

/* The key is set again for every message: otherwise OpenSSL 3.0's SipHash does not start over. */
static bool compute(EVP_MAC_CTX *ctx, const u8 *key, size_t key_len, const void *data,
		    size_t len, u8 *ret, size_t ret_len)
{
	size_t got;

	return EVP_MAC_init(ctx, key, key_len, NULL) == 1 &&
	       EVP_MAC_update(ctx, data, len) == 1 &&
	       EVP_MAC_final(ctx, ret, &got, ret_len) == 1 && got == ret_len;
}

int bftm_derive(const struct bftm_master *master, u32 client, struct bftm_pair *ret)
{
	const struct derivation input = {
		.label = LABEL,
		.cluster = cpu_to_le32(master->cluster),
		.server = cpu_to_le16(master->server),
		.client = cpu_to_le32(client),
	};
	struct bftm_pair pair;
	EVP_MAC_CTX *ctx;
	EVP_MAC *mac;
	int r = -EIO;

	mac = EVP_MAC_fetch(NULL, "BLAKE2SMAC", NULL);
	ctx = new_context(mac, sizeof(pair));
	if (ctx && compute(ctx, master->key, sizeof(master->key), &input, sizeof(input),
			   (u8 *)&pair, sizeof(pair))) {
		*ret = pair;
		r = 0;
	}
	OPENSSL_cleanse(&pair, sizeof(pair));
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(mac);
	return r;
}

struct bftm_mac *bftm_mac_new(const u8 key[16])
{
	static EVP_MAC *siphash;	/* looked up once; lives as long as we do */
	struct bftm_mac *mac;

	if (!siphash)
		siphash = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
	mac = calloc(1, sizeof(*mac));
	if (!mac)
		return NULL;
	mac->ctx = new_context(siphash, BFTM_TAG_LEN);
	if (!mac->ctx) {
		free(mac);
		return NULL;
	}
	memcpy(mac->key, key, sizeof(mac->key));
	return mac;
}

void bftm_mac_free(struct bftm_mac *mac)
{
	if (!mac)
		return;
	/*
	 * OpenSSL frees its state, which follows from the key, without wiping it; so compute with
	 * another key first.
	 */
	OPENSSL_cleanse(mac->key, sizeof(mac->key));
	EVP_MAC_init(mac->ctx, mac->key, sizeof(mac->key), NULL);
	EVP_MAC_CTX_free(mac->ctx);
	free(mac);
}

int bftm_mac_sign_bytes(struct bftm_mac *mac, void *buf, size_t len)
{
	return compute(mac->ctx, mac->key, sizeof(mac->key), buf, len - BFTM_TAG_LEN,
		       (u8 *)buf + len - BFTM_TAG_LEN, BFTM_TAG_LEN) ? 0 : -EIO;
}

bool bftm_mac_verify_bytes(struct bftm_mac *mac, const void *buf, size_t len)
{
	u8 tag[BFTM_TAG_LEN];

	return compute(mac->ctx, mac->key, sizeof(mac->key), buf, len - BFTM_TAG_LEN, tag,
		       sizeof(tag)) &&
	       !CRYPTO_memcmp(tag, (const u8 *)buf + len - BFTM_TAG_LEN, sizeof(tag));
}

int bftm_mac_sign(struct bftm_mac *mac, struct bftm_wire *wire)
{
	return bftm_mac_sign_bytes(mac, wire->data, wire->len);
}

bool bftm_mac_verify(struct bftm_mac *mac, const struct bftm_wire *wire)
{
	return bftm_mac_verify_bytes(mac, wire->data, wire->len);
}
