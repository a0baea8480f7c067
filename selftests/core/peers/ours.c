// SPDX-License-Identifier: GPL-2.0
/*
 * Our own protocol, kmod/core/backoff, among the algorithms: n servers, b = f liars, a lock that is
 * held by a lease. It needs nothing of the network, and has no link below it. A server that starts
 * again has forgotten all and grants nothing until its quarantine is over; REPAIR_QUARANTINE taken
 * away it grants at once. With @majority given, m, that many grants win a lock: it is safe as long
 * as r servers forget so, if 2m - n - b - r >= 1.
 *
 * Messages are the real ones up to the name of the lock, which there is one of.
 */
#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "core/backoff/value.h"
#include "core/lease.h"
#include "core/release.h"
#include "algorithms.h"

#define TICK_NS BFTM_NS_PER_US
#define LONG_LEASE (1600 * PEER_UNIT)	/* ticks */
#define RELEASES 4			/* of a client that are under way */
#define WAITERS PEER_CROWD
#define ROOM (WAITERS + BFTM_HOLDERS_DEFAULT + BFTM_VALUE_PLACES)
#define CONTENDER_MAX 32768		/* bytes */
#define START_NS BFTM_NS_PER_SEC	/* of the clock, at tick 0 */

static const struct bftm_protocol *const core = &bftm_backoff;

static const char *const kinds[] = { "TO_SERVER", "TO_CLIENT" };

enum { TO_SERVER, TO_CLIENT };

/** struct ours - a server has @server, @lock and @room; a client has the rest */
struct ours {
	struct bftm_server_cfg server;
	struct bftm_lock lock;
	struct bftm_client_cfg client;
	u64 attempts;
	u32 next_release;
	struct bftm_release release[RELEASES];
	union {
		u64 contender[CONTENDER_MAX / 8];
		u64 room[(sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_seat)) / 8 + 1];
	};
};

static u64 lease_ns(const struct peer *p)
{
	return (p->lease ?: LONG_LEASE) * TICK_NS;
}

static u64 now_ns(const struct peer *p)
{
	return START_NS + peer_now(p) * TICK_NS;
}

static struct bftm_contender *contender(struct peer *p)
{
	return (struct bftm_contender *)((struct ours *)p->state)->contender;
}

static void wake_at(struct peer *p, u64 at_ns)
{
	u64 now = now_ns(p);

	peer_wake_after(p, at_ns > now ? (at_ns - now + TICK_NS - 1) / TICK_NS : 1);
}

/* Of what the release of a client or the contender has to do next. */
static void arm_client(struct peer *p)
{
	struct ours *s = p->state;
	const struct bftm_contender *c = contender(p);
	u64 at = c->phase == BFTM_PHASE_DEAD ? ~0ull : c->wake_ns;
	u32 i;

	for (i = 0; i < RELEASES; i++)
		if (s->release[i].unanswered && s->release[i].wake_ns < at)
			at = s->release[i].wake_ns;
	if (at != ~0ull)
		wake_at(p, at);
}

static void tell(struct peer *p, u8 kind, u32 to, struct bftm_msg *msg)
{
	struct peer_note note = { .kind = kind, .number = msg->type };

	memcpy(note.core, msg, offsetof(struct bftm_msg, name));
	peer_tell(p, to, &note);
}

static void tell_set(struct peer *p, u32 set, struct bftm_msg *msg)
{
	u32 to;

	msg->proto = core->number;
	msg->client = p->id;
	msg->name_len = 1;
	for (to = 0; to < p->servers; to++)
		if (set >> to & 1)
			tell(p, TO_SERVER, to, msg);
}

static void tell_release(struct peer *p, const struct bftm_release *r, u32 set)
{
	struct bftm_msg msg;

	if (!set)
		return;
	bftm_release_message(r, set, &msg);
	tell_set(p, set, &msg);
}

static void release(struct peer *p, const struct bftm_out *out)
{
	struct ours *s = p->state;
	struct bftm_release *r = NULL;
	u32 i;

	for (i = 0; i < RELEASES; i++)
		if (s->release[i].unanswered && s->release[i].attempt == out->release_attempt)
			r = &s->release[i];
	if (r) {
		r->unanswered |= out->release_to;
	} else {
		r = &s->release[s->next_release++ % RELEASES];
		bftm_release_start(r, &s->client, out, now_ns(p));
	}
	tell_release(p, r, out->release_to);
}

static void release_again(struct peer *p, struct bftm_release *r)
{
	u32 to = bftm_release_wake(r, &((struct ours *)p->state)->client, now_ns(p));

	if (to)
		tell_release(p, r, to);
	else
		r->unanswered = 0;
}

static void obey(struct peer *p, const struct bftm_out *out)
{
	struct bftm_msg msg;
	u32 i, to, some;

	if (out->release_to)
		release(p, out);
	for (i = 0; i < out->count; i++) {
		for (to = out->send[i].to; to; to &= ~some) {
			some = bftm_contender_message(contender(p), &out->send[i], to, &msg);
			tell_set(p, some, &msg);
		}
	}
	if (out->verdict == BFTM_WON)
		peer_enter(p);
	arm_client(p);
}

static u64 new_attempt(struct peer *p)
{
	return 1ull << 32 | ++((struct ours *)p->state)->attempts;
}

static void ours_want(struct peer *p)
{
	struct ours *s = p->state;
	const struct bftm_want want = {
		.lease_ns = lease_ns(p), .wait = BFTM_WAIT_QUEUE, .mode = BFTM_MODE_EX,
	};
	struct bftm_out out;

	core->client->start(contender(p), &s->client, &want, new_attempt(p), now_ns(p), &out);
	obey(p, &out);
}

static void ours_leave(struct peer *p)
{
	struct bftm_out out;

	core->client->stop(contender(p), &((struct ours *)p->state)->client, &out);
	obey(p, &out);
}

static void take_answer(struct peer *p, u32 from, const struct bftm_msg *msg)
{
	struct ours *s = p->state;
	struct bftm_contender *c = contender(p);
	struct bftm_out out;
	u32 i;

	if (msg->type == BFTM_MSG_RELEASED) {
		for (i = 0; i < RELEASES; i++)
			if (s->release[i].attempt == msg->attempt)
				bftm_release_answer(&s->release[i], &s->client, from);
		return;
	}
	if (bftm_contender_alive(c) || c->attempt == msg->attempt)
		core->client->answer(c, &s->client, from, msg, now_ns(p),
				     peer_random(p, ~0ull), &out);
	else
		bftm_stray(msg, from, &out);
	obey(p, &out);
}

static void wake_client(struct peer *p)
{
	struct ours *s = p->state;
	struct bftm_contender *c = contender(p);
	u64 now = now_ns(p), attempt = 0;
	struct bftm_out out;
	u32 i;

	for (i = 0; i < RELEASES; i++)
		if (s->release[i].unanswered && now >= s->release[i].wake_ns)
			release_again(p, &s->release[i]);
	if (c->phase == BFTM_PHASE_DEAD || now < c->wake_ns) {
		arm_client(p);
		return;
	}
	if (c->phase == BFTM_PHASE_BACKOFF)
		attempt = new_attempt(p);
	core->client->wake(c, &s->client, now, attempt, peer_random(p, ~0ull), &out);
	obey(p, &out);
}

static void push(struct peer *p, struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_NONE)
		return;
	msg->seq = 0;
	tell(p, TO_CLIENT, msg->client, msg);
}

static void arm_server(struct peer *p)
{
	u64 at = core->server->deadline(&((struct ours *)p->state)->lock);

	if (at)
		wake_at(p, at);
}

static void serve(struct peer *p, const struct bftm_msg *req)
{
	struct ours *s = p->state;
	u64 now = now_ns(p);
	struct bftm_sends sends = { 0 };

	if (!core->server->room(&s->lock) &&
	    core->server->wants_room(&s->server, &s->lock, req, now))
		core->server->move_room(&s->lock, s->room, ROOM);
	core->server->step(&s->server, &s->lock, req, now, &sends);
	if (sends.reply.type != BFTM_MSG_NONE)
		tell(p, TO_CLIENT, req->client, &sends.reply);
	push(p, &sends.push);
	arm_server(p);
}

static void wake_server(struct peer *p)
{
	struct ours *s = p->state;
	struct bftm_msg msg = { .name_len = 1 };

	core->server->expire(&s->server, &s->lock, now_ns(p), &msg);
	push(p, &msg);
	arm_server(p);
}

static void ours_wake(struct peer *p)
{
	if (p->id < p->servers)
		wake_server(p);
	else
		wake_client(p);
}

static void ours_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct bftm_msg msg = { 0 };

	memcpy(&msg, note->core, offsetof(struct bftm_msg, name));
	msg.name[0] = 'x';
	if (note->kind == TO_SERVER)
		serve(p, &msg);
	else
		take_answer(p, from, &msg);
}

/* It is everybody's, or nobody's, or there is no answer. */
static void ours_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	struct bftm_msg msg = { 0 };

	memcpy(&msg, note->core, offsetof(struct bftm_msg, name));
	if (msg.type != BFTM_MSG_TRY || !peer_random(p, 4))
		return;
	msg.type = peer_random(p, 4) ? BFTM_MSG_FREE : BFTM_MSG_WAIT;
	msg.gno = 1 + peer_random(p, 100);
	tell(p, TO_CLIENT, from, &msg);
}

static void ours_start(struct peer *p)
{
	struct ours *s = p->state;
	u64 now = now_ns(p);

	s->server = (struct bftm_server_cfg){
		.id = (u16)p->id, .epoch = now, .lease_max_ns = lease_ns(p), .waiters_max = WAITERS,
		/* As bftm_quarantine(), of clocks that keep time. */
		.quarantine_until_ns = peer_now(p) && peer_has(p, REPAIR_QUARANTINE) ?
				       now + bftm_lease_at_server(lease_ns(p), 0) : 0,
	};
	s->client = (struct bftm_client_cfg){
		.n = p->servers, .b = p->f, .m = p->majority,
		.delta_ns = PEER_TRANSIT * TICK_NS,
		.resend_ns = BFTM_RESEND_DELTAS * PEER_TRANSIT * TICK_NS,
		.retry_max_ns = 4 * lease_ns(p),
	};
	/* Numbers of grants do not begin again. */
	core->server->init(&s->lock, now, 0);
}

const struct peer_algorithm peer_ours = {
	.name = "ours", .section = "ours", .kinds = kinds, .task = TASK_MUTEX, .servers = 4,
	.repairs = REPAIR_QUARANTINE, .promises = RULE_ME1 | RULE_ME2, .size = sizeof(struct ours),
	.start = ours_start, .hear = ours_hear, .lie = ours_lie, .wake = ours_wake,
	.want = ours_want, .leave = ours_leave,
};
