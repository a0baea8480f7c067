// SPDX-License-Identifier: GPL-2.0
/* bftmutex-history: were there no two holders that exclude each other? history.h has the lines. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sysexits.h>

#include <linux/bftmutex.h>

#include "history.h"

static struct {
	const char *lin;
	char **file;
	int files;
	double heal_ms;
} args;

static const struct argp_option options[] = {
	{ "heal", 'H', "MS", 0, "Each lock is entered so soon after the healing, above 0", 0 },
	{ "lin", 'l', "FILE", 0, "Write the counters' history there, for bftmutex-lin", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end = NULL;

	switch (key) {
	case 'H':
		args.heal_ms = strtod(arg, &end);
		if (*end || args.heal_ms <= 0 || args.heal_ms > 1e9)
			argp_error(state, "--heal: '%s' is not above 0 and up to 1e9 ms", arg);
		return 0;
	case 'l':
		args.lin = arg;
		return 0;
	case ARGP_KEY_ARGS:
		args.file = state->argv + state->next;
		args.files = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no FILE");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE...",
	.doc = "Did no two holders of a lock exclude each other, in these histories together?\v"
	       "Exit status: 0 yes, 1 no, 64 wrong usage, 65 a line is wrong, 66 a file cannot "
	       "be read or written.",
};

static void read_file(struct history *h, const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long number = 0;
	char line[256];

	if (!file) {
		perror(path);
		exit(EX_NOINPUT);
	}
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (history_add(h, line))
			continue;
		fprintf(stderr, "%s:%lu: not a line of a history: %s", path, number, line);
		exit(EX_DATAERR);
	}
	fclose(file);
}

static void summary(const struct history *h)
{
	u64 count[WHATS] = {}, stale = 0, shared = 0;
	size_t i;

	for (i = 0; i < h->count; i++)
		count[h->event[i].what]++;
	for (i = 0; i < h->stays; i++) {
		stale += h->stay[i].end_ns < h->stay[i].enter_ns;
		shared += h->stay[i].mode != BFTM_LOCK_EX;
	}
	printf("# %" PRIu64 " acquires, %" PRIu64 " entries, %" PRIu64 " of them over before they "
	       "were known, %" PRIu64 " shared, %" PRIu64 " conversions, %" PRIu64 " failed, %"
	       PRIu64 " looks, %" PRIu64 " updates, %" PRIu64 " reads, %" PRIu64
	       " refused by their token, %" PRIu64 " kills, %" PRIu64 " violations\n",
	       count[INVOKE], count[ENTER], stale, shared, count[MODE], count[FAIL], count[LOOK],
	       count[WROTE], count[SAW], count[REFUSE], count[KILL], h->violations);
}

int main(int argc, char **argv)
{
	struct history h = { .to = stdout };
	bool good;
	FILE *lin;
	int i;

	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	h.heal_bound_ns = (u64)(args.heal_ms * 1e6);
	for (i = 0; i < args.files; i++)
		read_file(&h, args.file[i]);
	good = !history_check(&h);
	summary(&h);
	if (args.lin) {
		lin = fopen(args.lin, "we");
		if (!lin) {
			perror(args.lin);
			return EX_NOINPUT;
		}
		history_lin(&h, lin);
		fclose(lin);
	}
	history_free(&h);
	return !good;
}
