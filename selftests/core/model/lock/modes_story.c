// SPDX-License-Identifier: GPL-2.0
/* Modes by name, and a violation as a story. */
#include <err.h>
#include <stdio.h>

#include "modes.h"

static const char *const names[BFTM_MODES] = { "NL", "CR", "CW", "PR", "PW", "EX" };

u32 modes_read(const char *argument)
{
	const char *p = argument;
	u32 set = 0, m;

	for (;;) {
		for (m = BFTM_MODE_CR; m < BFTM_MODES; m++)
			if (!strncmp(p, names[m], 2))
				break;
		if (m == BFTM_MODES || (p[2] && p[2] != ','))
			errx(2, "--modes '%s': a list as PR,EX is expected, of CR, CW, PR, PW and EX",
			     argument);
		set |= 1u << m;
		if (!p[2])
			return set;
		p += 3;
	}
}

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
			printf(" [%c: %s]", letter(c), names[modes_inside(w, c)]);
	printf("\n");
}

static void tell_try(const struct modes_world *w, const struct event *e)
{
	const struct m_asker *m = &w->client[e->client];

	printf("TRY %u of %c: %s", e->k, letter(e->client), names[m->tried[e->k - 1]]);
	if (m->said[e->k - 1])
		printf(", holds %s", names[m->said[e->k - 1]]);
}

static void tell_grants(const struct modes_world *before, const struct modes_world *w, u32 u)
{
	u32 c;

	for (c = 0; c < plan.clients; c++)
		if (w->share[u][c].mode != before->share[u][c].mode)
			printf("; %c has %s there", letter(c), names[w->share[u][c].mode]);
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
		printf("receives YIELD of %c, which keeps %s", letter(e->client), names[e->mode]);
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
		printf(" to %s: TRY %u", names[e->mode], e->k);
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
		       names[e->mode], e->k, e->server + 1u);
	else if (e->kind == ANSWER)
		printf("%c receives INQUIRE from server %u", letter(e->client), e->server + 1u);
	else
		tell_asked(e);
	tell_holders(w);
}
