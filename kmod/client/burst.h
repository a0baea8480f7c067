/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams of the kernel's attempts leave after the upcall's lock. A step decides what is sent to
 * which servers with that lock held; to sign and send takes far longer, and other steps need not
 * wait for it. To the protocol the time between the two is a delay of the network: clocks were read
 * before.
 */
#ifndef BFTM_BURST_H
#define BFTM_BURST_H

#include "core/wire.h"

struct bftm_line;
struct bftm_session;
struct bftm_upcall;

#define BFTM_BURST_MESSAGES 2	/* most steps send one, to several servers */

/**
 * struct bftm_burst_message - a message, and whom it is for
 * @to:      servers, a bit mask
 * @attempt: of a TRY, whose attempt hears of servers that it did not go out to; else 0
 * @yields:  it is a YIELD …
 * @skips:   … decided when the session had skipped so often
 * @wire:    the datagram but for server, epoch, number and tag
 */
struct bftm_burst_message {
	u32 to;
	u64 attempt;
	bool yields;
	u32 skips;
	struct bftm_wire wire;
};

/**
 * struct bftm_burst - what one hold of the upcall's lock has decided to send
 * @line:    by which it goes
 * @count:   of @message
 * @message: in the order in which they are sent
 */
struct bftm_burst {
	struct bftm_line *line;
	u32 count;
	struct bftm_burst_message message[BFTM_BURST_MESSAGES];
};

/** bftm_burst_lock() - take the upcall's lock, with room for datagrams. Context: not hard IRQ. */
void bftm_burst_lock(struct bftm_upcall *up, struct bftm_burst *burst)
	__acquires(&up->lock) __acquires(RCU);

/** bftm_burst_begin() - the lock is taken already: there is room for datagrams from now on. */
void bftm_burst_begin(struct bftm_upcall *up, struct bftm_burst *burst)
	__acquires(RCU);

/** bftm_burst_unlock() - release the lock and send. Return: the datagrams that were sent. */
unsigned int bftm_burst_unlock(struct bftm_upcall *up, struct bftm_burst *burst)
	__releases(&up->lock) __releases(RCU);

/** bftm_burst_pause() - the same, and take the lock again. Return: the datagrams that were sent. */
unsigned int bftm_burst_pause(struct bftm_upcall *up, struct bftm_burst *burst)
	__releases(RCU);

/**
 * bftm_burst_add() - send a message when the lock is released
 * @s:   the session
 * @to:  servers, a bit mask; not empty
 * @msg: all but who it is for; sequence numbers and epochs are filled in
 *
 * Context: the upcall's lock held. Return: false without room; nothing is sent then.
 */
bool bftm_burst_add(struct bftm_session *s, u32 to, struct bftm_msg *msg);

#endif /* BFTM_BURST_H */
