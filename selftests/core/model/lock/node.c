// SPDX-License-Identifier: GPL-2.0
/*
 * Between the small worlds of the model and the states of the cores. Every
 * decision is the cores': a state is made, one of their functions is called,
 * and what it left is read back. Absolute times do not exist in a world: a
 * fresh clock always shows NOW, and all else is kept relative to it.
 *
 * Fields that are not kept (gno, lam, prio, the server's k, retries, rounds)
 * influence nothing that is; with plan.twice each call is made with two sets
 * of values in them, and the results are compared.
 */
#include <err.h>

#include "core/lease.h"
#include "node.h"

static u64 lease[2];		/* Δ, and that of an uneven last client */
u64 node_lease_max;
static s32 pace[2];		/* of a slow and a fast clock, in a part of Δ */
static s32 moment[2];		/* likewise, in ε */
static struct bftm_client_cfg client_cfg[CLIENTS_MAX];

void node_setup(void)
{
	u64 unit = 10ull * plan.steps;
	u64 part, epsilon = plan.fine ? BFTM_TICK_NS / 10 : BFTM_TICK_NS * 10;
	u64 slew = 10;
	u32 c, u;

	lease[0] = (BFTM_LEASE_MIN_NS + unit - 1) / unit * unit;
	lease[1] = 2 * lease[0];
	node_lease_max = lease[plan.uneven];
	part = lease[0] / plan.steps;
	if (plan.instants * epsilon >= part)
		errx(2, "so many instants are longer than a part of a lease");
	/* ρ is a tenth, and both are multiples of ten. */
	if (plan.speeds == SPEEDS_EVEN)
		slew = part + 1;
	pace[0] = (s32)(part - part / slew);
	pace[1] = (s32)(part + part / slew);
	moment[0] = (s32)(epsilon - epsilon / slew);
	moment[1] = (s32)(epsilon + epsilon / slew);
	for (c = 0; c < plan.clients; c++) {
		u32 m = plan.first_m && !c ? plan.first_m : plan.m;

		client_cfg[c] = (struct bftm_client_cfg){
			.n = plan.n, .b = plan.b, .m = m, .rho_ppm = RHO_PPM,
			.literal = plan.literal,
			/* Timers of 0 are due at once and fire whenever we like. */
			.resend_ns = 0,
		};
		for (u = 0; u < correct_servers(); u++)
			bftm_client_challenge(&client_cfg[c], u, &(struct bftm_msg){
				.spared = (u8)plan.says,
			});
	}
}

u64 node_lease(u32 c)
{
	return lease[plan.uneven && c == plan.clients - 1];
}

s32 node_pace(bool fast)
{
	return pace[fast];
}

s32 node_gain(u8 instant, bool fast)
{
	if (instant + 1u < plan.instants)
		return moment[fast];
	return pace[fast] - instant * moment[fast];
}

static void load_contend(const struct world *w, u32 c, u64 noise,
			 struct bftm_contend *cc)
{
	const struct m_client *m = &w->client[c];
	u32 u, k;

	memset(cc, 0, offsetof(struct bftm_contend, server));
	cc->base.phase = m->phase;
	cc->base.want.lease_ns = node_lease(c);
	cc->base.want.wait = queues(c) ? BFTM_WAIT_QUEUE : BFTM_WAIT_NO_BACKOFF;
	cc->base.want.mode = BFTM_MODE_EX;
	cc->held = m->phase == BFTM_PHASE_HOLD ? BFTM_MODE_EX : BFTM_MODE_NL;
	cc->base.attempt = m->attempt;
	cc->base.prio = noise;
	cc->retries = (u32)noise % 8;
	cc->base.rounds = (u32)noise;
	cc->base.sends = m->sends;
	for (k = 1; k <= m->sends; k++)
		cc->sent_ns[k % BFTM_SENDS] = NOW - (u64)(int64_t)m->age[k - 1];
	for (u = 0; u < plan.n; u++) {
		const struct m_known *known = &m->known[u];

		cc->server[u] = (struct bftm_answer){
			.type = known->type, .k = known->k, .lam = noise,
			.refusal = known->type == BFTM_MSG_REFUSED,
			.from_ns = NOW - (u64)(int64_t)known->age,
			.granted = known->k ? number_of(GRANT_LAST) : 0,
			.yielded = number_of(is_liar(u) ? known->yielded :
					     plan.queue ? w->server[u].yielded[c] : 0),
		};
	}
	if (m->phase == BFTM_PHASE_HOLD)
		cc->base.wake_ns = bftm_contend_end(cc, &client_cfg[c]) + 1;
}

static void store_yielded(struct world *w, u32 c, u32 u, u64 yielded)
{
	u32 g = yielded ? (u32)(yielded + GRANT_LAST - GNO) : GRANT_NONE;

	if (is_liar(u))
		w->client[c].known[u].yielded = (u8)g;
	else
		w->server[u].yielded[c] = (u8)g;
}

static void store_contend(struct world *w, u32 c, const struct bftm_contend *cc)
{
	struct m_client *m = &w->client[c];
	u32 u, k;

	m->phase = cc->base.phase == BFTM_PHASE_BACKOFF ? BFTM_PHASE_DEAD :
						     (u8)cc->base.phase;
	m->attempt = (u8)cc->base.attempt;
	m->sends = (u8)cc->base.sends;
	for (k = 1; k <= cc->base.sends; k++)
		m->age[k - 1] = (s32)(int64_t)(NOW - cc->sent_ns[k % BFTM_SENDS]);
	for (u = 0; u < plan.n; u++) {
		m->known[u].type = cc->server[u].type;
		m->known[u].k = (u8)cc->server[u].k;
		m->known[u].age = cc->server[u].k ?
			(s32)(int64_t)(NOW - cc->server[u].from_ns) : 0;
		if (plan.queue)
			store_yielded(w, c, u, cc->server[u].yielded);
	}
}

static void call(struct bftm_contend *cc, const struct event *e, u64 noise,
		 struct bftm_out *out)
{
	struct bftm_msg msg = {
		.type = e->type, .attempt = e->attempt, .k = e->k, .mode = BFTM_MODE_EX,
		.arg = BFTM_REFUSED_LEASE, .prio = noise,
		.gno = plan.queue ? number_of(e->grant) : noise,
		.client = e->client + 1u, .server = e->server + 1u,
	};
	const struct bftm_client_cfg *cfg = &client_cfg[e->client];
	struct bftm_want want = {
		.lease_ns = node_lease(e->client),
		.wait = queues(e->client) ? BFTM_WAIT_QUEUE : BFTM_WAIT_NO_BACKOFF,
		.mode = BFTM_MODE_EX,
	};

	switch (e->kind) {
	case START:
		bftm_contend_start(cc, cfg, &want, e->attempt,
				   reading(e), out);
		break;
	case RESEND:
		if (cc->base.phase == BFTM_PHASE_HOLD)
			bftm_contend_renew(cc, cfg, reading(e), out);
		else
			bftm_contend_wake(cc, cfg, reading(e), 0, noise, out);
		break;
	case STOP:
		bftm_contend_stop(cc, cfg, out);
		break;
	case ANSWER:
		bftm_contend_answer(cc, cfg, e->server, &msg,
				    reading(e), noise, out);
		break;
	default:
		bftm_contend_wake(cc, cfg, reading(e), 0, noise, out);
	}
}

/* RELEASE of what is not over may only go to the server that asked for it. */
static bool released_too_early(const struct world *w, const struct event *e,
			       const struct bftm_out *out)
{
	return out->release_to &&
	       !is_over(w, e->client, (u32)out->release_attempt) &&
	       (e->kind != ANSWER || !is_liar(e->server) ||
		out->release_to != 1u << e->server);
}

static void run(struct world *w, const struct event *e, struct bftm_out *out)
{
	static struct bftm_contend cc;
	struct world again;
	bool holds = w->client[e->client].phase == BFTM_PHASE_HOLD;
	u32 yield_to;

	if (plan.twice) {
		again = *w;
		load_contend(w, e->client, 1ull << 50, &cc);
		call(&cc, e, 1ull << 50, out);
		store_contend(&again, e->client, &cc);
	}
	load_contend(w, e->client, 7, &cc);
	call(&cc, e, 7, out);
	store_contend(w, e->client, &cc);
	/* cppcheck-suppress uninitvar; it was copied above, in the same case */
	if (plan.twice && memcmp(&again, w, sizeof(again)))
		errx(2, "a client's step depends on a field that is not kept");
	/*
	 * A held lock is kept; an attempt that is over yields nothing, and none yields to a client
	 * that did not ask.
	 */
	yield_to = bftm_out_to(out, BFTM_MSG_YIELD);
	if (yield_to && (out->send[0].arg != (holds ? BFTM_MODE_EX : BFTM_MODE_NL) ||
			 yield_to != 1u << e->server))
		w->fault = FAULT_RELEASED;
	if (out->verdict == BFTM_WON &&
	    bftm_contend_end(&cc, &client_cfg[e->client]) < reading(e))
		w->fault = FAULT_LATE;
	else if (released_too_early(w, e, out))
		w->fault = FAULT_RELEASED;
}

void node_act(struct world *w, const struct event *e)
{
	struct bftm_out out;

	run(w, e, &out);
}

void node_answer(struct world *w, struct event *e)
{
	bool held = w->client[e->client].phase == BFTM_PHASE_HOLD;
	bool was_inside = node_inside(w, e->client);
	struct bftm_out out;

	run(w, e, &out);
	e->won = out.verdict == BFTM_WON;
	if (held && !was_inside && node_inside(w, e->client))
		w->fault = FAULT_REVIVED;
}

int64_t node_left(const struct world *w, u32 c)
{
	static struct bftm_contend cc;

	load_contend(w, c, 0, &cc);
	return (int64_t)(bftm_contend_end(&cc, &client_cfg[c]) -
			 (NOW - BFTM_TICK_NS));
}

bool node_inside(const struct world *w, u32 c)
{
	return w->client[c].phase == BFTM_PHASE_HOLD && node_left(w, c) >= 0;
}

bool node_useful(u32 c, s32 age)
{
	/* Over by the oldest reading: by every other, and for ever. */
	return age <= (int64_t)bftm_lease_at_client(node_lease(c), RHO_PPM) +
		      (int64_t)BFTM_TICK_NS;
}
