// SPDX-License-Identifier: GPL-2.0
/* Reads what hosts recorded: an object of JSON in each line. */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sysexits.h>

#include "text/json.h"
#include "trace/line.h"

#define LINE_MAX_BYTES 65536

static const char *const kinds[TRACE_KINDS] = {
	[TRACE_SEND] = "send", [TRACE_RECV] = "recv", [TRACE_WON] = "won",
	[TRACE_RENEWED] = "renewed", [TRACE_LOST] = "lost", [TRACE_RELEASED] = "released",
	[TRACE_RESTART] = "restart",
};

static const char *const modes[BFTM_MODES] = { "NL", "CR", "CW", "PR", "PW", "EX" };

const char *trace_kind_name(enum trace_kind kind)
{
	return kinds[kind];
}

struct trace *trace_new(void)
{
	return trace_zeroed(0, sizeof(struct trace));
}

void trace_free(struct trace *t)
{
	u32 i;

	for (i = 0; i < t->hosts; i++)
		free(t->host[i].name);
	tdestroy(t->tree, free);
	for (i = 0; i < t->findings; i++)
		free(t->finding[i].text);
	free(t->host);
	free(t->name);
	free(t->finding);
	free(t->said);
	free(t->event);
	free(t->edge);
	free(t->hold);
	free(t->vector);
	free(t);
}

static u8 message_type(struct trace_line *l)
{
	struct json_object *value = NULL;
	const char *text;
	u32 type;

	if (json_object_object_get_ex(l->object, "type", &value) && value) {
		text = json_object_get_string(value);
		for (type = 1; type < 256; type++)
			if (!strcmp(bftm_msg_name((u8)type), text) && strcmp(text, "?"))
				return (u8)type;
	}
	trace_line_wrong(l, "type", "the name of a message about locks, such as TRY");
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct trace_name *x = a, *y = b;

	return x->len == y->len ? memcmp(x->bytes, y->bytes, x->len) : x->len < y->len ? -1 : 1;
}

static u32 name_index(struct trace *t, const void *bytes, size_t len)
{
	struct trace_name *name = trace_zeroed(0, sizeof(*name)), **found;

	name->len = (u8)len;
	name->index = t->names;
	memcpy(name->bytes, bytes, len);
	found = tsearch(name, &t->tree, by_name);
	if (!found)
		err(EX_OSERR, "memory");
	if (*found != name) {
		free(name);
		return (*found)->index;
	}
	t->name = trace_grow(t->name, t->names, sizeof(*t->name));
	t->name[t->names] = name;
	return t->names++;
}

static u32 lock_name(struct trace *t, struct trace_line *l)
{
	struct json_object *value = NULL;
	u32 index = TRACE_NONE;
	size_t len = 0;
	char *text;

	if (!json_object_object_get_ex(l->object, "name", &value) || !value)
		return TRACE_NONE;
	text = bftm_json_read_bytes(value, &len);
	if (text && len && len <= BFTM_NAME_LEN_MAX)
		index = name_index(t, text, len);
	else
		trace_line_wrong(l, "name", "the name of a lock, of 1 to 64 bytes");
	free(text);
	return index;
}

static u32 host_index(struct trace *t, struct trace_line *l)
{
	struct json_object *value = NULL;
	const char *text;
	u32 i;

	if (!json_object_object_get_ex(l->object, "host", &value) ||
	    !json_object_is_type(value, json_type_string) || !json_object_get_string_len(value) ||
	    json_object_get_string_len(value) > (int)TRACE_HOST_LEN_MAX) {
		trace_line_wrong(l, "host", "the name of a host, of 1 to 64 bytes");
		return 0;
	}
	text = json_object_get_string(value);
	for (i = t->hosts; i-- > 0;)
		if (!strcmp(t->host[i].name, text))
			return i;
	if (t->hosts == TRACE_HOSTS_MAX) {
		trace_line_wrong(l, "host", "one of at most 4096 hosts");
		return 0;
	}
	t->host = trace_grow(t->host, t->hosts, sizeof(*t->host));
	t->host[t->hosts] = (struct trace_host){ .name = strdup(text) };
	return t->hosts++;
}

/* Reads the fields that depend on the kind of the event. */
static void read_subject(struct trace *t, struct trace_line *l, struct trace_event *e)
{
	bool message = e->kind == TRACE_SEND || e->kind == TRACE_RECV;

	if (message)
		e->type = message_type(l);
	if (e->kind != TRACE_RESTART && !trace_line_has(l, "client"))
		trace_line_wrong(l, "client", "the number of a client");
	if (message && !trace_line_has(l, "server"))
		trace_line_wrong(l, "server", "the number of a server");
	if (!message && e->kind != TRACE_RESTART && (!trace_line_has(l, "attempt") || !trace_line_has(l, "name")))
		trace_line_wrong(l, trace_line_has(l, "name") ? "attempt" : "name", "given of a lock that is held");
	e->cluster = (u32)trace_line_number(l, "cluster", UINT32_MAX, 0);
	e->client = (u32)trace_line_number(l, "client", UINT32_MAX, 0);
	e->server = (u32)trace_line_number(l, "server", UINT32_MAX, 0);
	e->seq = trace_line_number(l, "seq", UINT64_MAX, 0);
	e->attempt = trace_line_number(l, "attempt", UINT64_MAX, 0);
	e->gno = trace_line_number(l, "gno", UINT64_MAX, 0);
	e->epoch = trace_line_number(l, "epoch", UINT64_MAX, 0);
	e->lease = trace_line_number(l, "lease_ns", UINT64_MAX, TRACE_NO_LEASE);
	/* No server grants more; what anybody may have sent must not spoil a recording. */
	if (e->lease > BFTM_LEASE_MAX_NS)
		e->lease = TRACE_NO_LEASE;
	e->k = (u32)trace_line_number(l, "k", UINT32_MAX, 0);
	e->position = (u32)trace_line_number(l, "position", UINT32_MAX, 0);
	e->mode = trace_line_word(l, "mode", modes, BFTM_MODES, BFTM_MODE_EX, "NL, CR, CW, PR, PW or EX");
	e->kept = trace_line_word(l, "kept", modes, BFTM_MODES, BFTM_MODE_NL, "NL, CR, CW, PR, PW or EX");
	e->name = lock_name(t, l);
}

static void read_line(struct trace *t, struct trace_line *l)
{
	struct trace_event e = { .from = TRACE_NONE, .name = TRACE_NONE };
	struct json_object *value = NULL;

	if (json_object_object_get_ex(l->object, "e", &value) && value &&
	    !strcmp(json_object_get_string(value), "cluster")) {
		trace_cluster_read(t, l);
		return;
	}
	if (!trace_line_has(l, "e"))
		trace_line_wrong(l, "e", "given");
	if (!trace_line_has(l, "t"))
		trace_line_wrong(l, "t", "a time in ns");
	if (!trace_line_has(l, "n"))
		trace_line_wrong(l, "n", "the place of the event on its host");
	e.kind = trace_line_word(l, "e", kinds, TRACE_KINDS, TRACE_RESTART,
		      "send, recv, won, renewed, lost, released, restart or cluster");
	e.n = trace_line_number(l, "n", UINT64_MAX, 0);
	e.t = trace_line_number(l, "t", TRACE_TIME_MAX, 0);
	e.wall = trace_line_number(l, "wall_ns", TRACE_TIME_MAX, e.t);
	read_subject(t, l, &e);
	e.host = host_index(t, l);
	if (t->events == TRACE_EVENTS_MAX)
		trace_line_wrong(l, "the line", "one of at most 1000000 events: cut the files to less time");
	if (e.kind == TRACE_WON && ++t->wons > TRACE_WON_MAX)
		trace_line_wrong(l, "the line", "one of at most 50000 locks that were won: cut the files to less time");
	if (l->key)
		return;
	t->event = trace_grow(t->event, t->events, sizeof(e));
	t->event[t->events++] = e;
}

/* The object of a line, and nothing behind it; NULL if it is none. */
static struct json_object *line_parse(struct json_tokener *parser, const char *text)
{
	struct json_object *object;
	size_t end;

	json_tokener_reset(parser);
	object = json_tokener_parse_ex(parser, text, (int)strlen(text));
	end = json_tokener_get_parse_end(parser);
	if (json_object_is_type(object, json_type_object) &&
	    text[end + strspn(text + end, " \t\r\n")] == '\0')
		return object;
	json_object_put(object);
	return NULL;
}

bool trace_read(struct trace *t, FILE *file, const char *path, char **ret_why)
{
	struct json_tokener *parser = json_tokener_new();
	static char text[LINE_MAX_BYTES];
	struct trace_line l = {};
	bool whole;
	u64 at = 0;

	if (!parser)
		err(EX_OSERR, "memory");
	json_tokener_set_flags(parser, JSON_TOKENER_VALIDATE_UTF8);
	while (!l.key && fgets(text, sizeof(text), file)) {
		at++;
		/* Else it is longer, or has a zero byte. */
		whole = strchr(text, '\n') || feof(file);
		if (whole && text[strspn(text, " \t\r\n")] == '\0')
			continue;
		l.object = whole ? line_parse(parser, text) : NULL;
		if (l.object)
			read_line(t, &l);
		else
			trace_line_wrong(&l, "the line", "an object of JSON, of less than 65536 bytes");
		json_object_put(l.object);
	}
	json_tokener_free(parser);
	if (!l.key)
		return true;
	if ((l.must ? asprintf(ret_why, "%s:%llu: %s: must be %s", path, (unsigned long long)at, l.key,
			       l.must) :
	     asprintf(ret_why, "%s:%llu: %s: must be a number from 0 to %llu", path,
		      (unsigned long long)at, l.key, (unsigned long long)l.max)) < 0)
		err(EX_OSERR, "memory");
	return false;
}
