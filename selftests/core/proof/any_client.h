/* SPDX-License-Identifier: GPL-2.0 */
/* Clients of locks in any state, for Eva. */
#ifndef PROOF_ANY_CLIENT_H
#define PROOF_ANY_CLIENT_H

#include "any.h"
#include "core/backoff/client.h"

static struct bftm_client_cfg any_cluster(void)
{
	struct bftm_client_cfg cfg;

	any(cfg);
	cfg.n = (u32)any_from(1, BFTM_SERVERS_MAX);
	cfg.b = (u32)any_from(0, (BFTM_SERVERS_MAX - 1) / 3);
	cfg.rho_ppm = (u32)any_from(BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM);
	cfg.literal = any_bool();
	cfg.polynomial = any_bool();
	cfg.exponent = (u32)any_from(0, 8);
	cfg.delta_ns = any_from(BFTM_DELTA_MIN_NS, BFTM_DELTA_MAX_NS);
	cfg.resend_ns = any_from(0, BFTM_RESEND_DELTAS * BFTM_DELTA_MAX_NS);
	cfg.retry_max_ns = ANY_TIME;
	return cfg;
}

static struct bftm_want any_want(void)
{
	return (struct bftm_want){
		.lease_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS),
		.wait = (enum bftm_wait)any_from(0, BFTM_WAIT_NOT),
		.renew = any_bool(),
		.fence = any_bool(),
	};
}

static struct bftm_contend any_contend(void)
{
	struct bftm_contend c;
	u32 i;

	any(c);
	c.phase = (enum bftm_phase)any_from(0, BFTM_PHASE_HOLD);
	c.want = any_want();
	c.reached = any_bool();
	c.wake_ns = ANY_TIME;
	c.poll_ns = ANY_TIME;
	c.resend_ns = ANY_TIME;
	c.known_end_ns = ANY_TIME;
	c.fence_ns = ANY_TIME;
	for (i = 0; i < BFTM_SENDS; i++)
		c.sent_ns[i] = ANY_TIME;
	for (i = 0; i < BFTM_SERVERS_MAX; i++)
		c.server[i].from_ns = ANY_TIME;
	return c;
}

static struct bftm_msg any_answer(void)
{
	struct bftm_msg msg;

	any(msg);
	msg.name_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	return msg;
}

#endif
