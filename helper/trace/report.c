// SPDX-License-Identifier: GPL-2.0
/* The verdict about two holders, in words and as JSON. */
#include "text/json.h"
#include "trace/report.h"

static void hold_text(const struct trace *t, const struct trace_hold *h, FILE *out)
{
	const struct trace_event *won = &t->event[h->won];

	fprintf(out, "client %u, attempt %llu, from %s to %s", won->client,
		(unsigned long long)won->attempt, trace_label(t, h->won),
		h->end == TRACE_NONE ? "the end of the trace" : trace_label(t, h->end));
}

/* Findings about a pair: whose lease it was that did not hold the other off. */
static bool concerns(const struct trace *t, const struct trace_finding *f,
		     const struct trace_pair *p)
{
	const struct trace_event *a = &t->event[t->hold[p->a].won];
	const struct trace_event *b = &t->event[t->hold[p->b].won];

	return f->name == a->name && (f->attempt == a->attempt || f->attempt == b->attempt);
}

static void pair_text(const struct trace *t, const struct trace_pair *p, FILE *out)
{
	const struct trace_event *won = &t->event[t->hold[p->a].won];
	bool found = false;
	u32 i;

	fprintf(out, "  %s: ", trace_shown(t, won->name));
	hold_text(t, &t->hold[p->a], out);
	fprintf(out, "\n  and ");
	hold_text(t, &t->hold[p->b], out);
	if (p->verdict == TRACE_NO_BY_LEASES) {
		fprintf(out, "\n    apart by the lease of server %u\n", p->server);
		return;
	}
	fprintf(out, "\n    %s at once\n", trace_verdict_name(p->verdict));
	if (t->hold[p->a].end == TRACE_NONE || t->hold[p->b].end == TRACE_NONE)
		fprintf(out, "    no file says when the one or the other ended\n");
	for (i = 0; i < t->findings; i++)
		found |= concerns(t, &t->finding[i], p);
	if (!found)
		fprintf(out, "    no lease of a server ends between the one and the other\n");
}

static struct json_object *hold_json(const struct trace *t, const struct trace_hold *h)
{
	struct json_object *o = json_object_new_object();
	const struct trace_event *won = &t->event[h->won];

	bftm_json_add_number(o, "client", won->client);
	bftm_json_add_number(o, "attempt", won->attempt);
	bftm_json_add_text(o, "won", trace_label(t, h->won));
	bftm_json_add_text(o, "end", h->end == TRACE_NONE ? NULL : trace_label(t, h->end));
	return o;
}

static struct json_object *pair_json(const struct trace *t, const struct trace_pair *p)
{
	struct json_object *o = json_object_new_object();
	const struct trace_name *name = t->name[t->event[t->hold[p->a].won].name];

	bftm_json_add_bytes(o, "name", name->bytes, name->len);
	bftm_json_add_text(o, "verdict", trace_verdict_name(p->verdict));
	json_object_object_add(o, "first", hold_json(t, &t->hold[p->a]));
	json_object_object_add(o, "second", hold_json(t, &t->hold[p->b]));
	json_object_object_add(o, "server", p->server ? bftm_json_number("server", p->server) : NULL);
	return o;
}

static void report_json(const struct trace *t, const struct trace_pairs *p, FILE *out)
{
	struct json_object *o = json_object_new_object(), *pairs = json_object_new_array();
	struct json_object *findings = json_object_new_array();
	u32 i;

	bftm_json_add_text(o, "verdict", trace_verdict_name(p->verdict));
	for (i = 0; i < p->count; i++)
		json_object_array_add(pairs, pair_json(t, &p->found[i]));
	for (i = 0; i < t->findings; i++) {
		struct json_object *f = json_object_new_object();

		bftm_json_add_text(f, "event", trace_label(t, t->finding[i].event));
		bftm_json_add_text(f, "text", t->finding[i].text);
		json_object_array_add(findings, f);
	}
	json_object_object_add(o, "pairs", pairs);
	json_object_object_add(o, "findings", findings);
	fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

void trace_report(const struct trace *t, const struct trace_pairs *p, bool json, FILE *out)
{
	enum trace_verdict worst;
	u32 i;

	if (json) {
		report_json(t, p, out);
		return;
	}
	fprintf(out, "two holders at once: %s\n", trace_verdict_name(p->verdict));
	/* The worst first. */
	for (worst = TRACE_DEFINITELY; worst > TRACE_NO; worst--)
		for (i = 0; i < p->count; i++)
			if (p->found[i].verdict == worst)
				pair_text(t, &p->found[i], out);
	for (i = 0; i < t->findings; i++)
		fprintf(out, "%s: %s\n", trace_label(t, t->finding[i].event), t->finding[i].text);
}
