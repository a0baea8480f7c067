// SPDX-License-Identifier: GPL-2.0
#include "cluster/member.h"

#include "core/quorum.h"
#include "cluster/cluster.h"
#include "cluster/service.h"
#include "loop/log.h"

bool bftm_is_member(const struct bftm_cluster *cl)
{
	return cl->conf.leaseless || !TAILQ_EMPTY(&cl->acquires.lasting);
}

static bool all_told(struct bftm_cluster *cl, u32 u)
{
	u32 i;

	for (i = 0; i < BFTM_SERVICES; i++)
		if (bftm_services[i]->told && !bftm_services[i]->told(cl, u))
			return false;
	return true;
}

void bftm_member_sync(struct bftm_cluster *cl, u32 u)
{
	struct bftm_peer_epochs *known = &cl->peer[u].known;
	struct bftm_msg msg = { .type = BFTM_MSG_SYNC, .incarnation = cl->identity->boot };
	u64 now = bftm_now();

	/* The boot is not known after the machine was cloned or set back. */
	if (!bftm_is_member(cl) || !cl->identity->boot || !bftm_peer_unsynced(known, now))
		return;
	if (bftm_peer_sync(known, all_told(cl, u), now, cl->cfg.resend_ns))
		bftm_cluster_send(cl, 1u << u, &msg);
}

void bftm_member_synced(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	bftm_peer_synced(&cl->peer[u].known, msg, cl->identity->boot);
	cl->peer[u].denied = false;
}

void bftm_member_denied(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	const struct bftm_asked *asked = bftm_cluster_asked(cl, msg->seq);
	struct bftm_peer *peer = &cl->peer[u];

	if (!asked || asked->type != BFTM_MSG_SYNC || peer->denied)
		return;
	peer->denied = true;
	bftm_log(LOG_WARNING,
		 "cluster %s: server %u refuses to be told which locks client %u holds without a lease: %s; an access rule of that server must say \"leaseless = yes\" for this client",
		 cl->conf.name, peer->conf->id, cl->cred.client, bftm_refusal_name(msg->arg));
}

/* One that was asked for since fails by its own refusals, and one that was taken over in a while. */
#define EVICTED_AGAIN_NS (1 * BFTM_NS_PER_SEC)

static void say_evicted(struct bftm_cluster *cl)
{
	bool runs = cl->evicted >= cl->identity->incarnation;

	if (!bftm_due(&cl->evicted_ns, BFTM_SAID_AGAIN_NS))
		return;
	bftm_log(LOG_ERR,
		 runs ? "cluster %s: %u servers or more have evicted client %u up to incarnation %u: its locks without a lease are lost; restart bftmutexd when this host may take locks again" :
		 "cluster %s: %u servers or more have evicted client %u up to incarnation %u: locks without a lease that it had before bftmutexd was started are lost",
		 cl->conf.name, cl->conf.b + 1, cl->cred.client, cl->evicted);
}

static void evicted(struct bftm_cluster *cl, u32 incarnation)
{
	bool more = incarnation > cl->evicted;
	u32 i;

	/* Each request of this host may be refused so. */
	if (!bftm_due(&cl->evicted_again_ns, EVICTED_AGAIN_NS) && !more)
		return;
	cl->evicted = incarnation;
	say_evicted(cl);
	for (i = 0; i < BFTM_SERVICES; i++)
		if (bftm_services[i]->evicted)
			bftm_services[i]->evicted(cl, incarnation);
}

void bftm_member_refused(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	u64 incarnation[BFTM_SERVERS_MAX], least;
	u32 i;

	/*
	 * As bftm_members_refuse(): an attempt is of its own incarnation, and REFUSED names it. SYNC
	 * has no name, and ASK no attempt.
	 */
	least = (msg->name_len && msg->attempt ? msg->attempt : msg->seq) >> 32;
	if (cl->peer[u].evicted < least)
		cl->peer[u].evicted = (u32)least;
	for (i = 0; i < cl->conf.n; i++)
		incarnation[i] = cl->peer[i].evicted;
	least = bftm_kth_largest(incarnation, cl->conf.n, cl->conf.b + 1);
	if (least)
		evicted(cl, (u32)least);
}
