// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "sim.h"

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

const char *argp_program_version = "bftmutex-sim " BFTM_VERSION;

enum {
	KEY_RUNS = 0x100,
	KEY_SECONDS,
	KEY_PROTOCOL,
	KEY_ASYNC,
	KEY_LEASE,
	KEY_RHO,
	KEY_LITERAL,
	KEY_WITHOUT,
	KEY_WITH,
	KEY_LENGTH,
	KEY_SCALE,
	KEY_DELAYS,
	KEY_GOLDEN,
	KEY_WRITE,
	KEY_WHOLE,
	KEY_JSON,
	KEY_COMPARE,
	KEY_CHECK,
	KEY_LIARS,
	KEY_M, KEY_FORGET,
	KEY_SKEW,
	KEY_BACKOFF,
	KEY_RENEW,
	KEY_FENCE,
	KEY_MODES, KEY_VALUES, KEY_LEASELESS,
	KEY_FAIR,
	KEY_SILENT,
	KEY_ASK,
	KEY_STEPS,
};

static const struct argp_option argp_options[] = {
	{ "seed", 's', "S", 0, "The (first) scenario; 1", 1 },
	{ "runs", KEY_RUNS, "N", 0, "Run the scenarios S to S + N - 1", 1 },
	{ "seconds", KEY_SECONDS, "T", 0, "Run as many scenarios as fit into T seconds", 1 },
	{ "jobs", 'j', "J", 0, "Processes that run scenarios; 1", 1 },
	{ "trace", 't', NULL, 0, "Print the whole story of one scenario", 2 },
	{ "json", KEY_JSON, NULL, 0,
	  "Print what the hosts of one scenario would record, for bftmutex-trace", 2 },
	{ "compare", KEY_COMPARE, NULL, 0,
	  "Print messages, delays and throughput of this and other protocols; no other option", 2 },
	{ "whole", KEY_WHOLE, NULL, 0, "Do not make a failing scenario smaller", 2 },
	{ "golden", KEY_GOLDEN, "DIR", 0, "Compare scripted scenarios with their stories", 2 },
	{ "write", KEY_WRITE, NULL, 0, "With --golden: write the stories anew", 2 },
	{ "protocol", KEY_PROTOCOL, "NAME", 0, "ours, sigma, paper, order, or one of selftests/core/reference; ours", 3 },
	{ "async", KEY_ASYNC, NULL, 0, "Also networks that the protocol is not made for", 3 },
	{ "literal", KEY_LITERAL, NULL, 0,
	  "The first q answers decide, later than 2δ is too late", 3 },
	{ "servers", 'n', "N", 0, "Number of servers; drawn by the seed", 4 },
	{ "b", 'b', "N", 0, "Liars that clients reckon with", 4 },
	{ "liars", KEY_LIARS, "N", 0, "Servers that lie; more than b break what they can", 4 },
	{ "m", KEY_M, "M", 0, "With --protocol sigma: grants that win a lock", 4 },
	{ "forget", KEY_FORGET, "K", 0,
	  "… and how many servers restart without a quarantine within one; more than r = 2m - n - b - 1 break what they can", 4 },
	{ "clients", 'c', "N", 0, "Number of clients; drawn by the seed", 4 },
	{ "locks", 'l', "N", 0, "Number of locks; drawn by the seed", 4 },
	{ "lease", KEY_LEASE, "MS", 0, "Longest lease (Δmax) in ms", 4 },
	{ "rho", KEY_RHO, "PPM", 0, "Bound on the rate error of clocks (ρ)", 4 },
	{ "skew", KEY_SKEW, "PPM", 0, "How far clocks are really off, instead of ρ", 4 },
	{ "backoff", KEY_BACKOFF, "PERCENT", 0, "Share of waiting requests that back off; the others queue", 4 },
	{ "renew", KEY_RENEW, "PERCENT", 0, "Share of held locks that are renewed", 4 },
	{ "fence", KEY_FENCE, "PERCENT", 0, "Share of locks with a fencing token", 4 },
	{ "modes", KEY_MODES, "PERCENT", 0, "Share of locks in any mode, with conversions", 4 },
	{ "values", KEY_VALUES, "PERCENT", 0, "Share of locks with the value that holders leave", 4 },
	{ "leaseless", KEY_LEASELESS, "PERCENT", 0, "Share of locks that are held without a lease", 4 },
	{ "ask", KEY_ASK, "WHOM", 0, "Servers that clients ask first: all, first, auto or mixed", 4 },
	{ "length", KEY_LENGTH, "PERCENT", 0, "Length of the time with faults, of the drawn one", 4 },
	{ "without", KEY_WITHOUT, "FAULT,...", 0, "Faults that are off", 4 },
	{ "with", KEY_WITH, "FAULT,...", 0, "Faults that are on", 4 },
	{ "delays", KEY_DELAYS, "FILE", 0, "Recorded delays, one number a line", 4 },
	{ "check", KEY_CHECK, "RULE", 0,
	  "Check only this rule: exclusion, once, deadline, release, liveness, tokens, fairness, "
	  "held or synced; with --protocol order: chain, response, ranks, answered or kept", 4 },
	{ "fair", KEY_FAIR, NULL, 0, "Print how often each client gets the one lock for which all contend; no faults", 4 },
	{ "silent", KEY_SILENT, NULL, 0,
	  "One server falls silent, and there are no other faults: holders that renew keep their lock", 4 },
	{ "steps", KEY_STEPS, NULL, 0,
	  "Print what acquires cost that nobody is in the way of; --silent: b servers are silent", 4 },
	{ "scale", KEY_SCALE, NULL, 0, "One cluster with 10000 clients and 31 servers", 4 },
	{ 0 },
};

static u64 parse_number(struct argp_state *state, const char *arg)
{
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(arg, &end, 0);
	if (errno || *end || end == arg || *arg == '-')
		argp_error(state, "'%s': not a number", arg);
	return value;
}

static u32 faults(struct argp_state *state, const char *arg)
{
	u32 mask = 0, i;
	size_t len;

	for (;; arg += len + 1) {
		len = strcspn(arg, ",");
		for (i = 0; i < FAULTS; i++)
			if (strlen(fault_names[i]) == len && !memcmp(fault_names[i], arg, len))
				break;
		if (len == 3 && !memcmp(arg, "all", 3))
			mask = FAULTS_DRAWN;
		else if (i == FAULTS)
			argp_error(state, "'%.*s': no such fault", (int)len, arg);
		else
			mask |= 1u << i;
		if (!arg[len])
			return mask;
	}
}

static u32 parse_ask(struct argp_state *state, const char *arg)
{
	u32 ask = 0;

	while (ask < ASKS && strcmp(arg, ask_names[ask]))
		ask++;
	if (ask == ASKS)
		argp_error(state, "--ask '%s': must be all, first, auto or mixed", arg);
	return ask;
}

static bool parse_wish(int key, char *arg, struct argp_state *state, struct wish *w)
{
	switch (key) {
	case 'n':
		w->servers = (u32)parse_number(state, arg);
		break;
	case KEY_LIARS:
		w->liars = (u32)parse_number(state, arg);
		break;
	case 'b':
		w->b = (u32)parse_number(state, arg);
		break;
	case KEY_M:
		w->m = (u32)parse_number(state, arg);
		break;
	case KEY_FORGET:
		w->forget = (u32)parse_number(state, arg);
		break;
	case KEY_SKEW:
		w->skew_ppm = (u32)parse_number(state, arg);
		break;
	case KEY_BACKOFF:
		w->backoff_pct = (u32)parse_number(state, arg);
		break;
	case KEY_RENEW:
		w->renew_pct = (u32)parse_number(state, arg);
		break;
	case KEY_FENCE:
		w->fence_pct = (u32)parse_number(state, arg);
		break;
	case KEY_MODES:
		w->modes_pct = (u32)parse_number(state, arg);
		break;
	case KEY_VALUES:
		w->values_pct = (u32)parse_number(state, arg);
		break;
	case KEY_LEASELESS:
		w->leaseless_pct = (u32)parse_number(state, arg);
		break;
	case KEY_ASK:
		w->ask = parse_ask(state, arg);
		break;
	case 'c':
		w->clients = (u32)parse_number(state, arg);
		break;
	case 'l':
		w->locks = (u32)parse_number(state, arg);
		break;
	case KEY_LEASE:
		w->lease_ns = parse_number(state, arg) * BFTM_NS_PER_MS;
		break;
	case KEY_RHO:
		w->rho_ppm = (u32)parse_number(state, arg);
		break;
	case KEY_LENGTH:
		w->length_pct = (u32)parse_number(state, arg);
		break;
	case KEY_WITHOUT:
		w->without |= faults(state, arg);
		break;
	case KEY_WITH:
		w->with |= faults(state, arg);
		break;
	case KEY_LITERAL:
		w->literal = true;
		break;
	case KEY_CHECK:
		if (!check_exists(arg))
			argp_error(state, "--check '%s': there is no such rule", arg);
		w->check = arg;
		break;
	case KEY_SCALE:
		w->scale = true;
		break;
	case KEY_FAIR:
		w->fair = true;
		break;
	case KEY_STEPS:
		w->steps = true;
		break;
	case KEY_SILENT:
		w->silent = true;
		break;
	case KEY_DELAYS:
		w->recorded = recorded_load(arg);
		if (!w->recorded)
			argp_error(state, "--delays '%s' cannot be used", arg);
		break;
	default:
		return false;
	}
	return true;
}

static void check(struct argp_state *state, struct options *o, bool async)
{
	const char *wrong = plan_check(&o->wish);

	o->wish.sync = o->wish.protocol->needs_sync && !async;
	if (wrong)
		argp_error(state, "%s", wrong);
	if (o->json && (o->batch || o->trace || o->wish.protocol->orders))
		argp_error(state, "--json prints one scenario of locks, without --runs, --seconds, --trace");
	if (!o->jobs || o->jobs > 256)
		argp_error(state, "--jobs: 1 to 256");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static bool async;
	struct options *o = state->input;

	switch (key) {
	case 's':
		o->seed = parse_number(state, arg);
		break;
	case 'j':
		o->jobs = (u32)parse_number(state, arg);
		break;
	case 't':
		o->trace = true;
		break;
	case KEY_RUNS:
		o->runs = parse_number(state, arg);
		o->batch = true;
		break;
	case KEY_SECONDS:
		o->seconds = parse_number(state, arg);
		o->batch = true;
		break;
	case KEY_JSON:
		o->json = true;
		break;
	case KEY_COMPARE:
		o->compare = true;
		break;
	case KEY_WHOLE:
		o->shrink = false;
		break;
	case KEY_GOLDEN:
		o->golden = arg;
		break;
	case KEY_WRITE:
		o->golden_write = true;
		break;
	case KEY_ASYNC:
		async = true;
		break;
	case KEY_PROTOCOL:
		o->wish.protocol = protocol_find(arg);
		if (!o->wish.protocol)
			argp_error(state, "--protocol '%s': must be ours, sigma, paper, order, or one of "
				   "selftests/core/reference", arg);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': no argument is expected", arg);
		break;
	case ARGP_KEY_END:
		check(state, o, async);
		break;
	default:
		return parse_wish(key, arg, state, &o->wish) ? 0 : ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void cmdline_parse(int argc, char **argv, struct options *ret)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "Simulate clusters of the protocol's own code in virtual time, with "
		       "everything that can go wrong, and check that no rule is broken.",
	};

	*ret = (struct options){
		.wish = {
			.protocol = &protocol_ours, .servers = AS_DRAWN, .b = AS_DRAWN,
			.skew_ppm = AS_DRAWN, .liars = AS_DRAWN,
			.clients = AS_DRAWN, .locks = AS_DRAWN, .rho_ppm = AS_DRAWN,
			.backoff_pct = AS_DRAWN, .renew_pct = AS_DRAWN, .fence_pct = AS_DRAWN, .modes_pct = AS_DRAWN,
			.values_pct = AS_DRAWN, .leaseless_pct = AS_DRAWN, .ask = AS_DRAWN,
			.m = AS_DRAWN, .forget = AS_DRAWN,
			.length_pct = 100,
		},
		.seed = 1, .runs = ~0ull, .jobs = 1, .shrink = true, .program = argv[0],
	};
	argp_parse(&argp, argc, argv, 0, NULL, ret);
}
