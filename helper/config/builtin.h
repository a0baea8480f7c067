/* SPDX-License-Identifier: GPL-2.0 */
/* Names of types of objects. types/ has the types that are built in. */
#ifndef BFTM_BUILTIN_H
#define BFTM_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/limits.h"

/** enum bftm_builtin - types that need no program */
enum bftm_builtin {
	BFTM_BUILTIN_COUNTER,
	BFTM_BUILTIN_LOG,
	BFTM_BUILTIN_MAP,
	BFTM_BUILTIN_QUEUE,
	BFTM_BUILTIN_REGISTER,
	BFTM_BUILTINS
};

/** bftm_builtin_name[] - as requests and configurations spell them */
extern const char *const bftm_builtin_name[BFTM_BUILTINS];

/** bftm_builtin_find() - BFTM_BUILTINS when no type of this name is built in */
enum bftm_builtin bftm_builtin_find(const char *name);

/** bftm_type_name_ok() - 1 to BFTM_TYPE_NAME_MAX letters, digits, or any of ._- */
bool bftm_type_name_ok(const char *name, size_t len);

#endif /* BFTM_BUILTIN_H */
