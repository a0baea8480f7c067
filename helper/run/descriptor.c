// SPDX-License-Identifier: GPL-2.0
#include "run/descriptor.h"
#include "run/options.h"
#include "run/run.h"
#include "text/mode.h"

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sysexits.h>

void bftm_fd_check(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct bftm_status status;
	int r;

	if (flags < 0)
		errx(EX_DATAERR, "--fd %d: the descriptor is not open", fd);
	r = bftmutex_status(fd, &status);
	if (r < 0)
		errx(EX_DATAERR, "--fd %d: %s", fd, bftmutex_strerror(r));
	/* This process exits, so no process would poll() for the result. */
	if (flags & O_NONBLOCK)
		errx(EX_DATAERR, "--fd %d: the descriptor is O_NONBLOCK", fd);
}

int bftm_fd_unlock(const struct options *o)
{
	int r = bftmutex_release(o->fd);

	if (!r)
		return EX_OK;
	warnx("--fd %d: %s", o->fd, bftmutex_strerror(r));
	return r == -EKEYEXPIRED ? o->lost_code : EX_DATAERR;
}

int bftm_fd_held(const struct options *o)
{
	struct bftm_status status = {};
	int r = bftmutex_status(o->fd, &status);

	if (!r && status.state == BFTM_STATE_HELD)
		return EX_OK;
	if (!r)
		r = status.state == BFTM_STATE_LOST ? -EKEYEXPIRED : -ENOLCK;
	warnx("--fd %d: %s", o->fd, bftmutex_strerror(r));
	return r == -EKEYEXPIRED ? o->lost_code : EX_DATAERR;
}

/* A signal that does not end this process was a stop (Ctrl-Z): the waiting goes on. */
static int try_convert(const struct options *o, struct bftmutex_grant *grant)
{
	u64 start = bftm_boottime(), waited = 0;
	u32 flags = o->lock.flags & (BFTM_TRY | BFTM_FENCE | BFTM_VALUE);
	int r;

	do {
		u64 left = o->lock.timeout_ns ? o->lock.timeout_ns - waited : 0;

		r = bftmutex_convert(o->fd, o->lock.flags / BFTMUTEX_MODE(1), flags, left, grant);
		waited = bftm_boottime() - start;
		if (r == -EINTR && o->lock.timeout_ns && waited >= o->lock.timeout_ns)
			r = -ETIMEDOUT;
	} while (r == -EINTR);
	return r;
}

/* The lock is held in the mode before, or is not held. */
static int not_converted(const struct options *o, int error)
{
	const char *why = bftmutex_strerror(error);

	switch (-error) {
	case EWOULDBLOCK:
	case ETIMEDOUT:
		if (o->verbose)
			warnx("--fd %d: not converted to mode %s: others have the lock, or wait for it",
			      o->fd, o->mode);
		return o->conflict_code;
	case EDEADLK:
		warnx("--fd %d: not converted to mode %s: %s; release the lock, or convert it to a lesser mode",
		      o->fd, o->mode, why);
		return o->conflict_code;
	case ENODATA:
		warnx("--fd %d: not converted to mode %s: too few of the servers that answer know which fencing tokens were given",
		      o->fd, o->mode);
		return EX_UNAVAILABLE;
	case EKEYEXPIRED:
		warnx("--fd %d: %s", o->fd, why);
		return o->lost_code;
	case ENOLCK:
	case EBUSY:
		warnx("--fd %d: %s", o->fd, why);
		return EX_DATAERR;
	case EINVAL:
	case ENOTTY:
		warnx("--fd %d: the kernel module does not convert locks%s; is it of another version than %s?",
		      o->fd, o->value ? ", or knows no values of locks" : "", argp_program_version);
		return EX_SOFTWARE;
	}
	warnx("--fd %d: not converted to mode %s: %s", o->fd, o->mode, why);
	return EX_UNAVAILABLE;
}

int bftm_fd_convert(const struct options *o)
{
	struct bftmutex_grant grant = {};
	int r = try_convert(o, &grant);

	if (r < 0)
		return not_converted(o, r);
	if (!o->print)
		return EX_OK;
	r = bftm_print_grant(o, o->fd, &grant);
	if (r < 0)
		return not_converted(o, r);
	if (!fflush(stdout))
		return EX_OK;
	warn("--fd %d: cannot print; the lock is held in mode %s", o->fd, o->mode);
	return EX_IOERR;
}

/* Why the value is neither read nor set; the exit status for it. */
static int value_refused(const struct options *o, int error)
{
	struct bftm_status status = {};

	switch (-error) {
	case EPERM:
		bftmutex_status(o->fd, &status);
		warnx("--fd %d: --set-value %s: the lock is held in mode %s; a value is set in mode EX or PW, to which --convert leads",
		      o->fd, o->set_value, bftm_mode_name(status.mode));
		return EX_DATAERR;
	case ENODATA:
		warnx("--fd %d: the lock is held without its value; take it, or convert it, with --value",
		      o->fd);
		return EX_DATAERR;
	case ENOLCK:
	case EKEYEXPIRED:
		warnx("--fd %d: %s", o->fd, bftmutex_strerror(error));
		return error == -EKEYEXPIRED ? o->lost_code : EX_DATAERR;
	}
	warnx("--fd %d: the kernel module does not know values of locks; is it of another version than %s?",
	      o->fd, argp_program_version);
	return EX_SOFTWARE;
}

int bftm_fd_value(const struct options *o)
{
	int r = bftm_print_value(o->fd);

	if (r < 0)
		return value_refused(o, r);
	if (!fflush(stdout))
		return EX_OK;
	warn("--fd %d: the value cannot be printed", o->fd);
	return EX_IOERR;
}

int bftm_fd_set_value(const struct options *o)
{
	int r = bftmutex_set_value(o->fd, o->hex.bytes, o->hex.len);

	return r < 0 ? value_refused(o, r) : EX_OK;
}

bool bftm_grant_lasts(const struct bftmutex_grant *grant)
{
	return grant->deadline_ns == UINT64_MAX;
}

int bftm_print_grant(const struct options *o, int fd, const struct bftmutex_grant *grant)
{
	int r = o->value ? bftm_print_value(fd) : 0;

	if (r < 0)
		return r;
	if (grant->token)
		printf("BFTMUTEX_TOKEN=%llu\n", (unsigned long long)grant->token);
	printf("BFTMUTEX_MODE=%s\n", o->mode);
	if (!bftm_grant_lasts(grant))
		printf("BFTMUTEX_DEADLINE_NS=%llu\n", (unsigned long long)grant->deadline_ns);
	return 0;
}
