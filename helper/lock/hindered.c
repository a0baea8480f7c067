// SPDX-License-Identifier: GPL-2.0
#include "lock/hindered.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "lock/acquire.h"
#include "loop/log.h"
#include "text/shown.h"

int bftm_refusal_errno(u32 refusal)
{
	switch (refusal) {
	case BFTM_REFUSED_LEASE:
		return ERANGE;
	case BFTM_REFUSED_LOCKS:
	case BFTM_REFUSED_CLIENTS:
	case BFTM_REFUSED_WAITERS:
	case BFTM_REFUSED_OBJECTS:
		return ENOSPC;
	case BFTM_REFUSED_ACCESS:
	case BFTM_REFUSED_EVICTED:
		return EACCES;
	case BFTM_REFUSED_TOKENS:
		return ENODATA;
	}
	return EPROTONOSUPPORT;
}

void bftm_words_take(struct bftm_words *words, u32 u, const struct bftm_msg *msg)
{
	const u32 bit = 1u << u;
	bool closed = msg->type == BFTM_MSG_WAIT && !msg->position;

	if (msg->type != BFTM_MSG_FREE && msg->type != BFTM_MSG_LOCKED &&
	    msg->type != BFTM_MSG_WAIT && msg->type != BFTM_MSG_INQUIRE &&
	    msg->type != BFTM_MSG_REFUSED)
		return;
	words->refused &= ~bit;
	words->awaits &= ~bit;
	words->busy &= ~bit;
	/* Not yet, which is as if it were silent: see bftm_health_unnoted(). */
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_UNNOTED)
		return;
	if (msg->type == BFTM_MSG_REFUSED) {
		words->refused |= bit;
		words->refusal[u] = msg->arg;
	} else if (closed && msg->lease_ns == BFTM_LEASE_NONE) {
		words->awaits |= bit;
	} else if (msg->type != BFTM_MSG_FREE && !closed) {
		words->busy |= bit;
	}
}

u32 bftm_words_refused(const struct bftm_words *words, u32 refusal)
{
	u32 ret = 0, u;

	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		if (words->refused >> u & 1 && words->refusal[u] == refusal)
			ret |= 1u << u;
	return ret;
}

/* Of servers that may have answered before, those that answer nothing now say nothing. */
static u32 those_that(const struct bftm_acquire_op *op, u32 said)
{
	return said & ~bftm_health_unheard(op->cluster);
}

static u32 quarantined(const struct bftm_cluster *cl)
{
	u64 now = bftm_now();
	u32 u, ret = 0;

	for (u = 0; u < cl->conf.n; u++)
		if (now <= cl->peer[u].quarantine_until_ns && !cl->peer[u].spared)
			ret |= 1u << u;
	return ret;
}

/* Servers that could grant the lock to this request, as far as is known. */
static u32 able(const struct bftm_acquire_op *op, u32 hindering)
{
	const struct bftm_cluster *cl = op->cluster;

	return bftm_count(bftm_cluster_everyone(cl) &
			  ~(hindering | bftm_health_unheard(cl) | quarantined(cl)));
}

static bool is_hindered(const struct bftm_acquire_op *op)
{
	u32 hindering = those_that(op, op->words.refused | op->words.awaits);

	return hindering && able(op, hindering) < bftm_win(&op->cluster->cfg);
}

static void log_it(struct bftm_acquire_op *op)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)], text[BFTM_WHY_MAX];
	struct bftm_cluster *cl = op->cluster;

	if (!bftm_due(&cl->hindered_ns, BFTM_SAID_AGAIN_NS))
		return;
	bftm_shown(op->ask.name, op->ask.name_len, name, sizeof(name));
	bftm_log(LOG_WARNING, "cluster %s: lock '%s' cannot be had by this host: %s", cl->conf.name,
		 name, bftm_hindered_why(op, text));
}

/* The one that all of these name, or 0. */
static u32 common_refusal(const struct bftm_words *words, u32 servers)
{
	u32 ret = 0, u;

	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		if (!(servers >> u & 1))
			continue;
		if (ret && ret != words->refusal[u])
			return 0;
		ret = words->refusal[u];
	}
	return ret;
}

int bftm_hindered_errno(struct bftm_acquire_op *op, int error)
{
	u32 refusal;

	if (!is_hindered(op) || those_that(op, op->words.busy))
		return error;
	op->hindered = true;
	log_it(op);
	refusal = those_that(op, op->words.awaits) ? 0 :
		  common_refusal(&op->words, those_that(op, op->words.refused));
	return refusal ? bftm_refusal_errno(refusal) : ENETUNREACH;
}

bool bftm_hindered_in_vain(struct bftm_acquire_op *op)
{
	const struct bftm_client_cfg *cfg = &op->cluster->cfg;
	u32 refused = those_that(op, op->words.refused);

	/* Those that wait for members will grant locks again, as after a quarantine. */
	if (!refused || !is_hindered(op))
		return false;
	log_it(op);
	return bftm_count(bftm_all(cfg->n) & ~(refused | bftm_health_unheard(op->cluster))) <
		       bftm_win(cfg) &&
	       bftm_count(those_that(op, op->words.busy)) <= cfg->n - bftm_win(cfg);
}

static void add_refusals(const struct bftm_acquire_op *op, u32 refused, char text[BFTM_WHY_MAX])
{
	char list[128];
	u32 u, some;

	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		if (!(refused >> u & 1))
			continue;
		some = bftm_words_refused(&op->words, op->words.refusal[u]) & refused;
		refused &= ~some;
		bftm_health_names(op->cluster, some, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s refuse%s: %s", list, bftm_count(some) > 1 ? "" : "s",
		    bftm_refusal_name(op->words.refusal[u]));
	}
}

const char *bftm_hindered_why(const struct bftm_acquire_op *op, char text[BFTM_WHY_MAX])
{
	u32 refused = those_that(op, op->words.refused), awaits = those_that(op, op->words.awaits);
	const struct bftm_cluster *cl = op->cluster;
	u32 silent = bftm_health_unheard(cl);
	u32 waits = quarantined(cl) & ~(refused | awaits | silent);
	char list[128];

	snprintf(text, BFTM_WHY_MAX, "%u of %u servers can grant it to this host, a lock needs %u",
		 able(op, refused | awaits), cl->conf.n, bftm_win(&cl->cfg));
	add_refusals(op, refused, text);
	if (silent) {
		bftm_health_names(cl, silent, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s %s silent", list, bftm_count(silent) > 1 ? "are" : "is");
	}
	if (waits) {
		bftm_health_names(cl, waits, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s %s in quarantine", list, bftm_count(waits) > 1 ? "are" : "is");
	}
	if (awaits) {
		bftm_health_names(cl, awaits, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s wait%s to hear from members (see bftmutexctl server members)", list,
		    bftm_count(awaits) > 1 ? "" : "s");
	}
	return text;
}
