/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fencing tokens over restarts: the world of bftmutex-token-model, what there is between two
 * events. Servers run the shipped core (bftm_serve), holders the shipped client of locks, and
 * the client that tells a server what its restart made it forget is the daemon's own file,
 * helper/cluster/recover.c.
 *
 * Enumerated, without a bound on the number of restarts, holders, offers and messages, and in
 * every order:
 *
 * - Holders follow each other. Each offers tokens, any, and another one at any time. An offer
 *   arrives at a server at any time, also when its holder is long gone, and again and
 *   again, or never. A holder has its token as soon as it counts q stamps for it, or stops.
 * - Servers restart at any time, any of them, any number at once. One forgets all, and does not
 *   stamp before it is told. Its quarantine ends when no token is on offer any more that was before
 *   the restart: a holder may well have the lock for longer, as one that renews it, and one without
 *   a lease, for which no quarantine is long enough. That the lock excludes is what bftmutex-model
 *   looks at.
 * - One client asks the others and tells a server, message by message, and gives up at any time.
 *   While it is at it, another one does the same in one step. Their reports arrive at any time,
 *   and again and again; with --late after further restarts, too.
 * - b servers lie: they stamp all, and say any number.
 * - With --floors a server may be started with a floor, one that is not below what was offered.
 * - With --intruder two clients speak that no server may believe: one with a right to some locks
 *   only says anything, one with a right to all speaks when nothing may be believed.
 *
 * The bounds: one lock, which excludes; tokens up to --tokens.
 *
 * The checks: each token is above that of every holder before; and where the rules promise
 * that holders can be fenced, they can: see live.c.
 */
#ifndef BFTM_TOKEN_WORLD_H
#define BFTM_TOKEN_WORLD_H

#include "core/backoff/server.h"
#include "core/client.h"
#include "selftests/core/model/search.h"

#define SERVERS_MAX	7

/* Codes of tokens, of 3 bits: 0 … plan.tokens, 5 at most, are themselves. */
#define MUCH		6	/* above the wall clock */
#define NOTHING		7	/* not known, not made, not heard */

#define WALL_NS		(1ull << 30)	/* what the servers' wall clocks show */

/** struct plan - the command line */
struct plan {
	u32 n, b, tokens;
	bool floors, intruder, late;
};

extern struct plan plan;

/**
 * struct m_server - one that does not lie
 * @floor:      what it knows of tokens before its start, NOTHING if it does not
 * @hi:         highest token of the lock, NOTHING when the lock is not in its table, or it does
 *              not know
 * @quarantine: it has not been up for long
 * @waits:      … and what was on offer at its restart still is
 * @stamped:    it has accepted what the holder offers; the answer is there, whatever came of it
 * @mine:       @hi was stamped for this holder
 * @told:       floors that were sent to this start of it, a bit each
 * @told_before: the lowest that was sent to an earlier start, NOTHING for none
 * @asked:      the client that tells is asking others for it
 * @top:        what it said when it was asked for another, NOTHING if it was not or did not know
 */
struct m_server {
	u8 floor, hi;
	u8 quarantine, waits, stamped, mine;
	u8 told, told_before;
	u8 asked, top;
};

/**
 * struct world
 * @offered: what the holder that waits for its token offers, 0 when there is none
 * @last:    highest token that some holder got
 * @old:     tokens that were offered before, a bit each
 * @stale:   the server that others are asked for has restarted, and the client has not heard of it
 * @ahead:   … but it has had STALE
 * @namesake: offers of others are of another client, with the number of the holder's attempt; else
 *            of its own client, and earlier
 * @wrong:   why the last step was wrong, enum wrong
 */
struct world {
	struct m_server server[SERVERS_MAX];
	u8 offered, last, old;
	u8 stale, ahead, namesake, wrong;
};

enum wrong { RIGHT, SAME_TOKEN, LOWER_TOKEN };

/** enum kind - of events; @server and @k (a token's code) of struct event say more */
enum kind {
	OFFER, STAMP, STAMP_OLD, WIN, END,
	RESTART, START_WITH_FLOOR, QUARANTINE_ENDS,
	ASK, HEAR, HEAR_OLD, TELL, HEAR_ASKED, HEAR_STALE, GIVE_UP, SECOND,
	RECOVER, RECOVER_OLD, INTRUDE, INTRUDE_ALL,
	KINDS
};

/** reached - how many events of each kind were enumerated that changed anything */
extern u64 reached[KINDS];

/** struct turn - what moves are made of: from a world, shown to a visitor */
struct turn {
	const struct world *w;
	struct visitor *v;
};

static inline u32 correct_servers(void)
{
	return plan.n - plan.b;
}

/** token_number() - of a code, as servers and clients know it */
u64 token_number(u8 code);

/** token_code() - back again; MUCH for all that is above the bound */
u8 token_code(u64 token);

/** known() - no higher token was stamped there, as far as it knows; NOTHING: it does not */
static inline u8 known(const struct m_server *s)
{
	if (s->floor == NOTHING)
		return NOTHING;
	return s->hi != NOTHING && s->hi > s->floor ? s->hi : s->floor;
}

/* world.c: the system that is searched. */
void token_system_init(struct system *sys);

/** has_twin() - is a server before it in the same state? Its effect is the same. */
bool has_twin(const struct world *w, u32 u);

/** emit() - what came of an event, if anything */
void emit(const struct turn *t, struct event e, struct world *next);

/* server.c */

#define NOW	(1000 * BFTM_NS_PER_SEC)	/* the clock of leases */
#define EPOCH	1				/* of a server's present start */
#define ATTEMPT	8				/* of the holder, client 1 */

/** struct running - a server while it serves */
struct running {
	struct bftm_server_cfg cfg;
	struct bftm_tokens tokens;
	struct bftm_lock lock;
	bool has_lock;
};

/** server_load() - server u of the world; what others had stamped is of a @namesake, or not */
void server_load(struct running *r, const struct m_server *s, u32 u, bool namesake);

/** server_step() - Return: what it answers, with its epoch */
struct bftm_msg server_step(struct running *r, const struct bftm_msg *req);

/** serve() - both, and back into the world */
struct bftm_msg serve(struct world *w, u32 u, const struct bftm_msg *req);

/** serve_stamp() - the holder @mine, or an earlier one, offers @token. Return: was it accepted? */
bool serve_stamp(struct world *w, u32 u, u8 token, bool mine);

/** serve_recover() - to the present start or an earlier one. Return: does it know more now? */
bool serve_recover(struct world *w, u32 u, u32 client, u8 token, bool before);

enum { TELLER = 3, PREFIX_ONLY = 50 };	/* clients, beside the holders 1 and 2 */

/* holder.c */
extern struct bftm_client_cfg holder_cfg;

/**
 * holder_offer() - what it offers next
 * @before: its last offer, 0 for none
 * @seen:   b + 1 servers say that this is the highest they know
 */
u8 holder_offer(u8 before, u8 seen);

/** holder_wins() - has it a token when it has heard all that stamped @offered, and liars? */
bool holder_wins(const struct world *w);

/** holder_live() - is a holder fenced, if all that do not lie answer? */
bool holder_live(const struct world *w);

/* teller.c: moves of the client that tells */
void teller_moves(const struct turn *t);

/** teller_recovers() - if all that do not lie answer, does the server that does not know learn? */
bool teller_recovers(struct world *w, u32 u, u8 liars_say);

/* live.c */

/** live_wrong() - what the rules promise, and is not so in this world; NULL when all is well */
const char *live_wrong(const struct world *w);

/* story.c */
void tell(const void *before, const struct event *e, const void *after);

#endif /* BFTM_TOKEN_WORLD_H */
