/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modes: a small cluster whose clients hold a lock in modes, and convert. Time, clocks and the
 * network are those of world.h, with worst clocks; what differs is said here.
 *
 * - Each client begins in any mode of --modes, converts to any of them, keeps what it has instead,
 *   renews and stops, at any time, and lapses when its lease is over. Each attempt has at most
 *   --sends sends and --conversions conversions; a client that is done may begin again, any number
 *   of times. An attempt that is over is released everywhere at once, and nothing of it arrives
 *   later: reduction R2.
 * - With --timeless no time passes, and a lease has no end.
 * - All clients wait in the queue; the first has the best priority. The queue of a server is chosen
 *   anew at each event: any TRY may arrive once more, and a waiter may be forgotten at any time.
 * - INQUIRE about the newest grant, and YIELD of it, stay in flight. INQUIRE about an earlier one
 *   only takes FREE away, and a server takes no YIELD of it.
 * - FREE arrives at once, and any number of times later: R3. With --without 3 it also arrives late
 *   for the first time. One that tells less than another in every way is left out.
 * - DEADLK is not told: a client that hears it keeps what it has, which it may do at any time.
 * - Liars say FREE in EX to the last send, and do so at once. Less does not help any client in.
 *
 * Grants of a server to an attempt are numbered from 1. A core only compares numbers of one attempt
 * at one server, so those that are not used any more are left out, and those that were yielded are
 * alike. Worlds with more than GRANTS of them at a time are not looked at.
 */
#ifndef BFTM_MODEL_MODES_H
#define BFTM_MODEL_MODES_H

#include "world.h"

#define MODES_SENDS	5	/* of an attempt */
#define GRANTS		4	/* of an attempt by one server that are told apart */

/**
 * struct modes_plan - what --modes adds to struct plan
 * @modes:       that clients ask for, a bit each; 0: no world of modes is asked for
 * @conversions: of each attempt, up and down together
 * @timeless:    time does not pass
 */
struct modes_plan {
	u32 modes, conversions;
	bool timeless;
};

extern struct modes_plan modes_plan;

/* No padding in what follows, so that memcmp() compares. */

/**
 * struct m_share - of one client at one server
 * @left:    ns until the grant ends, by the server's clock
 * @mode, @want, @held, @k: of struct bftm_party; 0 when it has no grant
 * @grant:   number of its newest grant, there or gone
 * @keeps:   bit m: YIELD of that grant that keeps mode m is in flight
 * @inquiries: bit m: INQUIRE about that grant in mode m is
 * @known_k, @granted, @yielded: of struct bftm_answer
 * @from, @more: likewise, the sends at those times; 0 for none
 * @flight:  of each grant and send, bit m: FREE in mode m was sent
 */
struct m_share {
	s32 left;
	u8 mode, want, held, k;
	u8 grant, keeps, inquiries;
	u8 known_k, granted, yielded, from, more;
	u8 flight[GRANTS][MODES_SENDS];
};

/**
 * struct m_asker - a client
 * @age:   ns since send k, by its clock
 * @held, @want: modes; @want is what it asks for
 * @cut_k: of struct bftm_contend
 * @tried, @said: mode of send k, and what it says to be held
 */
struct m_asker {
	s32 age[MODES_SENDS];
	u8 phase, held, want, sends, cut_k, conversions;
	u8 tried[MODES_SENDS], said[MODES_SENDS];
};

/**
 * struct modes_world
 * @over: a grant could not be told apart from others: not looked at
 */
struct modes_world {
	struct m_share share[SERVERS_MAX][CLIENTS_MAX];
	struct m_asker client[CLIENTS_MAX];
	u8 instant, fault, over, spare;
	s32 part;
};

static_assert(sizeof(struct m_share) == 36);
static_assert(sizeof(struct m_asker) == 36);

/** enum modes_fault - beside enum fault */
enum modes_fault {
	FAULT_YIELDED = FAULT_RELEASED + 1,	/* a client gave a mode back that it holds */
};

/** enum modes_kind - of events, beside enum kind */
enum modes_kind {
	CONVERT = EXPIRE + 1,	/* to event.mode */
	KEEP,
	LOOK,			/* a server looks who is next */
};

/* modes_client.c */

/** modes_act() - START, RESEND, STOP, LAPSE, CONVERT or KEEP of a client. */
void modes_act(struct modes_world *w, const struct event *e);

/** modes_answer() - FREE of a mode and grant, or INQUIRE, arrives at a client. */
void modes_answer(struct modes_world *w, const struct event *e);

/** modes_inside() - the mode in which a client may be using the resource, NL for none. */
enum bftm_mode modes_inside(const struct modes_world *w, u32 c);

/** modes_number() - of a grant, as cores have it. */
static inline u64 modes_number(u8 grant)
{
	return grant ? 100ull + grant : 0;
}

/* modes_server.c */

/**
 * modes_serve() - TRY, YIELD or RELEASE arrives at a server, or it looks by itself
 * @waits: of each client the k of a TRY by which it waits there; 0: it does not, or has a grant
 */
void modes_serve(struct modes_world *w, struct event *e, const u8 waits[CLIENTS_MAX]);

/* modes.c */

/** struct modes_reached - how many steps there were of a kind, and how many were not looked at */
struct modes_reached {
	u64 up, down, shared, over;
};

extern struct modes_reached modes_reached;

/** modes_system() - after modes_setup() */
struct system modes_system(void);

/* modes_pack.c */

/** modes_setup() - once, after plan is known. */
void modes_setup(void);

/** modes_settle() - drop what no core will look at again. */
void modes_settle(struct modes_world *w);

size_t modes_pack_length(void);
void modes_pack(const void *world, u8 *packed);
void modes_unpack(const u8 *packed, void *world);

/* modes_story.c */
void modes_tell(const void *before, const struct event *e, const void *after);

/** modes_report() - print what was reached */
void modes_report(void);

#endif /* BFTM_MODEL_MODES_H */
