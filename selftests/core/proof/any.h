/* SPDX-License-Identifier: GPL-2.0 */
/* Values of which Eva knows nothing but their range. */
#ifndef PROOF_ANY_H
#define PROOF_ANY_H

#include <__fc_builtin.h>
#include "core/limits.h"
#include "core/types.h"

/* Every byte of it may be anything. */
#define any(object) Frama_C_make_unknown((char *)&(object), sizeof(object))

static u64 any_from(u64 least, u64 most)
{
	return Frama_C_unsigned_long_interval(least, most);
}

static bool any_bool(void)
{
	return Frama_C_interval(0, 1);
}

#define ANY_TIME any_from(0, 1ull << 62)

#endif
