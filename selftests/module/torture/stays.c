// SPDX-License-Identifier: GPL-2.0
/* No two holders that exclude each other, tokens that grow, and nothing told that is not so. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bftmutex.h>

#include "history.h"

/* The modes that each mode excludes: EX, PW, PR, CW, CR in both directions. */
static const bool excludes[HISTORY_MODES][HISTORY_MODES] = {
	[BFTM_LOCK_EX] = { 1, 1, 1, 1, 1 },
	[BFTM_LOCK_PW] = { 1, 1, 1, 1, 0 },
	[BFTM_LOCK_PR] = { 1, 1, 0, 1, 0 },
	[BFTM_LOCK_CW] = { 1, 1, 1, 0, 0 },
	[BFTM_LOCK_CR] = { 1, 0, 0, 0, 0 },
};

static const char *const names[HISTORY_MODES] = { "EX", "PW", "PR", "CW", "CR" };

/* Where a process is, while its lines are gone through. */
struct course {
	struct stay stay;
	u64 told_ns;		/* the last deadline it was told */
	u64 killed_ns, last_ns;
	bool inside;
};

static void went(struct history *h, struct course *c, u64 end_ns)
{
	if (!c->inside)
		return;
	c->inside = false;
	c->stay.end_ns = end_ns < c->told_ns ? end_ns : c->told_ns;
	h->stay[h->stays++] = c->stay;
}

static void enter(struct history *h, struct course *c, const struct event *e)
{
	if (c->inside)
		history_blame(h, "twice: %s entered %s at %" PRIu64 " and was inside of %s",
			      e->who, e->lock, e->at_ns, c->stay.lock);
	went(h, c, e->at_ns);
	c->inside = true;
	c->told_ns = e->arg[0];
	c->stay = (struct stay){ .enter_ns = e->at_ns, .token = e->arg[1], .line = e->line,
				 .tenure = e->line, .mode = e->arg[2] };
	memcpy(c->stay.who, e->who, sizeof(e->who));
	memcpy(c->stay.lock, e->lock, sizeof(e->lock));
}

/* The stay in the mode before ends at the instant before. */
static void convert(struct history *h, struct course *c, const struct event *e)
{
	struct stay next = c->stay;

	if (!c->inside || strcmp(c->stay.lock, e->lock)) {
		history_blame(h, "converted: %s converted %s at %" PRIu64 " and was not inside",
			      e->who, e->lock, e->at_ns);
		return;
	}
	if (e->arg[1] && e->arg[1] < c->told_ns)
		history_blame(h, "moved back: the deadline of %s for %s, to %" PRIu64, e->who,
			      e->lock, e->arg[1]);
	went(h, c, e->at_ns - 1);
	next.enter_ns = e->at_ns;
	next.line = e->line;
	next.mode = e->arg[0];
	next.token = e->arg[2];
	c->stay = next;
	c->inside = true;
	if (e->arg[1] > c->told_ns)
		c->told_ns = e->arg[1];
}

static void look(struct history *h, struct course *c, const struct event *e)
{
	u64 before = e->arg[0], deadline = e->arg[2];

	if (!c->inside)
		return;
	if (e->arg[1] == BFTM_STATE_HELD) {
		if (before > deadline)
			history_blame(h, "late: %s was told at %" PRIu64 " that it holds %s until "
				      "%" PRIu64, e->who, before, e->lock, deadline);
		if (deadline < c->told_ns)
			history_blame(h, "moved back: the deadline of %s for %s, to %" PRIu64,
				      e->who, e->lock, deadline);
		c->told_ns = deadline;
	} else if (e->at_ns < deadline || e->at_ns < c->told_ns) {
		history_blame(h, "early: %s was told at %" PRIu64 " that %s is lost, before %" PRIu64,
			      e->who, e->at_ns, e->lock, deadline);
	}
}

static void follow(struct history *h, struct course *c, const struct event *e)
{
	switch (e->what) {
	case ENTER:
		enter(h, c, e);
		break;
	case MODE:
		convert(h, c, e);
		break;
	case LOOK:
		look(h, c, e);
		break;
	case LEAVE:
		went(h, c, e->at_ns);
		break;
	case KILL:
		c->killed_ns = e->at_ns;
		break;
	case GRANTED:
		if (e->arg[0] && e->arg[1])
			history_blame(h, "quarantine: %s granted %" PRIu64 " in it", e->who,
				      e->arg[1]);
		break;
	default:
		break;
	}
	c->last_ns = e->at_ns;
}

static int stay_by_lock(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;
	int order = strcmp(x->lock, y->lock);

	if (!order && x->enter_ns != y->enter_ns)
		order = x->enter_ns < y->enter_ns ? -1 : 1;
	return order ?: (x->line < y->line ? -1 : 1);
}

static int stay_by_token(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;
	int order = strcmp(x->lock, y->lock);

	return order ?: (x->token < y->token ? -1 : x->token > y->token);
}

/* Those that exclude each other have different tokens; a tenure may keep its own. */
static void unique_tokens(struct history *h)
{
	const struct stay *s = h->stay;
	size_t i, j;

	if (!h->stays)
		return;
	qsort(h->stay, h->stays, sizeof(*h->stay), stay_by_token);
	for (i = 1; i < h->stays; i++)
		for (j = i; s[i].token && j-- > 0 && s[j].token == s[i].token &&
		     !strcmp(s[j].lock, s[i].lock);)
			if (excludes[s[j].mode][s[i].mode] && s[j].tenure != s[i].tenure)
				history_blame(h, "token: %s and %s entered %s with %" PRIu64,
					      s[j].who, s[i].who, s[i].lock, s[i].token);
}

/* Of the stays so far in each mode: the one that lasts longest, the one with the highest token. */
struct so_far {
	const struct stay *longest[HISTORY_MODES], *highest[HISTORY_MODES];
};

static void beside(struct history *h, const struct so_far *f, const struct stay *s)
{
	u32 m;

	for (m = 0; m < HISTORY_MODES; m++) {
		const struct stay *longest = f->longest[m], *highest = f->highest[m];

		if (!excludes[s->mode][m])
			continue;
		if (longest && s->enter_ns <= longest->end_ns)
			history_blame(h, "overlap: %s entered %s in %s at %" PRIu64
				      ", %s had it in %s from %" PRIu64 " to %" PRIu64, s->who,
				      s->lock, names[s->mode], s->enter_ns, longest->who, names[m],
				      longest->enter_ns, longest->end_ns);
		if (highest && s->token && s->token < highest->token)
			history_blame(h, "token: %s entered %s at %" PRIu64 " with %" PRIu64
				      ", after %s with %" PRIu64, s->who, s->lock, s->enter_ns,
				      s->token, highest->who, highest->token);
	}
}

/* A stay of no length by its own clock has no order. */
static void no_two_excluding(struct history *h)
{
	const char *lock = NULL;
	struct so_far f = {};
	const struct stay *s;

	if (!h->stays)
		return;
	qsort(h->stay, h->stays, sizeof(*h->stay), stay_by_lock);
	for (s = h->stay; s < h->stay + h->stays; s++) {
		if (s->end_ns < s->enter_ns)
			continue;
		if (lock && strcmp(lock, s->lock))
			f = (struct so_far){};
		lock = s->lock;
		beside(h, &f, s);
		if (!f.longest[s->mode] || s->end_ns > f.longest[s->mode]->end_ns)
			f.longest[s->mode] = s;
		if (s->token &&
		    (!f.highest[s->mode] || s->token > f.highest[s->mode]->token))
			f.highest[s->mode] = s;
	}
}

void history_stays(struct history *h)
{
	struct course c = {};
	size_t i;

	free(h->stay);
	h->stays = 0;
	h->stay = calloc(h->count + 1, sizeof(*h->stay));
	if (!h->stay)
		abort();
	if (h->count)
		qsort(h->event, h->count, sizeof(*h->event), event_by_who);
	for (i = 0; i < h->count; i++) {
		follow(h, &c, &h->event[i]);
		if (i + 1 < h->count && !strcmp(h->event[i].who, h->event[i + 1].who))
			continue;
		/* It may have come further than the moment before it was killed. */
		went(h, &c, !c.killed_ns ? c.told_ns :
		     c.killed_ns > c.last_ns ? c.killed_ns : c.last_ns);
		c = (struct course){};
	}
	unique_tokens(h);
	no_two_excluding(h);
}
