/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files in libconfuse's syntax, read so that every value remembers its line
 * and a mistake does not hide those after it. Used by conf.c and crypto/keys.c.
 */
#ifndef BFTM_SYNTAX_H
#define BFTM_SYNTAX_H

#include <confuse.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/types.h"

/** struct bftm_value - one "key = value" of a file */
struct bftm_value {
	struct bftm_value *next;
	const cfg_opt_t *key;
	unsigned int line;
	char text[];
};

/**
 * struct bftm_syntax - a file, its values and its mistakes
 * @path:     for messages
 * @secret:   never print a word of the file: it may be part of a key
 * @whole:    what is said of a section "cluster", which a file of this kind has not; or NULL
 * @root:     its sections
 * @value:    all values of the file
 * @mistakes: number of reported mistakes
 * @partial:  parts that could not be read are left out, so a missing key may be in them
 * @unknown_line: line of the first unknown key of this reading; 0 for none
 * @failed_line: line at which this reading ended early; 0: it did not
 * @said_line: mistakes up to here were reported by an earlier reading
 */
struct bftm_syntax {
	const char *path;
	bool secret;
	const char *whole;
	cfg_t *root;
	struct bftm_value *value;
	unsigned int mistakes;
	bool partial;
	unsigned int unknown_line;
	unsigned int failed_line;
	unsigned int said_line;
};

/* A key in the tables of sections and keys that libconfuse takes. */
#define BFTM_KEY(name) CFG_PTR_CB(name, NULL, CFGF_NODEFAULT, bftm_syntax_value, NULL)

/** bftm_syntax_value() - libconfuse's callback for BFTM_KEY(). */
int bftm_syntax_value(cfg_t *section, cfg_opt_t *key, const char *text, void *ret);

/**
 * bftm_syntax_read() - read a file
 * @syntax: path and secret are set, the rest is zero; to be freed in any case
 * @file:   open for reading; stays open
 * @table:  its sections and keys
 *
 * A line with a mistake in its syntax, or the section that begins there, is left out, and the
 * rest is read; not of a secret file.
 *
 * Return: 0 when the sections can be used (check @syntax->mistakes as well), -EINVAL when the file
 * cannot be read at all, or another -errno.
 */
int bftm_syntax_read(struct bftm_syntax *syntax, FILE *file, cfg_opt_t *table);
void bftm_syntax_free(struct bftm_syntax *syntax);

/** bftm_mistake() - report "PATH:LINE: …" by bftm_log() and count it. */
__attribute__((format(printf, 3, 4)))
void bftm_mistake(struct bftm_syntax *syntax, unsigned int line, const char *format, ...);

/** bftm_value() - the value of a key in a section, NULL for none. */
const struct bftm_value *bftm_value(cfg_t *section, const char *key);

/**
 * bftm_value_range() - read a number or a duration
 * @syntax:   a value outside the range is reported and counted here
 * @value:    the value in the file
 * @duration: the value is a duration, not a number
 * @min:      allowed, in ns for a duration
 * @max:      allowed, in ns for a duration
 * @ret:      untouched when the result is false
 */
bool bftm_value_range(struct bftm_syntax *syntax, const struct bftm_value *value, bool duration,
		      u64 min, u64 max, u64 *ret);

/**
 * bftm_value_device() - read the name of a network device
 * @syntax: a name that no device can have is reported and counted here
 * @value:  the value in the file, NULL for none: then *@ret stays
 * @ret:    the name
 * Return: whether it can be used. The device need not exist.
 */
bool bftm_value_device(struct bftm_syntax *syntax, const struct bftm_value *value, char ret[16]);

/** bftm_value_word() - the place of a value in a list of one or two words. */
bool bftm_value_word(struct bftm_syntax *syntax, const struct bftm_value *value,
		     const char *const *word, u64 *ret);

#endif /* BFTM_SYNTAX_H */
