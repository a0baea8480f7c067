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

static void send_release(struct bftm_cluster *cl, const u8 *name, u8 len,
			 u64 attempt, u32 to)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_RELEASE,
		.name_len = len,
		.attempt = attempt,
	};

	memcpy(msg.name, name, len);
	bftm_cluster_send(cl, to, &msg);
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
	send_release(op->cluster, op->name, op->len, op->release.attempt, to);
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
			u64 attempt, u32 to)
{
	struct bftm_release_op *op = release_find(cl, name, len, attempt);

	send_release(cl, name, len, attempt, to);
	/* A server that still says FREE to it was just told, and is told again. */
	if (op) {
		op->release.unanswered |= to;
		return;
	}
	op = calloc(1, sizeof(*op));
	if (!op)
		return;
	op->cluster = cl;
	op->timer.fire = release_fire;
	op->len = len;
	memcpy(op->name, name, len);
	bftm_release_start(&op->release, &cl->cfg, attempt, to, bftm_now());
	RB_INSERT(bftm_releases, &cl->acquires.releases, op);
	cl->acquires.count++;
	bftm_timer_arm(&op->timer, op->release.wake_ns);
}

void bftm_release_answer_from(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_release_op *op = release_find(cl, msg->name, msg->name_len, msg->attempt);

	if (op && bftm_release_answer(&op->release, u))
		release_drop(op);
}

void bftm_release_forget(struct bftm_cluster *cl)
{
	struct bftm_release_op *op;

	while ((op = RB_MIN(bftm_releases, &cl->acquires.releases)))
		release_drop(op);
}
