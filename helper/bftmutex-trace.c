// SPDX-License-Identifier: GPL-2.0
/* bftmutex-trace: were two clients inside a lock at once, and which assumption says no? */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <sysexits.h>

#include "config/conf.h"
#include "loop/descriptors.h"
#include "trace/levels.h"
#include "trace/report.h"

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

const char *argp_program_version = "bftmutex-trace " BFTM_VERSION;

enum { KEY_NO_LEASES = 0x100, KEY_DISTRUST, KEY_WITHIN, KEY_AT, KEY_JSON, KEY_SERVERS, KEY_RHO, KEY_M };

static struct {
	bool no_leases, json, at_given;
	u32 distrust, servers, b, m, rho_ppm;
	u64 within, at;
	char **word;
	int words;
} args = { .b = TRACE_NONE, .rho_ppm = TRACE_NONE };

static struct trace *trace;

static int run_order(void)
{
	u32 *list = trace_linear(trace), i;

	for (i = 0; i < trace->events; i++)
		trace_event_print(trace, list[i], args.json, stdout);
	free(list);
	return 0;
}

static int run_cut(void)
{
	u32 *cut;

	if (!args.at_given)
		errx(EX_USAGE, "cut: --at TIME is missing: when, by the hosts' wall clocks, in ns since 1970");
	cut = trace_cut_at(trace, args.at);
	trace_cut_print(trace, cut, args.json, stdout);
	free(cut);
	return 0;
}

static int run_draw(void)
{
	if (!trace_draw(trace, stdout))
		errx(EX_DATAERR, "draw: the trace has %u events, 2000 are allowed: cut the files",
		     trace->events);
	return 0;
}

/* HOST:N, the N of the file */
static int run_why(const char *label)
{
	const char *colon = strrchr(label, ':');
	char *end;
	u64 n;
	u32 i;

	errno = 0;
	n = colon ? strtoull(colon + 1, &end, 10) : 0;
	if (!colon || end == colon + 1 || *end || errno)
		errx(EX_USAGE, "why '%s': must be HOST:N, an event as other commands print it", label);
	for (i = 0; i < trace->events; i++)
		if (trace->event[i].n == n && !strcmp(trace_label(trace, i), label)) {
			trace_why_print(trace, i, args.json, stdout);
			return 0;
		}
	errx(EX_DATAERR, "why '%s': the files have no such event", label);
}

static int run_two_holders(void)
{
	struct trace_pairs pairs;
	char *why;

	if (!trace_two_holders(trace, args.no_leases, args.within, &pairs, &why))
		errx(EX_DATAERR, "%s", why);
	trace_report(trace, &pairs, args.json, stdout);
	free(pairs.found);
	return pairs.verdict >= TRACE_POSSIBLY;
}

static int run_phi(const char *name)
{
	struct trace_levels found;
	char *why;

	if (!trace->servers)
		errx(EX_DATAERR, "%s: no file says how many servers there are: --servers N and --b N do",
		     name);
	if (!trace_phi(trace, name, &found, &why))
		errx(EX_DATAERR, "%s", why);
	if (args.json)
		printf("{\"phi\":\"%s\",\"possibly\":%s,\"definitely\":%s,\"finally\":%s,\"states\":%llu,\"gave_up\":%s}\n",
		       name, found.possibly ? "true" : found.gave_up ? "null" : "false",
		       found.gave_up ? "null" : found.definitely ? "true" : "false",
		       found.finally ? "true" : "false", (unsigned long long)found.states,
		       found.gave_up ? "true" : "false");
	else
		printf("%s: possibly %s, definitely %s, at the end %s; %llu states%s\n", name,
		       found.possibly ? "yes" : found.gave_up ? "unknown" : "no",
		       found.gave_up ? "unknown" : found.definitely ? "yes" : "no",
		       found.finally ? "yes" : "no", (unsigned long long)found.states,
		       found.gave_up ? ", and there are more: it gave up" : "");
	return found.finally;
}

static const char *const commands[] = {
	"two-holders", "waited-but-free", "deadlock", "ghost", "cut", "why", "order", "draw",
};

static void read_file(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *why;

	if (!file)
		err(EX_NOINPUT, "%s", path);
	if (!trace_read(trace, file, path, &why))
		errx(EX_DATAERR, "%s", why);
	if (ferror(file))
		err(EX_NOINPUT, "%s", path);
	if (file != stdin)
		fclose(file);
}

/* Reads the files from @from on, or standard input. */
static void read_all(int from)
{
	char *why;
	int i;

	trace = trace_new();
	trace->rho_ppm = BFTM_RHO_DEFAULT_PPM;
	trace->distrust = args.distrust;
	for (i = from; i < args.words; i++)
		read_file(args.word[i]);
	if (from >= args.words)
		read_file("-");
	if (!trace_cluster_choose(trace, &why) && (!args.servers || args.b == TRACE_NONE))
		errx(EX_DATAERR, "%s", why);
	if (args.servers)
		trace->servers = args.servers;
	if (args.b != TRACE_NONE)
		trace->b = args.b;
	if (args.m)
		trace->m = args.m;
	if (args.rho_ppm != TRACE_NONE)
		trace->rho_ppm = args.rho_ppm;
	if (!trace_cluster_ok(trace, args.b != TRACE_NONE ? "--b" : "the files say b =",
			      args.m ? "--m" : "the files say m =", &why))
		errx(EX_DATAERR, "%s", why);
	if (!trace_sort(trace, &why))
		errx(EX_DATAERR, "%s", why);
	trace_holds(trace);
}

static int run_command(const char *command)
{
	bool explains = !strcmp(command, "why");
	char *why;

	if (explains && args.words < 2)
		errx(EX_USAGE, "why: HOST:N is missing, an event as other commands print it");
	read_all(1 + explains);
	if (!strcmp(command, "two-holders"))
		return run_two_holders();
	if (!trace_order(trace, &why))
		errx(EX_DATAERR, "%s", why);
	if (!strcmp(command, "cut"))
		return run_cut();
	/* The same order for all. */
	if (!args.no_leases)
		trace_leases(trace);
	if (explains)
		return run_why(args.word[1]);
	if (!strcmp(command, "order"))
		return run_order();
	return !strcmp(command, "draw") ? run_draw() : run_phi(command);
}

static u64 option_number(struct argp_state *state, const char *option, const char *text, u64 max)
{
	char *end;
	u64 n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (end == text || *end || errno || *text == '-' || n > max)
		argp_error(state, "%s '%s': must be 0 to %llu", option, text, (unsigned long long)max);
	return n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	u64 n;

	switch (key) {
	case KEY_NO_LEASES:
		args.no_leases = true;
		return 0;
	case KEY_JSON:
		args.json = true;
		return 0;
	case KEY_DISTRUST:
		n = option_number(state, "--distrust", arg, BFTM_SERVERS_MAX);
		if (!n)
			argp_error(state, "--distrust '0': must be 1 to %d", BFTM_SERVERS_MAX);
		else
			args.distrust |= 1u << (n - 1);
		return 0;
	case KEY_WITHIN:
		if (bftm_parse_duration(arg, &args.within) || !args.within ||
		    args.within > TRACE_TIME_MAX)
			argp_error(state, "--within '%s': must be a duration such as 5ms", arg);
		return 0;
	case KEY_AT:
		args.at = option_number(state, "--at", arg, UINT64_MAX);
		args.at_given = true;
		return 0;
	case KEY_SERVERS:
		args.servers = (u32)option_number(state, "--servers", arg, BFTM_SERVERS_MAX);
		return 0;
	case 'b':
		args.b = (u32)option_number(state, "--b", arg, (BFTM_SERVERS_MAX - 1) / 3);
		return 0;
	case KEY_M:
		args.m = (u32)option_number(state, "--m", arg, BFTM_SERVERS_MAX);
		return 0;
	case KEY_RHO:
		args.rho_ppm = (u32)option_number(state, "--rho", arg, BFTM_RHO_MAX_PPM);
		return 0;
	case ARGP_KEY_ARGS:
		args.word = state->argv + state->next;
		args.words = state->argc - state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "no-leases", KEY_NO_LEASES, NULL, 0, "Judge by messages alone", 0 },
	{ "distrust", KEY_DISTRUST, "SERVER", 0, "Leave out what this server recorded; repeatable", 0 },
	{ "within", KEY_WITHIN, "TIME", 0,
	  "two-holders: the wall clocks of all hosts differ by less than this", 0 },
	{ "at", KEY_AT, "TIME", 0, "cut: time of the cut by the hosts' wall clocks, in ns since 1970", 0 },
	{ "servers", KEY_SERVERS, "N", 0, "Servers of the cluster, instead of what the files say", 0 },
	{ "b", 'b', "N", 0, "How many servers may lie, instead of what the files say", 0 },
	{ "m", KEY_M, "M", 0, "Grants that win a lock with protocol = sigma, instead of what the files say", 0 },
	{ "rho", KEY_RHO, "PPM", 0, "Bound on the error of clock rates, instead of what the files say", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "COMMAND [FILE...]",
		.doc = "Judge, by the files that 'bftmutexctl trace record' wrote on the hosts, whether two "
		       "clients held a lock at once.\v"
		       "Commands that judge:\n"
		       "  two-holders      two clients held a lock at once: no;\n"
		       "                   no, if clocks keep rho; possibly; definitely\n"
		       "  waited-but-free  a client waits for a lock that enough servers have free\n"
		       "  deadlock         clients wait for each other in a circle\n"
		       "  ghost            enough servers grant an attempt that is over\n"
		       "Commands that print:\n"
		       "  cut --at TIME    holders, grants, queues, datagrams under way at a time\n"
		       "  why HOST:N       the chain of messages that led to an event\n"
		       "  order            all events, in an order in which they can have happened\n"
		       "  draw             a space-time diagram, as SVG\n\n"
		       "Exit status: 0 when the verdict is no, or something was printed; 1 when two-holders "
		       "says possibly or definitely, or another verdict is true at the end of the files; 64 "
		       "wrong usage; 65 a file is wrong; 66 a file cannot be read.",
	};
	const char *command = NULL;
	u32 i;
	int r;

	setlocale(LC_ALL, "");
	argp_err_exit_status = EX_USAGE;
	bftm_output_watch();
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	bftm_output_trust();
	for (i = 0; args.words && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(args.word[0], commands[i]))
			command = commands[i];
	if (!command)
		errx(EX_USAGE, "%s%s%s: a command must be two-holders, waited-but-free, deadlock, ghost, cut, why, order or draw",
		     args.words ? "'" : "", args.words ? args.word[0] : "none given", args.words ? "'" : "");
	r = run_command(command);
	if (fflush(stdout) || ferror(stdout))
		err(EX_IOERR, "standard output");
	trace_free(trace);
	return r;
}
