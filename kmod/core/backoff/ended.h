/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attempts that are over while their TRY may be on its way, be it on their own host, where another
 * processor sends it. A server that answers RELEASE of an attempt that it does not know keeps
 * nothing by which to refuse the TRY that comes after it. Then the grant is for nobody, and lasts
 * for a lease.
 */
#ifndef BFTM_CORE_ENDED_H
#define BFTM_CORE_ENDED_H

#include "core/wire.h"

#define BFTM_ENDED	64

/**
 * struct bftm_ended - the last attempts that ended without a holder
 * @attempt: their numbers, in a ring
 * @next:    how many there were
 */
struct bftm_ended {
	u64 attempt[BFTM_ENDED];
	u32 next;
};

/** bftm_ended_note() - @attempt is over, and no program has held its lock */
void bftm_ended_note(struct bftm_ended *ended, u64 attempt);

/**
 * bftm_ended_stray() - an authentic answer to an attempt that the host does not know
 * @ended: attempts that are over
 * @msg:   the answer
 * @ret:   gets RELEASE, if the server believes in one of those
 * Return: true if it does.
 */
bool bftm_ended_stray(const struct bftm_ended *ended, const struct bftm_msg *msg,
		      struct bftm_msg *ret);

#endif /* BFTM_CORE_ENDED_H */
