/* SPDX-License-Identifier: GPL-2.0 */
/* The part of linux/types.h that kmod/core uses, for Frama-C, which has none. */
#ifndef PROOF_LINUX_TYPES_H
#define PROOF_LINUX_TYPES_H

#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef uint16_t __le16;
typedef uint32_t __le32;
typedef uint64_t __le64;

#define __always_inline inline

#endif
