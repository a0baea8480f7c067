/* SPDX-License-Identifier: GPL-2.0 */
/* Servers of locks, requests and locks in any state, for Eva. */
#ifndef PROOF_ANY_LOCK_H
#define PROOF_ANY_LOCK_H

#include "any.h"
#include "core/backoff/server.h"

#define ROOM 4

static struct bftm_server_cfg any_server(void)
{
	return (struct bftm_server_cfg){
		.cluster = (u32)any_from(0, ~0u),
		.id = (u16)any_from(0, BFTM_SERVER_ID_MAX),
		.rho_ppm = (u32)any_from(BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM),
		.epoch = any_from(0, ~0ull),
		.lease_max_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS),
		.quarantine_until_ns = ANY_TIME,
		.waiters_max = (u32)any_from(BFTM_WAITERS_MIN, BFTM_WAITERS_MAX),
	};
}

/* Of the form that bftm_wire_get() demands. */
static struct bftm_msg any_request(void)
{
	struct bftm_msg msg;

	any(msg);
	msg.name_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	return msg;
}

/* The block of a queue with ROOM places. */
static union {
	struct bftm_queue queue;
	u8 block[sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_waiter)];
} queues[2];

static struct bftm_queue *any_queue(void)
{
	struct bftm_queue *queue = &queues[0].queue;
	u32 i;

	if (any_bool())
		return NULL;
	any(queues[0]);
	queue->room = ROOM;
	queue->count = (u32)any_from(0, ROOM);
	for (i = 0; i < ROOM; i++) {
		queue->waiter[i].lease_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS);
		queue->waiter[i].heard_ns = ANY_TIME;
	}
	return queue;
}

static struct bftm_lock any_lock(void)
{
	struct bftm_lock lock;

	any(lock);
	lock.gno = any_from(0, ~0ull - 1);
	lock.until_ns = any_from(0, 1ull << 63);
	lock.lease_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS);
	lock.queue = any_queue();
	return lock;
}

#endif
