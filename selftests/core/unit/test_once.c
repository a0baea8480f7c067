// SPDX-License-Identifier: GPL-2.0
/*
 * A program that asks once, right behind a RELEASE of its own host: it may overtake that, and
 * loses to nobody else.
 */
#include <errno.h>

#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/release.h"
#include "lock/report.h"
#include "cluster/health.h"
#include "loop/log.h"
#include "unit.h"

#define MS	BFTM_NS_PER_MS
#define T0	(1000 * MS)
#define TRIP	(2 * MS)		/* that three of four servers have shown */
#define DELTA	(5 * MS)

struct bftm_totals bftm_totals;

static u64 now_ns;
static u32 tries, releases;
static u64 attempt_sent;
static struct bftm_cluster cl;
static struct bftm_identity identity;
static struct bftm_counters counters;
static struct bftm_name name;
static struct bftm_acquire_op op;

/* The rest of the daemon. */

u64 bftm_now(void)
{
	return now_ns;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	timer->at_ns = at_ns;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	(void)last_ns;
	(void)every_ns;
	return false;
}

void bftm_cluster_send(struct bftm_cluster *c, u32 to, const struct bftm_msg *msg)
{
	(void)c, (void)to;
	if (msg->type == BFTM_MSG_TRY) {
		tries++;
		attempt_sent = msg->attempt;
	}
}

bool bftm_cluster_outdated(const struct bftm_cluster *c)
{
	(void)c;
	return false;
}

void bftm_release_begin(struct bftm_cluster *c, const u8 *bytes, u8 len, u64 attempt, u32 to)
{
	(void)c, (void)bytes, (void)len, (void)attempt, (void)to;
	releases++;
}

void bftm_evidence_round(struct bftm_cluster *c, struct bftm_acquire_op *o,
			 const struct bftm_out *out)
{
	(void)c, (void)o, (void)out;
}

void bftm_evidence_over(struct bftm_cluster *c, struct bftm_acquire_op *o)
{
	(void)c, (void)o;
}

int bftm_refusal_errno(u32 refusal)
{
	return (int)refusal;
}

bool bftm_report_won(struct bftm_acquire_op *o)
{
	(void)o;
	return true;
}

bool bftm_report_renewed(struct bftm_acquire_op *o)
{
	(void)o;
	return true;
}

const char *bftm_health_why(const struct bftm_cluster *c, char text[BFTM_WHY_MAX])
{
	(void)c, (void)text;
	return "";
}

static int four_servers(void **state)
{
	u32 u;

	(void)state;
	memset(&cl, 0, sizeof(cl));
	memset(&op, 0, sizeof(op));
	memset(&name, 0, sizeof(name));
	counters.attempt = 8;
	identity.counters = &counters;
	cl.identity = &identity;
	cl.protocol = &bftm_backoff;
	cl.conf.n = 4;
	cl.conf.b = 1;
	cl.cfg = (struct bftm_client_cfg){
		.n = 4, .b = 1, .rho_ppm = 2000, .delta_ns = DELTA, .resend_ns = 4 * DELTA,
		.retry_max_ns = 1000 * MS,
	};
	for (u = 0; u < 3; u++)
		bftm_speed_answered(&cl.speed, u, T0, T0 + TRIP);
	op.cluster = &cl;
	op.name = &name;
	op.place = BFTM_PLACE_ACTIVE;
	op.ask.lease_ns = 1000 * MS;
	op.ask.once = true;
	op.ask.name_len = 1;
	op.ask.name[0] = 'x';
	op.client = calloc(1, sizeof(struct bftm_contend));
	now_ns = T0;
	tries = 0;
	releases = 0;
	return 0;
}

static int no_servers(void **state)
{
	(void)state;
	free(op.client);
	return 0;
}

/* Two of four say that somebody else has it: three cannot say FREE. */
static int loses(void)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_LOCKED, .attempt = op.client->attempt, .k = 1, .gno = 3,
		.lease_ns = MS,
	};

	assert_int_equal(bftm_attempt_answer(&op, 0, &msg), BFTM_ATTEMPT_GOES_ON);
	return bftm_attempt_answer(&op, 1, &msg);
}

static int asked_after(u64 ns)
{
	name.released_ns = T0 - ns;
	assert_int_equal(bftm_attempt_start(&op), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(tries, 1);
	return loses();
}

static void behind_its_own_release_it_asks_once_more(void **state)
{
	u64 first;

	(void)state;
	assert_int_equal(asked_after(4 * TRIP), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(tries, 2);
	assert_int_equal(releases, 1);			/* of what the first was granted */
	first = attempt_sent;
	assert_int_equal(op.client->attempt, first);
	assert_int_equal(op.client->phase, BFTM_PHASE_TRY);
	/* And not for ever, though the first one was released just now. */
	assert_int_equal(loses(), EWOULDBLOCK);
	assert_int_equal(tries, 2);
	assert_int_equal(releases, 2);
}

static void later_it_has_lost(void **state)
{
	(void)state;
	assert_int_equal(asked_after(4 * TRIP + 1), EWOULDBLOCK);
	assert_int_equal(tries, 1);
}

static void where_nothing_was_released_it_has_lost(void **state)
{
	(void)state;
	assert_int_equal(asked_after(T0), EWOULDBLOCK);
	assert_int_equal(tries, 1);
}

/* Fewer than F are known: δ stands for the round trip. */
static void while_round_trips_are_not_known(void **state)
{
	(void)state;
	cl.speed.srtt_ns[1] = 0;
	assert_int_equal(asked_after(4 * DELTA), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(tries, 2);
}

/* Whoever waits asks until it has the lock. */
static void who_waits_does_not_need_it(void **state)
{
	(void)state;
	op.ask.once = false;
	op.ask.way = BFTM_WAY_BACKOFF;
	assert_int_equal(asked_after(1), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(tries, 1);
	assert_int_equal(op.client->phase, BFTM_PHASE_BACKOFF);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, four_servers, no_servers)
	const struct CMUnitTest tests[] = {
		TEST(behind_its_own_release_it_asks_once_more),
		TEST(later_it_has_lost),
		TEST(where_nothing_was_released_it_has_lost),
		TEST(while_round_trips_are_not_known),
		TEST(who_waits_does_not_need_it),
	};

	return cmocka_run_group_tests_name("once", tests, NULL, NULL);
}
