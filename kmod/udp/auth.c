// SPDX-License-Identifier: GPL-2.0
#include <crypto/algapi.h>
#include <crypto/blake2s.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "compat.h"
#include "udp/auth.h"

void bftm_derive(const u8 master[BFTM_KEY_LEN], u32 cluster, u16 server,
		 u32 client, struct bftm_client_keys *ret)
{
	static const char label[16] = "bftmutex client";
	struct {
		__le32 cluster;
		__le16 server;
		__le16 zero;
		__le32 client;
	} __packed who = {
		.cluster = cpu_to_le32(cluster),
		.server = cpu_to_le16(server),
		.client = cpu_to_le32(client),
	};
	__le64 raw[BLAKE2S_HASH_SIZE / 8];
	struct bftm_blake2s state;

	static_assert(sizeof(raw) == sizeof(*ret));
	blake2s_init_key(&state, sizeof(raw), master, BFTM_KEY_LEN);
	blake2s_update(&state, label, sizeof(label));
	blake2s_update(&state, (const u8 *)&who, sizeof(who));
	blake2s_final(&state, (u8 *)raw);
	ret->request[0] = le64_to_cpu(raw[0]);
	ret->request[1] = le64_to_cpu(raw[1]);
	ret->reply[0] = le64_to_cpu(raw[2]);
	ret->reply[1] = le64_to_cpu(raw[3]);
	memzero_explicit(raw, sizeof(raw));
}

/*
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein), which the
 * kernel's library has only with 64. The length is a multiple of 8 here.
 */
static void siphash128(const u64 key[2], const u8 *data, u32 words, __le64 out[2])
{
	u64 v0 = SIPHASH_CONST_0 ^ key[0], v1 = SIPHASH_CONST_1 ^ key[1] ^ 0xee;
	u64 v2 = SIPHASH_CONST_2 ^ key[0], v3 = SIPHASH_CONST_3 ^ key[1];
	const u8 *end = data + 8 * words;
	u64 m;
	int i;

	for (; data != end; data += 8) {
		m = get_unaligned_le64(data);
		v3 ^= m;
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
		v0 ^= m;
	}
	m = (u64)words * 8 << 56;
	v3 ^= m;
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	v0 ^= m;
	v2 ^= 0xee;
	for (i = 0; i < 4; i++)
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
	out[0] = cpu_to_le64(v0 ^ v1 ^ v2 ^ v3);
	v1 ^= 0xdd;
	for (i = 0; i < 4; i++)
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
	out[1] = cpu_to_le64(v0 ^ v1 ^ v2 ^ v3);
}

void bftm_sign(const u64 key[2], void *buf, size_t len)
{
	__le64 out[2];

	static_assert(sizeof(out) == BFTM_TAG_LEN);
	siphash128(key, buf, (len - BFTM_TAG_LEN) / 8, out);
	memcpy(buf + len - BFTM_TAG_LEN, out, sizeof(out));
}

bool bftm_tag_ok(const u64 key[2], const void *buf, size_t len)
{
	__le64 out[2];

	siphash128(key, buf, (len - BFTM_TAG_LEN) / 8, out);
	return !crypto_memneq(out, buf + len - BFTM_TAG_LEN, sizeof(out));
}
