/* SPDX-License-Identifier: GPL-2.0 */
/* Standard input, output and error of a process that was started without some of them. */
#ifndef BFTM_DESCRIPTORS_H
#define BFTM_DESCRIPTORS_H

/**
 * bftm_standard_fds() - take those of the descriptors 0, 1 and 2 that are closed, before any open()
 *
 * Otherwise the first file that is opened, such as the device, gets the number of a closed one, and
 * output for standard output or error goes there. The descriptors that fill the gaps can be neither
 * read nor written (EBADF, as before), and are closed in programs that are executed.
 *
 * Return: 0, or -errno.
 */
int bftm_standard_fds(void);

/**
 * bftm_output_watch() - an end by exit() is checked from here on
 *
 * argp prints a help or a version and ends the program with success. When that text could not be
 * written, the program says so, and its exit status is EX_IOERR.
 */
void bftm_output_watch(void);

/** bftm_output_trust() - no end is checked any more: the program does that by itself */
void bftm_output_trust(void);

#endif /* BFTM_DESCRIPTORS_H */
