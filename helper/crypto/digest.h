/* SPDX-License-Identifier: GPL-2.0 */
/* Digests of bodies, and signatures of ranks, by OpenSSL. */
#ifndef BFTM_DIGEST_H
#define BFTM_DIGEST_H

#include "core/ordering/order.h"

/** bftm_digest() - BLAKE2s-256 of @len bytes. 0 or -EIO. */
int bftm_digest(const void *data, u32 len, u8 ret[BFTM_DIGEST_LEN]);

/** bftm_body_describe() - the id of a body; @version is 0 for an operation. 0 or -EIO. */
int bftm_body_describe(u64 version, const void *data, u32 len, struct bftm_body_id *ret);

#endif /* BFTM_DIGEST_H */
