/* SPDX-License-Identifier: GPL-2.0 */
/* Why a file cannot be opened. */
#ifndef BFTM_REASON_H
#define BFTM_REASON_H

/* Room for a reason, with a path. */
#define BFTM_REASON_MAX 4608

/**
 * bftm_file_reason() - words on a file that cannot be opened, for behind its path and a colon
 * @path:  of the file
 * @error: why open() failed, below or above 0
 * @ret:   the words: beside those of the error, whose file or folder it is that root may not open
 *
 * A daemon that runs as root and has given up its capabilities may open files of root alone.
 * Return: @ret.
 */
const char *bftm_file_reason(const char *path, int error, char ret[BFTM_REASON_MAX]);

#endif /* BFTM_REASON_H */
