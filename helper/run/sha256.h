/* SPDX-License-Identifier: GPL-2.0 */
/* SHA-256 (FIPS 180-4), so that bftmutex(1) need not load a library for it. */
#ifndef BFTM_SHA256_H
#define BFTM_SHA256_H

#include <stddef.h>

#define BFTM_SHA256_HEX 64	/* digits */

/** bftm_sha256_hex() - digest of @len bytes as lower-case hexadecimal digits and a zero byte */
void bftm_sha256_hex(const void *data, size_t len, char ret[BFTM_SHA256_HEX + 1]);

#endif /* BFTM_SHA256_H */
