/* SPDX-License-Identifier: GPL-2.0 */
/* The environment tells a command about the locks that it has. */
#ifndef BFTM_GRANTS_H
#define BFTM_GRANTS_H

#include "run/several.h"

/* Bytes of bftm_format_tokens() at most: 20 digits a token. */
#define BFTM_TOKENS_MAX (BFTM_SEVERAL_MAX * (BFTM_NAME_MAX + 22))

/**
 * bftm_format_tokens() - a line for each token, NAME=TOKEN, in the order of @locks
 * @locks: the locks; no name has a line feed
 * @grant: of each of @locks
 * @count: of @locks, 1 to BFTM_SEVERAL_MAX
 * @ret:   lines with a line feed between each two
 */
void bftm_format_tokens(const struct bftm_taken *locks, const struct bftmutex_grant *grant,
			unsigned int count, char ret[BFTM_TOKENS_MAX]);

/**
 * bftm_put_grants() - set the environment of the command, and let it inherit the handles
 * @o:      the command line
 * @locks:  the locks, NAME first
 * @count:  of @locks, 1 to BFTM_SEVERAL_MAX
 * @grants: of each of @locks
 */
void bftm_put_grants(const struct options *o, const struct bftm_taken *locks, unsigned int count,
		     const struct bftmutex_grant *grants);

#endif /* BFTM_GRANTS_H */
