/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the daemon gives up. It talks to the network, and has keys and CAP_NET_ADMIN:
 * whoever takes it over by a mistake in it should find little else.
 */
#ifndef BFTM_SANDBOX_H
#define BFTM_SANDBOX_H

#include "config/conf.h"

/**
 * bftm_sandbox_begin() - before any key is read
 *
 * As bftm_keys_no_dump(). Memory is not written to swap, where RLIMIT_MEMLOCK allows
 * that. Of all capabilities CAP_NET_ADMIN is left, and none for programs started later.
 *
 * Return: 0 or -errno.
 */
int bftm_sandbox_begin(void);

/**
 * bftm_sandbox_close() - no more system calls than @how allows, and no more rights than
 * the process has, for it and all that it starts
 *
 * Others fail with ENOSYS, as in a kernel that does not have them, for which the C
 * library has another way or an error; the kernel's audit log tells of each.
 *
 * Return: 0 or -errno.
 */
int bftm_sandbox_close(enum bftm_sandbox how);

#endif /* BFTM_SANDBOX_H */
