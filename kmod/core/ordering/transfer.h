/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of bodies that travel in pieces: which piece to PUT to, or to FETCH
 * from, one server next. A window of pieces is under way; it grows with each piece
 * that is done and shrinks when nothing comes back.
 */
#ifndef BFTM_CORE_TRANSFER_H
#define BFTM_CORE_TRANSFER_H

#include "core/ordering/wire.h"

#define BFTM_TRANSFER_WINDOW_MIN	4u
#define BFTM_TRANSFER_WINDOW_MAX	32u
/* Rounds of repetition without a piece done, until it is given up. */
#define BFTM_TRANSFER_REPEATS	6u
/* Result of bftm_transfer_next() when there is nothing to send now. */
#define BFTM_TRANSFER_NONE	(~0u)

/**
 * struct bftm_transfer - one body, to or from one server
 * @len:     of the body, bytes; at most BFTM_STATE_MAX
 * @pieces:  it has
 * @done:    that are stored there, or have come from there
 * @flying:  that were asked and not answered
 * @window:  most that may fly
 * @repeats: rounds of repetition since the last piece was done
 * @wake_ns: when to call bftm_transfer_wake(), 0 for never
 * @have:    pieces done
 * @asked:   pieces that fly
 */
struct bftm_transfer {
	u32 len;
	u32 pieces;
	u32 done;
	u32 flying;
	u32 window;
	u32 repeats;
	u64 wake_ns;
	u64 have[BFTM_PIECES_MAX / 64];
	u64 asked[BFTM_PIECES_MAX / 64];
};

/** bftm_transfer_begin() - of a body of @len bytes, 1 to BFTM_STATE_MAX */
void bftm_transfer_begin(struct bftm_transfer *t, u32 len);

/**
 * bftm_transfer_next() - what to send now; call it until there is nothing
 * @t:         the transfer
 * @resend_ns: after so long without a piece done, in ns, all that fly count as lost
 * @now:       the clock of leases, ns
 * Return: offset of a piece, which flies now; or BFTM_TRANSFER_NONE.
 */
u32 bftm_transfer_next(struct bftm_transfer *t, u64 resend_ns, u64 now);

/**
 * bftm_transfer_piece() - the piece at @offset is done
 * @t:         the transfer
 * @offset:    of the piece in the body, bytes
 * @resend_ns: as of bftm_transfer_next()
 * @now:       the clock of leases, ns
 * Return: false when it is no piece of this body, or was done before.
 */
bool bftm_transfer_piece(struct bftm_transfer *t, u32 offset, u64 resend_ns, u64 now);

/**
 * bftm_transfer_wake() - the time is @now; call bftm_transfer_next() then
 * @t:   the transfer
 * @now: the clock of leases, ns
 * Return: false when it is given up: the server does not answer.
 */
bool bftm_transfer_wake(struct bftm_transfer *t, u64 now);

/** bftm_transfer_len() - bytes of the piece at @offset */
static inline u32 bftm_transfer_len(const struct bftm_transfer *t, u32 offset)
{
	return bftm_piece_len(t->len, offset);
}

/** bftm_transfer_complete() - are all pieces done? */
static inline bool bftm_transfer_complete(const struct bftm_transfer *t)
{
	return t->pieces && t->done == t->pieces;
}

#endif /* BFTM_CORE_TRANSFER_H */
