// SPDX-License-Identifier: GPL-2.0
/*
 * Two correct servers with one key: clients of even number talk to the honest
 * one inside, those of odd number to its twin, which knows nothing of them.
 * Each half is beyond suspicion.
 */
#include "strategy.h"

#define LOCKS 16
#define ROOM 4

/** union waiters - the queue of one lock */
union waiters {
	struct bftm_queue queue;
	u8 raw[sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_seat)];
};

/** struct twin - the other server: a lock of a name is in the place of its hash */
struct twin {
	struct bftm_lock lock[LOCKS];
	union waiters waiters[LOCKS];
};

static u32 hash_name(const struct bftm_msg *msg)
{
	u32 hash = 0, i;

	for (i = 0; i < msg->name_len; i++)
		hash = hash * 31 + msg->name[i];
	return hash;
}

/* The lock a request names; what its timer would have done by now is done. */
static struct bftm_lock *find(struct liar *l, const struct bftm_server_cfg *cfg,
			      const struct liar_request *req)
{
	struct twin *twin = liar_state(l);
	u32 i = hash_name(req->msg) % LOCKS;
	struct bftm_lock *lock = &twin->lock[i];
	struct bftm_msg push;

	if (!lock->queue) {
		lock->queue = &twin->waiters[i].queue;
		lock->queue->room = ROOM;
	}
	bftm_lock_expire(cfg, lock, req->now_ns, &push);
	if (push.type != BFTM_MSG_NONE) {
		push.name_len = req->msg->name_len;
		memcpy(push.name, req->msg->name, sizeof(push.name));
		liar_push(l, &push, 0);
	}
	return lock;
}

static bool is_request(const struct bftm_msg *msg)
{
	return msg->type >= BFTM_MSG_TRY && msg->type <= BFTM_MSG_STAMP;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_server_cfg cfg = *liar_cfg(l);
	struct bftm_msg reply = *req->honest, push = {};

	if (req->msg->client & 1 && is_request(req->msg) &&
	    req->msg->server_epoch == cfg.epoch) {
		cfg.quarantine_until_ns = 0;
		bftm_server_step(&cfg, find(l, &cfg, req), req->msg, req->now_ns, &reply, &push);
		if (reply.type != req->honest->type)
			liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
	liar_push(l, &push, 0);
}

/* Of the honest one: its clients are the others. */
static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)now_ns;
	if (msg->client & 1)
		liar_lied(l);
	else
		liar_push(l, msg, 0);
}

const struct strategy strategy_twin = {
	.name = "twin",
	.what = "be two correct servers, one for every other client",
	.state = sizeof(struct twin),
	.answer = answer,
	.push = push,
};
