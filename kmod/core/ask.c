// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ask.h"
#include "core/client.h"
#include "core/lease.h"

#define MISS_MOST	64u	/* weight of a missed answer, where few are missed */
#define MISS_LEAST	4u
#define LEVEL_MAX	7u	/* a server is trusted again after 2^6 FREE at most */
#define STREAK		1024u	/* FREE in a row that make up for a suspicion */
#define PROBE_EVERY	16u
#define EXCUSE_EVERY	16u	/* attempts in which RELEASE excuses a server once */
#define SECOND_STEP	128u	/* what makes the pressure grow, */
#define SUSPICION	256u	/* … sink, since the server is not asked any more */
#define PRESSURE_MAX	384u	/* … and one more be asked */
#define SPARE_WINDOW	2048u
#define SPARE_SECONDS	4u	/* … that are so few that one less may be asked */

/* The finaliser of splitmix64: each bit of the result depends on each of @x. */
static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void bftm_ask_start(struct bftm_ask_state *a, bool adapts)
{
	memset(a, 0, sizeof(*a));
	a->adapts = adapts;
}

void bftm_ask_inherit(struct bftm_ask_state *a, const struct bftm_ask_state *from)
{
	bool adapts = a->adapts;

	*a = *from;
	a->adapts = adapts;
	if (!adapts)
		a->spare = 0;
}

void bftm_ask_forget(struct bftm_ask_state *a, u32 u)
{
	a->server[u] = (struct bftm_ask_server){ .salt = a->server[u].salt };
	a->suspected &= ~(1u << u);
	a->speed.srtt_ns[u] = 0;
}

void bftm_ask_server(struct bftm_ask_state *a, u32 u, u32 cluster, u32 id)
{
	a->server[u].salt = mix((u64)cluster << 32 | id);
}

u64 bftm_ask_lock(const u8 *name, u32 len)
{
	u64 hash = 0xcbf29ce484222325ull;	/* FNV-1a */
	u32 i;

	for (i = 0; i < len; i++)
		hash = (hash ^ name[i]) * 0x100000001b3ull;
	return hash ?: 1;
}

/*
 * The @count highest of these by hash(cluster, name, id): rendezvous hashing spreads locks over
 * the servers, and all hosts ask the same ones first, so that contenders meet at once.
 */
static u32 highest_of(const struct bftm_ask_state *a, u32 n, u64 lock, u32 servers, u32 count)
{
	u64 weight[BFTM_SERVERS_MAX] = {};
	u32 u, chosen = 0;

	for (u = 0; u < n; u++)
		weight[u] = mix(lock ^ a->server[u].salt);
	while (count--) {
		u64 most = 0;
		u32 best = 0;

		for (u = 0; u < n; u++) {
			if (!((servers & ~chosen) >> u & 1) || weight[u] < most)
				continue;
			most = weight[u];
			best = 1u << u;
		}
		chosen |= best;
	}
	return chosen;
}

/* In each 16th attempt a suspected server can show that it answers; one after the other. */
static u32 probed(const struct bftm_ask_state *a, u32 n, u32 suspected)
{
	u32 from = a->starts / PROBE_EVERY % n, next;

	if (a->starts % PROBE_EVERY)
		return 0;
	next = suspected >> from << from ?: suspected;
	return next & -next;
}

/* How many grants the request needs: of b liars among them none may spoil the value. */
static u32 grants_needed(const struct bftm_client_cfg *cfg, const struct bftm_want *want)
{
	u32 f = bftm_win(cfg), told = cfg->n - f + 2 * cfg->b + 1;

	return want->value && told > f ? told : f;
}

/* Those that may be asked first: grants of those that may forget them do not count. */
static u32 trusted(const struct bftm_client_cfg *cfg)
{
	return bftm_all(cfg->n) & ~cfg->ask->suspected & ~cfg->forgetful;
}

/*
 * Are all to be asked at once? A holder that can write leaves its value at all servers. Where a
 * second step takes more than an eighth of the lease, too little is left of the first grants.
 */
static bool asks_all(const struct bftm_client_cfg *cfg, const struct bftm_want *want, u32 needed,
		     u64 hedge_ns)
{
	return cfg->literal || (want->value && bftm_mode_writes(want->mode)) ||
	       hedge_ns > bftm_poll(want->lease_ns) || needed >= cfg->n ||
	       bftm_count(trusted(cfg)) < needed;
}

/* The servers where RELEASE of this lock by this host may be on its way. */
static u32 own_release(const struct bftm_ask_state *a, u64 lock, u64 now, u64 trip_ns)
{
	const struct bftm_ask_release *r = &a->released[lock % BFTM_ASK_RELEASES];

	return r->lock == lock && now - r->at_ns <= 4 * trip_ns ? r->unanswered : 0;
}

void bftm_ask_begin(const struct bftm_client_cfg *cfg, const struct bftm_want *want, u64 now,
		    struct bftm_asking *ret)
{
	struct bftm_ask_state *a = cfg->ask;
	u32 all = bftm_all(cfg->n), needed;
	u64 trip;

	*ret = (struct bftm_asking){ .asked = all, .first = all, .begun_ns = now };
	if (!a)
		return;
	a->starts++;
	trip = bftm_speed_of(&a->speed, bftm_win(cfg), 0);
	if (!trip)
		return;
	ret->own = own_release(a, want->lock, now, trip);
	ret->hedge_ns = 2 * trip > BFTM_ASK_FLOOR_NS ? 2 * trip : BFTM_ASK_FLOOR_NS;
	needed = grants_needed(cfg, want) + a->spare;
	if (asks_all(cfg, want, needed, ret->hedge_ns))
		return;
	ret->first = highest_of(a, cfg->n, want->lock, trusted(cfg), needed);
	ret->probe = probed(a, cfg->n, all & a->suspected & ~cfg->forgetful);
	ret->asked = ret->first | ret->probe;
}

void bftm_ask_more(struct bftm_asking *t, u32 to, u64 now)
{
	if (!(to & ~t->asked))
		return;
	t->asked |= to;
	if (!t->rest_ns)
		t->rest_ns = now;
}

static void suspect(struct bftm_ask_state *a, u32 u)
{
	struct bftm_ask_server *s = &a->server[u];

	a->suspected |= 1u << u;
	s->level += s->level < LEVEL_MAX;
	s->proven = 0;
	/*
	 * The server is not asked any more: second steps that it caused are no reason to ask more
	 * servers.
	 */
	a->pressure -= a->pressure < SUSPICION ? a->pressure : SUSPICION;
}

/* 64, or a tenth of what would come to one miss on average: noise shall not make suspects. */
static u32 weight_of_miss(const struct bftm_ask_state *a)
{
	u32 weight = a->missed ? BFTM_ASK_ONE / 10 / a->missed : MISS_MOST;

	if (weight > MISS_MOST)
		return MISS_MOST;
	return weight < MISS_LEAST ? MISS_LEAST : weight;
}

static void note_miss(struct bftm_ask_state *a, u32 u)
{
	struct bftm_ask_server *s = &a->server[u];
	u32 weight;

	s->streak = 0;
	if (a->suspected >> u & 1) {
		s->proven = 0;
		return;
	}
	weight = weight_of_miss(a);
	s->score += weight;
	/* The second miss; where one in 64 is missed by chance, the third. */
	if (s->score > (a->missed > BFTM_ASK_ONE / 64 ? 2 * weight : weight))
		suspect(a, u);
	a->missed += (BFTM_ASK_ONE - a->missed) / 256;
}

/* FREE in time. Suspicion ends by proof, not by time: a liar knows the time as well. */
static void note_free(struct bftm_ask_state *a, u32 u)
{
	struct bftm_ask_server *s = &a->server[u];

	if (++s->streak >= STREAK) {
		s->streak = 0;
		s->level -= !!s->level;
	}
	if (!(a->suspected >> u & 1)) {
		s->score -= !!s->score;
		a->missed -= a->missed / 256;
		return;
	}
	/* It owes 2^(level - 1), and one if its level has sunk to 0 meanwhile. */
	if (++s->proven < 1u << (s->level & LEVEL_MAX) >> 1)
		return;
	a->suspected &= ~(1u << u);
	s->score = 0;
}

void bftm_ask_due(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u64 now)
{
	u32 u, silent = (t->first | t->probe) & ~t->heard;

	if (!cfg->ask || !t->hedge_ns || t->judged || now <= t->begun_ns + t->hedge_ns)
		return;
	t->judged = true;
	for (u = 0; u < cfg->n; u++)
		if (silent >> u & 1)
			note_miss(cfg->ask, u);
}

void bftm_ask_heard(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u32 u, bool free,
		    u64 sent_ns, u64 now)
{
	struct bftm_ask_state *a = cfg->ask;
	u32 bit = 1u << u;

	if (!a || t->heard & bit || !(t->asked & bit))
		return;
	bftm_ask_due(cfg, t, now);
	t->heard |= bit;
	if (!((t->first | t->probe) & bit) && t->rest_ns > sent_ns)
		sent_ns = t->rest_ns;
	if (sent_ns)
		bftm_speed_answered(&a->speed, u, sent_ns, now);
	if (!free)
		t->denied |= bit;
	if (!t->hedge_ns || !((t->first | t->probe) & bit) || t->judged)
		return;
	if (free)
		note_free(a, u);
	else if (a->suspected & bit)
		note_miss(a, u);
}

void bftm_ask_late(const struct bftm_client_cfg *cfg, struct bftm_late *late, u32 u,
		   const struct bftm_msg *msg, u64 now)
{
	struct bftm_asking *t = &late->asking;

	/* When the only send was sent is known. */
	bftm_ask_heard(cfg, t, u, bftm_grants(msg, late->mode, 0, late->sends),
		       late->sends == 1 ? t->begun_ns : 0, now);
}

/* An acquire that nobody else was in the way of: how many steps do such take? */
static void note_steps(const struct bftm_client_cfg *cfg, bool second)
{
	struct bftm_ask_state *a = cfg->ask;

	a->acquires++;
	a->seconds += second;
	if (second)
		a->pressure += SECOND_STEP;
	else
		a->pressure -= !!a->pressure;
	if (a->pressure >= PRESSURE_MAX) {
		a->spare += bftm_win(cfg) + a->spare < cfg->n;
		a->pressure = 0;
	} else if (a->acquires < SPARE_WINDOW) {
		return;
	} else if (a->seconds <= SPARE_SECONDS) {
		a->spare -= !!a->spare;
	}
	a->acquires = 0;
	a->seconds = 0;
}

/* RELEASE of this host excuses a server, but not each time. */
static bool is_excused(struct bftm_ask_state *a, u32 own, u32 u)
{
	struct bftm_ask_server *s = &a->server[u];

	if (!(own >> u & 1) || a->starts - s->excused >= 1u << 31)
		return false;
	s->excused = a->starts + EXCUSE_EVERY;
	return true;
}

void bftm_ask_won(const struct bftm_client_cfg *cfg, struct bftm_asking *t, u32 granted)
{
	struct bftm_ask_state *a = cfg->ask;
	u32 u, denies = t->heard & ~granted;

	/* Where more than b deny, or have denied at first, somebody wanted the lock. */
	if (!a || !t->hedge_ns || bftm_count(t->denied | denies) > cfg->b)
		return;
	denies &= t->first & ~a->suspected & ~cfg->forgetful;
	for (u = 0; t->rest_ns && u < cfg->n; u++)
		if (denies >> u & 1 && !is_excused(a, t->own, u))
			note_miss(a, u);
	if (a->adapts)
		note_steps(cfg, t->rest_ns);
}

void bftm_ask_released(struct bftm_ask_state *a, u64 lock, u32 to, u64 now)
{
	if (a && lock)
		a->released[lock % BFTM_ASK_RELEASES] = (struct bftm_ask_release){
			.lock = lock, .at_ns = now, .unanswered = to,
		};
}

void bftm_ask_release_heard(struct bftm_ask_state *a, u64 lock, u32 u)
{
	u32 i = lock % BFTM_ASK_RELEASES;

	if (a && lock && a->released[i].lock == lock)
		a->released[i].unanswered &= ~(1u << u);
}
