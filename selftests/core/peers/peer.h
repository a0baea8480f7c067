/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam between an algorithm of equal processes and the world that runs it. An algorithm is a
 * file of functions of its own state, which have no clock, no random numbers and no I/O: the world
 * calls them (struct peer_algorithm), and they act by peer_tell() and its siblings. The algorithms
 * are those of Coulouris, Dollimore, Kindberg, Blair: Distributed Systems, 5th edition, whose
 * sections and figures the files name; and protocols of papers, in which some of the processes are
 * servers that decide who of the others enters.
 */
#ifndef BFTM_PEER_H
#define BFTM_PEER_H

#include "core/wire.h"

#define PEERS_MAX	80	/* processes; of those of the textbook 64, so that a set is a u64 */
#define PEER_CROWD	128	/* processes of a crowd, of which servers keep something */
#define PEER_PATH_MAX	4	/* generals on the way of an order */
#define PEER_NOBODY	(~0u)
#define PEER_MONEY	100	/* of each process before a snapshot */
#define PEER_UNIT	1000	/* ticks: the mean time that a message takes */
#define PEER_TRANSIT	(2 * PEER_UNIT)	/* ticks: the longest, in a synchronous network */

/** enum peer_assumption - what an algorithm needs of the world, as bits */
enum peer_assumption {
	ASSUME_ONCE = 1,	/* each message arrives, and once */
	ASSUME_FIFO = 2,	/* messages of a pair arrive in the order of their sending */
	ASSUME_NO_CRASH = 4,	/* no process stops */
	ASSUME_SYNC = 8,	/* no message takes longer than PEER_TRANSIT */
	ASSUME_OUTLIVE = 16,	/* a message arrives although its sender crashes later */
	ASSUME_MEMORY = 32,	/* no server forgets what it knew */
	ASSUME_HONEST = 64,	/* no server lies */
};

/** enum peer_repair - what the printed form lacks or leaves to the reader, as bits */
enum peer_repair {
	REPAIR_LC2 = 1,		/* a clock that hears of a later time is set: rule LC2 of 14.4 */
	REPAIR_SET = 2,		/* the repliers of this request are a set, not a count */
	REPAIR_FAIL = 4,	/* a waiter that another one displaces is told so (Sanders) */
	REPAIR_NUMBERS = 8,	/* votes have numbers, which INQUIRE and YIELD repeat */
	REPAIR_PAIR = 16,	/* equal numbers are ordered by their processes */
	REPAIR_BEFORE = 32,	/* a message is passed on before it is delivered */
	REPAIR_HEARD = 64,	/* values that the last round brings count (Figure 15.17) */
	REPAIR_SEND = 128,	/* a lease counts from the sending of what asks for it */
	REPAIR_INSIDE = 256,	/* a process inside does not give back what it needed to enter */
	REPAIR_OVER = 512,	/* a request that is over ends no other one, and does not begin */
	REPAIR_RAISE = 1024,	/* a reader that cannot decide comes first */
	REPAIR_TOLD = 4096,	/* those that wait are told of each new owner */
	REPAIR_GRANTS = 8192,	/* an owner's turns have numbers, which YIELD repeats */
	REPAIR_QUARANTINE = 2048, /* a server that has forgotten grants nothing for a while */
};

/** enum peer_rule - what may be broken, as bits */
enum peer_rule {
	RULE_ME1 = 1 << 0,		/* two processes are in the critical section */
	RULE_ME2 = 1 << 1,		/* a correct process waits for ever */
	RULE_ME3 = 1 << 2,		/* a request overtakes one that happened before */
	RULE_E1 = 1 << 3,		/* not the largest live process is elected */
	RULE_E2 = 1 << 4,		/* a correct process never learns who is elected */
	RULE_INTEGRITY = 1 << 5,	/* delivered twice or never sent; not proposed */
	RULE_VALIDITY = 1 << 6,		/* a correct sender does not deliver its own message */
	RULE_AGREEMENT = 1 << 7,	/* correct processes deliver, or decide, different things */
	RULE_UNIFORM = 1 << 8,		/* … or others than one that crashed */
	RULE_FIFO = 1 << 9,		/* messages of one sender are delivered in another order */
	RULE_CAUSAL = 1 << 10,		/* … before a message that happened before */
	RULE_TOTAL = 1 << 11,		/* two processes deliver in two orders */
	RULE_TERMINATION = 1 << 12,	/* a correct process never decides, or never records */
	RULE_CUT = 1 << 13,		/* the recorded state was never possible */
	RULE_VALUE = 1 << 14,		/* a value is read that is not that of the last writer */
};

/** enum peer_task - what an algorithm is for, so which of its functions are called */
enum peer_task {
	TASK_MUTEX,	/* want, leave */
	TASK_ELECTION,	/* call */
	TASK_MULTICAST,	/* cast */
	TASK_AGREEMENT,	/* propose */
	TASK_SNAPSHOT,	/* cast: pass money on; call: record */
};

/**
 * struct peer_note - a message of any algorithm, each of which uses what it needs
 * @kind:   the algorithm's own; names are in its table
 * @length: of @path
 * @path:   the generals through which an order came
 * @who:    a process that the message speaks of
 * @number: of a request, a message, a round
 * @grant:  the number of a vote
 * @stamp:  a Lamport number, or the place of a message in the total order
 * @value:  what is proposed, delivered or paid
 * @clock:  the sender's Lamport clock, set by the world
 * @vector: a vector timestamp
 * @core:   a message of our own protocol, up to its name
 */
struct peer_note {
	u8 kind;
	u8 length;
	u8 path[PEER_PATH_MAX];
	u32 who;
	u32 number;
	u32 grant;
	u32 stamp;
	u32 value;
	u32 clock;
	u16 vector[PEERS_MAX];
	u64 core[(offsetof(struct bftm_msg, name) + 7) / 8];
};

/**
 * struct peer - a process, as its algorithm sees it
 * @id:    0 … @n - 1
 * @rank:  its identifier in elections; the largest one is to be elected
 * @servers: processes 0 … @servers - 1 are servers, and do not want to enter
 * @majority: servers whose votes let a process enter; 0: as many as the algorithm says
 * @reads: it wants to enter beside others that read
 * @value: that it leaves, if it does not read
 * @hold:  ticks: no holder stays longer
 * @lease: ticks: Δ of ours, 0 for a long one
 * @f:     how many processes may fail, for algorithms that ask
 * @lacks: bits of enum peer_repair that are taken away
 * @clock: Lamport's, which the world keeps by the rules LC1 and LC2 of Section 14.4
 * @state: of the algorithm, all zero at first
 * @world: no business of the algorithm
 */
struct peer {
	u32 id;
	u32 n;
	u32 rank;
	u32 servers;
	u32 majority;
	u32 hold;
	u32 lease;
	bool reads;
	u32 value;
	u32 f;
	u32 lacks;
	u32 clock;
	void *state;
	struct peer_world *world;
};

/**
 * struct peer_algorithm - one file
 * @name:     for the command line
 * @section:  of the textbook
 * @kinds:    names of its messages, by kind
 * @assumes:  bits of enum peer_assumption
 * @repairs:  bits of enum peer_repair that it has and that can be taken away
 * @promises: bits of enum peer_rule that hold with what it assumes
 * @servers:  of processes, if not given: the first, which are no clients; of generals the commander
 * @most:     processes that it can have; 0: PEERS_MAX
 * @size:     bytes of its state
 * @start:    before anything else, also of a process that replaces one that crashed
 * @hear:     a message has arrived
 * @lie:      … at a server that lies; NULL: the values of its messages are lies
 * @wake:     the time of peer_wake_after() has come
 * @want:     to enter the critical section
 * @leave:    … is over
 * @call:     an election, since the process of rank @failed has crashed, or PEER_NOBODY has; or a
 *            snapshot
 * @cast:     multicast a message, which @value names; or pay somebody something
 * @propose:  a value
 */
struct peer_algorithm {
	const char *name;
	const char *section;
	const char *const *kinds;
	enum peer_task task;
	u32 assumes;
	u32 repairs;
	u32 promises;
	u32 servers;
	u32 most;
	size_t size;
	void (*start)(struct peer *p);
	void (*hear)(struct peer *p, u32 from, const struct peer_note *note);
	void (*lie)(struct peer *p, u32 from, const struct peer_note *note);
	void (*wake)(struct peer *p);
	void (*want)(struct peer *p);
	void (*leave)(struct peer *p);
	void (*call)(struct peer *p, u32 failed);
	void (*cast)(struct peer *p, u32 value);
	void (*propose)(struct peer *p, u32 value);
};

/** peer_tell() - send a copy of @note to process @to, which may be the sender. */
void peer_tell(struct peer *p, u32 to, const struct peer_note *note);

/** peer_wake_after() - call wake() after so many ticks, instead of what was asked before. */
void peer_wake_after(struct peer *p, u64 ticks);

/** peer_now() - ticks by the clock of any process. */
u64 peer_now(const struct peer *p);

/** peer_random() - 0 … @below - 1. */
u64 peer_random(struct peer *p, u64 below);

/** peer_enter() - the process is in the critical section; the world calls leave(). */
void peer_enter(struct peer *p);

/** peer_read() - before peer_enter(): the value that the last writer left. */
void peer_read(struct peer *p, u32 value);

/** peer_elected() - the process takes this rank for elected; PEER_NOBODY: as yet none. */
void peer_elected(struct peer *p, u32 rank);

/** peer_deliver() - a message, by the value that cast() was given, is delivered. */
void peer_deliver(struct peer *p, u32 value);

/** peer_decide() - the process decides for good. */
void peer_decide(struct peer *p, u32 value);

/** peer_record() - the process records its own state; it has so much money. */
void peer_record(struct peer *p, u32 value);

/** peer_record_channel() - … and the state of the channel from @from: money under way. */
void peer_record_channel(struct peer *p, u32 from, u32 value);

/** peer_send_all() - a copy to each process; also to itself if @self. */
static inline void peer_send_all(struct peer *p, const struct peer_note *note, bool self)
{
	u32 to;

	for (to = 0; to < p->n; to++)
		if (self || to != p->id)
			peer_tell(p, to, note);
}

/** peer_all() - the set of all processes. */
static inline u64 peer_all(const struct peer *p)
{
	return ~0ull >> (64 - p->n);
}

/** peer_send_servers() - a copy to each server. */
static inline void peer_send_servers(struct peer *p, const struct peer_note *note)
{
	u32 to;

	for (to = 0; to < p->servers; to++)
		peer_tell(p, to, note);
}

/** peer_majority() - servers whose votes let a process enter: more than half, or as given. */
static inline u32 peer_majority(const struct peer *p)
{
	return p->majority ?: p->servers / 2 + 1;
}

/** peer_has() - is this repair of the algorithm in force? */
static inline bool peer_has(const struct peer *p, enum peer_repair repair)
{
	return !(p->lacks & repair);
}

/** peer_algorithms - all, up to NULL */
extern const struct peer_algorithm *const peer_algorithms[];

#endif /* BFTM_PEER_H */
