/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of one of the daemon's sockets: its loop, its clock and its log. */
#ifndef BFTM_UNIT_DAEMON_H
#define BFTM_UNIT_DAEMON_H

#include "loop/log.h"
#include "loop/loop.h"
#include "unit.h"

static struct bftm_watch *watched;	/* at most one */
static int watch_error;			/* why there can be none */
static char said[256];			/* the last line of the log */

int bftm_watch_add(struct bftm_watch *watch)
{
	assert_null(watched);
	if (!watch_error)
		watched = watch;
	return watch_error;
}

void bftm_watch_del(struct bftm_watch *watch)
{
	assert_ptr_equal(watched, watch);
	watched = NULL;
}

u64 bftm_now(void)
{
	return 1;
}

void bftm_log(int level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

#endif /* BFTM_UNIT_DAEMON_H */
