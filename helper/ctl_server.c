// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl server: the lock server of this network namespace. */
#include <errno.h>
#include <stdio.h>

#include <openssl/crypto.h>

#include "conf.h"
#include "ctl.h"
#include "keys.h"

/* What the user asked for; 0 for what he did not. */
struct start {
	const char *key;
	u64 cluster, id, port, lease_max_ns, rho_ppm, max_locks, max_clients;
};

static const struct argp_option start_options[] = {
	{ "key", 'k', "FILE", 0, "The server's key file, by keygen (required)", 0 },
	{ "id", 'i', "N", 0, "Number of the server; must agree with the key file", 0 },
	{ "cluster", 'C', "N", 0, "Number of the cluster; must agree with the key file", 0 },
	{ "port", 'p', "PORT", 0, "UDP port (7373)", 0 },
	{ "lease-max", 'l', "DUR", 0, "Longest lease, and so length of the quarantine (30s)", 0 },
	{ "rho", 'r', "PPM", 0, "Bound on the rate error of clocks (2000)", 0 },
	{ "max-locks", 'L', "N", 0, "Most locks in the table (1048576)", 0 },
	{ "max-clients", 'c', "N", 0, "Most clients in the table (65536)", 0 },
	{}
};

static error_t parse_start(int key, char *arg, struct argp_state *state)
{
	struct start *start = state->input;

	switch (key) {
	case 'k':
		start->key = arg;
		return 0;
	case 'i':
		start->id = ctl_number(state, "--id", arg, 1, BFTM_SERVER_ID_MAX);
		return 0;
	case 'C':
		start->cluster = ctl_number(state, "--cluster", arg, 1, UINT32_MAX);
		return 0;
	case 'p':
		start->port = ctl_number(state, "--port", arg, 1, UINT16_MAX);
		return 0;
	case 'l':
		start->lease_max_ns = ctl_duration(state, "--lease-max", arg, BFTM_LEASE_MIN_NS,
						   BFTM_LEASE_MAX_NS);
		return 0;
	case 'r':
		start->rho_ppm = ctl_number(state, "--rho", arg, BFTM_RHO_MIN_PPM,
					    BFTM_RHO_MAX_PPM);
		return 0;
	case 'L':
		start->max_locks = ctl_number(state, "--max-locks", arg, BFTM_LOCKS_MIN,
					      BFTM_LOCKS_MAX);
		return 0;
	case 'c':
		start->max_clients = ctl_number(state, "--max-clients", arg, BFTM_CLIENTS_MIN,
						BFTM_CLIENTS_MAX);
		return 0;
	case ARGP_KEY_END:
		if (!start->key)
			argp_error(state, "--key FILE is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp start_argp = {
	.options = start_options,
	.parser = parse_start,
	.doc = "Start the lock server of this network namespace. It answers at once and "
	       "grants locks when its quarantine is over.",
	.children = ctl_common,
};

/* The message to the module; what the user left out is the module's to choose. */
static struct nl_msg *start_message(struct bftm_nl *nl, const struct start *start,
				    const struct bftm_master *master)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_START, 0);
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
	if (start->max_locks)
		r |= nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, start->max_locks);
	if (start->max_clients)
		r |= nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_CLIENTS, start->max_clients);
	if (r) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int report_start(struct bftm_nl *nl)
{
	struct json_object *server;
	int r;

	r = ctl_server_get(nl, &server);
	if (r < 0)
		return ctl_refused(nl, r, CTL_SERVER);
	if (!ctl_json)
		puts("The server runs. It grants nothing until its quarantine is over.\n");
	ctl_print(server);
	json_object_put(server);
	return 0;
}

static int start_server(const struct start *start, const struct bftm_master *master)
{
	unsigned int port = start->port ? start->port : BFTM_PORT_DEFAULT;
	struct bftm_nl nl;
	int r;

	r = ctl_open(&nl);
	if (r)
		return r;
	r = bftm_nl_call(&nl, start_message(&nl, start, master), NULL, 0, NULL);
	if (r == 0)
		r = report_start(&nl);
	else if (r == -EEXIST)
		r = ctl_fail(EX_UNAVAILABLE,
			     "a server runs in this network namespace already; see 'server show'");
	else if (r == -EADDRINUSE)
		r = ctl_fail(EX_UNAVAILABLE, "UDP port %u is taken; choose another by --port",
			     port);
	else
		r = ctl_refused(&nl, r, CTL_SERVER);
	bftm_nl_close(&nl);
	return r;
}

int ctl_server_start(int argc, char **argv)
{
	struct start start = {};
	struct bftm_master master;
	int r;

	argp_parse(&start_argp, argc, argv, 0, NULL, &start);
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

static error_t parse_stop(int key, char *arg, struct argp_state *state)
{
	u64 *id = state->input;

	if (key != 'i')
		return ARGP_ERR_UNKNOWN;
	*id = ctl_number(state, "--id", arg, 1, BFTM_SERVER_ID_MAX);
	return 0;
}

int ctl_server_stop(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "id", 'i', "N", 0, "Only if it is this one", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_stop,
		.doc = "Stop the lock server of this network namespace. What it granted stays "
		       "granted by the other servers.",
		.children = ctl_common,
	};
	struct json_object *done;
	struct bftm_nl nl;
	struct nl_msg *msg;
	u64 id = 0;
	int r;

	argp_parse(&argp, argc, argv, 0, NULL, &id);
	r = ctl_open(&nl);
	if (r)
		return r;
	msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_STOP, 0);
	if (msg && id)
		nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, id);
	r = bftm_nl_call(&nl, msg, NULL, 0, NULL);
	if (r == -ENOENT && id)
		r = ctl_fail(EX_UNAVAILABLE, "server %u does not run in this network namespace",
			     (unsigned int)id);
	else if (r < 0)
		r = ctl_refused(&nl, r, CTL_SERVER);
	else {
		done = json_object_new_object();
		json_object_object_add(done, "stopped", json_object_new_boolean(true));
		ctl_print(done);
		json_object_put(done);
	}
	bftm_nl_close(&nl);
	return r;
}

int ctl_server_show(int argc, char **argv)
{
	struct json_object *server;
	struct bftm_nl nl;
	int r;

	ctl_no_options(argc, argv, "Describe the lock server of this network namespace.");
	r = ctl_open(&nl);
	if (r)
		return r;
	r = ctl_server_get(&nl, &server);
	if (r < 0) {
		r = ctl_refused(&nl, r, CTL_SERVER);
	} else {
		ctl_print(server);
		json_object_put(server);
	}
	bftm_nl_close(&nl);
	return r;
}
