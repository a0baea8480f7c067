// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>

#include "record.h"
#include "story.h"

static const struct checker *const checkers[CHECKERS] = {
	&check_exclusion, &check_once, &check_deadline, &check_release, &check_liveness,
	&check_tokens, &check_fairness, &check_held, &check_values, &check_synced, &check_chain, &check_response,
	&check_ranks, &check_answered, &check_kept,
};

bool check_exists(const char *name)
{
	u32 i;

	for (i = 0; i < CHECKERS; i++)
		if (!strcmp(checkers[i]->name, name))
			return true;
	return false;
}

static bool is_watching(const struct world *w, const struct checker *c)
{
	return c->orders == w->plan->protocol->orders;
}

void check_start(struct world *w)
{
	u32 i;

	for (i = 0; i < CHECKERS; i++)
		if (is_watching(w, checkers[i]))
			w->check[i] = checkers[i]->start(w);
}

void check_fact(struct world *w, const struct fact *f)
{
	struct fact now = *f;
	u32 i;

	if (!now.at)
		now.at = w->now;
	record_fact(w, &now);
	for (i = 0; i < CHECKERS; i++)
		if (checkers[i]->facts >> f->kind & 1 && is_watching(w, checkers[i]))
			checkers[i]->on_fact(w, w->check[i], &now);
}

void check_end(struct world *w)
{
	u32 i;

	for (i = 0; i < CHECKERS && !w->failed.checker; i++)
		if (checkers[i]->at_end && is_watching(w, checkers[i]))
			checkers[i]->at_end(w, w->check[i]);
}

void check_fails(struct world *w, const struct checker *checker, u32 lock, const char *format,
		 ...)
{
	va_list args;

	if (w->failed.checker || (w->plan->check && strcmp(w->plan->check, checker->name)))
		return;
	w->failed.checker = checker;
	w->failed.at = w->now;
	w->failed.lock = lock;
	va_start(args, format);
	vsnprintf(w->failed.text, sizeof(w->failed.text), format, args);
	va_end(args);
	tell(w, lock, "*** %s", w->failed.text);
}

void check_look(struct world *w, u32 part, u32 client, u64 at)
{
	queue_push(&w->queue, at, EVENT_LOOK, client)->part = part;
}
