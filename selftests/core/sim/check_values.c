// SPDX-License-Identifier: GPL-2.0
/*
 * The value of a lock: what a client is told to be valid is what the last holder left that could
 * write, in PW or EX. Where that one lost its lease, or its host, nothing is valid until the next
 * value is left. Any value may be told not to be valid: the judge of liveness is a unit test.
 *
 * Those that can write exclude each other, so the order of their holdings is that in which they
 * begin. A holder in CR may read while another writes: it is not judged.
 */
#include "story.h"

#define OPEN (~0ull)	/* a holder may write just now */

/**
 * struct kept_value - of a lock
 * @hold:    that can write, or could last
 * @outcome: number of the value that it left; 0: nothing may be valid
 * @before:  what it found
 */
struct kept_value {
	u64 hold;
	u64 outcome;
	u64 before;
};

static void *start(struct world *w)
{
	return arena_array(&w->arena, struct kept_value, w->plan->locks);
}

static void held(struct kept_value *v, const struct fact *f)
{
	const bool open = v->hold == f->hold && v->outcome == OPEN;

	if (bftm_mode_writes(f->mode) && !open) {
		v->before = v->outcome == OPEN ? 0 : v->outcome;
		v->outcome = OPEN;
		v->hold = f->hold;
	} else if (!bftm_mode_writes(f->mode) && open) {
		v->outcome = v->before;
	}
}

static void left(struct kept_value *v, const struct fact *f)
{
	if (v->hold != f->hold || v->outcome != OPEN)
		return;
	v->before = f->value;
	if (!bftm_mode_writes(f->mode))
		v->outcome = f->value;
}

static void told(struct world *w, const struct kept_value *v, const struct fact *f)
{
	u64 right = v->hold == f->hold && v->outcome == OPEN ? v->before : v->outcome;

	w->stats.values++;
	w->stats.valid += f->valid;
	if (!f->valid || f->mode == BFTM_MODE_CR || f->value == right)
		return;
	if (!right || right == OPEN)
		check_fails(w, &check_values, f->lock,
			    "c%u is told that value %llu of %s is valid, but how its last holder ended is not known",
			    f->client + 1, (unsigned long long)f->value, story_lock(f->lock));
	else
		check_fails(w, &check_values, f->lock,
			    "c%u is told that value %llu of %s is valid, but its last holder left %llu",
			    f->client + 1, (unsigned long long)f->value, story_lock(f->lock),
			    (unsigned long long)right);
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct kept_value *v = (struct kept_value *)state + f->lock;
	const bool open = v->hold == f->hold && v->outcome == OPEN;

	switch (f->kind) {
	case FACT_WIN:
	case FACT_EXTEND:
		/* One that is over when it is told is nobody's. */
		if (clock_at(&w->client[f->client].clock, w->now) <= f->end_ns)
			held(v, f);
		break;
	case FACT_LEFT:
		left(v, f);
		break;
	case FACT_READ:
		told(w, v, f);
		break;
	case FACT_STOP:
		if (open)
			v->outcome = v->before;
		break;
	default:
		if (open)
			v->outcome = 0;
	}
}

const struct checker check_values = {
	.name = "values",
	.rule = "a value that is told to be valid is what the last holder left that could write",
	.facts = FACT(WIN) | FACT(EXTEND) | FACT(LEFT) | FACT(READ) | FACT(STOP) | FACT(OVER) |
		 FACT(GONE),
	.start = start,
	.on_fact = on_fact,
};
