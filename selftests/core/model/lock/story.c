// SPDX-License-Identifier: GPL-2.0
/* A violation as a story: one line for each thing that happens. */
#include <stdio.h>

#include "world.h"

static char client_name(u32 c)
{
	return (char)('A' + c);
}

static const char *attempt_name(u32 c, u32 attempt)
{
	static char text[32];

	if (plan.attempts)
		snprintf(text, sizeof(text), "%c.%u", client_name(c), attempt);
	else if (attempt > CURRENT)
		snprintf(text, sizeof(text), "%c's next attempt", client_name(c));
	else
		snprintf(text, sizeof(text), "%c's %s attempt", client_name(c),
			 attempt == CURRENT ? "newest" : "previous");
	return text;
}

static const char *speed(bool fast)
{
	if (plan.speeds == SPEEDS_EVEN)
		return "exact";
	return fast ? "fast" : "slow";
}

static void tell_start(const struct world *w)
{
	u32 i;

	printf("A lease is %u.", plan.steps);
	for (i = 0; i < plan.clients; i++)
		printf(" %c's clock is %s.", client_name(i), speed(w->client[i].fast));
	for (i = 0; i < plan.n; i++)
		if (is_liar(i))
			printf(" Server %u lies.", i + 1);
		else
			printf(" Server %u's clock is %s.", i + 1,
			       speed(w->server[i].fast));
	printf("\n");
}

static void tell_end(const struct world *w, u32 c)
{
	int64_t left = node_left(w, c);

	if (left < 0)
		printf(", past its end\n");
	else
		printf(", inside for %.4f more by its clock\n",
		       (double)left / node_pace(w->client[c].fast));
}

static void tell_win(const struct world *before, const struct event *e,
		     const struct world *after)
{
	u32 u;

	printf("%c gets FREE from", client_name(e->client));
	for (u = 0; u < plan.n; u++) {
		u32 k = after->client[e->client].known[u].k;

		if (k && !before->client[e->client].known[u].k)
			printf(" server %u%s (TRY %u),", u + 1,
			       is_liar(u) ? ", which lies" : "", k);
	}
	printf(" and wins");
	tell_end(after, e->client);
}

static void tell_request(const struct event *e, const struct world *after)
{
	const struct m_server *s = &after->server[e->server];

	printf("server %u receives ", e->server + 1u);
	if (e->type == BFTM_MSG_TRY)
		printf("TRY %u of ", e->k);
	else if (e->type == BFTM_MSG_YIELD)
		printf("YIELD of %s grant of ", e->grant == GRANT_LAST ? "the last" : "an older");
	else
		printf("RELEASE of ");
	printf("%s", attempt_name(e->client, e->attempt));
	if (e->held)
		printf(", which says that it holds");
	if (e->reply)
		printf(", answers %s", bftm_msg_name(e->reply));
	if (e->reply == BFTM_MSG_FREE)
		printf(": granted for %.4f by its clock%s",
		       (double)s->left / node_pace(s->fast),
		       e->old ? " (which shows a tick too little)" : "");
	printf("\n");
}

static void tell_answer(const struct event *e, const struct world *after)
{
	printf("%c receives %s", client_name(e->client), bftm_msg_name(e->type));
	if (e->type == BFTM_MSG_FREE)
		printf(" to TRY %u of %s", e->k, attempt_name(e->client, e->attempt));
	if (e->grant == GRANT_OLD || (e->grant && e->type == BFTM_MSG_INQUIRE))
		printf(" about %s grant", e->grant == GRANT_OLD ? "an older" : "the last");
	printf(" from server %u%s", e->server + 1u,
	       is_liar(e->server) ? ", which lies" : "");
	if (after->client[e->client].phase == BFTM_PHASE_HOLD)
		tell_end(after, e->client);
	else if (after->client[e->client].phase == BFTM_PHASE_DEAD)
		printf(": this attempt is over\n");
	else
		printf("\n");
}

void world_tell(const void *before, const struct event *e, const void *after)
{
	const struct world *w = after;

	if (!e) {
		tell_start(w);
		return;
	}
	printf("t = %d%s%.*s: ", w->part, w->instant ? " and a moment" : "",
	       w->instant ? w->instant - 1 : 0, "+++++++++");
	switch (e->kind) {
	case STEP:
		printf("time has passed\n");
		break;
	case START:
		printf("%c begins %s: TRY 1 to all\n", client_name(e->client),
		       plan.attempts ? attempt_name(e->client, e->attempt) : "an attempt");
		break;
	case RESEND:
		printf("%c sends TRY %u to all\n", client_name(e->client), e->k);
		break;
	case STOP:
		printf("%c stops: RELEASE to all\n", client_name(e->client));
		break;
	case LAPSE:
		printf("%c sees that its lease is over: RELEASE to all\n",
		       client_name(e->client));
		break;
	case WIN:
		tell_win(before, e, w);
		break;
	case ANSWER:
		tell_answer(e, w);
		break;
	case REQUEST:
		tell_request(e, w);
		break;
	case EXPIRE:
		printf("server %u sees that a lease is over\n", e->server + 1u);
		break;
	case RESTART:
		printf("server %u restarts: its memory is lost\n", e->server + 1u);
		break;
	}
}
