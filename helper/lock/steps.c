// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "lock/acquire.h"
#include "cluster/cluster.h"
#include "cluster/reach.h"
#include "lock/release.h"
#include "lock/steps.h"

const struct bftm_client_ops *bftm_core_of(const struct bftm_acquire_op *op)
{
	return op->cluster->protocol->client;
}

bool bftm_attempt_is_held(const struct bftm_acquire_op *op)
{
	return op->client->phase == BFTM_PHASE_HOLD;
}

void bftm_attempt_send(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	struct bftm_msg msg;
	u32 i, to, some;

	if (out->release_to) {
		op->name->released_ns = bftm_now();
		bftm_release_begin(op->cluster, op->ask.name, op->ask.name_len, out);
	}
	for (i = 0; i < out->count; i++) {
		for (to = out->send[i].to; to; to &= ~some) {
			some = bftm_contender_message(op->client, &out->send[i], to, &msg);
			msg.name_len = op->ask.name_len;
			memcpy(msg.name, op->ask.name, op->ask.name_len);
			bftm_cluster_send(op->cluster, some, &msg);
		}
	}
}

bool bftm_attempt_is_timed(const struct bftm_acquire_op *op)
{
	return op->ask.timeout_at_ns && (!bftm_attempt_is_held(op) || op->ask.conversion);
}

void bftm_attempt_arm(struct bftm_acquire_op *op)
{
	u64 at = op->client->wake_ns;

	if (bftm_attempt_is_timed(op) && op->ask.timeout_at_ns < at)
		at = op->ask.timeout_at_ns;
	bftm_timer_arm(&op->timer, at);
}

static void note_reach(struct bftm_acquire_op *op, u64 now)
{
	bool asks = op->client->phase == BFTM_PHASE_TRY ||
		    op->client->phase == BFTM_PHASE_BACKOFF;

	if (!asks || (bftm_core_of(op)->reached(op->client, &op->cluster->cfg) &&
		      !bftm_hindered_in_vain(op)))
		op->unreachable_ns = 0;
	else if (!op->unreachable_ns)
		op->unreachable_ns = now;
}

int bftm_attempt_pending(struct bftm_acquire_op *op, u64 now)
{
	note_reach(op, now);
	/* A held lock stays held: a program uses it, whatever servers understand. */
	if (!bftm_attempt_is_held(op) && bftm_cluster_outdated(op->cluster)) {
		bftm_attempt_give_back(op);
		return EPROTONOSUPPORT;
	}
	if (!op->ask.timeout_at_ns && bftm_unreachable(op->unreachable_ns, now)) {
		bftm_attempt_give_back(op);
		return bftm_hindered_errno(op, ENETUNREACH);
	}
	bftm_attempt_arm(op);
	return BFTM_ATTEMPT_GOES_ON;
}

static void end_with(struct bftm_acquire_op *op, bool done, const struct bftm_written *value)
{
	const struct bftm_client_ops *core = bftm_core_of(op);
	struct bftm_out out;

	if (op->place == BFTM_PLACE_WAITING)
		return;
	bftm_evidence_over(op->cluster, op);
	if (done && core->leave)
		core->leave(op->client, &op->cluster->cfg, value, &out);
	else
		core->stop(op->client, &op->cluster->cfg, &out);
	bftm_attempt_send(op, &out);
}

void bftm_attempt_give_back(struct bftm_acquire_op *op)
{
	end_with(op, false, NULL);
}

void bftm_attempt_leave(struct bftm_acquire_op *op, const struct bftm_ask_value *value)
{
	end_with(op, !value->doubt, value->leaves.any ? &value->leaves : NULL);
}
