/* SPDX-License-Identifier: GPL-2.0 */
/* The knowledge of a client about servers, and one attempt: n = 7, b = 1, F = 5. */
#ifndef BFTM_UNIT_ASKING_H
#define BFTM_UNIT_ASKING_H

#include "unit.h"

#include "core/ask.h"
#include "core/client.h"

#define MS	BFTM_NS_PER_MS
#define L	(1000 * MS)
#define TRIP	(10 * MS)
#define H	(2 * TRIP)
#define T0	(5000 * MS)
#define ALL	0x7fu

static struct bftm_ask_state ask;
static struct bftm_client_cfg cfg;
static struct bftm_want want;
static struct bftm_asking t;

static inline int fresh(void **state)
{
	u32 u;

	(void)state;
	bftm_ask_start(&ask, false);
	cfg = (struct bftm_client_cfg){ .n = 7, .b = 1, .ask = &ask };
	want = (struct bftm_want){ .lease_ns = L, .mode = BFTM_MODE_EX, .lock = 1 };
	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = u < 7 ? TRIP : 0;
	}
	return 0;
}

static inline void begin(u64 now)
{
	bftm_ask_begin(&cfg, &want, now, &t);
}

static inline u32 lowest(u32 servers)
{
	return servers & -servers;
}

/* These answer in time. */
static inline void hear(u32 servers, bool free)
{
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (servers >> u & 1)
			bftm_ask_heard(&cfg, &t, u, free, t.begun_ns, t.begun_ns + TRIP);
}

/* The servers that said FREE have granted it. */
static inline void won(void)
{
	bftm_ask_won(&cfg, &t, t.heard & ~t.denied);
}

#endif /* BFTM_UNIT_ASKING_H */
