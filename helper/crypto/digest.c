// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include <openssl/evp.h>

#include "crypto/digest.h"

int bftm_digest(const void *data, u32 len, u8 ret[BFTM_DIGEST_LEN])
{
	static EVP_MD *blake2s;		/* looked up once; lives as long as we do */

	if (!blake2s)
		blake2s = EVP_MD_fetch(NULL, "BLAKE2S-256", NULL);
	if (!blake2s || EVP_Digest(data, len, ret, NULL, blake2s, NULL) != 1)
		return -EIO;
	return 0;
}

int bftm_body_describe(u64 version, const void *data, u32 len, struct bftm_body_id *ret)
{
	ret->version = version;
	ret->len = len;
	return bftm_digest(data, len, ret->digest);
}
