/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members: a small cluster whose clients hold a lock in EX without a lease. No time passes. What can
 * happen at any moment, to anybody:
 *
 * - A server restarts and forgets what it granted; evictions, and its roll, outlast that. At most
 *   --restarts, together.
 * - A client says HELLO all the time. Each HELLO is answered by each start of the server from then
 *   on, and each CHALLENGE arrives at any time, or never. So a client may be told of each start since
 *   it has voided its numbers last, and, if the core believes what is void, of each one before.
 * - A client says SYNC as soon as it may: it need not arrive.
 * - A client begins, has won, and stops. It makes one attempt in each boot.
 * - The power of the first client's host is cut off, and comes back once: another boot, which
 *   remembers nothing. With --crashes.
 * - A server evicts the first boot of that client, while that is off; with --early at any time.
 * - With --roll, a server notes the client that it has heard of.
 *
 * Messages stay in the network and arrive at any time, any number of times: TRY and SYNC at the start
 * that they name, as long as the server has heard of no later boot of the client (its window); FREE
 * at the client. An attempt that is stopped is released everywhere at once, and nothing of it arrives
 * later. Requests ask once and are not queued: a TRY that arrives again stands for a place in the
 * queue. LOCKED, WAIT, INQUIRE and PROBE are not told: a client may stop at any time.
 *
 * Liars say FREE to the last send, at once. They never restart: that lets no client in.
 */
#ifndef BFTM_MODEL_MEMBERS_H
#define BFTM_MODEL_MEMBERS_H

#include "world.h"

#define L_SERVERS	4
#define L_CLIENTS	2
#define L_BOOTS		2
#define L_STARTS	3	/* of a server */
#define L_SENDS		4	/* of an attempt: TRY, and REASSERT after each restart */

/** struct members_plan - what --members adds to struct plan */
struct members_plan {
	bool on, crashes, early, roll;
};

extern struct members_plan members_plan;

/* No padding in what follows. Sets of starts have bit s for the s-th start, from 1. */

/**
 * struct l_share - of one client at one server
 * @k:       send that has the grant of the attempt of each boot; 0: there is none
 * @held:    … and the client said that it holds the lock
 * @window:  newest boot that this start of the server has heard of
 * @awaited, @evicted, @noted: of struct bftm_member
 * @tries:   of each boot and send, starts for which the TRY is in flight
 * @frees:   … starts of which a FREE is in flight
 * @syncs:   of each boot, starts for which SYNC is in flight
 * @fresh:   start that the server had when the client has voided its numbers last
 * @epoch, @sent: epoch and sent_epoch of struct bftm_peer_epochs
 * @answered, @reasserts: the send that counts, and whether the server is to be told
 */
struct l_share {
	u8 k[L_BOOTS], held[L_BOOTS];
	u8 window, awaited, evicted, noted;
	u8 tries[L_BOOTS][L_SENDS], frees[L_BOOTS][L_SENDS];
	u8 syncs[L_BOOTS];
	u8 fresh, epoch, sent;
	u8 answered, reasserts;
};

/**
 * struct l_column - a server, and all that concerns it
 * @start:   number of its start, from 1
 * @awaited: of struct bftm_members
 */
struct l_column {
	struct l_share share[L_CLIENTS];
	u8 start, awaited;
};

/**
 * struct l_member - a client
 * @boot:    1 or 2
 * @runs:    its power is on
 * @begun:   it has made its attempt
 * @asserts: bit k: send k is REASSERT
 */
struct l_member {
	u8 boot, runs, begun, phase, sends, asserts;
};

/**
 * struct members_world
 * @over: a client sends more than there is room for, which no correct core does: not looked at
 */
struct members_world {
	struct l_column server[L_SERVERS];
	struct l_member client[L_CLIENTS];
	u8 over;
};

/** enum members_kind - of events, beside START, STOP, ANSWER */
enum members_kind {
	L_CHALLENGE = 100, L_TRY, L_SYNC, L_RESTART, L_CUT, L_BOOT, L_EVICT,
	L_NOTE, L_KINDS,
};

extern u64 members_reached[L_KINDS], members_over;

/* members_client.c */

/** members_act() - START, STOP, ANSWER or L_CHALLENGE of a client. */
void members_act(struct members_world *w, const struct event *e);

/** members_forget() - nothing of an attempt is left anywhere. */
void members_forget(struct members_world *w, u32 c, u32 boot);

/** members_inside() - does the client use what the lock protects? */
bool members_inside(const struct members_world *w, u32 c);

/* members_server.c */

/** members_serve() - L_TRY or L_SYNC arrives, or the server evicts. */
void members_serve(struct members_world *w, struct event *e);

/** members_start() - a server that knows nothing; all clients are awaited, or those of its roll. */
void members_start(struct members_world *w, u32 u);

/* members.c */
struct system members_system(void);

/* members_story.c */
void members_tell(const void *before, const struct event *e, const void *after);
void members_report(void);

#endif /* BFTM_MODEL_MEMBERS_H */
