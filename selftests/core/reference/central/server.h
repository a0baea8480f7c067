/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef REFERENCE_CENTRAL_SERVER_H
#define REFERENCE_CENTRAL_SERVER_H

#include "core/protocol.h"

#define CENTRAL_CLIENTS	16	/* that may ever ask for one lock */

/**
 * struct central_seat - what a lock knows of a client
 * @client:  its number
 * @ticket:  place in the queue: the lowest is next. 0: the client does not wait
 * @attempt: newest that it asked by
 * @over:    newest that it gave up or gave back; what is late of that and before is ignored
 * @k:       send of @attempt that was heard last
 */
struct central_seat {
	u32 client;
	u32 k;
	u64 ticket;
	u64 attempt;
	u64 over;
};

/**
 * struct central_lock - a lock at the server
 * @grant:  number of the newest grant
 * @ticket: that was given out last
 * @seats:  valid entries of @seat
 * @owner:  1 + the seat of the client that has the lock, 0 for none
 */
struct central_lock {
	u64 grant;
	u64 ticket;
	u32 seats;
	u32 owner;
	struct central_seat seat[CENTRAL_CLIENTS];
};

extern const struct bftm_server_ops central_server;

#endif /* REFERENCE_CENTRAL_SERVER_H */
