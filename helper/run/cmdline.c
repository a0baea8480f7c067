// SPDX-License-Identifier: GPL-2.0
/* The command line of bftmutex(1): options of flock(1), and options for leases. */
#include "run/cmdline.h"
#include "loop/descriptors.h"
#include "text/mode.h"
#include "text/shown.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

/* The lock was lost while the command ran: a number that <sysexits.h> does not use. */
#define EX_LOST 79
/* The lock was lost, and something that the command started goes on. */
#define EX_SURVIVED 80

const char *argp_program_version = "bftmutex " BFTM_VERSION;

enum {
	KEY_AND = 0x100,
	KEY_CONVERT,
	KEY_FD,
	KEY_FDSTORE,
	KEY_FENCE,
	KEY_GRACE,
	KEY_HASH_NAME,
	KEY_HELD,
	KEY_LOST_CODE,
	KEY_MARGIN,
	KEY_MODE,
	KEY_NO_LEASE,
	KEY_NO_RENEW,
	KEY_NOTIFY,
	KEY_PRINT,
	KEY_SET_VALUE,
	KEY_SURVIVOR_CODE,
	KEY_VALUE,
	KEY_VERBOSE,
	KEY_WAY,
};

static const struct argp_option argp_options[] = {
	{ "nonblock", 'n', NULL, 0, "Fail at once when another holder is in the way", 1 },
	{ "nonblocking", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "nb", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "wait", 'w', "SEC", 0, "Fail when the lock is not held after SEC seconds; 0 means -n", 1 },
	{ "timeout", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "conflict-exit-code", 'E', "CODE", 0, "Exit status when -n or -w fails (1)", 1 },
	{ "exclusive", 'x', NULL, 0, "Hold the lock alone: --mode EX, the default", 1 },
	{ NULL, 'e', NULL, OPTION_ALIAS, NULL, 1 },
	{ "shared", 's', NULL, 0, "Share the lock with others that use -s: --mode PR", 1 },
	{ "mode", KEY_MODE, "MODE", 0, "Ask for mode CR, CW, PR, PW or EX, named as in a DLM", 1 },
	{ "way", KEY_WAY, "WAY", 0, "How to wait for other holders: queue (the "
	  "default, unless configured otherwise), backoff or no-backoff", 1 },
	{ "lease", 'l', "DUR", 0, "Length of the lease, such as 5s or 500ms (10s unless configured)", 2 },
	{ "no-renew", KEY_NO_RENEW, NULL, 0, "Do not renew the lease: the lock is lost at its end", 2 },
	{ "no-lease", KEY_NO_LEASE, NULL, 0, "Hold the lock until it is given back, or this host is evicted", 2 },
	{ "fence", KEY_FENCE, NULL, 0, "Get a fencing token; the command finds it in BFTMUTEX_TOKEN", 2 },
	{ "value", KEY_VALUE, NULL, 0, "Give the command the value that the last writer left, in "
	  "BFTMUTEX_VALUE; it writes the next one to BFTMUTEX_VALUE_FD. With --fd: print the value", 2 },
	{ "hash-name", KEY_HASH_NAME, NULL, 0, "NAME may be long: its SHA-256 is the name of the lock", 2 },
	{ "and", KEY_AND, "NAME", 0, "Hold the lock NAME too, up to 16 times; locks are taken in the "
	  "order of the bytes of their names, and the loss of one ends the command", 2 },
	{ "cluster", 'C', "CLUSTER", 0, "Cluster of bftmutex.conf(5) that has the lock", 2 },
	{ "command", 'c', "SHELL", 0, "Run a line of the shell as the command", 3 },
	{ "close", 'o', NULL, 0, "Do not let the command inherit the lock", 3 },
	{ "no-fork", 'F', NULL, 0, "Become the command, so that no process watches the lease", 3 },
	{ "grace", KEY_GRACE, "SEC", 0, "Time from SIGTERM to SIGKILL when the lock is lost (5)", 3 },
	{ "margin", KEY_MARGIN, "DUR", 0, "End the command this long before the end of the lease", 3 },
	{ "lost-exit-code", KEY_LOST_CODE, "CODE", 0, "Exit status when the lock is lost (79)", 3 },
	{ "survivor-exit-code", KEY_SURVIVOR_CODE, "CODE", 0,
	  "Exit status when the lock is lost and not all of the command could be ended (80)", 3 },
	{ "notify", KEY_NOTIFY, NULL, 0, "Tell the service manager READY=1 when the lock is held", 3 },
	{ "fdstore", KEY_FDSTORE, NULL, 0, "Do as --notify, and let the service manager keep the lock too", 3 },
	{ "fd", KEY_FD, "N", 0, "Lock the open descriptor N of /dev/bftmutex", 4 },
	{ "unlock", 'u', NULL, 0, "Give the lock of --fd back", 4 },
	{ "held", KEY_HELD, NULL, 0, "Tell by the exit status whether the lock of --fd is held", 4 },
	{ "convert", KEY_CONVERT, NULL, 0, "Hold the lock of --fd in another mode: -s, -x or --mode", 4 },
	{ "set-value", KEY_SET_VALUE, "HEX", 0, "Leave a value, as hexadecimal digits, with the lock of --fd", 4 },
	{ "print", KEY_PRINT, NULL, 0, "Print deadline, mode and token of --fd, as NAME=VALUE", 4 },
	{ "verbose", KEY_VERBOSE, NULL, 0, "Tell how long the lock took, or why it failed", 5 },
	{ NULL, 'h', NULL, 0, "Give this help list", -1 },
	{ 0 },
};

/* flock(1) accepts ".5", so this does as well. */
static u64 parse_time(struct argp_state *state, const char *option, const char *text)
{
	char buf[64];
	u64 ns = 0;

	if (snprintf(buf, sizeof(buf), "%s%s", *text == '.' ? "0" : "", text) >=
	    (int)sizeof(buf) || bftm_parse_duration(buf, &ns) < 0)
		argp_error(state, "%s '%s': must be a time such as 10, 1.5, 5s or 500ms, "
			   "584 years at most", option, text);
	return ns;
}

static int parse_int(struct argp_state *state, const char *option, const char *text, int max)
{
	u64 value = 0;

	if (bftm_parse_number(text, &value) < 0 || value > (u64)max)
		argp_error(state, "%s '%s': not a number from 0 to %d", option, text, max);
	return (int)value;
}

static void parse_lease(struct argp_state *state, struct options *o, const char *text)
{
	o->lock.lease_ns = parse_time(state, "--lease", text);
	if (o->lock.lease_ns < BFTM_LEASE_MIN_NS || o->lock.lease_ns > BFTM_LEASE_MAX_NS)
		argp_error(state, "--lease '%s': out of range, 1ms to 1h is allowed", text);
	o->lease = text;
}

static void parse_margin(struct argp_state *state, struct options *o, const char *text)
{
	o->margin_ns = parse_time(state, "--margin", text);
	if (!o->margin_ns || o->margin_ns > BFTM_LEASE_MAX_NS)
		argp_error(state, "--margin '%s': out of range, more than 0 to 1h is allowed",
			   text);
	o->margin = text;
}

static void parse_way(struct argp_state *state, struct options *o, const char *text)
{
	if (!strcmp(text, "queue"))
		o->lock.way = BFTM_WAY_QUEUE;
	else if (!strcmp(text, "backoff"))
		o->lock.way = BFTM_WAY_BACKOFF;
	else if (!strcmp(text, "no-backoff"))
		o->lock.way = BFTM_WAY_NO_BACKOFF;
	else
		argp_error(state, "--way '%s': queue, backoff or no-backoff is allowed", text);
}

static void set_mode(struct options *o, u32 mode)
{
	o->mode = bftm_mode_name(mode);
	o->lock.flags &= ~BFTMUTEX_MODE(7);
	o->lock.flags |= BFTMUTEX_MODE(mode);
}

static void parse_mode(struct argp_state *state, struct options *o, const char *text)
{
	u32 mode = BFTM_LOCK_EX;

	if (!strcasecmp(text, bftm_mode_name(BFTM_LOCK_NL)))
		argp_error(state, "--mode %s: nothing is held in this mode, so nothing is to be asked for; --fd N --unlock gives a lock back", text);
	if (bftm_mode_parse(text, &mode) < 0)
		argp_error(state, "--mode '%s': CR, CW, PR, PW or EX is allowed", text);
	set_mode(o, mode);
}

static void parse_value(struct argp_state *state, struct options *o, const char *text)
{
	if (bftm_hex_parse(text, &o->hex) < 0)
		argp_error(state, "--set-value '%s': must be two hexadecimal digits a byte, 0 to %d bytes",
			   text, BFTM_VALUE_MAX);
	o->set_value = text;
}

static void parse_cluster(struct argp_state *state, struct options *o, const char *text)
{
	if (strlen(text) > BFTM_CLUSTER_MAX)
		argp_error(state, "--cluster '%s': %zu bytes, at most %d are allowed",
			   text, strlen(text), BFTM_CLUSTER_MAX);
	o->lock.cluster = text;
}

static void set_shell_command(struct argp_state *state, struct options *o, char *line)
{
	char *shell = getenv("SHELL");

	if (o->command)
		argp_error(state, "--command '%s': there is a command already", line);
	o->shell[0] = shell && *shell ? shell : "/bin/sh";
	o->shell[1] = "-c";
	o->shell[2] = line;
	o->command = o->shell;
}

static const char *cmdline_show(struct argp_state *state, const char *name)
{
	size_t size = BFTM_SHOWN_ROOM(strlen(name));
	char *text = malloc(size);

	if (!text)
		argp_failure(state, EX_OSERR, 0, "no memory");
	return bftm_shown(name, strlen(name), text, size);
}

static void add_and(struct argp_state *state, struct options *o, const char *name)
{
	if (o->and_count == BFTM_AND_MAX)
		argp_error(state, "--and '%s': at most %d locks beside NAME are allowed",
			   cmdline_show(state, name), BFTM_AND_MAX);
	o->and[o->and_count].name = name;
	o->and[o->and_count++].shown = cmdline_show(state, name);
}

/* This word is NAME, and the words behind it are the command with its own options. */
static void parse_rest(struct argp_state *state, struct options *o, char *name)
{
	char **rest = state->argv + state->next;
	int count = state->argc - state->next;

	o->name = name;
	o->shown = cmdline_show(state, name);
	state->next = state->argc;
	if (!count)
		return;
	if (!strcmp(rest[0], "-c") || !strcmp(rest[0], "--command")) {
		if (count != 2)
			argp_error(state, "%s requires exactly one command line, not %d arguments",
				   rest[0], count - 1);
		set_shell_command(state, o, rest[1]);
	} else if (o->command) {
		argp_error(state, "'%s': there is a command already by --command", rest[0]);
	} else {
		o->command = rest;
	}
}

/* "flock -u 9" */
static void take_descriptor(struct argp_state *state, struct options *o)
{
	if (!o->unlock || o->fd >= 0 || !options_is_number(o->name))
		return;
	o->fd = parse_int(state, "--unlock", o->name, INT_MAX);
	o->name = NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'n':
		o->nonblock = true;
		break;
	case 'w':
		o->lock.timeout_ns = parse_time(state, "--wait", arg);
		o->wait = arg;
		break;
	case 'E':
		o->conflict_code = parse_int(state, "--conflict-exit-code", arg, 255);
		break;
	case 'x':
	case 'e':
		set_mode(o, BFTM_LOCK_EX);
		break;
	case 's':
		set_mode(o, BFTM_LOCK_PR);
		break;
	case KEY_MODE:
		parse_mode(state, o, arg);
		break;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		break;
	case KEY_AND:
		add_and(state, o, arg);
		break;
	case KEY_HASH_NAME:
		o->hash_name = true;
		break;
	case KEY_HELD:
		o->held = true;
		break;
	case KEY_CONVERT:
		o->convert = true;
		break;
	case KEY_PRINT:
		o->print = true;
		break;
	case KEY_VALUE:
		o->value = true;
		o->lock.flags |= BFTM_VALUE;
		break;
	case KEY_SET_VALUE:
		parse_value(state, o, arg);
		break;
	case KEY_WAY:
		parse_way(state, o, arg);
		break;
	case 'l':
		parse_lease(state, o, arg);
		break;
	case KEY_NO_RENEW:
		o->lock.flags &= ~(u32)BFTM_RENEW;
		break;
	case KEY_NO_LEASE:
		o->no_lease = true;
		break;
	case KEY_FENCE:
		o->lock.flags |= BFTM_FENCE;
		break;
	case 'C':
		parse_cluster(state, o, arg);
		break;
	case 'c':
		set_shell_command(state, o, arg);
		break;
	case 'o':
		o->close_fd = true;
		break;
	case 'F':
		o->no_fork = true;
		break;
	case KEY_GRACE:
		o->grace_ns = parse_time(state, "--grace", arg);
		break;
	case KEY_FDSTORE:
		o->fdstore = true;
		/* fall through */
	case KEY_NOTIFY:
		o->notify = true;
		break;
	case KEY_MARGIN:
		parse_margin(state, o, arg);
		break;
	case KEY_SURVIVOR_CODE:
		o->survivor_code = parse_int(state, "--survivor-exit-code", arg, 255);
		break;
	case KEY_LOST_CODE:
		o->lost_code = parse_int(state, "--lost-exit-code", arg, 255);
		break;
	case KEY_FD:
		o->fd = parse_int(state, "--fd", arg, INT_MAX);
		break;
	case 'u':
		o->unlock = true;
		break;
	case KEY_VERBOSE:
		o->verbose = true;
		break;
	case ARGP_KEY_ARG:
		parse_rest(state, o, arg);
		break;
	case ARGP_KEY_END:
		take_descriptor(state, o);
		options_check(state, o);
		if (o->no_lease)
			o->lock.flags ^= BFTM_RENEW | BFTM_NO_LEASE;
		if (o->hash_name)
			options_hash(o);
		if (o->nonblock || (o->wait && !o->lock.timeout_ns)) {
			o->lock.flags |= BFTM_TRY;
			o->lock.timeout_ns = 0;
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "NAME COMMAND [ARG...]\nNAME -c SHELL\n--fd N NAME\n--fd N --convert\n--fd N -u\n"
		    "--fd N --held\n--fd N --value\n--fd N --set-value HEX",
	.doc = "Run a command under a lock of a cluster whose servers may lie.\v"
	       "Exit status: that of COMMAND; 1 (or -E) when somebody else has the lock; "
	       "79 (or --lost-exit-code) when the lock was lost while COMMAND ran; "
	       "80 (or --survivor-exit-code) when COMMAND could not be ended then; "
	       "else one of <sysexits.h>. See bftmutex(1).",
};

void cmdline_parse(int argc, char **argv, struct options *ret)
{
	error_t error;

	ret->fd = -1;
	ret->conflict_code = EXIT_FAILURE;
	ret->lost_code = EX_LOST;
	ret->survivor_code = EX_SURVIVED;
	ret->grace_ns = 5 * BFTM_NS_PER_SEC;
	ret->lock.flags = BFTM_RENEW;
	set_mode(ret, BFTM_LOCK_EX);
	argp_err_exit_status = EX_USAGE;
	bftm_output_watch();
	error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, ret);
	bftm_output_trust();
	/*
	 * Mistakes in the command line end the program; an error here means that memory is short.
	 */
	if (error) {
		fprintf(stderr, "bftmutex: the command line cannot be read: %s\n", strerror(error));
		exit(EX_OSERR);
	}
}
