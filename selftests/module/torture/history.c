// SPDX-License-Identifier: GPL-2.0
/* Lines of histories. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

static const struct {
	const char *name;
	int args;
	int more;	/* that may follow */
} words[WHATS] = {
	[INVOKE] = { "invoke", 0 },
	[ENTER] = { "enter", 2, 1 },
	[MODE] = { "mode", 3 },
	[FAIL] = { "fail", 1 },
	[LOOK] = { "look", 3 },
	[READ] = { "read", 1 },
	[SAW] = { "saw", 2 },
	[BEGIN] = { "begin", 2 },
	[WROTE] = { "wrote", 2 },
	[REFUSE] = { "refuse", 2 },
	[LEAVE] = { "leave", 0 },
	[KILL] = { "kill", 0 },
	[HEAL] = { "heal", 0 },
	[GRANTED] = { "granted", 2 },
	[FINAL] = { "final", 1 },
};

bool history_add(struct history *h, const char *line)
{
	struct event e = { .line = h->count + 1 };
	char what[16];
	int i, got;

	got = sscanf(line, "%" SCNu64 " %15s %23s %23s %" SCNu64 " %" SCNu64 " %" SCNu64,
		     &e.at_ns, what, e.who, e.lock, &e.arg[0], &e.arg[1], &e.arg[2]);
	for (i = 0; i < WHATS && (got < 4 || strcmp(what, words[i].name)); i++)
		;
	if (i == WHATS || got < 4 + words[i].args || got > 4 + words[i].args + words[i].more)
		return false;
	e.what = (enum what)i;
	if ((e.what == ENTER && e.arg[2] >= HISTORY_MODES) ||
	    (e.what == MODE && e.arg[0] >= HISTORY_MODES))
		return false;
	if (h->count == h->room) {
		h->room = h->room ? 2 * h->room : 1024;
		h->event = realloc(h->event, h->room * sizeof(*h->event));
		if (!h->event)
			abort();
	}
	h->event[h->count++] = e;
	return true;
}

void history_blame(struct history *h, const char *format, ...)
{
	va_list args;

	h->violations++;
	if (!h->to)
		return;
	va_start(args, format);
	vfprintf(h->to, format, args);
	va_end(args);
	fputc('\n', h->to);
}

static int in_time(const struct event *a, const struct event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

int event_by_who(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	int order = strcmp(x->who, y->who);

	return order ?: in_time(x, y);
}

int event_by_lock(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	int order = strcmp(x->lock, y->lock);

	return order ?: in_time(x, y);
}

u64 history_check(struct history *h)
{
	h->violations = 0;
	history_stays(h);
	history_counters(h);
	history_healing(h);
	return h->violations;
}

void history_free(struct history *h)
{
	free(h->event);
	free(h->stay);
	*h = (struct history){};
}
