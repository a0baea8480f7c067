// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "message.h"
#include "server.h"

static void central_init(void *state, u64 grant, u64 token_max)
{
	struct central_lock *lock = state;

	(void)token_max;
	memset(lock, 0, sizeof(*lock));
	lock->grant = grant;
}

/* It stamps none. */
static bool central_knows(const void *state)
{
	(void)state;
	return true;
}

static void central_learn(void *state, u64 token_max)
{
	(void)state;
	(void)token_max;
}

/* RELEASE may overtake TRY: what it ends has to be known when TRY comes. */
static bool central_creates(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	(void)cfg;
	return req->type == BFTM_MSG_TRY || req->type == BFTM_MSG_RELEASE;
}

static struct central_seat *seat_of(struct central_lock *lock, u32 client)
{
	u32 i;

	for (i = 0; i < lock->seats; i++)
		if (lock->seat[i].client == client)
			return &lock->seat[i];
	return NULL;
}

static struct central_seat *take_seat(struct central_lock *lock, u32 client)
{
	struct central_seat *s = seat_of(lock, client);

	if (s || lock->seats == CENTRAL_CLIENTS)
		return s;
	s = &lock->seat[lock->seats++];
	*s = (struct central_seat){ .client = client };
	return s;
}

static u32 waiting(const struct central_lock *lock, u64 before)
{
	u32 i, sum = 0;

	for (i = 0; i < lock->seats; i++)
		sum += lock->seat[i].ticket && lock->seat[i].ticket < before;
	return sum;
}

static void grant_to(struct central_lock *lock, struct central_seat *s, struct bftm_sends *ret)
{
	s->ticket = 0;
	lock->owner = 1 + (u32)(s - lock->seat);
	lock->grant++;
	ret->granted = true;
}

/* The client that waits longest has it next, and is told. */
static void grant_next(const struct bftm_server_cfg *cfg, struct central_lock *lock,
		       const struct bftm_msg *req, struct bftm_sends *ret)
{
	struct central_seat *next = NULL;
	u32 i;

	for (i = 0; i < lock->seats; i++) {
		struct central_seat *s = &lock->seat[i];

		if (s->ticket && (!next || s->ticket < next->ticket))
			next = s;
	}
	lock->owner = 0;
	if (!next)
		return;
	grant_to(lock, next, ret);
	ret->push = (struct bftm_msg){
		.type = BFTM_MSG_FREE, .mode = BFTM_MODE_EX, .proto = PROTO_CENTRAL, .cluster = cfg->cluster,
		.server = cfg->id, .server_epoch = cfg->epoch, .client = next->client, .attempt = next->attempt,
		.k = next->k, .gno = lock->grant, .name_len = req->name_len,
	};
	memcpy(ret->push.name, req->name, req->name_len);
}

static void try_it(struct central_lock *lock, const struct bftm_msg *req, struct bftm_sends *ret)
{
	struct central_seat *s = take_seat(lock, req->client);

	if (!s) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_WAITERS);
		return;
	}
	/* Late: the client asks by another attempt by now, or is done with this one. */
	if (!req->attempt || req->attempt <= s->over || req->attempt < s->attempt)
		return;
	if (req->attempt > s->attempt)
		s->k = 0;
	s->attempt = req->attempt;
	if (req->k > s->k)
		s->k = req->k;
	if (!lock->owner)
		grant_to(lock, s, ret);
	else if (!s->ticket && lock->owner != 1 + (u32)(s - lock->seat) &&
		 !(req->flags & BFTM_FLAG_NOQUEUE))
		s->ticket = ++lock->ticket;
	ret->reply = *req;
	ret->reply.prio = 0;
	ret->reply.gno = lock->grant;
	ret->reply.lease_ns = 0;
	if (lock->owner == 1 + (u32)(s - lock->seat)) {
		ret->reply.type = BFTM_MSG_FREE;
	} else if (s->ticket) {
		ret->reply.type = BFTM_MSG_WAIT;
		ret->reply.position = 1 + waiting(lock, s->ticket);
	} else {
		ret->reply.type = BFTM_MSG_LOCKED;
	}
}

static void release(const struct bftm_server_cfg *cfg, struct central_lock *lock,
		    const struct bftm_msg *req, struct bftm_sends *ret)
{
	struct central_seat *s = lock ? take_seat(lock, req->client) : NULL;

	ret->reply = *req;
	ret->reply.type = BFTM_MSG_RELEASED;
	if (!s)
		return;
	if (req->attempt > s->over)
		s->over = req->attempt;
	/* A newer one is not over; what an older one has is given back by its own RELEASE. */
	if (s->attempt != req->attempt)
		return;
	s->ticket = 0;
	if (lock->owner == 1 + (u32)(s - lock->seat))
		grant_next(cfg, lock, req, ret);
}

static void central_step(const struct bftm_server_cfg *cfg, void *state,
			 const struct bftm_msg *req, u64 now, struct bftm_sends *ret)
{
	(void)now;
	switch (req->type) {
	case BFTM_MSG_TRY:
		try_it(state, req, ret);
		return;
	case BFTM_MSG_RELEASE:
		release(cfg, state, req, ret);
		return;
	}
	bftm_refuse(req, &ret->reply, BFTM_REFUSED_PROTO);
}

/* Nothing ends by itself. */
static u64 central_deadline(const void *state)
{
	(void)state;
	return 0;
}

static bool central_expire(const struct bftm_server_cfg *cfg, void *state, u64 now,
			   struct bftm_msg *push)
{
	(void)cfg, (void)state, (void)now;
	push->type = BFTM_MSG_NONE;
	return false;
}

static bool central_waits(const void *state, u32 client, u64 attempt)
{
	const struct central_seat *s = seat_of((struct central_lock *)state, client);

	return s && s->ticket && s->attempt == attempt;
}

/* Never forgotten: what it knows of attempts that are over must outlast every late message. */
static bool central_idle(const void *state, u64 now)
{
	(void)state;
	(void)now;
	return false;
}

static void central_describe(const void *state, struct bftm_lock_view *ret)
{
	const struct central_lock *lock = state;
	const struct central_seat *s = lock->owner ? &lock->seat[lock->owner - 1] : NULL;

	*ret = (struct bftm_lock_view){
		.attempt = s ? s->attempt : 0,
		.until_ns = s ? ~0ull : 0,
		.grant = lock->grant,
		.client = s ? s->client : 0,
		.mode = s ? BFTM_MODE_EX : BFTM_MODE_NL,
		.waiters = waiting(lock, ~0ull),
	};
}

static bool central_granted(const void *state, u32 client, u64 attempt, struct bftm_lock_view *ret)
{
	central_describe(state, ret);
	return attempt && ret->attempt == attempt && ret->client == client;
}

const struct bftm_server_ops central_server = {
	.lock_size = sizeof(struct central_lock),
	.init = central_init,
	.knows = central_knows,
	.learn = central_learn,
	.creates = central_creates,
	.step = central_step,
	.deadline = central_deadline,
	.expire = central_expire,
	.waits = central_waits,
	.granted = central_granted,
	.idle = central_idle,
	.describe = central_describe,
};
