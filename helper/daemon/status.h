/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions of bftmutexctl to the daemon: a line such as "servers" on a socket of this network
 * namespace is answered by one value of JSON: at once, or for "list" and "who" when servers have answered.
 */
#ifndef BFTM_STATUS_H
#define BFTM_STATUS_H

/** bftm_status_open() - 0 or -errno, logged */
int bftm_status_open(void);
void bftm_status_close(void);

#endif /* BFTM_STATUS_H */
