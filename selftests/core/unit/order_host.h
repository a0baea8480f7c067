/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ordering thread of a daemon, whole, without a socket: what it sends is read by seven servers
 * around the shipped core, and their answers come at once. Time passes when a test says so. Above it
 * are a kernel that notes what became of each submit, and a lock that nobody ever gets.
 */
#ifndef BFTM_UNIT_ORDER_HOST_H
#define BFTM_UNIT_ORDER_HOST_H

#include <errno.h>

#include "core/ordering/server.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "crypto/digest.h"
#include "lock/report.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "types/exec.h"
#include "unit.h"

#define SERVERS	7u
#define ALL	0x7fu
#define RESEND	(40 * BFTM_NS_PER_MS)	/* 4δ */
#define ME	7u
#define OTHER	3u

/** struct host_sent - a request on its way to server @u */
struct host_sent {
	u32 u;
	struct bftm_order_msg msg;
	u8 data[BFTM_ORDER_DATA_MAX];
};

/** union host_waiting - operations that wait at a server */
union host_waiting {
	struct bftm_pendings list;
	u8 raw[sizeof(struct bftm_pendings) + 4 * sizeof(struct bftm_pending)];
};

/** struct host_done - what the kernel was told of a submit; @error -1: nothing */
struct host_done {
	int error;
	char text[32];
};

static struct bftm_cluster cluster;
static struct bftm_counters counters;
static struct bftm_identity identity;
static struct bftm_object object[SERVERS];
static union host_waiting waiting[SERVERS];
static struct host_sent queue[512];
static u32 queued, heard;		/* of @queue; those from @heard on are under way */
static u32 sent[256];			/* how many of each type, since forget_sent() */
static u64 last_seq[256][SERVERS];
static u32 silent;			/* servers that hear nothing */
static u32 able;			/* that answer about locks */
static u8 refused_type;			/* refused by all, for @refusal */
static u32 refusal;
static u64 now;
static u32 logged_lost, logged_mute;	/* lines about servers without an object */
static struct host_done done[8];	/* by number of the request */
static u32 locks;			/* how often the lock of line 2.9 was asked for */
static struct bftm_timer *timers[16];
static void *kept[1024];		/* bodies, until the test is over */
static u32 kepts;

/* The daemon's other parts */

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
const struct bftm_object_exec bftm_exec_programs;

u64 bftm_exec_limit_ns(void) { return 1; }
void bftm_acquire_begin(const struct bftm_ask *ask) { locks += ask->inside->won != NULL; }
void bftm_acquire_cancel(u64 id) { (void)id; }
bool bftm_upcall_is_open(void) { return true; }
int bftm_refusal_errno(u32 reason) { return reason == BFTM_REFUSED_ACCESS ? EACCES : ENOSPC; }
u32 bftm_health_able(const struct bftm_cluster *cl) { (void)cl; return able; }
void bftm_health_names(const struct bftm_cluster *cl, u32 servers, char *buf, size_t size)
{
	(void)cl;
	snprintf(buf, size, "servers %x", servers);
}

u32 bftm_identity_renew(struct bftm_identity *id) { return ++id->incarnation; }
struct bftm_cluster *bftm_cluster_find(const char *name) { (void)name; return &cluster; }
struct bftm_cluster *bftm_cluster_of(const struct bftm_identity *id) { (void)id; return &cluster; }
void bftm_log(int level, const char *format, ...)
{
	(void)level;
	logged_lost += strstr(format, "have lost their memory of objects") != NULL;
	logged_mute += strstr(format, "no answer about it") != NULL;
}

u64 bftm_now(void) { return now; }

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	if (*last_ns && now - *last_ns < every_ns)
		return false;
	*last_ns = now;
	return true;
}

void bftm_upcall_submitted(const struct bftm_submit_report *report)
{
	done[report->id].error = (int)report->status;
	snprintf(done[report->id].text, sizeof(done[0].text), "%.*s", (int)report->len,
		 (const char *)report->response);
}

void bftm_upcall_submit_failed(u64 id, int error)
{
	done[id].error = error;
}

void bftm_timer_stop(struct bftm_timer *timer)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(timers); i++)
		if (timers[i] == timer)
			timers[i] = NULL;
	timer->armed = false;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	u32 i;

	bftm_timer_stop(timer);
	timer->at_ns = at_ns;
	timer->armed = true;
	for (i = 0; timers[i]; i++)
		assert_in_range(i, 0, ARRAY_SIZE(timers) - 2);
	timers[i] = timer;
}

void bftm_cluster_send_order(struct bftm_cluster *cl, u32 to, const struct bftm_order_msg *msg)
{
	struct host_sent *s;
	u32 u;

	for (u = 0; u < SERVERS; u++) {
		if (!(to >> u & 1))
			continue;
		assert_in_range(queued, 0, ARRAY_SIZE(queue) - 1);
		s = &queue[queued++];
		*s = (struct host_sent){ .u = u, .msg = *msg };
		if (msg->data)
			memcpy(s->data, msg->data, msg->data_len);
		s->msg.client = cl->identity->client;
		if (!s->msg.room)
			s->msg.room = BFTM_ORDER_ROOM_MAX;
		s->msg.seq = cl->peer[u].sent_seq = bftm_identity_next_seq(cl->identity);
		sent[msg->type]++;
		last_seq[msg->type][u] = s->msg.seq;
	}
}

/* The servers */

static void *keep(const void *data, size_t len)
{
	void *copy = malloc(len);

	assert_non_null(copy);
	memcpy(copy, data, len);
	assert_in_range(kepts, 0, ARRAY_SIZE(kept) - 1);
	return kept[kepts++] = copy;
}

static struct bftm_body *keep_body(const struct bftm_body_id *id, const u8 *data)
{
	const struct bftm_body body = { .id = *id, .data = keep(data, id->len) };

	return keep(&body, sizeof(body));
}

/* Server @u refuses the request with this number. */
static void refuses(u32 u, u64 seq, u32 reason)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_REFUSED, .seq = seq, .arg = reason, .name_len = 1, .name = "x",
	};

	bftm_object_service.answer(&cluster, u, &msg);
}

/* Server @u decides, and says so to whoever asks: this host, or another that nobody sees. */
static void server_step(u32 u, const struct bftm_order_msg *req, const u8 *data)
{
	static const struct bftm_server_cfg cfg = { .quarantine_until_ns = 1 };
	static u8 out[BFTM_ORDER_ROOM_MAX];
	struct bftm_object *o = &object[u];
	u32 i, before = o->pend->count;
	struct bftm_order_msg msg;

	bftm_order_step(&cfg, o, req, data ? keep_body(&req->id, data) : NULL, 2, out, &msg);
	if (req->client != ME)
		return;
	if (msg.type == BFTM_MSG_REFUSED)
		refuses(u, req->seq, msg.offset);
	else if (msg.type != BFTM_MSG_NONE)
		bftm_object_service.order(&cluster, u, &msg);
	for (i = o->pend->count; i < before; i++) {
		bftm_order_response(o, &o->pend->entry[i], out, &msg);
		if (msg.type != BFTM_MSG_NONE)
			bftm_object_service.order(&cluster, u, &msg);
	}
}

/* The next request reaches its server. Return: false when none is under way. */
static bool hear_next(void)
{
	struct host_sent *s = &queue[heard];

	if (heard == queued)
		return false;
	heard++;
	if (silent >> s->u & 1)
		return true;
	if (refused_type == s->msg.type)
		refuses(s->u, s->msg.seq, refusal);
	else
		server_step(s->u, &s->msg, s->msg.data ? s->data : NULL);
	return true;
}

static struct bftm_timer *next_timer(u64 until)
{
	struct bftm_timer *first = NULL;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(timers); i++)
		if (timers[i] && timers[i]->at_ns <= (first ? first->at_ns : until))
			first = timers[i];
	return first;
}

/* All that happens until then; requests and answers take no time. */
static void pass(u64 ns)
{
	u64 until = now + ns;
	struct bftm_timer *timer;

	for (;;) {
		while (hear_next())
			;
		timer = next_timer(until);
		if (!timer)
			break;
		if (now < timer->at_ns)
			now = timer->at_ns;
		bftm_timer_stop(timer);
		timer->fire(timer);
	}
	now = until;
}

static void forget_sent(void)
{
	memset(sent, 0, sizeof(sent));
	queued = heard = 0;
}

/* An application submits request number @id. */
static void submit(u64 id, const char *request)
{
	struct bftm_submit_ask ask = {
		.id = id, .name = "x", .name_len = 1, .op = (const u8 *)request,
		.op_len = (u32)strlen(request),
	};

	done[id].error = -1;
	bftm_order_submit(&ask);
}

static int host_begin(void **state)
{
	u32 u;

	(void)state;
	memset(&cluster, 0, sizeof(cluster));
	logged_lost = 0;
	logged_mute = 0;
	counters = (struct bftm_counters){ .seq = 9ull << 32 };
	identity = (struct bftm_identity){
		.client = ME, .incarnation = 9, .counters = &counters,
	};
	cluster.conf.n = SERVERS;
	cluster.conf.b = 1;
	cluster.conf.state_max = BFTM_STATE_DEFAULT;
	cluster.order_cfg = (struct bftm_order_cfg){
		.n = SERVERS, .b = 1, .resend_ns = RESEND, .limit_ns = 5 * BFTM_NS_PER_SEC,
	};
	cluster.identity = &identity;
	cluster.first_seq = counters.seq;
	bftm_object_service.begin(&identity);
	for (u = 0; u < SERVERS; u++) {
		bftm_object_init(&object[u], false);
		waiting[u].list = (struct bftm_pendings){ .room = 4 };
		object[u].pend = &waiting[u].list;
	}
	now = 1000 * BFTM_NS_PER_SEC;
	silent = able = refused_type = 0;
	locks = 0;
	forget_sent();
	return 0;
}

static int host_end(void **state)
{
	(void)state;
	bftm_object_service.forget(&identity);
	while (kepts)
		free(kept[--kepts]);
	return 0;
}

#endif /* BFTM_UNIT_ORDER_HOST_H */
