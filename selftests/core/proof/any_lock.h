/* SPDX-License-Identifier: GPL-2.0 */
/* Servers of locks, requests and locks in any state, for Eva. */
#ifndef PROOF_ANY_LOCK_H
#define PROOF_ANY_LOCK_H

#include "any.h"
#include "core/backoff/parties.h"
#include "core/backoff/value.h"

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
		.holders_max = (u32)any_from(0, BFTM_HOLDERS_MAX),
		.leaseless = any_bool(),
		.recovering = any_bool(),
		.awaited = any_bool(),
	};
}

static enum bftm_mode any_mode(void)
{
	return (enum bftm_mode)any_from(BFTM_MODE_NL, BFTM_MODE_EX);
}

/* Of the form that bftm_wire_get() demands. */
static struct bftm_msg any_request(void)
{
	struct bftm_msg msg;

	any(msg);
	msg.name_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	msg.mode = (u8)any_mode();
	msg.value_len = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	return msg;
}

/* The block of a queue with ROOM places. */
static union {
	struct bftm_queue queue;
	u8 block[sizeof(struct bftm_queue) + ROOM * sizeof(struct bftm_seat)];
} queues[2];

static struct bftm_party any_party(void)
{
	struct bftm_party p;

	any(p);
	/* With a lease or without one; then a grant has no end. */
	p.lease_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_NONE);
	p.time_ns = any_from(0, BFTM_LEASE_NONE);
	p.mode = any_mode();
	p.want = any_mode();
	p.held = any_mode();
	return p;
}

static struct bftm_queue *any_queue(void)
{
	struct bftm_queue *queue = &queues[0].queue;
	u32 i;

	if (Frama_C_interval_split(0, 1))
		return NULL;
	any(queues[0]);
	queue->valued = (u32)Frama_C_interval_split(0, 1);
	queue->room = queue->valued ? ROOM - BFTM_VALUE_PLACES : ROOM;
	queue->count = (u32)Frama_C_interval_split(0, queue->room);
	if (queue->valued)
		((struct bftm_kept_value *)&queue->place[queue->room])->len =
			(u8)any_from(0, BFTM_VALUE_LEN_MAX);
	for (i = 0; i < queue->room; i++)
		queue->place[i].party = any_party();
	return queue;
}

static struct bftm_lock any_lock(void)
{
	struct bftm_lock lock;

	any(lock);
	lock.gno = any_from(0, ~0ull - 1);
	lock.first = any_party();
	lock.queue = any_queue();
	return lock;
}

/* Each of them by turns, as bftm_party_find() finds one. */
static struct bftm_party *any_of(const struct bftm_lock *lock)
{
	return bftm_party(lock, (u32)Frama_C_interval_split(0, (int)bftm_parties(lock) - 1));
}

#endif
