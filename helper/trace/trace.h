/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings of hosts, brought into one order: Lamport's happened-before (Coulouris, Dollimore,
 * Kindberg, Blair, Distributed Systems, Section 14.4), by which bftmutex-trace answers whether two
 * clients held a lock at once. Nothing was added to the messages: a request is known by its client
 * and number, an answer by its server, epoch, client and number, and a push by its server, epoch,
 * type, attempt, grant and send.
 *
 * read.c reads files, cluster.c what they say of the cluster; match.c finds the send of each
 * receive, order.c computes Lamport numbers and vectors, lease.c adds the order that leases give,
 * holdings.c finds the spells for which clients held locks, and pairs.c compares these. levels.c
 * searches global states, with the predicates of spells.c and phi.c. cut.c, why.c and draw.c show a
 * trace to people.
 */
#ifndef BFTM_TRACE_H
#define BFTM_TRACE_H

#include <stdio.h>

#include "core/wire.h"

struct json_object;

#define TRACE_NONE	(~0u)
#define TRACE_NO_LEASE	(~0ull)

#define TRACE_EVENTS_MAX	1000000u
#define TRACE_WON_MAX		50000u	/* they are compared with each other */
#define TRACE_PAIRS_MAX		100000u
#define TRACE_HOSTS_MAX		4096u
#define TRACE_HOST_LEN_MAX	64u	/* bytes of a host's name */
#define TRACE_TIME_MAX		(1ull << 62)	/* ns; sums of two, and a lease, find room */
/* Numbers in all vectors: events times hosts. */
#define TRACE_VECTORS_MAX	(1ull << 27)

/** enum trace_kind - what happened; trace_kind_name() has the words of files */
enum trace_kind {
	TRACE_SEND,
	TRACE_RECV,
	TRACE_WON,	/* the lock is held; or the holder has another mode from now on */
	TRACE_RENEWED,
	TRACE_LOST,	/* the lease is over, or the holder's host went down */
	TRACE_RELEASED,	/* the holder stopped using the lock */
	TRACE_RESTART,	/* the host, or its server, begins without memory */
	TRACE_KINDS
};

/**
 * struct trace_event - one of a host
 * @host:     index of the host
 * @at:       its place among the events of its host, from 0
 * @n:        the place that the file gives it
 * @t:        the host's clock of leases, ns
 * @wall:     the host's wall clock, ns; @t if the file does not say
 * @kind:     enum trace_kind
 * @type:     enum bftm_msg_type, of a datagram
 * @mode:     enum bftm_mode: asked for, granted or held
 * @kept:     enum bftm_mode: in TRY what the client holds, in YIELD what it keeps
 * @name:     index of the lock's name, TRACE_NONE for none
 * @cluster:  its number, 0 if the file does not say
 * @client:   its number
 * @server:   its number; 0 for none
 * @seq:      number of the request, 0 in a push
 * @attempt:  the attempt of @client that it is about
 * @gno:      number of the grant
 * @epoch:    of the server, in its answers
 * @k:        number of the send, of TRY, FREE and pushes
 * @position: in WAIT; 0: the server is in quarantine
 * @lease:    Δ in TRY, ns; TRACE_NO_LEASE for none
 * @from:     of a receive: index of the send, or TRACE_NONE
 * @lamport:  Lamport number, from 1
 */
struct trace_event {
	u32 host, at;
	u64 n, t, wall;
	u8 kind, type, mode, kept;
	u32 name, cluster, client, server, k, position;
	u64 seq, attempt, gno, epoch, lease;
	u32 from, lamport;
};

/** struct trace_host - its events are @first … @first + @count - 1 */
struct trace_host {
	char *name;
	u32 first, count;
};

/** struct trace_name - of a lock, any bytes; @index: its place in t->name */
struct trace_name {
	u32 index;
	u8 len, bytes[BFTM_NAME_LEN_MAX];
};

/** struct trace_edge - a lease, and no message, orders two events: @from is before @to */
struct trace_edge {
	u32 from, to;
	u32 server;	/* by whose lease */
};

/**
 * struct trace_cluster - what a file says of a cluster
 * @number:  of the cluster; 0: of all that are recorded
 * @servers: of it, 0: the file does not say
 * @b:       of these may lie
 * @m:       grants that win a lock, protocol = sigma; 0: F
 * @rho_ppm: bound on the error of clock rates, ppm
 */
struct trace_cluster {
	u32 number, servers, b, m, rho_ppm;
};

/** struct trace_finding - an assumption that the trace contradicts, in words */
struct trace_finding {
	char *text;
	u32 event;	/* that shows it */
	u32 name;	/* of the lock */
	u64 attempt;	/* whose lease it was */
};

/**
 * struct trace_hold - a lock was held
 * @won:  event that began it
 * @end:  event that ended it; TRACE_NONE if the trace ends before
 * @mode: enum bftm_mode
 */
struct trace_hold {
	u32 won, end;
	u8 mode;
};

/**
 * struct trace - of all files
 * @event:     by host, in the order of each
 * @host:      each that has events, and some that have none left
 * @vector:    a vector of hosts() entries for each event: how many events of that host are
 *             before it, itself included
 * @edge:      of leases, by @to
 * @finding:   assumptions that the trace contradicts
 * @hold:      by host, in the order of their beginnings
 * @name:      names of locks
 * @said:      what the files say of clusters, each thing once
 * @tree:      of these, for tsearch()
 * @events:    number of these
 * @hosts:     number of these
 * @edges:     number of these
 * @findings:  number of these
 * @holds:     number of these
 * @names:     number of these
 * @saids:     number of these
 * @wons:      events of this kind
 * @servers:   of the cluster, 0 if no file says
 * @b:         of them may lie
 * @m:         grants that win a lock, protocol = sigma; 0: F
 * @rho_ppm:   bound on the error of clock rates, ppm
 * @distrust:  servers whose files are dropped, a bit mask
 */
struct trace {
	struct trace_event *event;
	struct trace_host *host;
	struct trace_edge *edge;
	struct trace_finding *finding;
	struct trace_hold *hold;
	struct trace_name **name;
	struct trace_cluster *said;
	void *tree;
	u32 *vector;
	u32 events, hosts, edges, findings, holds, names, saids, wons;
	u32 servers, b, m, rho_ppm;
	u32 distrust;
};

/* read.c */

/** trace_new() - a trace without events. Without memory it ends the program, as all of these do */
struct trace *trace_new(void);
void trace_free(struct trace *t);

/**
 * trace_read() - add the events of a file
 * @t:    before trace_sort()
 * @file: lines of JSON
 * @path: for messages
 * @ret_why: says in words which line is wrong, to be freed
 * Return: false if a line is wrong.
 */
bool trace_read(struct trace *t, FILE *file, const char *path, char **ret_why);

const char *trace_kind_name(enum trace_kind kind);
/* memory.c */

/** trace_grow() - realloc() by powers of two: room for one more than @count of @size bytes */
void *trace_grow(void *array, u32 count, size_t size);
/** trace_zeroed() - calloc() of one more than @count, never NULL */
void *trace_zeroed(size_t count, size_t size);

/* cluster.c */

/**
 * trace_cluster_choose() - take from the files what the cluster is like that they recorded
 * @t:       after trace_read() of all files; its @servers, @b, @m and @rho_ppm are set if the files
 *           say them
 * @ret_why: says in words what is wrong, to be freed
 * Return: false if the files say different things of clusters whose datagrams they have.
 */
bool trace_cluster_choose(struct trace *t, char **ret_why);

/**
 * trace_cluster_ok() - can there be a cluster with so many servers and liars?
 * @t:       the trace; its cluster may be unknown
 * @b_is:    words before the number b in @ret_why, which say where b comes from
 * @m_is:    likewise before m
 * @ret_why: why not, to be freed
 *
 * No quorum is known for other numbers.
 */
bool trace_cluster_ok(const struct trace *t, const char *b_is, const char *m_is, char **ret_why);

/* match.c */

/**
 * trace_sort() - order the events of each host, and find the send of each receive
 * @t:       after trace_read() of all files
 * @ret_why: says in words what is wrong, to be freed
 * Return: false if two events of a host have the same place.
 */
bool trace_sort(struct trace *t, char **ret_why);

/** trace_send_of() - the send of TRY number @k of an attempt to a server, or TRACE_NONE */
u32 trace_send_of(const struct trace *t, u32 client, u64 attempt, u32 server, u32 k);
/** trace_first_send_of() - the first TRY of an attempt that its client recorded, or TRACE_NONE */
u32 trace_first_send_of(const struct trace *t, u32 client, u64 attempt);
/** trace_sends_index() - sort the TRYs, so that the two functions above can find them */
void trace_sends_index(struct trace *t);
void trace_sends_free(void);
/** trace_lease_of() - Δ that an attempt asked for, ns; 0 if no file has it */
u64 trace_lease_of(const struct trace *t, u32 client, u64 attempt);

/* order.c */

/**
 * trace_order() - Lamport numbers and vectors, by messages and by @t->edge
 * @t:       after trace_sort()
 * @ret_why: says in words what is wrong, to be freed
 * Return: false if the files contradict each other: an event would be before itself.
 */
bool trace_order(struct trace *t, char **ret_why);

/** trace_vector() - number of events of host @h that are before @event, or are it */
static inline u32 trace_vector(const struct trace *t, u32 event, u32 h)
{
	return t->vector[(size_t)event * t->hosts + h];
}

/** trace_before() - did @a happen before @b? */
static inline bool trace_before(const struct trace *t, u32 a, u32 b)
{
	const struct trace_event *e = &t->event[a];

	return a != b && trace_vector(t, b, e->host) > e->at;
}

/** trace_linear() - all events in an order that the hosts may have seen; to be freed */
u32 *trace_linear(const struct trace *t);

/* holdings.c */

/** trace_holds() - fill t->hold. */
void trace_holds(struct trace *t);
/** trace_shown() - the name of a lock, as a terminal can show it; good for some calls */
const char *trace_shown(const struct trace *t, u32 name);
/** trace_host_shown() - the name of a host likewise */
const char *trace_host_shown(const struct trace *t, u32 host);
/** trace_label() - "c1:17", the event 17 of host c1; good for some calls */
const char *trace_label(const struct trace *t, u32 event);
/** trace_span() - "1.250 s"; good for some calls */
const char *trace_span(u64 ns);

/* lease.c */

/**
 * trace_leases() - fill t->edge and t->finding, and order all events anew
 * @t: after trace_order() by messages alone
 *
 * Where messages contradict what a lease orders, the edge is left out, and a finding says so.
 */
void trace_leases(struct trace *t);

/* pairs.c */

/** enum trace_verdict - were two holders inside at once? */
enum trace_verdict {
	TRACE_NO,
	TRACE_NO_BY_LEASES,	/* if the rates of clocks are within ρ */
	TRACE_POSSIBLY,
	TRACE_DEFINITELY,
};

/**
 * struct trace_pair - two holdings
 * @a:       index of the one in t->hold
 * @b:       index of the other
 * @verdict: were both inside at once?
 * @server:  lowest server by whose lease they are ordered, 0 for none
 */
struct trace_pair {
	u32 a, b;
	enum trace_verdict verdict;
	u32 server;
};

/** struct trace_pairs - pairs that messages alone do not order; @verdict is the worst of theirs */
struct trace_pairs {
	enum trace_verdict verdict;
	struct trace_pair *found;
	u32 count;
};

/**
 * trace_two_holders() - compare all holdings
 * @t:         after trace_holds()
 * @no_leases: messages alone
 * @within:    the wall clocks of all hosts differ by less than this, ns; 0: not known
 * @ret:       its @found is to be freed
 * @ret_why:   as that of trace_order()
 * Return: false as trace_order(), or for too many pairs.
 */
bool trace_two_holders(struct trace *t, bool no_leases, u64 within, struct trace_pairs *ret,
		       char **ret_why);
const char *trace_verdict_name(enum trace_verdict verdict);

/* cut.c, why.c, draw.c */

/** trace_cut_at() - prefixes of all hosts by @time ns of @wall, made consistent; to be freed */
u32 *trace_cut_at(const struct trace *t, u64 time);
/** trace_cut_print() - what the hosts know at a cut, and which datagrams are under way */
void trace_cut_print(const struct trace *t, const u32 *cut, bool json, FILE *out);
/** trace_why_print() - the chain of messages that led to an event */
void trace_why_print(const struct trace *t, u32 event, bool json, FILE *out);
/** trace_line_print() - end @line, which is freed, with the lock of number @name, and print it */
void trace_line_print(const struct trace *t, u32 name, struct json_object *line, FILE *out);
/** trace_event_print() - an event in a line */
void trace_event_print(const struct trace *t, u32 event, bool json, FILE *out);
/** trace_draw() - a space–time diagram as SVG; false: there are too many events */
bool trace_draw(const struct trace *t, FILE *out);

#endif /* BFTM_TRACE_H */
