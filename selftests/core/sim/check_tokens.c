// SPDX-License-Identifier: GPL-2.0
/*
 * Fencing tokens. Of one lock they grow from holder to holder, in true time, where the two
 * exclude each other (others may share one): a
 * resource that has seen one can refuse all before it. And they grow slowly: the
 * next one offered, for whatever lock, is at most a step more than the highest that
 * was ever offered. Attempts make them grow, and nothing else does: not liars,
 * not restarts, after which tokens jump, but only to where some token was.
 *
 * The belief of a server that forgot is checked when it does: whose word, when, and how
 * much. An intruder that is believed would do harm only where it is the first to speak.
 *
 * The first rule holds whatever restarts, of however many servers at once: those that did
 * not learn stamp nothing, and none learns less than what some holder had.
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
};

static void *start(struct world *w)
{
	struct tokens *s = arena_take(&w->arena, sizeof(*s));

	s->fenced = arena_array(&w->arena, struct fenced, w->plan->locks * BFTM_MODES);
	return s;
}

static void won(struct world *w, struct tokens *s, const struct fact *f)
{
	struct fenced *of_lock = &s->fenced[f->lock * BFTM_MODES];
	enum bftm_mode mode;

	if (!f->fenced)
		return;
	w->stats.fenced++;
	for (mode = BFTM_MODE_CR; mode < BFTM_MODES; mode++)
		if (bftm_modes_conflict(mode, f->mode) && f->token <= of_lock[mode].token)
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

/* The token that the server may believe is decided here once more. */
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
	.facts = FACT(WIN) | FACT(STAMPED) | FACT(OFFER) | FACT(LEARNED),
	.start = start,
	.on_fact = on_fact,
};
