// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/quorum.h"

u64 bftm_kth_largest(const u64 *value, u32 n, u32 k)
{
	u32 i, j;

	if (!k || k > n)
		return 0;
	for (i = 0; i < n; i++) {
		u32 larger = 0, equal = 0;

		for (j = 0; j < n; j++) {
			larger += value[j] > value[i];
			equal += value[j] == value[i];
		}
		if (larger < k && k <= larger + equal)
			return value[i];
	}
	return 0;
}
