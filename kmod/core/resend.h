/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BFTM_CORE_RESEND_H
#define BFTM_CORE_RESEND_H

#include "core/types.h"

/**
 * bftm_later() - when to repeat what nobody has answered
 * @now: the last time it was sent
 * @ns: the first pause
 * @repeats: how often it was repeated by then
 *
 * Pauses of 1, 1, 2, 4, then 8 times @ns: a datagram lost twice is common enough to
 * be asked for soon, and who is gone is not to be asked all the time.
 */
static inline u64 bftm_later(u64 now, u64 ns, u32 repeats)
{
	u32 doublings = repeats ? repeats - 1 : 0;

	return now + (ns << (doublings < 3 ? doublings : 3));
}

#endif /* BFTM_CORE_RESEND_H */
