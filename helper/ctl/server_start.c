// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl server start: the lock server of this network namespace. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "core/quorum.h"
#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/start.h"
#include "crypto/keys.h"

/* A process that keeps the roll of a server that was stopped ends a moment later. */
#define LOOKS	200
static const struct timespec look_again = { .tv_nsec = 50 * 1000000 };

/* The message to the module; the module chooses the values that the user left out. */
static struct nl_msg *start_message(struct bftm_nl *nl, const struct ctl_start *start,
				    const struct bftm_master *master)
{
	struct nl_msg *msg = ctl_rules_msg(nl, BFTMUTEX_CMD_SERVER_START, &start->access,
					   &start->evicted, &start->roll);
	int r;

	if (!msg)
		return NULL;
	r = nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, master->cluster);
	r |= nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, master->server);
	r |= nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(master->key), master->key);
	if (start->port)
		r |= nla_put_u16(msg, BFTMUTEX_A_SERVER_PORT, start->port);
	if (start->lease_max_ns)
		r |= nla_put_u64(msg, BFTMUTEX_A_SERVER_LEASE_MAX_NS, start->lease_max_ns);
	if (start->rho_ppm)
		r |= nla_put_u32(msg, BFTMUTEX_A_SERVER_RHO_PPM, start->rho_ppm);
	r |= ctl_limits_put(&start->limits, msg);
	if (start->no_quarantine)
		r |= nla_put_u32(msg, BFTMUTEX_A_SERVER_NO_QUARANTINE, start->no_quarantine);
	if (start->floor == CTL_FLOOR_KNOWN)
		r |= nla_put_u64(msg, BFTMUTEX_A_SERVER_TOKEN_FLOOR, start->token_floor);
	if (*start->ingress && strcmp(start->ingress, "none"))
		r |= nla_put_string(msg, BFTMUTEX_A_SERVER_INGRESS, start->ingress);
	r |= ctl_durability_put(&start->durability, msg);
	if (r) {
		bftm_nl_free(msg);
		return NULL;
	}
	return msg;
}

/* Is the server that runs here already this one? */
static bool runs(struct bftm_nl *nl, const struct bftm_master *master)
{
	struct json_object *server, *id = NULL, *cluster = NULL;
	bool same;

	if (ctl_server_get(nl, &server) < 0)
		return false;
	json_object_object_get_ex(server, "id", &id);
	json_object_object_get_ex(server, "cluster", &cluster);
	same = json_object_get_uint64(id) == master->server &&
	       json_object_get_uint64(cluster) == master->cluster;
	json_object_put(server);
	return same;
}

static int report_start(struct bftm_nl *nl, const struct ctl_start *start,
			const struct bftm_master *master)
{
	struct json_object *server, *awaited = NULL;
	int r;

	r = ctl_server_get(nl, &server);
	if (r < 0)
		return ctl_refused(nl, r, CTL_SERVER);
	if (!ctl_json) {
		json_object_object_get_ex(server, "awaited", &awaited);
		ctl_start_explain(start, master, json_object_get_uint64(awaited));
		/* The counters are all 0; "server show" has them. */
		json_object_object_del(server, "stats");
	}
	ctl_warn_rules(&start->access);
	ctl_start_warn(start);
	ctl_print(server);
	json_object_put(server);
	return 0;
}

/* The server is silent about its objects until they have been loaded. */
static int server_load(struct bftm_nl *nl, struct ctl_start *start)
{
	int r = ctl_durability_load(&start->durability);

	if (r)
		bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_STOP, 0), NULL, 0, NULL);
	return r;
}

/* Otherwise the next start would not be taken for the first one. */
static void undo(struct ctl_start *start, const struct bftm_master *master)
{
	/* The roll before the state, without which it would seem to be of a start that is forgotten. */
	ctl_roll_undo(&start->roll, start->state, master->cluster, master->server);
	if (start->first)
		ctl_state_undo(start->state, master->cluster, master->server);
}

static int runs_already(void)
{
	return ctl_fail(EX_UNAVAILABLE,
			"a server runs in this network namespace already; see 'server show'");
}

static int call_start(struct bftm_nl *nl, struct ctl_start *start, const struct bftm_master *master)
{
	unsigned int port = start->port ? start->port : BFTM_PORT_DEFAULT;
	int r = bftm_nl_call(nl, start_message(nl, start, master), NULL, 0, NULL);

	if (r == 0) {
		close(start->lock);
		r = server_load(nl, start) ?: ctl_rights_note(start->state, master->cluster,
							     master->server, &start->access);
		ctl_durability_end(&start->durability, false);
		return r ?: report_start(nl, start, master);
	}
	ctl_durability_end(&start->durability, start->first);
	if (!(r == -EEXIST && runs(nl, master)))
		undo(start, master);
	if (r == -EEXIST)
		return runs_already();
	if (r == -ENODEV)
		return ctl_fail(EX_UNAVAILABLE,
				"--ingress '%s': this network namespace has no such device; see 'ip link', or give 'none'",
				start->ingress);
	if (r == -EADDRINUSE)
		return ctl_fail(EX_UNAVAILABLE, "UDP port %u is taken; choose another by --port",
				port);
	return ctl_refused(nl, r, CTL_SERVER);
}

/* The floor of tokens: 0 only if the server never ran before, otherwise unknown. */
static int decide_floor(struct ctl_start *start, const struct bftm_master *master)
{
	int r = ctl_state_begin(start->state, master->cluster, master->server, &start->first);

	if (r < 0)
		return ctl_fail(r == -EACCES || r == -EPERM ? EX_NOPERM : EX_CANTCREAT,
				"%s: the start of the server cannot be noted: %s",
				start->state, strerror(-r));
	if (start->floor == CTL_FLOOR_BY_STATE)
		start->floor = start->first ? CTL_FLOOR_KNOWN : CTL_FLOOR_UNKNOWN;
	return 0;
}

static const struct bftm_conf_server *find_server(const struct bftm_conf_cluster *cluster, u16 id)
{
	u32 i;

	for (i = 0; i < cluster->n; i++)
		if (cluster->server[i].id == id)
			return &cluster->server[i];
	return NULL;
}

/* Takes the rules of this cluster, and the values of this server that no option gives. */
static int take_conf(struct ctl_start *start, struct bftm_conf *conf,
		     const struct bftm_master *master)
{
	const struct bftm_conf_server *server = NULL;
	u32 i;

	for (i = 0; i < conf->count && conf->cluster[i].id != master->cluster; i++)
		;
	if (i == conf->count && start->config)
		return ctl_fail(EX_CONFIG, "%s: has no cluster with id = %u, for which the key is",
				start->config, master->cluster);
	if (i < conf->count) {
		server = find_server(&conf->cluster[i], master->server);
		start->n = conf->cluster[i].n;
		start->b = conf->cluster[i].b;
		start->m = conf->cluster[i].m;
		start->access = conf->access[i];
		conf->access[i].rule = NULL;	/* this process owns them now */
	}
	start->roll.on |= server && server->roll;
	if (server)
		ctl_limits_conf(&start->limits, &conf->cluster[i], server);
	if (server && !*start->ingress)
		strcpy(start->ingress, server->ingress);
	return ctl_durability_conf(&start->durability, server);
}

/*
 * The default configuration is for clients: a server host may have none, or the one that came with
 * the installation. A configuration that the user names has to describe the cluster.
 */
static int load_conf(struct ctl_start *start, const struct bftm_master *master)
{
	struct bftm_conf *conf;
	int r;

	if (!start->config && access(BFTM_CONF_PATH, F_OK) < 0 && errno == ENOENT)
		return ctl_durability_conf(&start->durability, NULL);
	r = start->config ? bftm_conf_load(start->config, &conf) :
			    bftm_conf_load_any(BFTM_CONF_PATH, &conf);
	if (r < 0)
		return ctl_conf_failed(r);
	r = take_conf(start, conf, master);
	bftm_conf_free(conf);
	return r;
}

/* Return: does a server run here? Then an exit code is in @ret. */
static bool is_running(struct bftm_nl *nl, struct ctl_start *start,
		       const struct bftm_master *master, int *ret)
{
	struct json_object *server;

	if (ctl_server_get(nl, &server) < 0)
		return false;
	json_object_put(server);
	if (!runs(nl, master))
		undo(start, master);
	*ret = runs_already();
	return true;
}

/*
 * One start at a time: of two the later to note itself could be the one that the module refuses,
 * and the roll with its number would be believed, though the other server grants locks.
 */
static int begin_alone(struct bftm_nl *nl, struct ctl_start *start, const struct bftm_master *master)
{
	u32 looks;
	int r;

	for (looks = 0;; looks++) {
		r = ctl_roll_lock(start->state, master->cluster, master->server, &start->lock);
		if (r != -EWOULDBLOCK || looks == LOOKS)
			break;
		if (is_running(nl, start, master, &r))
			return r;
		nanosleep(&look_again, NULL);
	}
	if (r < 0) {
		undo(start, master);
		return ctl_roll_unlocked(start->state, master->cluster, master->server, r);
	}
	return 0;
}

/* Not while a server runs: even if that one stops now, this start was not noted. */
static int begin_durability(struct bftm_nl *nl, struct ctl_start *start,
			    const struct bftm_master *master)
{
	/* The server never ran before, by what is known of its tokens; its files may be lost. */
	bool first = start->floor == CTL_FLOOR_KNOWN && !start->token_floor;
	u64 last;
	int r = begin_alone(nl, start, master);

	if (r || is_running(nl, start, master, &r))
		return r;
	last = ctl_state_last(start->state, master->cluster, master->server);
	r = ctl_durability_begin(&start->durability, start->state, master, first);
	if (r == 0 && start->roll.on)
		r = ctl_roll_begin(&start->roll, start->state, master->cluster, master->server,
				   last, start->durability.start, first && start->first);
	if (r) {
		ctl_durability_end(&start->durability, start->first);
		undo(start, master);
	}
	return r;
}

static int start_server(struct ctl_start *start, const struct bftm_master *master)
{
	struct bftm_nl nl;
	int r;

	r = load_conf(start, master) ?: ctl_evicted_load(start->state, master->cluster,
							 master->server, &start->evicted);
	r = r ?: ctl_open(&nl);
	if (r)
		goto out;
	if (!start->members_fenced)
		r = ctl_rights_check(start->state, master->cluster, master->server, &start->access);
	r = r ?: decide_floor(start, master) ?: begin_durability(&nl, start, master);
	if (r == 0)
		r = call_start(&nl, start, master);
	bftm_nl_close(&nl);
out:
	free(start->access.rule);
	return r;
}

int ctl_server_start(int argc, char **argv)
{
	static struct ctl_start start = { .state = CTL_STATE_DIR };
	struct bftm_master master;
	int r;

	ctl_parse(&ctl_start_argp, argc, argv, 0, &start);
	r = bftm_master_load(start.key, &master);
	if (r < 0)	/* it was said why */
		return r == -EPERM || r == -EACCES ? EX_NOPERM :
		       r == -EINVAL ? EX_DATAERR : EX_NOINPUT;
	if (start.id && start.id != master.server)
		r = ctl_fail(EX_USAGE, "--id %u: the key in %s is for server %u",
			     (unsigned int)start.id, start.key, master.server);
	else if (start.cluster && start.cluster != master.cluster)
		r = ctl_fail(EX_USAGE, "--cluster %u: the key in %s is for cluster %u",
			     (unsigned int)start.cluster, start.key, master.cluster);
	else
		r = start_server(&start, &master);
	OPENSSL_cleanse(&master, sizeof(master));
	return r;
}
