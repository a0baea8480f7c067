// SPDX-License-Identifier: GPL-2.0
/* Events in words and as JSON. */
#include "text/json.h"
#include "text/mode.h"
#include "trace/trace.h"
void trace_line_print(const struct trace *t, u32 name, struct json_object *line, FILE *out)
{
	if (name == TRACE_NONE)
		bftm_json_add_text(line, "name", NULL);
	else
		bftm_json_add_bytes(line, "name", t->name[name]->bytes, t->name[name]->len);
	fprintf(out, "%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
	json_object_put(line);
}

static void event_json(const struct trace *t, const struct trace_event *e, FILE *out)
{
	struct json_object *o = json_object_new_object();
	bool message = e->kind == TRACE_SEND || e->kind == TRACE_RECV;

	bftm_json_add_text(o, "host", t->host[e->host].name);
	bftm_json_add_number(o, "n", e->n);
	bftm_json_add_number(o, "lamport", e->lamport);
	bftm_json_add_number(o, "t", e->t);
	bftm_json_add_text(o, "e", trace_kind_name((enum trace_kind)e->kind));
	bftm_json_add_text(o, "type", message ? bftm_msg_name(e->type) : NULL);
	bftm_json_add_number(o, "client", e->client);
	bftm_json_add_number(o, "server", e->server);
	bftm_json_add_number(o, "attempt", e->attempt);
	bftm_json_add_number(o, "k", e->k);
	trace_line_print(t, e->name, o, out);
}

void trace_event_print(const struct trace *t, u32 event, bool json, FILE *out)
{
	const struct trace_event *e = &t->event[event];

	if (json) {
		event_json(t, e, out);
		return;
	}
	fprintf(out, "%6u  %-10s  ", e->lamport, trace_label(t, event));
	switch ((enum trace_kind)e->kind) {
	case TRACE_SEND:
		fprintf(out, e->type & BFTM_MSG_REPLY ? "server %u sends %s to client %u" :
			"to server %u goes %s of client %u", e->server, bftm_msg_name(e->type),
			e->client);
		break;
	case TRACE_RECV:
		fprintf(out, e->type & BFTM_MSG_REPLY ? "from server %u comes %s to client %u" :
			"server %u gets %s of client %u", e->server, bftm_msg_name(e->type),
			e->client);
		break;
	case TRACE_WON:
		fprintf(out, "client %u holds it in mode %s", e->client, bftm_mode_name(5u - e->mode));
		break;
	case TRACE_RESTART:
		fprintf(out, e->server ? "server %u begins without memory" : "the host begins without memory",
			e->server);
		break;
	default:
		fprintf(out, "client %u: %s", e->client, trace_kind_name((enum trace_kind)e->kind));
	}
	if (e->name != TRACE_NONE)
		fprintf(out, ": %s, attempt %llu", trace_shown(t, e->name),
			(unsigned long long)e->attempt);
	if (e->k)
		fprintf(out, ", send %u", e->k);
	fputc('\n', out);
}
