// SPDX-License-Identifier: GPL-2.0
/*
 * The search: step by step, an operation is put next that was invoked before any of
 * those left has returned, and whose answer is right now. A set of operations with
 * a state that led nowhere once is not tried again. Two hashes of 64 bits stand for
 * set and state: when they are equal by accident an order may be missed, which
 * shows as a violation; a wrong order is never accepted.
 */
#include <stdlib.h>

#include "search.h"

static void *room(size_t count, size_t size)
{
	void *ret = calloc(count + 1, size);

	if (!ret)
		abort();
	return ret;
}

static bool insert(struct tried *table, u64 size, struct tried key)
{
	u64 at;

	for (at = lin_mix(key.set ^ lin_mix(key.state)) & (size - 1); table[at].set ||
	     table[at].state; at = (at + 1) & (size - 1))
		if (table[at].set == key.set && table[at].state == key.state)
			return false;
	table[at] = key;
	return true;
}

/* Notes set and state; false when they were there before. */
static bool is_new(struct search *s)
{
	struct tried key = { s->set, (lin_state_hash(s->state) ^ lin_run_hash(&s->run)) | 1 };
	struct tried *old = s->tried;
	u64 i, old_size = s->tried_size;

	if (2 * s->tried_count >= s->tried_size) {
		s->tried_size = old_size ? 2 * old_size : 4096;
		s->tried = room(s->tried_size, sizeof(*s->tried));
		for (i = 0; i < old_size; i++)
			if (old[i].set || old[i].state)
				insert(s->tried, s->tried_size, old[i]);
		free(old);
	}
	if (!insert(s->tried, s->tried_size, key))
		return false;
	s->tried_count++;
	return true;
}

static void take_out(struct search *s, u32 i)
{
	s->node[s->node[i].prev].next = s->node[i].next;
	s->node[s->node[i].next].prev = s->node[i].prev;
}

static void put_back(struct search *s, u32 i)
{
	s->node[s->node[i].prev].next = i;
	s->node[s->node[i].next].prev = i;
}

/* Of two that are alike and may come at any time the older one comes first. */
static bool has_twin(const struct search *s, u32 i)
{
	return s->window[i].twin != LIN_NO_TWIN && !s->placed[s->window[i].twin];
}

/* The best of what may come next, of a rank of at least @rank. */
static u32 candidate(const struct search *s, u32 rank)
{
	u32 i, best = NOTHING, first = s->guided ? lin_first_applied(s) : NOTHING;
	u64 returned = LIN_NEVER;

	for (i = lin_next(s, s->calls, &returned); i != s->calls; i = lin_next(s, i, &returned))
		if (s->rank[i] >= rank && !has_twin(s, i) && !lin_is_early(s, i, first) &&
		    (best == NOTHING || s->rank[i] < s->rank[best]))
			best = i;
	return best;
}

static bool place(struct search *s, u32 i)
{
	struct frame *frame = &s->stack[s->depth];
	bool open = s->window[i].end_ns == LIN_NEVER;
	struct lin_run run = s->run;

	frame->call = i;
	frame->run = s->run;
	if (!lin_run_on(&run, s->model, &s->call[i], open) ||
	    (open && run.key && !lin_is_worth_trying(s, i)) || lin_is_out(s, i) ||
	    !lin_step(s->model, s->state, &s->call[i], &frame->undo))
		return false;
	/* Where it does nothing it need not have happened. */
	if (s->call[i].pending && frame->undo.what == LIN_NOTHING)
		return false;
	s->set ^= s->call[i].zobrist;
	s->run = run;
	if (!is_new(s)) {
		s->run = frame->run;
		s->set ^= s->call[i].zobrist;
		lin_step_back(s->state, &frame->undo);
		return false;
	}
	take_out(s, i);
	s->placed[i] = true;
	s->left -= s->window[i].end_ns != LIN_NEVER;
	s->depth++;
	return true;
}

/*
 * Did it only look? "decide" that answers its own value did not for sure: later, when the register
 * is empty, it may be the one that writes.
 */
static bool is_reader(const struct lin_call *call, const struct lin_undo *undo)
{
	return undo->what == LIN_NOTHING && !(call->decides && call->answer == call->value);
}

/*
 * An operation that is right now and changes nothing can as well come now: then nothing else need
 * be tried in its place. Return: whether there is such a one.
 */
static bool place_reader(struct search *s)
{
	u64 returned = LIN_NEVER;
	struct lin_undo undo;
	u32 i;

	for (i = lin_next(s, s->calls, &returned); i != s->calls; i = lin_next(s, i, &returned)) {
		if (s->call[i].pending || !lin_step(s->model, s->state, &s->call[i], &undo))
			continue;
		lin_step_back(s->state, &undo);
		if (is_reader(&s->call[i], &undo))
			return place(s, i);
	}
	return false;
}

/* Takes the last one back. Return: the rank to go on from. */
static u32 take_back(struct search *s)
{
	u32 i = s->stack[--s->depth].call;

	put_back(s, i);
	s->placed[i] = false;
	s->run = s->stack[s->depth].run;
	if (s->turns)
		lin_turns_back(s->turns, i);
	s->left += s->window[i].end_ns != LIN_NEVER;
	s->set ^= s->call[i].zobrist;
	lin_step_back(s->state, &s->stack[s->depth].undo);
	return is_reader(&s->call[i], &s->stack[s->depth].undo) ? NOTHING : s->rank[i] + 1;
}

static enum lin_verdict search(struct search *s, u64 *steps)
{
	u32 rank = 0, i;

	while (s->left) {
		if (!rank && place_reader(s))
			continue;
		i = candidate(s, rank);
		if (i == NOTHING) {
			if (!s->depth)
				return LIN_VIOLATED;
			rank = take_back(s);
			continue;
		}
		if (!*steps)
			return LIN_UNDECIDED;
		--*steps;
		rank = place(s, i) ? 0 : s->rank[i] + 1;
	}
	return LIN_GOOD;
}

static const struct lin_call *ranking;
static const struct lin_window *windows;

/*
 * As the ordering thread applies; what nobody knows whether it happened comes last,
 * the youngest first.
 */
static int compare(const void *a, const void *b)
{
	u32 i = *(const u32 *)a, j = *(const u32 *)b;
	const struct lin_op *x = ranking[i].op, *y = ranking[j].op;
	bool x_open = windows[i].end_ns == LIN_NEVER, y_open = windows[j].end_ns == LIN_NEVER;

	if (x_open != y_open)
		return x_open ? 1 : -1;
	if (x_open && x->invoke_ns != y->invoke_ns)
		return x->invoke_ns > y->invoke_ns ? -1 : 1;
	if (x->version != y->version)
		return x->version < y->version ? -1 : 1;
	/* A version applies operations by client, as their hosts packed them. */
	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	return i < j ? -1 : 1;
}

static void rank(struct search *s)
{
	u32 *by_rank = room(s->calls, sizeof(*by_rank)), i;

	for (i = 0; i < s->calls; i++)
		by_rank[i] = i;
	ranking = s->call;
	windows = s->window;
	qsort(by_rank, s->calls, sizeof(*by_rank), compare);
	for (i = 0; i < s->calls; i++)
		s->rank[by_rank[i]] = i;
	free(by_rank);
}

static enum lin_verdict look(const struct lin_model *model, const struct lin_texts *texts,
			     struct lin_call *call, u32 calls, bool exists, u64 until,
			     u32 guided, u64 *steps, u32 *order, u32 *ordered)
{
	struct search s = { .model = model, .call = call, .until = until, .guided = guided };
	enum lin_verdict verdict;
	u32 i;

	while (s.calls < calls && call[s.calls].op->invoke_ns <= until)
		s.calls++;
	s.state = lin_state_new(texts, call, s.calls, exists);
	s.node = room(s.calls, sizeof(*s.node));
	s.rank = room(s.calls, sizeof(*s.rank));
	s.placed = room(s.calls, sizeof(*s.placed));
	s.stack = room(s.calls, sizeof(*s.stack));
	for (i = 0; i <= s.calls; i++)
		s.node[i] = (struct node){ i == s.calls ? 0 : i + 1, i ? i - 1 : s.calls };
	for (i = 0; i < s.calls; i++) {
		call[i].zobrist = lin_mix(lin_mix(i + 1) + 0x9e3779b97f4a7c15u);
		call[i].pending = call[i].op->return_ns > until ||
				  call[i].op->return_ns == LIN_NEVER;
	}
	s.window = lin_windows(model, texts, call, s.calls);
	for (i = 0; i < s.calls; i++)
		s.left += s.window[i].end_ns != LIN_NEVER;
	s.turns = guided && model == &lin_queue ?
		  lin_turns_of_pops(model, s.window, call, s.calls) :
		  lin_turns_of_sums(model, texts, call, s.calls);
	rank(&s);
	verdict = search(&s, steps);
	for (i = 0; order && i < s.depth; i++)
		order[i] = s.stack[i].call;
	if (ordered)
		*ordered = s.depth;
	lin_state_free(s.state);
	free(s.window);
	free(s.node);
	free(s.rank);
	free(s.placed);
	free(s.stack);
	free(s.tried);
	lin_turns_free(s.turns);
	return verdict;
}

/*
 * An order that agrees with the versions is as good as any, and soon found. That
 * there is none says nothing: versions are claims, like all else.
 */
enum lin_verdict lin_search(const struct lin_model *model, const struct lin_texts *texts,
			    struct lin_call *call, u32 calls, bool exists, u64 until,
			    u64 *steps, u32 *order, u32 *ordered)
{
	u32 guided, most = model == &lin_queue ? 4 : 1;
	enum lin_verdict verdict;
	u64 some, before;

	for (guided = 1; guided <= most; guided *= 2) {
		before = some = *steps / 4;
		verdict = look(model, texts, call, calls, exists, until, guided, &some, order,
			       ordered);
		*steps -= before - some;
		if (verdict == LIN_GOOD)
			return verdict;
	}
	return look(model, texts, call, calls, exists, until, 0, steps, order, ordered);
}
