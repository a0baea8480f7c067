/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rights that the daemon gives up. The daemon talks to the network, and has keys and CAP_NET_ADMIN:
 * an attacker who takes it over by a mistake in it should find few other rights.
 */
#ifndef BFTM_SANDBOX_H
#define BFTM_SANDBOX_H

#include "config/conf.h"

/**
 * bftm_sandbox_begin() - before any key is read
 *
 * Does the same as bftm_keys_no_dump(). Keeps memory out of swap, if RLIMIT_MEMLOCK allows that. Of
 * all capabilities only CAP_NET_ADMIN is left, and none for programs started later.
 *
 * Return: 0 or -errno.
 */
int bftm_sandbox_begin(void);

/**
 * bftm_sandbox_close() - only the system calls that @how allows, and no new rights, for the process
 * and its children
 * @how: enum bftm_sandbox
 *
 * Other calls fail with ENOSYS, as in a kernel that does not have them, so the C library falls back
 * to others or reports an error; the kernel's audit log has each of them.
 *
 * Return: 0 or -errno.
 */
int bftm_sandbox_close(enum bftm_sandbox how);

#endif /* BFTM_SANDBOX_H */
