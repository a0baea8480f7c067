// SPDX-License-Identifier: GPL-2.0
// prove: memory without_lock bftm_server_step bftm_server_needs bftm_step_try: every request that needs no lock, when there is none
// prove: memory all_parties bftm_parties bftm_party bftm_walk_begin bftm_walk_on bftm_is_free bftm_party_gno bftm_party_granted bftm_party_find bftm_party_plain bftm_party_last bftm_party_position bftm_party_add bftm_party_remove bftm_party_number bftm_parties_ended bftm_parties_wait bftm_parties_forget bftm_parties_expire bftm_parties_look bftm_goes_before bftm_waits_before bftm_queue_move: the same
// prove: memory all_grants bftm_party_lacks bftm_party_content bftm_party_converts bftm_grants_next bftm_grants_beside bftm_grants_inquire bftm_grants_defer bftm_grants_probe bftm_grants_deadlock bftm_grants_share bftm_holders_max bftm_mode_conflicts bftm_modes_conflict bftm_mode_covers bftm_mode_join: the same
// prove: memory all_values bftm_value_of bftm_value_certain bftm_value_wanted bftm_value_doubt bftm_value_room bftm_value_make bftm_value_take bftm_value_tell: every lock with up to four others, with and without a value, and every request
// prove: memory all_drops bftm_lock_drop bftm_lock_lasting bftm_is_closed: the same, of every client and incarnation
// frama-c without_lock all_parties all_values all_drops: -eva-min-loop-unroll 7 -eva-slevel 1000
// frama-c all_grants: -eva-precision 0 -eva-min-loop-unroll 7 -eva-slevel 30 -eva-domains=-octagon,-gauges,-equality
// takes 10: all_grants
#include "any_lock.h"
#include "core/admit.c"
#include "core/backoff/parties.c"
#include "core/backoff/value.c"
#include "core/backoff/grants.c"
#include "core/backoff/settle.c"
#include "core/backoff/try.c"
#include "core/backoff/server.c"

/* Requests for which bftm_server_needs() says no. */
void without_lock(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_msg req = any_request(), reply, push;

	bftm_server_needs(&cfg, &req);
	switch (any_from(0, 5)) {
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
	case 4:
		req.type = BFTM_MSG_TRY;
		req.lease_ns = BFTM_LEASE_NONE;
		cfg.leaseless = false;
		break;
	default:
		req.type = BFTM_MSG_TRY;
		req.lease_ns = any_from(BFTM_LEASE_MAX_NS + 1, BFTM_LEASE_NONE - 1);
	}
	bftm_server_step(&cfg, NULL, &req, ANY_TIME, &reply, &push);
}

void all_parties(void)
{
	struct bftm_lock lock = any_lock();
	struct bftm_party me = any_party();
	struct bftm_look look;

	switch (any_from(0, 8)) {
	case 0:
		bftm_party_find(&lock, me.client, me.attempt);
		bftm_party_plain(&lock, (u32)any_from(0, ~0u));
		break;
	case 1:
		bftm_party_last(&lock);
		bftm_party_position(&lock, &me);
		bftm_is_free(&lock);
		bftm_lock_deadline(&lock);
		break;
	case 2:
		bftm_party_add(&lock, &me);
		break;
	case 3:
		bftm_party_gno(&lock, any_of(&lock));
		bftm_party_number(&lock, any_of(&lock));
		break;
	case 4:
		bftm_party_remove(&lock, any_of(&lock));
		break;
	case 5:
		bftm_parties_forget(&lock, ANY_TIME);
		break;
	case 6:
		bftm_parties_wait(&lock, (u32)any_from(0, bftm_parties(&lock)),
				  any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS));
		break;
	case 7:
		bftm_parties_look(&lock, me.client, me.attempt, ANY_TIME, &look);
		return;
	default:
		bftm_parties_expire(&lock, ANY_TIME);
	}
	//@ assert room: lock.queue == \null || lock.queue->count <= lock.queue->room;
	bftm_queue_move(lock.queue, any_bool() ? &queues[1] : NULL, ROOM);
}

void all_drops(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_lock lock = any_lock();
	u32 client;

	bftm_is_closed(&cfg, ANY_TIME);
	bftm_lock_lasting(&lock, (u32)any_from(0, ~0u), &client);
	bftm_lock_drop(&lock, (u32)any_from(0, ~0u), (u32)any_from(0, ~0u), any_bool());
}

void all_values(void)
{
	struct bftm_lock lock = any_lock();
	struct bftm_msg req = any_request(), reply = any_request();

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
	const struct bftm_server_cfg cfg = any_server();
	const u32 most = bftm_holders_max(&cfg);
	struct bftm_look look;
	enum bftm_mode mode;

	switch (any_from(0, 7)) {
	case 0:
		bftm_mode_join(any_mode(), any_mode());
		break;
	case 1:
		bftm_grants_next(&lock, most, &mode);
		break;
	case 2:
		bftm_grants_beside(&lock, most, &me, any_bool());
		break;
	case 3:
		bftm_grants_inquire(&lock, most, &me);
		break;
	case 4:
		bftm_grants_probe(&lock, most, &me, any_bool());
		break;
	case 5:
		bftm_parties_look(&lock, me.client, me.attempt, ANY_TIME, &look);
		bftm_grants_share(&look, most, &me);
		break;
	case 6:
		bftm_grants_defer(&lock, most, bftm_party(&lock, 0));
		break;
	default:
		bftm_grants_deadlock(&lock, &me);
	}
}
