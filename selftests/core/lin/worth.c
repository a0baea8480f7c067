// SPDX-License-Identifier: GPL-2.0
/* Operations that the search may leave out, by what else has no place yet. */
#include "search.h"

/* Of a chain of operations without an answer, so many are looked through. */
#define LINKS_MAX 4

static bool is_known(const struct search *s, u32 i)
{
	return s->call[i].op->version && s->window[i].end_ns != LIN_NEVER;
}

u32 lin_first_applied(const struct search *s)
{
	u32 i, first = NOTHING;

	for (i = s->node[s->calls].next; i != s->calls; i = s->node[i].next)
		if (is_known(s, i) && (first == NOTHING || s->rank[i] < s->rank[first]))
			first = i;
	return first;
}

bool lin_is_early(const struct search *s, u32 i, u32 first)
{
	return first != NOTHING && is_known(s, i) &&
	       (s->call[i].op->version != s->call[first].op->version ||
		s->call[i].op->client != s->call[first].op->client);
}

/*
 * Without an answer, and it changes something: does anything that may come next look at
 * what it makes, or at what another one without an answer makes of that?
 */
static bool is_wanted(const struct search *s, u32 call, u32 first, u32 links)
{
	u64 returned = LIN_NEVER;
	u32 i;

	for (i = lin_next(s, s->calls, &returned); i != s->calls; i = lin_next(s, i, &returned)) {
		if (i == call || lin_is_early(s, i, first) ||
		    !lin_wants(s->state->texts, &s->call[i], &s->call[call]))
			continue;
		/* A chain so long is not looked through. */
		if (s->window[i].end_ns != LIN_NEVER || !links ||
		    is_wanted(s, i, first, links - 1))
			return true;
	}
	return false;
}

bool lin_is_worth_trying(const struct search *s, u32 call)
{
	return is_wanted(s, call, s->guided ? lin_first_applied(s) : NOTHING, LINKS_MAX);
}

/* Would a sum, or length, be passed that somebody saw, and who saw it has no place yet? */
static bool is_too_much(struct search *s, u32 i)
{
	if (s->turns && s->model == &lin_log && s->call[i].pending &&
	    s->call[i].kind == LIN_WRITE)
		return s->state->tail + 1 > lin_turn(s->turns, s->placed);
	return s->turns && s->call[i].pending && s->call[i].kind == LIN_ADD &&
	       s->call[i].a > lin_turn(s->turns, s->placed) - s->state->number;
}

/* Would it come into the queue before another one that leaves it earlier? */
static bool is_out_of_turn(struct search *s, u32 i)
{
	return s->turns && s->model == &lin_queue &&
	       lin_turn_of(s->turns, i) > lin_turn(s->turns, s->placed);
}

/* A pop without an answer did not take what another one is known to have taken. */
static bool takes_another_s(const struct search *s, u32 i)
{
	const struct lin_state *state = s->state;

	return s->model == &lin_queue && s->call[i].pending &&
	       s->call[i].kind == LIN_DELETE && state->head < state->tail &&
	       s->window[state->by[state->head] - s->call].pop != LIN_NOBODY;
}

/*
 * An entry that was pushed without an answer, and was in no other, shows only where the length
 * is told. Where the order is guessed, few such are guessed at a time.
 */
static bool is_too_long(const struct search *s, u32 call)
{
	const struct lin_state *state = s->state;
	u32 i, count = 0;

	if (!s->guided || !s->window[call].unseen || !s->call[call].pending)
		return false;
	for (i = state->head; i < state->tail; i++)
		count += s->call[state->by[i] - s->call].pending &&
			 s->window[state->by[i] - s->call].unseen;
	return count >= s->guided;
}

/* Do reads show something else at the end of the log, or show this one elsewhere? */
static bool is_elsewhere(const struct search *s, u32 i)
{
	u32 tail = s->state->tail;

	if (s->model != &lin_log || !s->call[i].pending || s->call[i].kind != LIN_WRITE)
		return false;
	return s->window[tail].shown ? s->window[i].at != tail : s->window[i].at >= 0;
}

/* Is there another one that must come before, see struct lin_window? */
static bool comes_later(const struct search *s, u32 call)
{
	u32 i = s->node[s->calls].next;

	if (!s->window[call].seen_from_ns)
		return false;
	for (; i != s->calls && s->call[i].op->invoke_ns <= s->window[call].end_ns;
	     i = s->node[i].next)
		if (s->window[i].seen_until_ns < s->window[call].seen_from_ns)
			return true;
	return false;
}

bool lin_is_out(struct search *s, u32 i)
{
	return is_too_much(s, i) || is_too_long(s, i) || is_out_of_turn(s, i) ||
	       takes_another_s(s, i) || is_elsewhere(s, i) || comes_later(s, i);
}
