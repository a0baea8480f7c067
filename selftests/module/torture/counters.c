// SPDX-License-Identifier: GPL-2.0
/* Guarded counters: no update is lost, none made twice, none out of order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

/* An update; back_ns is 0 when nobody knows whether it was made. */
struct update {
	u64 value, token, read_ns, back_ns;
	const char *who;
	const char *lock;
};

static int by_value(const void *a, const void *b)
{
	const struct update *x = a, *y = b;
	int order = strcmp(x->lock, y->lock);

	if (!order && x->value != y->value)
		order = x->value < y->value ? -1 : 1;
	/* Those that were made first. */
	return order ?: !x->back_ns - !y->back_ns;
}

/* Of events that are sorted by who. */
static struct update *updates(struct history *h, size_t *ret_count)
{
	struct update *list = calloc(h->count + 1, sizeof(*list)), *u;
	u64 read_ns = 0;
	size_t i, n = 0;

	if (!list)
		abort();
	if (h->count)
		qsort(h->event, h->count, sizeof(*h->event), event_by_who);
	for (i = 0; i < h->count; i++) {
		const struct event *e = &h->event[i];

		u = n ? &list[n - 1] : NULL;
		if (e->what == READ)
			read_ns = e->at_ns;
		if (e->what == BEGIN)
			list[n++] = (struct update){ e->arg[1], e->arg[0], read_ns, 0, e->who,
						     e->lock };
		else if (u && !strcmp(u->who, e->who) && e->what == WROTE)
			u->back_ns = e->at_ns;
		else if (u && !strcmp(u->who, e->who) && e->what == REFUSE)
			n--;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_value);
	*ret_count = n;
	return list;
}

static u64 final_of(const struct history *h, const char *lock, u64 otherwise)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (h->event[i].what == FINAL && !strcmp(h->event[i].lock, lock))
			return h->event[i].arg[0];
	return otherwise;
}

/* Judges the updates of one lock, by value; updates of unknown outcome may fill gaps. */
static void judge(struct history *h, const struct update *u, size_t n)
{
	u64 made = 0, token = 0, latest_ns = 0, final;
	const struct update *before = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		bool again = before && u[i].value == before->value;

		if (!u[i].back_ns) {
			/* It may have been made where nothing else was. */
			made += !again && u[i].value == made + 1;
			before = again ? before : &u[i];
			continue;
		}
		if (again && before->back_ns)
			history_blame(h, "lost update: %s and %s both made %s %" PRIu64, before->who,
				      u[i].who, u[i].lock, u[i].value);
		else if (u[i].value != made + 1)
			history_blame(h, "gap: %s made %s %" PRIu64 " and nobody %" PRIu64,
				      u[i].who, u[i].lock, u[i].value, made + 1);
		made = u[i].value;
		if (u[i].token < token)
			history_blame(h, "stale: %s made %s %" PRIu64 " with token %" PRIu64
				      " after %" PRIu64, u[i].who, u[i].lock, u[i].value,
				      u[i].token, token);
		token = u[i].token;
		/* One with a smaller value had begun after this one was done. */
		if (u[i].back_ns < latest_ns)
			history_blame(h, "order: %s made %s %" PRIu64 " before a smaller one began",
				      u[i].who, u[i].lock, u[i].value);
		if (u[i].read_ns > latest_ns)
			latest_ns = u[i].read_ns;
		before = &u[i];
	}
	final = final_of(h, u->lock, made);
	/* The last may be one that nobody knows of. */
	if (final != made && !(before && !before->back_ns && final + 1 == made))
		history_blame(h, "final: %s is %" PRIu64 " after %" PRIu64 " updates", u->lock,
			      final, made);
}

/* Nobody writes beside one that reads and holds: what it sees with one token stays as it is. */
static void reads(struct history *h)
{
	const struct event *seen = NULL, *e;

	if (h->count)
		qsort(h->event, h->count, sizeof(*h->event), event_by_who);
	for (e = h->event; e < h->event + h->count; e++) {
		if (seen && strcmp(seen->who, e->who))
			seen = NULL;
		if (e->what == ENTER || e->what == MODE || e->what == BEGIN)
			seen = NULL;
		if (e->what != SAW)
			continue;
		if (seen && seen->arg[0] == e->arg[0] && seen->arg[1] != e->arg[1])
			history_blame(h, "unsteady: %s saw %s %" PRIu64 " and then %" PRIu64
				      " with token %" PRIu64, e->who, e->lock, seen->arg[1],
				      e->arg[1], e->arg[0]);
		seen = e;
	}
}

void history_counters(struct history *h)
{
	struct update *u;
	size_t i, from = 0, n;

	reads(h);
	u = updates(h, &n);
	for (i = 1; i <= n; i++) {
		if (i < n && !strcmp(u[i].lock, u[from].lock))
			continue;
		judge(h, u + from, i - from);
		from = i;
	}
	free(u);
}

static void lin_reads(const struct history *h, size_t process, FILE *to)
{
	u64 read_ns = 0;
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct event *e = &h->event[i];

		if (e->what == READ)
			read_ns = e->at_ns;
		if (e->what == SAW)
			fprintf(to, "{\"client\":1,\"process\":%zu,\"object\":\"%s\","
				"\"request\":\"get\",\"invoke_ns\":%" PRIu64 ",\"return_ns\":%"
				PRIu64 ",\"status\":0,\"response\":\"%" PRIu64 "\"}\n",
				process++, e->lock, read_ns, e->at_ns, e->arg[1]);
	}
}

void history_lin(struct history *h, FILE *to)
{
	struct update *u;
	size_t i, n;

	u = updates(h, &n);
	for (i = 0; i < n; i++) {
		fprintf(to, "{\"client\":1,\"process\":%zu,\"object\":\"%s\",\"request\":\"add 1\","
			"\"invoke_ns\":%" PRIu64, i + 1, u[i].lock, u[i].read_ns);
		if (u[i].back_ns)
			fprintf(to, ",\"return_ns\":%" PRIu64 ",\"status\":0,\"response\":\"%" PRIu64
				"\"}\n", u[i].back_ns, u[i].value);
		else
			fprintf(to, ",\"return_ns\":null,\"status\":null,\"response\":null}\n");
	}
	free(u);
	lin_reads(h, n + 1, to);
}

void history_healing(struct history *h)
{
	u64 healed = 0;
	size_t i;

	for (i = 0; i < h->count; i++)
		if (h->event[i].what == HEAL)
			healed = h->event[i].at_ns;
	if (!healed || !h->heal_bound_ns)
		return;
	qsort(h->event, h->count, sizeof(*h->event), event_by_lock);
	for (i = 0; i < h->count; i++) {
		const struct event *e = &h->event[i], *last = e;
		u64 first = 0;

		for (; i < h->count && !strcmp(h->event[i].lock, last->lock); i++) {
			e = &h->event[i];
			if (e->what == ENTER && e->at_ns >= healed && !first)
				first = e->at_ns;
		}
		i--;
		if (!strcmp(e->lock, "-"))
			continue;
		if (!first)
			history_blame(h, "healing: nobody entered %s after it", e->lock);
		else if (first - healed > h->heal_bound_ns)
			history_blame(h, "healing: nobody entered %s for %" PRIu64 " ms", e->lock,
				      (first - healed) / 1000000);
		if (h->to && first)
			fprintf(h->to, "# %s: entered %" PRIu64 " us after the healing\n", e->lock,
				(first - healed) / 1000);
	}
}
