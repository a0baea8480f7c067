/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BFTM_CORE_RESEND_H
#define BFTM_CORE_RESEND_H

#include "core/types.h"

/* The longest pause is so many times the usual first one. */
#define BFTM_LATER_MOST 8

/**
 * bftm_later_most() - when to repeat what nobody has answered
 * @now: the last time it was sent
 * @ns: the first pause, not 0
 * @repeats: how often it was repeated by then
 * @most_ns: no pause is doubled to more than this
 *
 * Pauses of 1, 1, 2, 4, 8 … times @ns: a datagram lost twice is common enough to
 * be asked for soon, and a server that is gone must not be asked all the time.
 */
static inline u64 bftm_later_most(u64 now, u64 ns, u32 repeats, u64 most_ns)
{
	while (repeats > 1 && ns <= most_ns / 2) {
		ns *= 2;
		repeats--;
	}
	return now + ns;
}

/** bftm_later() - bftm_later_most() with pauses of up to eight times @ns */
static inline u64 bftm_later(u64 now, u64 ns, u32 repeats)
{
	return bftm_later_most(now, ns, repeats, BFTM_LATER_MOST * ns);
}

#endif /* BFTM_CORE_RESEND_H */
