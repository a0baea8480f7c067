/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the fuzz targets: a reader of the fuzzer's bytes, and must(). */
#ifndef BFTM_FUZZ_H
#define BFTM_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "core/types.h"

/* The fuzzer calls this with each input. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

/** must() - what holds whatever comes in; the fuzzer keeps what breaks it. */
#define must(condition) do { \
	if (!(condition)) { \
		dprintf(2, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
			#condition); \
		abort(); \
	} \
} while (0)

/** struct fuzz_bytes - the input, read from the front; then zeroes */
struct fuzz_bytes {
	const u8 *at;
	size_t left;
};

static inline u64 fuzz_take(struct fuzz_bytes *in, size_t bytes)
{
	u64 value = 0;

	while (bytes-- && in->left) {
		value = value << 8 | *in->at++;
		in->left--;
	}
	return value;
}

#endif /* BFTM_FUZZ_H */
