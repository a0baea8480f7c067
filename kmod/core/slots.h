/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One field of a body. All inline: where the compiler knows the slot, a load and a store are left.
 */
#ifndef BFTM_CORE_SLOTS_H
#define BFTM_CORE_SLOTS_H

#include "core/form.h"

static inline u64 bftm_get64(const void *at)
{
	__le64 x;

	memcpy(&x, at, sizeof(x));
	return le64_to_cpu(x);
}

static inline void bftm_put64(void *at, u64 value)
{
	__le64 x = cpu_to_le64(value);

	memcpy(at, &x, sizeof(x));
}

static inline u32 bftm_get32(const void *at)
{
	__le32 x;

	memcpy(&x, at, sizeof(x));
	return le32_to_cpu(x);
}

static inline void bftm_put32(void *at, u32 value)
{
	__le32 x = cpu_to_le32(value);

	memcpy(at, &x, sizeof(x));
}

static __always_inline void bftm_member_set(u8 bytes, u64 value, void *member)
{
	u32 narrow = (u32)value;

	if (bytes == sizeof(value))
		memcpy(member, &value, sizeof(value));
	else
		memcpy(member, &narrow, sizeof(narrow));
}

static __always_inline u64 bftm_member(u8 bytes, const void *member)
{
	u64 value;
	u32 narrow;

	if (bytes == sizeof(value)) {
		memcpy(&value, member, sizeof(value));
		return value;
	}
	memcpy(&narrow, member, sizeof(narrow));
	return narrow;
}

/**
 * bftm_slot_get() - read a field
 * @slot: the field
 * @at:   in the datagram
 * @msg:  the message whose member the slot names
 * Return: false if zeroes are not 0 or what must be filled is.
 */
static __always_inline bool bftm_slot_get(const struct bftm_slot *slot, const u8 *at, void *msg)
{
	u8 *member = (u8 *)msg + slot->at;
	u64 value;

	if (slot->bytes != 8 && slot->bytes != 4) {	/* single bytes, digests, longer zeroes */
		if (slot->rule == BFTM_SLOT_ZERO)
			return bftm_all_zero(at, slot->bytes);
		memcpy(member, at, slot->bytes);
		return true;
	}
	value = slot->bytes == 8 ? bftm_get64(at) : bftm_get32(at);
	if (slot->rule == BFTM_SLOT_ZERO)
		return !value;
	bftm_member_set(slot->member, value, member);
	return value || slot->rule != BFTM_SLOT_FILLED;
}

/** bftm_slot_put() - write a field */
static __always_inline void bftm_slot_put(const struct bftm_slot *slot, const void *msg, u8 *at)
{
	const u8 *member = (const u8 *)msg + slot->at;

	if (slot->rule == BFTM_SLOT_ZERO)
		memset(at, 0, slot->bytes);
	else if (slot->bytes == 8)
		bftm_put64(at, bftm_member(slot->member, member));
	else if (slot->bytes == 4)
		bftm_put32(at, (u32)bftm_member(slot->member, member));
	else
		memcpy(at, member, slot->bytes);
}

#endif /* BFTM_CORE_SLOTS_H */
