// SPDX-License-Identifier: GPL-2.0
/* Locks, as the clusters know them. */
#include "lock/acquire.h"
#include "lock/lasting.h"
#include "lock/release.h"
#include "lock/who.h"

static void client_begin(struct bftm_identity *identity)
{
	bftm_names_init(&identity->names);
}

static void cluster_stop(struct bftm_cluster *cl)
{
	bftm_who_stop(cl);
	bftm_acquire_forget();
	bftm_release_forget(cl);
}

static void client_forget(struct bftm_identity *identity)
{
	bftm_names_free(&identity->names);
}

static void server_answer(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	/* ASK is for no attempt. */
	if (msg->type == BFTM_MSG_OWNER || (msg->type == BFTM_MSG_REFUSED && !msg->attempt))
		bftm_who_answer(cl, u, msg);
	else
		bftm_acquire_answer(cl, u, msg);
}

static void server_epoch(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	/* HELLO, RECOVER and ASK are for no attempt. */
	if (msg->attempt)
		bftm_acquire_epoch(cl, u, msg);
	else
		bftm_who_epoch(cl, u);
}

static void server_challenged(struct bftm_cluster *cl, u32 u)
{
	bftm_release_restarted_at(cl, u);
	bftm_lasting_epoch(cl, u);
}

const struct bftm_cluster_service bftm_lock_service = {
	.begin = client_begin,
	.stop = cluster_stop,
	.forget = client_forget,
	.answer = server_answer,
	.epoch = server_epoch,
	.challenged = server_challenged,
	.told = bftm_lasting_told,
	.evicted = bftm_acquire_evicted,
};
