// SPDX-License-Identifier: GPL-2.0
/* How servers are: who was not heard is asked, and tells when it was started. */
#include <stdio.h>

#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/health.h"
#include "cluster/lend.h"
#include "cluster/member.h"
#include "cluster/service.h"
#include "loop/log.h"

#define QUIET_NS	(5 * BFTM_NS_PER_SEC)
#define REPEAT_NS	(1 * BFTM_NS_PER_SEC)

void bftm_hello(struct bftm_cluster *cl, u32 to)
{
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO };
	u64 now = bftm_now();
	u32 u;

	bftm_cluster_send(cl, to, &msg);
	for (u = 0; u < cl->conf.n; u++)
		if (to & 1u << u)
			cl->peer[u].hello_ns = now;
}

void bftm_hello_again(struct bftm_cluster *cl, u32 u)
{
	if (bftm_now() - cl->peer[u].hello_ns >= cl->cfg.resend_ns)
		bftm_hello(cl, 1u << u);
}

void bftm_probe(struct bftm_cluster *cl)
{
	u64 now = bftm_now();
	u32 u, to = 0;

	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];
		u64 pause = peer->heard_ns ? QUIET_NS : REPEAT_NS;
		/* Its quarantine should be over: then it can learn of tokens. Or members were heard. */
		bool news = (peer->token == BFTM_TOKEN_UNKNOWN && peer->quarantine_until_ns &&
			     now > peer->quarantine_until_ns) || peer->recovering;

		/* Any start of a server is heard of, also one between two requests. */
		if (bftm_is_member(cl) || ((news || now - peer->heard_ns >= pause) && now - peer->hello_ns >= REPEAT_NS))
			to |= 1u << u;
	}
	if (to)
		bftm_hello(cl, to);
	for (u = 0; u < cl->conf.n; u++)
		bftm_member_sync(cl, u);
	bftm_lend_again(cl);
	bftm_recover_wake(cl, now);
	bftm_evidence_report(cl);
	if (!cl->draining)
		bftm_health_report(cl);
	bftm_identity_keep(cl->identity);
}

static void restarted(struct bftm_cluster *cl, struct bftm_peer *peer)
{
	u32 i;

	if (bftm_due(&peer->restarted_ns, BFTM_SAID_AGAIN_NS))
		bftm_log(LOG_WARNING, "cluster %s: server %u has restarted", cl->conf.name,
			 peer->conf->id);
	for (i = 0; i < BFTM_SERVICES; i++)
		if (bftm_services[i]->restarted)
			bftm_services[i]->restarted(cl, (u32)(peer - cl->peer));
}

static void challenged(struct bftm_cluster *cl, u32 u)
{
	u32 i;

	for (i = 0; i < BFTM_SERVICES; i++)
		if (bftm_services[i]->challenged)
			bftm_services[i]->challenged(cl, u);
}

static void say_forgetful(const struct bftm_cluster *cl, const struct bftm_peer *peer)
{
	u32 n = cl->conf.n, b = cl->conf.b, most = bftm_spared(n, b, n - b);
	char advice[96];

	if (peer->spared <= most)
		snprintf(advice, sizeof(advice), "set protocol = sigma with a larger m at all clients");
	else
		snprintf(advice, sizeof(advice),
			 "no m leaves room for more than %u: restart it with %s", most,
			 most ? "no more than that" : "its quarantine");
	bftm_log(LOG_WARNING,
		 "cluster %s: the grants of server %u do not count: it restarts with --no-quarantine=%u, and %u of %u grants leave room for r = %u; %s",
		 cl->conf.name, peer->conf->id, peer->spared, bftm_win(&cl->cfg), n,
		 bftm_spared(n, b, cl->conf.m), advice);
}

/* The server may forget more than this host leaves room for: see bftm_client_challenge(). */
static void heed(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_peer *peer = &cl->peer[u];
	u32 before = cl->cfg.forgetful;

	peer->spared = msg->spared;
	bftm_client_challenge(&cl->cfg, u, msg);
	if (cl->cfg.forgetful == before)
		return;
	if (cl->cfg.forgetful >> u & 1 && bftm_due(&peer->forgetful_ns, BFTM_SAID_AGAIN_NS))
		say_forgetful(cl, peer);
}

static void believe(struct bftm_peer *peer, const struct bftm_msg *msg)
{
	peer->lease_max_ns = msg->lease_ns;
	peer->quarantine_until_ns = msg->gno ? bftm_now() + msg->gno : 0;
	peer->token = msg->token;
	peer->recovering = msg->recovering;
	peer->version = 0;
}

bool bftm_cluster_outdated(const struct bftm_cluster *cl)
{
	u32 u, sum = 0;

	for (u = 0; u < cl->conf.n; u++)
		sum += cl->peer[u].version != 0;
	return sum > cl->conf.b;
}

void bftm_version_heard(struct bftm_cluster *cl, u32 u, u8 version)
{
	cl->peer[u].version = version != BFTM_WIRE_VERSION ? version : 0;
	if (bftm_cluster_outdated(cl) && bftm_due(&cl->version_ns, BFTM_SAID_AGAIN_NS))
		bftm_log(LOG_ERR,
			 "cluster %s: server %u speaks version %u of the wire format, this host %d: upgrade the hosts that are behind",
			 cl->conf.name, cl->peer[u].conf->id, version, BFTM_WIRE_VERSION);
}

void bftm_challenged(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_peer *peer = &cl->peer[u];
	u64 seq = bftm_identity_seq(cl->identity), before = peer->known.epoch;
	enum bftm_peer_news news;

	if (!msg->server_epoch)		/* no server's: it would be heard of anew each time */
		return;
	if (bftm_epochs_return(&peer->epochs, msg->server_epoch, msg->seq))
		peer->record.lies[BFTM_LIE_EPOCH]++;
	news = bftm_peer_challenge(&peer->known, msg, seq);
	if (news != BFTM_PEER_OLD) {
		believe(peer, msg);
		heed(cl, u, msg);
	}
	if (news == BFTM_PEER_NEW) {
		bftm_epochs_believe(&peer->epochs, msg->server_epoch, msg->seq, seq);
		peer->unnoted = false;
		peer->refusal = 0;
		peer->forgot_ns = 0;
		peer->mute_ns = 0;
		if (before)
			restarted(cl, peer);
		challenged(cl, u);
	}
	bftm_member_sync(cl, u);
	bftm_recover_heard(cl, u, msg);
}

void bftm_stale(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_peer *peer = &cl->peer[u];

	if (!msg->server_epoch)
		return;
	if (bftm_epochs_return(&peer->epochs, msg->server_epoch, msg->seq))
		peer->record.lies[BFTM_LIE_EPOCH]++;
	if (bftm_peer_stale(&peer->known, msg))
		bftm_hello(cl, 1u << u);
	else
		bftm_hello_again(cl, u);
	bftm_service_of(msg)->epoch(cl, u, msg);
}
