// SPDX-License-Identifier: GPL-2.0
#include "types/pairs.h"

int bftm_map_compare(const struct bftm_list_entry *key, const u8 *other, u32 len)
{
	u32 common = key->len < len ? key->len : len;
	int r = common ? memcmp(key->data, other, common) : 0;

	return r ?: (key->len > len) - (key->len < len);
}

bool bftm_map_pair(const u8 *state, u32 len, u32 at, struct bftm_list_entry *key,
		   struct bftm_list_entry *value)
{
	return bftm_entry_get(state, len, at, key) &&
	       bftm_entry_get(state, len, at + key->size, value);
}

void bftm_map_find(const u8 *state, u32 state_len, const u8 *name, u32 len,
		   struct bftm_map_place *ret)
{
	struct bftm_list_entry key, value;
	int order;

	*ret = (struct bftm_map_place){};
	while (bftm_map_pair(state, state_len, ret->at, &key, &value)) {
		order = bftm_map_compare(&key, name, len);
		if (order > 0)
			return;
		if (!order) {
			ret->value = value;
			ret->size = key.size + value.size;
			return;
		}
		ret->at = value.at + value.size;
	}
}

bool bftm_map_is_key(const u8 *name, u32 len)
{
	return len && len <= BFTM_MAP_KEY_MAX && !memchr(name, '\n', len);
}

static u8 *write_entry(u8 *to, const u8 *data, u32 len)
{
	__le32 le_len = cpu_to_le32(len);

	memcpy(to, &le_len, sizeof(le_len));
	if (len)
		memcpy(to + sizeof(le_len), data, len);
	return to + sizeof(le_len) + len;
}

u32 bftm_map_write(u8 *to, const u8 *key, u32 key_len, const u8 *value, u32 len)
{
	if (to)
		write_entry(write_entry(to, key, key_len), value, len);
	return 2 * sizeof(__le32) + key_len + len;
}
