/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's requests. The notification is only a hint: requests are pulled
 * until there are none, at each hint and once a second besides.
 */
#ifndef BFTM_UPCALL_H
#define BFTM_UPCALL_H

#include "../kmod/core/types.h"

/**
 * bftm_upcall_open() - become the helper of this network namespace
 * Return: 0; -ENOENT: module not loaded; -EBUSY: there is a helper; -EPERM.
 */
int bftm_upcall_open(void);

/** bftm_upcall_close() - the kernel keeps what waits for the next helper. */
void bftm_upcall_close(void);

/** bftm_upcall_won() - 0, or a -errno after which the lock must be released. */
int bftm_upcall_won(u64 id, u64 attempt, u64 deadline_ns, u32 attempts);

/** bftm_upcall_failed() - @error: positive errno */
void bftm_upcall_failed(u64 id, int error, u32 attempts);

#endif /* BFTM_UPCALL_H */
