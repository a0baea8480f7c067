// SPDX-License-Identifier: GPL-2.0
/* Finds the send of each receive, and the send of a client that a server echoed. */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "trace/trace.h"

/* A datagram is known by these; trace.h says by which, of each kind. */
struct identity {
	u64 part[5];
	u32 event;
};

static void identify(const struct trace_event *e, u32 event, struct identity *ret)
{
	*ret = (struct identity){ .event = event };
	if (!(e->type & BFTM_MSG_REPLY)) {
		ret->part[0] = e->client;
		ret->part[1] = e->seq;
		return;
	}
	ret->part[0] = 1ull << 63 | (u64)e->server << 32 | e->client;
	ret->part[1] = e->seq;
	ret->part[2] = e->epoch;
	if (e->seq)
		return;
	ret->part[1] = (u64)e->type << 32 | e->k;
	ret->part[3] = e->attempt;
	ret->part[4] = e->gno;
	ret->part[0] |= 1ull << 62;
}

static int by_parts(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	u32 i;

	for (i = 0; i < 5; i++)
		if (x->part[i] != y->part[i])
			return x->part[i] < y->part[i] ? -1 : 1;
	return 0;
}

/* Of a datagram that was doubled the first send counts. */
static int by_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	int r = by_parts(a, b);

	return r ? r : x->event < y->event ? -1 : x->event > y->event;
}

static struct identity *sends_collect(const struct trace *t, u32 *ret_count)
{
	struct identity *list = trace_zeroed(t->events, sizeof(*list));
	u32 i, count = 0;

	for (i = 0; i < t->events; i++)
		if (t->event[i].kind == TRACE_SEND)
			identify(&t->event[i], i, &list[count++]);
	qsort(list, count, sizeof(*list), by_identity);
	*ret_count = count;
	return list;
}

static void match_sends(struct trace *t)
{
	struct identity *list, key;
	u32 count, i, from, to, mid;

	list = sends_collect(t, &count);
	for (i = 0; i < t->events; i++) {
		if (t->event[i].kind != TRACE_RECV)
			continue;
		identify(&t->event[i], i, &key);
		for (from = 0, to = count; from < to;) {
			mid = from + (to - from) / 2;
			if (by_parts(&list[mid], &key) < 0)
				from = mid + 1;
			else
				to = mid;
		}
		t->event[i].from = from < count && !by_parts(&list[from], &key) ?
				   list[from].event : TRACE_NONE;
	}
	free(list);
}

/* TRYs, by client, attempt, server and k; the client's own record is before that of servers. */
struct asked {
	u64 attempt;
	u32 client, server, k, event;
	bool sent;
};

static struct asked *asked;
static u32 asked_count;

static int by_try(const struct asked *x, const struct asked *y)
{
	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	if (x->attempt != y->attempt)
		return x->attempt < y->attempt ? -1 : 1;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return x->k == y->k ? 0 : x->k < y->k ? -1 : 1;
}

static int by_send(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;
	int r = by_try(x, y);

	if (r)
		return r;
	if (x->sent != y->sent)
		return x->sent ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

void trace_sends_free(void)
{
	free(asked);
	asked = NULL;
	asked_count = 0;
}

void trace_sends_index(struct trace *t)
{
	const struct trace_event *e;
	u32 i;

	trace_sends_free();
	for (i = 0; i < t->events; i++) {
		e = &t->event[i];
		if (e->type != BFTM_MSG_TRY)
			continue;
		asked = trace_grow(asked, asked_count, sizeof(*asked));
		asked[asked_count++] = (struct asked){
			.client = e->client, .attempt = e->attempt, .server = e->server, .k = e->k,
			.event = i, .sent = e->kind == TRACE_SEND,
		};
	}
	if (asked_count)
		qsort(asked, asked_count, sizeof(*asked), by_send);
}

/* The first that is not before @key. */
static const struct asked *lower(const struct asked *key)
{
	u32 from = 0, to = asked_count, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (by_try(&asked[mid], key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from < asked_count ? &asked[from] : NULL;
}

u32 trace_send_of(const struct trace *t, u32 client, u64 attempt, u32 server, u32 k)
{
	struct asked key = { .client = client, .attempt = attempt, .server = server, .k = k };
	const struct asked *found = lower(&key);

	(void)t;
	return found && !by_try(found, &key) && found->sent ? found->event : TRACE_NONE;
}

u32 trace_first_send_of(const struct trace *t, u32 client, u64 attempt)
{
	struct asked key = { .client = client, .attempt = attempt };
	const struct asked *at = lower(&key);
	u32 first = TRACE_NONE;

	(void)t;
	for (; at && at < asked + asked_count && at->client == client && at->attempt == attempt; at++)
		if (at->sent && at->event < first)
			first = at->event;
	return first;
}

u64 trace_lease_of(const struct trace *t, u32 client, u64 attempt)
{
	struct asked key = { .client = client, .attempt = attempt };
	const struct asked *found = lower(&key);

	if (!found || found->client != client || found->attempt != attempt)
		return 0;
	return t->event[found->event].lease;
}

/* A liar's file is what it sent and received as a server. */
static bool distrusted(const struct trace *t, const struct trace_event *e)
{
	bool of_server = e->kind == TRACE_SEND ? e->type & BFTM_MSG_REPLY :
			 e->kind == TRACE_RECV ? !(e->type & BFTM_MSG_REPLY) :
			 e->kind == TRACE_RESTART && e->server;

	return of_server && e->server && e->server <= BFTM_SERVERS_MAX &&
	       t->distrust >> (e->server - 1) & 1;
}

static int by_host(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->n == y->n ? 0 : x->n < y->n ? -1 : 1;
}

bool trace_sort(struct trace *t, char **ret_why)
{
	struct trace_event *e;
	u32 i, kept = 0;

	for (i = 0; i < t->events; i++)
		if (!distrusted(t, &t->event[i]))
			t->event[kept++] = t->event[i];
	t->events = kept;
	if (t->events)
		qsort(t->event, t->events, sizeof(*t->event), by_host);
	for (i = 0; i < t->hosts; i++)
		t->host[i].count = 0;
	for (i = 0; i < t->events; i++) {
		e = &t->event[i];
		if (i && !by_host(e - 1, e)) {
			if (asprintf(ret_why, "host %s has two events with n %llu: each needs its own",
				     t->host[e->host].name, (unsigned long long)e->n) < 0)
				err(EX_OSERR, "memory");
			return false;
		}
		if (!t->host[e->host].count)
			t->host[e->host].first = i;
		e->at = t->host[e->host].count++;
	}
	if ((u64)t->events * t->hosts > TRACE_VECTORS_MAX) {
		if (asprintf(ret_why, "%u events of %u hosts: their product must be at most %llu: leave out files, or cut them to less time",
			     t->events, t->hosts, TRACE_VECTORS_MAX) < 0)
			err(EX_OSERR, "memory");
		return false;
	}
	match_sends(t);
	return true;
}
