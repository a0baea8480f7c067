/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls that are left to the daemon, by name; those that depend on their
 * arguments are in sandbox.c.
 */
#ifndef BFTM_SANDBOX_CALLS_H
#define BFTM_SANDBOX_CALLS_H

/* What the daemon itself makes once it serves, a new configuration included. */
extern const char *const bftm_calls_of_daemon[];

/*
 * What programs need besides that are types of objects: files, memory, processes,
 * signals, and time; as @system-service of systemd.exec(5), but nothing that is for
 * administration, debugging, other users, namespaces, keyrings or io_uring.
 */
extern const char *const bftm_calls_of_programs[];

#endif /* BFTM_SANDBOX_CALLS_H */
