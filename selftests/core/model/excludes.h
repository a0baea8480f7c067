/* SPDX-License-Identifier: GPL-2.0 */
/* The models judge locks in modes by this table. The cores, which they judge, have their own. */
#ifndef BFTM_MODEL_EXCLUDES_H
#define BFTM_MODEL_EXCLUDES_H

#include "core/wire.h"

/** excludes() - may two clients not hold a lock in modes @a and @b at once? The DLM's table. */
static inline bool excludes(enum bftm_mode a, enum bftm_mode b)
{
	static const char *const table[BFTM_MODES] = {
		/*               NL CR CW PR PW EX */
		[BFTM_MODE_NL] = "......",
		[BFTM_MODE_CR] = ".....x",
		[BFTM_MODE_CW] = "...xxx",
		[BFTM_MODE_PR] = "..x.xx",
		[BFTM_MODE_PW] = "..xxxx",
		[BFTM_MODE_EX] = ".xxxxx",
	};

	return table[a][b] == 'x';
}

#endif /* BFTM_MODEL_EXCLUDES_H */
