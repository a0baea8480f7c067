/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of the kernel, as selftests/core/fuzz/kernel.c reads it: packets of one message, and
 * of two. A message is 4, an error's number (0 for an ack), 0; or 0xc0, 0, 0: a hint, which
 * nobody asked for.
 */
#ifndef BFTM_UNIT_KERNEL_H
#define BFTM_UNIT_KERNEL_H

#include <string.h>

#include "selftests/core/fuzz/kernel.h"
#include "unit.h"

#define ONE		3
#define TWO		2
/* A number of four bytes, as the kernel of this machine has it. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST32(v)	(u32)(v) >> 24, (u32)(v) >> 16 & 255, (u32)(v) >> 8 & 255, (u32)(v) & 255
#else
#define HOST32(v)	(u32)(v) & 255, (u32)(v) >> 8 & 255, (u32)(v) >> 16 & 255, (u32)(v) >> 24
#endif
#define SAYS(...)	kernel_says((const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ }))

/* Bytes that are kept, until the next. */
static inline void kernel_says(const void *bytes, size_t len)
{
	static u8 kept[20000];
	static struct fuzz_bytes in;

	assert_true(len <= sizeof(kept));
	memcpy(kept, bytes, len);
	in = (struct fuzz_bytes){ kept, len };
	fuzz_kernel_begin(&in);
}

#endif /* BFTM_UNIT_KERNEL_H */
