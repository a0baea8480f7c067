// SPDX-License-Identifier: GPL-2.0
/* Options of bftmutexctl server start. */
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/start.h"

static const struct argp_option start_options[] = {
	{ "key", 'k', "FILE", 0, "The server's key file, made by keygen (required)", 0 },
	{ "id", 'i', "N", 0, "Number of the server, that of the key file", 0 },
	{ "cluster", 'C', "N", 0, "Number of the cluster, that of the key file", 0 },
	{ "port", 'p', "PORT", 0, "UDP port (7373)", 0 },
	{ "lease-max", 'l', "DUR", 0, "Longest lease that is granted; the quarantine is a little longer (30s)", 0 },
	{ "rho", 'r', "PPM", 0, "Bound on the rate error of clocks (2000)", 0 },
	{ "max-locks", 'L', "N", 0, "Most locks in the table (1048576)", 0 },
	{ "max-clients", 'c', "N", 0, "Most clients in the table (65536)", 0 },
	{ "max-waiters", 'w', "N", 0, "Most clients that wait for one lock (1024)", 0 },
	{ "max-holders", 'H', "N", 0, "Most clients that hold one lock at once (64)", 0 },
	{ "max-objects", 'o', "N", 0, "Most objects in the table (4096)", 0 },
	{ "max-state", 'S', "BYTES", 0, "Longest state of an object (65536)", 0 },
	{ "object-memory", 'm', "BYTES", 0, "Most memory of all objects (268435456)", 0 },
	{ "token-floor", 't', "N", 0, "Highest fencing token that the server may have accepted, or "
	  "'unknown' (0 at its first start on this host, unknown at later ones)", 0 },
	{ "no-quarantine", 'Q', "R", OPTION_ARG_OPTIONAL, "Keep no quarantine. At most R servers of the cluster "
	  "may restart so within one quarantine time; servers that lose power together all count (1)", 0 },
	{ "state", 's', "DIR", 0, "Folder where each start is noted (" CTL_STATE_DIR ")", 0 },
	{ "config", 'f', "FILE", 0, "Take the cluster's access rules, and values of this "
	  "server, from this file (" BFTM_CONF_PATH ", if that is there and describes the cluster)", 0 },
	{ "durability", 'd', "WORD", 0, "Whether a journal keeps objects over a restart: none, async or sync "
	  "(as configured, or none)", 0 },
	{ "journal", 'J', "FILE", 0, "The journal (as configured, or one in the state directory)", 0 },
	{ "trust-journal", 'T', NULL, 0, "Believe the journal, whatever happened since: for all servers at once, after all "
	  "lost their memory", 0 },
	{ "roll", 'R', NULL, 0, "Have a roll, which 'server roll' keeps: after a restart, wait only for those "
	  "clients that may hold a lock without a lease by this server (as configured, or no)", 0 },
	{ "ingress", 'I', "DEV", 0, "Take requests at this network device, before IP; 'none': through IP alone (as "
	  "configured, or none)", 0 },
	{ "members-fenced", 'M', NULL, 0, "Start although rules with 'leaseless' were removed: you know that none of their "
	  "clients holds a lock without a lease", 0 },
	{}
};

static void parse_floor(struct argp_state *state, const char *text, struct ctl_start *start)
{
	start->floor = CTL_FLOOR_UNKNOWN;
	if (!strcmp(text, "unknown"))
		return;
	start->floor = CTL_FLOOR_KNOWN;
	if (bftm_parse_number(text, &start->token_floor) < 0 ||
	    start->token_floor > BFTM_TOKEN_FLOOR_MAX)
		argp_error(state, "--token-floor '%s': must be unknown or 0 to %llu", text,
			   BFTM_TOKEN_FLOOR_MAX);
}

static error_t parse_start(int key, char *arg, struct argp_state *state)
{
	struct ctl_start *start = state->input;

	switch (key) {
	case 'k':
		start->key = arg;
		return 0;
	case 'M':
		start->members_fenced = true;
		return 0;
	case 'R':
		start->roll.on = true;
		return 0;
	case 'i':
		start->id = ctl_number(state, "--id", arg, 1, BFTM_SERVER_ID_MAX);
		return 0;
	case 'C':
		start->cluster = ctl_number(state, "--cluster", arg, 1, UINT32_MAX);
		return 0;
	case 'p':
		start->port = ctl_number(state, "--port", arg, 1, UINT16_MAX);
		return 0;
	case 'l':
		start->lease_max_ns = ctl_duration(state, "--lease-max", arg, BFTM_LEASE_MIN_NS,
						   BFTM_LEASE_MAX_NS);
		return 0;
	case 'r':
		start->rho_ppm = ctl_number(state, "--rho", arg, BFTM_RHO_MIN_PPM,
					    BFTM_RHO_MAX_PPM);
		return 0;
	case 't':
		parse_floor(state, arg, start);
		return 0;
	case 'Q':
		start->no_quarantine = arg ? ctl_number(state, "--no-quarantine", arg, 1,
							BFTM_SPARED_MAX) : 1;
		return 0;
	case 's':
		start->state = ctl_state_dir(state, arg);
		return 0;
	case 'f':
		start->config = arg;
		return 0;
	case 'd':
		ctl_durability_parse(state, arg, &start->durability);
		return 0;
	case 'J':
		if (!*arg || strlen(arg) >= sizeof(start->durability.path))
			argp_error(state, "--journal '%s': a path is 1 to %zu characters", arg,
				   sizeof(start->durability.path) - 1);
		strcpy(start->durability.path, arg);
		return 0;
	case 'I':
		if (!*arg || strlen(arg) >= sizeof(start->ingress))
			argp_error(state, "--ingress '%s': the name of a device is 1 to %zu characters",
				   arg, sizeof(start->ingress) - 1);
		strcpy(start->ingress, arg);
		return 0;
	case 'T':
		start->durability.trust = true;
		return 0;
	case ARGP_KEY_END:
		if (!start->key)
			argp_error(state, "--key FILE is missing");
		return 0;
	default:
		return ctl_limits_parse(state, key, arg, &start->limits);
	}
}

const struct argp ctl_start_argp = {
	.options = start_options,
	.parser = parse_start,
	.doc = "Start the lock server of this network namespace. It answers at once and "
	       "grants locks when its quarantine is over, or at once with --no-quarantine.",
	.children = ctl_common,
};
