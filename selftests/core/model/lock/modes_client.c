// SPDX-License-Identifier: GPL-2.0
/* Clients of the worlds with modes: the shipped core between one event and the next. */
#include <err.h>

#include "modes.h"
#include "node.h"

static struct bftm_client_cfg client_cfg(void)
{
	/* Timers of 0 are due at once and fire whenever we like. */
	return (struct bftm_client_cfg){ .n = plan.n, .b = plan.b, .rho_ppm = RHO_PPM };
}

static u64 time_of(const struct m_asker *m, u8 k)
{
	return k ? NOW - (u64)(int64_t)m->age[k - 1] : 0;
}

static void load_asker(const struct modes_world *w, u32 c, struct bftm_contend *cc)
{
	const struct bftm_client_cfg cfg = client_cfg();
	const struct m_asker *m = &w->client[c];
	u32 u;
	u8 k;

	memset(cc, 0, offsetof(struct bftm_contend, server));
	cc->base.phase = m->phase;
	cc->base.want.lease_ns = node_lease(c);
	cc->base.want.wait = BFTM_WAIT_QUEUE;
	cc->base.want.mode = m->want;
	cc->base.attempt = CURRENT;
	cc->base.prio = c + 1;
	cc->base.sends = m->sends;
	cc->held = m->held;
	cc->resort = m->held;
	cc->cut_k = m->cut_k;
	for (k = 1; k <= m->sends; k++)
		cc->sent_ns[k % BFTM_SENDS] = time_of(m, k);
	for (u = 0; u < plan.n; u++) {
		const struct m_share *s = &w->share[u][c];

		cc->server[u] = (struct bftm_answer){
			.type = s->known_k ? BFTM_MSG_FREE : BFTM_MSG_NONE,
			.k = s->known_k,
			.from_ns = time_of(m, s->from), .more_ns = time_of(m, s->more),
			.granted = modes_number(s->granted), .yielded = modes_number(s->yielded),
		};
	}
	if (m->phase == BFTM_PHASE_HOLD)
		cc->base.wake_ns = bftm_contend_end(cc, &cfg) + 1;
}

/* The first of the sends at this time: times decide, and not numbers. */
static u8 sent_at(const struct bftm_contend *cc, u64 time)
{
	u8 k;

	for (k = 1; time && k <= cc->base.sends; k++)
		if (cc->sent_ns[k % BFTM_SENDS] == time)
			return k;
	return 0;
}

static u8 grant_of(u64 number)
{
	return number ? (u8)(number - modes_number(1) + 1) : 0;
}

static void store_asker(struct modes_world *w, u32 c, const struct bftm_contend *cc)
{
	struct m_asker *m = &w->client[c];
	u32 u;
	u8 k;

	if (cc->base.sends > MODES_SENDS || cc->base.phase == BFTM_PHASE_VALUE ||
	    cc->base.phase == BFTM_PHASE_FENCE)
		errx(2, "a client does what there is no place for");
	m->phase = cc->base.phase == BFTM_PHASE_BACKOFF ? BFTM_PHASE_DEAD : (u8)cc->base.phase;
	m->held = m->phase == BFTM_PHASE_HOLD ? cc->held : BFTM_MODE_NL;
	m->want = cc->base.want.mode;
	m->sends = (u8)cc->base.sends;
	m->cut_k = (u8)cc->cut_k;
	for (k = 1; k <= m->sends; k++)
		m->age[k - 1] = (s32)(int64_t)(NOW - cc->sent_ns[k % BFTM_SENDS]);
	for (u = 0; u < plan.n; u++) {
		const struct bftm_answer *a = &cc->server[u];
		struct m_share *s = &w->share[u][c];

		s->known_k = (u8)a->k;
		s->from = a->k ? sent_at(cc, a->from_ns) : 0;
		s->more = sent_at(cc, a->more_ns);
		s->granted = grant_of(a->granted);
		s->yielded = grant_of(a->yielded);
	}
}

static void call_core(struct bftm_contend *cc, const struct event *e, struct bftm_out *out)
{
	const struct bftm_client_cfg cfg = client_cfg();
	const struct bftm_msg msg = {
		.type = e->type, .attempt = CURRENT, .k = e->k, .mode = e->mode,
		.gno = modes_number(e->grant), .client = e->client + 1u, .server = e->server + 1u,
	};
	const struct bftm_want want = {
		.lease_ns = node_lease(e->client), .wait = BFTM_WAIT_QUEUE, .mode = e->mode,
	};
	const struct bftm_conversion to = { .mode = e->mode };

	switch (e->kind) {
	case START:
		bftm_contend_start(cc, &cfg, &want, CURRENT, reading(e), out);
		break;
	case RESEND:
		if (cc->base.phase == BFTM_PHASE_HOLD)
			bftm_contend_renew(cc, &cfg, reading(e), out);
		else
			bftm_contend_wake(cc, &cfg, reading(e), 0, 0, out);
		break;
	case STOP:
		bftm_contend_stop(cc, &cfg, out);
		break;
	case CONVERT:
		bftm_contend_convert(cc, &cfg, &to, reading(e), out);
		break;
	case KEEP:
		bftm_contend_keep(cc, &cfg, reading(e), out);
		break;
	case ANSWER:
		bftm_contend_answer(cc, &cfg, e->server, &msg, reading(e), 0, out);
		break;
	default:
		bftm_contend_wake(cc, &cfg, reading(e), 0, 0, out);
	}
}

/* The messages of a client stay in the network. */
static void note_sends(struct modes_world *w, u32 c, const struct bftm_contend *cc, u8 held,
		       const struct bftm_out *out)
{
	struct m_asker *m = &w->client[c];
	struct bftm_msg msg;
	u32 i;

	for (i = 0; i < out->count; i++) {
		const struct bftm_send *send = &out->send[i];
		u32 u = bftm_lowest(send->to);
		struct m_share *s = &w->share[u][c];

		bftm_contender_message(&cc->base, send, send->to, &msg);
		if (msg.type == BFTM_MSG_TRY) {
			m->tried[msg.k - 1] = (u8)msg.mode;
			m->said[msg.k - 1] = msg.arg;
			continue;
		}
		if (msg.type != BFTM_MSG_YIELD)
			errx(2, "a client sends what is not expected of it");
		if (!bftm_mode_covers(msg.arg, held))
			w->fault = FAULT_YIELDED;
		if (!is_liar(u) && s->mode && grant_of(msg.gno) == s->grant)
			s->keeps |= (u8)(1u << msg.arg);
	}
}

/* R2: all servers hear at once that it is over. */
static void release_all(struct modes_world *w, u32 c)
{
	const u8 nobody[CLIENTS_MAX] = { 0 };
	struct event e = { .kind = REQUEST, .type = BFTM_MSG_RELEASE, .client = (u8)c };
	u32 u;

	for (u = 0; u < correct_servers(); u++) {
		e.server = (u8)u;
		modes_serve(w, &e, nobody);
	}
	for (u = 0; u < plan.n; u++)
		memset(&w->share[u][c], 0, sizeof(w->share[u][c]));
	memset(&w->client[c], 0, sizeof(w->client[c]));
}

static void run_asker(struct modes_world *w, const struct event *e)
{
	const struct bftm_client_cfg cfg = client_cfg();
	static struct bftm_contend cc;
	const u32 c = e->client;
	bool holds = w->client[c].phase == BFTM_PHASE_HOLD, was_inside = modes_inside(w, c);
	u8 held = w->client[c].held;
	struct bftm_out out;

	load_asker(w, c, &cc);
	call_core(&cc, e, &out);
	store_asker(w, c, &cc);
	note_sends(w, c, &cc, held, &out);
	if ((out.verdict == BFTM_WON || out.verdict == BFTM_CONVERTED) &&
	    bftm_contend_end(&cc, &cfg) < reading(e))
		w->fault = FAULT_LATE;
	if (out.release_to && w->client[c].phase != BFTM_PHASE_DEAD)
		w->fault = FAULT_RELEASED;
	if (holds && !was_inside && modes_inside(w, c))
		w->fault = FAULT_REVIVED;
	if (w->client[c].phase == BFTM_PHASE_DEAD)
		release_all(w, c);
}

/* A liar grants all that is asked for. */
static void liars_grant(struct modes_world *w, u32 c)
{
	struct event e = {
		.kind = ANSWER, .type = BFTM_MSG_FREE, .client = (u8)c, .mode = BFTM_MODE_EX,
		.grant = 1, .old = true, .k = w->client[c].sends,
	};
	u32 u;

	for (u = correct_servers(); u < plan.n && !plan.silent; u++) {
		e.server = (u8)u;
		if (w->client[c].phase != BFTM_PHASE_DEAD)
			run_asker(w, &e);
	}
}

void modes_act(struct modes_world *w, const struct event *e)
{
	run_asker(w, e);
	if (e->kind == CONVERT && w->client[e->client].phase != BFTM_PHASE_DEAD)
		w->client[e->client].conversions++;
	liars_grant(w, e->client);
}

void modes_answer(struct modes_world *w, const struct event *e)
{
	run_asker(w, e);
	liars_grant(w, e->client);
}

enum bftm_mode modes_inside(const struct modes_world *w, u32 c)
{
	const struct bftm_client_cfg cfg = client_cfg();
	static struct bftm_contend cc;

	if (w->client[c].phase != BFTM_PHASE_HOLD)
		return BFTM_MODE_NL;
	load_asker(w, c, &cc);
	return NOW - BFTM_TICK_NS <= bftm_contend_end(&cc, &cfg) ? bftm_contend_held(&cc) :
								    BFTM_MODE_NL;
}
