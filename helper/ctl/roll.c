// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl server roll: keeps the roll of the server of this network namespace. Each member that
 * the server hears of is written to the file, and then the server may grant it locks without a
 * lease. The file has to name the members that are awaited and those that were noted. The server
 * alone knows them, so that a process that was killed leaves nothing behind.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <netlink/attr.h>

#include "ctl/roll.h"
#include "loop/log.h"

/* A host that has just started waits so long for its first lock without a lease. */
static const struct timespec look_again = { .tv_nsec = 250 * 1000000 };
static const struct timespec at_once;

static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

/**
 * struct roll_keeper - the process
 * @nl:      connection to the module
 * @dir:     state directory
 * @path:    of the file
 * @cluster: of the server
 * @start:   number of the server's start
 * @said:    a client that cannot be noted was named
 * @server:  its number
 * @written: the file is as @file
 * @count:   of @news
 * @news:    incarnations that the server has heard of, and that are not noted yet
 * @file:    what the file has
 * @now:     what it is to have
 */
struct roll_keeper {
	struct bftm_nl nl;
	const char *dir;
	char path[PATH_MAX];
	u64 start;
	u32 cluster, server;
	bool written, said;
	u32 count;
	struct { u32 client, incarnation; } news[BFTM_MEMBERS_MAX];
	struct ctl_roll file, now;
};

static int take_server(struct nlattr **attr, void *arg)
{
	struct roll_keeper *k = arg;

	if (!attr[BFTMUTEX_A_SERVER_CLUSTER] || !attr[BFTMUTEX_A_SERVER_ID])
		return -EPROTO;
	k->cluster = nla_get_u32(attr[BFTMUTEX_A_SERVER_CLUSTER]);
	k->server = nla_get_u16(attr[BFTMUTEX_A_SERVER_ID]);
	k->start = attr[BFTMUTEX_A_SERVER_ROLL] ? nla_get_u64(attr[BFTMUTEX_A_SERVER_ROLL]) : 0;
	return 0;
}

/* Of the server that runs here. Return: 0 or an exit code. */
static int keeper_server(struct roll_keeper *k)
{
	int r = bftm_nl_call(&k->nl, bftm_nl_msg(&k->nl, BFTMUTEX_CMD_SERVER_GET, 0), take_server,
			     ctl_set_max(CTL_SERVER), k);

	return r < 0 ? ctl_refused(&k->nl, r, CTL_SERVER) : 0;
}

/* The server has started over by itself, on a virtual machine that was cloned or set back. */
static int without_roll(struct roll_keeper *k)
{
	int r;

	k->now = (struct ctl_roll){ .unknown = true };
	r = ctl_roll_write(k->dir, k->path, &k->now);
	if (r < 0)
		return ctl_fail(EX_IOERR, "%s: %s: remove this file, which does not say what clients hold since the server has begun anew",
				k->path, strerror(-r));
	return ctl_fail(EX_UNAVAILABLE,
			"the server has begun anew without its roll, since this virtual machine was cloned or set back, and grants no lock without a lease; stop the server and start it again");
}

/* Is that server the one that was started with this file? */
static int keeper_check(struct roll_keeper *k, u64 start)
{
	if (!k->start)
		return ctl_fail(EX_CONFIG, "the server was started without --roll, and has no roll");
	if (k->start == ~0ULL)
		return without_roll(k);
	if (start && k->start != start)
		return ctl_fail(EX_UNAVAILABLE, "the server was stopped and started again");
	if (ctl_state_last(k->dir, k->cluster, (u16)k->server) != k->start)
		return ctl_fail(EX_CONFIG, "--state %s: the start of the running server is not noted there; give the --state of 'server start'",
				k->dir);
	return 0;
}

static u32 number_or_0(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static int take_member(struct nlattr **attr, void *arg)
{
	u32 noted = number_or_0(attr[BFTMUTEX_A_MEMBER_NOTED]);
	u32 heard = number_or_0(attr[BFTMUTEX_A_MEMBER_INCARNATION]);
	u32 client = number_or_0(attr[BFTMUTEX_A_MEMBER_ID]);
	bool awaited = attr[BFTMUTEX_A_MEMBER_AWAITED];
	struct roll_keeper *k = arg;

	if (k->now.count == BFTM_MEMBERS_MAX)
		return -EPROTO;
	if (ctl_roll_add(&k->now, client, noted, heard, awaited)) {
		k->news[k->count].client = client;
		k->news[k->count++].incarnation = heard;
	} else if (heard > noted && !k->said) {
		k->said = true;
		fprintf(stderr, CTL_NAME ": client %u has incarnation %u, the last there is, which no roll can name: it gets no locks without a lease from this server; give its host another client number\n",
			client, heard);
	}
	return 0;
}

static int take_waiting(struct nlattr **attr, void *arg)
{
	u32 *count = arg;

	*count += number_or_0(attr[BFTMUTEX_A_MEMBER_INCARNATION]) >
		  number_or_0(attr[BFTMUTEX_A_MEMBER_NOTED]);
	return 0;
}

int ctl_roll_waiting(struct bftm_nl *nl, u32 *ret)
{
	*ret = 0;
	return bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_MEMBER_GET, NLM_F_DUMP), take_waiting,
			    ctl_set_max(CTL_MEMBER), ret);
}

/* Return: 0 or an exit code. If the rules were replaced meanwhile, some may be missing: again. */
static int keeper_look(struct roll_keeper *k)
{
	int r;

	do {
		k->count = 0;
		k->now = (struct ctl_roll){ .start = k->start };
		r = bftm_nl_call(&k->nl, bftm_nl_msg(&k->nl, BFTMUTEX_CMD_MEMBER_GET, NLM_F_DUMP),
				 take_member, ctl_set_max(CTL_MEMBER), k);
	} while (r == 0 && k->nl.changed);
	return r < 0 ? ctl_refused(&k->nl, r, CTL_MEMBER) : 0;
}

static int keeper_write(struct roll_keeper *k)
{
	int r;

	if (k->written && !memcmp(&k->file, &k->now, sizeof(k->now)))
		return 0;
	r = ctl_roll_write(k->dir, k->path, &k->now);
	if (r < 0)
		return ctl_fail(EX_IOERR, "%s: %s: the roll cannot be written, and clients that it does not name get no locks without a lease from this server",
				k->path, strerror(-r));
	k->file = k->now;
	k->written = true;
	return 0;
}

/* The file has them. A member that has lost its right meanwhile needs no note. */
static int keeper_note(struct roll_keeper *k)
{
	struct nl_msg *msg;
	int r = 0;
	u32 i;

	for (i = 0; i < k->count && r == 0; i++) {
		msg = bftm_nl_msg(&k->nl, BFTMUTEX_CMD_MEMBER_NOTE, 0);
		if (msg) {
			nla_put_u32(msg, BFTMUTEX_A_MEMBER_ID, k->news[i].client);
			nla_put_u32(msg, BFTMUTEX_A_MEMBER_NOTED, k->news[i].incarnation);
			nla_put_u64(msg, BFTMUTEX_A_MEMBER_ROLL, k->start);
		}
		r = bftm_nl_call(&k->nl, msg, NULL, 0, NULL);
		if (r == -ESRCH)
			r = 0;
	}
	/* Another start of the server: the next look says so. */
	return r < 0 && r != -ESTALE ? ctl_refused(&k->nl, r, CTL_MEMBER) : 0;
}

static int roll_follow(struct roll_keeper *k)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t ours, before;
	u64 start = 0;
	int r = 0;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigprocmask(SIG_BLOCK, &ours, &before);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	while (!ending) {
		ppoll(NULL, 0, start ? &look_again : &at_once, &before);
		r = keeper_server(k) ?: keeper_check(k, start) ?: keeper_look(k) ?:
		    keeper_write(k) ?: keeper_note(k);
		if (r)
			return r;
		if (!start)
			fprintf(stderr, CTL_NAME ": the roll of server %u of cluster %u is kept in %s\n",
				k->server, k->cluster, k->path);
		start = k->start;
	}
	return 0;
}

/* Of two processes the one that is behind would take from the file what the other has noted. */
static int roll_alone(struct roll_keeper *k, int *ret_fd)
{
	int r = ctl_roll_lock(k->dir, k->cluster, (u16)k->server, ret_fd);

	return r < 0 ? ctl_roll_unlocked(k->dir, k->cluster, (u16)k->server, r) : 0;
}

static int roll_keep(struct roll_keeper *k)
{
	int fd = -1, r = ctl_open(&k->nl);

	if (r)
		return r;
	r = keeper_server(k);
	if (r == 0) {
		ctl_roll_path(k->dir, k->cluster, (u16)k->server, k->path);
		r = keeper_check(k, 0) ?: roll_alone(k, &fd) ?: roll_follow(k);
	}
	if (fd >= 0)
		close(fd);
	bftm_nl_close(&k->nl);
	return r;
}

static error_t roll_parse(int key, char *arg, struct argp_state *state)
{
	struct roll_keeper *k = state->input;

	if (key != 's')
		return ARGP_ERR_UNKNOWN;
	k->dir = ctl_state_dir(state, arg);
	return 0;
}

int ctl_server_roll(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "state", 's', "DIR", 0, "State directory of the server's start (" CTL_STATE_DIR ")", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = roll_parse,
		.doc = "Keep the roll of the server of this network namespace: the file that names the "
		       "clients which may hold locks without a lease. The server has to be started with "
		       "--roll, and grants such locks only to clients that the roll names. The command "
		       "runs until it is stopped.",
		.children = ctl_common,
	};
	static struct roll_keeper k = { .dir = CTL_STATE_DIR };

	/* The process may run for years, and end when its standard error is not open any more. */
	bftm_log_stderr(CTL_NAME);
	ctl_parse(&argp, argc, argv, 0, &k);
	return roll_keep(&k);
}
