/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocols of Kim and Manabe: A Byzantine Fault-Tolerant Mutual Exclusion Algorithm and its
 * Application to Byzantine Fault-Tolerant Storage Systems, Figures 1 and 2. Of n >= 3f + 1 servers
 * a client asks a set Q of ⌈(n + 3f + 1) / 2⌉, and has the right when |Q| - f have said OK. A server
 * that hears of a better request asks its OK back: CANCEL, CANCELLED. In Figure 2 ("kim-storage")
 * each OK has the value that the server stores, and FINISHED the value that a writer leaves.
 *
 * The printed form lacks four rules, each of which has a switch:
 *
 *   inside   a client that has the right ignores CANCEL; the text says so, the figure does not
 *   numbers  OK has a number, which CANCEL and CANCELLED repeat; links keep no order
 *   over     FINISHED is of one request, ends no other one of its client, and counts when it comes
 *            before that request, too
 *   raise    a reader that has the right and cannot decide, Theorem 5: the servers that it waits
 *            for may have said OK to somebody who waits for this reader. RAISE puts its request
 *            before all others there
 *
 * A client enters once, though the figure has it do so again with each OK that comes later.
 */
#ifndef BFTM_PEER_KIM_H
#define BFTM_PEER_KIM_H

#include "peer.h"

#define KIM_SERVERS_MAX 32
#define KIM_LIST_MAX (4 * PEERS_MAX)

enum { REQUEST, OK, CANCEL, CANCELLED, FINISHED, RAISE };

/**
 * struct kim_request - at a server
 * @stamp:   its priority is (@stamp, @who), the least is the highest
 * @grant:   number of its last OK
 * @is_sent: OK has been sent, and not been taken back
 */
struct kim_request {
	u32 who, number, stamp, grant;
	bool reads, is_sent;
};

/**
 * struct kim_server - half of the state
 * @is_cancelling: status = cancel
 * @grant: number of the last OK
 * @list:  in no order
 * @over:  by client, all requests up to this number are finished
 * @beyond: … and of those after it these: bit 0 is the next one
 * @value, @time: that it stores
 */
struct kim_server {
	bool is_cancelling;
	u32 grant, listed;
	u32 value, time;
	u32 over[PEERS_MAX];
	u64 beyond[PEERS_MAX];
	struct kim_request list[KIM_LIST_MAX];
};

/**
 * struct kim - a process
 * @asked:     Q
 * @said:      R
 * @cancelled: by server, the number of the last OK that was given back
 * @granted:   … of the last OK that counts
 * @values, @times: by server, what it stores, as its OK says
 * @time:      of the value that this client has read
 */
struct kim {
	bool is_asking, has_right, stores;
	u32 number, asked, said;
	u32 cancelled[KIM_SERVERS_MAX], granted[KIM_SERVERS_MAX];
	u32 values[KIM_SERVERS_MAX], times[KIM_SERVERS_MAX];
	u32 time;
	struct kim_server server;
};

/** kim_serve() - a server hears REQUEST, CANCELLED, FINISHED or RAISE. */
void kim_serve(struct peer *p, u32 from, const struct peer_note *note);

/** kim_lie() - … and lies. */
void kim_lie(struct peer *p, u32 from, const struct peer_note *note);

#endif /* BFTM_PEER_KIM_H */
