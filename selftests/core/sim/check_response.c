// SPDX-License-Identifier: GPL-2.0
/*
 * Responses to clients are true. A response says which version it comes with:
 * the history has that version, and in it this very response to this operation,
 * so that check_chain.c has computed it again. And the history agrees with time,
 * which makes it linearizable: an operation is not applied in a version that was
 * there before it was submitted, or that somebody had the answer of.
 */
#include "order.h"
#include "story.h"

/**
 * struct told - what was told so far
 * @highest: version of an answer to anybody
 * @before:  of each client, what it was when the operation was submitted
 * @state:   by version, as servers had it first
 */
struct told {
	u64 highest;
	u64 *before;
	const struct bftm_body **state;
	u32 room;
};

static void *start(struct world *w)
{
	struct told *t = arena_take(&w->arena, sizeof(*t));

	t->room = 64;
	t->before = arena_array(&w->arena, u64, w->plan->clients);
	t->state = arena_array(&w->arena, const struct bftm_body *, t->room);
	return t;
}

static void remember(struct world *w, struct told *t, const struct bftm_body *body)
{
	const struct bftm_body **old = t->state;

	if (!body)
		return;
	if (body->id.version >= t->room && body->id.version < 2 * t->room) {
		t->state = arena_array(&w->arena, const struct bftm_body *, 2 * t->room);
		memcpy(t->state, old, sizeof(*old) * t->room);
		t->room *= 2;
	}
	if (body->id.version < t->room && !t->state[body->id.version])
		t->state[body->id.version] = body;
}

static void answered(struct world *w, struct told *t, const struct fact *f)
{
	const struct bftm_body *state = NULL;
	struct bftm_applied a;
	u64 version = 0;

	if (f->len < sizeof(version) || bftm_answers(f->response, f->len, &version) < 0) {
		check_fails(w, &check_response, 0, "c%u is told to %s what is no response",
			    f->client + 1, story_attempt(w, f->op));
		return;
	}
	if (version < t->room)
		state = t->state[version];
	if (!state || !bftm_state_find(state->data, f->client, &a) || a.op != f->op ||
	    a.len != f->len || memcmp(a.response, f->response, f->len))
		check_fails(w, &check_response, 0,
			    "c%u is told a response to %s with version %llu that nobody has",
			    f->client + 1, story_attempt(w, f->op), (unsigned long long)version);
	if (version <= t->before[f->client])
		check_fails(w, &check_response, 0,
			    "%s of c%u comes with version %llu, but %llu was answered before it",
			    story_attempt(w, f->op), f->client + 1, (unsigned long long)version,
			    (unsigned long long)t->before[f->client]);
	if (version > t->highest)
		t->highest = version;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct told *t = state;

	if (f->kind == FACT_SUBMIT)
		t->before[f->client] = t->highest;
	else if (f->kind == FACT_ADOPTED)
		remember(w, t, f->body);
	else
		answered(w, t, f);
}

const struct checker check_response = {
	.name = "response",
	.rule = "responses are those of the history, and it agrees with time",
	.facts = FACT(SUBMIT) | FACT(ADOPTED) | FACT(ANSWERED),
	.orders = true,
	.start = start,
	.on_fact = on_fact,
};
