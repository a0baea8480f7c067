// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/quorum.h"
#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/health.h"
#include "kernel/upcall.h"
#include "text/json.h"
#include "loop/log.h"
#include "order/order.h"
#include "daemon/status.h"
#include "lock/acquire.h"
#include "lock/who.h"

/* So long servers' answers may be waited for. */
#define WAIT_MAX_MS	(24ul * 3600 * 1000)

static struct bftm_watch watch = { .fd = -1 };
static struct sockaddr_un address = { .sun_family = AF_UNIX };

static u64 count_lies(const struct bftm_record *r)
{
	u64 sum = 0;
	int lie;

	for (lie = BFTM_LIE_NONE + 1; lie < BFTM_LIES; lie++)
		sum += r->lies[lie];
	return sum;
}

/* Adds a value that is 0 until it is known. */
static void add_known(struct json_object *o, const char *key, u64 value)
{
	json_object_object_add(o, key, value ? bftm_json_number(key, value) : NULL);
}

/* A silent server may have heard from all members since it said that it waits for them. */
static struct json_object *describe_recovering(const struct bftm_peer *peer, const char *state)
{
	if (!strcmp(state, "silent") || !strcmp(state, "unknown"))
		return NULL;
	return json_object_new_boolean(peer->recovering);
}

/* The refusal that stands, as words; NULL for none. Servers' rules and room change unheard of. */
static const char *refusal_of(const struct bftm_peer *peer, u64 now)
{
	bool stands = peer->refusal && now - peer->refused_ns <= BFTM_SAID_AGAIN_NS;

	return stands ? bftm_refusal_name(peer->refusal) : NULL;
}

static bool is_recent(u64 since, u64 now)
{
	return since && now - since <= BFTM_SAID_AGAIN_NS;
}

static struct json_object *describe_server(const struct bftm_cluster *cl, u32 u,
					   u64 now)
{
	const struct bftm_peer *peer = &cl->peer[u];
	const struct bftm_record *r = &peer->record;
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct bftm_evidence evidence[BFTM_EVIDENCE_KINDS];
	const char *state = bftm_evidence_state(cl, u, now);
	int i, n = bftm_evidence_list(cl, u, evidence);

	bftm_json_add_number(o, "id", peer->conf->id);
	bftm_json_add_text(o, "address", peer->conf->text);
	bftm_json_add_text(o, "state", state);
	bftm_json_add_bool(o, "suspect", n > 0);
	json_object_object_add(o, "recovering", describe_recovering(peer, state));
	bftm_json_add_bool(o, "unnoted", peer->unnoted);
	bftm_json_add_text(o, "refusal", refusal_of(peer, now));
	bftm_json_add_bool(o, "forgot_objects", is_recent(peer->forgot_ns, now));
	bftm_json_add_bool(o, "mute_objects", is_recent(peer->mute_ns, now));
	json_object_object_add(o, "quarantine_ns", !peer->heard_ns ? NULL :
			       json_object_new_uint64(now < peer->quarantine_until_ns ?
						      peer->quarantine_until_ns - now : 0));
	bftm_json_add_number(o, "no_quarantine", peer->spared);
	add_known(o, "rtt_ns", cl->speed.srtt_ns[u]);
	add_known(o, "epoch", peer->known.epoch);
	add_known(o, "lease_max_ns", peer->lease_max_ns);
	bftm_json_add_number(o, "sent", r->sent);
	bftm_json_add_number(o, "received", r->received);
	bftm_json_add_number(o, "free", r->free);
	bftm_json_add_number(o, "locked", r->locked);
	bftm_json_add_number(o, "waited", r->waited);
	bftm_json_add_number(o, "refused", r->refused);
	bftm_json_add_number(o, "released", r->released);
	bftm_json_add_number(o, "bad", r->bad);
	bftm_json_add_number(o, "repeated", r->repeated);
	bftm_json_add_number(o, "late", r->late);
	bftm_json_add_number(o, "rounds", r->rounds);
	bftm_json_add_number(o, "unanswered", r->unanswered);
	bftm_json_add_number(o, "disagreed", r->disagreed);
	bftm_json_add_number(o, "lies", count_lies(r));
	bftm_json_add_number(o, "pushed", r->pushed);
	bftm_json_add_number(o, "ordered", r->ordered);
	if (peer->token != BFTM_TOKEN_UNKNOWN)
		bftm_json_add_number(o, "token", peer->token);
	else
		bftm_json_add_text(o, "token", NULL);
	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_string(evidence[i].text));
	json_object_object_add(o, "evidence", list);
	return o;
}

static struct json_object *describe_cluster(const struct bftm_cluster *cl)
{
	struct json_object *o = json_object_new_object();
	struct json_object *servers = json_object_new_array();
	u64 now = bftm_now();
	u32 u;

	bftm_json_add_text(o, "name", cl->conf.name);
	bftm_json_add_bool(o, "default", cl == bftm_cluster_find(""));
	bftm_json_add_number(o, "id", cl->conf.id);
	bftm_json_add_number(o, "n", cl->conf.n);
	bftm_json_add_number(o, "b", cl->conf.b);
	bftm_json_add_number(o, "client", cl->cred.client);
	bftm_json_add_bool(o, "doubled", bftm_health_doubled(cl));
	bftm_json_add_number(o, "free_needed", bftm_win(&cl->cfg));
	bftm_json_add_number(o, "spared", bftm_spared(cl->conf.n, cl->conf.b, cl->conf.m));
	bftm_json_add_number(o, "answers_needed", cl->conf.literal ?
			     bftm_literal_quorum(cl->conf.n, cl->conf.b) :
			     bftm_win(&cl->cfg));
	bftm_json_add_number(o, "token_needed", bftm_fence_quorum(cl->conf.n, cl->conf.b));
	bftm_json_add_number(o, "lease_ns", cl->conf.lease_ns);
	bftm_json_add_number(o, "delta_ns", cl->conf.delta_ns);
	bftm_json_add_text(o, "ask", bftm_ask_name(cl->conf.ask));
	bftm_json_add_bool(o, "fast_path", cl->lent);
	bftm_json_add_text(o, "ingress", cl->ingress ? cl->conf.ingress : NULL);
	bftm_json_add_number(o, "fast_won", cl->identity->counters->won);
	bftm_json_add_number(o, "fast_left", cl->identity->counters->lost);
	for (u = 0; u < cl->conf.n; u++)
		json_object_array_add(servers, describe_server(cl, u, now));
	json_object_object_add(o, "servers", servers);
	return o;
}

static struct json_object *describe_servers(void)
{
	struct json_object *o = json_object_new_object();
	struct json_object *clusters = json_object_new_array();
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (!cl->draining)
			json_object_array_add(clusters, describe_cluster(cl));
	json_object_object_add(o, "clusters", clusters);
	bftm_json_add_bool(o, "serving", bftm_upcall_is_open());
	return o;
}

static struct json_object *describe_totals(void)
{
	struct json_object *o = json_object_new_object();

	bftm_json_add_number(o, "unreachable", bftm_totals.unreachable);
	bftm_json_add_number(o, "refused", bftm_totals.refused);
	bftm_json_add_number(o, "given_back", bftm_totals.given_back);
	bftm_json_add_number(o, "adopted", bftm_totals.adopted);
	bftm_json_add_number(o, "rounds", bftm_totals.rounds);
	json_object_object_add(o, "ordering", bftm_order_describe_totals());
	return o;
}

static struct json_object *describe_objects(void)
{
	struct json_object *o = json_object_new_object();
	struct json_object *clusters = json_object_new_array();
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (!cl->draining)
			json_object_array_add(clusters, bftm_order_describe(cl));
	json_object_object_add(o, "clusters", clusters);
	return o;
}

/* The cluster that a word names, "-" for the default one; *@words is what follows. Or NULL. */
static struct bftm_cluster *read_cluster(const char **words)
{
	size_t len = strcspn(*words, " ");
	char name[BFTM_CLUSTER_MAX + 1] = {};

	if (!(*words)[len] || len >= sizeof(name))
		return NULL;
	memcpy(name, *words, len);
	*words += len + 1;
	return bftm_cluster_find(strcmp(name, "-") ? name : "");
}

/* "history CLUSTER NAME" */
static struct json_object *describe_history(const char *words)
{
	struct bftm_cluster *cl = read_cluster(&words);

	return cl ? bftm_order_history(cl, (const u8 *)words, strlen(words)) : NULL;
}

static struct json_object *status_describe(const char *line)
{
	if (!strcmp(line, "servers"))
		return describe_servers();
	if (!strcmp(line, "stats"))
		return describe_totals();
	if (!strcmp(line, "objects"))
		return describe_objects();
	if (!strncmp(line, "history ", 8))
		return describe_history(line + 8);
	return NULL;
}

/* Puts @o. The client may have left: no SIGPIPE, and nothing is lost. */
static void status_say(int fd, struct json_object *o)
{
	const char *text = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN) :
			   "{\"error\":\"unknown request: servers, stats, objects, list CLUSTER MS, "
			   "who CLUSTER MS NAME or history CLUSTER NAME\"}";

	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		bftm_log(LOG_DEBUG, "status: %s", strerror(errno));
	json_object_put(o);
	close(fd);
}

static void say_error(int fd, int error)
{
	struct json_object *o = json_object_new_object();

	bftm_json_add_text(o, "error", strerror(-error));
	bftm_json_add_number(o, "errno", (u64)-error);
	status_say(fd, o);
}

/* "list CLUSTER MS": all objects of a cluster, if servers tell them within so many ms. */
static bool list_objects(const char *words, int fd)
{
	struct bftm_cluster *cl = read_cluster(&words);
	unsigned long ms = cl ? strtoul(words, NULL, 10) : 0;
	int r;

	if (!ms || ms > WAIT_MAX_MS)
		return false;
	r = bftm_listing_start(cl, ms * BFTM_NS_PER_MS, status_say, fd);
	if (r)
		say_error(fd, r);
	return true;
}

/* "who CLUSTER MS NAME": who has a lock, if servers tell it within so many ms; NAME in JSON */
static bool who_has(const char *words, int fd)
{
	struct bftm_cluster *cl = read_cluster(&words);
	char *end = NULL;
	unsigned long ms = cl ? strtoul(words, &end, 10) : 0;
	struct json_object *text;
	size_t len = 0;
	char *name;
	int r;

	if (!cl) {
		say_error(fd, -ENOKEY);
		return true;
	}
	if (!ms || ms > WAIT_MAX_MS || *end != ' ')
		return false;
	text = json_tokener_parse(end + 1);
	name = bftm_json_read_bytes(text, &len);
	json_object_put(text);
	if (!name || !len || len > BFTM_NAME_LEN_MAX) {
		free(name);
		return false;
	}
	r = bftm_who_start(cl, (u8 *)name, (u8)len, ms * BFTM_NS_PER_MS, status_say, fd);
	free(name);
	if (r)
		say_error(fd, r);
	return true;
}

static void status_answer(int fd)
{
	/* A client that is slow with its one line is not waited for long. */
	struct timeval patience = { .tv_usec = 200000 };
	/* In JSON a byte of a name takes six. */
	char line[BFTM_CLUSTER_MAX + 6 * BFTM_NAME_LEN_MAX + 64] = {};
	ssize_t len;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	len = recv(fd, line, sizeof(line) - 1, 0);
	if (len <= 0) {
		close(fd);
		return;
	}
	line[strcspn(line, "\r\n")] = '\0';
	if (!strncmp(line, "list ", 5) && list_objects(line + 5, fd))
		return;
	if (!strncmp(line, "who ", 4) && who_has(line + 4, fd))
		return;
	status_say(fd, status_describe(line));
}

static void status_ready(struct bftm_watch *w)
{
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		status_answer(fd);
}

int bftm_status_open(void)
{
	const char *dir = getenv("BFTMUTEX_RUN") ?: "/run/bftmutex";
	struct stat ns;
	mode_t mask;
	int err = 0;

	if (stat("/proc/self/ns/net", &ns) < 0)
		return -errno;
	mkdir(dir, 0755);
	snprintf(address.sun_path, sizeof(address.sun_path),
		 "%s/helper-%ju.sock", dir, (uintmax_t)ns.st_ino);
	unlink(address.sun_path);	/* left by an earlier daemon: the kernel has only one helper */
	watch.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	watch.ready = status_ready;
	mask = umask(0117);
	if (watch.fd < 0 ||
	    bind(watch.fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(watch.fd, 16) < 0)
		err = -errno;
	umask(mask);
	err = err ?: bftm_watch_add(&watch);
	if (err < 0) {
		bftm_log(LOG_ERR, "%s: %s", address.sun_path, strerror(-err));
		if (watch.fd >= 0)
			close(watch.fd);
		watch.fd = -1;
	}
	return err;
}

void bftm_status_close(void)
{
	if (watch.fd < 0)
		return;
	bftm_watch_del(&watch);
	close(watch.fd);
	watch.fd = -1;
	unlink(address.sun_path);
}
