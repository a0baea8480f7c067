/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The few names that the protocol cores need from their surroundings: fixed
 * width integers, byte order, memory functions. In the kernel they are the
 * kernel's own, elsewhere the C library's. Nothing else may be included by
 * the files of this folder.
 */
#ifndef BFTM_CORE_TYPES_H
#define BFTM_CORE_TYPES_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

/*
 * A processor that reads the word by bftm_published(), without a lock, also sees all that was
 * written before bftm_publish() wrote the word: this store pairs with that load.
 */
#define bftm_publish(word, value)	smp_store_release(&(word), value) /* see above */
#define bftm_published(word)		smp_load_acquire(&(word))

#else

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#ifndef __packed
#define __packed __attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(x) __attribute__((aligned(x)))
#endif
/* Marks a local that is written before it is read: a kernel that clears locals leaves it alone. */
#ifndef __uninitialized
#define __uninitialized
#endif

#define cpu_to_le16(x) ((__le16)htole16(x))
#define cpu_to_le32(x) ((__le32)htole32(x))
#define cpu_to_le64(x) ((__le64)htole64(x))
#define le16_to_cpu(x) le16toh((u16)(x))
#define le32_to_cpu(x) le32toh((u32)(x))
#define le64_to_cpu(x) le64toh((u64)(x))

/* Programs use these words in one thread. */
#define bftm_publish(word, value)	((word) = (value))
#define bftm_published(word)		(word)

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	/* NOLINTNEXTLINE: no caller divides by 0, as in the kernel */
	*remainder = dividend % divisor;
	return dividend / divisor;
}

#endif /* __KERNEL__ */

#endif /* BFTM_CORE_TYPES_H */
