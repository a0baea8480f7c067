/* SPDX-License-Identifier: GPL-2.0 */
/* Standard input, output and error, of whoever was started without some of them. */
#ifndef BFTM_DESCRIPTORS_H
#define BFTM_DESCRIPTORS_H

/**
 * bftm_standard_fds() - have descriptors 0, 1 and 2 taken, before anything is opened
 *
 * Else what is opened first, the device say, gets the number of a closed one, and whatever
 * goes to standard output or error goes there. What closed ones are taken by can be neither
 * read nor written (EBADF, as before), and is closed again in programs that are executed.
 *
 * Return: 0, or -errno.
 */
int bftm_standard_fds(void);

#endif /* BFTM_DESCRIPTORS_H */
