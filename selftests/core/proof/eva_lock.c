// SPDX-License-Identifier: GPL-2.0
// prove: memory without_lock bftm_server_step bftm_server_needs: every request that needs no lock, when there is none
// prove: memory all_timers bftm_lock_init bftm_lock_learn bftm_lock_owned bftm_lock_waited bftm_lock_lacks_room bftm_lock_expire bftm_queue_remove bftm_queue_forget: the same
// prove: memory all_queues bftm_goes_before bftm_queue_find bftm_queue_first bftm_queue_position bftm_queue_add bftm_queue_move: every queue of up to four
// prove: memory all_ops bftm_protocol_index bftm_protocol_of: every operation of the table of protocols but step, on every lock
// frama-c all_timers all_ops: -eva-min-loop-unroll 6 -eva-slevel 1000
#include "any_lock.h"
#include "core/admit.c"
#include "core/backoff/queue.c"
#include "core/backoff/server.c"
#include "core/backoff/protocol.c"
#include "protocols.c"

void all_timers(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_lock lock = any_lock();
	struct bftm_msg req = any_request(), push;

	bftm_lock_owned(&lock, ANY_TIME);
	bftm_lock_waited(&lock);
	bftm_lock_lacks_room(&lock, &req, ANY_TIME);
	bftm_lock_expire(&cfg, &lock, ANY_TIME, &push);
	bftm_lock_learn(&lock, any_from(0, ~0ull));
	bftm_lock_init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
}

/* Requests for which bftm_server_needs() says no. With a lock: wp_lock.c. */
void without_lock(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_msg req = any_request(), reply, push;

	bftm_server_needs(&cfg, &req);
	switch (any_from(0, 4)) {
	case 0:		/* no form */
		req.attempt = 0;
		break;
	case 1:
		req.type = (u8)any_from(BFTM_MSG_RELEASE, BFTM_MSG_YIELD);
		break;
	case 2:
		req.type = (u8)any_from(BFTM_MSG_RECOVER, 255);
		break;
	case 3:		/* a lease that no server grants */
		req.type = BFTM_MSG_TRY;
		req.lease_ns = any_from(0, BFTM_LEASE_MIN_NS - 1);
		break;
	default:
		req.type = BFTM_MSG_TRY;
		req.lease_ns = any_from(BFTM_LEASE_MAX_NS + 1, ~0ull);
	}
	bftm_server_step(&cfg, NULL, &req, ANY_TIME, &reply, &push);
}

void all_queues(void)
{
	struct bftm_queue *queue = any_queue();
	struct bftm_waiter me;

	any(me);
	bftm_queue_first(queue);
	bftm_goes_before(any_from(0, ~0ull), 1, any_from(0, ~0ull), 2);
	bftm_queue_find(queue, (u32)any_from(0, ~0u));
	bftm_queue_position(queue, &me);
	bftm_queue_add(queue, &me);
	bftm_queue_move(queue, any_bool() ? &queues[1] : NULL, ROOM);
}

void all_ops(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_lock lock = any_lock();
	struct bftm_msg req = any_request();
	const struct bftm_protocol *p = bftm_protocol_of((u8)any_from(0, 255));
	struct bftm_lock_view view;
	struct bftm_sends sends;

	if (!p)
		return;
	p->server->wants_room(&cfg, &lock, &req, ANY_TIME);
	p->server->room_size((u32)any_from(0, BFTM_WAITERS_MAX));
	p->server->room(&lock);
	p->server->deadline(&lock);
	p->server->waits(&lock, (u32)any_from(0, ~0u), any_from(0, ~0ull));
	p->server->idle(&lock, ANY_TIME);
	p->server->describe(&lock, &view);
	p->server->creates(&cfg, &req);
	p->server->expire(&cfg, &lock, ANY_TIME, &sends.push);
	p->server->learn(&lock, any_from(0, ~0ull));
	p->server->move_room(&lock, any_bool() ? &queues[1] : NULL, ROOM);
	p->server->init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
}
