// SPDX-License-Identifier: GPL-2.0
/* One holder at a time, tokens that grow, and nothing told that is not so. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bftmutex.h>

#include "history.h"

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
	c->stay = (struct stay){ .enter_ns = e->at_ns, .token = e->arg[1], .line = e->line };
	memcpy(c->stay.who, e->who, sizeof(e->who));
	memcpy(c->stay.lock, e->lock, sizeof(e->lock));
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

static void unique_tokens(struct history *h)
{
	const struct stay *s = h->stay;
	size_t i;

	if (!h->stays)
		return;
	qsort(h->stay, h->stays, sizeof(*h->stay), stay_by_token);
	for (i = 1; i < h->stays; i++)
		if (s[i].token && s[i].token == s[i - 1].token &&
		    !strcmp(s[i].lock, s[i - 1].lock))
			history_blame(h, "token: %s and %s entered %s with %" PRIu64, s[i - 1].who,
				      s[i].who, s[i].lock, s[i].token);
}

/* A stay of no length by its own clock has no order. */
static void one_at_a_time(struct history *h)
{
	const struct stay *s, *longest = NULL, *highest = NULL;

	if (!h->stays)
		return;
	qsort(h->stay, h->stays, sizeof(*h->stay), stay_by_lock);
	for (s = h->stay; s < h->stay + h->stays; s++) {
		if (s->end_ns < s->enter_ns)
			continue;
		if (longest && strcmp(longest->lock, s->lock))
			longest = highest = NULL;
		if (longest && s->enter_ns <= longest->end_ns)
			history_blame(h, "overlap: %s entered %s at %" PRIu64 ", %s had it from %"
				      PRIu64 " to %" PRIu64, s->who, s->lock, s->enter_ns,
				      longest->who, longest->enter_ns, longest->end_ns);
		if (highest && s->token && s->token < highest->token)
			history_blame(h, "token: %s entered %s at %" PRIu64 " with %" PRIu64
				      ", after %s with %" PRIu64, s->who, s->lock, s->enter_ns,
				      s->token, highest->who, highest->token);
		if (!longest || s->end_ns > longest->end_ns)
			longest = s;
		if (s->token && (!highest || s->token > highest->token))
			highest = s;
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
	one_at_a_time(h);
}
