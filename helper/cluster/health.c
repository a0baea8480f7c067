// SPDX-License-Identifier: GPL-2.0
#include "cluster/health.h"

#include <stdio.h>
#include <string.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "loop/log.h"
#include "text/shown.h"

/* So many are named; of more, their number. */
#define NAMED 8

/* People need no more of a time. */
#define TENTH_NS (100 * BFTM_NS_PER_MS)

void bftm_health_names(const struct bftm_cluster *cl, u32 servers, char *buf, size_t size)
{
	u32 many = bftm_count(servers), done = 0, u;
	size_t len = (size_t)snprintf(buf, size, "server%s", many > 1 ? "s" : "");

	for (u = 0; u < cl->conf.n && done < NAMED; u++) {
		if (!(servers >> u & 1))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s %u",
					!done ? "" : done + 1 == many ? " and" : ",",
					cl->conf.server[u].id);
		done++;
	}
	if (done < many)
		snprintf(buf + len, size - len, " and %u more", many - done);
}

/* "server 2 is", "servers 1, 3 and 4 are" */
static void name_servers(const struct bftm_cluster *cl, u32 servers, char *buf, size_t size)
{
	size_t len;

	bftm_health_names(cl, servers, buf, size);
	len = strlen(buf);
	snprintf(buf + len, size - len, bftm_count(servers) > 1 ? " are" : " is");
}

static u32 needed(const struct bftm_cluster *cl)
{
	u32 n = cl->conf.n, b = cl->conf.b;

	return cl->conf.literal ? bftm_literal_quorum(n, b) :
				  bftm_grants_needed(n, b, cl->conf.m);
}

/* Until enough servers have left their quarantine, if that makes enough. */
static u64 quarantine_left(const struct bftm_cluster *cl, u32 servers, u32 lacks, u64 now)
{
	u64 left[BFTM_SERVERS_MAX] = {};
	u32 u, k = bftm_count(servers) < lacks ? 1 : bftm_count(servers) - lacks + 1;

	for (u = 0; u < cl->conf.n; u++)
		if (servers >> u & 1)
			left[u] = cl->peer[u].quarantine_until_ns - now;
	return bftm_kth_largest(left, cl->conf.n, k) / TENTH_NS * TENTH_NS + TENTH_NS;
}

/* A request of just now may still be answered. */
static u64 patience(const struct bftm_cluster *cl)
{
	return 2 * cl->cfg.resend_ns;
}

bool bftm_health_doubled(const struct bftm_cluster *cl)
{
	u32 u, ahead = 0;

	for (u = 0; u < cl->conf.n; u++)
		ahead += cl->peer[u].taken && cl->peer[u].ahead &&
			 cl->peer[u].ahead > bftm_identity_seq(cl->identity);
	return ahead > cl->conf.b;
}

u32 bftm_health_unheard(const struct bftm_cluster *cl)
{
	u64 now = bftm_now();
	u32 u, silent = 0;

	for (u = 0; u < cl->conf.n; u++)
		if (cl->peer[u].asked_ns && now - cl->peer[u].asked_ns > patience(cl))
			silent |= 1u << u;
	return silent;
}

u32 bftm_health_silent(struct bftm_cluster *cl, u64 configuration, u32 servers)
{
	u64 now = bftm_now();
	u32 u;

	servers &= configuration == cl->configuration ? bftm_all(cl->conf.n) : 0;
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		if (servers >> u & 1 && !peer->asked_ns && now - peer->heard_ns > patience(cl))
			peer->asked_ns = now - patience(cl) - 1;
	}
	return servers;
}

const char *bftm_health_why(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	u32 silent = bftm_health_unheard(cl), unheard = 0, quarantine = 0, forgetful = 0, able, u;
	char list[128], left[32];
	u64 now = bftm_now();

	for (u = 0; u < cl->conf.n; u++) {
		const struct bftm_peer *peer = &cl->peer[u];

		if (silent >> u & 1)
			continue;
		if (!peer->heard_ns)
			unheard |= 1u << u;
		else if (cl->cfg.forgetful >> u & 1)
			forgetful |= 1u << u;
		else if (now <= peer->quarantine_until_ns && !peer->spared)
			quarantine |= 1u << u;
	}
	able = cl->conf.n - bftm_count(silent | unheard | quarantine | forgetful);
	*text = '\0';
	if (bftm_health_doubled(cl)) {
		bftm_text_add(text, BFTM_WHY_MAX, "another host uses the keys of client %u, and servers drop what this one sends; give each host keys of its own, and restart bftmutexd; if there is no other host any more, restart bftmutexd",
			   cl->cred.client);
		return text;
	}
	if (able >= needed(cl))
		return text;
	bftm_text_add(text, BFTM_WHY_MAX, "%u of %u servers can grant, a lock needs %u", able, cl->conf.n,
			   needed(cl));
	if (silent) {
		name_servers(cl, silent, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s silent", list);
	}
	if (unheard) {
		name_servers(cl, unheard, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s not heard yet", list);
	}
	if (forgetful) {
		name_servers(cl, forgetful, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s started with a --no-quarantine above r = %u", list,
			   bftm_spared(cl->conf.n, cl->conf.b, cl->conf.m));
	}
	if (quarantine) {
		u64 ns = quarantine_left(cl, quarantine, needed(cl) - able, now);

		name_servers(cl, quarantine, list, sizeof(list));
		bftm_text_add(text, BFTM_WHY_MAX, "; %s in quarantine, for another %s", list,
			   bftm_format_duration(ns, left, sizeof(left)));
	}
	return text;
}

const char *bftm_health_awaits(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	u32 recovering = 0, silent = 0, u;
	u64 now = bftm_now();
	char list[128];

	for (u = 0; u < cl->conf.n; u++)
		/* It may have heard from all since it said that it waits. */
		if (!strcmp(bftm_evidence_state(cl, u, now), "silent"))
			silent |= 1u << u;
		else if (cl->peer[u].recovering)
			recovering |= 1u << u;
	*text = '\0';
	if (!recovering || cl->conf.n - bftm_count(recovering | silent) >= needed(cl))
		return text;
	bftm_health_names(cl, recovering, list, sizeof(list));
	bftm_text_add(text, BFTM_WHY_MAX, "%s %s to hear from members, and until then no lock is granted that may be held without a lease (see bftmutexctl server members)",
		   list, bftm_count(recovering) > 1 ? "wait" : "waits");
	return text;
}

u32 bftm_health_able(const struct bftm_cluster *cl)
{
	u64 now = bftm_now();
	u32 able = 0, u;

	for (u = 0; u < cl->conf.n; u++) {
		const char *state = bftm_evidence_state(cl, u, now);

		if (!strcmp(state, "ok") || !strcmp(state, "slow"))
			able |= 1u << u;
	}
	return able;
}

const char *bftm_health_unnoted(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	u32 able = bftm_health_able(cl), unnoted = 0, u;
	char list[128];

	for (u = 0; u < cl->conf.n; u++)
		if (able >> u & 1 && cl->peer[u].unnoted)
			unnoted |= 1u << u;
	*text = '\0';
	if (!unnoted || bftm_count(able & ~unnoted) >= needed(cl))
		return text;
	bftm_health_names(cl, unnoted, list, sizeof(list));
	bftm_text_add(text, BFTM_WHY_MAX, "%s %s a roll that does not name this host: does bftmutex-roll@ run there?", list,
		   bftm_count(unnoted) > 1 ? "have" : "has");
	return text;
}

bool bftm_health_heard(const struct bftm_cluster *cl)
{
	u32 heard = 0, u;

	for (u = 0; u < cl->conf.n; u++)
		heard += !!cl->peer[u].heard_ns;
	return heard >= needed(cl);
}

void bftm_health_report(struct bftm_cluster *cl)
{
	u64 now = bftm_now();
	u32 u;

	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];
		bool silent = !strcmp(bftm_evidence_state(cl, u, now), "silent");

		if (silent && !peer->silent && bftm_due(&peer->silent_ns, BFTM_SAID_AGAIN_NS)) {
			peer->silent = true;
			bftm_log(LOG_WARNING, "cluster %s: server %u at %s is silent", cl->conf.name,
				 peer->conf->id, peer->conf->text);
		} else if (!silent && peer->silent) {
			peer->silent = false;
			bftm_log(LOG_INFO, "cluster %s: server %u answers again", cl->conf.name,
				 peer->conf->id);
		}
	}
}
