// SPDX-License-Identifier: GPL-2.0
/* One process while it holds a lock: it converts, reads and updates the counter. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "lib/libbftmutex.h"
#include "guard.h"
#include "holder.h"

u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void stay(u64 ns)
{
	struct timespec pause = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	nanosleep(&pause, NULL);
}

/* One line, by one write(): nobody sees half of it. */
void note(struct me *me, u64 at_ns, const char *what, const char *format, ...)
{
	char line[160];
	va_list list;
	int len;

	len = snprintf(line, sizeof(line), "%" PRIu64 " %s %s %s", at_ns, what, me->who, me->lock);
	va_start(list, format);
	len += vsnprintf(line + len, sizeof(line) - (size_t)len, format, list);
	va_end(list);
	line[len++] = '\n';
	if (write(me->log, line, (size_t)len) != len)
		exit(EX_IOERR);
}

/* Return: false when it is not held any more. */
static bool look(struct me *me)
{
	struct bftm_status status = { .size = sizeof(status) };
	u64 before = now_ns();

	if (bftmutex_status(me->fd, &status) < 0)
		exit(EX_OSERR);
	note(me, now_ns(), "look", " %" PRIu64 " %u %" PRIu64, before, status.state,
	     (u64)status.deadline_ns);
	return status.state == BFTM_STATE_HELD;
}

/* A shared lock becomes exclusive, if others let it, and an exclusive one is shared. */
static void convert(struct me *me)
{
	struct bftmutex_grant grant = {};
	u64 timeout = rng_between(&me->rng, 5, me->lease_ms / 2) * MS;

	if (me->mode == BFTM_LOCK_EX) {
		me->mode = BFTM_LOCK_PR;
		note(me, now_ns(), "mode", " %u 0 %" PRIu64, me->mode, me->token);
		bftmutex_convert(me->fd, me->mode, 0, timeout, NULL);
		return;
	}
	if (bftmutex_convert(me->fd, BFTM_LOCK_EX, me->token ? BFTM_FENCE : 0, timeout, &grant))
		return;
	me->mode = BFTM_LOCK_EX;
	me->token = grant.token;
	note(me, now_ns(), "mode", " %u %" PRIu64 " %" PRIu64, me->mode, (u64)grant.deadline_ns,
	     me->token);
}

/* Read the counter, with what is held. Return: false when a higher token came before. */
static bool read_counter(struct me *me, u64 *ret_value)
{
	bool good;

	note(me, now_ns(), "read", " %" PRIu64, me->token);
	good = guard(me->counter, me->token, NULL, ret_value);
	if (good && me->mode == BFTM_LOCK_PR)
		note(me, now_ns(), "saw", " %" PRIu64 " %" PRIu64, me->token, *ret_value);
	return good;
}

static void update_counter(struct me *me, u64 next)
{
	u64 value;
	bool good;

	note(me, now_ns(), "begin", " %" PRIu64 " %" PRIu64, me->token, next);
	good = guard(me->counter, me->token, &next, &value);
	note(me, now_ns(), good ? "wrote" : "refuse", " %" PRIu64 " %" PRIu64, me->token, next);
}

/* Be inside for @ns at most, as long as the lock is held, or a bit longer. */
static void be_inside(struct me *me, u64 ns, bool renews)
{
	u64 end = now_ns() + ns;
	bool held = true;

	while (held && now_ns() < end) {
		stay(rng_between(&me->rng, MS, ns / 2 + 2 * MS));
		if (renews && rng_chance(&me->rng, PPM / 4))
			bftmutex_renew(me->fd, 20 * MS, NULL);
		held = look(me);
	}
}

void inside(struct me *me, u64 hold_ns, bool renews)
{
	u64 value = 0;
	bool knows;

	/* By now the mode before and its token are of no use any more. */
	if (rng_chance(&me->rng, PPM / 4)) {
		be_inside(me, hold_ns / 4, renews);
		convert(me);
	}
	knows = me->token && read_counter(me, &value);
	be_inside(me, hold_ns, renews);
	/* Whether the lease is over does not matter to it: that is what tokens are for. */
	if (knows && me->mode == BFTM_LOCK_EX)
		update_counter(me, value + 1);
	else if (knows)
		read_counter(me, &value);
}
