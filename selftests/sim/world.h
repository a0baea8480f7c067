/* SPDX-License-Identifier: GPL-2.0 */
/* A cluster in one thread and in virtual time: what its parts know of each other. */
#ifndef BFTM_SIM_WORLD_H
#define BFTM_SIM_WORLD_H

#include "../../kmod/core/replay.h"
#include "arena.h"
#include "check.h"
#include "clock.h"
#include "plan.h"
#include "protocol.h"
#include "queue.h"

struct story;
struct script;
struct liar;

#define NEVER (~0ull)
#define MS BFTM_NS_PER_MS

/** enum stream - random numbers of a purpose */
enum stream {
	RNG_NET,
	RNG_CLIENT,
	RNG_APP,
	RNG_SERVER,
	RNG_LIAR,
	RNG_FAULT,
	STREAMS
};

/** struct server - as kmod/server.c and kmod/netns.c */
struct server {
	struct clock clock;
	struct bftm_server_cfg cfg;
	bool up;
	bool lies;
	u32 stamp;		/* of its restarts */
	u64 over_ns;		/* see bn->over_ns in kmod/netns.c */
	u64 first_gno;
	struct bftm_lock *lock;		/* by number of the lock */
	u64 *touched_ns;		/* 0: nobody asked for it yet */
	struct bftm_window *window;	/* by client */
	struct liar *liar;
};

/** struct peer - a server as a helper knows it; as in helper/cluster.h */
struct peer {
	u64 epoch;
	u64 challenge_seq;
	struct bftm_window answers;
};

/** enum app - where an application stands */
enum app {
	APP_IDLE,
	APP_ASKING,
	APP_HOLDING,
};

/** struct handle - an application with one lock at a time; helper/acquire.h */
struct handle {
	struct bftm_contend contend;
	struct bftm_want want;
	enum app app;
	u32 lock;
	u32 stamp;		/* of its APP and ASK events */
	u64 wake_at;		/* a WAKE event is queued for this, NEVER for none */
	u64 hold;		/* number of the holding, 0 for none */
	u64 end_ns;		/* of it, as the application was told */
	u64 known_end_ns;	/* … as the core has it */
};

/** struct orphan - who holds goes on holding when the helper is killed */
struct orphan {
	bool alive;
	u32 lock;
	u64 attempt;
	u64 hold;
	u64 end_ns;
};

/** struct release - as struct bftm_release_op in helper/acquire.h */
struct release {
	struct release *next;
	struct bftm_release core;
	u32 lock;
	u32 number;
};

/** struct client - a host with a helper */
struct client {
	struct clock clock;
	bool up;		/* the helper runs */
	bool host_up;
	u32 stamp;		/* of the starts of its helper */
	u64 busy_until;		/* it sees nothing before this */
	u64 lag;		/* how long it was held up within this step */
	u64 incarnation;	/* as in helper/identity.c */
	u64 seq;
	u64 attempt;
	struct peer *peer;
	struct handle *handle;
	struct release *releases;
	struct orphan orphan;
};

/** struct stats - of one scenario or many */
struct stats {
	u64 scenarios, sim_ns, events, wins, rounds, lapses, refused, crash_wins;
	u64 sent, lost, doubled, slow, aimed, clogged, replayed, forged, lies;
	u64 fault[FAULTS];
};

/** struct world - everything; @now is true time */
struct world {
	const struct plan *plan;
	const struct protocol *protocol;
	const struct script *script;	/* a golden scenario, or NULL */
	struct bftm_client_cfg cfg;
	struct arena arena;
	struct queue queue;
	struct rng rng[STREAMS];
	struct server *server;
	struct client *client;
	u64 *blocked[2];	/* by link and direction, see network.c */
	u64 *link_ns[2];	/* of a golden scenario: how long a link takes */
	struct release *spare;	/* release operations for reuse */
	void *check[CHECKERS];
	struct liar_shared *liars;
	struct story *story;	/* NULL: nobody wants to read it */
	void (*progress)(const struct world *w);	/* called now and then, or NULL */
	struct stats stats;
	struct violation failed;
	u64 now;
	u64 end;		/* nothing happens after it */
	u64 heal_at;
	bool healed;
	bool over;
	u64 holds;
	u64 numbers;
	u64 hash;
};

/** struct outcome - what came of a scenario */
struct outcome {
	struct stats stats;
	struct violation failed;
	u64 hash;
};

/** world_run() - one scenario. @w: zeroed before the first, reused afterwards. */
void world_run(struct world *w, const struct plan *plan, const struct script *script,
	       struct story *story, struct outcome *ret);
void world_free(struct world *w);

static inline void world_mix(struct world *w, u64 value)
{
	w->hash = (w->hash ^ value) * 0x9e3779b97f4a7c15u;
	w->hash ^= w->hash >> 29;
}

/** world_safe() - before the world heals? */
static inline bool world_fault(const struct world *w, enum fault fault)
{
	return !w->healed && plan_has(w->plan, fault);
}

static inline u32 link_of(const struct world *w, u32 client, u32 server)
{
	return client * w->plan->n + server;
}

/* network.c */
enum { TO_SERVER, TO_CLIENT };

/**
 * network_send() - a datagram, at the network's mercy
 * @server: its true sender or receiver, whatever it says
 * @at:     when it leaves
 */
void network_send(struct world *w, int to, u32 server, const struct bftm_msg *msg, u64 at);
void network_start(struct world *w);
void network_heal(struct world *w);
/** network_cut() - stop what goes that way until @until; hold it back or lose it. */
void network_cut(struct world *w, int to, u32 client, u32 server, u64 until, bool hold);

/* server.c, server_start.c */
void server_setup(struct world *w, u32 u);
void server_receive(struct world *w, u32 u, const struct bftm_msg *req);
void server_crash(struct world *w, u32 u, u64 down);
void server_up(struct world *w, u32 u);

/* client.c, client_step.c, client_receive.c */
void client_setup(struct world *w, u32 x);
void client_receive(struct world *w, u32 x, u32 server, const struct bftm_msg *msg);
void client_wake(struct world *w, u32 x, u32 h);
void client_release_wake(struct world *w, u32 x, u32 number);
void client_up(struct world *w, u32 x);
/** client_down() - @host: the applications go too. */
void client_down(struct world *w, u32 x, bool host, u64 down);
/** client_begin() - the application of a handle asks for its lock. */
void client_begin(struct world *w, u32 x, u32 h);
/** client_end() - it cancels or gives back. */
void client_end(struct world *w, u32 x, u32 h);
/** client_release() - tell servers that an attempt is over. */
void client_release(struct world *w, u32 x, u32 lock, u64 attempt, u32 to);
/** client_try() - send TRY of the current attempt. */
void client_try(struct world *w, struct client *c, const struct handle *h, u32 to);
/** client_obey() - do what the core says, as obey() of helper/acquire.c. */
void client_obey(struct world *w, u32 x, u32 h, const struct bftm_out *out);
/** client_arm() - the timer of the operation. */
void client_arm(struct world *w, u32 x, u32 h);
/** client_watch() - tell checkers which attempts began or ended by a step. */
void client_watch(struct world *w, u32 x, u32 h, u64 before, enum bftm_phase phase);
/** client_watch_hold() - … and that the core says that the lock is held. */
void client_watch_hold(struct world *w, u32 x, u32 h, enum bftm_verdict verdict, u64 now);
/** client_look() - its clock now; client_stall() - perhaps it is held up. */
u64 client_look(const struct world *w, const struct client *c);
void client_stall(struct world *w, struct client *c);
/** client_done() - the step is over: what it took is gone. */
void client_done(struct world *w, struct client *c);

/* app.c */
void app_start(struct world *w, u32 x);
void app_act(struct world *w, u32 x, u32 h);
void app_orphan(struct world *w, u32 x);
void app_ask(struct world *w, u32 x, u32 h);
void app_won(struct world *w, u32 x, u32 h);
void app_failed(struct world *w, u32 x, u32 h, enum bftm_verdict verdict);
/** app_at() - let it act at this true time; what it planned before is void. */
void app_at(struct world *w, u32 x, u32 h, u64 at);
void app_heal(struct world *w);

/* fault.c */
void fault_start(struct world *w);
void fault_next(struct world *w, u32 fault);
void fault_heal(struct world *w);
struct clock fault_clock(struct world *w, bool liar, bool of_client);

/* liar.c */
void liar_setup(struct world *w, u32 u);
void liar_answer(struct world *w, u32 u, const struct bftm_msg *req,
		 const struct bftm_msg *honest, u64 now);

#endif /* BFTM_SIM_WORLD_H */
