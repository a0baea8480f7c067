// SPDX-License-Identifier: GPL-2.0
/* Clients of the worlds with members: the shipped core, and what a daemon does around it. */
#include <err.h>

#include "core/peer.h"
#include "members.h"

#define SENT_NS(k)	(NOW - BFTM_SENDS + (k))
#define L_GNO		7

static struct bftm_client_cfg member_cfg(void)
{
	return (struct bftm_client_cfg){
		.n = plan.n, .b = plan.b, .rho_ppm = 2000, .leaseless = true,
	};
}

static const struct bftm_want wanted = {
	.lease_ns = BFTM_LEASE_NONE, .wait = BFTM_WAIT_BACKOFF, .mode = BFTM_MODE_EX,
};

static void load_member(const struct members_world *w, u32 c, struct bftm_contend *cc)
{
	const struct l_member *m = &w->client[c];
	u32 u, k;

	memset(cc, 0, sizeof(*cc));
	cc->base.phase = m->phase;
	cc->base.want = wanted;
	cc->base.attempt = (u64)m->boot << 32 | 1;
	cc->base.prio = c + 1;
	cc->base.sends = m->sends;
	cc->held = m->phase == BFTM_PHASE_HOLD ? BFTM_MODE_EX : BFTM_MODE_NL;
	for (k = 1; k <= m->sends; k++)
		cc->sent_ns[k % BFTM_SENDS] = SENT_NS(k);
	for (u = 0; u < plan.n; u++) {
		const struct l_share *s = &w->server[u].share[c];

		cc->reasserts |= (u32)s->reasserts << u;
		cc->server[u].type = s->answered ? BFTM_MSG_FREE : BFTM_MSG_NONE;
		cc->server[u].k = s->answered;
		cc->server[u].from_ns = s->answered ? SENT_NS(s->answered) : 0;
		cc->server[u].granted = s->answered ? L_GNO : 0;
	}
}

static void store_member(struct members_world *w, u32 c, const struct bftm_contend *cc)
{
	struct l_member *m = &w->client[c];
	u32 u;

	w->over |= cc->base.sends > L_SENDS;
	if (cc->base.phase == BFTM_PHASE_VALUE || cc->base.phase == BFTM_PHASE_FENCE)
		errx(2, "a member does what there is no place for");
	m->phase = cc->base.phase == BFTM_PHASE_BACKOFF ? BFTM_PHASE_DEAD : (u8)cc->base.phase;
	m->sends = (u8)cc->base.sends;
	for (u = 0; u < plan.n; u++) {
		w->server[u].share[c].answered = (u8)cc->server[u].k;
		w->server[u].share[c].reasserts = cc->reasserts >> u & 1;
	}
}

void members_forget(struct members_world *w, u32 c, u32 boot)
{
	u32 u;

	for (u = 0; u < plan.n; u++) {
		struct l_share *s = &w->server[u].share[c];

		s->k[boot - 1] = 0;
		s->held[boot - 1] = 0;
		memset(s->tries[boot - 1], 0, sizeof(s->tries[0]));
		memset(s->frees[boot - 1], 0, sizeof(s->frees[0]));
		s->answered = 0;
		s->reasserts = 0;
	}
}

static void note_out(struct members_world *w, u32 c, const struct bftm_out *out)
{
	struct l_member *m = &w->client[c];
	u32 i, u;

	for (i = 0; i < out->count && !w->over; i++) {
		const struct bftm_send *send = &out->send[i];

		if (send->type != BFTM_MSG_TRY)
			errx(2, "a member sends what is not expected of it");
		if (send->flags & BFTM_FLAG_REASSERT)
			m->asserts |= (u8)(1u << send->k);
		for (u = 0; u < plan.n; u++)
			if (send->to >> u & 1)
				w->server[u].share[c].tries[m->boot - 1][send->k - 1] |=
					(u8)(1u << w->server[u].share[c].sent);
	}
	if (m->phase != BFTM_PHASE_DEAD)
		return;
	members_forget(w, c, m->boot);
	m->sends = 0;
	m->asserts = 0;
}

#define VOID_SEQ	1	/* of a HELLO that was said before the numbers were voided last */
#define FRESH_SEQ	2
#define LAST_SEQ	3

/* The daemon hears of a start: what waits asks there again, what is held is told there. */
static void take_challenge(struct members_world *w, const struct event *e, struct bftm_contend *cc)
{
	const struct bftm_client_cfg cfg = member_cfg();
	struct l_share *s = &w->server[e->server].share[e->client];
	struct bftm_peer_epochs p = {
		.epoch = s->epoch, .sent_epoch = s->sent, .challenge_seq = VOID_SEQ,
	};
	const struct bftm_msg msg = {
		.type = BFTM_MSG_CHALLENGE, .server_epoch = e->grant,
		.seq = e->old ? VOID_SEQ : FRESH_SEQ,
	};
	struct bftm_out out = {};

	if (bftm_peer_challenge(&p, &msg, LAST_SEQ) == BFTM_PEER_NEW)
		bftm_contend_restarted(cc, &cfg, e->server, NOW, &out);
	s->epoch = (u8)p.epoch;
	s->sent = (u8)p.sent_epoch;
	if (p.challenge_seq == LAST_SEQ)
		s->fresh = w->server[e->server].start;
	store_member(w, e->client, cc);
	note_out(w, e->client, &out);
	if (cc->base.phase != BFTM_PHASE_TRY)
		return;
	bftm_contend_again(cc, e->server, &out);
	note_out(w, e->client, &out);
}

static void say_sync(struct members_world *w, u32 c)
{
	static struct bftm_contend cc;
	u32 u;

	load_member(w, c, &cc);
	for (u = 0; u < plan.n; u++) {
		struct l_share *s = &w->server[u].share[c];
		struct bftm_peer_epochs p = { .epoch = s->epoch, .sent_epoch = s->sent };

		if (bftm_peer_sync(&p, bftm_contend_retold(&cc, u), NOW, 0))
			s->syncs[w->client[c].boot - 1] |= (u8)(1u << s->sent);
	}
}

static void take_free(struct members_world *w, const struct event *e, struct bftm_contend *cc,
		      struct bftm_out *out)
{
	const struct bftm_client_cfg cfg = member_cfg();
	const struct bftm_msg msg = {
		.type = BFTM_MSG_FREE, .attempt = cc->base.attempt, .k = e->k, .mode = BFTM_MODE_EX,
		.gno = L_GNO, .server_epoch = e->grant,
	};

	if (bftm_epoch_known(&msg, w->server[e->server].share[e->client].epoch))
		bftm_contend_answer(cc, &cfg, e->server, &msg, NOW, 0, out);
}

static void member_steps(struct members_world *w, const struct event *e)
{
	const struct bftm_client_cfg cfg = member_cfg();
	struct l_member *m = &w->client[e->client];
	static struct bftm_contend cc;
	struct bftm_out out = {};

	load_member(w, e->client, &cc);
	switch (e->kind) {
	case START:
		bftm_contend_start(&cc, &cfg, &wanted, cc.base.attempt, NOW, &out);
		m->begun = 1;
		break;
	case STOP:
		bftm_contend_stop(&cc, &cfg, &out);
		break;
	case ANSWER:
		take_free(w, e, &cc, &out);
		break;
	default:
		take_challenge(w, e, &cc);
		return;
	}
	store_member(w, e->client, &cc);
	note_out(w, e->client, &out);
}

/* A liar grants all that is asked for. */
static void liars_free(struct members_world *w, u32 c)
{
	struct event e = { .kind = ANSWER, .client = (u8)c };
	u32 u;

	for (u = correct_servers(); u < plan.n; u++) {
		e.server = (u8)u;
		e.k = w->client[c].sends;
		e.grant = w->server[u].share[c].epoch;
		if (e.k && w->client[c].phase != BFTM_PHASE_DEAD)
			member_steps(w, &e);
	}
}

void members_act(struct members_world *w, const struct event *e)
{
	member_steps(w, e);
	liars_free(w, e->client);
	say_sync(w, e->client);
}

bool members_inside(const struct members_world *w, u32 c)
{
	return w->client[c].runs && w->client[c].phase == BFTM_PHASE_HOLD;
}
