// SPDX-License-Identifier: GPL-2.0
/*
 * Fencing tokens. Of one lock they grow from holder to holder, in true time, where the two
 * exclude each other (others may share one): a
 * resource that has seen one can refuse all before it. And they grow slowly: the
 * next one offered, for whatever lock, is at most a step more than the highest that
 * was ever offered. Attempts make them grow, and nothing else does: not liars,
 * not restarts, after which tokens jump, but only to where some token was.
 *
 * What a server that forgot believes is checked when it does: whose word, when, and how
 * much. An intruder that is believed would do harm only where it is the first to speak.
 *
 * The first rule has conditions, and what breaks them voids it for the rest of
 * a scenario. Servers that keep over a restart what they stamped need none. Of
 * others, two at a time may not be without that knowledge; and the fence quorum
 * q less the restarted one, b liars and b that are not heard must leave b + 1
 * that tell, so that the (b + 1)-th largest is high enough: q >= 3b + 2, which
 * is so for n >= 5b + 1 and n > 1.
 */
#include "core/backoff/client.h"
#include "story.h"

/** struct fenced - the highest token of a lock with which a mode was held, and by whom last */
struct fenced {
	u64 token;
	u32 client;
};

struct tokens {
	u64 offered;
	struct fenced *fenced;	/* by lock and mode */
	bool lost;
};

static void *start(struct world *w)
{
	struct tokens *s = arena_take(&w->arena, sizeof(*s));

	s->fenced = arena_array(&w->arena, struct fenced, w->plan->locks * BFTM_MODES);
	return s;
}

/* The judge counts for himself: the core's arithmetic is on trial. */
static bool can_recover(const struct world *w)
{
	return w->plan->n > 1 && w->plan->n >= 5 * w->plan->b + 1;
}

/* A correct server goes down. */
static void crashed(struct world *w, struct tokens *s, u32 server)
{
	u32 u;

	if (server < w->plan->liars || w->plan->keep_tokens)
		return;
	if (!can_recover(w))
		s->lost = true;
	for (u = w->plan->liars; u < w->plan->n; u++)
		if (u != server && (!w->server[u].up || !server_knows(&w->server[u])))
			s->lost = true;
}

static void won(struct world *w, struct tokens *s, const struct fact *f)
{
	struct fenced *of_lock = &s->fenced[f->lock * BFTM_MODES];
	enum bftm_mode mode;

	if (!f->fenced)
		return;
	w->stats.fenced++;
	for (mode = BFTM_MODE_CR; mode < BFTM_MODES; mode++)
		if (bftm_modes_conflict(mode, f->mode) && f->token <= of_lock[mode].token &&
		    !s->lost)
			check_fails(w, &check_tokens, f->lock,
				    "c%u gets token %llu of %s, and c%u had %llu before",
				    f->client + 1, (unsigned long long)f->token,
				    story_lock(f->lock), of_lock[mode].client + 1,
				    (unsigned long long)of_lock[mode].token);
	if (f->token < of_lock[f->mode].token)
		return;
	of_lock[f->mode].token = f->token;
	of_lock[f->mode].client = f->client;
}

/* What the server may believe is decided here once more. */
static void learned(struct world *w, const struct fact *f)
{
	const char *why = NULL;

	if (f->server < w->plan->liars)
		return;
	if (f->client == w->plan->clients)
		why = "from a client that may take the locks of one prefix only";
	else if (f->now_ns <= w->server[f->server].cfg.quarantine_until_ns)
		why = "before its quarantine is over";
	else if (f->token > server_wall(w))
		why = "above its wall clock";
	if (why)
		check_fails(w, &check_tokens, NO_LOCK,
			    "s%u believes that no token above %llu was stamped, %s", f->server + 1,
			    (unsigned long long)f->token, why);
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct tokens *s = state;

	if (f->kind == FACT_WIN || f->kind == FACT_STAMPED) {
		won(w, s, f);
	} else if (f->kind == FACT_CRASHED) {
		crashed(w, s, f->server);
	} else if (f->kind == FACT_LEARNED) {
		learned(w, f);
	} else {
		if (f->token > s->offered + BFTM_STEP_MAX)
			check_fails(w, &check_tokens, f->lock,
				    "c%u offers token %llu, and no more than %llu was offered before",
				    f->client + 1, (unsigned long long)f->token,
				    (unsigned long long)s->offered);
		if (f->token > s->offered)
			s->offered = f->token;
	}
}

const struct checker check_tokens = {
	.name = "tokens",
	.rule = "fencing tokens grow from holder to holder, and only by a step a try",
	.facts = FACT(WIN) | FACT(STAMPED) | FACT(OFFER) | FACT(CRASHED) | FACT(LEARNED),
	.start = start,
	.on_fact = on_fact,
};
