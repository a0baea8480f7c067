// SPDX-License-Identifier: GPL-2.0
/* The command line of bftmutex-liar. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "liar.h"
#include "order_strategies.h"
#include "strategies.h"

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

const char *argp_program_version = "bftmutex-liar " BFTM_VERSION;

/* A bit more than the resend of a helper with the default δ, which is 4δ. */
#define DELAY_DEFAULT_MS	50
#define DELAY_MAX_MS		3600000u
#define SWITCH_MAX_SEC		86400u

enum {
	KEY_DELAY = 0x100,
	KEY_SEED,
	KEY_LEASE_MAX,
	KEY_RHO,
	KEY_SWITCH,
	KEY_STATS,
	KEY_NO_QUARANTINE,
	KEY_WAITERS,
	KEY_FLOOR,
	KEY_ORDER,
};

static const struct argp_option argp_options[] = {
	{ "key", 'k', "FILE", 0, "Key file of the server to be: its number and master key", 1 },
	{ "port", 'p', "PORT", 0, "UDP port (7373)", 1 },
	{ "lease-max", KEY_LEASE_MAX, "DUR", 0, "Longest lease granted, such as 5s (30s)", 1 },
	{ "rho", KEY_RHO, "PPM", 0, "Bound on the rate of clocks, 1 to 100000 (2000)", 1 },
	{ "no-quarantine", KEY_NO_QUARANTINE, "R", OPTION_ARG_OPTIONAL,
	  "Grant at once after the start; and say that R servers do, 0 to 30 (0)", 1 },
	{ "max-waiters", KEY_WAITERS, "N", 0, "Clients that may wait for one lock (1024)", 1 },
	{ "token-floor", KEY_FLOOR, "N", 0,
	  "No higher fencing token was stamped before, and no object was; without it none is "
	  "stamped until told, and objects are recovered", 1 },
	{ "strategy", 's', "NAME[,NAME...]", 0, "Ways to lie about locks, see below", 2 },
	{ "order", KEY_ORDER, "NAME[,NAME...]", 0,
	  "Ways to lie about objects, see below (honest)", 2 },
	{ "switch", KEY_SWITCH, "SEC", 0,
	  "Use the strategies in turn, each for SEC seconds; else each request draws one", 2 },
	{ "delay", KEY_DELAY, "MS", 0, "How late the late strategy is, in ms (50)", 2 },
	{ "seed", KEY_SEED, "N", 0, "Seed of random choices (1)", 2 },
	{ "stats", KEY_STATS, "FILE", 0, "Where SIGUSR1 and the end write counters (stderr)", 3 },
	{ "verbose", 'v', NULL, 0, "Print each request and its honest answer on stderr", 3 },
	{ 0 },
};

struct parse {
	struct liar_options *opt;
	const char *names;
};

static u64 parse_number(struct argp_state *state, const char *option, const char *text, u64 min,
			u64 max)
{
	u64 value = 0;

	if (bftm_parse_number(text, &value) < 0 || value < min || value > max)
		argp_error(state, "%s '%s': not a number from %llu to %llu", option, text,
			   (unsigned long long)min, (unsigned long long)max);
	return value;
}

static u64 parse_lease(struct argp_state *state, const char *text)
{
	u64 ns = 0;

	if (bftm_parse_duration(text, &ns) < 0)
		argp_error(state, "--lease-max '%s': not a time such as 10, 1.5s or 500ms", text);
	if (ns < BFTM_LEASE_MIN_NS || ns > BFTM_LEASE_MAX_NS)
		argp_error(state, "--lease-max '%s': out of range, 1ms to 1h is allowed", text);
	return ns;
}

static const struct strategy *find_strategy(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < STRATEGIES; i++)
		if (strlen(strategies[i]->name) == len && !memcmp(strategies[i]->name, name, len))
			return strategies[i];
	return NULL;
}

static void parse_strategies(struct argp_state *state, struct parse *p, const char *text)
{
	struct liar_options *o = p->opt;
	const char *name = text;
	size_t len;

	p->names = text;
	for (o->strategies = 0;; name += len + 1) {
		len = strcspn(name, ",");
		if (o->strategies == LIAR_STRATEGIES_MAX)
			argp_error(state, "--strategy '%s': at most %d names are allowed", text,
				   LIAR_STRATEGIES_MAX);
		o->strategy[o->strategies] = find_strategy(name, len);
		if (!o->strategy[o->strategies])
			argp_error(state, "--strategy '%.*s': not one of those that --help lists",
				   (int)len, name);
		o->strategies++;
		if (!name[len])
			return;
	}
}

static const struct order_strategy *find_order(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ORDER_STRATEGIES; i++)
		if (strlen(order_strategies[i]->name) == len &&
		    !memcmp(order_strategies[i]->name, name, len))
			return order_strategies[i];
	for (i = 0; i < ORDER_LISTERS; i++)
		if (strlen(order_listers[i]->name) == len &&
		    !memcmp(order_listers[i]->name, name, len))
			return order_listers[i];
	return NULL;
}

static void parse_orders(struct argp_state *state, struct liar_options *o, const char *text)
{
	const char *name = text;
	size_t len;

	for (o->orders = 0;; name += len + 1) {
		len = strcspn(name, ",");
		if (o->orders == LIAR_STRATEGIES_MAX)
			argp_error(state, "--order '%s': at most %d names are allowed", text,
				   LIAR_STRATEGIES_MAX);
		o->order[o->orders] = find_order(name, len);
		if (!o->order[o->orders])
			argp_error(state, "--order '%.*s': not one of those that --help lists",
				   (int)len, name);
		o->orders++;
		if (!name[len])
			return;
	}
}

static void check(struct argp_state *state, const struct parse *p)
{
	if (!p->opt->key)
		argp_error(state, "--key FILE is needed");
	if (!p->opt->strategies)
		argp_error(state, "--strategy NAME is needed");
	if (p->opt->switch_ns && p->opt->strategies < 2 && p->opt->orders < 2)
		argp_error(state, "--switch needs more than one --strategy or --order, not '%s' "
			   "alone", p->names);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	struct liar_options *o = p->opt;

	switch (key) {
	case 'k':
		o->key = arg;
		break;
	case 's':
		parse_strategies(state, p, arg);
		break;
	case KEY_ORDER:
		parse_orders(state, o, arg);
		break;
	case 'p':
		o->port = (u16)parse_number(state, "--port", arg, 1, 65535);
		break;
	case 'v':
		o->verbose = true;
		break;
	case KEY_DELAY:
		o->delay_ns = BFTM_NS_PER_MS * parse_number(state, "--delay", arg, 0, DELAY_MAX_MS);
		break;
	case KEY_SEED:
		o->seed = parse_number(state, "--seed", arg, 0, UINT64_MAX);
		break;
	case KEY_LEASE_MAX:
		o->lease_max_ns = parse_lease(state, arg);
		break;
	case KEY_RHO:
		o->rho_ppm = (u32)parse_number(state, "--rho", arg, BFTM_RHO_MIN_PPM,
					       BFTM_RHO_MAX_PPM);
		break;
	case KEY_SWITCH:
		o->switch_ns = BFTM_NS_PER_SEC * parse_number(state, "--switch", arg, 1,
							      SWITCH_MAX_SEC);
		break;
	case KEY_STATS:
		o->stats = arg;
		break;
	case KEY_WAITERS:
		o->waiters_max = (u32)parse_number(state, "--max-waiters", arg, BFTM_WAITERS_MIN,
						   BFTM_WAITERS_MAX);
		break;
	case KEY_FLOOR:
		o->token_floor = parse_number(state, "--token-floor", arg, 0,
					      BFTM_TOKEN_FLOOR_MAX);
		break;
	case KEY_NO_QUARANTINE:
		o->no_quarantine = true;
		o->spared = arg ? (u8)parse_number(state, "--no-quarantine", arg, 0, BFTM_SPARED_MAX) : 0;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': no argument is expected", arg);
		break;
	case ARGP_KEY_END:
		check(state, p);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The list of strategies, after the options. */
static char *add_strategies(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t len = 0, i;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&all, &len);
	if (!f)
		return NULL;
	fputs("Strategies:\n", f);
	for (i = 0; i < STRATEGIES; i++)
		fprintf(f, "  %-15s %s\n", strategies[i]->name, strategies[i]->what);
	fputs("Strategies of the ordering protocol:\n", f);
	for (i = 0; i < ORDER_STRATEGIES; i++)
		fprintf(f, "  %-15s %s\n", order_strategies[i]->name, order_strategies[i]->what);
	for (i = 0; i < ORDER_LISTERS; i++)
		fprintf(f, "  %-15s %s\n", order_listers[i]->name, order_listers[i]->what);
	fclose(f);
	return all;	/* argp frees it */
}

const char *liar_cmdline(int argc, char **argv, struct liar_options *ret)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "Be a server that lies: the protocol's own code, and a strategy "
		       "between it and the wire.\v",
		.help_filter = add_strategies,
	};
	struct parse p = { .opt = ret };

	*ret = (struct liar_options){
		.port = BFTM_PORT_DEFAULT,
		.delay_ns = DELAY_DEFAULT_MS * BFTM_NS_PER_MS,
		.seed = 1,
		.lease_max_ns = BFTM_LEASE_MAX_DEFAULT_NS,
		.rho_ppm = BFTM_RHO_DEFAULT_PPM,
		.waiters_max = BFTM_WAITERS_DEFAULT,
		.token_floor = BFTM_TOKEN_UNKNOWN,
		.order = { &order_honest },
		.orders = 1,
	};
	argp_parse(&argp, argc, argv, 0, NULL, &p);
	return p.names;
}
