// SPDX-License-Identifier: GPL-2.0
/* Events that can happen next at a server. */
#include "moves.h"

/* Places of a client at a server: nowhere in its queue, there, there and holding. */
static u32 places(void)
{
	return plan.held ? 3 : plan.queue ? 2 : 1;
}

/* A digit for each client says how it waits at server u; false when one cannot. */
static bool let_wait(struct world *w, u32 u, u32 set)
{
	struct m_server *s = &w->server[u];
	u32 c, place;

	for (c = 0; c < plan.clients; c++, set /= places()) {
		const struct m_client *m = &w->client[c];

		place = set % places();
		if (!place)
			continue;
		/* A holder wants a place, whatever way it waited. */
		if (m->phase == BFTM_PHASE_DEAD || (place == 1 && !(plan.queue >> c & 1)) ||
		    (s->owner == c + 1 && s->attempt == m->attempt))
			return false;
		s->waits[c] = m->sends | (place == 2 ? WAITS_HELD : 0);
	}
	return true;
}

static u32 sets(void)
{
	u32 c, count = 1;

	for (c = 0; c < plan.clients; c++)
		count *= places();
	return count;
}

static void request_while(const struct turn *t, struct event e, u32 waiting)
{
	struct world next;

	for (e.old = true; ; e.old = false) {
		next = *t->w;
		if (!let_wait(&next, e.server, waiting))
			return;
		node_server(&next, &e);
		emit(t, &e, &next);
		if (!e.old || (e.type == BFTM_MSG_RELEASE && !plan.queue) ||
		    (uses(5) && (e.type != BFTM_MSG_TRY || e.reply == BFTM_MSG_FREE)))
			break;
	}
}

static void request(const struct turn *t, u32 u, u32 c, u8 type, u32 attempt,
		    u32 k, enum grant grant)
{
	struct event e = {
		.kind = REQUEST, .client = (u8)c, .server = (u8)u,
		.type = type, .attempt = (u8)attempt, .k = (u8)k, .grant = (u8)grant,
	};
	u32 says = plan.held && type != BFTM_MSG_RELEASE;
	/* For all else it only matters whether INQUIRE is sent, which may always arrive. */
	u32 owned = says && t->w->server[u].owner && type == BFTM_MSG_YIELD;
	u32 waiting, held, owner;

	for (waiting = 0; waiting < sets(); waiting++)
		for (held = 0; held <= says; held++)
			for (owner = 0; owner <= owned; owner++) {
				e.held = held;
				e.owner_held = owner;
				request_while(t, e, waiting);
			}
}

void requests(const struct turn *t, u32 u, u32 c)
{
	const struct m_client *m = &t->w->client[c];
	u32 a, k, g;

	for (a = 1; a <= m->attempt; a++) {
		u32 last = m->sends;

		if (is_over(t->w, c, a)) {
			request(t, u, c, BFTM_MSG_RELEASE, a, 0, GRANT_NONE);
			last = plan.sends;
		}
		for (k = uses(6) ? last : 1; k <= last; k++)
			request(t, u, c, BFTM_MSG_TRY, a, k, GRANT_NONE);
	}
	for (g = GRANT_OLD; plan.queue && g <= t->w->server[u].yielded[c]; g++)
		request(t, u, c, BFTM_MSG_YIELD, m->attempt, 0, g);
}

/* Steps that a server takes by itself. */
void timer(const struct turn *t, u32 u)
{
	struct event e = { .kind = EXPIRE, .server = (u8)u };
	struct world next;
	u32 waiting;

	for (waiting = 0; waiting < sets(); waiting++)
		for (e.old = true; ; e.old = false) {
			next = *t->w;
			if (!let_wait(&next, u, waiting))
				break;
			node_expire(&next, &e);
			emit(t, &e, &next);
			if (!e.old)
				break;
		}
}

void restart(const struct turn *t, u32 u)
{
	struct event e = { .kind = RESTART, .server = (u8)u };
	struct world next;

	for (e.old = true; ; e.old = false) {
		next = *t->w;
		node_restart(&next, &e);
		emit(t, &e, &next);
		if (uses(5) || !e.old)
			break;
	}
}
