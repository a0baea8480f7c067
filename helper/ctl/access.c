// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl server access: the access rules of the server here. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <netlink/msg.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/roll.h"
#include "text/json.h"

/* Most bytes that a rule takes in a message, and an eviction, or a client of the roll. */
#define RULE_SIZE 128
#define EVICTION_SIZE 32

static int put_rule(struct nl_msg *msg, const struct bftm_rule *rule)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);
	int r = nest ? 0 : -1;

	r |= nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, rule->client_first);
	r |= nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, rule->client_last);
	if (rule->prefix_len)
		r |= nla_put(msg, BFTMUTEX_A_RULE_PREFIX, rule->prefix_len, rule->prefix);
	if (rule->deny)
		r |= nla_put_flag(msg, BFTMUTEX_A_RULE_DENY);
	if (rule->leaseless)
		r |= nla_put_flag(msg, BFTMUTEX_A_RULE_LEASELESS);
	if (rule->lease_max_ns)
		r |= nla_put_u64(msg, BFTMUTEX_A_RULE_LEASE_MAX_NS, rule->lease_max_ns);
	if (rule->waiters_max)
		r |= nla_put_u32(msg, BFTMUTEX_A_RULE_MAX_WAITERS, rule->waiters_max);
	if (nest)
		nla_nest_end(msg, nest);
	return r;
}

static int put_eviction(struct nl_msg *msg, u32 client, u32 incarnation)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_EVICTION | NLA_F_NESTED);
	int r = nest ? 0 : -1;

	r |= nla_put_u32(msg, BFTMUTEX_A_EVICTION_CLIENT, client);
	r |= nla_put_u32(msg, BFTMUTEX_A_EVICTION_INCARNATION, incarnation);
	if (nest)
		nla_nest_end(msg, nest);
	return r;
}

struct nl_msg *ctl_rules_msg(struct bftm_nl *nl, u8 cmd, const struct bftm_conf_access *access,
			     const struct ctl_evicted *evicted, const struct ctl_roll *roll)
{
	struct nl_msg *msg = bftm_nl_msg(nl, cmd, 0);
	int r = 0;
	u32 i;

	if (!msg)
		return NULL;
	if (access->count || evicted->count || (roll && roll->count))
		r = nlmsg_expand(msg, (size_t)getpagesize() + access->count * RULE_SIZE +
				 (evicted->count + (roll ? roll->count : 0)) * EVICTION_SIZE);
	for (i = 0; i < access->count && r == 0; i++)
		r = put_rule(msg, &access->rule[i]);
	for (i = 0; i < evicted->count && r == 0; i++)
		r = put_eviction(msg, evicted->client[i], evicted->incarnation[i]);
	if (roll && r == 0)
		r = ctl_roll_put(roll, msg);
	if (r == 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Writes the range of clients as one word. */
static const char *clients_text(u64 first, u64 last, char ret[32])
{
	if (first == 1 && last == BFTM_CLIENT_ID_MAX)
		strcpy(ret, "any");
	else if (first == last)
		snprintf(ret, 32, "%llu", (unsigned long long)first);
	else
		snprintf(ret, 32, "%llu-%llu", (unsigned long long)first, (unsigned long long)last);
	return ret;
}

/* Does each client and name that fits @rule fit @earlier? */
static bool hides(const struct bftm_rule *earlier, const struct bftm_rule *rule)
{
	return earlier->client_first <= rule->client_first &&
	       earlier->client_last >= rule->client_last &&
	       earlier->prefix_len <= rule->prefix_len &&
	       !memcmp(earlier->prefix, rule->prefix, earlier->prefix_len);
}

static void warn_hidden(const struct bftm_conf_access *access)
{
	const struct bftm_rule *earlier, *rule;
	char is[32], was[32];
	u32 i, j;

	for (i = 1; i < access->count; i++) {
		rule = &access->rule[i];
		for (j = 0; j < i && !hides(&access->rule[j], rule); j++)
			;
		if (j == i)
			continue;
		earlier = &access->rule[j];
		warnx("access rule %u (client = %s) is never used: rule %u (client = %s) comes before it, and is for the same clients and names or more; put it before that rule, or remove it",
		      i + 1, clients_text(rule->client_first, rule->client_last, is), j + 1,
		      clients_text(earlier->client_first, earlier->client_last, was));
	}
}

void ctl_warn_rules(const struct bftm_conf_access *access)
{
	u32 i;

	warn_hidden(access);
	for (i = 0; i < access->count; i++)
		if (!access->rule[i].deny)
			return;
	if (access->count)
		warnx("no rule allows anything, so all clients are refused; "
		      "'access { client = any }' as the last rule allows all other requests");
}

int ctl_conf_failed(int error)
{
	switch (-error) {
	case EINVAL:
		return EX_CONFIG;
	case EACCES:
		return EX_NOPERM;
	case ENOMEM:
		return EX_OSERR;
	}
	return EX_NOINPUT;
}

/* The rules that a configuration has for a cluster; -ENOENT when it does not describe it. */
static int conf_access(const char *path, u32 cluster, struct bftm_conf_access *ret)
{
	struct bftm_conf *conf;
	int r;
	u32 i;

	r = bftm_conf_load(path, &conf);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (i = 0; i < conf->count && r < 0; i++) {
		if (conf->cluster[i].id != cluster)
			continue;
		*ret = conf->access[i];
		conf->access[i].rule = NULL;	/* the caller owns them now */
		r = 0;
	}
	bftm_conf_free(conf);
	return r;
}

struct access_set {
	const char *file;
	const char *config;
	const char *state;
};

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
	struct access_set *set = state->input;

	switch (key) {
	case 'f':
		set->config = arg;
		return 0;
	case 's':
		set->state = ctl_state_dir(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (set->file)
			argp_error(state, "'%s': FILE can be given once, and '%s' was given",
				   arg, set->file);
		set->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (set->file && set->config)
			argp_error(state, "FILE and --config exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/**
 * struct access_here - the server that runs here
 * @cluster: number of its cluster, whose rules a configuration has
 * @id:      its number
 * @members: how many clients may hold locks without a lease by the rules that it has
 */
struct access_here {
	u32 cluster, members;
	u16 id;
};

static int served(struct bftm_nl *nl, struct access_here *ret)
{
	struct json_object *server;
	int r;

	r = ctl_server_get(nl, &server);
	if (r < 0)
		return ctl_refused(nl, r, CTL_SERVER);
	ret->cluster = json_object_get_uint64(ctl_member(server, "cluster"));
	ret->id = json_object_get_uint64(ctl_member(server, "id"));
	ret->members = json_object_get_uint64(ctl_member(server, "members"));
	json_object_put(server);
	return 0;
}

static int load_set(const struct access_set *set, u32 cluster, struct bftm_conf_access *ret)
{
	const char *config = set->config ? set->config : BFTM_CONF_PATH;
	int r;

	if (set->file) {
		r = bftm_conf_load_access(set->file, ret);
		return r < 0 ? ctl_conf_failed(r) : 0;
	}
	if (access(config, R_OK) < 0)
		return ctl_fail(ctl_conf_failed(-errno), "%s: %s", config, strerror(errno));
	r = conf_access(config, cluster, ret);
	if (r == -ENOENT)
		return ctl_fail(EX_CONFIG, "%s: has no cluster with id = %u, which the server here serves",
				config, cluster);
	return r < 0 ? ctl_conf_failed(r) : 0;
}

static bool has_leaseless(const struct bftm_conf_access *access)
{
	u32 i;

	for (i = 0; i < access->count; i++)
		if (access->rule[i].leaseless)
			return true;
	return false;
}

/*
 * Only the rights to hold locks without a lease are noted, and only the evictions of clients that
 * have them count. So another folder does no harm where the rules give and take no such right.
 */
static int put_rules(struct bftm_nl *nl, const struct access_set *set,
		     const struct access_here *here, const struct bftm_conf_access *access)
{
	static struct ctl_evicted evicted;
	int r = 0, fd = -1;

	if (here->members || has_leaseless(access))
		r = ctl_state_hold(set->state, here->cluster, here->id,
				   "which clients may hold locks without a lease", &fd);
	r = r ?: ctl_evicted_load(set->state, here->cluster, here->id, &evicted);
	if (!r) {
		r = bftm_nl_call(nl, ctl_rules_msg(nl, BFTMUTEX_CMD_ACCESS_SET, access, &evicted, NULL),
				 NULL, 0, NULL);
		r = r < 0 ? ctl_refused(nl, r, CTL_SERVER) :
			    ctl_rights_note(set->state, here->cluster, here->id, access);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static int set_rules(struct bftm_nl *nl, const struct access_set *set)
{
	struct bftm_conf_access access = {};
	struct access_here here = {};
	struct json_object *done;
	int r;

	r = served(nl, &here) ?: load_set(set, here.cluster, &access);
	r = r ?: put_rules(nl, set, &here, &access);
	if (!r)
		ctl_warn_rules(&access);
	free(access.rule);
	if (r)
		return r;
	if (!access.count && !ctl_json)
		puts("Access: " CTL_ACCESS_ALL ".");
	done = json_object_new_object();
	bftm_json_add_number(done, "rules", access.count);
	ctl_print(done);
	json_object_put(done);
	return 0;
}

static int run_set(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "config", 'f', "FILE", 0,
		  "Take the rules of the cluster that is served here from this configuration ("
		  BFTM_CONF_PATH ")", 0 },
		{ "state", 's', "DIR", 0, "Folder that 'server start' has its notes in (" CTL_STATE_DIR ")", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_set,
		.args_doc = "[FILE]",
		.doc = "Replace the access rules of the server at once: by those in FILE, which has "
		       "nothing but sections 'access', or by those of the configuration.",
		.children = ctl_common,
	};
	struct access_set set = { .state = CTL_STATE_DIR };
	struct bftm_nl nl;
	int r;

	ctl_parse(&argp, argc, argv, 0, &set);
	r = ctl_open(&nl);
	if (r)
		return r;
	r = set_rules(&nl, &set);
	bftm_nl_close(&nl);
	return r;
}

/* For people. */
static struct json_object *clients_of(struct json_object *rule)
{
	u64 first = json_object_get_uint64(ctl_member(rule, "client_first"));
	u64 last = json_object_get_uint64(ctl_member(rule, "client_last"));
	char text[32];

	return json_object_new_string(clients_text(first, last, text));
}

static int take_rule(struct nlattr **attr, void *arg)
{
	struct nlattr *rule[ctl_set_max(CTL_RULE) + 1];
	struct json_object *array = arg, *row;

	if (!attr[BFTMUTEX_A_SERVER_RULE] ||
	    nla_parse_nested(rule, ctl_set_max(CTL_RULE), attr[BFTMUTEX_A_SERVER_RULE], NULL) < 0)
		return -EBADMSG;
	row = ctl_object(CTL_RULE, rule);
	if (!ctl_json)
		json_object_object_add(row, "clients", clients_of(row));
	json_object_array_add(array, row);
	return 0;
}

/* A list of the rules at one instant: if they are replaced meanwhile, it is read again. */
static int get_rules(struct bftm_nl *nl, struct json_object **ret)
{
	struct json_object *array, *server;
	int r;

	/* Without a server the list is empty as well. */
	r = ctl_server_get(nl, &server);
	if (r < 0)
		return r;
	json_object_put(server);
	for (;;) {
		array = json_object_new_array();
		r = bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_ACCESS_GET, NLM_F_DUMP),
				 take_rule, BFTMUTEX_A_SERVER_MAX, array);
		if (r == 0 && !nl->changed) {
			*ret = array;
			return 0;
		}
		json_object_put(array);
		if (r < 0)
			return r;
	}
}

static void print_rules(struct json_object *array)
{
	static const struct ctl_column columns[] = {
		{ "clients", "CLIENTS", -21 },
		{ "deny", "DENIED", -6 },
		{ "lease_max_ns", "LEASE-MAX", 10 },
		{ "max_waiters", "WAITERS", 8 },
		{ "leaseless", "LEASELESS", -9 },
		{ "prefix", "PREFIX", 0 },
		{}
	};
	struct ctl_list list = { .column = columns };
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++)
		ctl_list_row(&list, json_object_get(json_object_array_get_idx(array, i)));
	ctl_list_end(&list, "There are no access rules: " CTL_ACCESS_ALL ".");
}

static int run_show(int argc, char **argv)
{
	struct json_object *array;
	struct bftm_nl nl;
	int r;

	ctl_no_options(argc, argv,
		       "List the access rules of the server in their order: the first that fits "
		       "client and name decides, and a request that fits none is refused.");
	r = ctl_open(&nl);
	if (r)
		return r;
	r = get_rules(&nl, &array);
	if (r < 0) {
		r = ctl_refused(&nl, r, CTL_SERVER);
	} else {
		print_rules(array);
		json_object_put(array);
	}
	bftm_nl_close(&nl);
	return r;
}

int ctl_server_access(int argc, char **argv)
{
	static char program[64];
	const char *word = argc > 1 ? argv[1] : "";
	bool set = !strcmp(word, "set");

	if (ctl_asks_help(word)) {
		puts("Usage: " CTL_NAME " server access set [FILE] [OPTION...]\n"
		     "       " CTL_NAME " server access show [OPTION...]\n"
		     "Set or show who may take which locks; both have --help.");
		return 0;
	}
	if (!set && strcmp(word, "show"))
		return ctl_fail(EX_USAGE, "after 'server access' comes one of: set show");
	snprintf(program, sizeof(program), "%s %s", argv[0], word);
	argv[1] = program;
	return set ? run_set(argc - 1, argv + 1) : run_show(argc - 1, argv + 1);
}
