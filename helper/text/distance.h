/* SPDX-License-Identifier: GPL-2.0 */
/* How much a word looks like another. */
#ifndef BFTM_DISTANCE_H
#define BFTM_DISTANCE_H

#include <stddef.h>

#define BFTM_DISTANCE_WORD_MAX	64	/* letters of a word */

/**
 * bftm_edit_distance() - Levenshtein's distance: letters to insert, delete or replace
 * @a: a word
 * @b: another one
 * Return: SIZE_MAX if @b is longer than BFTM_DISTANCE_WORD_MAX.
 */
size_t bftm_edit_distance(const char *a, const char *b);

#endif /* BFTM_DISTANCE_H */
