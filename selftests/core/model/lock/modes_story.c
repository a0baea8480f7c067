// SPDX-License-Identifier: GPL-2.0
/* A violation as a story. */
#include <stdio.h>

#include "selftests/core/model/command.h"
#include "modes.h"

void modes_report(void)
{
	const struct modes_reached *r = &modes_reached;

	printf("reached: %llu conversions up, %llu down, %llu shared; not looked at: %llu\n",
	       (unsigned long long)r->up, (unsigned long long)r->down,
	       (unsigned long long)r->shared, (unsigned long long)r->over);
}

static char letter(u32 c)
{
	return (char)('A' + c);
}

static void tell_holders(const struct modes_world *w)
{
	u32 c;

	for (c = 0; c < plan.clients; c++)
		if (modes_inside(w, c))
			printf(" [%c: %s]", letter(c), command_mode[modes_inside(w, c)]);
	printf("\n");
}

static void tell_try(const struct modes_world *w, const struct event *e)
{
	const struct m_asker *m = &w->client[e->client];

	printf("TRY %u of %c: %s", e->k, letter(e->client), command_mode[m->tried[e->k - 1]]);
	if (m->said[e->k - 1])
		printf(", holds %s", command_mode[m->said[e->k - 1]]);
}

static void tell_grants(const struct modes_world *before, const struct modes_world *w, u32 u)
{
	u32 c;

	for (c = 0; c < plan.clients; c++)
		if (w->share[u][c].mode != before->share[u][c].mode)
			printf("; %c has %s there", letter(c), command_mode[w->share[u][c].mode]);
}

static void tell_served(const struct modes_world *before, const struct event *e,
			const struct modes_world *w)
{
	printf("server %u ", e->server + 1u);
	if (e->kind == LOOK) {
		printf("looks who is next");
	} else if (e->type == BFTM_MSG_TRY) {
		printf("receives ");
		tell_try(before, e);
		printf(", answers %s", bftm_msg_name(e->reply));
	} else {
		printf("receives YIELD of %c, which keeps %s", letter(e->client),
		       command_mode[e->mode]);
	}
	tell_grants(before, w, e->server);
}

static void tell_asked(const struct event *e)
{
	static const char *const does[] = {
		[STOP] = "stops: RELEASE to all", [LAPSE] = "sees that its lease is over",
		[KEEP] = "gives its conversion up", [RESEND] = "sends",
		[START] = "begins", [CONVERT] = "converts",
	};

	printf("%c %s", letter(e->client), does[e->kind]);
	if (e->kind == START || e->kind == CONVERT)
		printf(" to %s: TRY %u", command_mode[e->mode], e->k);
	if (e->kind == RESEND || e->kind == KEEP)
		printf(": TRY %u", e->k);
}

void modes_tell(const void *before, const struct event *e, const void *after)
{
	const struct modes_world *w = after;
	u32 u;

	if (!e) {
		printf("%s.", modes_plan.timeless ? "No time passes" : "A lease is 1");
		for (u = correct_servers(); u < plan.n; u++)
			printf(" Server %u lies.", u + 1);
		printf("\n");
		return;
	}
	if (!modes_plan.timeless)
		printf("t = %d%s: ", w->part, w->instant ? " and a moment" : "");
	if (e->kind == STEP)
		printf("time has passed");
	else if (e->kind == REQUEST || e->kind == LOOK)
		tell_served(before, e, w);
	else if (e->kind == ANSWER && e->type == BFTM_MSG_FREE)
		printf("%c receives FREE %s to TRY %u from server %u", letter(e->client),
		       command_mode[e->mode], e->k, e->server + 1u);
	else if (e->kind == ANSWER)
		printf("%c receives INQUIRE from server %u", letter(e->client), e->server + 1u);
	else
		tell_asked(e);
	tell_holders(w);
}
