/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock at a server with a queue. Times are ns of the server's clock; lease L
 * is kept until L + ⌈Lρ⌉ + tick, and who asked for L waits for L unheard.
 */
#ifndef BFTM_UNIT_WAITERS_H
#define BFTM_UNIT_WAITERS_H

#include "unit.h"

#include "core/backoff/parties.h"
#include "core/lease.h"

#define L	(100 * BFTM_NS_PER_MS)
#define GUARD	(100200000 + BFTM_TICK_NS)	/* L (1 + ρ) + tick */
#define WINDOW	L
#define T0	(50 * BFTM_NS_PER_SEC)
#define ROOM	8

enum who { NOBODY, ALICE = 7, BOB = 9, CAROL = 11, DAVE = 13 };

static struct bftm_server_cfg cfg;
static struct bftm_lock lock;
static struct bftm_msg reply, push;

static int fresh_queue(void **state)
{
	static union {
		struct bftm_queue queue;
		u8 raw[sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_seat)];
	} waiters;

	(void)state;
	cfg = (struct bftm_server_cfg){
		.cluster = 3, .id = 5, .epoch = 99, .rho_ppm = 2000, .waiters_max = ROOM,
		.lease_max_ns = BFTM_NS_PER_SEC, .quarantine_until_ns = 1000,
	};
	bftm_lock_init(&lock, 100, 0);
	waiters.queue.count = 0;
	waiters.queue.room = ROOM;
	waiters.queue.valued = 0;
	waiters.queue.ends = 0;
	lock.queue = &waiters.queue;
	return 0;
}

/* The answer of the server; push has what it says unasked. */
static inline u8 step(struct bftm_msg req, u64 now)
{
	const struct bftm_party *p;

	req.seq = 77;
	req.proto = BFTM_PROTO_BACKOFF;
	req.name_len = 1;
	req.name[0] = 'x';
	if ((req.type == BFTM_MSG_TRY || req.type == BFTM_MSG_STAMP) && !req.mode)
		req.mode = BFTM_MODE_EX;
	memset(&reply, 0xee, sizeof(reply));
	memset(&push, 0xee, sizeof(push));
	bftm_server_step(&cfg, &lock, &req, now, &reply, &push);
	if (push.type == BFTM_MSG_NONE)
		return reply.type;
	/* To a party that has this grant of this lock, and no answer to anything. */
	assert_true(push.type == BFTM_MSG_FREE || push.type == BFTM_MSG_INQUIRE ||
		    push.type == BFTM_MSG_PROBE);
	p = bftm_party_find(&lock, push.client, push.attempt);
	assert_non_null(p);
	assert_int_not_equal(p->mode, BFTM_MODE_NL);
	assert_int_equal(push.mode, p->mode);
	assert_int_equal(push.gno, bftm_party_gno(&lock, p));
	assert_int_equal(push.k, p->k);
	assert_int_equal(push.seq, 0);
	assert_int_equal(push.flags & ~(BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT), 0);
	assert_true(!push.flags || (push.type == BFTM_MSG_FREE && p->value_room));
	assert_int_equal(push.proto, BFTM_PROTO_BACKOFF);
	assert_int_equal(push.cluster, cfg.cluster);
	assert_int_equal(push.server, cfg.id);
	assert_int_equal(push.server_epoch, cfg.epoch);
	assert_int_equal(push.name_len, 1);
	assert_memory_equal(push.name, req.name, sizeof(push.name));
	return reply.type;
}

/* Priority, unless a test says otherwise: the client's number. */
static inline u8 queue_prio(u32 client, u64 attempt, u32 k, u64 prio, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = attempt,
				       .k = k, .lease_ns = L, .prio = prio }, now);
}

static inline u8 queue(u32 client, u64 attempt, u32 k, u64 now)
{
	return queue_prio(client, attempt, k, client, now);
}

static inline u8 try(u32 client, u64 attempt, u32 k, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = attempt,
				       .k = k, .lease_ns = L, .prio = client,
				       .flags = BFTM_FLAG_NOQUEUE }, now);
}

static inline u8 release(u32 client, u64 attempt, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_RELEASE, .client = client,
				       .attempt = attempt }, now);
}

static inline u8 yield(u32 client, u64 attempt, u64 gno, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_YIELD, .client = client,
				       .attempt = attempt, .gno = gno }, now);
}

#define FREE(call)	assert_int_equal(call, BFTM_MSG_FREE)
#define LOCKED(call)	assert_int_equal(call, BFTM_MSG_LOCKED)
#define SILENT(call)	assert_int_equal(call, BFTM_MSG_NONE)
#define RELEASED(call)	assert_int_equal(call, BFTM_MSG_RELEASED)

/* WAIT, at this place of the queue. */
#define WAIT(place, call) do { \
	assert_int_equal(call, BFTM_MSG_WAIT); \
	assert_int_equal(reply.position, place); \
} while (0)

#define PUSHED(what, whom) do { \
	assert_int_equal(push.type, BFTM_MSG_ ## what); \
	assert_int_equal(push.client, whom); \
} while (0)

#define NOT_PUSHED	assert_int_equal(push.type, BFTM_MSG_NONE)

#endif /* BFTM_UNIT_WAITERS_H */
