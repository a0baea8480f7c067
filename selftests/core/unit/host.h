/* SPDX-License-Identifier: GPL-2.0 */
/* One attempt of the kernel by itself. n = 7, b = 1: F = 5. */
#ifndef BFTM_UNIT_HOST_H
#define BFTM_UNIT_HOST_H

#include "core/backoff/host.h"
#include "contender.h"

#define TRIP	(10 * MS)

static struct bftm_host h;
static struct bftm_host_step step;
static struct bftm_ask_state ask;

static int fresh(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_NOT;
	h = (struct bftm_host){ .core = bftm_backoff.client, .client = &c.base };
	return 0;
}

/* Each server takes 10 ms, and five are asked first. */
static void ask_first(void)
{
	u32 u;

	bftm_ask_start(&ask, false);
	for (u = 0; u < cfg.n; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = TRIP;
	}
	cfg.ask = &ask;
	want.lock = 1;
}

static u32 tried(void)
{
	return bftm_out_to(&step.out, BFTM_MSG_TRY);
}

/* Return: whom it asks. */
static u32 begin(u64 now)
{
	bftm_host_begin(&h, &cfg, &want, 1, now, &step);
	assert_int_equal(h.state, BFTM_HOST_ASK);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	return tried();
}

static enum bftm_host_event host_says(u32 u, u8 type, u64 gno, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .attempt = 1, .k = c.base.sends, .gno = gno,
		.position = type == BFTM_MSG_WAIT,
		.mode = type == BFTM_MSG_FREE || type == BFTM_MSG_INQUIRE ? want.mode :
									    BFTM_MODE_NL,
	};

	/* As on the kernel's stack. */
	memset(&step, 0xee, sizeof(step));
	bftm_host_answer(&h, &cfg, u, &msg, now, &step);
	return step.event;
}

static enum bftm_host_event all_tell(u32 set, u8 type, u64 now)
{
	enum bftm_host_event event = BFTM_HOST_NOTHING;
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1) {
			assert_int_equal(event, BFTM_HOST_NOTHING);
			event = host_says(u, type, 1, now);
		}
	return event;
}

static enum bftm_host_event host_wakes(u64 now)
{
	bftm_host_wake(&h, &cfg, now, &step);
	return step.event;
}

/* F of those asked win it. Return: these. */
static u32 hold(u64 now)
{
	u32 asked = begin(now);

	while (bftm_count(asked) > 5)
		asked &= asked - 1;
	assert_int_equal(all_tell(asked, BFTM_MSG_FREE, now + 1), BFTM_HOST_WON);
	assert_int_equal(h.state, BFTM_HOST_HOLD);
	return asked;
}

static void assert_over_at(u32 asked, bool doubt)
{
	assert_int_equal(h.state, BFTM_HOST_END);
	assert_int_equal(step.out.release_to, asked);
	assert_int_equal(step.out.release_attempt, 1);
	assert_int_equal(step.out.release_doubt, doubt);
	assert_int_equal(tried(), 0);
}

#endif /* BFTM_UNIT_HOST_H */
