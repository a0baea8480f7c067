// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "text/json.h"
#include "lin.h"
#include "serial.h"

static const char *text_of(struct json_object *line, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(line, key, &value);
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* Adds a line; or says what is wrong with it. */
static const char *add(struct serial *s, struct json_object *line, u32 at)
{
	const char *transaction, *does, *object;
	u32 i;

	if (!json_object_is_type(line, json_type_object))
		return "not an object";
	transaction = text_of(line, "transaction");
	does = text_of(line, "does");
	object = text_of(line, "object");
	if (!transaction)
		return "transaction: must be a string";
	for (i = 0; i < SERIAL_DOES && (!does || strcmp(does, serial_words[i])); i++)
		;
	if (i == SERIAL_DOES)
		return "does: must be read, write, update, commit or abort";
	if (!object && i != SERIAL_COMMIT && i != SERIAL_ABORT)
		return "object: must be a string, for read, write and update";
	if (!serial_add(s, transaction, i, object, at))
		return "transaction: has been committed or aborted in a line before";
	return NULL;
}

bool serial_read(struct serial *s, const char *name, FILE *file)
{
	const char *wrong = NULL;
	char *line = NULL;
	size_t size = 0;
	u32 at = 0;

	while (!wrong && getline(&line, &size, file) > 0) {
		struct json_object *object;

		at++;
		if (line[strspn(line, " \t\r\n")] == '\0')
			continue;
		object = lin_json(line);
		wrong = object ? add(s, object, at) : "not JSON";
		json_object_put(object);
	}
	if (wrong)
		fprintf(stderr, "bftmutex-lin: %s:%u: %s\n", name, at, wrong);
	free(line);
	return !wrong;
}
