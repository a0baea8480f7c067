// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "record.h"
#include "story.h"

/* A line without its beginning; @host: clients first, then servers. */
struct record_line {
	u64 at, order, t;
	u32 host;
	char *text;
};

/* A lock that is held, until @end_ns of its client's clock. */
struct record_hold {
	u64 hold, end_ns, attempt;
	u32 client, lock;
	enum bftm_mode mode;
};

struct record {
	struct record_line *line;
	struct record_hold *hold;
	size_t lines, lines_room, holds, holds_room;
};

struct record *record_start(void)
{
	return calloc(1, sizeof(struct record));
}

static void *room(void *array, size_t count, size_t *have, size_t size)
{
	if (count < *have)
		return array;
	*have = *have ? 2 * *have : 64;
	array = realloc(array, *have * size);
	if (!array)
		abort();
	return array;
}

__attribute__((format(printf, 5, 6)))
static void add(struct world *w, u32 host, const struct clock *clock, u64 at,
		const char *format, ...)
{
	struct record *r = w->record;
	char text[640];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->line = room(r->line, r->lines, &r->lines_room, sizeof(*r->line));
	r->line[r->lines] = (struct record_line){
		.at = at, .order = r->lines, .host = host, .text = strdup(text),
		/* A clock that changed since shows at least what it showed then. */
		.t = clock_at(clock, at > clock->since ? at : clock->since),
	};
	r->lines++;
}

static const char *lease_text(u64 lease_ns)
{
	static char text[32];

	if (lease_ns == BFTM_LEASE_NONE)
		return "null";
	snprintf(text, sizeof(text), "%" PRIu64, lease_ns);
	return text;
}

void record_message(struct world *w, bool sends, bool to_server, u32 u, const struct bftm_msg *msg,
		    u64 at)
{
	bool at_server = sends != to_server, try = msg->type == BFTM_MSG_TRY;
	u32 host = at_server ? w->plan->clients + u : msg->client;
	char name[40] = "";

	if (!w->record)
		return;
	if (msg->name_len)
		snprintf(name, sizeof(name), ",\"name\":\"%s\"", story_lock(lock_number(msg)));
	add(w, host, at_server ? &w->server[u].clock : &w->client[msg->client].clock, at,
	    "\"e\":\"%s\",\"type\":\"%s\",\"client\":%u,\"server\":%u,\"seq\":\"%" PRIu64 "\","
	    "\"attempt\":\"%" PRIu64 "\",\"k\":%u,\"gno\":\"%" PRIu64 "\",\"epoch\":\"%" PRIu64 "\","
	    "\"mode\":\"%s\",\"kept\":\"%s\",\"position\":%u,\"lease_ns\":%s%s",
	    sends ? "send" : "recv", bftm_msg_name(msg->type), msg->client + 1, u + 1, msg->seq,
	    msg->attempt, msg->k, msg->gno, msg->server_epoch, story_mode(msg->mode),
	    story_mode(try || msg->type == BFTM_MSG_YIELD ? msg->arg : BFTM_MODE_NL),
	    msg->position, try ? lease_text(msg->lease_ns) : "null", name);
}

static void add_hold(struct world *w, const char *event, const struct record_hold *h, u64 at)
{
	add(w, h->client, &w->client[h->client].clock, at,
	    "\"e\":\"%s\",\"client\":%u,\"attempt\":\"%" PRIu64 "\",\"mode\":\"%s\",\"name\":\"%s\"",
	    event, h->client + 1, h->attempt, story_mode(h->mode), story_lock(h->lock));
}

static void end_hold(struct world *w, size_t i, const char *event, u64 at)
{
	struct record *r = w->record;
	struct record_hold *h = &r->hold[i];
	const struct clock *clock = &w->client[h->client].clock;
	u64 over = h->end_ns == NEVER ? NEVER : clock_when(clock, h->end_ns + 1, clock->since);

	if (over <= at)
		event = "lost";
	add_hold(w, event, h, over < at ? over : at);
	r->hold[i] = r->hold[--r->holds];
}

void record_look(struct world *w, u32 x)
{
	struct record *r = w->record;
	size_t i;

	if (!r)
		return;
	for (i = r->holds; i-- > 0;)
		if (r->hold[i].client == x &&
		    clock_at(&w->client[x].clock, w->now) > r->hold[i].end_ns)
			end_hold(w, i, "lost", w->now);
}

/* Wins, renewals and changes of the mode. */
static void has(struct world *w, const struct fact *f)
{
	struct record *r = w->record;
	struct record_hold now = {
		.hold = f->hold, .end_ns = f->end_ns, .attempt = f->attempt, .client = f->client,
		.lock = f->lock, .mode = (enum bftm_mode)f->mode,
	};
	size_t i;

	for (i = 0; i < r->holds && r->hold[i].hold != f->hold; i++)
		;
	if (i == r->holds && (f->kind == FACT_EXTEND ||
			      clock_at(&w->client[f->client].clock, w->now) > f->end_ns))
		return;
	if (i == r->holds) {
		r->hold = room(r->hold, r->holds, &r->holds_room, sizeof(*r->hold));
		r->holds++;
		add_hold(w, "won", &now, w->now);
	} else {
		add_hold(w, r->hold[i].mode != now.mode ? "won" : "renewed", &now, w->now);
	}
	r->hold[i] = now;
}

void record_fact(struct world *w, const struct fact *f)
{
	struct record *r = w->record;
	size_t i;

	if (!r || w->plan->protocol->orders)
		return;
	if (f->kind == FACT_WIN || f->kind == FACT_EXTEND) {
		record_look(w, f->client);
		has(w, f);
		return;
	}
	if (f->kind != FACT_STOP && f->kind != FACT_OVER && f->kind != FACT_GONE)
		return;
	record_look(w, f->client);
	for (i = 0; i < r->holds; i++)
		if (r->hold[i].hold == f->hold) {
			end_hold(w, i, f->kind == FACT_STOP ? "released" : "lost", f->at);
			return;
		}
}

void record_restart(struct world *w, u32 u)
{
	const struct server *s = &w->server[u];

	if (w->record)
		add(w, w->plan->clients + u, &s->clock, w->now,
		    "\"e\":\"restart\",\"server\":%u,\"epoch\":\"%" PRIu64 "\"", u + 1, s->cfg.epoch);
}

static int by_time(const void *a, const void *b)
{
	const struct record_line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void record_print(struct world *w, FILE *out)
{
	struct record *r = w->record;
	const struct record_line *l;
	u32 servers = w->plan->clients, x;
	u64 n;

	for (x = 0; x < w->plan->clients; x++)
		record_look(w, x);
	if (r->lines)
		qsort(r->line, r->lines, sizeof(*r->line), by_time);
	fprintf(out, "{\"e\":\"cluster\",\"servers\":%u,\"b\":%u,\"m\":%u,\"rho_ppm\":%u}\n",
		w->plan->n, w->plan->b, w->plan->m, w->plan->rho);
	for (n = 0; n < r->lines; n++) {
		l = &r->line[n];
		fprintf(out, "{\"host\":\"%s%u\",\"n\":%" PRIu64 ",\"t\":\"%" PRIu64
			"\",\"wall_ns\":\"%" PRIu64 "\",%s}\n",
			l->host < servers ? "c" : "s",
			l->host < servers ? l->host + 1 : l->host - servers + 1, n, l->t, l->at,
			l->text);
		free(l->text);
	}
	free(r->line);
	free(r->hold);
	free(r);
	w->record = NULL;
}
