/* SPDX-License-Identifier: GPL-2.0 */
/* Names in tracepoints. */
#ifndef BFTM_TRACE_NAME_H
#define BFTM_TRACE_NAME_H

#include <linux/types.h>

#include "uapi/linux/bftmutex.h"

/* Any bytes as a string that filters can compare: "?" for each byte that is not printable. */
static inline void bftm_trace_name(char dst[BFTM_NAME_MAX + 1], const void *name,
				   size_t len)
{
	const u8 *from = name;
	size_t i;

	for (i = 0; i < len && i < BFTM_NAME_MAX; i++)
		dst[i] = from[i] > 0x20 && from[i] < 0x7f ? from[i] : '?';
	dst[i] = '\0';
}

#endif /* BFTM_TRACE_NAME_H */
