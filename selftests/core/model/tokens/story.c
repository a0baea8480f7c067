// SPDX-License-Identifier: GPL-2.0
/* A violation as a story: one line for each thing that happens. */
#include <stdio.h>

#include "world.h"

/* The name of an event; "#" stands for the server, "@" for the token. */
static const char *const what[KINDS] = {
	[OFFER] = "who has the lock offers token @",
	[STAMP] = "server # gets the offer of @",
	[STAMP_OLD] = "server # gets an offer of @ that is out of date",
	[WIN] = "who has the lock has token @, by q servers, and liars among them",
	[END] = "who has the lock gives up, or has lost it",
	[RESTART] = "server # restarts",
	[START_WITH_FLOOR] = "server # restarts with --token-floor @",
	[QUARANTINE_ENDS] = "the quarantine of server # is over",
	[ASK] = "a client begins to ask what server # has forgotten",
	[HEAR] = "… and server # says what it knows",
	[HEAR_OLD] = "… and server # has said 0 to an earlier question",
	[TELL] = "… and tells server #, liars having said @",
	[HEAR_ASKED] = "… and hears how server # is",
	[HEAR_STALE] = "… and hears that server # has restarted",
	[GIVE_UP] = "… and gives up",
	[SECOND] = "another client asks and tells server #",
	[RECOVER] = "server # is told @",
	[RECOVER_OLD] = "server # is told @, which is for an earlier start of it",
	[INTRUDE] = "a client of one prefix tells server # @",
	[INTRUDE_ALL] = "a client that nobody should believe now tells server # @",
};

static const char *code_name(u8 code)
{
	static const char *const names[] = { "0", "1", "2", "3", "4", "5", "too much", "nothing" };

	return names[code & 7];
}

static void tell_servers(const struct world *w)
{
	u32 u;

	for (u = 0; u < correct_servers(); u++)
		printf(" %s%s", known(&w->server[u]) == NOTHING ? "?" : code_name(known(&w->server[u])),
		       w->server[u].quarantine ? "q" : "");
}

static void tell_event(const char *text, const struct event *e)
{
	for (; *text; text++)
		if (*text == '#')
			printf("%u", e->server + 1u);
		else if (*text == '@')
			printf("%s", code_name(e->k));
		else
			putchar(*text);
}

void tell(const void *before, const struct event *e, const void *after)
{
	if (!before) {
		printf("%u servers, %u of them lie. What the others know, ? for nothing, q in quarantine:\n",
		       plan.n, plan.b);
	} else {
		tell_event(what[e->kind], e);
	}
	printf("  [");
	tell_servers(after);
	printf(" ]\n");
}
