// SPDX-License-Identifier: GPL-2.0
/*
 * A consistent cut (Section 14.5.1): what each host had done by a time, less what depends on
 * sends that are after it.
 */
#include <stdlib.h>

#include "text/json.h"
#include "trace/grants.h"

/* Receives by their sends: the first of each, and the next one of the same send. */
struct receives {
	u32 *first, *next;
};

static struct receives receives_of(const struct trace *t)
{
	struct receives r = {
		trace_zeroed(t->events, sizeof(*r.first)), trace_zeroed(t->events, sizeof(*r.next)),
	};
	u32 i, from;

	memset(r.first, 0xff, t->events * sizeof(*r.first));
	for (i = 0; i < t->events; i++) {
		from = t->event[i].from;
		if (from == TRACE_NONE)
			continue;
		r.next[i] = r.first[from];
		r.first[from] = i;
	}
	return r;
}

/* Receives of @send are not in the cut. */
static void leave_out(const struct trace *t, const struct receives *r, u32 send, u32 *cut)
{
	const struct trace_event *e;
	u32 i;

	for (i = r->first[send]; i != TRACE_NONE; i = r->next[i]) {
		e = &t->event[i];
		if (e->at < cut[e->host])
			cut[e->host] = e->at;
	}
}

/* Each event is left out once. */
static void make_consistent(const struct trace *t, u32 *cut)
{
	u32 *left = trace_zeroed(t->hosts, sizeof(*left)), h;	/* events not left out yet */
	struct receives r = receives_of(t);
	bool moved = true;

	for (h = 0; h < t->hosts; h++)
		left[h] = t->host[h].count;
	while (moved) {
		moved = false;
		for (h = 0; h < t->hosts; h++)
			for (; left[h] > cut[h]; moved = true)
				leave_out(t, &r, t->host[h].first + --left[h], cut);
	}
	free(r.first);
	free(r.next);
	free(left);
}

u32 *trace_cut_at(const struct trace *t, u64 time)
{
	u32 *cut = trace_zeroed(t->hosts, sizeof(*cut)), h;

	for (h = 0; h < t->hosts; h++)
		while (cut[h] < t->host[h].count &&
		       t->event[t->host[h].first + cut[h]].wall <= time)
			cut[h]++;
	make_consistent(t, cut);
	return cut;
}

static bool cut_has(const struct trace *t, const u32 *cut, u32 event)
{
	return t->event[event].at < cut[t->event[event].host];
}

/* One line about an attempt and a lock; @server 0 for none. */
static void cut_line(const struct trace *t, const char *what, const struct trace_event *e,
		     u32 server, const char *type, bool json, FILE *out)
{
	struct json_object *o;

	if (!json) {
		fprintf(out, "%-8s ", what);
		if (server)
			fprintf(out, "server %u ", server);
		if (type)
			fprintf(out, "%s ", type);
		fprintf(out, "client %u%s%s", e->client, e->name == TRACE_NONE ? "" : " ",
			e->name == TRACE_NONE ? "" : trace_shown(t, e->name));
		fprintf(out, e->attempt ? " attempt %llu\n" : "\n", (unsigned long long)e->attempt);
		return;
	}
	o = json_object_new_object();
	bftm_json_add_text(o, "what", what);
	bftm_json_add_number(o, "server", server);
	bftm_json_add_text(o, "type", type);
	bftm_json_add_number(o, "client", e->client);
	bftm_json_add_number(o, "attempt", e->attempt);
	trace_line_print(t, e->name, o, out);
}

static void print_holders(const struct trace *t, const u32 *cut, bool json, FILE *out)
{
	u32 i;

	for (i = 0; i < t->holds; i++)
		if (cut_has(t, cut, t->hold[i].won) &&
		    (t->hold[i].end == TRACE_NONE || !cut_has(t, cut, t->hold[i].end)))
			cut_line(t, "holds", &t->event[t->hold[i].won], 0, NULL, json, out);
}

/* Does the server say whether an attempt waits, or hear that the attempt is over? */
static bool is_queue_word(const struct trace_event *e)
{
	return e->type == BFTM_MSG_FREE || e->type == BFTM_MSG_WAIT || e->type == BFTM_MSG_RELEASE;
}

static const struct trace *sorted;

static int by_attempt(const void *a, const void *b)
{
	const struct trace_event *x = &sorted->event[*(const u32 *)a];
	const struct trace_event *y = &sorted->event[*(const u32 *)b];

	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	if (x->attempt != y->attempt)
		return x->attempt < y->attempt ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Attempts that a server has told to wait, the last word of each to them being that. */
static void print_queue(const struct trace *t, u32 *list, u32 count, bool json, FILE *out)
{
	const struct trace_event *e, *next;
	u32 i, words = 0, kept = 0;

	for (i = 0; i < count; i++)
		if (is_queue_word(&t->event[list[i]]))
			list[words++] = list[i];
	sorted = t;
	qsort(list, words, sizeof(*list), by_attempt);
	for (i = 0; i < words; i++) {
		e = &t->event[list[i]];
		next = i + 1 < words ? &t->event[list[i + 1]] : NULL;
		if (e->type == BFTM_MSG_WAIT &&
		    (!next || next->client != e->client || next->attempt != e->attempt))
			list[kept++] = list[i];
	}
	qsort(list, kept, sizeof(*list), by_place);
	for (i = 0; i < kept; i++) {
		e = &t->event[list[i]];
		cut_line(t, "waits", e, e->server, NULL, json, out);
	}
}

static void print_servers(const struct trace *t, const u32 *cut, bool json, FILE *out)
{
	struct trace_grants g = {};
	u32 *list, count, kept = 0, i, j, from;

	list = trace_served(t, &count);
	for (i = 0; i < count; i++)
		if (cut_has(t, cut, list[i]))
			list[kept++] = list[i];
	for (from = 0; from < kept; from = i) {
		g.count = 0;
		for (i = from; i < kept && trace_same_lock(t, list[from], list[i]); i++)
			trace_grant_step(t, &g, list[i]);
		for (j = 0; j < g.count; j++)
			cut_line(t, "granted", &t->event[g.grant[j].last], t->event[list[from]].server, NULL,
			     json, out);
		print_queue(t, list + from, i - from, json, out);
	}
	free(g.grant);
	free(list);
}

static void print_channels(const struct trace *t, const u32 *cut, bool json, FILE *out)
{
	u8 *arrived = trace_zeroed(t->events, 1), *arrives = trace_zeroed(t->events, 1);
	u32 i;

	for (i = 0; i < t->events; i++)
		if (t->event[i].from != TRACE_NONE) {
			arrives[t->event[i].from] = 1;
			arrived[t->event[i].from] |= cut_has(t, cut, i);
		}
	for (i = 0; i < t->events; i++)
		if (t->event[i].kind == TRACE_SEND && cut_has(t, cut, i) && arrives[i] && !arrived[i])
			cut_line(t, "on way", &t->event[i], t->event[i].server,
			     bftm_msg_name(t->event[i].type), json, out);
	free(arrived);
	free(arrives);
}

void trace_cut_print(const struct trace *t, const u32 *cut, bool json, FILE *out)
{
	print_holders(t, cut, json, out);
	print_servers(t, cut, json, out);
	print_channels(t, cut, json, out);
}
