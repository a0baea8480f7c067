// SPDX-License-Identifier: GPL-2.0
/* Lines that say what a cluster is like, and the one that counts. */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "core/quorum.h"
#include "trace/line.h"

#define SAIDS_MAX 1000u

static bool is_same(const struct trace_cluster *a, const struct trace_cluster *b)
{
	return a->servers == b->servers && a->b == b->b && a->m == b->m && a->rho_ppm == b->rho_ppm;
}

void trace_cluster_read(struct trace *t, struct trace_line *l)
{
	struct trace_cluster c = {
		.number = (u32)trace_line_number(l, "cluster", UINT32_MAX, 0),
		.servers = (u32)trace_line_number(l, "servers", BFTM_SERVERS_MAX, 0),
		.b = (u32)trace_line_number(l, "b", (BFTM_SERVERS_MAX - 1) / 3, 0),
		.m = (u32)trace_line_number(l, "m", BFTM_SERVERS_MAX, 0),
		.rho_ppm = (u32)trace_line_number(l, "rho_ppm", BFTM_RHO_MAX_PPM, t->rho_ppm),
	};
	u32 i;

	for (i = 0; i < t->saids; i++)
		if (t->said[i].number == c.number && is_same(&t->said[i], &c))
			return;
	if (t->saids == SAIDS_MAX)
		trace_line_wrong(l, "the line", "one of at most 1000 that say different things of clusters");
	if (l->key)
		return;
	t->said = trace_grow(t->said, t->saids, sizeof(c));
	t->said[t->saids++] = c;
}

static bool is_recorded(const struct trace *t, u32 number)
{
	u32 i;

	for (i = 0; i < t->events && number; i++)
		if (t->event[i].cluster == number)
			return true;
	return !number;
}

bool trace_cluster_choose(struct trace *t, char **ret_why)
{
	const struct trace_cluster *chosen = NULL, *c;

	for (c = t->said; c < t->said + t->saids; c++) {
		if (!is_recorded(t, c->number))
			continue;
		if (chosen && !is_same(chosen, c)) {
			if (asprintf(ret_why, "files differ: cluster %u has %u servers, b %u, m %u, rho %u ppm, and cluster %u has %u servers, b %u, m %u, rho %u ppm: leave out files, or say --servers, --b, --m and --rho",
				     chosen->number, chosen->servers, chosen->b, chosen->m, chosen->rho_ppm,
				     c->number, c->servers, c->b, c->m, c->rho_ppm) < 0)
				err(EX_OSERR, "memory");
			return false;
		}
		chosen = c;
	}
	if (!chosen)
		return true;
	t->servers = chosen->servers;
	t->b = chosen->b;
	t->m = chosen->m;
	t->rho_ppm = chosen->rho_ppm;
	return true;
}

bool trace_cluster_ok(const struct trace *t, const char *b_is, const char *m_is, char **ret_why)
{
	u32 n = t->servers, b = t->b, m = t->m;
	int len;

	if (n && n < bftm_servers_needed(b))
		len = asprintf(ret_why, "%s %u: locks need n >= 3b + 1 = %u servers, and there are %u",
			       b_is, b, bftm_servers_needed(b), n);
	else if (n && m && (m < bftm_free_needed(n, b) || m > n - b))
		len = asprintf(ret_why, "%s %u: must be %u to %u with n = %u and b = %u", m_is, m,
			       bftm_free_needed(n, b), n - b, n, b);
	else
		return true;
	if (len < 0)
		err(EX_OSERR, "memory");
	return false;
}
