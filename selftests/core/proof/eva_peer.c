// SPDX-License-Identifier: GPL-2.0
// prove: eva all_peers bftm_peer_challenge bftm_peer_begin bftm_peer_stale bftm_peer_unsynced bftm_peer_sync bftm_peer_synced bftm_disowns bftm_line_follows: every server, and every answer of it
#include "any.h"
#include "any_lock.h"
#include "core/peer.c"

void all_peers(void)
{
	struct bftm_peer_epochs p;
	struct bftm_msg msg = any_request();
	u64 now = ANY_TIME;

	any(p);
	bftm_peer_challenge(&p, &msg, ANY_TIME);
	bftm_peer_begin(&p, any_from(0, ~0ull));
	bftm_peer_stale(&p, &msg);
	bftm_peer_unsynced(&p, now);
	bftm_peer_sync(&p, any_bool(), now, any_from(1, BFTM_LEASE_MAX_NS));
	bftm_peer_synced(&p, &msg, (u32)any_from(0, ~0u));
	bftm_line_follows(any_from(0, ~0ull), any_from(0, ~0ull), any_from(0, ~0ull), any_from(0, ~0ull));
	bftm_disowns(msg.attempt, (u32)any_from(0, ~0u), any_bool());
}
