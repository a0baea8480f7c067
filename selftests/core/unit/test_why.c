// SPDX-License-Identifier: GPL-2.0
/* The words that a program can read beside an error, and the names of modes. */
#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/health.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/lasting.h"
#include "lock/report.h"
#include "text/mode.h"
#include "unit.h"

#define SERVERS		"2 of 4 servers can grant, a lock needs 3"
#define AWAITS		"servers 1 and 2 wait"
#define UNNOTED		"servers 1 and 2 have a roll that lacks this host"
#define HERE		"another program of this host has it, or asked for it before"
#define NO_SHARED	"2 servers or more grant no mode PR, but EX alone"

static bool outdated, healthy;

/* The rest of the daemon. */

const char *bftm_health_why(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	(void)cl;
	return strcpy(text, healthy ? "" : SERVERS);
}

const char *bftm_health_awaits(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	(void)cl;
	return strcpy(text, AWAITS);
}

const char *bftm_health_unnoted(const struct bftm_cluster *cl, char text[BFTM_WHY_MAX])
{
	(void)cl;
	return strcpy(text, UNNOTED);
}

u32 bftm_health_unheard(const struct bftm_cluster *cl)
{
	(void)cl;
	return 0;
}

void bftm_health_names(const struct bftm_cluster *cl, u32 servers, char *buf, size_t size)
{
	(void)cl;
	snprintf(buf, size, "servers %x", servers);
}

bool bftm_cluster_outdated(const struct bftm_cluster *cl)
{
	(void)cl;
	return outdated;
}

int bftm_upcall_won(const struct bftm_won *won)
{
	(void)won;
	return 0;
}

int bftm_upcall_renewed(u64 id, u64 end_ns, u32 sends)
{
	(void)id, (void)end_ns, (void)sends;
	return 0;
}

int bftm_upcall_converted(const struct bftm_conversion_report *report)
{
	(void)report;
	return 0;
}

static u64 told_id;
static u32 told_mode, told_count;
static int told_error;

int bftm_upcall_wanted(u64 id, u32 mode)
{
	told_id = id;
	told_mode = mode;
	told_count++;
	return told_error;
}

static void words_beside_an_error(void **state)
{
	static const struct {
		int error;
		u32 mode;
		enum bftm_name_place place;
		bool outdated;
		const char *why;
	} cases[] = {
		{ EPROTONOSUPPORT, BFTM_LOCK_PR, BFTM_PLACE_ACTIVE, false, NO_SHARED },
		{ EPROTONOSUPPORT, BFTM_LOCK_EX, BFTM_PLACE_ACTIVE, false, "" },
		/* Then nothing at all is understood. */
		{ EPROTONOSUPPORT, BFTM_LOCK_PR, BFTM_PLACE_ACTIVE, true, "" },
		{ EWOULDBLOCK, BFTM_LOCK_PR, BFTM_PLACE_ACTIVE, false, SERVERS },
		{ EWOULDBLOCK, BFTM_LOCK_EX, BFTM_PLACE_WAITING, false, "" },
		{ ETIMEDOUT, BFTM_LOCK_EX, BFTM_PLACE_ACTIVE, false, SERVERS },
		{ ETIMEDOUT, BFTM_LOCK_EX, BFTM_PLACE_WAITING, false, HERE },
		{ ENETUNREACH, BFTM_LOCK_EX, BFTM_PLACE_ACTIVE, false, SERVERS },
		{ EACCES, BFTM_LOCK_PR, BFTM_PLACE_ACTIVE, false, "" },
	};
	struct bftm_cluster cl = { .conf.b = 1, .conf.n = 4 };
	struct bftm_acquire_op op = { .cluster = &cl };
	char text[BFTM_WHY_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		op.ask.mode = cases[i].mode;
		op.place = cases[i].place;
		outdated = cases[i].outdated;
		assert_string_equal(bftm_report_why(&op, cases[i].error, text), cases[i].why);
	}
}

static void servers_that_wait_for_members(void **state)
{
	struct bftm_cluster cl = { .conf.b = 1, .conf.n = 4 };
	struct bftm_acquire_op op = { .cluster = &cl, .place = BFTM_PLACE_ACTIVE };
	char text[BFTM_WHY_MAX];

	(void)state;
	healthy = true;
	assert_string_equal(bftm_report_why(&op, ETIMEDOUT, text), AWAITS);
	/* One that asks once is told that no program can get the lock: that is not known. */
	assert_string_equal(bftm_report_why(&op, EWOULDBLOCK, text), "");
	/* Without a lease there is a reason of its own. */
	op.ask.lease_ns = BFTM_LEASE_NONE;
	assert_string_equal(bftm_report_why(&op, ENETUNREACH, text), UNNOTED);
	healthy = false;
	assert_string_equal(bftm_report_why(&op, ETIMEDOUT, text), SERVERS);
}

static void servers_without_a_rule_for_members(void **state)
{
	struct bftm_cluster cl = { .conf.b = 1, .conf.n = 4, .cred.client = 9 };
	struct bftm_acquire_op op = { .cluster = &cl, .ask.lease_ns = BFTM_LEASE_NONE };
	char text[BFTM_WHY_MAX];

	(void)state;
	bftm_report_why(&op, EACCES, text);
	assert_non_null(strstr(text, "\"leaseless = yes\" for client 9"));
	op.ask.lease_ns = 1;
	assert_string_equal(bftm_report_why(&op, EACCES, text), "");
}

static void why_an_evicted_host_gets_no_lock(void **state)
{
	struct bftm_cluster cl = { .conf.b = 1, .conf.n = 4, .evicted = 7 };
	struct bftm_contender client = { .attempt = 7ull << 32 | 5 };
	struct bftm_acquire_op op = { .cluster = &cl, .client = &client };
	char text[BFTM_WHY_MAX];

	(void)state;
	assert_non_null(strstr(bftm_report_why(&op, EACCES, text), "restart bftmutexd"));
	client.attempt += 1ull << 32;
	assert_string_equal(bftm_report_why(&op, EACCES, text), "");
	assert_int_equal(bftm_refusal_errno(BFTM_REFUSED_EVICTED), EACCES);
}

static void names_of_modes(void **state)
{
	static const char *const names[] = { "EX", "PW", "PR", "CW", "CR", "NL" };
	static const char *const wrong[] = { "", "P", "PRX", "NL", "nl", " PR", "0", "EXCLUSIVE" };
	u32 mode, got;
	size_t i;

	(void)state;
	for (mode = BFTM_LOCK_EX; mode <= BFTM_LOCK_NL; mode++)
		assert_string_equal(bftm_mode_name(mode), names[mode]);
	assert_string_equal(bftm_mode_name(BFTM_LOCK_NL + 1), "unknown");
	assert_string_equal(bftm_mode_name(UINT32_MAX), "unknown");
	for (mode = BFTM_LOCK_EX; mode < BFTM_LOCK_NL; mode++) {
		assert_int_equal(bftm_mode_parse(names[mode], &got), 0);
		assert_int_equal(got, mode);
	}
	assert_int_equal(bftm_mode_parse("pR", &got), 0);
	assert_int_equal(got, BFTM_LOCK_PR);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(bftm_mode_parse(wrong[i], &got), -EINVAL);
	assert_int_equal(got, BFTM_LOCK_PR);
}

/* The device counts down from what excludes most, so that 0 is EX; servers count up. */
static void modes_of_device_and_servers(void **state)
{
	static const enum bftm_mode servers[] = {
		[BFTM_LOCK_EX] = BFTM_MODE_EX, [BFTM_LOCK_PW] = BFTM_MODE_PW,
		[BFTM_LOCK_PR] = BFTM_MODE_PR, [BFTM_LOCK_CW] = BFTM_MODE_CW,
		[BFTM_LOCK_CR] = BFTM_MODE_CR, [BFTM_LOCK_NL] = BFTM_MODE_NL,
	};
	struct bftm_ask ask = {};

	(void)state;
	for (; ask.mode <= BFTM_LOCK_NL; ask.mode++)
		assert_int_equal(bftm_ask_mode(&ask), servers[ask.mode]);
}

/* The kernel is told once in each mode, of a lock that a program holds. */
static void somebody_waits(void **state)
{
	struct bftm_contender client = { .phase = BFTM_PHASE_FENCE, .wanted = true };
	struct bftm_acquire_op waiter = { .ask.mode = BFTM_LOCK_EX };
	struct bftm_inside inside = {};
	struct bftm_name name = {};
	struct bftm_acquire_op op = {
		.client = &client, .name = &name, .ask.id = 7, .ask.mode = BFTM_LOCK_EX,
	};

	(void)state;
	TAILQ_INIT(&name.waiting);
	bftm_report_wanted(&op);
	client.phase = BFTM_PHASE_HOLD;
	op.ask.inside = &inside;
	bftm_report_wanted(&op);
	assert_int_equal(told_count, 0);
	op.ask.inside = NULL;
	bftm_report_wanted(&op);
	bftm_report_wanted(&op);
	assert_int_equal(told_count, 1);
	assert_int_equal(told_id, 7);
	assert_int_equal(told_mode, BFTM_LOCK_EX);
	op.ask.mode = BFTM_LOCK_PR;
	client.wanted = false;
	bftm_report_wanted(&op);
	assert_int_equal(told_count, 1);
	/* Servers do not hear of a request that waits here. */
	TAILQ_INSERT_TAIL(&name.waiting, &waiter, beside);
	bftm_report_wanted(&op);
	assert_int_equal(told_count, 2);
	assert_int_equal(told_mode, BFTM_LOCK_PR);
}

/* A report that did not arrive is sent again; one that the kernel does not take is not. */
static void somebody_waits_and_the_report_fails(void **state)
{
	static const struct {
		int error;
		u32 reports;
	} rows[] = {
		{ 0, 1 }, { -ESTALE, 1 }, { -EOPNOTSUPP, 1 }, { -ENOMEM, 2 }, { -EAGAIN, 2 },
	};
	struct bftm_contender client = { .phase = BFTM_PHASE_HOLD, .wanted = true };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bftm_acquire_op op = { .client = &client, .ask.mode = BFTM_LOCK_EX };

		told_count = 0;
		told_error = rows[i].error;
		bftm_report_wanted(&op);
		bftm_report_wanted(&op);
		assert_int_equal(told_count, rows[i].reports);
	}
	told_error = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_that_wait_for_members),
		cmocka_unit_test(servers_without_a_rule_for_members),
		cmocka_unit_test(why_an_evicted_host_gets_no_lock),
		cmocka_unit_test(words_beside_an_error),
		cmocka_unit_test(names_of_modes),
		cmocka_unit_test(modes_of_device_and_servers),
		cmocka_unit_test(somebody_waits),
		cmocka_unit_test(somebody_waits_and_the_report_fails),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
