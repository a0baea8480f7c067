/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of what reads files: a folder to write to, and the words on stderr. */
#ifndef BFTM_UNIT_FILES_H
#define BFTM_UNIT_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* Its path, and the words. */
extern char unit_dir[64];
extern char unit_words[16384];

/* cmocka's setup and teardown of a group: a folder of its own. */
int unit_make_dir(void **state);

int unit_remove_dir(void **state);
const char *unit_path(const char *name);
const char *unit_write(const char *name, const char *text, size_t len, int mode);

/* From here on stderr is kept … */
void unit_listen(void);

/* … until here, and returned with the names of the folder and the program left out. */
const char *unit_heard(void);

/**
 * unit_given() - file f has this text, and what is said from here on is kept
 * unit_read() - @r; file f is gone, and what was said is in unit_words
 *
 * Around the call of what reads it: unit_read(read_it(unit_given(text, 0600)))
 */
const char *unit_given(const char *text, int mode);
int unit_read(int r);

/** unit_says() - these, and no others, were the words on @text */
void unit_says(const char *text, const char *words);

#endif /* BFTM_UNIT_FILES_H */
