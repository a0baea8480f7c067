// SPDX-License-Identifier: GPL-2.0
/* The rules of Sections 15.2.1, 15.3, 15.4.2, 15.4.3, 15.5.1 and 14.5 that are known at the end. */
#include "world.h"

const char *const check_rules[RULES] = {
	"me1", "me2", "me3", "e1", "e2", "integrity", "validity", "agreement", "uniform", "fifo",
	"causal", "total", "termination", "cut", "value",
};

static bool is_correct(const struct peer_host *h)
{
	return !h->is_dead && !h->lies;
}

static void check_mutex(struct peer_world *w)
{
	if (!(w->broken & w->plan->judge) && !app_is_done(w))
		peer_break(w, RULE_ME2, "a correct process waits for ever");
}

static void check_election(struct peer_world *w)
{
	u32 id, largest = 0;

	for (id = 0; id < w->plan->n; id++)
		if (!w->host[id].is_dead && w->host[id].peer.rank > largest)
			largest = w->host[id].peer.rank;
	for (id = 0; id < w->plan->n; id++) {
		if (w->host[id].is_dead || w->host[id].elected == largest)
			continue;
		if (w->host[id].elected == PEER_NOBODY)
			peer_break(w, RULE_E2, "a correct process never learns who is elected");
		else
			peer_break(w, RULE_E1, "one takes another for elected than the largest");
	}
}

/* Messages that process @h delivered, each against those that had to come before. */
static void check_order(struct peer_world *w, const struct peer_host *h)
{
	u32 casts = w->plan->casts, m;
	u64 earlier;

	for (m = 0; m < w->plan->n * casts; m++) {
		if (!(h->set >> m & 1))
			continue;
		earlier = w->depends[m] & ~h->before[m];
		if (earlier)
			peer_break(w, RULE_CAUSAL, "a message is delivered before its cause");
		if (earlier >> (m / casts * casts) & ((1ull << casts) - 1))
			peer_break(w, RULE_FIFO, "messages of a sender change places");
	}
}

static void check_two(struct peer_world *w, const struct peer_host *a, const struct peer_host *b)
{
	u32 m;

	if (is_correct(b) && a->set & ~b->set) {
		if (is_correct(a))
			peer_break(w, RULE_AGREEMENT, "two correct processes deliver other sets");
		peer_break(w, RULE_UNIFORM, "a correct process lacks what another delivered");
	}
	if (!is_correct(a) || !is_correct(b))
		return;
	for (m = 0; m < w->plan->n * w->plan->casts; m++)
		if (a->set & b->set & 1ull << m && a->before[m] != b->before[m])
			peer_break(w, RULE_TOTAL, "two processes deliver in two orders");
}

static void check_multicast(struct peer_world *w)
{
	u32 i, j;

	for (i = 0; i < w->plan->n; i++) {
		const struct peer_host *h = &w->host[i];

		for (j = 0; j < w->plan->n; j++)
			if (j != i)
				check_two(w, h, &w->host[j]);
		if (!is_correct(h))
			continue;
		if (h->cast & ~h->set)
			peer_break(w, RULE_VALIDITY, "a correct sender lacks its own message");
		check_order(w, h);
	}
}

static bool is_proposed(const struct peer_world *w, u32 value)
{
	u32 i;

	/* Of generals the commander alone proposes; an order of a traitor is none. */
	if (w->plan->algorithm->servers)
		return !is_correct(&w->host[0]) || value == w->value[0];
	for (i = 0; i < w->plan->n; i++)
		if (w->value[i] == value)
			return true;
	return false;
}

static void check_agreement(struct peer_world *w)
{
	const struct peer_host *first = NULL;
	u32 i;

	for (i = 0; i < w->plan->n; i++) {
		const struct peer_host *h = &w->host[i];

		if (!is_correct(h))
			continue;
		if (!h->is_decided) {
			peer_break(w, RULE_TERMINATION, "a correct process never decides");
			continue;
		}
		if (!is_proposed(w, h->decision))
			peer_break(w, RULE_INTEGRITY, "a value is decided that was not proposed");
		if (first && first->decision != h->decision)
			peer_break(w, RULE_AGREEMENT, "two correct processes decide differently");
		first = first ?: h;
	}
}

static void check_snapshot(struct peer_world *w)
{
	u32 i, sum = 0;

	for (i = 0; i < w->plan->n; i++) {
		sum += w->host[i].recorded;
		if (!w->host[i].is_recorded || w->host[i].recorded_channels != w->plan->n - 1)
			peer_break(w, RULE_TERMINATION, "a state or a channel is never recorded");
	}
	if (sum != w->plan->n * PEER_MONEY && !(w->broken & RULE_TERMINATION))
		peer_break(w, RULE_CUT, "the recorded states and channels have another sum");
}

void check_end(struct peer_world *w)
{
	switch (w->plan->algorithm->task) {
	case TASK_MUTEX:
		check_mutex(w);
		break;
	case TASK_ELECTION:
		check_election(w);
		break;
	case TASK_MULTICAST:
		check_multicast(w);
		break;
	case TASK_AGREEMENT:
		check_agreement(w);
		break;
	case TASK_SNAPSHOT:
		check_snapshot(w);
		break;
	}
}
