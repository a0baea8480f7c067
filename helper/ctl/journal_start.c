// SPDX-License-Identifier: GPL-2.0
/* The journal at the start of a server: objects are loaded from the file into the server. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "config/conf.h"
#include "ctl/journal.h"
#include "crypto/keys.h"

static const char *const words[] = {
	[BFTMUTEX_DURABILITY_NONE] = "none",
	[BFTMUTEX_DURABILITY_ASYNC] = "async",
	[BFTMUTEX_DURABILITY_SYNC] = "sync",
	NULL
};

void ctl_durability_parse(struct argp_state *state, const char *text,
			  struct ctl_durability *ret)
{
	u32 i;

	for (i = 0; words[i] && strcmp(words[i], text); i++)
		;
	if (!words[i])
		argp_error(state, "--durability '%s': must be none, async or sync", text);
	ret->given = true;
	ret->mode = i;
}

int ctl_durability_conf(struct ctl_durability *d, const struct bftm_conf_server *server)
{
	bool journal = *d->path;

	if (server && !d->given)
		d->mode = server->durability;
	if (server && !journal)
		snprintf(d->path, sizeof(d->path), "%s", server->journal);
	if (d->mode != BFTMUTEX_DURABILITY_NONE)
		return 0;
	if (server && !d->given && *server->journal)
		warnx("journal = %s of the configuration is not used without durability = async or sync",
		      server->journal);
	if (d->trust)
		return ctl_fail(EX_USAGE, "--trust-journal is for --durability async or sync");
	if (journal)
		return ctl_fail(EX_USAGE, "--journal %s is for --durability async or sync",
				d->path);
	return 0;
}

static int fresh(u64 *ret)
{
	*ret = 0;
	while (!*ret)
		if (RAND_bytes((unsigned char *)ret, sizeof(*ret)) != 1)
			return ctl_fail(EX_OSERR, "OpenSSL gives no random numbers");
	return 0;
}

static int journal_create(struct ctl_durability *d, const struct bftm_master *master, bool known)
{
	struct bftm_journal_about about = {
		.cluster = master->cluster,
		.server = master->server,
		.complete = known,
	};
	int r = fresh(&about.id);

	if (r)
		return r;
	r = bftm_journal_create(&d->file, d->path, &about);
	if (r < 0)
		return ctl_journal_failed(d->path, &d->file, r);
	d->created = true;
	return 0;
}

/* The file exists, belongs to this server, and can be written. */
static int open_file(struct ctl_durability *d, const struct bftm_master *master, bool known)
{
	const struct bftm_journal_about *a = &d->file.about;
	int r = bftm_journal_open(&d->file, d->path);

	if (r == -ENOENT) {
		bftm_journal_close(&d->file);
		return journal_create(d, master, known);
	}
	if (r < 0)
		return ctl_journal_failed(d->path, &d->file, r);
	if (a->cluster != master->cluster || a->server != master->server)
		return ctl_fail(EX_DATAERR,
				"journal %s: it belongs to server %u of cluster %u; the key is for server %u of cluster %u",
				d->path, a->server, a->cluster, master->server, master->cluster);
	return 0;
}

int ctl_durability_begin(struct ctl_durability *d, const char *state,
			 const struct bftm_master *master, bool known)
{
	u64 last = ctl_state_last(state, master->cluster, master->server);
	char path[PATH_MAX];
	bool sync = d->mode == BFTMUTEX_DURABILITY_SYNC;
	int r = fresh(&d->start);

	if (r)
		return r;
	if (!*d->path && snprintf(d->path, sizeof(d->path), "%s/journal-%u-%u", state,
				  master->cluster, master->server) >= (int)sizeof(d->path))
		return ctl_fail(EX_USAGE, "--state '%s': with the name of the journal in it, a path must be "
				"at most %zu bytes", state, sizeof(d->path) - 1);
	if (d->mode != BFTMUTEX_DURABILITY_NONE)
		r = open_file(d, master, known);
	if (r)
		return r;
	/* First the file notes the number of the start, then the start is made. */
	if (sync)
		r = bftm_journal_starting(&d->file, last, d->trust, d->start);
	if (r < 0)
		return ctl_journal_failed(d->path, &d->file, r);
	r = ctl_state_note(state, master->cluster, master->server, d->start,
			   d->file.db ? realpath(d->path, path) : NULL);
	if (r < 0)
		return ctl_fail(r == -EACCES || r == -EPERM ? EX_NOPERM : EX_CANTCREAT,
				"%s: the start of the server cannot be noted: %s", state,
				strerror(-r));
	if (sync)
		r = bftm_journal_started(&d->file);
	return r < 0 ? ctl_journal_failed(d->path, &d->file, r) : 0;
}

int ctl_durability_put(const struct ctl_durability *d, struct nl_msg *msg)
{
	if (!d->file.db)
		return 0;
	return nla_put_u32(msg, BFTMUTEX_A_SERVER_DURABILITY, d->mode) |
	       nla_put_u64(msg, BFTMUTEX_A_SERVER_JOURNAL_ID, d->file.about.id);
}

void ctl_durability_end(struct ctl_durability *d, bool undo)
{
	bftm_journal_close(&d->file);
	if (undo && d->created)
		bftm_journal_remove(d->path);
}

/* One object on its way to the server; @error is an exit code, whose message was printed. */
struct load {
	struct ctl_durability *d;
	struct bftm_nl nl;
	int error;
};

static int put_rank(struct nl_msg *msg, int attr, const struct bftm_rank *rank)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest || nla_put_u64(msg, BFTMUTEX_A_RANK_COUNT, rank->count) ||
	    nla_put_u32(msg, BFTMUTEX_A_RANK_CLIENT, rank->client) ||
	    nla_put_u32(msg, BFTMUTEX_A_RANK_INCARNATION, rank->incarnation))
		return -1;
	return nla_nest_end(msg, nest);
}

static int put_state(struct nl_msg *msg, int attr, const struct bftm_body_id *id)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest || nla_put_u64(msg, BFTMUTEX_A_STATE_VERSION, id->version) ||
	    nla_put_u32(msg, BFTMUTEX_A_STATE_LENGTH, id->len) ||
	    nla_put(msg, BFTMUTEX_A_STATE_DIGEST, sizeof(id->digest), id->digest))
		return -1;
	return nla_nest_end(msg, nest);
}

static int put_object(struct nl_msg *msg, const struct bftm_journal_object *o, bool recovering)
{
	int r;

	r = nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, o->name_len, o->name);
	r |= put_rank(msg, BFTMUTEX_A_JOURNAL_RANK, &o->rank);
	r |= nla_put(msg, BFTMUTEX_A_JOURNAL_SIGNATURE, sizeof(o->signature), o->signature);
	r |= put_rank(msg, BFTMUTEX_A_JOURNAL_PROPOSER, &o->proposer);
	r |= put_state(msg, BFTMUTEX_A_JOURNAL_COMMITTED, &o->committed);
	r |= put_state(msg, BFTMUTEX_A_JOURNAL_PROPOSED, &o->proposed);
	if (recovering)
		r |= nla_put_flag(msg, BFTMUTEX_A_JOURNAL_RECOVERING);
	return r;
}

static int send_head(struct load *l, const struct bftm_journal_object *o)
{
	bool trusted = o->trusted && l->d->mode == BFTMUTEX_DURABILITY_SYNC;
	struct nl_msg *msg = bftm_nl_msg(&l->nl, BFTMUTEX_CMD_JOURNAL_LOAD, 0);

	if (msg && put_object(msg, o, !trusted && !l->d->trust)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return bftm_nl_call(&l->nl, msg, NULL, 0, NULL);
}

static int send_piece(struct load *l, u32 which, u32 offset, const void *data, u32 len)
{
	struct nl_msg *msg = bftm_nl_msg_room(&l->nl, BFTMUTEX_CMD_JOURNAL_LOAD, 0, len + 64);

	if (msg && (nla_put_u32(msg, BFTMUTEX_A_JOURNAL_BODY, which) ||
		    nla_put_u32(msg, BFTMUTEX_A_JOURNAL_OFFSET, offset) ||
		    nla_put(msg, BFTMUTEX_A_JOURNAL_PIECE, len, data))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return bftm_nl_call(&l->nl, msg, NULL, 0, NULL);
}

static int send_body(struct load *l, u32 which, const struct bftm_body_id *id, const void *data)
{
	u32 at, len;
	int r = 0;

	for (at = 0; r == 0 && at < id->len; at += len) {
		len = id->len - at < BFTMUTEX_PIECE_MAX ? id->len - at : BFTMUTEX_PIECE_MAX;
		r = send_piece(l, which, at, (const u8 *)data + at, len);
	}
	return r;
}

static int send_object(const struct bftm_journal_object *o, const void *committed,
		       const void *proposed, void *arg)
{
	struct load *l = arg;
	int r = send_head(l, o);
	bool broken;

	if (r == 0)
		r = send_body(l, 0, &o->committed, committed);
	if (r == 0 && !bftm_body_same(&o->committed, &o->proposed))
		r = send_body(l, 1, &o->proposed, proposed);
	if (r < 0) {
		broken = r == -EBADMSG || r == -EINVAL;
		l->error = ctl_fail(broken ? EX_DATAERR : EX_UNAVAILABLE,
				    "journal %s: object '%.*s' cannot be loaded: %s%s%s%s",
				    l->d->path, o->name_len, (const char *)o->name, strerror(-r),
				    *l->nl.error ? ": " : "", l->nl.error,
				    broken ? CTL_JOURNAL_BROKEN : "");
	}
	return r;
}

/* With async a file has every object only at the start that made the file. */
static bool is_complete(const struct ctl_durability *d)
{
	return d->trust || (d->file.about.complete &&
			    (d->created || d->mode == BFTMUTEX_DURABILITY_SYNC));
}

static int end_load(struct load *l)
{
	struct nl_msg *msg = bftm_nl_msg(&l->nl, BFTMUTEX_CMD_JOURNAL_LOADED, 0);
	int r;

	if (msg && is_complete(l->d))
		nla_put_flag(msg, BFTMUTEX_A_JOURNAL_COMPLETE);
	r = bftm_nl_call(&l->nl, msg, NULL, 0, NULL);
	return r < 0 ? ctl_refused(&l->nl, r, CTL_SERVER) : 0;
}

int ctl_durability_load(struct ctl_durability *d)
{
	struct load l = { .d = d };
	int r;

	if (d->mode == BFTMUTEX_DURABILITY_NONE)
		return 0;
	r = ctl_open(&l.nl);
	if (r)
		return r;
	r = ctl_journal_attach(&l.nl, d->path, d->file.about.id);
	if (r == 0) {
		r = bftm_journal_each(&d->file, send_object, &l);
		if (r < 0)
			r = l.error ?: ctl_journal_failed(d->path, &d->file, r);
	}
	if (r == 0)
		r = end_load(&l);
	bftm_nl_close(&l.nl);
	return r;
}
