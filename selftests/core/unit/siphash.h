/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4-128 once more, after its authors' reference, because a datagram is
 * longer than their vectors.
 */
#ifndef BFTM_UNIT_SIPHASH_H
#define BFTM_UNIT_SIPHASH_H

#include <string.h>

#include "core/types.h"

static inline u64 sip_rotl(u64 x, int by)
{
	return x << by | x >> (64 - by);
}

static inline void sip_rounds(u64 v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = sip_rotl(v[1], 13) ^ v[0];
		v[3] = sip_rotl(v[3], 16) ^ v[2];
		v[0] = sip_rotl(v[0], 32) + v[3];
		v[2] += v[1];
		v[1] = sip_rotl(v[1], 17) ^ v[2];
		v[3] = sip_rotl(v[3], 21) ^ v[0];
		v[2] = sip_rotl(v[2], 32);
	}
}

/** sip_begin() - the state before the first word */
static inline void sip_begin(u64 v[4], const u8 key[16])
{
	u64 k[2];

	memcpy(k, key, sizeof(k));
	k[0] = le64_to_cpu(k[0]);
	k[1] = le64_to_cpu(k[1]);
	v[0] = k[0] ^ 0x736f6d6570736575u;
	v[1] = k[1] ^ 0x646f72616e646f6du ^ 0xee;
	v[2] = k[0] ^ 0x6c7967656e657261u;
	v[3] = k[1] ^ 0x7465646279746573u;
}

/** sip_word() - one more word, in the order of the host's bytes */
static inline void sip_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

/** sip_hash() - the tag of @len bytes */
static inline void sip_hash(const u8 key[16], const u8 *data, size_t len, u8 ret[16])
{
	size_t left = len;
	u64 word, v[4];

	sip_begin(v, key);
	for (;;) {
		word = 0;
		memcpy(&word, data, left < 8 ? left : 8);
		word = le64_to_cpu(word) | (left < 8 ? (u64)len << 56 : 0);
		sip_word(v, word);
		if (left < 8)
			break;
		data += 8;
		left -= 8;
	}
	v[2] ^= 0xee;
	sip_rounds(v, 4);
	word = cpu_to_le64(v[0] ^ v[1] ^ v[2] ^ v[3]);
	memcpy(ret, &word, 8);
	v[1] ^= 0xdd;
	sip_rounds(v, 4);
	word = cpu_to_le64(v[0] ^ v[1] ^ v[2] ^ v[3]);
	memcpy(ret + 8, &word, 8);
}

#endif /* BFTM_UNIT_SIPHASH_H */
