// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "lib/libbftmutex.h"
#include "run/refused.h"

/* Says so when servers are the reason; that others have the lock is the usual case. */
static void say_busy(const struct options *o, const char *servers)
{
	if (*servers)
		warnx("lock '%s': no program can get it now: %s", o->shown, servers);
	else if (o->verbose)
		warnx("lock '%s': somebody else has it, or waits for it", o->shown);
}

int bftm_refused(const struct options *o, int fd, int err)
{
	const char *why = bftmutex_strerror(err);
	char more[BFTM_WHY_MAX] = "";
	const char *cluster = o->lock.cluster ? o->lock.cluster : "";

	bftmutex_why(fd, more, sizeof(more));
	switch (-err) {
	case EWOULDBLOCK:
		say_busy(o, more);
		return o->conflict_code;
	case ETIMEDOUT:
		/* Without a limit of our own, the daemon or the servers did not answer. */
		if (!o->lock.timeout_ns) {
			warnx("lock '%s': no answer from bftmutexd or the servers", o->shown);
			return EX_UNAVAILABLE;
		}
		if (o->verbose)
			warnx("lock '%s': not held after --wait %s: %s", o->shown, o->wait,
			      *more ? more : "somebody else has it, or waits for it");
		return o->conflict_code;
	case ENETUNREACH:
		warnx("lock '%s': %s%s%s; see bftmutexctl servers", o->shown, why, *more ? ": " : "",
		      more);
		return EX_UNAVAILABLE;
	case EACCES:
		if (*more)
			warnx("lock '%s': %s: %s", o->shown, why, more);
		else
			warnx("lock '%s': %s by the servers", o->shown, why);
		return EX_NOPERM;
	case ERANGE:
		/* Servers that would grant it are silent: others have a shorter lease-max. */
		if (*more) {
			warnx("lock '%s': %s: %s", o->shown, why, more);
			return EX_CONFIG;
		}
		if (!o->lease) {
			warnx("lock '%s': %s as the cluster's default; ask for a shorter one by --lease",
			      o->shown, why);
			return EX_CONFIG;
		}
		warnx("lock '%s': %s: --lease %s; from 1ms to the least of these is allowed: lease-max in bftmutex.conf here, the servers' --lease-max, both 30s unless set, and lease-max of the servers' access rules; 'bftmutexctl servers --json' has each server's lease_max_ns",
		      o->shown, why, o->lease);
		return EX_USAGE;
	case ENOKEY:
		if (*cluster)
			warnx("lock '%s': bftmutexd has no cluster '%s', or no credentials",
			      o->shown, cluster);
		else
			warnx("lock '%s': bftmutexd has no default cluster, or no credentials",
			      o->shown);
		return EX_UNAVAILABLE;
	case ENODATA:
		warnx("lock '%s': too few of the servers that answer know which fencing tokens were given; see --token-floor in bftmutexctl(8)",
		      o->shown);
		return EX_UNAVAILABLE;
	case EPROTONOSUPPORT:
		warnx("lock '%s': %s", o->shown, *more ? more : why);
		return EX_UNAVAILABLE;
	case ENOBUFS:
		warnx("lock '%s': %s, %u at most", o->shown, why, BFTM_REQUESTS_MAX);
		return EX_UNAVAILABLE;
	case EALREADY:
	case EBUSY:
		warnx("--fd %d, lock '%s': %s", o->fd, o->shown, why);
		return EX_DATAERR;
	case ENOTTY:
		warnx("lock '%s': %s", o->shown, why);
		return EX_NOINPUT;
	case EINVAL:
	case E2BIG:
	case EFAULT:
		warnx("lock '%s': %s; is it of another version than %s?", o->shown, why,
		      argp_program_version);
		return EX_SOFTWARE;
	case ENOMEM:
		warnx("lock '%s': %s", o->shown, why);
		return EX_OSERR;
	default:
		warnx("lock '%s': %s%s%s", o->shown, why, *more ? ": " : "", more);
		return EX_UNAVAILABLE;
	}
}
