// SPDX-License-Identifier: GPL-2.0
// prove: memory all_timers bftm_lock_init bftm_lock_learn bftm_lock_owned bftm_lock_holders bftm_lock_waiters bftm_lock_deadline bftm_lock_lacks_room bftm_lock_expire bftm_tell bftm_settle_heard bftm_ask_marked bftm_is_quiet: every lock with up to five parties
// prove: memory all_ops bftm_protocol_index bftm_protocol_of: every operation of the table of protocols but step, on every lock
// frama-c: -eva-min-loop-unroll 7 -eva-slevel 3000 -eva-precision 0 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality
#include "any_moves.h"
#include "core/admit.c"
#include "core/backoff/value.c"
#include "core/backoff/settle.c"
#include "core/backoff/try.c"
#include "core/backoff/server.c"
#include "core/backoff/protocol.c"
#include "protocols.c"

void all_timers(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_lock lock = any_lock();
	struct bftm_msg req = any_request(), push;

	switch (any_from(0, 4)) {
	case 0:
		bftm_lock_owned(&lock, ANY_TIME);
		bftm_lock_waiters(&lock);
		bftm_lock_holders(&lock);
		bftm_lock_deadline(&lock);
		break;
	case 1:
		bftm_lock_lacks_room(&lock, &req, ANY_TIME);
		break;
	case 2:
		bftm_lock_expire(&cfg, &lock, ANY_TIME, &push);
		break;
	case 3:
		bftm_lock_learn(&lock, any_from(0, ~0ull));
		break;
	default:
		bftm_lock_init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
	}
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
	switch (any_from(0, 12)) {
	case 0:
		p->server->wants_room(&cfg, &lock, &req, ANY_TIME);
		break;
	case 1:
		p->server->room_size((u32)any_from(0, BFTM_WAITERS_MAX));
		break;
	case 2:
		p->server->room(&lock);
		break;
	case 3:
		p->server->deadline(&lock);
		break;
	case 4:
		p->server->waits(&lock, (u32)any_from(0, ~0u), any_from(0, ~0ull));
		break;
	case 5:
		p->server->granted(&lock, (u32)any_from(0, ~0u), any_from(0, ~0ull), &view);
		break;
	case 6:
		p->server->idle(&lock, ANY_TIME);
		break;
	case 7:
		p->server->describe(&lock, &view);
		break;
	case 8:
		p->server->creates(&cfg, &req);
		break;
	case 9:
		p->server->expire(&cfg, &lock, ANY_TIME, &sends.push);
		break;
	case 10:
		p->server->learn(&lock, any_from(0, ~0ull));
		break;
	case 11:
		p->server->move_room(&lock, any_bool() ? &queues[1] : NULL, ROOM);
		break;
	default:
		p->server->init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
	}
}
