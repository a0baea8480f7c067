// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl keygen: its options and its output. */
#include <stdio.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "text/json.h"

#define RANGES_MAX 64

struct keygen {
	const char *dir;
	u32 cluster, servers, clients;
	struct ctl_range client[RANGES_MAX];
};

/* "1-4,9": rising, so that no number comes twice. */
static void parse_clients(struct argp_state *state, char *arg, struct keygen *ret)
{
	char *list = arg, *item, *end;
	u64 first, last, before = 0, total = 0;

	while ((item = strsep(&list, ","))) {
		end = strchr(item, '-');
		if (end)
			*end++ = '\0';
		first = ctl_number(state, "--clients", item, 1, BFTM_CLIENT_ID_MAX);
		last = end ? ctl_number(state, "--clients", end, 1, BFTM_CLIENT_ID_MAX) : first;
		total += last - first + 1;
		if (first <= before || last < first)
			argp_error(state, "--clients: %llu-%llu: numbers must rise, as in 1-4,9, and %llu came before",
				   (unsigned long long)first, (unsigned long long)last,
				   (unsigned long long)before);
		if (total > BFTM_CLIENTS_DEFAULT || ret->clients == RANGES_MAX)
			argp_error(state, "--clients: must be at most %u clients in %u ranges",
				   BFTM_CLIENTS_DEFAULT, RANGES_MAX);
		ret->client[ret->clients++] = (struct ctl_range){ first, last };
		before = last;
	}
}

static error_t keygen_parse(int key, char *arg, struct argp_state *state)
{
	struct keygen *keygen = state->input;

	switch (key) {
	case 'C':
		keygen->cluster = ctl_number(state, "--cluster", arg, 1, UINT32_MAX);
		return 0;
	case 's':
		keygen->servers = ctl_number(state, "--servers", arg, 1, BFTM_SERVERS_MAX);
		return 0;
	case 'c':
		keygen->clients = 0;
		parse_clients(state, arg, keygen);
		return 0;
	case 'd':
		keygen->dir = arg;
		return 0;
	case ARGP_KEY_END:
		if (!keygen->dir)
			argp_error(state, "--dir DIR is missing");
		if (!keygen->servers != !keygen->cluster)
			argp_error(state, "--cluster and --servers must be given together");
		if (!keygen->servers && !keygen->clients)
			argp_error(state,
				   "give --cluster and --servers for new keys, or --clients to add clients");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A path may be any bytes. */
static void print_made_json(struct json_object *made)
{
	struct json_object *all = json_object_new_array(), *entry, *of;
	const char *file;
	size_t i;

	for (i = 0; i < json_object_array_length(made); i++) {
		of = json_object_array_get_idx(made, i);
		file = ctl_made_file(made, i);
		entry = json_object_new_object();
		bftm_json_add_text(entry, "file", file);
		json_object_object_add(entry, "kind",
				       json_object_get(json_object_object_get(of, "kind")));
		json_object_object_add(entry, "id",
				       json_object_get(json_object_object_get(of, "id")));
		json_object_array_add(all, entry);
	}
	ctl_print_json(all);
	json_object_put(all);
}

static void print_made(struct json_object *made)
{
	size_t i;

	puts("Made these files, readable by their owner only, except ranks:");
	for (i = 0; i < json_object_array_length(made); i++)
		printf("  %s\n", ctl_made_file(made, i));
	puts("\nCopy server-N.key to server N alone, for 'bftmutexctl server start --key FILE',\n"
	     "and client-N.client to client N alone, to " BFTM_KEYS_DIR ": as 'credentials' of its\n"
	     "configuration says, or as NAME.client for a cluster that is called NAME there.\n"
	     "For 'signed-ranks = yes' also client-N.rank to client N alone, as NAME.rank\n"
	     "there, and ranks, which is no secret, to all clients.\n"
	     "Keep the servers' keys in a safe place: further clients are made from them.");
}

int ctl_keygen(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "cluster", 'C', "N", 0, "Number of a new cluster", 0 },
		{ "servers", 's', "N", 0, "Number of its servers", 0 },
		{ "clients", 'c', "LIST", 0, "Numbers of clients to make keys for: 1-4,9", 0 },
		{ "client", 0, NULL, OPTION_ALIAS, NULL, 0 },
		{ "dir", 'd', "DIR", 0, "Folder for the files (required)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = keygen_parse,
		.doc = "Make key files: server-N.key, the master key of a server; client-N.client, a "
		       "client's keys for all servers; client-N.rank, the key with which the client "
		       "signs ranks; and ranks, the public keys of all clients. Without --servers, add "
		       "clients to the servers whose keys are in DIR. No file is ever overwritten except "
		       "ranks, to which the new clients are added.",
		.children = ctl_common,
	};
	struct keygen keygen = {};
	struct json_object *made;
	int r;

	ctl_parse(&argp, argc, argv, 0, &keygen);
	made = json_object_new_array();
	if (keygen.servers)
		r = ctl_make_keys(keygen.dir, keygen.cluster, keygen.servers, keygen.client,
				  keygen.clients, made);
	else
		r = ctl_add_clients(keygen.dir, keygen.client, keygen.clients, made);
	if (r == 0 && ctl_json)
		print_made_json(made);
	else if (r == 0)
		print_made(made);
	/* Keys whose names were not printed would be in the way of the next attempt. */
	if (r == 0 && (fflush(stdout) || ferror(stdout))) {
		ctl_undo_made(made);
		r = EX_IOERR;	/* main() prints the error */
	}
	ctl_ranks_done(keygen.dir);
	json_object_put(made);
	return r;
}
