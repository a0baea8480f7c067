// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <string.h>

#include "text/distance.h"

size_t bftm_edit_distance(const char *a, const char *b)
{
	size_t row[BFTM_DISTANCE_WORD_MAX + 1], len = strlen(b), i, j, above, corner;

	if (len > BFTM_DISTANCE_WORD_MAX)
		return SIZE_MAX;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		corner = row[0];
		row[0] = i + 1;
		for (j = 0; j < len; j++) {
			above = row[j + 1];
			corner += a[i] != b[j];
			if (corner > above + 1)
				corner = above + 1;
			if (corner > row[j] + 1)
				corner = row[j] + 1;
			row[j + 1] = corner;
			corner = above;
		}
	}
	return row[len];
}
