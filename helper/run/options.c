// SPDX-License-Identifier: GPL-2.0
/* Refuses options of bftmutex(1) that do not go together. */
#include "run/options.h"

#include <argp.h>
#include <string.h>

bool options_is_number(const char *text)
{
	u64 value;

	return text && !bftm_parse_number(text, &value);
}

static void take_hash(const char **name, char hash[SHA256_DIGEST_STRING_LENGTH])
{
	SHA256Data((const uint8_t *)*name, strlen(*name), hash);
	*name = hash;
}

void options_hash(struct options *o)
{
	unsigned int i;

	if (o->name)
		take_hash(&o->name, o->hash);
	for (i = 0; i < o->and_count; i++)
		take_hash(&o->and[i].name, o->and[i].hash);
}

/* A name that comes twice would be waited for until the time limit: its first handle has it. */
static void check_and(struct argp_state *state, const struct options *o)
{
	unsigned int i, k;

	if (!o->and_count)
		return;
	if (o->fd >= 0 || o->unlock || o->value || o->no_fork || o->fdstore)
		argp_error(state, "--and '%s' takes no --fd, --unlock, --value, --no-fork and --fdstore: "
			   "these are for one lock", o->and[0].shown);
	for (i = 0; o->name && i < o->and_count; i++) {
		if (!strcmp(o->and[i].name, o->name))
			argp_error(state, "--and '%s' is NAME too: each lock may be named once",
				   o->and[i].shown);
		for (k = 0; k < i; k++)
			if (!strcmp(o->and[i].name, o->and[k].name))
				argp_error(state, "--and '%s' comes twice: each lock may be named once",
					   o->and[i].shown);
	}
}

void options_check(struct argp_state *state, const struct options *o)
{
	check_and(state, o);
	if (o->held && o->fd < 0)
		argp_error(state, "--held needs --fd N, a descriptor of " BFTMUTEX_DEVICE);
	if (o->held && (o->unlock || o->print || o->name))
		argp_error(state, "--held takes no --unlock, no --print and no NAME");
	if (o->convert && o->fd < 0)
		argp_error(state, "--convert needs --fd N, a descriptor of " BFTMUTEX_DEVICE);
	if (o->convert && (o->unlock || o->held || o->name || o->lease || o->lock.cluster))
		argp_error(state, "--convert takes no NAME, no --unlock, no --held, no --lease and no "
			   "--cluster: the lock keeps its own");
	if (o->unlock && o->fd < 0)
		argp_error(state, "--unlock needs --fd N, a descriptor of " BFTMUTEX_DEVICE);
	if (o->print && (o->fd < 0 || o->unlock))
		argp_error(state, "--print is for a lock that --fd N takes; a command has "
			   "BFTMUTEX_TOKEN, BFTMUTEX_MODE and BFTMUTEX_DEADLINE_NS");
	if (o->unlock && o->name)
		argp_error(state, "'%s': --unlock takes no NAME", o->shown);
	if (o->fd >= 0 && (o->command || o->no_fork || o->close_fd))
		argp_error(state, "--fd %d takes no command, no --no-fork and no --close", o->fd);
	if (o->value && (o->unlock || o->held))
		argp_error(state, "--value takes no --unlock and no --held");
	if (o->value && o->no_fork)
		argp_error(state, "--value and --no-fork: no process would give the lock back, and its "
			   "value would not be valid for the next holder");
	if (o->set_value && o->fd < 0)
		argp_error(state, "--set-value needs --fd N, a descriptor of " BFTMUTEX_DEVICE "; a command "
			   "has BFTMUTEX_VALUE_FD by --value");
	if (o->set_value && (o->value || o->convert || o->print || o->unlock || o->held || o->name))
		argp_error(state, "--set-value takes no NAME, no --value, no --convert, no --print, "
			   "no --unlock and no --held");
	if (o->print && o->value && !o->name && !o->convert)
		argp_error(state, "--print needs NAME or --convert: --value prints the value by itself");
	if (o->fd >= 0 && o->notify)
		argp_error(state, "--fd %d takes no --notify and no --fdstore: the process ends at once",
			   o->fd);
	if (o->fd >= 0 && o->margin)
		argp_error(state, "--fd %d takes no --margin: no process would watch the lease", o->fd);
	if (o->margin && o->lease && o->margin_ns >= o->lock.lease_ns)
		argp_error(state, "--margin '%s': must be less than --lease %s", o->margin, o->lease);
	if (o->margin && o->lease && (o->lock.flags & BFTM_RENEW) && o->margin_ns >= o->lock.lease_ns / 2)
		argp_error(state, "--margin '%s': must be less than half of --lease %s, since the lease is "
			   "renewed at its half; or add --no-renew", o->margin, o->lease);
	if (o->no_lease && (o->lease || o->margin || !(o->lock.flags & BFTM_RENEW)))
		argp_error(state, "--no-lease takes no --lease, no --no-renew and no --margin: no clock ends "
			   "the lock");
	if (o->no_lease && (o->unlock || o->held || o->convert || o->set_value))
		argp_error(state, "--no-lease is for a lock that is taken: it takes no --unlock, no --held, "
			   "no --convert and no --set-value");
	if (o->no_fork && o->close_fd)
		argp_error(state, "--no-fork and --close: nothing would hold the lock");
	if (!o->name && !o->unlock && !o->held && !o->convert && !o->set_value &&
	    !(o->value && o->fd >= 0))
		argp_error(state, "NAME of the lock is missing");
	if (o->fd < 0 && !o->command && options_is_number(o->name))
		argp_error(state, "lock '%s': COMMAND is missing; or, for the descriptor %s of "
			   BFTMUTEX_DEVICE ", it is --fd %s NAME", o->shown, o->shown, o->shown);
	if (o->fd < 0 && !o->command)
		argp_error(state, "lock '%s': COMMAND is missing", o->shown);
}
