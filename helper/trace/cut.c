// SPDX-License-Identifier: GPL-2.0
/*
 * A consistent cut (Section 14.5.1): what each host had done by a time, less what depends on
 * sends that are after it.
 */
#include <stdlib.h>

#include "text/json.h"
#include "trace/grants.h"

u32 *trace_cut_at(const struct trace *t, u64 time)
{
	u32 *cut = trace_zeroed(t->hosts, sizeof(*cut)), h, i;
	const struct trace_event *e;
	bool moved = true;

	for (h = 0; h < t->hosts; h++)
		while (cut[h] < t->host[h].count &&
		       t->event[t->host[h].first + cut[h]].wall <= time)
			cut[h]++;
	while (moved) {
		moved = false;
		for (h = 0; h < t->hosts; h++)
			for (i = 0; i < cut[h]; i++) {
				e = &t->event[t->host[h].first + i];
				if (e->from == TRACE_NONE ||
				    t->event[e->from].at < cut[t->event[e->from].host])
					continue;
				cut[h] = i;
				moved = true;
			}
	}
	return cut;
}

static bool cut_has(const struct trace *t, const u32 *cut, u32 event)
{
	return t->event[event].at < cut[t->event[event].host];
}

/* One line about an attempt and a lock; @server 0 for none. */
static void cut_line(const struct trace *t, const char *what, const struct trace_event *e, u32 server,
		 const char *type, bool json, FILE *out)
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

/* Attempts that a server has told to wait, the last word of each to them being that. */
static void print_queue(const struct trace *t, const u32 *list, u32 from, u32 to, bool json,
			FILE *out)
{
	const struct trace_event *e, *later;
	u32 i, j;

	for (i = from; i < to; i++) {
		e = &t->event[list[i]];
		if (e->kind != TRACE_SEND || e->type != BFTM_MSG_WAIT)
			continue;
		for (j = i + 1; j < to; j++) {
			later = &t->event[list[j]];
			if (later->client == e->client && later->attempt == e->attempt &&
			    (later->type == BFTM_MSG_FREE || later->type == BFTM_MSG_WAIT ||
			     later->type == BFTM_MSG_RELEASE))
				break;
		}
		if (j == to)
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
		print_queue(t, list, from, i, json, out);
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
