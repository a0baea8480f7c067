/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutex --fd N: the lock of a descriptor that this process has inherited. */
#ifndef BFTM_DESCRIPTOR_H
#define BFTM_DESCRIPTOR_H

#include <stdbool.h>

struct bftmutex_grant;
struct options;

/** bftm_fd_check() - ends the process with a message unless @fd is of the device, and blocks. */
void bftm_fd_check(int fd);

/* Each prints messages, and returns an exit status. */
/** bftm_fd_unlock() - give it back. */
int bftm_fd_unlock(const struct options *o);
/** bftm_fd_held() - is it held now? */
int bftm_fd_held(const struct options *o);
/** bftm_fd_convert() - to the mode of the command line. */
int bftm_fd_convert(const struct options *o);
/** bftm_fd_value() - print its value. */
int bftm_fd_value(const struct options *o);
/** bftm_fd_set_value() - leave the value of the command line to the next holders. */
int bftm_fd_set_value(const struct options *o);

/** bftm_grant_lasts() - without a lease: there is no deadline to tell */
bool bftm_grant_lasts(const struct bftmutex_grant *grant);

/**
 * bftm_print_grant() - NAME=VALUE lines for "eval": token, mode, deadline, as far as
 * there are; the value with --value
 * @o:     the command line
 * @fd:    handle that holds the lock
 * @grant: what was granted
 * Return: 0; or a negative errno of the value, after which nothing is printed.
 */
int bftm_print_grant(const struct options *o, int fd, const struct bftmutex_grant *grant);

#endif /* BFTM_DESCRIPTOR_H */
