// SPDX-License-Identifier: GPL-2.0
/*
 * A server that was restarted does not know which fencing tokens it stamped
 * before, and stamps none. Its others know enough, and a client tells it: the
 * (b + 1)-th largest of what n - 1 - b of them say, asked after its quarantine. It
 * believes clients only that may take every lock.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/backoff/client.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "loop/log.h"

/* For so long one server is tried, and so long none when none has learned. */
#define TRY_NS		(5 * BFTM_NS_PER_SEC)
#define PAUSE_NS	(10 * BFTM_NS_PER_SEC)

/*
 * Not before its quarantine is over: who had counted on what it accepted before
 * is through by then.
 */
static bool is_ignorant(const struct bftm_peer *peer)
{
	return peer->known.epoch && peer->token == BFTM_TOKEN_UNKNOWN &&
	       !peer->quarantine_until_ns;
}

static void recovery_begin(struct bftm_cluster *cl, u32 u)
{
	struct bftm_recovery *r = &cl->recovery;

	r->active = true;
	r->told = false;
	r->u = u;
	r->known = 0;
	r->epoch = cl->peer[u].known.epoch;
	/* Others that answer a later question knew of these tokens after its restart. */
	r->since_seq = bftm_identity_seq(cl->identity);
	r->until_ns = bftm_now() + TRY_NS;
	memset(r->top, 0, sizeof(r->top));
	bftm_hello(cl, bftm_cluster_everyone(cl) & ~(1u << u));
}

/* One after the other: those that recover together would all know nothing. */
static void begin_next(struct bftm_cluster *cl)
{
	struct bftm_recovery *r = &cl->recovery;
	u32 i, u;

	r->active = false;
	for (i = 1; i <= cl->conf.n; i++) {
		u = (r->u + i) % cl->conf.n;
		if (is_ignorant(&cl->peer[u]) && !(r->failed & 1u << u)) {
			recovery_begin(cl, u);
			return;
		}
	}
}

static void recovery_tell(struct bftm_cluster *cl)
{
	struct bftm_recovery *r = &cl->recovery;
	struct bftm_msg msg = { .type = BFTM_MSG_RECOVER };

	/*
	 * It restarted again meanwhile, as CHALLENGE or STALE says: what is sent is for that start.
	 */
	if (cl->peer[r->u].known.sent_epoch != r->epoch)
		return;
	if (!bftm_recovered_token(&cl->cfg, r->top, bftm_count(r->known),
				  &r->floor))
		return;
	msg.token = r->floor;
	bftm_cluster_send(cl, 1u << r->u, &msg);
	r->told = true;
	r->told_seq = cl->peer[r->u].sent_seq;
}

/* The server that is being recovered has said how it is. */
static void heard_ignorant(struct bftm_cluster *cl, const struct bftm_msg *msg)
{
	struct bftm_recovery *r = &cl->recovery;
	struct bftm_peer *peer = &cl->peer[r->u];

	if (!is_ignorant(peer)) {
		if (r->told && peer->known.epoch == r->epoch &&
		    bftm_due(&peer->learned_ns, BFTM_SAID_AGAIN_NS))
			bftm_log(LOG_INFO,
				 "cluster %s: server %u has restarted and has learned from the others that no token above %" PRIu64 " was given",
				 cl->conf.name, peer->conf->id, r->floor);
		r->hopeless = false;
		r->failed = 0;
		begin_next(cl);
	} else if (peer->known.epoch != r->epoch) {
		recovery_begin(cl, r->u);
	} else if (r->told && msg->seq == r->told_seq && msg->server_epoch == r->epoch &&
		   !msg->gno && msg->token == BFTM_TOKEN_UNKNOWN) {
		/*
		 * It was told by this very request, after its quarantine, and says that it
		 * was not. A server that takes no RECOVER answers REFUSED.
		 */
		peer->record.lies[BFTM_LIE_COUNT]++;
	}
}

void bftm_recover_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_recovery *r = &cl->recovery;

	if (!r->active) {
		if (is_ignorant(&cl->peer[u]) && !(r->failed & 1u << u))
			recovery_begin(cl, u);
		return;
	}
	if (u == r->u) {
		heard_ignorant(cl, msg);
		return;
	}
	if (msg->seq <= r->since_seq || msg->token == BFTM_TOKEN_UNKNOWN)
		return;
	r->known |= 1u << u;
	r->top[u] = msg->token;
	if (!r->told)
		recovery_tell(cl);
}

static void put_off(struct bftm_cluster *cl, u64 now)
{
	struct bftm_recovery *r = &cl->recovery;

	r->failed |= 1u << r->u;
	r->pause_ns = now + PAUSE_NS;
	begin_next(cl);
}

void bftm_recover_refused(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_recovery *r = &cl->recovery;
	u16 id = cl->peer[u].conf->id;
	bool say;

	if (!r->active || u != r->u || !r->told || msg->seq != r->told_seq)
		return;
	say = bftm_due(&r->refused_ns, BFTM_SAID_AGAIN_NS);
	if (say && msg->arg == BFTM_REFUSED_CLOCK)
		bftm_log(LOG_WARNING,
			 "cluster %s: server %u accepts no fencing token: its wall clock is before token %" PRIu64 ", which was given; set the clock of that host, or start the server with --token-floor",
			 cl->conf.name, id, r->floor);
	else if (say && msg->arg == BFTM_REFUSED_ACCESS)
		bftm_log(LOG_INFO,
			 "cluster %s: server %u does not know which fencing tokens were given, and by its access rules client %u may not tell it; a client that may take every lock can, or start the server with --token-floor",
			 cl->conf.name, id, cl->cred.client);
	put_off(cl, bftm_now());
}

static void give_up(struct bftm_cluster *cl, u64 now)
{
	struct bftm_recovery *r = &cl->recovery;

	if (!r->told && !r->hopeless && bftm_due(&r->hopeless_ns, BFTM_SAID_AGAIN_NS))
		bftm_log(LOG_INFO,
			 "cluster %s: server %u does not know which fencing tokens were given, and too few others can tell it",
			 cl->conf.name, cl->peer[r->u].conf->id);
	r->hopeless |= !r->told;
	put_off(cl, now);
}

void bftm_recover_wake(struct bftm_cluster *cl, u64 now)
{
	struct bftm_recovery *r = &cl->recovery;

	if (!r->active) {
		if (r->failed && now >= r->pause_ns) {
			r->failed = 0;
			begin_next(cl);
		}
	} else if (now >= r->until_ns) {
		give_up(cl, now);
	} else {
		/* Either may have been lost. */
		bftm_hello(cl, bftm_cluster_everyone(cl) & ~(1u << r->u | r->known));
		recovery_tell(cl);
	}
}
