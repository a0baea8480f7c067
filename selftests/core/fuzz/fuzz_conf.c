// SPDX-License-Identifier: GPL-2.0
/* The parsers of configuration files: any text is read or refused. */
#include "config/conf.h"
#include "core/quorum.h"
#include "file.h"
#include "fuzz.h"

static void check_access(const struct bftm_conf_access *access)
{
	u32 i;

	must(access->count <= BFTM_RULES_MAX);
	for (i = 0; i < access->count; i++) {
		const struct bftm_rule *rule = &access->rule[i];

		must(rule->client_first && rule->client_first <= rule->client_last &&
		     rule->client_last <= BFTM_CLIENT_ID_MAX);
		must(rule->prefix_len <= BFTM_NAME_LEN_MAX);
		must(!rule->lease_max_ns || (rule->lease_max_ns >= BFTM_LEASE_MIN_NS &&
					     rule->lease_max_ns <= BFTM_LEASE_MAX_NS));
		must(rule->waiters_max <= BFTM_WAITERS_MAX);
		must(!rule->deny || (!rule->lease_max_ns && !rule->waiters_max));
	}
}

static void check_conf(const char *path)
{
	struct bftm_conf *conf;
	u32 i;

	if (bftm_conf_load(path, &conf) < 0)
		return;
	must(conf->count && conf->standard < conf->count);
	for (i = 0; i < conf->count; i++) {
		const struct bftm_conf_cluster *cl = &conf->cluster[i];

		must(cl->n <= BFTM_SERVERS_MAX && cl->id);
		must(cl->n >= bftm_servers_needed(cl->b));
		must(cl->lease_ns >= BFTM_LEASE_MIN_NS &&
		     cl->lease_ns <= cl->lease_max_ns &&
		     cl->lease_max_ns <= BFTM_LEASE_MAX_NS);
		must(bftm_conf_find(conf, cl->name) == cl);
		check_access(&conf->access[i]);
	}
	bftm_conf_free(conf);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct bftm_conf_access access = {};

	fuzz_quiet();
	check_conf(fuzz_file(data, len));
	if (!bftm_conf_load_access(fuzz_file(data, len), &access))
		check_access(&access);
	free(access.rule);
	return 0;
}
