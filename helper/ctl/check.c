// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl check: the state of locks here as an exit status, for a monitor. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/roll.h"
#include "text/json.h"

/* Exit codes; others say that the check itself failed. */
enum verdict { WELL, DEGRADED, FAILED };

/* So often it is looked, and so long in between, whether a journal stores anything. */
#define STALLED_LOOKS	30
#define LOOK_US		100000

static const char *const verdicts[] = { "all well", "degraded", "failed" };

/**
 * struct check - the question, and the findings
 * @server:   look at the server of this host, not at its daemon
 * @fence:    fail also when fencing tokens cannot be given
 * @cluster:  check only this cluster, NULL for all
 * @verdict:  the worst so far
 * @clusters: findings of each cluster; null: the daemon could not be asked
 * @text:     all sentences
 */
struct check {
	bool server;
	bool fence;
	const char *cluster;
	enum verdict verdict;
	struct json_object *clusters;
	char text[4096];
};

__attribute__((format(printf, 3, 4)))
static void check_say(struct check *check, enum verdict verdict, const char *format, ...)
{
	size_t len = strlen(check->text);
	va_list args;

	if (check->verdict < verdict)
		check->verdict = verdict;
	if (len)
		len += (size_t)snprintf(check->text + len, sizeof(check->text) - len, "; ");
	if (len >= sizeof(check->text))
		return;
	va_start(args, format);
	vsnprintf(check->text + len, sizeof(check->text) - len, format, args);
	va_end(args);
}

static u64 check_value(struct json_object *o, const char *key)
{
	return json_object_get_uint64(ctl_member(o, key));
}

static bool is_so(struct json_object *server, const char *state)
{
	if (!strcmp(state, "refusing"))
		return ctl_member(server, "refusal");
	if (!strcmp(state, "suspect") || !strcmp(state, "recovering") ||
	    !strcmp(state, "forgot_objects") || !strcmp(state, "mute_objects"))
		return json_object_get_boolean(ctl_member(server, state));
	return !strcmp(json_object_get_string(ctl_member(server, "state")) ?: "unknown", state);
}

/* Servers in a state, or suspect, or recovering: their numbers. */
static struct json_object *in_state(struct json_object *servers, const char *state)
{
	struct json_object *list = json_object_new_array(), *server;
	size_t i;

	for (i = 0; i < ctl_length(servers); i++) {
		server = json_object_array_get_idx(servers, i);
		if (is_so(server, state))
			json_object_array_add(list, json_object_get(ctl_member(server, "id")));
	}
	return list;
}

/* "server 3 silent", "servers 3, 5 silent" */
static void say_servers(struct check *check, enum verdict verdict, struct json_object *list,
			const char *what)
{
	char ids[256] = "";
	size_t i, n = ctl_length(list), len = 0;

	for (i = 0; i < n && len < sizeof(ids); i++)
		len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%s", i ? ", " : "",
					json_object_get_string(json_object_array_get_idx(list, i)) ?: "?");
	if (n)
		check_say(check, verdict, "server%s %s %s", n > 1 ? "s" : "", ids, what);
}

/* Number of servers that can grant and know which fencing tokens were given. */
static u64 knowing(struct json_object *servers)
{
	struct json_object *server;
	const char *state;
	u64 known = 0;
	size_t i;

	for (i = 0; i < ctl_length(servers); i++) {
		server = json_object_array_get_idx(servers, i);
		state = json_object_get_string(ctl_member(server, "state")) ?: "";
		known += ctl_member(server, "token") &&
			 (!strcmp(state, "ok") || !strcmp(state, "slow"));
	}
	return known;
}

/* The states that are reported; a server in one of the first four can grant nothing. */
static const struct {
	const char *state, *words;
	enum verdict verdict;
} told[] = {
	{ "silent", "silent", DEGRADED },
	{ "unknown", "not heard of yet", DEGRADED },
	{ "quarantine", "in quarantine", DEGRADED },
	{ "forgetful", "started with a --no-quarantine above r", DEGRADED },
	{ "suspect", "suspected of lying", DEGRADED },
	{ "recovering", "waiting for members, listed by 'bftmutexctl server members' on its host", DEGRADED },
	{ "refusing", "refusing locks to this host; its bftmutexd logs why", DEGRADED },
	{ "forgot_objects", "without the memory of objects, and the others are too few: see \"When objects are lost\" in operating.rst", DEGRADED },
	{ "mute_objects", "silent about objects, and the others are too few: 'bftmutexctl check --server' on its host may tell why", DEGRADED },
	{ "slow", "slow", WELL },
};

#define STATES		(sizeof(told) / sizeof(told[0]))
#define SILENT		4

/*
 * Servers that are heard, grant, and refuse. As many as give a lock refuse alike: no host has such a
 * right or lease, and the servers are well.
 */
static u64 refusing(struct json_object *servers, u64 needed)
{
	struct json_object *server;
	u64 count = 0;
	size_t i;

	for (i = 0; i < ctl_length(servers); i++) {
		server = json_object_array_get_idx(servers, i);
		count += is_so(server, "refusing") && (is_so(server, "ok") || is_so(server, "slow"));
	}
	return count < needed ? count : 0;
}

static void check_cluster(struct check *check, struct json_object *cluster)
{
	struct json_object *servers = ctl_member(cluster, "servers"), *list[STATES];
	const char *name = json_object_get_string(ctl_member(cluster, "name")) ?: "-";
	u64 needed = check_value(cluster, "answers_needed"), b = check_value(cluster, "b");
	u64 usable = ctl_length(servers), token_needed = check_value(cluster, "token_needed");
	struct json_object *found = json_object_new_object();
	bool doubled = json_object_get_boolean(ctl_member(cluster, "doubled"));
	u64 known = knowing(servers), suspects = 0;
	size_t i;

	bftm_json_add_text(found, "name", name);
	bftm_json_add_bool(found, "doubled", doubled);
	bftm_json_add_number(found, "servers", ctl_length(servers));
	for (i = 0; i < STATES; i++) {
		list[i] = in_state(servers, told[i].state);
		json_object_object_add(found, told[i].state, list[i]);
		usable -= i < SILENT ? ctl_length(list[i]) : 0;
		suspects += i == SILENT ? ctl_length(list[i]) : 0;
	}
	usable -= refusing(servers, needed);
	/* They drop all that this host sends. */
	usable = doubled ? 0 : usable;
	bftm_json_add_number(found, "usable", usable);
	bftm_json_add_number(found, "needed", needed);
	bftm_json_add_number(found, "token_known", known);
	bftm_json_add_number(found, "token_needed", token_needed);
	json_object_array_add(check->clusters, found);
	check_say(check, usable < needed || !needed ? FAILED : WELL,
		  "cluster %s: %" PRIu64 " of %zu servers can grant, a lock needs %" PRIu64, name,
		  usable, ctl_length(servers), needed);
	for (i = 0; i < STATES; i++)
		say_servers(check, told[i].verdict, list[i], told[i].words);
	if (doubled)
		check_say(check, FAILED, "another host uses the keys of client %" PRIu64 ": give each host keys of its own, and restart bftmutexd; if there is no other host any more, restart bftmutexd",
			  check_value(cluster, "client"));
	if (suspects > b)
		check_say(check, FAILED, "suspected servers: %" PRIu64 ", no more than %" PRIu64
			  " may lie", suspects, b);
	if (check->fence && known < token_needed)
		check_say(check, FAILED, "servers that know which fencing tokens were given: %"
			  PRIu64 ", a token needs %" PRIu64, known, token_needed);
}

/* Judges the daemon's answer to "servers"; false: it does not have the cluster. */
static bool check_judge(struct check *check, struct json_object *answer)
{
	struct json_object *clusters = ctl_member(answer, "clusters"), *cluster;
	struct json_object *serving = ctl_member(answer, "serving");
	const char *name;
	bool any = false;
	size_t i;

	/* Not said by an earlier daemon. */
	if (serving && !json_object_get_boolean(serving))
		check_say(check, FAILED, "bftmutexd serves no kernel: the module is not loaded, or is of another version; its log says which");
	check->clusters = json_object_new_array();
	for (i = 0; i < ctl_length(clusters); i++) {
		cluster = json_object_array_get_idx(clusters, i);
		name = json_object_get_string(ctl_member(cluster, "name"));
		if (check->cluster && (!name || strcmp(check->cluster, name)))
			continue;
		check_cluster(check, cluster);
		any = true;
	}
	if (!any && !check->cluster)
		check_say(check, FAILED, "bftmutexd has no cluster, or no credentials");
	return any || !check->cluster;
}

static int check_clusters(struct check *check)
{
	struct json_object *answer;
	bool there;
	int r = ctl_ask_helper("servers", &answer);

	if (r == -ECONNREFUSED || r == -EAGAIN) {
		check_say(check, FAILED, "bftmutexd %s",
			  r == -EAGAIN ? "does not answer" : "does not run");
		return 0;
	}
	if (r < 0)
		return ctl_helper_failed(r);
	there = check_judge(check, answer);
	json_object_put(answer);
	if (!there)
		return ctl_fail(EX_CONFIG, "bftmutexd has no cluster '%s', or no credentials",
				check->cluster);
	return 0;
}

const char *ctl_check_words(const char *cluster)
{
	static struct check check;

	check = (struct check){ .cluster = cluster };
	if (check_clusters(&check) || check.verdict == WELL)
		*check.text = '\0';
	json_object_put(check.clusters);
	return check.text;
}

int ctl_judge(struct json_object *answer, char *text, size_t room)
{
	struct check check = {};

	check_judge(&check, answer);
	json_object_put(check.clusters);
	snprintf(text, room, "%s: %s", verdicts[check.verdict], check.text);
	return (int)check.verdict;
}

static u64 journalled(struct json_object *server)
{
	return check_value(ctl_member(server, "stats"), "journalled");
}

/* Its process is there, and stores nothing of what waits: the disk hangs, or it was stopped. */
static bool is_stalled(struct bftm_nl *nl, struct json_object *server)
{
	bool stalled = check_value(server, "unsaved");
	struct json_object *later;
	int looks;

	for (looks = 0; stalled && looks < STALLED_LOOKS; looks++) {
		usleep(LOOK_US);
		if (ctl_server_get(nl, &later) < 0)
			return false;
		stalled = check_value(later, "unsaved") && journalled(later) == journalled(server);
		json_object_put(later);
	}
	return stalled;
}

static void say_journal(struct check *check, struct bftm_nl *nl, struct json_object *server)
{
	const char *journal = json_object_get_string(ctl_member(server, "journal"));

	if (!journal)
		return;
	if (!strcmp(journal, "detached"))
		check_say(check, DEGRADED, "nothing writes its journal, so it is silent about objects that changed: start 'bftmutexctl server journal'");
	else if (!strcmp(journal, "loading"))
		check_say(check, DEGRADED, "its objects are being loaded, and until then it is silent about them");
	else if (is_stalled(nl, server))
		check_say(check, DEGRADED, "its journal has stored nothing for %d s, and %" PRIu64 " objects wait for it, about which it is silent: does the disk answer, was 'server journal' stopped?",
			  STALLED_LOOKS * LOOK_US / 1000000, check_value(server, "unsaved"));
}

/* The server refuses clients that its roll does not name, and has no counter of them. */
static void say_roll(struct check *check, struct bftm_nl *nl, struct json_object *server)
{
	u32 waiting;

	if (json_object_get_boolean(ctl_member(server, "roll")) &&
	    ctl_roll_waiting(nl, &waiting) == 0 && waiting)
		check_say(check, DEGRADED, "%u clients wait for its roll before they get locks without a lease; does 'server roll' run?",
			  waiting);
}

static int count_recovering(struct nlattr **attr, void *arg)
{
	u32 *count = arg;

	*count += attr[BFTMUTEX_A_OBJECT_RECOVERING] != NULL;
	return 0;
}

/* Names that clients asked for; of others a server that was restarted need not know anything. */
static void say_objects(struct check *check, struct bftm_nl *nl)
{
	u32 count = 0;

	if (bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_OBJECT_GET, NLM_F_DUMP), count_recovering,
			 ctl_set_max(CTL_OBJECT), &count) == 0 && count)
		check_say(check, DEGRADED, "it has lost its memory of objects, and waits for %u of those that clients ask for ('bftmutexctl objects' lists them); if they do not come back, see \"When objects are lost\" in operating.rst",
			  count);
}

static int check_server(struct check *check)
{
	struct json_object *server;
	struct bftm_nl nl;
	bool waits;
	int r = bftm_nl_open(&nl);
	char why[256];

	if (r < 0) {
		if (r == -EPROTO)
			bftm_nl_other_version(why, sizeof(why));
		else if (r == -ENOENT || r == -EPROTONOSUPPORT)
			snprintf(why, sizeof(why), "the kernel module is not loaded");
		else
			snprintf(why, sizeof(why), "netlink: %s", strerror(-r));
		check_say(check, FAILED, "%s", why);
		return 0;
	}
	r = ctl_server_get(&nl, &server);
	if (r == -ENOENT)
		check_say(check, FAILED, "no server runs here");
	else if (r < 0)
		ctl_refused(&nl, r, CTL_SERVER);
	if (r < 0) {
		bftm_nl_close(&nl);
		return r == -ENOENT ? 0 : EX_OSERR;
	}
	waits = check_value(server, "no_quarantine") ? 0 : check_value(server, "quarantine_ns");
	check_say(check, waits ? DEGRADED : WELL, "server %" PRIu64 " of cluster %" PRIu64 " %s",
		  check_value(server, "id"), check_value(server, "cluster"),
		  waits ? "is in quarantine" : "grants locks");
	if (check_value(server, "awaited"))
		check_say(check, DEGRADED, "it waits for %" PRIu64 " clients that may hold locks without a lease, and grants none of these locks; 'server members' lists them",
			  check_value(server, "awaited"));
	say_roll(check, &nl, server);
	if (json_object_get_boolean(ctl_member(server, "recovering")))
		say_objects(check, &nl);
	say_journal(check, &nl, server);
	bftm_nl_close(&nl);
	json_object_put(server);
	return 0;
}

static void print_check(const struct check *check)
{
	struct json_object *all;

	if (!ctl_json) {
		printf("%s: %s\n", verdicts[check->verdict], check->text);
		return;
	}
	all = json_object_new_object();
	bftm_json_add_number(all, "status", check->verdict);
	bftm_json_add_text(all, "verdict", verdicts[check->verdict]);
	bftm_json_add_text(all, "reason", check->text);
	json_object_object_add(all, "clusters", json_object_get(check->clusters));
	ctl_print_json(all);
	json_object_put(all);
}

static error_t check_parse(int key, char *arg, struct argp_state *state)
{
	struct check *check = state->input;

	switch (key) {
	case 's':
		check->server = true;
		return 0;
	case 'F':
		check->fence = true;
		return 0;
	case 'C':
		check->cluster = arg;
		return 0;
	case ARGP_KEY_END:
		if (check->server && (check->cluster || check->fence))
			argp_error(state, "--server goes with neither --cluster nor --fence");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int ctl_check(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "cluster", 'C', "NAME", 0, "Only this cluster", 0 },
		{ "fence", 'F', NULL, 0, "Fail also when fencing tokens cannot be given", 0 },
		{ "server", 's', NULL, 0, "Look at the server that runs here, not at the daemon", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = check_parse,
		.children = ctl_common,
		.doc = "Tell a monitor, by a line and by the exit status, whether programs get locks on "
		"this host. 0, all well: they do. 1, degraded: they do, but a server is silent, in "
		"quarantine or suspect. 2, failed: they do not. Any other status: the check itself "
		"failed.",
	};
	struct check check = {};
	int r;

	ctl_parse(&argp, argc, argv, 0, &check);
	r = check.server ? check_server(&check) : check_clusters(&check);
	if (!r)
		print_check(&check);
	json_object_put(check.clusters);
	return r ? r : (int)check.verdict;
}
