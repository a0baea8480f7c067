// SPDX-License-Identifier: GPL-2.0
/* A violation as a story. */
#include <stdio.h>

#include "members.h"

void members_report(void)
{
	const u64 *r = members_reached;

	printf("reached: %llu restarts, %llu told, %llu evictions, %llu boots; not looked at: %llu\n",
	       (unsigned long long)r[L_RESTART], (unsigned long long)r[L_SYNC],
	       (unsigned long long)r[L_EVICT], (unsigned long long)r[L_BOOT],
	       (unsigned long long)members_over);
}

static const char *const happens[L_KINDS] = {
	[START] = "begins", [STOP] = "stops: RELEASE to all", [ANSWER] = "receives FREE",
	[L_CHALLENGE] = "receives CHALLENGE", [L_CUT] = "loses its power", [L_BOOT] = "boots",
};

static void tell_server(const struct members_world *w, const struct event *e)
{
	const struct l_member *m = &w->client[e->client];
	char c = (char)('A' + e->client);

	printf("server %u ", e->server + 1u);
	if (e->kind == L_RESTART)
		printf("restarts");
	else if (e->kind == L_EVICT)
		printf("evicts the first boot of %c", c);
	else if (e->kind == L_NOTE)
		printf("notes %c in its roll", c);
	else if (e->kind == L_SYNC)
		printf("receives SYNC of boot %u of %c", e->attempt, c);
	else
		printf("receives TRY of boot %u of %c%s, answers %s", e->attempt, c,
		       m->asserts && m->boot == e->attempt ? ", perhaps REASSERT" : "",
		       bftm_msg_name(e->reply));
}

void members_tell(const void *before, const struct event *e, const void *after)
{
	const struct members_world *w = after;
	u32 c, u;

	(void)before;
	if (!e) {
		printf("No time passes.");
		for (u = correct_servers(); u < plan.n; u++)
			printf(" Server %u lies.", u + 1);
		printf("\n");
		return;
	}
	if (happens[e->kind]) {
		printf("%c %s", 'A' + e->client, happens[e->kind]);
		if (e->kind == ANSWER || e->kind == L_CHALLENGE)
			printf(" of start %u of server %u", e->grant, e->server + 1u);
	} else {
		tell_server(w, e);
	}
	for (c = 0; c < L_CLIENTS; c++)
		if (members_inside(w, c))
			printf(" [%c holds]", 'A' + c);
	printf("\n");
}
