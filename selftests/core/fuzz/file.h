/* SPDX-License-Identifier: GPL-2.0 */
/* The input as a file that nobody but its owner can read; and a quiet stderr. */
#ifndef BFTM_FUZZ_FILE_H
#define BFTM_FUZZ_FILE_H

#include <stddef.h>

/** fuzz_file() - path of a file with this text, until the next call */
const char *fuzz_file(const void *data, size_t len);

/** fuzz_quiet() - what is printed goes nowhere, without a system call; again is fine */
void fuzz_quiet(void);

#endif /* BFTM_FUZZ_FILE_H */
