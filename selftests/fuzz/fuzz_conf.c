// SPDX-License-Identifier: GPL-2.0
/* The parsers of configuration and key files: any text is read or refused. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../helper/conf.h"
#include "../../helper/keys.h"
#include "../../kmod/core/quorum.h"
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
	struct bftm_credentials credentials;
	struct bftm_master master;
	char path[64];
	int fd;

	fd = memfd_create("conf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || fchmod(fd, 0600) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_conf(path);
	if (!bftm_master_load(path, &master))
		must(master.server && master.cluster);
	if (!bftm_credentials_load(path, &credentials))
		must(credentials.count <= BFTM_SERVERS_MAX && credentials.client);
	close(fd);
	return 0;
}
