// SPDX-License-Identifier: GPL-2.0
/* The list of files that were made. */
#include "ctl/ctl.h"

void ctl_note_made(struct json_object *made, const char *file, const char *kind, u32 id)
{
	struct json_object *entry = json_object_new_object();

	json_object_object_add(entry, "file", json_object_new_string(file));
	json_object_object_add(entry, "kind", json_object_new_string(kind));
	json_object_object_add(entry, "id", json_object_new_uint64(id));
	json_object_array_add(made, entry);
}

static const char *word_of(struct json_object *made, size_t i, const char *key)
{
	struct json_object *entry = json_object_array_get_idx(made, i);

	return json_object_get_string(json_object_object_get(entry, key));
}

const char *ctl_made_kind(struct json_object *made, size_t i)
{
	return word_of(made, i, "kind");
}

const char *ctl_made_file(struct json_object *made, size_t i)
{
	return word_of(made, i, "file");
}
