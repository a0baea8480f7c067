// SPDX-License-Identifier: GPL-2.0
/*
 *	bftmutex-floods record FILE SERVER ADDRESS CREDENTIALS CREDENTIALS CREDENTIALS
 *		of the first client a file of datagrams; the second holds a lock, which
 *		the third waits for; objects are there
 *	bftmutex-floods send FILE KIND COUNT DEVICE MAC ADDRESS
 *		kinds: random truncated bit key replay form
 *	bftmutex-floods pace KIND|client RATE {FILE|CREDENTIALS SERVER DEVICE MAC ADDRESS}...
 *		so many a second, over all servers, until it is killed
 *	bftmutex-floods amplify COUNT SERVER ADDRESS CREDENTIALS
 *		requests of every type; no answer is longer
 *	bftmutex-floods goodput MS
 *		acquires and releases through /dev/bftmutex for so long
 *
 * All random choices follow from BFTMUTEX_SEED. Exit status 0: no fault was found.
 */
#include <err.h>

#include "floods.h"

const char *const flood_names[] = { "random", "truncated", "bit", "key", "replay", "form", "client" };

u64 flood_number(const char *what, const char *text, u64 min, u64 max)
{
	char *end;
	u64 value = strtoull(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		errx(EX_USAGE, "%s '%s': not a number from %" PRIu64 " to %" PRIu64, what, text,
		     min, max);
	return value;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
		int least, most;
	} commands[] = {
		{ "record", flood_record, 6, 6 }, { "send", flood_send, 6, 6 },
		{ "pace", flood_pace, 7, 2 + 5 * BFTM_SERVERS_MAX },
		{ "amplify", flood_amplify, 4, 4 }, { "goodput", flood_goodput, 1, 1 },
	};
	const char *seed = getenv("BFTMUTEX_SEED");
	size_t i;

	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name) &&
		    argc - 2 >= commands[i].least && argc - 2 <= commands[i].most)
			return commands[i].run(argc - 2, argv + 2);
	fputs("usage: bftmutex-floods record|send|pace|amplify|goodput ARG...: see main.c\n", stderr);
	return EX_USAGE;
}
