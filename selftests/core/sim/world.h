/* SPDX-License-Identifier: GPL-2.0 */
/* A cluster in one thread and in virtual time: what its parts know of each other. */
#ifndef BFTM_SIM_WORLD_H
#define BFTM_SIM_WORLD_H

#include "core/access.h"
#include "arena.h"
#include "check.h"
#include "hosts.h"
#include "plan.h"
#include "queue.h"

struct story;
struct record;
struct script;
struct liar;
struct order;
struct packet;

#define NEVER (~0ull)
#define MS BFTM_NS_PER_MS
#define WORLD_RULES 3

/** enum stream - random numbers of a purpose */
enum stream {
	RNG_NET,
	RNG_CLIENT,
	RNG_APP,
	RNG_SERVER,
	RNG_LIAR,
	RNG_FAULT,
	RNG_INTRUDER,
	STREAMS
};

#define STEPS_PER_TRIP	50	/* buckets of latencies in a round trip */
#define STEPS_BUCKETS	1000

/** struct stats - of one scenario or many */
struct stats {
	u64 scenarios, sim_ns, events, wins, rounds, lapses, refused, crash_wins;
	u64 adopted, renewed, fenced, pushed, yielded, recovered, conversions, values, valid;
	u64 jain_ppm, jains;	/* Jain's index of wins by client, summed; and how many */
	u64 worst_wait;		/* grants to others; the highest, not a sum */
	u64 sent, lost, doubled, slow, aimed, clogged, replayed, forged, lies;
	u64 fault[FAULTS];
	u64 step_wins, step_one, step_messages, step_after[STEPS_BUCKETS];	/* see steps.c */
};

/** struct world - everything; @now is true time */
struct world {
	const struct plan *plan;
	const struct protocol *protocol;
	const struct script *script;	/* a golden scenario, or NULL */
	struct bftm_client_cfg cfg;
	struct bftm_rule rule[WORLD_RULES];	/* access rules of all servers, see intruder.c */
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
	struct order *order;	/* of the ordering protocol, or NULL */
	struct story *story;	/* NULL: nobody wants to read it */
	struct record *record;	/* NULL: nobody wants to read it */
	void (*progress)(const struct world *w);	/* called now and then, or NULL */
	struct stats stats;
	struct violation failed;
	u64 now;
	u64 end;		/* nothing happens after it */
	u64 heal_at;
	bool healed;
	u32 turns;		/* of all, see struct handle */
	bool over;
	u64 holds;
	u64 values;		/* that were left */
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

/* steps.c */
/** steps_message() - a datagram of this type is sent. */
void steps_message(struct world *w, u8 type);
/** steps_won() - an acquire is won at @now, by its client's clock. */
void steps_won(struct world *w, const struct bftm_contender *c, u64 now);

/* network.c */
enum { TO_SERVER, TO_CLIENT };

/**
 * network_send() - a datagram, at the network's mercy
 * @server: its true sender or receiver, whatever it says
 * @at:     when it leaves
 */
void network_send(struct world *w, int to, u32 server, const struct bftm_msg *msg, u64 at);
/** network_order() - the same of the ordering protocol; it counts how often. */
void network_order(struct world *w, int to, u32 server, struct packet *p, u64 at);
void network_start(struct world *w);
void network_heal(struct world *w);
/** network_cut() - stop what goes that way until @until; hold it back or lose it. */
void network_cut(struct world *w, int to, u32 client, u32 server, u64 until, bool hold);

/* server.c, server_locks.c */
void server_setup(struct world *w, u32 u);
void server_receive(struct world *w, u32 u, const struct bftm_msg *req);
void server_crash(struct world *w, u32 u, u64 down);
void server_up(struct world *w, u32 u);
/** server_recover() - what RECOVER teaches it, whoever sends it. */
void server_recover(struct world *w, u32 u, const struct bftm_msg *req, u64 now);
/** server_shell - of a struct served */
extern const struct bftm_shell server_shell;
/** struct served - a request on its way through server @u */
struct served {
	struct world *w;
	u32 u;
	struct bftm_lock_view before;
};
/** server_wall() - the wall clock of every server. */
u64 server_wall(const struct world *w);
/** server_evict() - an administrator evicts a client up to this incarnation. */
void server_evict(struct world *w, u32 u, u32 x, u32 incarnation);
/** server_limits() - of what is about no request. */
struct bftm_server_cfg server_limits(const struct server *s);
/** server_drop() - what a client had in these incarnations, of all locks. */
void server_drop(struct world *w, u32 u, u32 x, u32 incarnation, bool leased);
/** server_expire() - the timer of a lock. */
void server_expire(struct world *w, u32 u, u32 l);
/** server_push() - what a server says unasked; its name is filled in here. */
void server_push(struct world *w, u32 u, u32 l, struct bftm_msg *push);
/** server_state() - of a lock, whether or not it is in its table. */
static inline void *server_state(const struct world *w, u32 u, u32 l)
{
	return w->server[u].locks + l * w->protocol->core->server->lock_size;
}

/** server_view() - what a list would say of it. */
static inline void server_view(const struct world *w, u32 u, u32 l, struct bftm_lock_view *ret)
{
	w->protocol->core->server->describe(server_state(w, u, l), ret);
}

/** server_lock() - the lock that a request names; NULL when it is not there. */
void *server_lock(struct world *w, u32 u, const struct bftm_msg *req, bool make, u64 now);
/** server_enlarge() - room for so many waiters. */
void server_enlarge(struct world *w, u32 u, u32 l, u32 waiters);
/** server_arm() - the timer of a lock that somebody waits for. */
void server_arm(struct world *w, u32 u, u32 l);
void server_forget_locks(struct world *w, u32 u);
/** server_knows() - does it know which tokens it stamped? */
static inline bool server_knows(const struct server *s)
{
	return s->tokens.floor != BFTM_TOKEN_UNKNOWN;
}

/**
 * server_token_gap() - how far correct servers are apart that know their tokens
 * Return: NEVER while one does not know, and will be told.
 */
u64 server_token_gap(const struct world *w, u32 l);

static inline u32 lock_number(const struct bftm_msg *msg)
{
	return msg->name[0] | (u32)msg->name[1] << 8 | (u32)msg->name[2] << 16;
}

static inline void name_lock(struct bftm_msg *msg, u32 lock)
{
	msg->name_len = 4;
	msg->name[0] = (u8)lock;
	msg->name[1] = (u8)(lock >> 8);
	msg->name[2] = (u8)(lock >> 16);
	msg->name[3] = 'L';
}

/* client_member.c: locks without a lease */
/** client_member_start() - its helper starts; client_member_hello() - and asks, again and again. */
void client_member_start(struct world *w, u32 x);
void client_member_hello(struct world *w, u32 x);
/** client_member_epoch() - after CHALLENGE of server @u, which has said @news */
void client_member_epoch(struct world *w, u32 x, u32 u, enum bftm_peer_news news);
/** client_member_sync() - perhaps server @u can be told that it knows all now. */
void client_member_sync(struct world *w, u32 x, u32 u);
void client_member_synced(struct world *w, u32 x, u32 u, const struct bftm_msg *msg);
/** client_member_evicted() - server @u says that it is evicted. */
void client_member_evicted(struct world *w, u32 x, u32 u);
/** client_member_disowns() - does nobody here hold by this attempt, of which a server asks? */
bool client_member_disowns(const struct world *w, u32 x, const struct bftm_msg *msg);
/** client_sync() - tell server @u that it has heard of all. */
void client_sync(struct world *w, u32 x, u32 u);

/* client.c, client_send.c, client_step.c, client_receive.c, client_recover.c */
void client_setup(struct world *w, u32 x);
void client_receive(struct world *w, u32 x, u32 server, const struct bftm_msg *msg);
void client_wake(struct world *w, u32 x, u32 h);
void client_release_wake(struct world *w, u32 x, u32 number);
void client_up(struct world *w, u32 x);
/** client_down() - @host: the applications go too. */
void client_down(struct world *w, u32 x, bool host, u64 down);
/* value.c */
/** value_make() - the value that a number stands for. */
void value_make(u64 number, struct bftm_written *ret);
/** value_number() - the number of a value; ~0 if nobody ever left it. */
u64 value_number(const struct bftm_value_told *told);
/** value_leaves() - does the application leave a value, h->left, as it goes down to @mode? */
bool value_leaves(struct world *w, u32 x, u32 i, enum bftm_mode mode);
/** value_read() - it is told the value. */
void value_read(struct world *w, u32 x, u32 i);

/** client_begin() - the application of a handle asks for its lock, by its kernel or its helper. */
void client_begin(struct world *w, u32 x, u32 h);
/** client_contend() - the helper asks for it. */
void client_contend(struct world *w, u32 x, u32 h);
/** client_is_fair() - has it a place in the queue when its helper asks for the lock? */
static inline bool client_is_fair(const struct handle *h)
{
	return h->want.wait == BFTM_WAIT_QUEUE && !h->want.fence;
}

/* client_kernel.c */
/** client_kernel_may() - may the kernel ask for the lock by itself? */
bool client_kernel_may(const struct world *w, u32 x, u32 h);
void client_kernel_begin(struct world *w, u32 x, u32 h);
/** client_kernel_answer() - server @u answers the attempt that the kernel makes. */
void client_kernel_answer(struct world *w, u32 x, u32 h, u32 u, const struct bftm_msg *msg);
/** client_kernel_left_over() - the helper goes on with what its kernel has lost. */
void client_kernel_left_over(struct world *w, u32 x, u32 h);
/** client_kernel_hello() - the kernel asks server @u for its epoch, unless it did a moment ago. */
void client_kernel_hello(struct world *w, u32 x, u32 u);
/** client_release_keep() - the helper is gone: of all RELEASE, those of the kernel go on. */
void client_release_keep(struct world *w, u32 x);
/** client_abandon() - the helper of @h is gone: end what nobody goes on with; a held lock stays. */
void client_abandon(struct world *w, u32 x, struct handle *h, bool host);
/** client_serves() - does anybody take locks there: its helper, or its kernel without one? */
static inline bool client_serves(const struct world *w, const struct client *c)
{
	return c->up || (w->plan->kernel && c->host_up);
}
/** client_kernel_stale() - server @u has not taken a request: it has another epoch. */
void client_kernel_stale(struct world *w, u32 x, u32 h, u32 u, const struct bftm_msg *msg);
void client_kernel_wake(struct world *w, u32 x, u32 h);
/** client_kernel_stop() - the application gives up, or gives back. */
void client_kernel_stop(struct world *w, u32 x, u32 h);
/** client_kernel_renew() - the application asks for a longer lease of what the kernel holds. */
void client_kernel_renew(struct world *w, u32 x, u32 h);
/** client_kernel_entrust() - the helper goes on with the lock that the kernel holds. */
void client_kernel_entrust(struct world *w, u32 x, u32 h);
/** client_release_kernel() - RELEASE of the kernel, to @to for the first time. */
void client_release_kernel(struct world *w, u32 x, u32 lock, const struct bftm_host *host, u32 to);
/** client_end() - it cancels or gives back. */
void client_end(struct world *w, u32 x, u32 h);

/** client_offer() - the attempt of @h offers a token. */
void client_offer(struct world *w, u32 x, const struct handle *h);
/** client_leaves() - its application is out of the lock at true time @at, by FACT_STOP or FACT_OVER. */
void client_leaves(struct world *w, u32 x, u32 h, enum fact_kind kind, u64 at);
/** client_release() - tell servers that an attempt is over. */
void client_release(struct world *w, u32 x, u32 lock, const struct bftm_out *out);
/** client_send_release() - RELEASE of an attempt that is over, to @to. */
void client_send_release(struct world *w, struct client *c, const struct release *op, u32 to);
/** client_send() - what the core wants to be sent, but for RELEASE. */
void client_send(struct world *w, u32 x, const struct handle *h, const struct bftm_out *out);
/** server_granted() - has this attempt a grant? Then @ret is of this. */
static inline bool server_granted(const struct world *w, u32 u, u32 l, u32 client, u64 attempt,
				  struct bftm_lock_view *ret)
{
	return w->protocol->core->server->granted(server_state(w, u, l), client, attempt, ret);
}

/** client_convert() - the application wants to hold it in another mode. */
void client_convert(struct world *w, u32 x, u32 h, const struct bftm_conversion *to);

/** client_keep() - it does not want that any more. */
void client_keep(struct world *w, u32 x, u32 h);

/** client_renew() - the application wants to hold it longer. */
void client_renew(struct world *w, u32 x, u32 h);
/** client_adopt() - a new helper goes on with what the one before won. */
void client_adopt(struct world *w, u32 x);
/** client_hello() - ask servers for their epochs and tokens. */
void client_hello(struct world *w, u32 x, u32 to);
void client_answer_recovery(struct world *w, u32 x, u32 to, u64 floor);
/** client_tokens() - what CHALLENGE says of tokens; client_recover() - again. */
void client_tokens(struct world *w, u32 x, u32 u, const struct bftm_msg *msg);
void client_recover(struct world *w, u32 x, u32 u);
/** client_obey() - do what the core says, as attempt_obey() of helper/lock/attempt.c. */
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
/** fault_kill() - perhaps the helper of a new holder is killed soon. */
void fault_kill(struct world *w, u32 x);
/** fault_cut_off() - a host went down: perhaps its administrators evict it. */
void fault_cut_off(struct world *w, u32 x);
/** fault_fenced() - somebody got a token: make it hard to remember. */
void fault_fenced(struct world *w, u32 lock, u64 token);
void fault_heal(struct world *w);
struct clock fault_clock(struct world *w, bool liar, bool of_client);

/* intruder.c */
/** intruder_rules() - the access rules of all servers. */
void intruder_rules(struct world *w);
/** intruder_start() - server @u was restarted: it will be told false tokens. */
void intruder_start(struct world *w, u32 u);
void intruder_speak(struct world *w, u32 u);

/* liar.c */
void liar_setup(struct world *w, u32 u);
void liar_answer(struct world *w, u32 u, const struct bftm_msg *req,
		 const struct bftm_msg *honest, u64 now);
/** liar_pushes() - after liar_answer(), and when a lease ended: the honest push. */
void liar_pushes(struct world *w, u32 u, const struct bftm_msg *push, u64 now);

#endif /* BFTM_SIM_WORLD_H */
