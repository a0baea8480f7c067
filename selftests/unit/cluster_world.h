/* SPDX-License-Identifier: GPL-2.0 */
/* Inside of the simulated cluster: what its parts know of each other. */
#ifndef BFTM_UNIT_WORLD_H
#define BFTM_UNIT_WORLD_H

#include "unit.h"

#include "cluster.h"

#define MS		BFTM_NS_PER_MS
#define LEASE_MAX	(20 * MS)
#define PPM		1000000u

/** enum event_kind - what happens, and to whom */
enum event_kind {
	TO_SERVER,	/* a datagram arrives at @server */
	TO_CLIENT,	/* a datagram of @server arrives at @client */
	WAKE,		/* timer of contend() at @client */
	RELEASE_WAKE,	/* timer of its RELEASE */
	APP,		/* the application of @client starts or stops */
	RESTART,	/* @server loses its memory */
};

/** struct event - at time @at; @order decides between equal times */
struct event {
	u64 at;
	u64 order;
	enum event_kind kind;
	u32 client;
	u32 server;
	u64 generation;		/* of an APP event; an older one is void */
	struct bftm_msg msg;
};

/** struct sim_clock - shows offset + t · rate / 10^6, floored to ns */
struct sim_clock {
	u64 offset;
	u64 rate;
};

/** struct sim_server - the first plan->liars of them lie */
struct sim_server {
	struct sim_clock clock;
	struct bftm_server_cfg cfg;
	struct bftm_lock lock;
};

/** struct sim_client - one process that wants the lock again and again */
struct sim_client {
	struct sim_clock clock;
	struct bftm_contend contend;
	struct bftm_release release;
	struct bftm_want want;
	u64 attempt;		/* last used */
	u64 generation;		/* of the APP event that is valid */
	u64 wake_at;		/* a WAKE event is queued for this, 0 for none */
};

/** struct world - everything; @now is true time */
struct world {
	const struct cluster_plan *plan;
	struct cluster_report *report;
	struct bftm_client_cfg cfg;
	struct sim_server server[BFTM_SERVERS_MAX];
	struct sim_client client[CLUSTER_CLIENTS_MAX];
	struct event **heap;
	u32 count, room;
	u32 mood;		/* of all liars: they conspire */
	u64 now, order, rnd;
};

static inline u64 world_between(struct world *w, u64 low, u64 high)
{
	return unit_between(&w->rnd, low, high);
}

static inline bool world_chance(struct world *w, u32 ppm)
{
	return unit_random(&w->rnd) % PPM < ppm;
}

/** sim_show() - what a clock shows now. */
static inline u64 sim_show(const struct world *w, const struct sim_clock *clock)
{
	return clock->offset + (u64)((unsigned __int128)w->now * clock->rate / PPM);
}

/** sim_when() - a time at which it shows at least this much, hardly more. */
u64 sim_when(const struct sim_clock *clock, u64 shown);

/** world_push(), world_pop() - queue of events; push fills in nothing else. */
struct event *world_push(struct world *w, enum event_kind kind, u64 at);
struct event *world_pop(struct world *w);

/** world_send() - a datagram from or to a server, at the network's mercy. */
void world_send(struct world *w, enum event_kind kind, u32 server, const struct bftm_msg *msg);

/** sim_app_at() - let the application of a client act at this time. */
void sim_app_at(struct world *w, u32 x, u64 at);

/** sim_client_event(), sim_server_event() - what they do about it. */
void sim_client_event(struct world *w, const struct event *e);
void sim_server_event(struct world *w, const struct event *e);

#endif /* BFTM_UNIT_WORLD_H */
