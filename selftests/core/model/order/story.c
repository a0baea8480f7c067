// SPDX-License-Identifier: GPL-2.0
/* Worlds and iterations in words. */
#include <stdio.h>

#include "model.h"

void story_world(const struct world *w)
{
	u32 u;
	u8 i;

	printf("  servers:");
	for (u = 0; u < plan.correct; u++)
		printf(" %u: %u/%u by %u%c", u + 1, w->place[u].sc, w->place[u].sp,
		       w->place[u].prop, u + 1 < plan.correct ? ',' : '\n');
	for (i = 1; i <= w->made; i++)
		printf("  state %u: version %u, made of %u%s\n", i, w->version[i], w->parent[i],
		       w->decided[w->version[i]] == i ? ", begun to be committed" : "");
}

static void print_set(const char *what, u32 set)
{
	u32 u;

	printf("  %s", what);
	for (u = 0; u < plan.correct; u++)
		if (set >> u & 1)
			printf(" %u", u + 1);
	printf("%s\n", set ? "" : " nobody");
}

static void print_lie(const struct lie *lie)
{
	printf("  the liar says committed ");
	if (lie->sc < 0)
		printf("what nobody made");
	else
		printf("%d", lie->sc);
	if (lie->sp < 0)
		printf(", proposed what nobody made, version %u", lie->version);
	else
		printf(", proposed %d", lie->sp);
	printf(", by %u, as the %s server\n", lie->prop, lie->first ? "first" : "last");
}

void story_move(const struct move *m)
{
	printf("client %d%s:\n", m->client + 1, m->refresh ? ", for servers that recover" : "");
	print_set("GET is answered by", m->got);
	if (m->lied)
		print_lie(&m->lie);
	if (m->continued) {
		printf("  it proposes %u\n", m->before.next);
		print_set("PROPOSE reaches", m->before.proposed);
		print_set("COMMIT_GET reaches", m->before.committed);
	}
	if (m->next && !m->invented) {
		printf("  it %s %u and proposes %u\n", m->applied ? "applies to" : "takes", m->base,
		       m->next);
		print_set("PROPOSE reaches", m->proposed);
		print_set("COMMIT reaches", m->committed);
	}
	if (m->late)
		print_set("what was left before comes to", m->late);
	if (m->forks)
		printf("VIOLATION: another state was begun to be committed\n");
	else if (m->invented)
		printf("VIOLATION: nobody has made the state that it goes on from\n");
	else if (m->unsure)
		printf("VIOLATION: the answers of a quorum say too little\n");
	else
		printf("  servers and states are numbered anew\n");
}
