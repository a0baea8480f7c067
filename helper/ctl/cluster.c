// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl cluster: the configuration, and values that follow from it. */
#include <errno.h>
#include <stdio.h>

#include "core/backoff/client.h"
#include "core/lease.h"
#include "core/quorum.h"
#include "config/conf.h"
#include "ctl/ctl.h"
#include "text/json.h"

#define LIFETIME_MAX_NS (100ull * 365 * 24 * 3600 * BFTM_NS_PER_SEC)

/* Values that follow from a cluster's configuration. */
struct derived {
	u32 needed;		/* answers that decide an attempt */
	u32 liars_max;		/* that this number of servers could mask */
	u32 spared;		/* servers that may restart without a quarantine, r */
	u32 token_needed;	/* servers that accept a fencing token */
	bool learns;		/* a restarted server learns tokens from the others */
	u64 quarantine_ns;	/* of a server after its start */
	u64 backoff_ns;		/* B, the shortest sleep between two tries */
};

bool ctl_tokens_learned(u32 n, u32 b)
{
	const struct bftm_client_cfg cfg = { .n = n, .b = b };
	const u64 top[BFTM_SERVERS_MAX] = {};
	u64 floor;

	return bftm_recovered_token(&cfg, top, n - 1, &floor);
}

static struct derived derive(const struct bftm_conf_cluster *cluster)
{
	return (struct derived){
		.needed = cluster->literal ? bftm_literal_quorum(cluster->n, cluster->b) :
					     bftm_grants_needed(cluster->n, cluster->b, cluster->m),
		.spared = bftm_spared(cluster->n, cluster->b, cluster->m),
		.liars_max = bftm_liars_max(cluster->n),
		.token_needed = bftm_fence_quorum(cluster->n, cluster->b),
		.learns = ctl_tokens_learned(cluster->n, cluster->b),
		.quarantine_ns = bftm_lease_at_server(cluster->lease_max_ns, cluster->rho_ppm),
		.backoff_ns = cluster->lease_ns + 4 * cluster->delta_ns,
	};
}

/* Mean time that a server lives until it restarts, ns; 0: not asked for. */
static u64 lifetime_ns;

/*
 * That more than r of those that granted a lock forget within one quarantine: r + 1 up to m of m
 * servers, each by t / T (Lin and others 2004, Section 3; the sum is printed from k = 2^m, and is
 * of 2m - n and more).
 */
static double risk(const struct derived *d)
{
	double each = (double)d->quarantine_ns / (double)lifetime_ns, term = 1, sum = 0;
	u32 i, k;

	if (each >= 1)
		return 1;
	for (i = 0; i < d->needed; i++)
		term *= 1 - each;
	for (k = 0; k <= d->needed; k++) {
		if (k > d->spared)
			sum += term;
		term *= each / (1 - each) * (d->needed - k) / (k + 1);
	}
	return sum;
}

static void add_risk(struct json_object *object, const struct derived *d)
{
	if (!lifetime_ns)
		return;
	bftm_json_add_number(object, "lifetime_ns", lifetime_ns);
	bftm_json_add(object, "risk", json_object_new_double(risk(d)));
}

static void print_risk(const struct derived *d)
{
	char buf[32];

	if (lifetime_ns)
		printf("  %-18sp = %.2g that more forget grants to one holder, if servers live %s\n", "",
		       risk(d), bftm_format_duration(lifetime_ns, buf, sizeof(buf)));
}

static const char *wait_name(const struct bftm_conf_cluster *cluster)
{
	return cluster->backoff ? "backoff" : "queue";
}

static const char *retry_name(const struct bftm_conf_cluster *cluster)
{
	return cluster->retry == BFTM_RETRY_POLYNOMIAL ? "polynomial" : "exponential";
}

static struct json_object *to_json(const struct bftm_conf_cluster *cluster, bool standard)
{
	struct json_object *object = json_object_new_object();
	struct json_object *servers = json_object_new_array();
	struct derived d = derive(cluster);
	u32 i;

	for (i = 0; i < cluster->n; i++) {
		struct json_object *server = json_object_new_object();

		bftm_json_add_number(server, "id", cluster->server[i].id);
		bftm_json_add_text(server, "address", cluster->server[i].text);
		json_object_array_add(servers, server);
	}
	bftm_json_add_text(object, "name", cluster->name);
	bftm_json_add_bool(object, "default", standard);
	bftm_json_add_number(object, "id", cluster->id);
	bftm_json_add_number(object, "n", cluster->n);
	bftm_json_add_number(object, "b", cluster->b);
	bftm_json_add_number(object, "liars_max", d.liars_max);
	bftm_json_add_text(object, "protocol", cluster->m ? "sigma" : "backoff");
	bftm_json_add_text(object, "contend", cluster->literal ? "literal" : "quorum");
	bftm_json_add_text(object, cluster->literal ? "free_needed" : "quorum", NULL);
	bftm_json_add_number(object, cluster->literal ? "quorum" : "free_needed", d.needed);
	bftm_json_add_number(object, "spared", d.spared);
	add_risk(object, &d);
	bftm_json_add_number(object, "silent_max", cluster->n - d.needed);
	bftm_json_add_number(object, "token_needed", d.token_needed);
	bftm_json_add_bool(object, "token_learned", d.learns);
	bftm_json_add_text(object, "wait", wait_name(cluster));
	bftm_json_add_text(object, "ask", bftm_ask_name(cluster->ask));
	bftm_json_add_number(object, "lease_ns", cluster->lease_ns);
	bftm_json_add_number(object, "lease_max_ns", cluster->lease_max_ns);
	bftm_json_add_number(object, "quarantine_ns", d.quarantine_ns);
	bftm_json_add_number(object, "delta_ns", cluster->delta_ns);
	bftm_json_add_number(object, "rho_ppm", cluster->rho_ppm);
	bftm_json_add_text(object, "retry", retry_name(cluster));
	bftm_json_add_number(object, "exponent", cluster->exponent);
	bftm_json_add_number(object, "retry_max_ns", cluster->retry_max_ns);
	bftm_json_add_number(object, "backoff_ns", d.backoff_ns);
	bftm_json_add_text(object, "credentials", cluster->credentials);
	bftm_json_add(object, "servers", servers);
	return object;
}

static void print_duration(const char *label, u64 ns, const char *comment)
{
	char buf[32];

	printf("  %-18s%s%s\n", label, bftm_format_duration(ns, buf, sizeof(buf)), comment);
}

static void cluster_print(const struct bftm_conf_cluster *cluster, bool standard)
{
	struct derived d = derive(cluster);
	u32 i;

	printf("cluster %s, number %u%s\n", cluster->name, cluster->id,
	       standard ? ", the default" : "");
	printf("  %-18sn = %u\n", "servers", cluster->n);
	printf("  %-18sb = %u (%u servers could mask up to %u)\n", "liars masked", cluster->b,
	       cluster->n, d.liars_max);
	if (cluster->literal)
		printf("  %-18s%u answers, at most %u of them LOCKED (the paper's contend)\n",
		       "a lock needs", d.needed, cluster->b);
	else
		printf("  %-18s%u FREE answers\n", "a lock needs", d.needed);
	printf("  %-18s%u %s down, silent or lying (at most %u of them lying)\n", "withstands",
	       cluster->n - d.needed, cluster->n - d.needed == 1 ? "server" : "servers", cluster->b);
	printf("  %-18sr = %u servers restarted with --no-quarantine within one quarantine\n", "spares",
	       d.spared);
	print_risk(&d);
	printf("  %-18s%u servers; one that was restarted %s\n", "a token needs", d.token_needed,
	       d.learns ? "learns from the others" : "needs --token-floor");
	print_duration("lease", cluster->lease_ns, " unless the application says otherwise");
	print_duration("longest lease", cluster->lease_max_ns, "");
	print_duration("quarantine", d.quarantine_ns, " after a server's start");
	print_duration("expected delay", cluster->delta_ns, " one way");
	printf("  %-18s%u ppm\n", "clock rate error", cluster->rho_ppm);
	printf("  %-18s%s, unless the application says otherwise\n", "a waiter",
	       cluster->backoff ? "backs off" : "stands in the servers' queue");
	printf("  %-18s%s\n", "servers asked", cluster->ask == BFTMUTEX_ASK_ALL ? "all" :
	       cluster->ask == BFTMUTEX_ASK_FIRST ? "at first as many as a lock needs" :
	       "at first as many as a lock needs, or more (auto)");
	print_duration("back-off from", d.backoff_ns, " (B = lease + 4 delta)");
	print_duration("back-off up to", cluster->retry_max_ns, "");
	printf("  %-18s%s", "back-off grows", retry_name(cluster));
	if (cluster->retry == BFTM_RETRY_POLYNOMIAL)
		printf(", exponent %u", cluster->exponent);
	printf("\n  %-18s%s\n", "credentials", cluster->credentials);
	for (i = 0; i < cluster->n; i++)
		printf("  server %-11u%s\n", cluster->server[i].id, cluster->server[i].text);
}

struct show {
	const char *path;
	const char *name;
};

static error_t cluster_parse(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case 'c':
		show->path = arg;
		return 0;
	case 'L':
		lifetime_ns = ctl_duration(state, "--lifetime", arg, BFTM_NS_PER_SEC, LIFETIME_MAX_NS);
		return 0;
	case ARGP_KEY_ARG:
		if (show->name)
			argp_error(state, "'%s': only one cluster can be named, and '%s' is",
				   arg, show->name);
		show->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int show_clusters(const struct bftm_conf *conf, const struct bftm_conf_cluster *only)
{
	struct json_object *array = json_object_new_array();
	const struct bftm_conf_cluster *cluster;
	bool standard;

	for (cluster = conf->cluster; cluster < conf->cluster + conf->count; cluster++) {
		if (only && only != cluster)
			continue;
		standard = cluster == conf->cluster + conf->standard;
		if (ctl_json)
			json_object_array_add(array, to_json(cluster, standard));
		else
			cluster_print(cluster, standard);
	}
	if (ctl_json)
		ctl_print_json(array);
	json_object_put(array);
	return 0;
}

int ctl_cluster_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "config", 'c', "FILE", 0, "Configuration (" BFTM_CONF_PATH ")", 0 },
		{ "lifetime", 'L', "DUR", 0, "Also show how likely more than r servers forget, if a "
		  "server lives so long on average", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = cluster_parse,
		.args_doc = "[CLUSTER]",
		.doc = "Check the configuration, and show its clusters, or one of them, with what "
		       "follows from the numbers: how many servers may fail, for example.",
		.children = ctl_common,
	};
	const struct bftm_conf_cluster *only = NULL;
	struct show show = { .path = BFTM_CONF_PATH };
	struct bftm_conf *conf;
	int r;

	ctl_parse(&argp, argc, argv, 0, &show);
	r = bftm_conf_load(show.path, &conf);
	if (r < 0)	/* it was said why */
		return r == -EINVAL ? EX_CONFIG : r == -EACCES ? EX_NOPERM : EX_NOINPUT;
	if (show.name)
		only = bftm_conf_find(conf, show.name);
	if (show.name && !only)
		r = ctl_fail(EX_CONFIG, "%s: there is no cluster '%s'", show.path, show.name);
	else
		r = show_clusters(conf, only);
	bftm_conf_free(conf);
	return r;
}
