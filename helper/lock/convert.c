// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "lock/acquire.h"
#include "cluster/cluster.h"
#include "lock/convert.h"
#include "lock/report.h"
#include "lock/steps.h"

int bftm_kept_errno(enum bftm_kept why)
{
	switch (why) {
	case BFTM_KEPT_BLOCKED:
		return EWOULDBLOCK;
	case BFTM_KEPT_DEADLOCK:
		return EDEADLK;
	case BFTM_KEPT_TOKENS:
		return ENODATA;
	case BFTM_KEPT_ASKED:
		break;
	}
	return ETIMEDOUT;
}

int bftm_convert_report(struct bftm_acquire_op *op, int error)
{
	int err = op->ask.conversion ? bftm_report_converted(op, error) : -ECANCELED;

	op->ask.conversion = 0;
	if (!err && !error)
		op->ask.mode = op->ask.goal;
	return err;
}

int bftm_convert_kept(struct bftm_acquire_op *op, int error)
{
	bftm_convert_report(op, error);
	return bftm_attempt_pending(op, bftm_now());
}

/*
 * The program gave a mode up, and then asked for more, before the daemon heard of that. The core is
 * to give it up first, or it would keep it if the conversion fails. The servers hear of both by the
 * second request, so the first is not sent.
 *
 * Return: false when the lock was over before: @out is what to do then.
 */
static bool give_up_first(struct bftm_acquire_op *op, const struct bftm_ask *ask,
			  struct bftm_conversion *to, struct bftm_out *out)
{
	const enum bftm_mode held = bftm_core_of(op)->held(op->client);
	const enum bftm_mode kept = bftm_mode_of(ask->mode);
	const struct bftm_conversion down = { .mode = kept, .leaves = to->leaves };

	if (held == kept || !bftm_mode_covers(held, kept) || bftm_mode_covers(held, to->mode))
		return true;
	bftm_core_of(op)->convert(op->client, &op->cluster->cfg, &down, bftm_now(), out);
	to->leaves = NULL;
	return out->verdict == BFTM_CONVERTED;
}

bool bftm_convert_begin(struct bftm_acquire_op *op, const struct bftm_ask *ask,
			struct bftm_out *out)
{
	struct bftm_conversion to = {
		.mode = bftm_mode_of(ask->goal), .once = ask->convert_once,
		.fence = ask->convert_fence, .value = ask->value.wanted,
		.leaves = ask->value.leaves.any ? &ask->value.leaves : NULL,
	};

	op->ask.value.wanted = op->ask.value.wanted || ask->value.wanted;
	op->ask.mode = ask->mode;
	op->ask.goal = ask->goal;
	op->ask.conversion = ask->conversion;
	op->ask.convert_fence = ask->convert_fence;
	op->ask.timeout_at_ns = ask->timeout_at_ns;
	if (!bftm_core_of(op)->convert)
		return false;
	if (give_up_first(op, ask, &to, out))
		bftm_core_of(op)->convert(op->client, &op->cluster->cfg, &to, bftm_now(), out);
	return true;
}

bool bftm_convert_shrink(struct bftm_acquire_op *op, struct bftm_out *out)
{
	const struct bftm_conversion to = { .mode = bftm_ask_mode(&op->ask) };

	if (bftm_core_of(op)->held(op->client) == to.mode)
		return false;
	bftm_core_of(op)->convert(op->client, &op->cluster->cfg, &to, bftm_now(), out);
	return true;
}
