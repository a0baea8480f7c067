// SPDX-License-Identifier: GPL-2.0
/*
 * One history. COMMIT is sent only of what a quorum has accepted as proposed with
 * that rank, and then no other state of this version can ever be: so all states
 * that correct servers have as committed, or clients have committed, are one for
 * each version, at any time. And each is made of the one before by operations
 * that their clients submitted: each once, in the order of a client's numbers, with
 * the response and the effect that the object's type gives it. The state is
 * computed again here, from the one before.
 */
#include "order.h"
#include "story.h"

#define FIRST_ROOM 64

/** struct asked - an operation that a client submitted */
struct asked {
	struct asked *next;
	u64 op;
	const struct bftm_body *body;
};

/**
 * struct chain - the history
 * @state: by version, NULL where there is none yet; 0 is σ0
 * @asked: by client
 */
struct chain {
	const struct bftm_body **state;
	u32 room;
	struct asked **asked;
};

static void *start(struct world *w)
{
	struct chain *c = arena_take(&w->arena, sizeof(*c));

	c->room = FIRST_ROOM;
	c->state = arena_array(&w->arena, const struct bftm_body *, c->room);
	c->asked = arena_array(&w->arena, struct asked *, w->plan->clients);
	return c;
}

static void note(struct world *w, struct chain *c, const struct fact *f)
{
	struct asked *a = arena_take(&w->arena, sizeof(*a));

	a->op = f->op;
	a->body = f->body;
	a->next = c->asked[f->client];
	c->asked[f->client] = a;
}

static const struct bftm_body *find(const struct world *w, const struct chain *c, u32 client,
				    u64 op)
{
	const struct asked *a;

	if (client >= w->plan->clients)
		return NULL;
	for (a = c->asked[client]; a; a = a->next)
		if (a->op == op)
			return a->body;
	return NULL;
}

static void keep(struct bftm_object_job *job)
{
	(void)job;
}

/** struct step - from one version to the next */
struct step {
	const struct bftm_body *old;
	const struct bftm_body *new;
	struct bftm_object_op op[ORDER_OPS + 1];
	struct bftm_applied applied[ORDER_OPS + 1];
	u32 ops;
};

/*
 * Numbers are an incarnation and a count. Of one incarnation each comes after the
 * one before; the first of another after all of those before it.
 */
static bool comes_after(u64 old, u64 op)
{
	u32 incarnation = (u32)(op >> 32), before = (u32)(old >> 32);

	if (incarnation != before)
		return incarnation > before && (u32)op == 1;
	return (u32)op == (u32)old + 1;
}

/* The entry of one client in the new state. Return: false after a complaint. */
static bool look(struct world *w, const struct chain *c, struct step *s, u32 x)
{
	struct bftm_applied old = {}, new = {};
	bool was = s->old && bftm_state_find(s->old->data, x, &old);
	bool is = bftm_state_find(s->new->data, x, &new);
	const struct bftm_body *body;

	old.op = was ? old.op : 0;
	if (!was && !is)
		return true;
	if (was && is && new.op == old.op && new.len == old.len &&
	    !memcmp(new.response, old.response, new.len))
		return true;
	body = is ? find(w, c, x, new.op) : NULL;
	if (!is || !comes_after(old.op, new.op) || !body || s->ops > ORDER_OPS) {
		check_fails(w, &check_chain, 0,
			    "%s reflects operation %s of c%u, %s, after %s in the version before",
			    story_body(&s->new->id), story_attempt(w, is ? new.op : 0), x + 1,
			    body ? "which it submitted" : "which it never submitted",
			    story_attempt(w, old.op));
		return false;
	}
	s->applied[s->ops] = new;
	s->op[s->ops++] = (struct bftm_object_op){
		.body = body->data, .len = body->id.len, .own = true,
	};
	return true;
}

/* Compute it again. */
static void replay(struct world *w, struct step *s)
{
	struct bftm_object_job job = {
		.version = s->new->id.version, .op = s->op, .count = s->ops, .done = keep,
	};
	const u8 *app;
	u32 app_len, i;

	if (s->old)
		job.app = bftm_state_app(s->old->data, s->old->id.len, &job.app_len);
	job.room = order_room(w, s->old, s->ops);
	bftm_object_apply(&job);
	app = bftm_state_app(s->new->data, s->new->id.len, &app_len);
	if (app_len != job.state.len || memcmp(app, job.state.data, app_len))
		check_fails(w, &check_chain, 0, "%s is not what %u operations make of %s",
			    story_body(&s->new->id), s->ops,
			    story_body(s->old ? &s->old->id : &(struct bftm_body_id){}));
	for (i = 0; i < s->ops; i++)
		if (s->applied[i].len != s->op[i].response.len ||
		    memcmp(s->applied[i].response, s->op[i].response.data, s->applied[i].len))
			check_fails(w, &check_chain, 0,
				    "%s has a wrong response to operation %s of c%u",
				    story_body(&s->new->id),
				    story_attempt(w, s->applied[i].op),
				    s->applied[i].client + 1);
	bftm_object_free(&job);
}

static void grow(struct world *w, struct chain *c)
{
	const struct bftm_body **old = c->state;

	c->state = arena_array(&w->arena, const struct bftm_body *, 2 * c->room);
	memcpy(c->state, old, sizeof(*old) * c->room);
	c->room *= 2;
}

/* The first time that somebody has a state of this version. */
static void extend(struct world *w, struct chain *c, const struct bftm_body *body)
{
	u64 version = body->id.version;
	struct step s = { .new = body };
	u32 x;

	if (version >= c->room && version < 2 * c->room)
		grow(w, c);
	if (version >= c->room || (version > 1 && !c->state[version - 1])) {
		check_fails(w, &check_chain, 0, "%s comes before any version %llu",
			    story_body(&body->id), (unsigned long long)version - 1);
		return;
	}
	s.old = version > 1 ? c->state[version - 1] : NULL;
	c->state[version] = body;
	for (x = 0; x < w->plan->clients; x++)
		if (!look(w, c, &s, x))
			return;
	if (bftm_state_clients(body->data) > w->plan->clients)
		check_fails(w, &check_chain, 0, "%s reflects operations of nobody",
			    story_body(&body->id));
	if (!s.ops)
		check_fails(w, &check_chain, 0, "%s is a new version in which nothing is new",
			    story_body(&body->id));
	replay(w, &s);
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct chain *c = state;

	if (f->kind == FACT_SUBMIT) {
		note(w, c, f);
		return;
	}
	if (!f->body)
		return;
	if (f->body->id.version < c->room && c->state[f->body->id.version]) {
		if (!bftm_body_same(&c->state[f->body->id.version]->id, &f->body->id))
			check_fails(w, &check_chain, 0,
				    "%s and %s are both committed: the history forks",
				    story_body(&c->state[f->body->id.version]->id),
				    story_body(&f->body->id));
		return;
	}
	extend(w, c, f->body);
}

const struct checker check_chain = {
	.name = "chain",
	.rule = "committed states are one history, each made of the one before",
	.facts = FACT(SUBMIT) | FACT(ADOPTED) | FACT(COMMITTED),
	.orders = true,
	.start = start,
	.on_fact = on_fact,
};
