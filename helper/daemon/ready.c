// SPDX-License-Identifier: GPL-2.0
#include "daemon/ready.h"

#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/health.h"
#include "loop/loop.h"
#include "daemon/notify.h"
#include "kernel/upcall.h"

#define LOOK_NS		(1 * BFTM_NS_PER_SEC)
/* Interval of looks until the daemon is ready, so that units that wait for it lose no second. */
#define SOON_NS		(20 * BFTM_NS_PER_MS)
#define PATIENCE_NS	(10 * BFTM_NS_PER_SEC)
#define STATUS_MAX	1024

static struct bftm_timer look;
static u64 begun_ns, fed_ns;
static bool ready;
static char told[STATUS_MAX];

static bool all_heard(void)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (!cl->draining && !bftm_health_heard(cl))
			return false;
	return true;
}

/* Text that finds no room is cut off. */
static void ready_describe(char text[STATUS_MAX])
{
	struct bftm_cluster *cl;
	char why[BFTM_WHY_MAX];
	size_t len = 0;

	snprintf(text, STATUS_MAX, bftm_upcall_is_open() ? "no cluster is configured" :
		 "the kernel module is not loaded, or is of another version");
	if (!bftm_upcall_is_open())
		return;
	TAILQ_FOREACH(cl, &bftm_clusters, list) {
		if (cl->draining || len >= STATUS_MAX)
			continue;
		bftm_health_why(cl, why);
		len += (size_t)snprintf(text + len, STATUS_MAX - len, "%scluster %s: %s",
					len ? "; " : "", cl->conf.name,
					*why ? why : "locks can be had");
	}
}

static void tell_status(void)
{
	char text[STATUS_MAX], line[STATUS_MAX + 32];
	bool now_ready = ready || all_heard() || bftm_now() - begun_ns >= PATIENCE_NS;

	ready_describe(text);
	if (now_ready == ready && !strcmp(text, told))
		return;
	snprintf(line, sizeof(line), "%sSTATUS=%s", ready ? "" : now_ready ? "READY=1\n" : "", text);
	/* A manager that does not read is told at the next look. */
	if (bftm_notify(line, -1, 0))
		return;
	ready = now_ready;
	memcpy(told, text, sizeof(told));
}

static void ready_tell(struct bftm_timer *timer)
{
	u64 watchdog_ns = bftm_notify_watchdog_ns(), pause_ns = ready ? LOOK_NS : SOON_NS;

	tell_status();
	if (watchdog_ns && bftm_due(&fed_ns, watchdog_ns / 4) && bftm_notify("WATCHDOG=1", -1, 0))
		fed_ns = 0;
	if (watchdog_ns && pause_ns > watchdog_ns / 4)
		pause_ns = watchdog_ns / 4;
	bftm_timer_arm(timer, bftm_now() + pause_ns);
}

void bftm_ready_begin(void)
{
	if (!bftm_notify_begin())
		return;
	begun_ns = bftm_now();
	ready = false;
	*told = '\0';
	look.fire = ready_tell;
	ready_tell(&look);
}
