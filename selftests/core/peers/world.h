/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world of equal processes in virtual time, all of it drawn from one seed: network.c takes
 * messages from one to the other, app.c uses what the algorithm offers, check.c judges.
 */
#ifndef BFTM_PEER_WORLD_H
#define BFTM_PEER_WORLD_H

#include "selftests/core/sim/queue.h"
#include "selftests/core/sim/rng.h"
#include "peer.h"

#define PEER_KINDS	8	/* of messages of an algorithm */
#define CASTS_MAX	64	/* messages of a run, so that a set of them is a u64 */
#define NO_MESSAGE	(~0u)
#define RULES		15
#define PEER_STATE_MAX	131072	/* bytes of an algorithm's state */

/** enum peer_failure - what happens in a run that compares protocols */
enum peer_failure {
	FAIL_NOTHING,
	FAIL_IDLE,	/* a process crashes that does not want to enter */
	FAIL_HOLDER,	/* a process crashes as it enters */
	FAIL_SERVER,	/* process 0 crashes */
	FAIL_LIAR,	/* process 0 lies; where it is no server, one that does not want to enter */
};

/**
 * struct peer_plan - what is asked for
 * @n:        processes, 2 … PEERS_MAX
 * @servers:  of these, the first; 0: as many as the algorithm says
 * @majority: servers whose votes let a process enter; 0: as the algorithm says
 * @without:  bits of enum peer_assumption that are taken away although the algorithm needs them
 * @lacks:    bits of enum peer_repair that are taken away
 * @judge:    bits of enum peer_rule that make a run bad
 * @fifo:     the link keeps the order although the algorithm does not ask for it
 * @exact:    each message takes PEER_UNIT ticks, nothing is lost or doubled
 * @loss_pct: of datagrams, below the link
 * @double_pct: of datagrams
 * @slow_pct: of datagrams take much longer than PEER_TRANSIT; with ASSUME_SYNC taken away
 * @reads_pct: of requests are to enter beside others that read
 * @tell_pct: of requests are told to another process, which wants to enter then, too
 * @entries:  into the critical section, of each process
 * @casts:    messages that each process multicasts
 * @f:        processes that may fail, for those that ask
 * @wanting:  the processes that want to enter, or cast; of an exact run, or call; as a set, whose
 *            last bit stands for all above as well
 * @stagger:  ticks between the wishes of two processes, of an exact run
 * @forgets:  servers that forget all they know once, with ASSUME_MEMORY taken away
 * @crashes:  the most that crash, where the algorithm bears it or ASSUME_NO_CRASH is taken away
 * @replace:  a process that crashed is replaced by one with its rank
 * @patterns: seed S is pattern S of all ways to fail, which patterns.c counts
 * @until:    ticks: the run ends, and not when all have entered, with no failure but
 *            @failure; 0: when all is done
 * @idle:     the process of FAIL_IDLE
 * @failure:  … at @fails_at, or just after
 * @trace:    print all that happens
 */
struct peer_plan {
	const struct peer_algorithm *algorithm;
	u32 n, servers, majority, without, lacks, judge;
	bool fifo, exact, replace, trace, patterns;
	u32 reads_pct, loss_pct, double_pct, slow_pct, tell_pct;
	u32 entries, casts, f, crashes, forgets, stagger;
	u64 wanting, until, fails_at;
	u32 idle;
	enum peer_failure failure;
};

/** struct peer_message - one message, and the state of both ends of its link */
struct peer_message {
	struct peer_note note;
	u16 past[PEERS_MAX];	/* the sender's vector clock, by which ME3 is judged */
	u32 from, to;
	u32 next;		/* of the same pair, for links that keep the order */
	bool arrived, acknowledged;
	bool is_tale;		/* of the application: it knows that the sender wants to enter */
	bool is_after;		/* sent after the sender recorded its state */
};

/** enum peer_state - of a process in the mutual exclusion's application */
enum peer_state { RELEASED, WANTED, HELD };

/**
 * struct peer_host - what the world knows of a process
 * @crash_step: it crashes in this step of those in which it sends, from 1 on; 0: in none
 * @crash_set:  … and only these processes get what it sends in that step
 * @is_cut:     a message of this step was lost by the crash; whatever comes later does not happen
 * @lies:       the value of each message it sends is the next bit of @lie
 * @past:       its vector clock
 * @request:    @past when it asked to enter
 * @elected:    a rank or PEER_NOBODY
 * @order:      what it delivered, in order
 * @set:        the same, as a set
 * @before:     by message: what was delivered before it
 */
struct peer_host {
	struct peer peer;
	bool is_dead, is_cut, is_replaced, lies;
	u32 crash_step, steps;
	u64 crash_set;
	u64 wake_at;
	u16 past[PEERS_MAX];
	enum peer_state state;
	u32 entered, left;
	u16 request[PEERS_MAX];
	u32 elected;
	u32 delivered;
	u64 set, cast, known;
	u64 before[CASTS_MAX];
	bool is_decided, is_recorded;
	u32 decision, recorded, recorded_channels;
	u64 lie;
};

/** struct peer_counts - for formulas */
struct peer_counts {
	u64 messages;	/* that the algorithm sent to others than the sender */
	u64 kinds[PEER_KINDS];	/* the same, by kind */
	u64 entries;
	u64 client_delay;	/* ticks from the wish to the entry, all entries together */
	u64 handovers, handover_delay;	/* from an exit to the next entry of somebody who waited */
	u64 entered_at, pause;	/* ticks: the last entry; the longest time between two */
	u64 ended;	/* ticks: the last time that something was elected, delivered, decided */
};

/** struct peer_world - a run */
struct peer_world {
	const struct peer_plan *plan;
	struct queue queue;
	struct rng network, app, fault, choice;
	u64 now;
	struct peer_host host[PEERS_MAX];
	struct peer_message *message;
	u32 messages, room;
	u32 head[PEERS_MAX][PEERS_MAX], tail[PEERS_MAX][PEERS_MAX];
	u32 step_sends;
	u32 holders, writers;	/* the latter are those that do not read */
	u32 written;		/* the last value that a writer left */
	u64 wanted_at[PEERS_MAX], left_at;
	bool is_failed;		/* the plan's failure has happened */
	bool is_contended;	/* somebody waited when the last holder left */
	u64 depends[CASTS_MAX];	/* by message: those that happened before */
	u32 value[PEERS_MAX];	/* that each process proposes */
	struct peer_counts counts;
	u32 broken;		/* bits of enum peer_rule */
};

/** enum peer_event - what an event of the kind EVENT_PEER is, its part */
enum peer_event {
	PEER_ARRIVE,	/* datagram of message arg */
	PEER_ACK,	/* the sender learns that it has arrived */
	PEER_RESEND,	/* has it? */
	PEER_WAKE,	/* the time that process @to asked for */
	PEER_ACT,	/* its application */
	PEER_CRASH,
	PEER_NOTICE,	/* @to notices that the elected process arg has crashed */
	PEER_REPLACE,
	PEER_FORGET,	/* … all that it knows */
};

/* world.c */

/** world_run_peers() - one run, of a seed. Return: the rules that it broke. */
u32 world_run_peers(struct peer_world *w, const struct peer_plan *plan, u64 seed);

/** world_free_peers() - the memory of all runs. */
void world_free_peers(struct peer_world *w);

/** peer_push() - something will happen to a process. */
struct event *peer_push(struct peer_world *w, u64 at, enum peer_event part, u32 to, u64 arg);

/** peer_break() - a rule is broken. */
void peer_break(struct peer_world *w, enum peer_rule rule, const char *why);

/** peer_story() - a line of the story, if it is wanted. */
__attribute__((format(printf, 2, 3)))
void peer_story(const struct peer_world *w, const char *format, ...);

/** peer_crash() - the process stops. */
void peer_crash(struct peer_world *w, u32 id);

/** peer_bears() - does a run have this, by what the algorithm assumes and what is taken away? */
static inline bool peer_bears(const struct peer_plan *plan, enum peer_assumption assumption)
{
	return !(plan->algorithm->assumes & assumption) || plan->without & assumption;
}

/** peer_hold() - ticks: no holder stays longer; in an exact run each stays for as long. */
static inline u32 peer_hold(const struct peer_plan *plan)
{
	return plan->exact ? 20 * PEER_UNIT : PEER_TRANSIT;
}

/** peer_servers() - processes that are no clients. */
static inline u32 peer_servers(const struct peer_plan *plan)
{
	return plan->servers ?: plan->algorithm->servers;
}

/* network.c */

/** network_send() - take a message of process @from on its way. */
void network_send(struct peer_world *w, u32 from, u32 to, const struct peer_note *note,
		  bool is_tale);

/** network_event() - a datagram, its acknowledgement, or the time to send it again. */
void network_event(struct peer_world *w, enum peer_event part, u32 index);

/** network_hear() - the process hears a message; world.c has it. */
void network_hear(struct peer_world *w, const struct peer_message *m);

/* app.c */

/** app_start() - what the application will do. */
void app_start(struct peer_world *w);

/** app_act() - it does the next thing at this process. */
void app_act(struct peer_world *w, u32 id, u64 arg);

/** app_tale() - another application said that it wants to enter. */
void app_tale(struct peer_world *w, u32 id);

/** app_is_done() - nothing more is wanted. */
bool app_is_done(const struct peer_world *w);

/* faults.c */

/** faults_draw() - the processes that will crash or lie. */
void faults_draw(struct peer_world *w);

/* patterns.c */

/** pattern_count() - how many ways to fail there are. */
u64 pattern_count(const struct peer_plan *plan);

/** pattern_apply() - the failures of this one, from 0 on. */
void pattern_apply(struct peer_world *w, u64 pattern);

/* costs.c */

/** costs_hold() - print what each algorithm costs, beside its formula. Return: all agree. */
bool costs_hold(void);

/* compare.c */

/** enum compare_form - what is printed */
enum compare_form { COMPARE_TABLE, COMPARE_JSON, COMPARE_CSV };

/** compare_all() - all protocols for locks, measured. Return: all formulas agree. */
bool compare_all(enum compare_form form, u32 loss_pct);

/* check.c */

/** check_end() - what is only known at the end. */
void check_end(struct peer_world *w);

/** check_rules - names of rules, by bit */
extern const char *const check_rules[RULES];

#endif /* BFTM_PEER_WORLD_H */
