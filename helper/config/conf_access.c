// SPDX-License-Identifier: GPL-2.0
/* Access rules of the servers, from a configuration or a file that has nothing else. */
#include <errno.h>
#include <stdlib.h>

#include "config/conf_access.h"
#include "loop/log.h"

/* "any", "7" or "7-9". */
static bool parse_clients(const char *text, struct bftm_rule *ret)
{
	u64 first = 1, last = BFTM_CLIENT_ID_MAX;
	char start[24] = {};
	const char *dash;

	if (strcmp(text, "any")) {
		dash = strchr(text, '-');
		if (strlen(text) >= 2 * sizeof(start) ||
		    (dash && dash - text >= (ptrdiff_t)sizeof(start)))
			return false;
		if (dash)
			memcpy(start, text, (size_t)(dash - text));
		if (bftm_parse_number(dash ? dash + 1 : text, &last) < 0 ||
		    bftm_parse_number(dash ? start : text, &first) < 0)
			return false;
	}
	if (first < 1 || first > last || last > BFTM_CLIENT_ID_MAX)
		return false;
	ret->client_first = first;
	ret->client_last = last;
	return true;
}

static void read_clients(struct bftm_syntax *syntax, cfg_t *section, struct bftm_rule *ret)
{
	const struct bftm_value *client = bftm_value(section, "client");

	if (!parse_clients(client ? client->text : "any", ret) && client)
		bftm_mistake(syntax, client->line,
			     "key 'client' = '%s': must be any, a number 1 to %u, or two such as 7-9",
			     client->text, BFTM_CLIENT_ID_MAX);
}

static void read_prefix(struct bftm_syntax *syntax, cfg_t *section, struct bftm_rule *ret)
{
	const struct bftm_value *prefix = bftm_value(section, "prefix");
	size_t len = prefix ? strlen(prefix->text) : 0;

	if (len > BFTM_NAME_LEN_MAX) {
		bftm_mistake(syntax, prefix->line, "key 'prefix' = '%s': must be 0 to %d bytes",
			     prefix->text, BFTM_NAME_LEN_MAX);
		return;
	}
	ret->prefix_len = len;
	if (len)
		memcpy(ret->prefix, prefix->text, len);
}

static void read_rule(struct bftm_syntax *syntax, cfg_t *section, struct bftm_rule *ret)
{
	static const char *const answers[] = { "no", "yes", NULL };
	const struct bftm_value *lease = bftm_value(section, "lease-max");
	const struct bftm_value *waiters = bftm_value(section, "waiters");
	const struct bftm_value *deny = bftm_value(section, "deny");
	const struct bftm_value *leaseless = bftm_value(section, "leaseless");
	u64 number = 0;

	read_clients(syntax, section, ret);
	read_prefix(syntax, section, ret);
	if (lease)
		bftm_value_range(syntax, lease, true, BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS,
				 &ret->lease_max_ns);
	if (waiters && bftm_value_range(syntax, waiters, false, BFTM_WAITERS_MIN,
					BFTM_WAITERS_MAX, &number))
		ret->waiters_max = number;
	number = 0;
	if (deny && bftm_value_word(syntax, deny, answers, &number))
		ret->deny = number;
	number = 0;
	if (leaseless && bftm_value_word(syntax, leaseless, answers, &number))
		ret->leaseless = number;
	if (deny && ret->deny && (lease || waiters || ret->leaseless))
		bftm_mistake(syntax, deny->line,
			     "key 'deny' = 'yes': such a rule has none of 'lease-max', 'waiters', 'leaseless'");
	if (leaseless && ret->leaseless && ret->client_last - ret->client_first >= BFTM_MEMBERS_MAX)
		bftm_mistake(syntax, leaseless->line,
			     "key 'leaseless' = 'yes': after a start the server waits for each client of the rule, so 'client' must name them: at most %u",
			     BFTM_MEMBERS_MAX);
}

int bftm_conf_read_access(struct bftm_syntax *syntax, cfg_t *section,
			  struct bftm_conf_access *ret)
{
	u32 i, count = cfg_size(section, "access");

	if (!count)
		return 0;
	if (count > BFTM_RULES_MAX) {
		bftm_mistake(syntax, cfg_getnsec(section, "access", BFTM_RULES_MAX)->line,
			     "%u sections 'access', but %u are the most", count, BFTM_RULES_MAX);
		count = BFTM_RULES_MAX;
	}
	ret->rule = calloc(count, sizeof(*ret->rule));
	if (!ret->rule)
		return -ENOMEM;
	ret->count = count;
	for (i = 0; i < count; i++)
		read_rule(syntax, cfg_getnsec(section, "access", i), &ret->rule[i]);
	return 0;
}

static int read_file(struct bftm_syntax *syntax, FILE *file, struct bftm_conf_access *ret)
{
	cfg_opt_t access[] = BFTM_ACCESS_KEYS;
	cfg_opt_t table[] = { CFG_SEC("access", access, CFGF_MULTI), CFG_END() };
	int r;

	r = bftm_syntax_read(syntax, file, table);
	if (r == 0)
		r = bftm_conf_read_access(syntax, syntax->root, ret);
	return r < 0 ? r : syntax->mistakes ? -EINVAL : 0;
}

int bftm_conf_load_access(const char *path, struct bftm_conf_access *ret)
{
	struct bftm_conf_access access = {};
	struct bftm_syntax syntax = {
		.path = path,
		.whole = "here are nothing but sections 'access'; a whole configuration is given by --config FILE",
	};
	FILE *file;
	int r;

	file = fopen(path, "re");
	if (!file) {
		r = -errno;
		bftm_log(LOG_ERR, "%s: %s", path, strerror(-r));
		return r;
	}
	r = read_file(&syntax, file, &access);
	if (r < 0 && r != -EINVAL)
		bftm_log(LOG_ERR, "%s: %s", path, strerror(-r));
	bftm_syntax_free(&syntax);
	fclose(file);
	if (r < 0)
		free(access.rule);
	else
		*ret = access;
	return r;
}
