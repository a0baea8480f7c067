// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lease.h"
#include "core/servers.h"
#include "core/who.h"
#include "cluster/health.h"
#include "lock/who.h"
#include "text/json.h"
#include "text/mode.h"

/* At a time. */
#define ASKING_MAX	64u
/* Bytes of words. */
#define REASON_MAX	512

/**
 * struct asking - a question that somebody waits for
 * @others:    among all that are under way
 * @cluster:   it counts this among its acquires
 * @name:      of the lock, @len bytes
 * @len:       of @name
 * @said:      of each server
 * @refused:   why each server refuses to answer: BFTM_REFUSED_..., 0 if it does not
 * @forgot:    servers that answer, and do not know who has it, since they have restarted; a bit mask
 * @first_seq: what was asked for it has higher sequence numbers
 * @limit_ns:  when it is given up
 * @timer:     when the servers that are missing are asked again, or it is given up
 * @tell:      called with the result
 * @arg:       for @tell
 */
struct asking {
	TAILQ_ENTRY(asking) others;
	struct bftm_cluster *cluster;
	u8 name[BFTM_NAME_LEN_MAX];
	u8 len;
	struct bftm_owner_said said[BFTM_SERVERS_MAX];
	u32 refused[BFTM_SERVERS_MAX];
	u32 forgot;
	u64 first_seq;
	u64 limit_ns;
	struct bftm_timer timer;
	bftm_who_fn *tell;
	int arg;
};

static TAILQ_HEAD(, asking) askings = TAILQ_HEAD_INITIALIZER(askings);
static u32 askings_count;

static void asking_end(struct asking *a, struct json_object *answer)
{
	a->tell(a->arg, answer);
	TAILQ_REMOVE(&askings, a, others);
	askings_count--;
	a->cluster->acquires.count--;
	bftm_timer_stop(&a->timer);
	free(a);
}

static void asking_fail(struct asking *a, const char *text, int error)
{
	struct json_object *answer = json_object_new_object();

	bftm_json_add_text(answer, "error", text);
	bftm_json_add_number(answer, "errno", (u64)error);
	asking_end(a, answer);
}

static u32 missing(const struct asking *a)
{
	u32 u, ret = 0;

	for (u = 0; u < a->cluster->conf.n; u++)
		if (!a->said[u].told && !a->refused[u])
			ret |= 1u << u;
	return ret;
}

/* "; servers 1 and 2 are silent" */
static void say_of(const struct asking *a, u32 servers, const char *one, const char *many, char *text)
{
	char list[128];
	size_t len = strlen(text);

	if (!servers)
		return;
	bftm_health_names(a->cluster, servers, list, sizeof(list));
	snprintf(text + len, REASON_MAX - len, "%s %s %s", strchr(text, ':') ? ";" : ":", list,
		 bftm_count(servers) > 1 ? many : one);
}

/* Why too few servers have told: those that are silent, have forgotten, or refuse. */
static const char *too_few(const struct asking *a, char text[REASON_MAX])
{
	u32 silent = missing(a) & ~a->forgot, refuse = 0, u;

	snprintf(text, REASON_MAX, "too few servers answer");
	for (u = 0; u < a->cluster->conf.n; u++)
		refuse |= a->refused[u] ? 1u << u : 0;
	say_of(a, silent, "is silent", "are silent", text);
	say_of(a, missing(a) & a->forgot, "has restarted, and does not know it yet",
	       "have restarted, and do not know it yet", text);
	say_of(a, refuse, "refuses to tell", "refuse to tell", text);
	return text;
}

/* Why it is not known who has it. */
static const char *unsure_why(const struct asking *a, u32 told, char text[REASON_MAX])
{
	if (told < bftm_win(&a->cluster->cfg))
		return too_few(a, text);
	snprintf(text, REASON_MAX, "%u of %u servers answer, and too few of them agree; perhaps the lock changes hands",
		 told, a->cluster->conf.n);
	return text;
}

static void add_if(struct json_object *o, const char *key, bool known, u64 number)
{
	json_object_object_add(o, key, known ? json_object_new_uint64(number) : NULL);
}

static struct json_object *asking_describe(const struct asking *a, const struct bftm_owner *owner)
{
	static const char *const states[] = {
		[BFTM_WHO_UNSURE] = "unsure", [BFTM_WHO_NOBODY] = "nobody",
		[BFTM_WHO_GRANTED] = "granted", [BFTM_WHO_HELD] = "held",
	};
	const struct bftm_owner_said *said = &owner->said;
	bool owned = said->attempt, lasting = said->rest_ns == BFTM_LEASE_NONE;
	struct json_object *o = json_object_new_object();
	char text[REASON_MAX];

	bftm_json_add_bytes(o, "lock", a->name, a->len);
	bftm_json_add_text(o, "state", states[owner->who]);
	bftm_json_add_text(o, "reason", owner->who == BFTM_WHO_UNSURE ?
			   unsure_why(a, owner->told, text) : NULL);
	add_if(o, "client", owned, said->client);
	json_object_object_add(o, "attempt",
			       owned ? bftm_json_number("attempt", said->attempt) : NULL);
	/* The device counts modes the other way. */
	bftm_json_add_text(o, "mode", owned ? bftm_mode_name(BFTM_MODE_EX - said->mode) : NULL);
	add_if(o, "waiters", owner->counted, said->waiters);
	add_if(o, "holders", owner->counted, said->holders);
	bftm_json_add_bool(o, "lasting", owned && owner->counted && lasting);
	add_if(o, "rest_ns", owned && owner->counted && !lasting, said->rest_ns);
	json_object_object_add(o, "token", owner->who && said->token != BFTM_TOKEN_UNKNOWN ?
			       bftm_json_number("token", said->token) : NULL);
	bftm_json_add_number(o, "servers", a->cluster->conf.n);
	bftm_json_add_number(o, "told", owner->told);
	return o;
}

static void ask_servers(struct asking *a, u32 to)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_ASK, .proto = BFTM_PROTO_BACKOFF, .name_len = a->len,
	};

	memcpy(msg.name, a->name, a->len);
	bftm_cluster_send(a->cluster, to, &msg);
}

/* Did more than b servers refuse for this reason, one of them a correct one? */
static bool is_refused(const struct asking *a, u32 reason)
{
	u32 u, count = 0;

	for (u = 0; u < a->cluster->conf.n; u++)
		count += a->refused[u] == reason;
	return count > a->cluster->conf.b;
}

/* Ends it if it is over, or waits for what comes next. */
static void asking_look(struct asking *a)
{
	const struct bftm_conf_cluster *conf = &a->cluster->conf;
	u64 now = bftm_now(), due = now + a->cluster->cfg.resend_ns;
	struct bftm_owner owner;
	char text[REASON_MAX];

	bftm_who_judge(a->said, conf->n, conf->b, bftm_win(&a->cluster->cfg), &owner);
	if (owner.who == BFTM_WHO_HELD || owner.who == BFTM_WHO_NOBODY)
		asking_end(a, asking_describe(a, &owner));
	else if (is_refused(a, BFTM_REFUSED_ACCESS))
		asking_fail(a, "the servers do not allow this client to ask for it", EACCES);
	else if (is_refused(a, BFTM_REFUSED_EVICTED))
		asking_fail(a, "the servers have evicted this host; restart bftmutexd there",
			    EACCES);
	else if (is_refused(a, BFTM_REFUSED_PROTO))
		asking_fail(a, "the servers are of a version that does not tell who has a lock",
			    EPROTONOSUPPORT);
	else if (missing(a) && now < a->limit_ns)
		bftm_timer_arm(&a->timer, due < a->limit_ns ? due : a->limit_ns);
	else if (owner.told > conf->b)
		asking_end(a, asking_describe(a, &owner));
	else
		asking_fail(a, too_few(a, text), ENETUNREACH);
}

static void asking_wake(struct bftm_timer *timer)
{
	struct asking *a = container_of(timer, struct asking, timer);

	if (bftm_now() < a->limit_ns)
		ask_servers(a, missing(a));
	asking_look(a);
}

int bftm_who_start(struct bftm_cluster *cl, const u8 *name, u8 len, u64 limit_ns,
		   bftm_who_fn *tell, int arg)
{
	struct asking *a;

	if (askings_count >= ASKING_MAX)
		return -EAGAIN;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	askings_count++;
	TAILQ_INSERT_TAIL(&askings, a, others);
	a->cluster = cl;
	cl->acquires.count++;
	memcpy(a->name, name, len);
	a->len = len;
	a->limit_ns = bftm_now() + limit_ns;
	a->first_seq = bftm_identity_seq(cl->identity);
	a->timer.fire = asking_wake;
	a->tell = tell;
	a->arg = arg;
	ask_servers(a, missing(a));
	asking_look(a);
	return 0;
}

/*
 * That nobody has it, a server does not know that has forgotten what it granted: until its
 * quarantine is over and it has heard of what is held without a lease.
 */
static bool peer_knows(const struct bftm_peer *peer, const struct bftm_msg *msg)
{
	if (msg->server_epoch != peer->known.epoch)
		return false;
	return msg->attempt || (bftm_now() > peer->quarantine_until_ns && !peer->recovering);
}

static void take_answer(struct asking *a, u32 u, const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_REFUSED) {
		a->refused[u] = msg->arg;
	} else if (!peer_knows(&a->cluster->peer[u], msg)) {
		a->forgot |= 1u << u;
	} else {
		a->said[u] = (struct bftm_owner_said){
			.told = true,
			.attempt = msg->attempt,
			.rest_ns = msg->lease_ns,
			.token = msg->token,
			.client = msg->owner,
			.waiters = msg->waiters,
			.holders = msg->holders,
			.mode = msg->mode,
		};
	}
	asking_look(a);
}

void bftm_who_answer(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct asking *a, *next;

	for (a = TAILQ_FIRST(&askings); a; a = next) {
		next = TAILQ_NEXT(a, others);
		if (a->cluster == cl && msg->seq > a->first_seq && msg->name_len == a->len &&
		    !memcmp(msg->name, a->name, a->len))
			take_answer(a, u, msg);
	}
}

void bftm_who_epoch(struct bftm_cluster *cl, u32 u)
{
	struct asking *a;

	TAILQ_FOREACH(a, &askings, others)
		if (a->cluster == cl)
			ask_servers(a, missing(a) & 1u << u);
}

void bftm_who_stop(struct bftm_cluster *cl)
{
	struct asking *a, *next;

	for (a = TAILQ_FIRST(&askings); a; a = next) {
		next = TAILQ_NEXT(a, others);
		if (a->cluster == cl)
			asking_fail(a, "bftmutexd ends", ECANCELED);
	}
}
