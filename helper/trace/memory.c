// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "trace/trace.h"

void *trace_grow(void *array, u32 count, size_t size)
{
	if (count & (count - 1) || (count && count < 16))
		return array;
	array = realloc(array, size * (count ? 2 * (size_t)count : 16));
	if (!array)
		err(EX_OSERR, "memory");
	return array;
}

void *trace_zeroed(size_t count, size_t size)
{
	void *array = calloc(count + 1, size);

	if (!array)
		err(EX_OSERR, "memory");
	return array;
}
