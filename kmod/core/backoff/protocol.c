// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "core/backoff/parties.h"
#include "core/backoff/server.h"
#include "core/backoff/step.h"
#include "core/backoff/value.h"
#include "core/quorum.h"

/* Room in the first queue of a lock; it doubles. */
#define QUEUE_ROOM	4

/* There are a million locks: what one takes at a server is counted in bytes. */
static_assert(sizeof(struct bftm_lock) <= 112);
static_assert(sizeof(struct bftm_seat) <= 52);

static void backoff_init(void *lock, u64 grant, u64 token_max)
{
	bftm_lock_init(lock, grant, token_max);
}

static bool backoff_knows(const void *state)
{
	const struct bftm_lock *lock = state;

	return lock->hi != BFTM_TOKEN_UNKNOWN;
}

static void backoff_learn(void *lock, u64 token_max)
{
	bftm_lock_learn(lock, token_max);
}

static u32 backoff_room_of(const void *state)
{
	const struct bftm_lock *lock = state;

	if (!lock->queue)
		return 0;
	return lock->queue->room + (lock->queue->valued ? BFTM_VALUE_PLACES : 0);
}

static u32 backoff_wants_room(const struct bftm_server_cfg *cfg, const void *lock,
			      const struct bftm_msg *req, u64 now)
{
	const u32 most = cfg->waiters_max + bftm_holders_max(cfg) + BFTM_VALUE_PLACES;
	u32 had, room;

	if (req->type != BFTM_MSG_TRY ||
	    (bftm_is_free(lock) && !(req->flags & BFTM_FLAG_VALUE)) ||
	    !bftm_lock_lacks_room(lock, req, now))
		return 0;
	had = backoff_room_of(lock);
	room = had ? 2 * had : QUEUE_ROOM;
	if (room > most)
		room = most;
	return room > had ? room : 0;
}

static size_t backoff_room_size(u32 waiters)
{
	return sizeof(struct bftm_queue) + waiters * sizeof(struct bftm_seat);
}

static void *backoff_move_room(void *state, void *block, u32 room)
{
	struct bftm_lock *lock = state;
	struct bftm_queue *old = lock->queue;

	lock->queue = bftm_queue_move(old, block, room);
	return old;
}

static void backoff_step(const struct bftm_server_cfg *cfg, void *state,
			 const struct bftm_msg *req, u64 now, struct bftm_sends *ret)
{
	struct bftm_lock *lock = state;
	u64 before = lock ? lock->gno : 0;

	bftm_server_step(cfg, lock, req, now, &ret->reply, &ret->push);
	ret->granted = lock && lock->gno != before;
}

static u64 backoff_deadline(const void *state)
{
	return bftm_lock_deadline(state);
}

static bool backoff_expire(const struct bftm_server_cfg *cfg, void *lock, u64 now,
			   struct bftm_msg *push)
{
	return bftm_lock_expire(cfg, lock, now, push);
}

static bool backoff_lasting(const void *lock, u32 index, u32 *ret_client)
{
	return bftm_lock_lasting(lock, index, ret_client);
}

static bool backoff_drop(void *lock, u32 client, u32 incarnation, bool leased)
{
	return bftm_lock_drop(lock, client, incarnation, leased);
}

static bool backoff_idle(const void *lock, u64 now)
{
	return bftm_is_free(lock) || (!bftm_lock_owned(lock, now) && !bftm_lock_waiters(lock));
}

static bool backoff_keeps(const void *lock)
{
	return bftm_value_certain(lock);
}

static bool backoff_waits(const void *state, u32 client, u64 attempt)
{
	const struct bftm_party *p = bftm_party_find(state, client, attempt);

	return p && !bftm_party_granted(p);
}

static void describe_grant(const struct bftm_lock *lock, const struct bftm_party *p,
			   struct bftm_lock_view *ret)
{
	*ret = (struct bftm_lock_view){
		.grant = lock->gno,
		.token_max = lock->hi,
		.waiters = bftm_lock_waiters(lock),
		.holders = bftm_lock_holders(lock),
		.places = bftm_parties(lock) - 1,
	};
	/* A value in doubt counts as none, except to a holder that may write one. */
	if (bftm_value_certain(lock) || (bftm_value_of(lock) && !bftm_is_free(lock)))
		ret->places += BFTM_VALUE_PLACES;
	if (!p || !bftm_party_granted(p))
		return;
	ret->attempt = p->attempt;
	ret->until_ns = p->time_ns;
	ret->client = p->client;
	ret->mode = p->mode;
}

static bool backoff_granted(const void *lock, u32 client, u64 attempt, struct bftm_lock_view *ret)
{
	const struct bftm_party *p = bftm_party_find(lock, client, attempt);

	describe_grant(lock, p, ret);
	if (ret->attempt)
		ret->grant = bftm_party_gno(lock, p);
	return ret->attempt;
}

static void backoff_describe(const void *state, struct bftm_lock_view *ret)
{
	const struct bftm_lock *lock = state;
	const struct bftm_party *best = &lock->first;
	u32 i;

	for (i = 1; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		if (p->mode > best->mode || (p->mode == best->mode && p->client < best->client))
			best = p;
	}
	describe_grant(lock, best, ret);
}

static struct bftm_contend *contend_of(struct bftm_contender *c)
{
	return (struct bftm_contend *)c;
}

static const struct bftm_contend *const_contend_of(const struct bftm_contender *c)
{
	return (const struct bftm_contend *)c;
}

static size_t backoff_size(u32 n)
{
	return offsetof(struct bftm_contend, server) + n * sizeof(struct bftm_answer);
}

static void backoff_start(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_want *want, u64 attempt, u64 now,
			  struct bftm_out *out)
{
	bftm_contend_start(contend_of(c), cfg, want, attempt, now, out);
}

static void backoff_adopt(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends,
			  bool left)
{
	bftm_contend_adopt(contend_of(c), cfg, want, attempt, end_ns, sends, left);
}

static void backoff_answer(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			   const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	bftm_contend_answer(contend_of(c), cfg, u, msg, now, rnd, out);
}

static void backoff_epoch(struct bftm_contender *c, u32 u, struct bftm_out *out)
{
	bftm_contend_again(contend_of(c), u, out);
}

static void backoff_restarted(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			      u64 now, struct bftm_out *out)
{
	bftm_contend_restarted(contend_of(c), cfg, u, now, out);
}

static bool backoff_retold(const struct bftm_contender *c, u32 u)
{
	return bftm_contend_retold(const_contend_of(c), u);
}

static void backoff_wake(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			 u64 attempt, u64 rnd, struct bftm_out *out)
{
	bftm_contend_wake(contend_of(c), cfg, now, attempt, rnd, out);
}

static void backoff_renew(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out)
{
	bftm_contend_renew(contend_of(c), cfg, now, out);
}

static void backoff_convert(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			    const struct bftm_conversion *to, u64 now, struct bftm_out *out)
{
	bftm_contend_convert(contend_of(c), cfg, to, now, out);
}

static void backoff_keep(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			 struct bftm_out *out)
{
	bftm_contend_keep(contend_of(c), cfg, now, out);
}

static void backoff_value(const struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  u64 now, struct bftm_value_told *ret)
{
	bftm_contend_value(const_contend_of(c), cfg, now, ret);
}

static void backoff_leave(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_written *value, struct bftm_out *out)
{
	bftm_contend_leave(contend_of(c), cfg, value, out);
}

static enum bftm_mode backoff_held(const struct bftm_contender *c)
{
	return bftm_contend_held(const_contend_of(c));
}

static void backoff_stop(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			 struct bftm_out *out)
{
	bftm_contend_stop(contend_of(c), cfg, out);
}

static u64 backoff_end(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	return bftm_contend_end(const_contend_of(c), cfg);
}

static bool backoff_reached(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	return bftm_contend_reached(const_contend_of(c), cfg);
}

static bool backoff_lacks_tokens(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	return bftm_fence_lacks(const_contend_of(c), cfg);
}

static u64 backoff_granted_ns(const struct bftm_contender *c, u32 u)
{
	const struct bftm_answer *a = &const_contend_of(c)->server[u];

	return a->k ? a->from_ns : 0;
}

static u64 backoff_seen(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	return bftm_contend_seen(const_contend_of(c), cfg);
}

static const struct bftm_server_ops backoff_server = {
	.lock_size = sizeof(struct bftm_lock),
	.init = backoff_init,
	.knows = backoff_knows,
	.learn = backoff_learn,
	.creates = bftm_server_needs,
	.wants_room = backoff_wants_room,
	.room_size = backoff_room_size,
	.move_room = backoff_move_room,
	.room = backoff_room_of,
	.step = backoff_step,
	.deadline = backoff_deadline,
	.expire = backoff_expire,
	.waits = backoff_waits,
	.granted = backoff_granted,
	.drop = backoff_drop,
	.lasting = backoff_lasting,
	.idle = backoff_idle,
	.keeps = backoff_keeps,
	.describe = backoff_describe,
};

static const struct bftm_client_ops backoff_client = {
	.size = backoff_size,
	.start = backoff_start,
	.adopt = backoff_adopt,
	.answer = backoff_answer,
	.epoch = backoff_epoch,
	.restarted = backoff_restarted,
	.retold = backoff_retold,
	.wake = backoff_wake,
	.renew = backoff_renew,
	.convert = backoff_convert,
	.keep = backoff_keep,
	.held = backoff_held,
	.value = backoff_value,
	.leave = backoff_leave,
	.stop = backoff_stop,
	.end = backoff_end,
	.round_ns = bftm_round_ns,
	.reached = backoff_reached,
	.lacks_tokens = backoff_lacks_tokens,
	.granted_ns = backoff_granted_ns,
	.seen = backoff_seen,
};

const struct bftm_protocol bftm_backoff = {
	.number = BFTM_PROTO_BACKOFF,
	.name = "backoff",
	.traits = BFTM_LEASED | BFTM_FENCES | BFTM_SHARES | BFTM_VALUES | BFTM_LEASELESS,
	.servers_needed = bftm_servers_needed,
	.server = &backoff_server,
	.client = &backoff_client,
};
