/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls that the daemon may make, by name; calls that depend on their arguments are in
 * sandbox.c.
 */
#ifndef BFTM_SANDBOX_CALLS_H
#define BFTM_SANDBOX_CALLS_H

/* Calls of the daemon itself once it serves, also when it reads a new configuration. */
extern const char *const bftm_calls_of_daemon[];

/*
 * Further calls for programs that are types of objects: files, memory, processes, signals, and
 * time; as @system-service of systemd.exec(5), but without calls for administration, debugging,
 * other users, namespaces, keyrings or io_uring.
 */
extern const char *const bftm_calls_of_programs[];

#endif /* BFTM_SANDBOX_CALLS_H */
