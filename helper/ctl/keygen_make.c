// SPDX-License-Identifier: GPL-2.0
/* Key files for servers and clients. */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "ctl/ctl.h"
#include "crypto/keys.h"

/* Masters in memory while they are needed. */
struct masters {
	u32 count;
	struct bftm_master of[BFTM_SERVERS_MAX];
};

void ctl_undo_made(struct json_object *made)
{
	const char *kind;
	size_t i;

	for (i = 0; i < json_object_array_length(made); i++) {
		kind = ctl_made_kind(made, i);
		if (kind && !strcmp(kind, "ranks"))
			ctl_ranks_undo(ctl_made_file(made, i));
		else
			unlink(ctl_made_file(made, i));
	}
}

static int saved(int result, const char *path)
{
	if (result == -EEXIST)
		return ctl_fail(EX_CANTCREAT, "%s exists and is not overwritten; nothing was made",
				path);
	if (result < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(-result));
	return 0;
}

static int make_dir(const char *dir)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return ctl_fail(EX_CANTCREAT, "%s: %s", dir, strerror(errno));
	if (stat(dir, &st) < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return ctl_fail(EX_CANTCREAT, "%s is not a folder", dir);
	if (st.st_mode & 077)
		return ctl_fail(EX_NOPERM,
				"%s: mode %04o lets others in; a folder for keys must have mode 0700: chmod 700 %s",
				dir, st.st_mode & 07777, dir);
	return 0;
}

static int make_masters(const char *dir, u32 cluster, u32 servers, struct masters *masters,
			struct json_object *made)
{
	struct bftm_master *master;
	char *path;
	int r;

	for (masters->count = 0; masters->count < servers; masters->count++) {
		master = &masters->of[masters->count];
		master->cluster = cluster;
		master->server = masters->count + 1;
		if (getrandom(master->key, sizeof(master->key), 0) != sizeof(master->key))
			return ctl_fail(EX_OSERR, "no random numbers: %s", strerror(errno));
		if (asprintf(&path, "%s/server-%u.key", dir, master->server) < 0)
			return ctl_fail(EX_OSERR, "no memory");
		r = saved(bftm_master_save(path, master), path);
		if (r == 0)
			ctl_note_made(made, path, "server", master->server);
		free(path);
		if (r)
			return r;
	}
	return 0;
}

static int make_client(const char *dir, const struct masters *masters, u32 client,
		       struct json_object *made)
{
	struct bftm_credentials cred = {
		.cluster = masters->of[0].cluster,
		.client = client,
		.count = masters->count,
	};
	char *path;
	int r = 0;
	u32 i;

	for (i = 0; i < masters->count && r == 0; i++) {
		cred.key[i].server = masters->of[i].server;
		r = bftm_derive(&masters->of[i], client, &cred.key[i].pair);
	}
	if (r < 0) {
		r = ctl_fail(EX_SOFTWARE, "OpenSSL cannot derive keys (BLAKE2s-256)");
	} else if (asprintf(&path, "%s/client-%u.client", dir, client) < 0) {
		r = ctl_fail(EX_OSERR, "no memory");
	} else {
		r = saved(bftm_credentials_save(path, &cred), path);
		if (r == 0)
			ctl_note_made(made, path, "client", client);
		free(path);
	}
	OPENSSL_cleanse(&cred, sizeof(cred));
	return r;
}

static int make_clients(const char *dir, const struct masters *masters,
			const struct ctl_range *range, u32 ranges, struct json_object *made)
{
	u32 total = 0, done = 0, i;
	u64 client;
	int r;

	for (i = 0; i < ranges; i++)
		total += range[i].last - range[i].first + 1;
	for (i = 0; i < ranges; i++) {
		for (client = range[i].first; client <= range[i].last; client++) {
			r = make_client(dir, masters, client, made);
			if (r)
				return r;
			ctl_progress("made keys of %u of %u clients", ++done, total);
		}
	}
	return 0;
}

static int is_master(const struct dirent *entry)
{
	unsigned int server;
	int end = 0;

	return sscanf(entry->d_name, "server-%u.key%n", &server, &end) == 1 && end &&
	       !entry->d_name[end];
}

/*
 * With a copy of a key under another name, one server would be in the credentials twice, and
 * another one not at all.
 */
static int check_name(const struct bftm_master *master, const char *path, const char *name)
{
	char right[32];

	snprintf(right, sizeof(right), "server-%u.key", master->server);
	if (strcmp(name, right))
		return ctl_fail(EX_DATAERR, "%s: has the key of server %u, so its name must be %s",
				path, master->server, right);
	return 0;
}

/* The masters in @dir, all of one cluster; none is no failure here. */
static int load_masters(const char *dir, struct masters *ret)
{
	struct dirent **entry;
	int n, i, r = 0;
	char *path;

	ret->count = 0;
	n = scandir(dir, &entry, is_master, versionsort);
	if (n < 0)
		return ctl_fail(EX_NOINPUT, "%s: %s", dir, strerror(errno));
	for (i = 0; i < n && r == 0; i++) {
		if (ret->count == BFTM_SERVERS_MAX) {
			r = ctl_fail(EX_DATAERR, "%s: has keys of more than %u servers", dir,
				     BFTM_SERVERS_MAX);
			break;
		}
		if (asprintf(&path, "%s/%s", dir, entry[i]->d_name) < 0) {
			r = ctl_fail(EX_OSERR, "no memory");
			break;
		}
		if (bftm_master_load(path, &ret->of[ret->count]) < 0)
			r = EX_DATAERR;		/* was reported */
		else if (ret->of[ret->count].cluster != ret->of[0].cluster)
			r = ctl_fail(EX_DATAERR, "%s: is for cluster %u, other keys in the folder are for cluster %u",
				     path, ret->of[ret->count].cluster, ret->of[0].cluster);
		else
			r = check_name(&ret->of[ret->count], path, entry[i]->d_name);
		ret->count++;
		free(path);
	}
	for (i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
	return r;
}

int ctl_make_keys(const char *dir, u32 cluster, u32 servers, const struct ctl_range *client,
		  u32 clients, struct json_object *ret)
{
	struct masters masters;
	int r;

	r = make_dir(dir);
	if (r)
		return r;
	r = load_masters(dir, &masters);
	if (r == 0 && masters.count)
		r = ctl_fail(EX_CANTCREAT,
			     "%s: has servers' keys, which are not overwritten; give another --dir, or only --clients to add clients", dir);
	if (r == 0)
		r = make_masters(dir, cluster, servers, &masters, ret);
	if (r == 0)
		r = make_clients(dir, &masters, client, clients, ret);
	if (r == 0)
		r = ctl_make_ranks(dir, masters.of[0].cluster, client, clients, ret);
	if (r)
		ctl_undo_made(ret);
	OPENSSL_cleanse(&masters, sizeof(masters));
	return r;
}

/* A gap is right after the removal of a server, but wrong if the server's key is elsewhere. */
static void warn_of_gap(const char *dir, const struct masters *masters)
{
	char list[BFTM_SERVERS_MAX * 8];
	bool gap = false;
	size_t len = 0;
	u32 i;

	for (i = 0; i < masters->count; i++) {
		gap |= masters->of[i].server != i + 1;
		len += (size_t)snprintf(list + len, sizeof(list) - len, " %u", masters->of[i].server);
	}
	if (gap)
		warnx("%s: has the keys of servers%s, and these clients have no keys for other servers", dir, list);
}

int ctl_add_clients(const char *dir, const struct ctl_range *client, u32 clients,
		    struct json_object *ret)
{
	struct masters masters;
	int r;

	r = load_masters(dir, &masters);
	if (r == 0 && !masters.count)
		r = ctl_fail(EX_NOINPUT,
			     "%s: no server-*.key; for a new cluster give --cluster and --servers",
			     dir);
	if (r == 0)
		r = make_clients(dir, &masters, client, clients, ret);
	if (r == 0)
		warn_of_gap(dir, &masters);
	if (r == 0)
		/* NOLINTNEXTLINE: with r == 0 there is one, or load_masters() has said none */
		r = ctl_make_ranks(dir, masters.of[0].cluster, client, clients, ret);
	if (r)
		ctl_undo_made(ret);
	OPENSSL_cleanse(&masters, sizeof(masters));
	return r;
}
