// SPDX-License-Identifier: GPL-2.0
#include "run/grants.h"
#include "run/descriptor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

void bftm_format_tokens(const struct bftm_taken *locks, const struct bftmutex_grant *grant,
			unsigned int count, char ret[BFTM_TOKENS_MAX])
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		len += (size_t)snprintf(ret + len, BFTM_TOKENS_MAX - len, "%s%s=%llu", i ? "\n" : "",
					locks[i].name, (unsigned long long)grant[i].token);
}

static void put_number(const char *variable, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	setenv(variable, text, 1);
}

/* Inherited variables belong to another lock. */
void bftm_put_grants(const struct options *o, const struct bftm_taken *locks, unsigned int count,
		     const struct bftmutex_grant *grants)
{
	char tokens[BFTM_TOKENS_MAX];
	u64 deadline_ns = grants[0].deadline_ns;
	unsigned int i;

	for (i = 1; i < count; i++)
		if (grants[i].deadline_ns < deadline_ns)
			deadline_ns = grants[i].deadline_ns;
	setenv("BFTMUTEX_NAME", o->name, 1);
	setenv("BFTMUTEX_MODE", o->mode, 1);
	/* Shells cannot count up to the number of no end. */
	unsetenv("BFTMUTEX_DEADLINE_NS");
	if (!bftm_grant_lasts(&grants[0]))
		put_number("BFTMUTEX_DEADLINE_NS", deadline_ns);
	unsetenv("BFTMUTEX_TOKEN");
	if (grants[0].token)
		put_number("BFTMUTEX_TOKEN", grants[0].token);
	unsetenv("BFTMUTEX_TOKENS");
	if (o->and_count && grants[0].token) {
		bftm_format_tokens(locks, grants, count, tokens);
		setenv("BFTMUTEX_TOKENS", tokens, 1);
	}
	unsetenv("BFTMUTEX_VALUE");
	unsetenv("BFTMUTEX_VALUE_FD");
	/* A process that inherits a handle can ask it for the deadline, which renewals move. */
	unsetenv("BFTMUTEX_FD");
	if (o->close_fd)
		return;
	put_number("BFTMUTEX_FD", (u64)locks[0].fd);
	for (i = 0; i < count; i++)
		fcntl(locks[i].fd, F_SETFD, 0);
}
