/* SPDX-License-Identifier: GPL-2.0 */
/* An acquire that has failed, for the user: in words, and as an exit status. */
#ifndef BFTM_REFUSED_H
#define BFTM_REFUSED_H

#include "run/options.h"

/**
 * bftm_refused() - print why there is no lock
 * @o:   the command line
 * @fd:  handle that does not hold the lock
 * @err: negative errno of bftmutex_acquire()
 * Return: the exit status.
 */
int bftm_refused(const struct options *o, int fd, int err);

#endif /* BFTM_REFUSED_H */
