// SPDX-License-Identifier: GPL-2.0
// prove: memory without_lock bftm_server_step bftm_server_needs bftm_step_try bftm_tell bftm_settle_heard bftm_ask_marked bftm_is_quiet: every request that needs no lock, when there is none
// prove: memory all_timers bftm_lock_init bftm_lock_learn bftm_lock_owned bftm_lock_holders bftm_lock_waiters bftm_lock_deadline bftm_lock_lacks_room bftm_lock_expire: every lock with up to five parties
// prove: memory all_parties bftm_parties bftm_party bftm_is_free bftm_party_gno bftm_party_granted bftm_party_find bftm_party_plain bftm_party_last bftm_party_position bftm_party_add bftm_party_remove bftm_party_number bftm_parties_forget bftm_parties_expire bftm_goes_before bftm_waits_before bftm_queue_move: the same
// prove: memory all_grants bftm_party_lacks bftm_party_converts bftm_grants_next bftm_grants_beside bftm_grants_inquire bftm_grants_deadlock bftm_mode_conflicts bftm_modes_conflict bftm_mode_covers bftm_mode_join: the same
// prove: memory all_values bftm_value_of bftm_value_certain bftm_value_wanted bftm_value_doubt bftm_value_room bftm_value_make bftm_value_take bftm_value_tell: every lock with up to four others, with and without a value, and every request
// prove: memory all_ops bftm_protocol_index bftm_protocol_of: every operation of the table of protocols but step, on every lock
// frama-c without_lock all_timers all_ops all_parties all_values all_grants: -eva-min-loop-unroll 7 -eva-slevel 1000
#include "any_lock.h"
#include "core/admit.c"
#include "core/backoff/parties.c"
#include "core/backoff/value.c"
#include "core/backoff/grants.c"
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

	bftm_lock_owned(&lock, ANY_TIME);
	bftm_lock_waiters(&lock);
	bftm_lock_holders(&lock);
	bftm_lock_deadline(&lock);
	bftm_lock_lacks_room(&lock, &req, ANY_TIME);
	bftm_lock_expire(&cfg, &lock, ANY_TIME, &push);
	bftm_lock_learn(&lock, any_from(0, ~0ull));
	bftm_lock_init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
}

/* Requests for which bftm_server_needs() says no. */
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

void all_parties(void)
{
	struct bftm_lock lock = any_lock();
	struct bftm_party me = any_party(), *p;

	bftm_party_plain(&lock, (u32)any_from(0, ~0u));
	bftm_party_last(&lock);
	bftm_party_position(&lock, &me);
	bftm_waits_before(&lock.first, &me);
	bftm_party_add(&lock, &me);
	switch (any_from(0, 3)) {
	case 0:
		p = bftm_party_find(&lock, me.client, me.attempt);
		if (!p)
			return;
		bftm_party_gno(&lock, p);
		bftm_party_number(&lock, p);
		break;
	case 1:
		p = bftm_party_find(&lock, me.client, me.attempt);
		if (p)
			bftm_party_remove(&lock, p);
		break;
	case 2:
		bftm_parties_forget(&lock, ANY_TIME);
		break;
	default:
		bftm_parties_expire(&lock, ANY_TIME);
	}
	bftm_queue_move(lock.queue, any_bool() ? &queues[1] : NULL, ROOM);
}

void all_values(void)
{
	struct bftm_lock lock = any_lock();
	struct bftm_msg req = any_request(), reply = any_request();

	/* As bftm_wire_get() demands. */
	req.value_len = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	bftm_value_wanted(&lock, &req);
	bftm_value_make(&lock, &req);
	bftm_value_certain(&lock);
	bftm_value_take(&lock, &lock.first, &req);
	if (bftm_parties(&lock) > 1)
		bftm_value_take(&lock, bftm_party(&lock, 1), &req);
	bftm_value_doubt(&lock);
	bftm_value_tell(&lock, bftm_value_room(&req), &reply);
}

void all_grants(void)
{
	struct bftm_lock lock = any_lock();
	struct bftm_party me = any_party();
	enum bftm_mode mode;

	bftm_mode_join(any_mode(), any_mode());
	bftm_grants_next(&lock, &mode);
	bftm_grants_beside(&lock, &me, any_bool());
	bftm_grants_inquire(&lock, &me);
	bftm_grants_deadlock(&lock, &me);
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
	p->server->granted(&lock, (u32)any_from(0, ~0u), any_from(0, ~0ull), &view);
	p->server->idle(&lock, ANY_TIME);
	p->server->describe(&lock, &view);
	p->server->creates(&cfg, &req);
	p->server->expire(&cfg, &lock, ANY_TIME, &sends.push);
	p->server->learn(&lock, any_from(0, ~0ull));
	p->server->move_room(&lock, any_bool() ? &queues[1] : NULL, ROOM);
	p->server->init(&lock, any_from(0, ~0ull), any_from(0, ~0ull));
}
