// SPDX-License-Identifier: GPL-2.0
// prove: memory all_hosts bftm_host_begin bftm_host_unsent bftm_host_unreleased bftm_host_answer bftm_host_epoch bftm_host_renew bftm_host_reached bftm_host_silent bftm_host_in_vain bftm_host_wake bftm_host_stop: every attempt of a kernel, whatever its client and servers say
// prove: memory all_ended bftm_ended_note bftm_ended_stray: every ring, and every answer
// frama-c: -eva-precision 0 -eva-plevel 500
#include "any_client.h"
#include "core/backoff/host.h"

#include "core/ask.c"
#include "core/release.c"
#include "core/backoff/host.c"
#include "core/backoff/ended.c"

static struct bftm_contend c;

/* Any client: what it does to itself, and what it says. */
static void any_start(struct bftm_contender *client, const struct bftm_client_cfg *cfg,
		      const struct bftm_want *want, u64 attempt, u64 now, struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static void any_told(struct bftm_contender *client, const struct bftm_client_cfg *cfg, u32 u,
		     const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static void any_wake(struct bftm_contender *client, const struct bftm_client_cfg *cfg, u64 now,
		     u64 attempt, u64 rnd, struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static void any_stop(struct bftm_contender *client, const struct bftm_client_cfg *cfg,
		     struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static void any_epoch(struct bftm_contender *client, u32 u, struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static void any_renew(struct bftm_contender *client, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out)
{
	any_contend(&c);
	*out = any_out();
}

static u64 any_end(const struct bftm_contender *client, const struct bftm_client_cfg *cfg)
{
	return ANY_TIME;
}

static const struct bftm_client_ops core = {
	.start = any_start, .answer = any_told, .wake = any_wake, .stop = any_stop, .end = any_end,
	.epoch = any_epoch, .renew = any_renew,
};

static struct bftm_host any_host(void)
{
	struct bftm_host h;

	any(h);
	h.state = (enum bftm_host_state)any_from(BFTM_HOST_ASK, BFTM_HOST_END);
	h.core = &core;
	h.client = &c.base;
	h.yielded = any_bool();
	h.due_ns = ANY_TIME;
	h.release.surely = any_bool();
	h.release.doubt = any_bool();
	h.release.written = any_written();
	h.release.late = any_late();
	h.release.wake_ns = ANY_TIME;
	any_contend(&c);
	return h;
}

void all_hosts(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_want want = any_want();
	struct bftm_msg msg = any_answer();
	struct bftm_host h = any_host();
	struct bftm_host_step step;

	bftm_host_begin(&h, &cfg, &want, any_from(0, ~0ull), ANY_TIME, &step);
	h = any_host();
	bftm_host_unsent(&h, &cfg, (u32)any_from(0, ~0u), ANY_TIME, &step);
	h = any_host();
	bftm_host_unreleased(&h, ANY_TIME);
	h = any_host();
	bftm_host_answer(&h, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1), &msg, ANY_TIME, &step);
	bftm_host_reached(&h, &cfg);
	bftm_host_in_vain(&h, &cfg);
	h = any_host();
	bftm_host_silent(&h);
	h = any_host();
	bftm_host_epoch(&h, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1), ANY_TIME, &step);
	h = any_host();
	bftm_host_renew(&h, &cfg, ANY_TIME, &step);
	h = any_host();
	bftm_host_wake(&h, &cfg, ANY_TIME, &step);
	h = any_host();
	bftm_host_stop(&h, &cfg, any_bool(), ANY_TIME, &step);
}

void all_ended(void)
{
	struct bftm_msg msg = any_answer(), release;
	struct bftm_ended ended;

	any(ended);
	msg.name_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	bftm_ended_note(&ended, any_from(0, ~0ull));
	bftm_ended_stray(&ended, &msg, &release);
}
