// SPDX-License-Identifier: GPL-2.0
/* Reads the configuration, and reports every mistake in it. */
#include <errno.h>
#include <stdlib.h>

#include "config/conf.h"
#include "config/conf_access.h"
#include "config/conf_cluster.h"
#include "config/conf_server.h"
#include "config/conf_type.h"
#include "config/syntax.h"
#include "loop/log.h"
#include "loop/reason.h"

static void check_ids(struct bftm_syntax *syntax, const struct bftm_conf *conf)
{
	const struct bftm_conf_cluster *a, *b;
	cfg_t *section;

	for (b = conf->cluster; b < conf->cluster + conf->count; b++) {
		for (a = conf->cluster; a < b; a++) {
			if (!b->id || a->id != b->id)
				continue;
			section = cfg_getnsec(syntax->root, "cluster", b - conf->cluster);
			bftm_mistake(syntax, bftm_value(section, "id")->line,
				     "clusters '%s' and '%s' have the same id %u", a->name,
				     b->name, b->id);
		}
	}
}

static void read_default(struct bftm_syntax *syntax, struct bftm_conf *conf)
{
	const struct bftm_value *name = bftm_value(syntax->root, "default");
	const struct bftm_conf_cluster *cluster;

	if (!name)
		return;
	cluster = *name->text ? bftm_conf_find(conf, name->text) : NULL;
	if (cluster)
		conf->standard = cluster - conf->cluster;
	else if (!syntax->partial)
		bftm_mistake(syntax, name->line, "key 'default' = '%s': there is no such cluster",
			     name->text);
}

/*
 * With sandbox = strict a program of a type could not be started, so the first request would fail.
 */
static void read_sandbox(struct bftm_syntax *syntax, struct bftm_conf *conf)
{
	static const char *const words[] = { "no", "yes", "strict", NULL };
	const struct bftm_value *value = bftm_value(syntax->root, "sandbox");
	u64 word = BFTM_SANDBOX_YES;

	if (value)
		bftm_value_word(syntax, value, words, &word);
	conf->sandbox = word;
	if (word == BFTM_SANDBOX_STRICT && cfg_size(syntax->root, "type"))
		bftm_mistake(syntax, value->line,
			     "key 'sandbox' = 'strict': with a section 'type' it must be no or yes");
}

static int read_conf(struct bftm_syntax *syntax, struct bftm_conf *ret)
{
	cfg_t *section;
	u32 i;
	int r;

	ret->count = cfg_size(syntax->root, "cluster");
	if (!ret->count)
		return syntax->mistakes ? -EINVAL : 0;
	ret->cluster = calloc(ret->count, sizeof(*ret->cluster));
	ret->access = calloc(ret->count, sizeof(*ret->access));
	if (!ret->cluster || !ret->access)
		return -ENOMEM;
	for (i = 0; i < ret->count; i++) {
		section = cfg_getnsec(syntax->root, "cluster", i);
		bftm_conf_read_cluster(syntax, section, &ret->cluster[i]);
		r = bftm_conf_read_access(syntax, section, &ret->access[i]);
		if (r < 0)
			return r;
	}
	check_ids(syntax, ret);
	read_default(syntax, ret);
	read_sandbox(syntax, ret);
	r = bftm_conf_read_types(syntax, ret);
	if (r < 0)
		return r;
	return syntax->mistakes ? -EINVAL : 0;
}

static int read_file(struct bftm_syntax *syntax, FILE *file, struct bftm_conf *ret)
{
	cfg_opt_t server[] = BFTM_SERVER_KEYS;
	cfg_opt_t access[] = BFTM_ACCESS_KEYS;
	cfg_opt_t type[] = BFTM_TYPE_KEYS;
	cfg_opt_t cluster[BFTM_CLUSTER_OPTS + 3] = {};
	cfg_opt_t table[] = {
		BFTM_KEY("default"),
		BFTM_KEY("sandbox"),
		CFG_SEC("cluster", cluster, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_SEC("type", type, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_END(),
	};
	u32 n = bftm_conf_cluster_keys(cluster);
	int r;

	cluster[n++] = (cfg_opt_t)CFG_SEC("server", server, CFGF_MULTI | CFGF_TITLE |
					  CFGF_NO_TITLE_DUPES);
	cluster[n] = (cfg_opt_t)CFG_SEC("access", access, CFGF_MULTI);
	r = bftm_syntax_read(syntax, file, table);
	return r < 0 ? r : read_conf(syntax, ret);
}

int bftm_conf_load_any(const char *path, struct bftm_conf **ret)
{
	struct bftm_syntax syntax = { .path = path };
	char why[BFTM_REASON_MAX];
	struct bftm_conf *conf;
	FILE *file;
	int r;

	conf = calloc(1, sizeof(*conf));
	if (!conf) {
		bftm_log(LOG_ERR, "%s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	file = fopen(path, "re");
	if (!file) {
		r = -errno;
		bftm_log(LOG_ERR, "%s: %s%s", path, bftm_file_reason(path, r, why),
			 r == -ENOENT ? ": bftmutex.conf(5) says how to write it" : "");
		goto err_conf;
	}
	r = read_file(&syntax, file, conf);
	if (r < 0 && r != -EINVAL)
		bftm_log(LOG_ERR, "%s: %s", path, strerror(-r));
	bftm_syntax_free(&syntax);
	fclose(file);
	if (r < 0)
		goto err_conf;
	*ret = conf;
	return 0;

err_conf:
	bftm_conf_free(conf);
	return r;
}

int bftm_conf_load(const char *path, struct bftm_conf **ret)
{
	struct bftm_conf *conf;
	int r = bftm_conf_load_any(path, &conf);

	if (r < 0)
		return r;
	/* NOLINTNEXTLINE: a file that cannot be opened leaves an errno */
	if (!conf->count) {
		bftm_log(LOG_ERR, "%s:1: no cluster is described here", path);
		bftm_conf_free(conf);
		return -EINVAL;
	}
	*ret = conf;
	return 0;
}

void bftm_conf_free(struct bftm_conf *conf)
{
	u32 i;

	if (!conf)
		return;
	for (i = 0; conf->access && i < conf->count; i++)
		free(conf->access[i].rule);
	free(conf->access);
	bftm_conf_free_types(conf->type, conf->types);
	free(conf->cluster);
	free(conf);
}

const struct bftm_conf_cluster *bftm_conf_find(const struct bftm_conf *conf, const char *name)
{
	u32 i;

	if (!*name)
		return &conf->cluster[conf->standard];
	for (i = 0; i < conf->count; i++)
		if (!strcmp(conf->cluster[i].name, name))
			return &conf->cluster[i];
	return NULL;
}
