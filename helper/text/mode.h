/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the modes of a lock. */
#ifndef BFTM_MODE_H
#define BFTM_MODE_H

#include <stdint.h>

/** bftm_mode_name() - of an enum bftm_lock_mode: "EX", "PR"; "unknown" of any other number */
const char *bftm_mode_name(uint32_t mode);

/**
 * bftm_mode_parse() - a mode in which a lock can be asked for, which NL is not
 * @text: its name, in upper or lower case
 * @ret:  enum bftm_lock_mode, untouched on failure
 * Return: 0 or -EINVAL.
 */
int bftm_mode_parse(const char *text, uint32_t *ret);

#endif /* BFTM_MODE_H */
