// SPDX-License-Identifier: GPL-2.0
/* Programs that are types of replicated objects, from the configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/builtin.h"
#include "config/conf_type.h"

/* Path, then arguments: words between spaces. */
static int make_argv(struct bftm_syntax *syntax, const struct bftm_value *program,
		     const struct bftm_value *arguments, struct bftm_conf_type *ret)
{
	const char *words = arguments ? arguments->text : "";
	char *save = NULL, *word;
	u32 count = 1;

	if (asprintf(&ret->text, "%s%c%s", program->text, '\0', words) < 0) {
		ret->text = NULL;
		return -ENOMEM;
	}
	ret->argv[0] = ret->text;
	for (word = strtok_r(ret->text + strlen(program->text) + 1, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (count > BFTM_ARGUMENTS_MAX) {
			bftm_mistake(syntax, arguments->line,
				     "key 'arguments': more than %u words", BFTM_ARGUMENTS_MAX);
			return 0;
		}
		ret->argv[count++] = word;
	}
	return 0;
}

static int read_type(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_type *ret)
{
	const struct bftm_value *program = bftm_value(section, "program");
	const struct bftm_value *limit = bftm_value(section, "time-limit");

	static_assert(sizeof(ret->name) == BFTM_TYPE_NAME_MAX + 1);

	if (!bftm_type_name_ok(section->title, strlen(section->title)))
		bftm_mistake(syntax, section->line,
			     "type '%s': a name is 1 to %u letters, digits and ._-",
			     section->title, BFTM_TYPE_NAME_MAX);
	else if (bftm_builtin_find(section->title) < BFTM_BUILTINS)
		bftm_mistake(syntax, section->line, "type '%s' is built in", section->title);
	snprintf(ret->name, sizeof(ret->name), "%.*s", BFTM_TYPE_NAME_MAX, section->title);

	ret->limit_ns = BFTM_TIME_LIMIT_DEFAULT_NS;
	if (limit)
		bftm_value_range(syntax, limit, true, BFTM_NS_PER_MS, BFTM_TIME_LIMIT_MAX_NS,
				 &ret->limit_ns);
	if (!program) {
		bftm_mistake(syntax, section->line, "type '%s': key 'program' is missing",
			     section->title);
		return 0;
	}
	if (*program->text != '/')
		bftm_mistake(syntax, program->line,
			     "key 'program' = '%s': must be an absolute path", program->text);
	return make_argv(syntax, program, bftm_value(section, "arguments"), ret);
}

int bftm_conf_read_types(struct bftm_syntax *syntax, struct bftm_conf *conf)
{
	u32 i, count = cfg_size(syntax->root, "type");
	int r;

	if (!count)
		return 0;
	conf->type = calloc(count, sizeof(*conf->type));
	if (!conf->type)
		return -ENOMEM;
	conf->types = count;
	for (i = 0; i < count; i++) {
		r = read_type(syntax, cfg_getnsec(syntax->root, "type", i), &conf->type[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

void bftm_conf_free_types(struct bftm_conf_type *type, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		free(type[i].text);
	free(type);
}
