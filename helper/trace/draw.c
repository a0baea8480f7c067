// SPDX-License-Identifier: GPL-2.0
/*
 * A space–time diagram (as Figure 14.5): a line for each host, an arrow for each message, a bar for
 * each lock that is held, a dashed arrow for what a lease orders. The horizontal place of an event
 * is that in one linearization, so that no arrow goes back.
 */
#include <stdlib.h>

#include "trace/trace.h"

#define EVENTS_MAX 2000
#define LEFT 90u
#define STEP 14u
#define ROW 56u

static u32 x_of(const u32 *place, u32 event)
{
	return LEFT + STEP * (place[event] + 1);
}

static u32 y_of(const struct trace *t, u32 event)
{
	return ROW * (t->event[event].host + 1);
}

static void draw_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '&' || *text == '"')
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void drawing_begin(const struct trace *t, FILE *out)
{
	u32 width = LEFT + STEP * (t->events + 2), h;

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n", width, ROW * (t->hosts + 1));
	fprintf(out, "<style>line{stroke:#555}.m{stroke:#36c}.l{stroke:#c60;stroke-dasharray:5 3}"
		".h{stroke:#2a2;stroke-width:9;stroke-opacity:.5}"
		"circle{fill:#222}</style>\n"
		"<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
		"markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	for (h = 0; h < t->hosts; h++) {
		fprintf(out, "<text x=\"6\" y=\"%u\">", ROW * (h + 1) + 4);
		draw_text(trace_host_shown(t, h), out);
		fprintf(out, "</text><line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/>\n", LEFT,
			ROW * (h + 1), width - STEP, ROW * (h + 1));
	}
}

static void draw_arrow(const struct trace *t, const u32 *place, u32 from, u32 to, const char *class,
		  const char *title, FILE *out)
{
	fprintf(out, "<line class=\"%s\" x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" "
		"marker-end=\"url(#a)\"><title>%s</title></line>\n", class, x_of(place, from),
		y_of(t, from), x_of(place, to), y_of(t, to), title);
}

static void draw_holds(const struct trace *t, const u32 *place, FILE *out)
{
	const struct trace_hold *h;
	const struct trace_event *won;
	u32 i, to;

	for (i = 0; i < t->holds; i++) {
		h = &t->hold[i];
		won = &t->event[h->won];
		to = h->end == TRACE_NONE ? LEFT + STEP * (t->events + 1) : x_of(place, h->end);
		fprintf(out, "<line class=\"h\" x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/>"
			"<text x=\"%u\" y=\"%u\">", x_of(place, h->won), y_of(t, h->won), to,
			y_of(t, h->won), x_of(place, h->won), y_of(t, h->won) - 8);
		draw_text(trace_shown(t, won->name), out);
		fprintf(out, "</text>\n");
	}
}

bool trace_draw(const struct trace *t, FILE *out)
{
	u32 *order, *place, i;

	if (t->events > EVENTS_MAX)
		return false;
	order = trace_linear(t);
	place = trace_zeroed(t->events, sizeof(*place));
	for (i = 0; i < t->events; i++)
		place[order[i]] = i;
	drawing_begin(t, out);
	draw_holds(t, place, out);
	for (i = 0; i < t->events; i++)
		if (t->event[i].from != TRACE_NONE)
			draw_arrow(t, place, t->event[i].from, i, "m", bftm_msg_name(t->event[i].type), out);
	for (i = 0; i < t->edges; i++)
		draw_arrow(t, place, t->edge[i].from, t->edge[i].to, "l", "by a lease", out);
	for (i = 0; i < t->events; i++)
		fprintf(out, "<circle cx=\"%u\" cy=\"%u\" r=\"3\"><title>event %llu, %s, Lamport %u</title></circle>\n",
			x_of(place, i), y_of(t, i), (unsigned long long)t->event[i].n,
			t->event[i].type ? bftm_msg_name(t->event[i].type) :
			trace_kind_name((enum trace_kind)t->event[i].kind), t->event[i].lamport);
	fprintf(out, "</svg>\n");
	free(order);
	free(place);
	return true;
}
