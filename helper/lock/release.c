// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "lock/acquire.h"
#include "lock/release.h"

/* By name too: a liar may put the attempt of one lock under another's name. */
static int release_compare(const struct bftm_release_op *a,
			   const struct bftm_release_op *b)
{
	if (a->release.attempt != b->release.attempt)
		return a->release.attempt < b->release.attempt ? -1 : 1;
	return a->len != b->len ? a->len - b->len : memcmp(a->name, b->name, a->len);
}

/* NOLINTNEXTLINE: RB_REMOVE() is not understood */
BFTM_TREE(bftm_releases, bftm_release_op, node, release_compare)

static void send_release(const struct bftm_release_op *op, u32 to)
{
	struct bftm_msg msg;
	u32 some;

	for (; to; to &= ~some) {
		some = bftm_release_message(&op->release, to, &msg);
		msg.name_len = op->len;
		memcpy(msg.name, op->name, op->len);
		bftm_cluster_send(op->cluster, some, &msg);
	}
}

static void release_drop(struct bftm_release_op *op)
{
	bftm_timer_stop(&op->timer);
	RB_REMOVE(bftm_releases, &op->cluster->acquires.releases, op);
	op->cluster->acquires.count--;
	free(op);
}

static void release_fire(struct bftm_timer *timer)
{
	struct bftm_release_op *op =
		container_of(timer, struct bftm_release_op, timer);
	u32 to = bftm_release_wake(&op->release, &op->cluster->cfg, bftm_now());

	if (!to) {
		release_drop(op);
		return;
	}
	send_release(op, to);
	bftm_timer_arm(timer, op->release.wake_ns);
}

static struct bftm_release_op *release_find(struct bftm_cluster *cl, const u8 *name, u8 len,
					    u64 attempt)
{
	struct bftm_release_op key = { .release.attempt = attempt, .len = len };

	memcpy(key.name, name, len);
	return RB_FIND(bftm_releases, &cl->acquires.releases, &key);
}

void bftm_release_begin(struct bftm_cluster *cl, const u8 *name, u8 len,
			const struct bftm_out *out)
{
	struct bftm_release_op *op = release_find(cl, name, len, out->release_attempt);

	/*
	 * A server that still says FREE to it was just told, and is told again what became of the
	 * value, as far as that is remembered.
	 */
	if (op) {
		op->release.unanswered |= out->release_to;
		send_release(op, out->release_to);
		return;
	}
	op = calloc(1, sizeof(*op));
	if (!op)
		return;
	op->cluster = cl;
	op->timer.fire = release_fire;
	op->len = len;
	memcpy(op->name, name, len);
	bftm_release_start(&op->release, &cl->cfg, out, bftm_now());
	send_release(op, out->release_to);
	RB_INSERT(bftm_releases, &cl->acquires.releases, op);
	cl->acquires.count++;
	bftm_timer_arm(&op->timer, op->release.wake_ns);
}

void bftm_release_answer_from(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_release_op *op = release_find(cl, msg->name, msg->name_len, msg->attempt);

	if (op && bftm_release_answer(&op->release, &cl->cfg, u))
		release_drop(op);
}

void bftm_release_late(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_release_op *op = release_find(cl, msg->name, msg->name_len, msg->attempt);

	if (op)
		bftm_ask_late(&cl->cfg, &op->release.late, u, msg, bftm_now());
}

void bftm_release_restarted_at(struct bftm_cluster *cl, u32 u)
{
	struct bftm_release_op *op, *next;

	for (op = RB_MIN(bftm_releases, &cl->acquires.releases); op; op = next) {
		next = RB_NEXT(bftm_releases, &cl->acquires.releases, op);
		if (bftm_release_restarted(&op->release, u))
			release_drop(op);
	}
}

void bftm_release_forget(struct bftm_cluster *cl)
{
	struct bftm_release_op *op;

	while ((op = RB_MIN(bftm_releases, &cl->acquires.releases)))
		release_drop(op);
}
