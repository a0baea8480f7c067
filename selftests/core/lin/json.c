// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "text/json.h"
#include "lin.h"

struct json_object *lin_json(const char *line)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *ret;
	size_t end;

	if (!tokener)
		return NULL;
	ret = json_tokener_parse_ex(tokener, line, -1);
	end = json_tokener_get_parse_end(tokener);
	if (ret && line[end + strspn(line + end, " \t\r\n")] != '\0') {
		json_object_put(ret);
		ret = NULL;
	}
	json_tokener_free(tokener);
	return ret;
}
