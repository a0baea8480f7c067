/* SPDX-License-Identifier: GPL-2.0 */
/* A client that converts a lock, told by hand what servers grant. */
#ifndef BFTM_UNIT_CLIENT_CONVERT_H
#define BFTM_UNIT_CLIENT_CONVERT_H

#include "contender.h"

#define FREE	BFTM_MSG_FREE

/* Server @u has granted @mode to send @k, by its grant @gno. */
static inline enum bftm_verdict grants(u32 u, enum bftm_mode mode, u32 k, u64 gno, u16 flags, u64 now)
{
	const struct bftm_msg msg = {
		.type = FREE, .attempt = c.base.attempt, .k = k, .gno = gno, .mode = mode,
		.flags = flags,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static inline void asks_for(enum bftm_mode mode, enum bftm_mode held)
{
	struct bftm_msg msg;

	assert_true(out.count > 0);
	assert_int_equal(out.send[0].type, BFTM_MSG_TRY);
	bftm_contender_message(&c.base, &out.send[0], out.send[0].to, &msg);
	assert_int_equal(msg.mode, mode);
	assert_int_equal(msg.arg, held);
}

static inline enum bftm_verdict grant_to_five(enum bftm_mode mode, u32 k, u64 now)
{
	u32 u;

	for (u = 0; u < 5; u++)
		grants(u, mode, k, 20, 0, now);
	return out.verdict;
}

#endif /* BFTM_UNIT_CLIENT_CONVERT_H */
