/* SPDX-License-Identifier: GPL-2.0 */
/* The chains of a table that is made for so many at most. */
#ifndef BFTM_BUCKETS_H
#define BFTM_BUCKETS_H

#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#define BFTM_BUCKET_BITS_MAX 16

/**
 * bftm_buckets_new() - as many as @max, or 65,536
 * @max:      entries that the table may have
 * @ret_bits: log2 of how many, for hash_32()
 * Context: process. Return: for kvfree(); NULL when memory is short.
 */
static inline struct hlist_head *bftm_buckets_new(u32 max, u32 *ret_bits)
{
	*ret_bits = clamp_t(u32, order_base_2(max), 1, BFTM_BUCKET_BITS_MAX);
	return kvcalloc(1u << *ret_bits, sizeof(struct hlist_head), GFP_KERNEL);
}

#endif /* BFTM_BUCKETS_H */
