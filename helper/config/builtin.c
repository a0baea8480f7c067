// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "config/builtin.h"

const char *const bftm_builtin_name[BFTM_BUILTINS] = {
	[BFTM_BUILTIN_COUNTER] = "counter",
	[BFTM_BUILTIN_LOG] = "log",
	[BFTM_BUILTIN_MAP] = "map",
	[BFTM_BUILTIN_QUEUE] = "queue",
	[BFTM_BUILTIN_REGISTER] = "register",
};

enum bftm_builtin bftm_builtin_find(const char *name)
{
	enum bftm_builtin type = 0;

	while (type < BFTM_BUILTINS && strcmp(bftm_builtin_name[type], name))
		type++;
	return type;
}

bool bftm_type_name_ok(const char *name, size_t len)
{
	size_t i;

	if (!len || len > BFTM_TYPE_NAME_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
		      (name[i] >= '0' && name[i] <= '9') ||
		      name[i] == '.' || name[i] == '_' || name[i] == '-'))
			return false;
	return true;
}
