// SPDX-License-Identifier: GPL-2.0
/*
 * Edges of leases. Server u granted x, and later y without a RELEASE or YIELD of x between. If
 * by u's clock more than Δ(1 + ρ) passed since its last FREE(k) to x, and by the client's at most
 * Δ(1 - ρ) from its send k to x's end, then this end was before u's grant to y, for clocks whose
 * rates are within ρ. Where the one or the other does not hold, an assumption was broken.
 */
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sysexits.h>

#include "core/lease.h"
#include "core/quorum.h"
#include "trace/grants.h"

__attribute__((format(printf, 4, 5)))
static void finding_add(struct trace *t, u32 event, u64 attempt, const char *format, ...)
{
	struct trace_finding *f;
	va_list args;

	t->finding = trace_grow(t->finding, t->findings, sizeof(*t->finding));
	f = &t->finding[t->findings++];
	*f = (struct trace_finding){
		.event = event, .name = t->event[event].name, .attempt = attempt,
	};
	va_start(args, format);
	if (vasprintf(&f->text, format, args) < 0)
		err(EX_OSERR, "memory");
	va_end(args);
}

static void add_edge(struct trace *t, u32 from, u32 to, u32 server)
{
	t->edge = trace_grow(t->edge, t->edges, sizeof(*t->edge));
	t->edge[t->edges++] = (struct trace_edge){ .from = from, .to = to, .server = server };
}

/* The last holding of an attempt whose mode excludes @mode; NULL: it never held. */
static const struct trace_hold *hold_of(const struct trace *t, u32 client, u64 attempt, u32 name,
					u8 mode)
{
	const struct trace_event *won;
	u32 i;

	for (i = t->holds; i-- > 0;) {
		won = &t->event[t->hold[i].won];
		if (won->client == client && won->attempt == attempt && won->name == name &&
		    bftm_modes_conflict((enum bftm_mode)t->hold[i].mode, (enum bftm_mode)mode))
			return &t->hold[i];
	}
	return NULL;
}

/* Time that passed by the server's clock, which begins anew when its host boots. */
static u64 passed(const struct trace_event *since, const struct trace_event *now)
{
	return now->t >= since->t ? now->t - since->t : now->t;
}

/* Server u has granted @y, while it has, or had, a grant of @x. Return: is that of @x over? */
static bool hand_over(struct trace *t, struct trace_grant *x, u32 y)
{
	const struct trace_event *grant = &t->event[y], *last = &t->event[x->last];
	u64 lease = trace_lease_of(t, x->client, x->attempt), spent = passed(last, grant);
	const struct trace_hold *hold;
	u64 at_server, at_client;
	u32 send;

	if (!lease)
		return false;
	at_server = lease == TRACE_NO_LEASE ? lease : lease + bftm_drift(lease, t->rho_ppm);
	if (spent <= at_server) {
		if (!x->doubted)
			finding_add(t, y, x->attempt, "server %u granted %s to client %u (%s) with %s left of the lease of client %u (%s): it lies, it forgot, or its clock is wrong",
			     grant->server, trace_shown(t, grant->name), grant->client,
			    trace_label(t, y),
			     lease == TRACE_NO_LEASE ? "all" : trace_span(at_server - spent),
			     x->client, trace_label(t, x->last));
		x->doubted = true;
		return false;
	}
	hold = hold_of(t, x->client, x->attempt, grant->name, grant->mode);
	if (!hold || hold->end == TRACE_NONE)
		return true;
	at_client = lease - bftm_drift(lease, t->rho_ppm);
	send = trace_send_of(t, x->client, x->attempt, grant->server, x->k);
	if (send != TRACE_NONE && t->event[hold->end].t <= t->event[send].t + at_client)
		add_edge(t, hold->end, y, grant->server);
	return true;
}

static void of_servers(struct trace *t)
{
	struct trace_grants g = {};
	struct trace_grant *x;
	u32 *list, count, i, j;

	list = trace_served(t, &count);
	for (i = 0; i < count; i++) {
		const struct trace_event *e = &t->event[list[i]];

		if (i && !trace_same_lock(t, list[i - 1], list[i]))
			g.count = 0;
		if (!trace_grant_step(t, &g, list[i]))
			continue;
		for (j = g.count; j-- > 0;) {
			x = &g.grant[j];
			if (x->client == e->client && x->attempt == e->attempt)
				continue;
			if (bftm_modes_conflict((enum bftm_mode)x->mode, (enum bftm_mode)e->mode) &&
			    hand_over(t, x, list[i]))
				trace_grant_drop(&g, x);
		}
	}
	free(g.grant);
	free(list);
}

static int descending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x > y ? -1 : x < y;
}

/* The end that the answers of all servers gave a holding by its last event, as the core has it. */
static u64 granted_until(const struct trace *t, const struct trace_hold *hold, u64 lease)
{
	const struct trace_event *won = &t->event[hold->won], *e;
	u64 until[BFTM_SERVERS_MAX + 1] = {}, good;
	u32 i, send, first = trace_first_send_of(t, won->client, won->attempt);

	/* Nothing of an attempt is before its first send. */
	for (i = hold->end; first != TRACE_NONE && i-- > first;) {
		e = &t->event[i];
		if (e->kind != TRACE_RECV || e->type != BFTM_MSG_FREE || e->client != won->client ||
		    e->attempt != won->attempt || !e->server || e->server > BFTM_SERVERS_MAX ||
		    !bftm_mode_covers((enum bftm_mode)e->mode, (enum bftm_mode)hold->mode))
			continue;
		send = trace_send_of(t, e->client, e->attempt, e->server, e->k);
		if (send == TRACE_NONE)
			continue;
		good = t->event[send].t + lease - bftm_drift(lease, t->rho_ppm);
		if (good > until[e->server])
			until[e->server] = good;
	}
	qsort(until, BFTM_SERVERS_MAX + 1, sizeof(*until), descending);
	return until[bftm_grants_needed(t->servers, t->b, t->m) - 1];
}

/* An end more than Δ(1 - ρ) after the sends to all but F - 1 servers: the client overstayed. */
static void of_clients(struct trace *t)
{
	u32 i;

	for (i = 0; i < t->holds; i++) {
		const struct trace_hold *hold = &t->hold[i];
		const struct trace_event *won = &t->event[hold->won];
		u64 lease = trace_lease_of(t, won->client, won->attempt), until;

		if (!t->servers || hold->end == TRACE_NONE || !lease || lease == TRACE_NO_LEASE)
			continue;
		until = granted_until(t, hold, lease);
		if (t->event[hold->end].t > until)
			finding_add(t, hold->end, won->attempt, "client %u held %s until %s, %s longer than its servers granted: it overstayed",
			     won->client, trace_shown(t, won->name), trace_label(t, hold->end),
			     trace_span(t->event[hold->end].t - until));
	}
}

static void contradicted(struct trace *t, const struct trace_edge *e)
{
	finding_add(t, e->to, t->event[e->from].attempt, "the lease of server %u says that %s was before %s, and messages contradict it: a clock's rate is out of rho, or the server lies",
	     e->server, trace_label(t, e->from), trace_label(t, e->to));
}

/* Leave out edges whose end is before their beginning, by messages. */
static void drop_false(struct trace *t)
{
	u32 i, kept = 0;

	for (i = 0; i < t->edges; i++) {
		if (trace_before(t, t->edge[i].to, t->edge[i].from))
			contradicted(t, &t->edge[i]);
		else
			t->edge[kept++] = t->edge[i];
	}
	t->edges = kept;
}

/* Several edges contradict each other: leave out those whose beginning was not reached. */
static void drop_stuck(struct trace *t)
{
	u32 i, kept = 0;

	for (i = 0; i < t->edges; i++) {
		if (!t->event[t->edge[i].from].lamport)
			contradicted(t, &t->edge[i]);
		else
			t->edge[kept++] = t->edge[i];
	}
	t->edges = kept;
}

static int by_to(const void *a, const void *b)
{
	const struct trace_edge *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

void trace_leases(struct trace *t)
{
	char *why;

	t->edges = 0;
	trace_sends_index(t);
	of_servers(t);
	of_clients(t);
	trace_sends_free();
	drop_false(t);
	if (t->edges)
		qsort(t->edge, t->edges, sizeof(*t->edge), by_to);
	while (!trace_order(t, &why)) {
		free(why);
		drop_stuck(t);
	}
}
