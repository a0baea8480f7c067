/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A central server grants a lock to one client after the other, in the order in which they
 * asked, and until it is given back: the textbook's first algorithm for mutual exclusion. It
 * bears no failure of the server and no liar. No host runs it; it shows that a protocol is a
 * folder and a line in a table.
 *
 *	TRY	client -> server	may I? Again until it is answered.
 *	FREE	server -> client	the lock is yours; also unasked, when it is your turn
 *	WAIT	server -> client	position clients go before you
 *	LOCKED	server -> client	the answer to a TRY that does not want to wait
 *	RELEASE	client -> server	attempt and all before it are over; until it is answered
 *	RELEASED server -> client	so they are
 */
#ifndef REFERENCE_CENTRAL_MESSAGE_H
#define REFERENCE_CENTRAL_MESSAGE_H

#include "core/protocol.h"

#define PROTO_CENTRAL	BFTM_PROTO_TEST

extern const struct bftm_protocol protocol_central;

#endif /* REFERENCE_CENTRAL_MESSAGE_H */
