/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients and honest servers in a bad network: datagrams are lost, repeated and
 * overtake each other, servers forget everything. Of each answer a client asks
 * whether it is a lie.
 */
#ifndef BFTM_UNIT_BAD_NETWORK_H
#define BFTM_UNIT_BAD_NETWORK_H

#include "unit.h"

#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "lock/contradiction.h"
#include "core/backoff/server.h"
#include "core/lease.h"
#include "core/replay.h"
#include "core/serve.h"

#define MS	BFTM_NS_PER_MS
#define N	4
#define CLIENTS	3
#define LEASE	(200 * MS)

struct server {
	struct bftm_server_cfg cfg;
	struct bftm_lock lock;
	struct bftm_window window[CLIENTS];
};

struct client {
	struct bftm_contend c;
	struct bftm_claim claim[N];
	struct bftm_epochs epochs[N];
	struct bftm_window window;
	u64 epoch[N], challenge_seq[N];
	u64 seq, attempt, leave_ns;
	u32 won;
};

extern const struct bftm_client_cfg network_cfg;
extern struct server servers[N];
extern struct client clients[CLIENTS];
/* The seed, the time, the largest token that was answered, and what was called a lie. */
extern u64 rnd, network_now, epochs, top, contradictions;

void network_step(void);
void make_queues(void);

/* Everything anew; only clock, epochs and numbers of grants go on. */
void new_cluster(void);

#endif /* BFTM_UNIT_BAD_NETWORK_H */
