// SPDX-License-Identifier: GPL-2.0
/*
 * Worlds that need not be told apart, and those that need not be looked at.
 *
 * settle() is exact: it drops what no core will ever look at again. The rest
 * (R1 … R6, unless plan.without) rests on an order. World y covers world x when both are
 * alike but that in y
 *
 *  (a) servers have forgotten more: no tomb where x has one, a grant of the
 *      same owner that ends earlier, no owner where x has any, a quarantine
 *      that ends earlier;
 *  (b) FREE of higher k, or of more servers, are in flight to or known by the
 *      same attempts, or their sends were later;
 *  (c) an attempt is over that in x holds, but past its end.
 *
 * Lemma. If x → x' in one event, then some y → … → y' without time passing,
 * or y itself, covers x'; if two are inside in x, so they are in y. Proof, for
 * all that can happen in x:
 *
 *  TRY at a server. x answers FREE: y has the same owner or none and answers
 *    FREE to it too, with the same end (until = now + Δ(1 + ρ) + tick, or what
 *    it was if later, which is less in y). x answers LOCKED or nothing: y lets
 *    the TRY be lost; the owner and end of x may have grown, which is (a).
 *  RELEASE, expiry, restart. x has no owner afterwards; y does the same. A
 *    restart gives both the same quarantine. With plan.forgets it may be that
 *    too many others are in theirs; in y there are no more.
 *  FREE at a client. Deliver what y has instead: ends in y are never earlier
 *    (each is monotone in (b), and so is the F-th largest), so y wins when x
 *    does, and holds as long: an end is only ever compared, now <= end. Whether y
 *    knows more changes nothing else.
 *  LOCKED, WAIT, REFUSED at a client. All they can do is to lose a round: then
 *    the attempt is over and RELEASE is sent. y stops it, which may be done at
 *    any time and has the same effect.
 *  START, RESEND, STOP, time: the same in y, and the order stays. An attempt
 *    that lapses, or dies by an answer past its end, is over in y already, or
 *    is stopped.                                                          □
 *
 * So when x was reached and y covers x, to go on from y alone misses no
 * violation. And none is made up, as y is either reached from x by events of
 * no duration, or differs by tombs only, which are a hint of the server that
 * must not be needed (they may be pushed out at any time). What is used:
 *
 *  R1 tombs are forgotten.
 *  R2 RELEASE of an attempt that is over arrives at its owners at once: (a).
 *     Owners are then always attempts that go on, so those that are over need
 *     no numbers of their own, and any number of attempts is one finite
 *     search: the current is CURRENT, and 1 stands for all before it (a core
 *     only asks whether two are equal, and by tombs whether one is older).
 *     Their messages are still delivered, in every world: nothing comes of it,
 *     which is not assumed but found.
 *  R3 FREE that can still count arrive when they decide (event WIN), all at
 *     once, and afterwards at once: (b). Until they decide they do nothing but
 *     be remembered, so they may as well arrive then. Of one server only the
 *     highest k matters: (b). A liar says FREE to the last send: (b). FREE for
 *     a send too old to count are dropped.
 *  R4 LOCKED, WAIT, REFUSED are not delivered while a round is open: STOP
 *     does the same.
 *  R5 clocks show what helps most. A send: fresh, so that it is later (b). An
 *     answer: old, so that the end has not come. A grant: old, so that it ends
 *     earlier (a); fresh only when that changes the answer. A restart: old.
 *  R6 of the TRYs in flight to a server the last is taken: same grant, higher
 *     k (b). One that brings no FREE that counts is not: before it y covers
 *     after it.
 *
 * With a queue (plan.queue) the lemma is not proven anew, but each step is tried
 * with and without R1 and R2. R3 holds as a FREE counts if and only if no later
 * INQUIRE names its grant, whichever comes first; R4 includes INQUIRE of liars,
 * which only takes their own FREE away; of R6 the second half is not used, as a
 * TRY that brings no FREE may still make an owner yield.
 *
 * That the reductions hide nothing is also tried: where there is room, a plan
 * is enumerated with and without them, and every broken core that must be
 * found out is found with them.
 */
#include "world.h"

static void settle_server(struct m_server *s)
{
	const s32 over = -(s32)BFTM_TICK_NS;	/* by an old reading too */

	/*
	 * A grant that is over is as good as none: TRY of its owner renews it,
	 * TRY of anybody is granted, with the same result.
	 */
	if (s->owner && s->left < over) {
		/* With a queue the next is whoever has the better priority. */
		s->left = 2 * over;
		if (!plan.queue)
			s->owner = 0;
	}
	if (!s->owner) {
		s->k = 0;
		s->attempt = 0;
		s->left = NEVER;
	}
	s->waits[0] = 0;
	s->waits[1] = 0;
	if (s->quarantine < over)
		s->quarantine = NEVER;
}

static void settle_yields(struct world *w, u32 c, u32 u)
{
	struct m_client *m = &w->client[c];
	struct m_server *s = &w->server[u];

	if (s->yielded[c] == GRANT_LAST)
		s->flight[c] = 0;	/* what was yielded does not count */
	/* In the queue an answer is FREE or nothing. */
	m->known[u].type = m->known[u].k ? BFTM_MSG_FREE : BFTM_MSG_NONE;
}

static void settle_client(struct world *w, u32 c)
{
	struct m_client *m = &w->client[c];
	s32 useless = 2 * (s32)node_lease(c);	/* one value for all that are */
	u32 u, k;

	if (m->phase == BFTM_PHASE_DEAD) {
		/* The next begins by clearing all this; FREE are strays now. */
		m->sends = 0;
		memset(m->age, 0, sizeof(m->age));
		memset(m->known, 0, sizeof(m->known));
		for (u = 0; u < plan.n; u++)
			w->server[u].flight[c] = 0;
		for (u = 0; plan.queue && u < plan.n; u++)
			w->server[u].yielded[c] = 0;
		return;
	}
	for (u = 0; plan.queue && u < plan.n; u++)
		settle_yields(w, c, u);
	for (k = 0; k < m->sends; k++)
		if (!node_useful(c, m->age[k]))
			m->age[k] = useless;
	for (u = 0; u < plan.n; u++) {
		struct m_known *known = &m->known[u];
		bool useful = known->k && node_useful(c, known->age);

		if (known->k && !useful)
			known->age = useless;
		/* A known number is not learnt again. */
		if (!is_liar(u) && known->k)
			w->server[u].flight[c] &= (u8)(~0u << known->k);
		/* All mean "not FREE"; REFUSED counts from b + 1 of them on. */
		if (!plan.literal && plan.liars <= plan.b &&
		    (known->type == BFTM_MSG_WAIT || known->type == BFTM_MSG_REFUSED))
			known->type = BFTM_MSG_LOCKED;
		if (m->phase != BFTM_PHASE_HOLD)
			continue;
		/* Only ends count now, and one that is over is like none. */
		known->type = useful ? BFTM_MSG_FREE : BFTM_MSG_NONE;
		if (!useful) {
			known->k = 0;
			known->age = 0;
		}
	}
}

void settle(struct world *w)
{
	u32 i;

	for (i = 0; i < correct_servers(); i++)
		settle_server(&w->server[i]);
	for (i = 0; i < plan.clients; i++)
		settle_client(w, i);
}

/* R3: the highest k in flight that can still count. */
static void keep_best(struct world *w, u32 u, u32 c)
{
	struct m_client *m = &w->client[c];
	u8 *flight = &w->server[u].flight[c];
	u32 k;

	for (k = m->sends; k; k--)
		if (*flight & 1u << (k - 1) && node_useful(c, m->age[k - 1]))
			break;
	*flight = k ? (u8)(1u << (k - 1)) : 0;
}

static u32 lowest(u8 flight)
{
	return flight ? (u32)__builtin_ctz(flight) + 1 : 0;
}

/* R3: what is in flight to a holder arrives. */
static void deliver_to_holder(struct world *w, u32 u, u32 c)
{
	struct m_client *m = &w->client[c];
	struct event e = {
		.kind = ANSWER, .type = BFTM_MSG_FREE, .old = true,
		.client = (u8)c, .server = (u8)u, .attempt = m->attempt,
		.k = (u8)lowest(w->server[u].flight[c]), .grant = GRANT_LAST,
	};

	if (m->phase != BFTM_PHASE_HOLD || !e.k)
		return;
	w->server[u].flight[c] = 0;
	if (e.k > m->known[u].k)
		node_answer(w, &e);
}

/* R2 and R1. */
static void release(struct world *w, u32 u)
{
	struct m_server *s = &w->server[u];
	struct event e = {
		.kind = REQUEST, .type = BFTM_MSG_RELEASE,
		.server = (u8)u, .attempt = s->attempt,
	};

	if (uses(2) && s->owner && is_over(w, s->owner - 1u, s->attempt)) {
		e.client = s->owner - 1;
		node_server(w, &e);
	}
	if (uses(1))
		memset(s->tomb, 0, sizeof(s->tomb));
}

void reduce(struct world *w)
{
	u32 c, u;

	for (c = 0; uses(3) && c < plan.clients; c++) {
		for (u = 0; u < correct_servers(); u++) {
			keep_best(w, u, c);
			deliver_to_holder(w, u, c);
		}
	}
	for (u = 0; u < correct_servers(); u++)
		release(w, u);
	settle(w);
}

bool gains(const struct world *before, const struct world *after)
{
	u32 u;

	if (memcmp(before->client, after->client, sizeof(after->client)))
		return true;
	for (u = 0; u < correct_servers(); u++) {
		const struct m_server *x = &before->server[u];
		const struct m_server *y = &after->server[u];
		bool same = x->owner == y->owner && x->attempt == y->attempt;

		if (memcmp(x->flight, y->flight, sizeof(x->flight)) ||
		    x->quarantine != y->quarantine)
			return true;
		/* Anything but a server that is less free than before? */
		if (x->owner && (!same || y->left < x->left))
			return true;
	}
	return false;
}
