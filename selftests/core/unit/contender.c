// SPDX-License-Identifier: GPL-2.0
#include "contender.h"

struct bftm_client_cfg cfg;
struct bftm_contend c;
struct bftm_out out;
struct bftm_want want;

int fresh_client(void **state)
{
	(void)state;
	cfg = (struct bftm_client_cfg){
		.n = 7, .b = 1, .rho_ppm = 2000, .exponent = 2, .delta_ns = 10 * MS,
		.resend_ns = RESEND, .retry_max_ns = 60000 * MS,
	};
	want = (struct bftm_want){ .lease_ns = L, .wait = BFTM_WAIT_BACKOFF,
				   .mode = BFTM_MODE_EX };
	memset(&c, 0, sizeof(c));
	/* A step begins with what the stack has. */
	memset(&out, 1, sizeof(out));
	return 0;
}

void start(u64 attempt, u64 now)
{
	bftm_contend_start(&c, &cfg, &want, attempt, now, &out);
}

/* Of the mode that is asked for, where there is one. */
static u8 mode_of(u8 type)
{
	return type == BFTM_MSG_FREE || type == BFTM_MSG_INQUIRE ? want.mode : BFTM_MODE_NL;
}

enum bftm_verdict says(u32 u, u8 type, u32 k, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .attempt = c.base.attempt, .k = k, .mode = mode_of(type),
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

enum bftm_verdict says_of(u32 u, u8 type, u32 k, u64 gno, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .attempt = c.base.attempt, .k = k, .gno = gno, .mode = mode_of(type),
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

enum bftm_verdict all_say(u32 set, u8 type, u64 now)
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

enum bftm_verdict refuses(u32 u, u32 reason, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_REFUSED, .attempt = c.base.attempt, .k = 1, .arg = reason,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

enum bftm_verdict wake(u64 now, u64 attempt, u64 rnd)
{
	bftm_contend_wake(&c, &cfg, now, attempt, rnd, &out);
	return out.verdict;
}

void assert_quiet(void)
{
	static const struct bftm_out nothing;

	/* Messages and a value are not there: bftm_out_clear() leaves their room alone. */
	assert_memory_equal(&out, &nothing, offsetof(struct bftm_out, send));
	assert_false(out.written.any);
}

void assert_cancelled(u64 attempt)
{
	assert_int_equal(out.release_to, (1u << cfg.n) - 1);
	assert_int_equal(out.release_attempt, attempt);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0);
}
