/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The servers that a client asks first. A lock is won by F servers, so most attempts need no more
 * of them: the others are asked when the first ones are not enough. Safety does not depend on the
 * choice. A server that is not asked is like one whose messages are lost, and a server that is
 * asked late is like one whose message was late.
 *
 * struct bftm_ask_state is what a host has learned of a cluster's servers, for all its locks;
 * struct bftm_asking is one attempt. A client whose configuration has no struct bftm_ask_state asks
 * all servers, and learns nothing.
 */
#ifndef BFTM_CORE_ASK_H
#define BFTM_CORE_ASK_H

#include "core/speed.h"

struct bftm_client_cfg;
struct bftm_msg;
struct bftm_want;

#define BFTM_ASK_FLOOR_NS (1 * BFTM_NS_PER_MS) /* a host may be held up this long */
#define BFTM_ASK_RELEASES 16	/* RELEASE that are remembered, a power of two */
#define BFTM_ASK_ONE	(1u << 24)	/* 1 in the fixed point of @missed */

/**
 * struct bftm_ask_server - what a host has learned of one server
 * @salt:   of its place in the order of each lock
 * @score:  grows with each answer that is missed, less one for each FREE in time
 * @proven: while it is suspected: FREE in time, in a row
 * @streak: FREE in time in a row, up to 1,024
 * @level:  how often it was suspected, less what it has made up for; at most 7
 * @excused: the attempt, counted as @starts, from which on RELEASE of this host is an excuse
 */
struct bftm_ask_server {
	u64 salt;
	u32 score;
	u32 proven;
	u32 streak;
	u32 level;
	u32 excused;
};

/**
 * struct bftm_ask_release - the last RELEASE of a lock
 * @lock:       number of the lock, from bftm_ask_lock()
 * @at_ns:      when RELEASE was sent
 * @unanswered: servers that have not answered it
 */
struct bftm_ask_release {
	u64 lock;
	u64 at_ns;
	u32 unanswered;
};

/**
 * struct bftm_ask_state - what a host has learned of a cluster's servers
 * @adapts:    more than F are asked first where one of F often does not answer FREE in time
 * @suspected: servers that are not asked first
 * @starts:    attempts begun
 * @spare:     s: how many more than F are asked first
 * @pressure:  x: acquires that took a second step weigh 128, others -1
 * @acquires:  uncontended ones since @spare was looked at, up to 2,048
 * @seconds:   … of which took a second step
 * @missed:    a: share of answers that unsuspected servers miss, in units of 1 / BFTM_ASK_ONE
 * @speed:     round trips
 * @server:    by number
 * @released:  RELEASE that this host sent lately, by lock
 */
struct bftm_ask_state {
	bool adapts;
	u32 suspected;
	u32 starts;
	u32 spare;
	u32 pressure;
	u32 acquires;
	u32 seconds;
	u32 missed;
	struct bftm_speed speed;
	struct bftm_ask_server server[BFTM_SERVERS_MAX];
	struct bftm_ask_release released[BFTM_ASK_RELEASES];
};

/**
 * struct bftm_asking - the servers that one attempt has asked
 * @asked:    servers to which the attempt was sent, at any k
 * @first:    … at the start, so that F of them answer FREE; all where that is better
 * @probe:    … at the start, a suspected one for whose answer the attempt does not wait
 * @heard:    servers that have answered
 * @denied:   servers whose first answer was not FREE
 * @begun_ns: when the attempt began
 * @rest_ns:  when the others were asked; 0 while they are not
 * @hedge_ns: h: how long the servers asked first may take; 0 while that is not known
 * @judged:   @hedge_ns is over, and the silent servers have been noted
 * @own:      servers to which a RELEASE of this host may be on its way: recent, and unanswered
 * @again:    the attempt was sent once more to @own
 * @stale:    servers that had not answered before @again: their next denial is of the first send
 */
struct bftm_asking {
	u32 asked;
	u32 first;
	u32 probe;
	u32 heard;
	u32 denied;
	u64 begun_ns;
	u64 rest_ns;
	u64 hedge_ns;
	bool judged;
	bool again;
	u32 own;
	u32 stale;
};

/**
 * struct bftm_late - an attempt that has won or is over: what late answers are judged by
 * @asking: the servers that the attempt has asked
 * @mode:   enum bftm_mode that a grant must cover
 * @sends:  number of sends of the attempt
 */
struct bftm_late {
	struct bftm_asking asking;
	u8 mode;
	u32 sends;
};

/**
 * bftm_ask_start() - nothing is known of the servers
 * @a:      to be initialised
 * @adapts: ask = auto; false for ask = first
 */
void bftm_ask_start(struct bftm_ask_state *a, bool adapts);

/** bftm_ask_inherit() - take over what another state has learned of the same servers */
void bftm_ask_inherit(struct bftm_ask_state *a, const struct bftm_ask_state *from);

/** bftm_ask_forget() - another server has the number @u: nothing is known of it. */
void bftm_ask_forget(struct bftm_ask_state *a, u32 u);

/** bftm_ask_server() - server number @u is @id of @cluster: hosts ask the same ones first. */
void bftm_ask_server(struct bftm_ask_state *a, u32 u, u32 cluster, u32 id);

/** bftm_ask_lock() - the number that orders the servers of a lock, for struct bftm_want; not 0 */
u64 bftm_ask_lock(const u8 *name, u32 len);

/**
 * bftm_ask_begin() - an attempt begins: choose the servers that are asked first
 * @cfg:  the cluster
 * @want: the request
 * @now:  the clock of leases, ns
 * @ret:  the attempt; @ret->asked are the servers
 */
void bftm_ask_begin(const struct bftm_client_cfg *cfg, const struct bftm_want *want, u64 now,
		    struct bftm_asking *ret);

/** bftm_ask_more() - the attempt is sent to the servers @to, too, at @now */
void bftm_ask_more(struct bftm_asking *t, u32 to, u64 now);

/**
 * bftm_ask_heard() - server @u answers the attempt; its first answer counts
 * @cfg:     the cluster
 * @t:       the attempt
 * @u:       number of the server
 * @free:    it says FREE
 * @sent_ns: when the send that is answered went out first; 0: not known
 * @now:     the clock of leases, ns
 */
void bftm_ask_heard(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u32 u, bool free,
		    u64 sent_ns, u64 now);

/** bftm_ask_due() - once the time of the servers asked first is over, note which are silent */
void bftm_ask_due(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u64 now);

/**
 * bftm_ask_late() - server @u answers an attempt that needs no answer any more
 * @cfg:  the cluster
 * @late: what is left of the attempt
 * @u:    number of the server
 * @msg:  its answer, but not to RELEASE
 * @now:  the clock of leases, ns
 *
 * Such an answer may still be in time, and a suspected server proves itself by it.
 */
void bftm_ask_late(const struct bftm_client_cfg *cfg, struct bftm_late *late, u32 u,
		   const struct bftm_msg *msg, u64 now);

/**
 * bftm_ask_won() - F servers have granted the attempt
 * @cfg:     the cluster
 * @t:       the attempt
 * @granted: the servers that have granted, and whose grants are not given back
 *
 * A server that was asked first and has denied the lock has missed an answer, as others had to be
 * asked in its place. Two things excuse it: more than b servers deny the lock, or a RELEASE of this
 * host was on its way to it. The second excuse holds for one in 16 attempts only, since a liar
 * might deny each lock just before it answers RELEASE.
 */
void bftm_ask_won(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u32 granted);

/** bftm_ask_released() - RELEASE of @lock is sent to @to; 0: the lock is not known. */
void bftm_ask_released(struct bftm_ask_state *a, u64 lock, u32 to, u64 now);

/** bftm_ask_release_heard() - server @u has answered RELEASE of @lock. */
void bftm_ask_release_heard(struct bftm_ask_state *a, u64 lock, u32 u);

#endif /* BFTM_CORE_ASK_H */
