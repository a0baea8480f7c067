// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/peer.h"

enum bftm_peer_news bftm_peer_challenge(struct bftm_peer_epochs *p, const struct bftm_msg *msg,
					u64 last_seq)
{
	/* No server has epoch 0. */
	if (!msg->server_epoch || msg->seq <= p->challenge_seq || msg->seq > last_seq)
		return BFTM_PEER_OLD;
	p->challenge_seq = msg->seq;
	if (msg->seq > p->stale_seq)
		p->sent_epoch = msg->server_epoch;
	if (p->epoch == msg->server_epoch)
		return BFTM_PEER_SAME;
	p->challenge_seq = last_seq;
	p->epoch = msg->server_epoch;
	p->sync_ns = 0;
	return BFTM_PEER_NEW;
}

void bftm_peer_begin(struct bftm_peer_epochs *p, u64 first_seq)
{
	if (p->challenge_seq < first_seq)
		p->challenge_seq = first_seq;
}

bool bftm_peer_stale(struct bftm_peer_epochs *p, const struct bftm_msg *msg)
{
	bool other = p->sent_epoch != msg->server_epoch;

	if (msg->seq > p->stale_seq && msg->seq > p->challenge_seq) {
		p->stale_seq = msg->seq;
		p->sent_epoch = msg->server_epoch;
	}
	return other;
}

bool bftm_peer_unsynced(const struct bftm_peer_epochs *p, u64 now)
{
	/* Nothing was told yet to an epoch that only STALE has named. */
	return p->epoch && p->sent_epoch == p->epoch && p->synced_epoch != p->epoch &&
	       now >= p->sync_ns;
}

bool bftm_peer_sync(struct bftm_peer_epochs *p, bool told, u64 now, u64 resend_ns)
{
	if (!told || !bftm_peer_unsynced(p, now))
		return false;
	p->sync_ns = now + resend_ns;
	return true;
}

void bftm_peer_synced(struct bftm_peer_epochs *p, const struct bftm_msg *msg, u32 boot)
{
	if (msg->server_epoch == p->epoch && msg->incarnation == boot)
		p->synced_epoch = p->epoch;
}
