/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client among n servers that the tests play by hand. Unless a test says
 * otherwise n = 7, b = 1: F = 5 FREE win, more than n - F = 2 others lose.
 */
#ifndef BFTM_UNIT_CONTEND_H
#define BFTM_UNIT_CONTEND_H

#include "unit.h"

#include "kmod/core/backoff_client.h"
#include "kmod/core/lease.h"
#include "kmod/core/quorum.h"

#define MS	BFTM_NS_PER_MS
#define L	(1000 * MS)
#define GOOD	(998 * MS - BFTM_TICK_NS)	/* L (1 - ρ) - tick */
#define RESEND	(40 * MS)
#define T0	(5000 * MS)
#define ALL	0x7fu

static struct bftm_client_cfg cfg;
static struct bftm_contend c;
static struct bftm_out out;
static struct bftm_want want;

static int fresh_client(void **state)
{
	(void)state;
	cfg = (struct bftm_client_cfg){
		.n = 7, .b = 1, .rho_ppm = 2000, .exponent = 2, .delta_ns = 10 * MS,
		.resend_ns = RESEND, .retry_max_ns = 60000 * MS,
	};
	want = (struct bftm_want){ .lease_ns = L, .wait = BFTM_WAIT_BACKOFF };
	memset(&c, 0, sizeof(c));
	return 0;
}

static inline void start(u64 attempt, u64 now)
{
	bftm_contend_start(&c, &cfg, &want, attempt, now, &out);
}

/* Server @u says this about the current attempt; what comes of it? */
static inline enum bftm_verdict says(u32 u, u8 type, u32 k, u64 now)
{
	const struct bftm_msg msg = { .type = type, .attempt = c.attempt, .k = k };

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

/* The same with the number of a grant, or of a token that is answered. */
static inline enum bftm_verdict says_of(u32 u, u8 type, u32 k, u64 gno, u64 now)
{
	const struct bftm_msg msg = { .type = type, .attempt = c.attempt, .k = k, .gno = gno };

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

/* All servers of this set say so to send number 1; the last verdict counts. */
static inline enum bftm_verdict all_say(u32 set, u8 type, u64 now)
{
	enum bftm_verdict verdict = BFTM_PENDING;
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1) {
			assert_int_equal(verdict, BFTM_PENDING);
			verdict = says(u, type, 1, now);
		}
	return verdict;
}

static inline enum bftm_verdict refuses(u32 u, u32 reason, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_REFUSED, .attempt = c.attempt, .k = 1, .position = reason,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static inline enum bftm_verdict wake(u64 now, u64 attempt, u64 rnd)
{
	bftm_contend_wake(&c, &cfg, now, attempt, rnd, &out);
	return out.verdict;
}

/* Nothing to do, nothing to send. */
static inline void assert_quiet(void)
{
	static const struct bftm_out nothing;

	assert_memory_equal(&out, &nothing, sizeof(out));
}

static inline void assert_cancelled(u64 attempt)
{
	assert_int_equal(out.release_to, (1u << cfg.n) - 1);
	assert_int_equal(out.release_attempt, attempt);
	assert_int_equal(out.try_to, 0);
}

#endif /* BFTM_UNIT_CONTEND_H */
