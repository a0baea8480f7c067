/* SPDX-License-Identifier: GPL-2.0 */
/* Clients of locks in any state, and answers to them, for Eva. */
#ifndef PROOF_ANY_CLIENT_H
#define PROOF_ANY_CLIENT_H

#include "any.h"
#include "core/backoff/contend.h"

static enum bftm_mode any_wanted_mode(void)
{
	return (enum bftm_mode)any_from(BFTM_MODE_CR, BFTM_MODE_EX);
}

/* A builtin counts the zeros below the lowest bit; nothing else in the core calls it. */
/*@ requires some: 0 < servers < 0x80000000;
  @ assigns \result \from servers;
  @ ensures \result < BFTM_SERVERS_MAX;
  @*/
static inline u32 bftm_lowest(u32 servers);

/* It asks all: eva_ask.c is about whom others ask. */
static struct bftm_client_cfg any_client_cfg(void)
{
	return (struct bftm_client_cfg){
		.n = (u32)any_from(1, BFTM_SERVERS_MAX),
		.b = (u32)any_from(0, (BFTM_SERVERS_MAX - 1) / 3),
		.m = (u32)any_from(0, BFTM_SERVERS_MAX),
		.forgetful = (u32)any_from(0, ~0u),
		.older = (u32)any_from(0, ~0u),
		.rho_ppm = (u32)any_from(BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM),
		.literal = any_bool(),
		.polynomial = any_bool(),
		.leaseless = any_bool(),
		.exponent = (u32)any_from(0, ~0u),
		.delta_ns = ANY_TIME / 16,
		.resend_ns = ANY_TIME / 16,
		.retry_max_ns = ANY_TIME,
	};
}

static struct bftm_written any_written(void)
{
	struct bftm_written written;

	any(written);
	written.any = any_bool();
	written.len = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	return written;
}

static struct bftm_want any_want(void)
{
	return (struct bftm_want){
		.lease_ns = any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS),
		.wait = (enum bftm_wait)any_from(BFTM_WAIT_QUEUE, BFTM_WAIT_NOT),
		.mode = any_wanted_mode(),
		.renew = any_bool(),
		.fence = any_bool(),
		.value = any_bool(),
		.whole = any_bool(),
		.lock = any_from(0, ~0ull),
	};
}

static struct bftm_asking any_asking(void)
{
	struct bftm_asking t;

	any(t);
	t.judged = any_bool();
	t.again = any_bool();
	t.begun_ns = ANY_TIME;
	t.hedge_ns = ANY_TIME;
	return t;
}

static struct bftm_late any_late(void)
{
	struct bftm_late late;

	late.asking = any_asking();
	late.mode = (u8)any_from(BFTM_MODE_NL, BFTM_MODE_EX);
	late.sends = (u32)any_from(0, ~0u);
	return late;
}

/* The held mode is one of the modes, whatever the phase is. */
static void any_contend(struct bftm_contend *c)
{
	u32 u;

	any(*c);
	c->base.phase = (enum bftm_phase)any_from(BFTM_PHASE_DEAD, BFTM_PHASE_HOLD);
	c->base.want = any_want();
	c->base.written = any_written();
	c->base.asking = any_asking();
	c->base.wanted = any_bool();
	c->announced = any_bool();
	c->reached = any_bool();
	c->once = any_bool();
	c->fences = any_bool();
	c->stamps_anew = any_bool();
	c->reads_anew = any_bool();
	c->held = (u8)any_wanted_mode();
	c->resort = (u8)any_wanted_mode();
	//@ loop unroll 31;
	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		c->server[u].value_told = any_bool();
		c->server[u].value_doubt = any_bool();
		c->server[u].value_len = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	}
}

/* Of the form that bftm_wire_get() demands: value_fits() of core/wire.c. */
static struct bftm_msg any_answer(void)
{
	struct bftm_msg msg;

	any(msg);
	msg.mode = (u8)any_from(BFTM_MODE_NL, BFTM_MODE_EX);
	msg.value_len = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	msg.value_room = (u8)any_from(0, BFTM_VALUE_LEN_MAX);
	return msg;
}

static struct bftm_out any_out(void)
{
	struct bftm_out out;

	any(out);
	out.verdict = (enum bftm_verdict)any_from(BFTM_PENDING, BFTM_KEPT);
	out.kept = (enum bftm_kept)any_from(BFTM_KEPT_ASKED, BFTM_KEPT_TOKENS);
	out.count = (u32)any_from(0, BFTM_OUT_SENDS);
	out.release_doubt = any_bool();
	out.round_over = any_bool();
	out.extended = any_bool();
	out.written = any_written();
	out.release_surely = any_bool();
	out.late = any_late();
	return out;
}

#endif
