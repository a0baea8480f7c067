// SPDX-License-Identifier: GPL-2.0
/* Holdings of clients: each is from one event of a host to another. */
#include "text/shown.h"
#include "trace/trace.h"

static const char *bytes_shown(const void *name, size_t len)
{
	static char text[8][BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];
	static u32 next;

	return bftm_shown(name, len, text[next++ % 8], sizeof(text[0]));
}

const char *trace_shown(const struct trace *t, u32 name)
{
	return bytes_shown(t->name[name]->bytes, t->name[name]->len);
}

const char *trace_host_shown(const struct trace *t, u32 host)
{
	return bytes_shown(t->host[host].name, strlen(t->host[host].name));
}

const char *trace_label(const struct trace *t, u32 event)
{
	static char text[8][BFTM_SHOWN_ROOM(TRACE_HOST_LEN_MAX) + 21];
	static u32 next;
	char *to = text[next++ % 8];
	const struct trace_event *e = &t->event[event];

	snprintf(to, sizeof(text[0]), "%s:%llu", trace_host_shown(t, e->host),
		 (unsigned long long)e->n);
	return to;
}

const char *trace_span(u64 ns)
{
	static char text[8][40];
	static u32 next;
	char *to = text[next++ % 8];

	if (ns >= BFTM_NS_PER_SEC)
		snprintf(to, sizeof(text[0]), "%.6f s", (double)ns / 1e9);
	else if (ns >= BFTM_NS_PER_MS)
		snprintf(to, sizeof(text[0]), "%.6f ms", (double)ns / 1e6);
	else
		snprintf(to, sizeof(text[0]), "%llu ns", (unsigned long long)ns);
	return to;
}

/* The holdings of the host that has event @i begin at @from in the list. */
static void end_hold(struct trace *t, u32 from, u32 i)
{
	const struct trace_event *e = &t->event[i], *won;
	u32 h;

	for (h = from; h < t->holds; h++) {
		won = &t->event[t->hold[h].won];
		if (t->hold[h].end != TRACE_NONE)
			continue;
		if (e->kind == TRACE_RESTART ? !e->server :
		    won->name == e->name && won->client == e->client && won->attempt == e->attempt)
			t->hold[h].end = i;
	}
}

void trace_holds(struct trace *t)
{
	const struct trace_event *e;
	u32 i, from = 0;

	t->holds = 0;
	for (i = 0; i < t->events; i++) {
		e = &t->event[i];
		if (!e->at)
			from = t->holds;
		/* All before that have ended are skipped once and for all. */
		while (from < t->holds && t->hold[from].end != TRACE_NONE)
			from++;
		if (e->kind == TRACE_WON || e->kind == TRACE_LOST || e->kind == TRACE_RELEASED ||
		    e->kind == TRACE_RESTART)
			end_hold(t, from, i);
		if (e->kind != TRACE_WON)
			continue;
		t->hold = trace_grow(t->hold, t->holds, sizeof(*t->hold));
		t->hold[t->holds++] = (struct trace_hold){
			.won = i, .end = TRACE_NONE, .mode = e->mode,
		};
	}
}
