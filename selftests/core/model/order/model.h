/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small cluster of the ordering protocol: correct servers around the shipped
 * core, one that lies, clients around theirs, and every sequence of so many
 * iterations.
 *
 * A move is a whole iteration: which servers answer its GET, what the liar says,
 * which servers its PROPOSE reaches, and which its COMMIT. Iterations follow each
 * other in the order of their ranks. That is all there can be: a server that has
 * answered a rank takes no lower one any more, so what it takes, it takes in this
 * order, and an iteration depends on others by what servers answer only. A message
 * that comes late comes before the next higher rank, or never. Where ranks are
 * used twice this is not so: --late delivers what was left of an iteration to any
 * servers after the next one, too.
 *
 * With --continue a client says COMMIT_GET, and its iteration of the next rank belongs to the same
 * move. No iteration of another rank comes between: a server that COMMIT_GET has reached takes no
 * rank below the next one, and one that has taken such a rank refuses COMMIT_GET.
 *
 * The checks: states that clients begin to commit are one chain, each made of
 * the one before; no client goes on from a state that nobody has made; and q answers always say which
 * state is the last one.
 */
#ifndef BFTM_ORDER_MODEL_H
#define BFTM_ORDER_MODEL_H

#include "core/ordering/client.h"
#include "core/ordering/server.h"
#include "core/quorum.h"

#define CORRECT_MAX	8
#define CLIENTS_MAX	3
#define ITERATIONS_MAX	6
#define STATES		(ITERATIONS_MAX + 1)	/* σ0, and one of each iteration */

/** struct plan - how large a cluster, of the command line */
struct plan {
	u32 n, b, correct, clients, iterations;
	bool late, forks, continues, refreshes;
};

extern struct plan plan;

/** struct place - a correct server; states are numbers, 0 is σ0 */
struct place {
	u8 sc, sp, prop, prop_client, max, max_client;
};

/** struct message - a PROPOSE or COMMIT of an iteration that is over */
struct message {
	u8 type, state, count, client;
};

/**
 * struct world - between two iterations
 * @place:     servers, sorted: their numbers mean nothing
 * @made:      highest number of a state
 * @parent:    of each state
 * @version:   likewise
 * @decided:   by version: the state that somebody began to commit; 0 for none
 * @completed: what each client knows to be
 * @count:     highest of a rank
 * @late:      what was left of the last iteration
 */
struct world {
	struct place place[CORRECT_MAX];
	u8 made;
	u8 parent[STATES], version[STATES], decided[STATES + 1];
	u8 completed[CLIENTS_MAX];
	u8 count;
	struct message late;
};

/**
 * struct lie - what the liar says to GET
 * @sc, @sp: states; -1 is one that nobody has made
 * @version: of that sp
 * @prop:    count of its proposer's rank
 * @first:   the liar is the first server; otherwise the last
 */
struct lie {
	int8_t sc, sp;
	u8 version;
	u8 prop;
	bool first;
};

/**
 * struct move - an iteration, or two that COMMIT_GET joins; sets of servers are bit masks
 * @refresh: it commits the last state once more
 * @invented: it goes on from a state that nobody has made
 * @before: of the first one, where @continued: state, and whom its messages reached
 */
struct move {
	u8 client, got, proposed, committed, late;
	bool continued, refresh;
	struct { u8 next, proposed, committed; } before;
	bool lied;
	struct lie lie;
	u8 base, next;	/* states, σ0 when nothing was made */
	bool applied, unsure, forks, invented;
};

/** struct outcome - what a client made of answers to its GET */
struct outcome {
	struct bftm_order order;
	struct move move;
};

/** struct call - what servers are asked; @then of COMMIT_GET only */
struct call {
	u8 type, state;
	struct bftm_rank rank, then;
};

/* The time, which stands still. */
#define NOW	1000

/* servers.c */

/** model_cfg() - of the cluster of the command line, for clients */
const struct bftm_order_cfg *model_cfg(void);
/** body_in() - of state @i of this world; NULL for σ0 */
struct bftm_body *body_in(const struct world *w, u8 i);
struct bftm_body_id id_of(const struct bftm_body *body);
/** rank_of() - @client is numbered from 0; no rank when @count is 0 */
struct bftm_rank rank_of(u8 count, u8 client);
/** ask() - server @u hears @c; what it says is for the client */
void ask(struct world *w, u32 u, const struct call *c, u8 *out, struct bftm_order_msg *reply);
/** hear() - the client hears server @u */
void hear(struct bftm_order *o, u32 u, const struct bftm_order_msg *msg);

/* get.c */

/**
 * every_get() - GET of a client, answered by any q servers, and by any lie of the liar
 * @w:      the world; it stays as it is
 * @client: numbered from 0
 * @ret:    what comes of it, each once; until the next call
 * Return: how many.
 */
u32 every_get(const struct world *w, u8 client, const struct outcome **ret);

/* iterate.c */

/** iterate() - tell of every world that one iteration makes of this one */
void iterate(const struct world *w, void (*found)(const struct world *, const struct move *));

/* worlds.c */

/** worlds_first() - nothing was before. */
void worlds_first(void);

/**
 * worlds_next() - all iterations of all worlds so far
 * Return: false at a violation, whose story is printed.
 */
bool worlds_next(void);

extern u64 worlds_known, worlds_moves;

/* story.c */

/** story_world(), story_move() - print it. */
void story_world(const struct world *w);
void story_move(const struct move *m);

#endif /* BFTM_ORDER_MODEL_H */
