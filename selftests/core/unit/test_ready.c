// SPDX-License-Identifier: GPL-2.0
/* When the daemon says that it is ready, its line for the service manager, and the watchdog. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "daemon/notify.h"
#include "daemon/ready.h"
#include "kernel/upcall.h"

/* The rest of the daemon, and the manager. */
struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
static struct bftm_cluster storage, jobs;
static struct bftm_timer *look;
static u64 now, watchdog_ns;
static bool is_open = true, manager = true;
static int refuses;
static char told[2048];
static u32 fed;

u64 bftm_now(void)
{
	return now;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	if (*last_ns && now - *last_ns < every_ns)
		return false;
	*last_ns = now;
	return true;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	assert_true(at_ns > now);
	look = timer;
	look->at_ns = at_ns;
}

bool bftm_upcall_is_open(void)
{
	return is_open;
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 at_ns)
{
	(void)cl;
	(void)u;
	(void)at_ns;
	return "ok";
}

bool bftm_notify_begin(void)
{
	return manager;
}

u64 bftm_notify_watchdog_ns(void)
{
	return watchdog_ns;
}

int bftm_notify(const char *state, int fd, unsigned int wait_ms)
{
	assert_int_equal(fd, -1);
	assert_int_equal(wait_ms, 0);
	if (refuses)
		return refuses;
	if (!strcmp(state, "WATCHDOG=1"))
		fed++;
	else
		snprintf(told, sizeof(told), "%s", state);
	return 0;
}

/* Messages until then. */
static const char *until(u64 at_ns)
{
	*told = '\0';
	while (look->at_ns <= at_ns) {
		now = look->at_ns;
		look->fire(look);
	}
	now = at_ns;
	return told;
}

static void hear(struct bftm_cluster *cl, u32 servers)
{
	u32 u;

	for (u = 0; u < servers; u++)
		cl->peer[u].heard_ns = now;
}

static int begin(void **state)
{
	(void)state;
	TAILQ_INIT(&bftm_clusters);
	storage = (struct bftm_cluster){ .conf = { .name = "storage", .n = 4, .b = 1 },
					 .cfg = { .n = 4, .b = 1 } };
	jobs = (struct bftm_cluster){ .conf = { .name = "jobs", .n = 4, .b = 1 },
				      .cfg = { .n = 4, .b = 1 } };
	TAILQ_INSERT_TAIL(&bftm_clusters, &storage, list);
	now += 1000 * BFTM_NS_PER_SEC;
	look = NULL;
	*told = '\0';
	bftm_ready_begin();
	return 0;
}

#define SOON (BFTM_NS_PER_SEC / 50)

/* It repeats no message. */
static void a_life(void **state)
{
	u64 t;

	(void)state;
	assert_string_equal(told, "STATUS=cluster storage: 0 of 4 servers can grant, a lock needs 3; "
			    "servers 0, 0, 0 and 0 are not heard yet");
	TAILQ_INSERT_TAIL(&bftm_clusters, &jobs, list);
	hear(&storage, 3);
	assert_null(strstr(until(now + SOON), "READY"));

	/* A manager that does not read is told at the next look. */
	hear(&jobs, 2);
	assert_null(strstr(until(now + SOON), "READY"));
	hear(&jobs, 3);
	refuses = -EAGAIN;
	assert_string_equal(until(now + SOON), "");
	refuses = 0;
	assert_string_equal(until(now + SOON), "READY=1\nSTATUS=cluster storage: locks can be had; "
			    "cluster jobs: locks can be had");
	assert_string_equal(until(now + 100 * BFTM_NS_PER_SEC), "");
	assert_int_equal(fed, 0);

	/* One that drains is none of this configuration. */
	jobs.draining = true;
	assert_string_equal(until(now + BFTM_NS_PER_SEC), "STATUS=cluster storage: locks can be had");
	storage.peer[0].heard_ns = storage.peer[1].heard_ns = 0;
	assert_non_null(strstr(until(now + BFTM_NS_PER_SEC), "STATUS=cluster storage: 1 of 4 servers"));
	is_open = false;
	assert_string_equal(until(now + BFTM_NS_PER_SEC),
			    "STATUS=the kernel module is not loaded, or is of another version");
	is_open = true;
	TAILQ_INIT(&bftm_clusters);
	assert_string_equal(until(now + BFTM_NS_PER_SEC), "STATUS=no cluster is configured");

	/* Fed in time, however short it is, and again when the manager did not read. */
	watchdog_ns = 2 * BFTM_NS_PER_SEC;
	until(now + BFTM_NS_PER_SEC);
	fed = 0;
	t = now;
	until(t + 10 * BFTM_NS_PER_SEC);
	assert_in_range(fed, 10, 40);
	refuses = -EAGAIN;
	until(now + BFTM_NS_PER_SEC);
	refuses = 0;
	fed = 0;
	until(look->at_ns);
	assert_int_equal(fed, 1);
}

/* A host whose servers are silent starts all the same. */
static void silent_servers(void **state)
{
	(void)state;
	watchdog_ns = 0;
	assert_string_equal(until(now + 10 * BFTM_NS_PER_SEC - 1), "");
	assert_non_null(strstr(until(now + SOON), "READY=1\nSTATUS=cluster storage: 0 of 4"));
}

static void no_manager(void **state)
{
	(void)state;
	manager = false;
	look = NULL;
	bftm_ready_begin();
	assert_null(look);
	manager = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_life, begin),
		cmocka_unit_test_setup(silent_servers, begin),
		cmocka_unit_test(no_manager),
	};

	return cmocka_run_group_tests_name("ready", tests, NULL, NULL);
}
