// SPDX-License-Identifier: GPL-2.0
/*
 * The client that tells a server what its restart made it forget: helper/cluster/recover.c and
 * probe.c between one event and the next. Of what it has told before, and to whom it did so in
 * vain, the world keeps nothing: it tells again as soon as it may.
 */
#include "cluster/cluster.h"
#include "world.h"

#define SEQ		100	/* of the last request before it asks */
#define EPOCH_BEFORE	2
#define LATE		(100 * BFTM_NS_PER_SEC)

static struct bftm_counters counters;
static struct bftm_identity identity = { .counters = &counters };
static struct bftm_conf_server conf[SERVERS_MAX];
static struct bftm_cluster teller;
static struct world *sent_in;	/* where its messages go to */

/* As seal() of helper/cluster/socket.c numbers them, and for which start of the server. */
void bftm_cluster_send(struct bftm_cluster *cl, u32 to, const struct bftm_msg *msg)
{
	u8 code = token_code(msg->token);
	u32 u;

	for (u = 0; u < plan.n; u++) {
		if (!(to & 1u << u))
			continue;
		cl->peer[u].sent_seq = bftm_identity_next_seq(cl->identity);
		if (msg->type != BFTM_MSG_RECOVER || u >= correct_servers())
			continue;
		if (cl->peer[u].known.sent_epoch == EPOCH)
			sent_in->server[u].told |= (u8)(1u << code);
		else if (code < sent_in->server[u].told_before)
			sent_in->server[u].told_before = code;
	}
}

static void load(struct world *w)
{
	struct bftm_recovery *r = &teller.recovery;
	u32 u;

	sent_in = w;
	counters.seq = SEQ;
	teller.identity = &identity;
	teller.conf.n = plan.n;
	teller.conf.b = plan.b;
	teller.cfg = holder_cfg;
	memset(r, 0, sizeof(*r));
	r->since_seq = SEQ - 1;
	r->until_ns = NOW + 1;
	for (u = 0; u < plan.n; u++) {
		struct bftm_peer *peer = &teller.peer[u];
		const struct m_server *s = &w->server[u];

		conf[u].id = (u16)(u + 1);
		peer->conf = &conf[u];
		peer->known.epoch = EPOCH;
		peer->known.sent_epoch = EPOCH;
		peer->known.stale_seq = 0;
		peer->known.challenge_seq = 0;
		peer->quarantine_until_ns = 0;
		peer->token = 0;
		if (u >= correct_servers())
			continue;
		if (s->top != NOTHING) {
			r->known |= 1u << u;
			r->top[u] = token_number(s->top);
		}
		if (!s->asked)
			continue;
		r->active = true;
		r->u = u;
		peer->token = BFTM_TOKEN_UNKNOWN;
		peer->known.epoch = w->stale ? EPOCH_BEFORE : EPOCH;
		peer->known.sent_epoch = w->ahead ? EPOCH : peer->known.epoch;
		r->epoch = peer->known.epoch;
	}
}

static void store(struct world *w)
{
	const struct bftm_recovery *r = &teller.recovery;
	u32 u;

	for (u = 0; u < correct_servers(); u++) {
		struct m_server *s = &w->server[u];

		s->asked = r->active && r->u == u;
		s->top = r->active && r->known >> u & 1 ? token_code(r->top[u]) : NOTHING;
	}
	w->stale = r->active && r->epoch != EPOCH;
	w->ahead = w->stale && teller.peer[r->u].known.sent_epoch == EPOCH;
}

/* Server u answers HELLO now; or it did so before anybody was asked. */
static void challenged(struct world *w, u32 u, bool now)
{
	const struct bftm_msg req = { .type = BFTM_MSG_HELLO, .client = TELLER };
	struct bftm_msg reply = serve(w, u, &req);

	reply.seq = now ? bftm_identity_next_seq(&identity) : 1;
	if (!now)
		reply.token = 0;
	bftm_challenged(&teller, u, &reply);
}

/* The answer of a liar. */
static void challenged_by_liar(u32 u, u8 token)
{
	bftm_challenged(&teller, u, &(struct bftm_msg){
		.type = BFTM_MSG_CHALLENGE, .seq = bftm_identity_next_seq(&identity),
		.server_epoch = EPOCH, .token = token_number(token),
	});
}

static void liars_say(u8 token)
{
	u32 u;

	for (u = correct_servers(); u < plan.n && token != NOTHING; u++)
		challenged_by_liar(u, token);
}

/* Words that a liar may say: any of the numbers that there are, one beyond, or nothing. */
static u8 word(u32 i)
{
	return i <= plan.tokens ? (u8)i : i == plan.tokens + 1 ? MUCH : NOTHING;
}

static u32 words(void)
{
	return plan.b ? plan.tokens + 3 : 1;
}

static void done(const struct turn *t, struct world *next, u8 kind, u32 u, u8 k)
{
	store(next);
	emit(t, (struct event){ .kind = kind, .server = (u8)u, .k = k }, next);
}

static void begin(const struct turn *t, u32 u)
{
	struct world next = *t->w;

	load(&next);
	challenged(&next, u, true);
	done(t, &next, ASK, u, 0);
}

static void about_asked(const struct turn *t, u32 u)
{
	struct world next = *t->w;
	u32 i;

	load(&next);
	challenged(&next, u, true);
	done(t, &next, HEAR_ASKED, u, 0);
	for (i = 0; i < words(); i++) {
		next = *t->w;
		load(&next);
		liars_say(plan.b ? word(i) : NOTHING);
		bftm_recover_wake(&teller, NOW);
		/* That a liar was heard is not kept: it says anything, later. */
		done(t, &next, TELL, u, word(i));
	}
	next = *t->w;
	load(&next);
	bftm_recover_wake(&teller, NOW + LATE);
	done(t, &next, GIVE_UP, u, 0);
	if (!t->w->stale)
		return;
	next = *t->w;
	load(&next);
	bftm_stale(&teller, u, &(struct bftm_msg){
		.type = BFTM_MSG_STALE, .seq = SEQ, .server_epoch = EPOCH,
	});
	done(t, &next, HEAR_STALE, u, 0);
}

static void about_other(const struct turn *t, u32 u)
{
	struct world next = *t->w;

	/* Also one that does not know: then it does not count. */
	load(&next);
	challenged(&next, u, true);
	done(t, &next, HEAR, u, 0);
	next = *t->w;
	load(&next);
	challenged(&next, u, false);
	done(t, &next, HEAR_OLD, u, 0);
}

/* Floors that another client may come to, a bit each, of what servers know. */
static u8 floors(const struct world *w, u32 u)
{
	struct world scratch = *w;
	u32 set, i, v, all = (1u << correct_servers()) - 1;

	for (v = 0; v < correct_servers(); v++) {
		scratch.server[v].asked = 0;
		scratch.server[v].top = NOTHING;
		scratch.server[v].told = 0;
	}
	scratch.stale = 0;
	scratch.ahead = 0;
	for (set = 0; set <= all; set++) {
		for (i = 0; i < words(); i++) {
			load(&scratch);
			challenged(&scratch, u, true);
			liars_say(plan.b ? word(i) : NOTHING);
			for (v = 0; v < correct_servers(); v++)
				if (v != u && set & 1u << v)
					challenged(&scratch, v, true);
		}
	}
	return scratch.server[u].told;
}

/* Another client asks all others, or some of them, and tells; all in one step. */
static void second(const struct turn *t, u32 u)
{
	static u8 cache[1u << 3 * SERVERS_MAX];	/* by what they know; bit 7: it is there */
	struct world next = *t->w;
	u32 v, key = next.server[u].quarantine;

	for (v = 0; v < correct_servers(); v++)
		if (v != u)
			key = key << 3 | known(&next.server[v]);
	if (!cache[key])
		cache[key] = floors(&next, u) | 1u << 7;
	next.server[u].told |= cache[key] & 127;
	emit(t, (struct event){ .kind = SECOND, .server = (u8)u }, &next);
}

void teller_moves(const struct turn *t)
{
	u32 u, asked = SERVERS_MAX;

	for (u = 0; u < correct_servers(); u++)
		if (t->w->server[u].asked)
			asked = u;
	/* Also in its quarantine: then it does not begin. */
	for (u = 0; u < correct_servers(); u++) {
		if (asked == SERVERS_MAX && t->w->server[u].floor == NOTHING)
			begin(t, u);
		else if (u == asked)
			about_asked(t, u);
		else if (asked != SERVERS_MAX && !has_twin(t->w, u))
			about_other(t, u);
		if (asked != SERVERS_MAX && t->w->server[u].floor == NOTHING)
			second(t, u);
	}
}

bool teller_recovers(struct world *w, u32 u, u8 liars_say_this)
{
	u32 v;

	w->server[u].quarantine = 0;
	w->server[u].told = 0;
	w->stale = 0;
	w->ahead = 0;
	for (v = 0; v < correct_servers(); v++) {
		w->server[v].asked = 0;
		w->server[v].top = NOTHING;
	}
	load(w);
	challenged(w, u, true);
	liars_say(liars_say_this);
	for (v = 0; v < correct_servers(); v++)
		if (v != u)
			challenged(w, v, true);
	bftm_recover_wake(&teller, NOW);
	for (v = 0; v <= MUCH; v++)
		if (w->server[u].told >> v & 1)
			serve_recover(w, u, TELLER, (u8)v, false);
	return w->server[u].floor != NOTHING;
}
