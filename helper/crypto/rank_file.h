/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by rank_keys.c and rank_file.c, the files of rank keys. */
#ifndef BFTM_RANK_FILE_H
#define BFTM_RANK_FILE_H

#include "crypto/rank_keys.h"

/** bftm_rank_private_load() - load this client's key. 0, -EPERM, -EINVAL or -errno; reported. */
int bftm_rank_private_load(const char *path, u32 cluster, u32 client,
			   u8 ret[BFTM_RANK_KEY_LEN]);

#endif /* BFTM_RANK_FILE_H */
