// SPDX-License-Identifier: GPL-2.0
// prove: memory all_servers bftm_ask_start bftm_ask_server bftm_ask_inherit bftm_ask_forget bftm_ask_lock bftm_ask_released bftm_ask_release_heard: every server and name
// prove: memory all_attempts bftm_ask_begin bftm_ask_more bftm_ask_won: whatever is known of servers, and every request
// prove: memory all_heard bftm_ask_heard bftm_ask_due bftm_ask_late: every attempt, and every server's answer to it
// frama-c: -eva-precision 0 -eva-plevel 500 -eva-use-spec bftm_kth_largest
#include "any_client.h"

/* Proved in wp_quorum.c. */
/*@ requires n <= 31 && \valid_read(value + (0 .. n - 1));
  @ assigns \result \from value[0 .. n - 1], n, k;
  @*/
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

#include "core/ask.c"

static struct bftm_ask_state any_ask;

/* The state of a host is within the limits that core/ask.h names. */
static struct bftm_ask_state *any_ask_state(void)
{
	u32 u;

	any(any_ask);
	any_ask.adapts = any_bool();
	any_ask.missed = (u32)any_from(0, BFTM_ASK_ONE);
	any_ask.spare = (u32)any_from(0, BFTM_SERVERS_MAX);
	//@ loop unroll 31;
	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		any_ask.server[u].level = (u32)any_from(0, 7);
	return any_bool() ? &any_ask : NULL;
}

static struct bftm_client_cfg any_cfg(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();

	cfg.ask = any_ask_state();
	return cfg;
}

void all_servers(void)
{
	static struct bftm_ask_state from;
	u8 name[BFTM_NAME_LEN_MAX];

	any(any_ask);
	bftm_ask_start(&any_ask, any_bool());
	bftm_ask_server(&any_ask, (u32)any_from(0, BFTM_SERVERS_MAX - 1), (u32)any_from(0, ~0u),
			(u32)any_from(0, ~0u));
	any(from);
	from.adapts = any_bool();
	bftm_ask_inherit(&any_ask, &from);
	bftm_ask_forget(&any_ask, (u32)any_from(0, BFTM_SERVERS_MAX - 1));
	any(name);
	bftm_ask_lock(name, (u32)any_from(0, BFTM_NAME_LEN_MAX));
	bftm_ask_released(any_bool() ? &any_ask : NULL, any_from(0, ~0ull),
			  (u32)any_from(0, ~0u), ANY_TIME);
	bftm_ask_release_heard(any_bool() ? &any_ask : NULL, any_from(0, ~0ull),
			       (u32)any_from(0, BFTM_SERVERS_MAX - 1));
}

void all_attempts(void)
{
	struct bftm_client_cfg cfg = any_cfg();
	struct bftm_want want = any_want();
	struct bftm_asking t;

	bftm_ask_begin(&cfg, &want, ANY_TIME, &t);
	t = any_asking();
	bftm_ask_more(&t, (u32)any_from(0, ~0u), ANY_TIME);
	bftm_ask_won(&cfg, &t, (u32)any_from(0, ~0u));
}

void all_heard(void)
{
	struct bftm_client_cfg cfg = any_cfg();
	struct bftm_asking t = any_asking();
	struct bftm_late late = any_late();
	struct bftm_msg msg = any_answer();

	bftm_ask_due(&cfg, &t, ANY_TIME);
	bftm_ask_late(&cfg, &late, (u32)any_from(0, BFTM_SERVERS_MAX - 1), &msg, ANY_TIME);
	t = any_asking();
	bftm_ask_heard(&cfg, &t, (u32)any_from(0, BFTM_SERVERS_MAX - 1), any_bool(), ANY_TIME,
		       ANY_TIME);
}
