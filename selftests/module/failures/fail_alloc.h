/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's own allocation, beside which fail_alloc.c puts its own. */
#ifndef BFTM_FAIL_ALLOC_H
#define BFTM_FAIL_ALLOC_H

#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

#endif /* BFTM_FAIL_ALLOC_H */
