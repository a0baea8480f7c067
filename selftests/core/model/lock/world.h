/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small cluster of the shipped cores, seen from outside time.
 *
 * Time. A clock with rate r shows r · t, less 0 or BFTM_TICK_NS: whether what
 * it shows is fresh or one whole tick old is chosen anew at each reading. Real
 * clocks of that granularity are less than a tick behind; to allow all of it
 * makes every rule of rounding matter (strictly later, a tick on either side),
 * each of which can then be seen to be necessary. ρ is BFTM_RHO_MAX_PPM, a
 * tenth, and Δ the least multiple of 10 · plan.steps ns that is not below
 * BFTM_LEASE_MIN_NS: so Δ(1 ± ρ), and what a clock of rate 1 ± ρ gains from
 * one instant to the next, are whole numbers of ns, no comparison in a core
 * depends on how a product was rounded, and no constant of the cores is
 * changed. A slow client's lease and a fast server's grant both end exactly Δ
 * of true time after they began, give or take the ticks: the cores have nothing
 * in reserve here.
 *
 * Things happen at the instants d · S + i · ε, S being a lease divided by
 * plan.steps and 0 <= i < plan.instants. With ε of ten ticks the choice of a
 * reading never decides: with worst clocks, all comparisons are whether the
 * true time between two events is at most Δ (a holder) or more than Δ (a
 * server). That is told by the whole leases in both times and by the order of
 * what is left over; so what is left over may be shrunk to 0, ε, 2ε … in the
 * same order and nothing changes. So a search covers every run in continuous
 * time whose events leave over at most plan.instants different rests (or rests
 * near so many of the plan.steps points of a lease), but for those with rests
 * less than two ticks apart. For them there is plan.fine: ε is a tenth of a
 * tick then, and everything is decided by readings. With other clocks the
 * bounds are not whole leases, and the instants are samples.
 *
 * Messages. The network keeps everything for ever: what was sent may arrive at
 * any time, any number of times, in any order, or never. So "in flight" needs
 * no memory for what was certainly sent:
 *
 * - TRY k of the current attempt, to every server, from its send on. (The
 *   core repeats to silent servers only; to all is a superset, and what
 *   Section 4 of the protocol asks for.)
 * - TRY, FREE, RELEASE of attempts that are over, and LOCKED, WAIT from
 *   everybody: always. Some may not have been sent; that is a superset too.
 * - FREE of the current attempt from a correct server: struct m_server.flight.
 *
 * With a queue (plan.queue), each a superset:
 *
 * - The queue of a server is chosen again at each event there: nobody, or any
 *   attempts that go on, with their last send. For a TRY may always arrive once
 *   more, and who is not heard is forgotten some time.
 * - INQUIRE about its last grant, from every server to the attempt that owns
 *   it, once somebody with a better priority has asked somewhere.
 * - YIELD of what a client was asked to yield, and FREE for it, always.
 *
 * FREE for grants that were never yielded are alike. INQUIRE about grants that
 * others followed without a YIELD is not delivered: it can only take FREE away.
 * Priorities are the numbers of attempts; among equals the first client goes
 * first.
 *
 * With plan.held, another superset:
 *
 * - Any TRY and YIELD says that its client holds, or that it does not, whatever is true; and
 *   what an owner, and who waits, has said is chosen anew at each event. So renewals are in
 *   it, those that come late, and clients that say what is false.
 * - INQUIRE may be about any grant, once the other has begun.
 * - A holder sends TRY again, with the next k.
 *
 * Liars remember nothing. Each may send anything about any attempt, at the
 * instant at which it is delivered; that is as good as having sent it before.
 * Messages to them have no effect.
 */
#ifndef BFTM_MODEL_WORLD_H
#define BFTM_MODEL_WORLD_H

#include "core/backoff/client.h"
#include "core/backoff/server.h"
#include "selftests/core/model/search.h"

typedef int32_t s32;

#define SERVERS_MAX	7
#define CLIENTS_MAX	3
#define SENDS_MAX	BFTM_ROUND_SENDS
#define NOW		(1ull << 40)	/* what a fresh clock shows, always */
#define NEVER		INT32_MIN	/* ns left of what is over */

/* With plan.attempts = 0 the current attempt has this number, see reduce.c. */
#define CURRENT		2

/** enum speeds - which clocks there are */
enum speeds {
	SPEEDS_WORST,		/* fast servers, slow clients */
	SPEEDS_ALL,		/* every choice of fast and slow for everybody */
	SPEEDS_EVEN,		/* rate 1, and all keep to it */
};

/**
 * struct plan - what is enumerated
 * @n:         servers
 * @b:         liars that the clients reckon with
 * @liars:     liars that there are, the last of the servers
 * @clients:   how many
 * @attempts:  of each client; 0 for any number
 * @sends:     of each attempt, at most
 * @restarts:  of correct servers, together
 * @m:         grants that win a lock, 0 for F
 * @first_m:   of the first client, 0: the same
 * @forgets:   so many different servers may restart without a quarantine within one, any number of
 *             times; 0: servers keep it
 * @says:      … and so many as they say
 * @steps:     parts of a lease
 * @instants:  at the beginning of each part
 * @fine:      instants that are less than a tick apart
 * @speeds:    see there
 * @uneven:    the last client asks for twice the lease
 * @queue:     bit c: client c waits in the queue; 0 for none. With two clients
 * @literal:   of struct bftm_client_cfg
 * @without:   bit r: leave out reduction Rr, see reduce.c
 * @silent:    the liars say nothing
 * @twice:     run each step with other values in fields that must not matter
 * @held:      messages say what is held; with @queue
 */
struct plan {
	u32 n, b, liars, clients, attempts, sends, restarts, steps, instants, queue;
	u32 m, first_m, forgets, says;
	enum speeds speeds;
	u32 without;
	bool fine, uneven, literal, silent, twice, held;
};

extern struct plan plan;

#define REDUCTIONS	6	/* R1 … R6 */

/* Is reduction Rr used? */
static inline bool uses(u32 r)
{
	return !(plan.without & 1u << r);
}

/** enum fault - what a client must never be told */
enum fault {
	FAULT_NONE,
	FAULT_LATE,		/* won, when the lease was over already */
	FAULT_REVIVED,		/* inside again after the end */
	FAULT_RELEASED,		/* sent RELEASE of an attempt that is not over, or YIELD */
};

/**
 * enum grant - which grant of a server to an attempt a message is about
 *
 * A core only asks whether one number is larger than another, or whether it is
 * the server's last. So of those that were yielded one stands for all.
 */
enum grant {
	GRANT_NONE,
	GRANT_OLD,		/* yielded, and another was made since */
	GRANT_LAST,
	GRANT_NEXT,		/* only liars know it */
};

/* No padding in what follows, so that memcmp() compares. */

/** struct m_server - a correct server; of a liar only @fast, 0 */
struct m_server {
	s32 left;		/* ns until the grant ends, by its own clock */
	s32 quarantine;		/* likewise */
	u8 owner;		/* client + 1, 0 for nobody */
	u8 attempt;		/* of the owner */
	u8 fast;
	u8 k;			/* highest send of the owner, with plan.held; else 0 */
	u8 tomb[4];		/* of each client, 0 for none */
	u8 flight[4];		/* bit k - 1: FREE k of its attempt was sent */
	/* With plan.queue, for each client: */
	u8 yielded[2];		/* enum grant: the highest that it was asked to yield */
	u8 waits[2];		/* k with which it waits, 0 for not; for one event only … */
};

#define WAITS_HELD	0x80	/* … and says that it holds */

/** struct m_known - what a client knows of one server */
struct m_known {
	s32 age;		/* of the send that FREE answered, in ns */
	u8 type;
	u8 k;
	u8 yielded;		/* of a liar; enum grant */
	u8 spare;
};

/** struct m_client - phase BACKOFF counts as DEAD: both just begin again */
struct m_client {
	s32 age[SENDS_MAX];	/* ns since send k, by its own clock */
	u8 phase, attempt, sends, fast;
	struct m_known known[SERVERS_MAX];
};

struct world {
	struct m_server server[SERVERS_MAX];
	struct m_client client[CLIENTS_MAX];
	u8 restarts, fault;
	u8 instant;		/* of this part of a lease */
	u8 spare;
	s32 part;		/* of leases, for stories; not packed */
};

static_assert(sizeof(struct m_server) == 24);
static_assert(sizeof(struct m_known) == 8);
static_assert(sizeof(struct m_client) == 4 * SENDS_MAX + 4 + 8 * SERVERS_MAX);

static inline u32 correct_servers(void)
{
	return plan.n - plan.liars;
}

static inline bool is_liar(u32 u)
{
	return u >= correct_servers();
}

/* Is this attempt of client c over? */
static inline bool is_over(const struct world *w, u32 c, u32 attempt)
{
	const struct m_client *m = &w->client[c];

	return attempt < m->attempt ||
	       (attempt == m->attempt && m->phase == BFTM_PHASE_DEAD);
}

/* node.c: the cores, and the clocks they read */

/** node_setup() - once, after plan is known. */
void node_setup(void);

/** node_lease() - Δ of a client in ns. */
u64 node_lease(u32 c);

/** node_pace() - ns that a clock gains in a part of a lease. */
s32 node_pace(bool fast);

/** node_gain() - ns that it gains from this instant of a part to the next. */
s32 node_gain(u8 instant, bool fast);

/** node_server() - TRY or RELEASE arrives; fills in e->reply. */
void node_server(struct world *w, struct event *e);

/** node_expire() - the timer of a server. */
void node_expire(struct world *w, const struct event *e);

/** node_restart() - a server loses its memory. */
void node_restart(struct world *w, const struct event *e);

/** node_act() - a client does START, RESEND, STOP or LAPSE. */
void node_act(struct world *w, const struct event *e);

/** node_answer() - a reply arrives at a client; sets e->won. */
void node_answer(struct world *w, struct event *e);

/** node_left() - ns until the client's end, as its oldest reading has it. */
int64_t node_left(const struct world *w, u32 c);

/** node_inside() - may the client be using the resource now? */
bool node_inside(const struct world *w, u32 c);

/** node_useful() - can a FREE for this send still help anybody in? */
bool node_useful(u32 c, s32 age);

/* moves.c, reduce.c, pack.c, story.c */

/** enum kind - of an event */
enum kind {
	STEP,		/* true time goes on to the next instant */
	START, RESEND, STOP, LAPSE,
	ANSWER,		/* a reply arrives at a client */
	WIN,		/* all FREE that there are arrive, and it gets in */
	REQUEST,	/* TRY or RELEASE arrives at a server */
	RESTART,
	EXPIRE,			/* the timer of a server */
};

void world_starts(struct visitor *v);
void world_moves(const void *world, struct visitor *v);
const char *world_wrong(const void *world);

/** settle() - drop what cannot matter, exactly. */
void settle(struct world *w);

/** reduce() - a world that can do all that this one can, see reduce.c. */
void reduce(struct world *w);

/** gains() - can @after do anything that @before cannot? */
bool gains(const struct world *before, const struct world *after);

/** world_pack_length() - bytes, after plan is known. */
size_t world_pack_length(void);
void world_pack(const void *world, u8 *packed);
void world_unpack(const u8 *packed, void *world);

void world_tell(const void *before, const struct event *e, const void *after);

/* paper.c: Figure 1 as printed */

/** struct paper_plan - see there */
struct paper_plan {
	u32 n, b, liars, q, lease, delay;
	bool asynchronous;
};

extern struct paper_plan paper_plan;
extern const struct system paper_system;

#endif /* BFTM_MODEL_WORLD_H */
