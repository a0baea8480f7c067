// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl client evict: a client that may hold locks without a lease is cut off. Its evictions
 * are noted in the state directory: a server that is started again and did not know of them would
 * take REASSERT from a client that goes on to run.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "text/json.h"

static const char *evicted_path(const char *dir, u32 cluster, u16 server, char *ret)
{
	char state[PATH_MAX];

	ctl_state_path(dir, cluster, server, state);
	snprintf(ret, PATH_MAX, "%.*s.evicted", PATH_MAX - 16, state);
	return ret;
}

/* Later lines for the same client say more. Return: false when there are too many. */
static bool add(struct ctl_evicted *e, u32 client, u32 incarnation)
{
	u32 i;

	for (i = 0; i < e->count && e->client[i] != client; i++)
		;
	if (i == BFTM_MEMBERS_MAX)
		return false;
	if (i == e->count)
		e->incarnation[e->count++] = 0;
	e->client[i] = client;
	if (incarnation > e->incarnation[i])
		e->incarnation[i] = incarnation;
	return true;
}

#define EVICT_AGAIN \
	"remove the file, start the server, and evict again each client that the other servers have evicted: EVICTED-UP-TO of 'server members' there"

static int read_lines(FILE *file, const char *path, struct ctl_evicted *ret)
{
	char line[128];
	u32 client, incarnation, number = 0;
	int end;

	while (fgets(line, sizeof(line), file)) {
		number++;
		end = 0;
		if (strchr(line, '-') ||
		    sscanf(line, "client %u incarnation %u %n", &client, &incarnation, &end) != 2 ||
		    !end || line[end] || !client || !incarnation)
			return ctl_fail(EX_DATAERR,
					"%s:%u: must be 'client NUMBER incarnation NUMBER': correct the line; or "
					EVICT_AGAIN, path, number);
		if (!add(ret, client, incarnation))
			return ctl_fail(EX_DATAERR, "%s: names more than %u clients; remove those that are no members any more", path,
					BFTM_MEMBERS_MAX);
	}
	if (ferror(file))
		return ctl_fail(EX_IOERR, "%s: %s", path, strerror(errno));
	/* It has been made for an eviction. */
	if (!number)
		return ctl_fail(EX_DATAERR, "%s: is empty, so the evictions that were noted in it are lost: " EVICT_AGAIN,
				path);
	return 0;
}

int ctl_evicted_load(const char *dir, u32 cluster, u16 server, struct ctl_evicted *ret)
{
	char path[PATH_MAX];
	FILE *file;
	int r;

	ret->count = 0;
	file = fopen(evicted_path(dir, cluster, server, path), "re");
	if (!file)
		return errno == ENOENT ? 0 : ctl_fail(errno == EACCES ? EX_NOPERM : EX_NOINPUT,
						      "%s: %s", path, strerror(errno));
	r = read_lines(file, path, ret);
	fclose(file);
	return r;
}

static int write_lines(const char *dir, const char *path, const struct ctl_evicted *evicted)
{
	char *text = NULL;
	size_t len;
	FILE *to;
	u32 i;
	int r;

	to = open_memstream(&text, &len);
	if (!to)
		return ctl_fail(EX_OSERR, "%s", strerror(errno));
	for (i = 0; i < evicted->count; i++)
		fprintf(to, "client %u incarnation %u\n", evicted->client[i],
			evicted->incarnation[i]);
	r = fclose(to) ? -errno : ctl_state_write(dir, path, text);
	free(text);
	return r < 0 ? ctl_fail(EX_CANTCREAT, "%s: %s: nothing was evicted", path, strerror(-r)) : 0;
}

/* One at a time: fence agents of several resources may call at once. */
static int note_locked(const char *dir, u32 cluster, u16 server, u32 client, u32 incarnation)
{
	static struct ctl_evicted evicted;
	char path[PATH_MAX];
	int r;

	r = ctl_evicted_load(dir, cluster, server, &evicted);
	if (r)
		return r;
	evicted_path(dir, cluster, server, path);
	if (!add(&evicted, client, incarnation))
		return ctl_fail(EX_CANTCREAT,
				"%s: names %u clients, and has no room for client %u; remove those that are no members any more",
				path, BFTM_MEMBERS_MAX, client);
	return write_lines(dir, path, &evicted);
}

int ctl_evicted_note(const char *dir, u32 cluster, u16 server, u32 client, u32 incarnation)
{
	int fd, r;

	r = ctl_state_hold(dir, cluster, server, "of the eviction", &fd);
	if (r)
		return r;
	r = note_locked(dir, cluster, server, client, incarnation);
	close(fd);
	return r;
}

struct evict {
	const char *state;
	u64 client, incarnation;
	u32 heard;	/* newest incarnation that the server has heard of; 0: none */
	bool fenced, member;
	unsigned int words;
};

static error_t parse_evict(int key, char *arg, struct argp_state *state)
{
	struct evict *e = state->input;

	switch (key) {
	case 'F':
		e->fenced = true;
		return 0;
	case 's':
		e->state = ctl_state_dir(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (e->words == 0)
			e->client = ctl_number(state, "CLIENT", arg, 1, BFTM_CLIENT_ID_MAX);
		else if (e->words == 1)
			e->incarnation = ctl_number(state, "INCARNATION", arg, 1, UINT32_MAX);
		else
			return ARGP_ERR_UNKNOWN;
		e->words++;
		return 0;
	case ARGP_KEY_END:
		if (e->words < 2)
			argp_error(state, "CLIENT and INCARNATION are needed; 'server members' lists them");
		if (!e->fenced)
			argp_error(state, "--fenced is needed: it says that client %u cannot write any more to what "
				   "its locks protect, for its power is off or the device refuses it; without "
				   "that, two clients could hold a lock", (unsigned int)e->client);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static u64 number_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return json_object_get_uint64(value);
}

static int take_member(struct nlattr **attr, void *arg)
{
	struct evict *e = arg;

	if (!attr[BFTMUTEX_A_MEMBER_ID] || nla_get_u32(attr[BFTMUTEX_A_MEMBER_ID]) != e->client)
		return 0;
	e->member = true;
	if (attr[BFTMUTEX_A_MEMBER_INCARNATION])
		e->heard = nla_get_u32(attr[BFTMUTEX_A_MEMBER_INCARNATION]);
	return 0;
}

static int find_member(struct bftm_nl *nl, struct evict *e)
{
	int r = bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_MEMBER_GET, NLM_F_DUMP), take_member,
			     ctl_set_max(CTL_MEMBER), e);

	return r < 0 ? ctl_refused(nl, r, CTL_MEMBER) : 0;
}

/* Incarnations are seconds of the wall clock; one above is a slip, and would lock the client out. */
static int check_evict(struct bftm_nl *nl, struct evict *e)
{
	u64 most = (u64)time(NULL) + 86400;
	int r;

	if (e->incarnation > most)
		return ctl_fail(EX_USAGE, "INCARNATION '%llu': must be 1 to %llu, the number of a daemon that starts tomorrow; 'server members' and 'clients' show the incarnations that the server has heard of",
				(unsigned long long)e->incarnation, (unsigned long long)most);
	r = find_member(nl, e);
	if (r)
		return r;
	if (!e->member)
		return ctl_fail(EX_DATAERR, "client %u is no member: no access rule with 'leaseless' is for it, see 'server members'",
				(unsigned int)e->client);
	return 0;
}

/* An eviction of an earlier start is right, and ends nothing of what a later one holds. */
static int judge_evict(const struct evict *e)
{
	if (e->heard <= e->incarnation)
		return 0;
	return ctl_fail(EXIT_FAILURE,
			"client %u is not evicted and keeps what it holds, for it has started again: it is incarnation %u now, above %u; if its host is cut off now, run 'client evict %u %u --fenced'",
			(unsigned int)e->client, e->heard, (unsigned int)e->incarnation,
			(unsigned int)e->client, e->heard);
}

/* Noted first: a note too much is what the administrator wants, one too little is forgotten. */
static int evict(struct bftm_nl *nl, struct evict *e)
{
	struct json_object *server, *done;
	struct nl_msg *msg;
	int r;

	r = ctl_server_get(nl, &server);
	if (r < 0)
		return ctl_refused(nl, r, CTL_SERVER);
	r = check_evict(nl, e) ?: ctl_evicted_note(e->state, (u32)number_of(server, "cluster"),
						  (u16)number_of(server, "id"), (u32)e->client,
						  (u32)e->incarnation);
	json_object_put(server);
	if (r)
		return r;
	msg = bftm_nl_msg(nl, BFTMUTEX_CMD_MEMBER_EVICT, 0);
	if (msg) {
		nla_put_u32(msg, BFTMUTEX_A_MEMBER_ID, (u32)e->client);
		nla_put_u32(msg, BFTMUTEX_A_MEMBER_EVICTED, (u32)e->incarnation);
	}
	r = bftm_nl_call(nl, msg, NULL, 0, NULL);
	if (r < 0)
		return ctl_refused(nl, r, CTL_MEMBER);
	done = json_object_new_object();
	bftm_json_add_number(done, "client", e->client);
	bftm_json_add_number(done, "evicted", e->incarnation);
	ctl_print(done);
	json_object_put(done);
	/* The server may have heard of a later start just now. */
	return find_member(nl, e) ?: judge_evict(e);
}

int ctl_client_evict(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "fenced", 'F', NULL, 0, "The client is cut off (required)", 0 },
		{ "state", 's', "DIR", 0, "Folder where the eviction is noted (" CTL_STATE_DIR ")", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_evict,
		.args_doc = "CLIENT INCARNATION",
		.doc = "Have the server that runs here forget what CLIENT holds without a lease, and refuse "
		       "requests of its incarnations (starts of its daemon) up to INCARNATION. Cut the "
		       "client's host off first; then run this command at every server. The locks change "
		       "hands when enough servers have forgotten them.",
		.children = ctl_common,
	};
	struct evict e = { .state = CTL_STATE_DIR };
	struct bftm_nl nl;
	int r;

	ctl_parse(&argp, argc, argv, 0, &e);
	r = ctl_open(&nl);
	if (r)
		return r;
	r = evict(&nl, &e);
	bftm_nl_close(&nl);
	return r;
}
