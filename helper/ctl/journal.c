// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl server journal: stores the changes of the objects of the server of this network
 * namespace. Changes are pulled, committed as a whole, and then confirmed to the server; so the
 * process may be killed at any moment.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/journal.h"
#include "loop/log.h"

/* Limits of one commit; further changes go into the next one. */
#define BATCH_OBJECTS	1024
#define BATCH_BYTES	(16u << 20)
/* A hint may be lost. */
static const struct timespec look_again = { .tv_sec = 1 }, at_once;

/* A change that was pulled and is to be confirmed. */
struct taken {
	u64 change;
	u8 name_len;
	u8 name[BFTM_OBJECT_NAME_MAX];
};

static struct ctl_arriving arriving;
static struct taken taken[BATCH_OBJECTS];
static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

int ctl_journal_failed(const char *path, const struct bftm_journal_file *j, int error)
{
	static const struct {
		int error, code;
	} codes[] = {
		{ EBADMSG, EX_DATAERR }, { ENOENT, EX_NOINPUT }, { EROFS, EX_NOPERM },
		{ EACCES, EX_NOPERM }, { EPERM, EX_NOPERM }, { EBUSY, EX_TEMPFAIL },
		{ ENOSPC, EX_IOERR }, { EIO, EX_IOERR },
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]) && codes[i].error != -error; i++)
		;
	return ctl_fail(i < sizeof(codes) / sizeof(codes[0]) ? codes[i].code : EX_OSERR,
			"journal %s: %s%s", path, j->error,
			error == -EBADMSG ? CTL_JOURNAL_BROKEN : "");
}

int ctl_journal_attach(struct bftm_nl *nl, const char *path, u64 id)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_JOURNAL_OPEN, 0);
	int r;

	if (msg)
		nla_put_u64(msg, BFTMUTEX_A_JOURNAL_ID, id);
	r = bftm_nl_call(nl, msg, NULL, 0, NULL);
	switch (-r) {
	case EBUSY:
		return ctl_fail(EX_UNAVAILABLE, "journal %s: another 'server journal' is at work for the server",
				path);
	case ESTALE:
		return ctl_fail(EX_DATAERR, "journal %s: the server was started with another file; without --file, that file is found",
				path);
	case EOPNOTSUPP:
		return ctl_fail(EX_CONFIG,
				"the server was started without --durability, and has no journal");
	}
	return r < 0 ? ctl_refused(nl, r, CTL_SERVER) : 0;
}

/**
 * struct keeper - the process
 * @path:  of the file; NULL until it is known
 * @state: directory where the server's start was noted
 * @file:  the journal, open
 * @nl:    connection to the module
 * @bytes: of bodies, in this batch
 * @count: objects in it
 */
struct keeper {
	const char *path;
	const char *state;
	struct bftm_journal_file file;
	struct bftm_nl nl;
	u32 bytes;
	u32 count;
};

/* The server has started over by itself, on a virtual machine that was cloned or set back. */
static int without_us(struct keeper *k)
{
	int r = bftm_journal_distrust(&k->file);

	if (r < 0)
		return ctl_journal_failed(k->path, &k->file, r);
	return ctl_fail(EX_UNAVAILABLE, "journal %s: the server has begun anew without it, since this virtual machine was cloned or set back; stop the server and start it with this journal again, whose content it will not trust", k->path);
}

static int pull_failed(struct keeper *k, int error)
{
	const struct bftm_nl *nl = &k->nl;

	if (error == -EOPNOTSUPP)
		return without_us(k);
	if (error == -ENOENT)
		return ctl_fail(EX_UNAVAILABLE, "journal %s: the server was stopped", k->path);
	if (error == -EPERM)
		return ctl_fail(EX_UNAVAILABLE, "journal %s: the server was stopped and started again", k->path);
	return ctl_refused(nl, error, CTL_SERVER);
}

/* Stores a whole object in the open transaction. Return: 0, 1 for none, an exit code below 0. */
static int pull_object(struct keeper *k)
{
	struct ctl_arriving *in = &arriving;
	struct taken *t = &taken[k->count];
	int r;

	in->head = false;
	do {
		in->any = false;
		r = bftm_nl_call(&k->nl, bftm_nl_msg(&k->nl, BFTMUTEX_CMD_JOURNAL_PULL, 0),
				 ctl_journal_pulled, BFTMUTEX_A_JOURNAL_MAX, in);
		if (r == -ENODATA)
			return 1;
		if (r < 0)
			return -pull_failed(k, r);
		if (!in->any)
			return -ctl_fail(EX_PROTOCOL, "the kernel module sent a change of no object: is it of the same version?");
		if (in->id && in->len == in->id->len) {
			r = bftm_journal_put_body(&k->file, &in->object, in->id, in->data);
			k->bytes += in->len;
		}
		if (r < 0)
			return -ctl_journal_failed(k->path, &k->file, r);
	} while (in->more);
	r = bftm_journal_put(&k->file, &in->object);
	if (r < 0)
		return -ctl_journal_failed(k->path, &k->file, r);
	t->change = in->change;
	t->name_len = in->object.name_len;
	memcpy(t->name, in->object.name, t->name_len);
	k->count++;
	return 0;
}

static int confirm(struct keeper *k)
{
	struct nl_msg *msg;
	u32 i;
	int r;

	for (i = 0; i < k->count; i++) {
		msg = bftm_nl_msg(&k->nl, BFTMUTEX_CMD_JOURNAL_DONE, 0);
		if (msg) {
			nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, taken[i].name_len, taken[i].name);
			nla_put_u64(msg, BFTMUTEX_A_JOURNAL_CHANGE, taken[i].change);
		}
		r = bftm_nl_call(&k->nl, msg, NULL, 0, NULL);
		if (r < 0)
			return pull_failed(k, r);
	}
	return 0;
}

/* Stores the present changes; @ret_more: pull again. Return: 0 or an exit code. */
static int keep_batch(struct keeper *k, bool *ret_more)
{
	int r;

	k->count = 0;
	k->bytes = 0;
	r = bftm_journal_begin(&k->file);
	if (r < 0)
		return ctl_journal_failed(k->path, &k->file, r);
	do {
		r = pull_object(k);
		if (r < 0)
			return -r;
	} while (r == 0 && k->count < BATCH_OBJECTS && k->bytes < BATCH_BYTES);
	/* There is no hint for an object that changed again meanwhile. */
	*ret_more = r == 0 || k->count;
	r = bftm_journal_commit(&k->file);
	if (r < 0)
		return ctl_journal_failed(k->path, &k->file, r);
	return confirm(k);
}

/* Waits for a hint, a signal to end, or @limit, which may be 0; signals come only here. */
static int wait_for_hint(struct keeper *k, const struct timespec *limit, const sigset_t *open)
{
	struct pollfd fd = { .fd = nl_socket_get_fd(k->nl.sock), .events = POLLIN };
	int r;

	if (k->nl.notified)
		limit = &at_once;
	k->nl.notified = false;
	r = ppoll(&fd, 1, limit, open);
	if (r < 0 && errno != EINTR)
		return ctl_fail(EX_OSERR, "poll: %s", strerror(errno));
	if (r <= 0)
		return 0;
	r = bftm_nl_errno(nl_recvmsgs_default(k->nl.sock));
	if (r < 0 && r != -ENOBUFS && r != -EAGAIN && r != -EINTR)
		return ctl_fail(EX_OSERR, "netlink: %s", strerror(-r));
	return 0;
}

static int follow(struct keeper *k)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t ours, before;
	bool more;
	int r = 0;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigprocmask(SIG_BLOCK, &ours, &before);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	nl_socket_disable_seq_check(k->nl.sock);
	while (r == 0 && !ending) {
		more = false;
		r = keep_batch(k, &more);
		if (r == 0)
			r = wait_for_hint(k, more ? &at_once : &look_again, &before);
	}
	return r;
}

/* The file that the server of this namespace was started with, from the state directory. */
static int find_file(struct keeper *k, char path[PATH_MAX])
{
	struct json_object *server, *cluster = NULL, *id = NULL;
	struct bftm_nl nl;
	int r = ctl_open(&nl);

	if (r)
		return r;
	r = ctl_server_get(&nl, &server);
	if (r < 0)
		r = ctl_refused(&nl, r, CTL_SERVER);
	bftm_nl_close(&nl);
	if (r)
		return r;
	json_object_object_get_ex(server, "cluster", &cluster);
	json_object_object_get_ex(server, "id", &id);
	k->path = ctl_state_journal(k->state, (u32)json_object_get_uint64(cluster),
				    (u16)json_object_get_uint64(id), path);
	json_object_put(server);
	return *path ? 0 :
	       ctl_fail(EX_CONFIG, "the server was started without --durability, and has no journal, or with another --state than %s",
			k->state);
}

static int keeper_keep(struct keeper *k)
{
	int r = bftm_journal_open(&k->file, k->path);

	if (r < 0) {
		r = ctl_journal_failed(k->path, &k->file, r);
		goto out;
	}
	r = ctl_open(&k->nl);
	if (r)
		goto out;
	r = ctl_journal_attach(&k->nl, k->path, k->file.about.id);
	if (r == 0) {
		fprintf(stderr, CTL_NAME ": server %u of cluster %u is kept in %s\n",
			k->file.about.server, k->file.about.cluster, k->path);
		r = follow(k);
	}
	bftm_nl_close(&k->nl);
out:
	bftm_journal_close(&k->file);
	return r;
}

static error_t keeper_parse(int key, char *arg, struct argp_state *state)
{
	struct keeper *k = state->input;

	switch (key) {
	case 'F':
		k->path = arg;
		return 0;
	case 's':
		k->state = ctl_state_dir(state, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int ctl_server_journal(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "file", 'F', "FILE", 0, "The journal (the one that the server was started with)", 0 },
		{ "state", 's', "DIR", 0, "State directory of the server's start (" CTL_STATE_DIR ")", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = keeper_parse,
		.doc = "Store each change of the objects of this network namespace's server in its "
		       "journal, until the command is stopped. The server has to be started with "
		       "--durability.",
		.children = ctl_common,
	};
	static struct keeper k = { .state = CTL_STATE_DIR };
	char path[PATH_MAX];

	/* The process may run for years, and end when its standard error is not open any more. */
	bftm_log_stderr(CTL_NAME);
	ctl_parse(&argp, argc, argv, 0, &k);
	return (k.path ? 0 : find_file(&k, path)) ?: keeper_keep(&k);
}
