// SPDX-License-Identifier: GPL-2.0
/*
 * An attempt as the daemon drives it. A program that asks once, right behind a RELEASE of its own
 * host, may overtake that, and loses to nobody else. A conversion is what the kernel has taken.
 */
#include <errno.h>

#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "cluster/health.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/release.h"
#include "lock/report.h"
#include "unit.h"

#define MS	BFTM_NS_PER_MS
#define T0	(1000 * MS)
#define TRIP	(2 * MS)		/* that three of four servers have shown */
#define DELTA	(5 * MS)

struct bftm_totals bftm_totals;

static u64 now_ns;
static u32 tries, releases;
static u64 attempt_sent;
static u8 mode_sent, held_sent;
static int reported;			/* of a conversion: its error; -1 for none */
static int taken;			/* what the kernel says to that */
static u64 token_reported;
static bool renewed;			/* what it says to a longer lease */
static bool doubt_released;
static bool outdated;			/* b + 1 servers speak another version */
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

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	timer->at_ns = at_ns;
}

void bftm_cluster_send(struct bftm_cluster *c, u32 to, const struct bftm_msg *msg)
{
	(void)c;
	(void)to;
	if (msg->type == BFTM_MSG_TRY) {
		tries++;
		attempt_sent = msg->attempt;
		mode_sent = msg->mode;
		held_sent = msg->arg;
	}
}

bool bftm_cluster_outdated(const struct bftm_cluster *c)
{
	(void)c;
	return outdated;
}

void bftm_release_begin(struct bftm_cluster *c, const u8 *bytes, u8 len,
			const struct bftm_out *out)
{
	(void)c, (void)bytes, (void)len;
	releases++;
	doubt_released = out->release_doubt;
}

void bftm_evidence_round(struct bftm_cluster *c, struct bftm_acquire_op *o,
			 const struct bftm_out *out)
{
	(void)c, (void)o, (void)out;
}

void bftm_evidence_over(struct bftm_cluster *c, struct bftm_acquire_op *o)
{
	(void)c;
	(void)o;
}

/* Nothing is logged. */
bool bftm_due(u64 *last_ns, u64 pause_ns)
{
	(void)last_ns;
	(void)pause_ns;
	return false;
}

static u32 silent;			/* servers, a bit mask */

u32 bftm_health_unheard(const struct bftm_cluster *c)
{
	(void)c;
	return silent;
}

void bftm_health_names(const struct bftm_cluster *c, u32 servers, char *buf, size_t size)
{
	(void)c;
	snprintf(buf, size, "servers %x", servers);
}

bool bftm_report_won(struct bftm_acquire_op *o)
{
	(void)o;
	return true;
}

bool bftm_report_renewed(struct bftm_acquire_op *o)
{
	(void)o;
	return renewed;
}

int bftm_report_converted(struct bftm_acquire_op *o, int error)
{
	reported = error;
	token_reported = o->client->token;
	return taken;
}

void bftm_report_lost(struct bftm_cluster *c, const struct bftm_ask *ask)
{
	(void)c;
	(void)ask;
}

void bftm_report_refused(const struct bftm_acquire_op *o, u32 refusal)
{
	(void)o;
	(void)refusal;
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
	reported = -1;
	taken = 0;
	renewed = true;
	tries = 0;
	releases = 0;
	outdated = false;
	silent = 0;
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

/* A waiting request asks until it has the lock. */
static void who_waits_does_not_need_it(void **state)
{
	(void)state;
	op.ask.once = false;
	op.ask.way = BFTM_WAY_BACKOFF;
	assert_int_equal(asked_after(1), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(tries, 1);
	assert_int_equal(op.client->phase, BFTM_PHASE_BACKOFF);
}

/* Server 0 refuses, server 1 is silent, and the others grant or say that somebody has it. */
static int ends_with_a_refusal(u8 others, u32 refusal)
{
	struct bftm_msg msg = { .type = BFTM_MSG_REFUSED, .arg = refusal };
	int fate;
	u32 u;

	silent = 1u << 1;
	cl.cfg.resend_ns = 4 * DELTA;
	fate = bftm_attempt_start(&op);
	for (u = 0; u < 4 && fate == BFTM_ATTEMPT_GOES_ON; u++) {
		msg.attempt = op.client->attempt;
		msg.k = 1;
		msg.gno = 3;
		if (u != 1)
			fate = bftm_attempt_answer(&op, u, &msg);
		msg.type = others;
	}
	while (fate == BFTM_ATTEMPT_GOES_ON && now_ns < T0 + 100 * BFTM_NS_PER_SEC) {
		now_ns = op.timer.at_ns;
		fate = bftm_attempt_wake(&op);
	}
	return fate;
}

static void one_that_refuses_is_named_where_it_is_needed(void **state)
{
	(void)state;
	assert_int_equal(ends_with_a_refusal(BFTM_MSG_FREE, BFTM_REFUSED_ACCESS), EACCES);
	assert_true(op.hindered);
}

/* No limit, and one refuses: as if it were silent. */
static void a_request_without_a_limit_ends_as_by_silence(void **state)
{
	(void)state;
	op.ask.once = false;
	assert_int_equal(ends_with_a_refusal(BFTM_MSG_FREE, BFTM_REFUSED_LEASE), ERANGE);
	assert_true(now_ns >= T0 + 30 * BFTM_NS_PER_SEC);
}

static void at_the_end_of_a_limit_it_is_named(void **state)
{
	(void)state;
	op.ask.once = false;
	op.ask.timeout_at_ns = T0 + 5 * BFTM_NS_PER_SEC;
	assert_int_equal(ends_with_a_refusal(BFTM_MSG_FREE, BFTM_REFUSED_LEASE), ERANGE);
	assert_int_equal(now_ns, op.ask.timeout_at_ns);
}

/* Two servers that say so name somebody who has it. */
static void that_somebody_has_it_goes_before(void **state)
{
	(void)state;
	assert_int_equal(ends_with_a_refusal(BFTM_MSG_LOCKED, BFTM_REFUSED_ACCESS), EWOULDBLOCK);
	assert_false(op.hindered);
}

/* Three of four servers grant this mode to the last send. */
static int granted(u8 mode, u16 flags)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_FREE, .attempt = op.client->attempt, .k = op.client->sends,
		.gno = 3 + op.client->sends, .mode = mode, .flags = flags,
	};
	int fate = BFTM_ATTEMPT_GOES_ON;
	u32 u;

	for (u = 0; u < 3 && fate == BFTM_ATTEMPT_GOES_ON; u++)
		fate = bftm_attempt_answer(&op, u, &msg);
	return fate;
}

static void holds(u32 mode)
{
	op.ask.once = false;
	op.ask.mode = mode;
	assert_int_equal(bftm_attempt_start(&op), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(granted(bftm_mode_of(mode), 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(op.client->phase, BFTM_PHASE_HOLD);
}

static int converts(u32 mode, u32 goal, u32 number)
{
	struct bftm_ask ask = op.ask;

	ask.mode = mode;
	ask.goal = goal;
	ask.conversion = number;
	ask.timeout_at_ns = T0 + 100 * MS;
	return bftm_attempt_convert(&op, &ask);
}

static enum bftm_mode held(void)
{
	return bftm_backoff.client->held(op.client);
}

static void up_when_the_kernel_has_taken_it(void **state)
{
	(void)state;
	holds(BFTM_LOCK_PR);
	assert_int_equal(converts(BFTM_LOCK_PR, BFTM_LOCK_EX, 1), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(mode_sent, BFTM_MODE_EX);
	assert_int_equal(held_sent, BFTM_MODE_PR);
	assert_int_equal(reported, -1);
	assert_int_equal(granted(BFTM_MODE_EX, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, 0);
	assert_int_equal(op.ask.mode, BFTM_LOCK_EX);
	/* Down at once, and nobody waits for a report. */
	reported = -1;
	assert_int_equal(converts(BFTM_LOCK_CR, BFTM_LOCK_CR, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(held(), BFTM_MODE_CR);
	assert_int_equal(reported, -1);
	assert_int_equal(op.ask.mode, BFTM_LOCK_CR);
}

/* The program was interrupted meanwhile: what it has is the mode before. */
static void not_when_nobody_waits_any_more(void **state)
{
	(void)state;
	holds(BFTM_LOCK_CW);
	converts(BFTM_LOCK_CW, BFTM_LOCK_PR, 1);
	assert_int_equal(mode_sent, BFTM_MODE_PW);
	taken = -ECANCELED;
	assert_int_equal(granted(BFTM_MODE_PW, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, 0);
	assert_int_equal(op.ask.mode, BFTM_LOCK_CW);
	assert_int_equal(held(), BFTM_MODE_PW);		/* which covers CW */
	assert_int_equal(converts(BFTM_LOCK_CW, BFTM_LOCK_CW, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(held(), BFTM_MODE_CW);
	assert_int_equal(mode_sent, BFTM_MODE_CW);
	/* If it is taken, PW is given up for PR, and not before. */
	taken = 0;
	converts(BFTM_LOCK_CW, BFTM_LOCK_PR, 2);
	assert_int_equal(granted(BFTM_MODE_PW, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(held(), BFTM_MODE_PR);
	assert_int_equal(op.ask.mode, BFTM_LOCK_PR);
}

/* The program has given the lock back meanwhile, and left a value: that comes with the release. */
static void released_by_the_kernels_request_alone(void **state)
{
	static const struct bftm_ask_value left = { .wanted = true, .leaves = { .any = true } };

	(void)state;
	holds(BFTM_LOCK_EX);
	taken = -ESTALE;
	converts(BFTM_LOCK_EX, BFTM_LOCK_PR, 1);
	assert_int_equal(granted(BFTM_MODE_PR, 0), BFTM_ATTEMPT_GOES_ON);
	converts(BFTM_LOCK_PR, BFTM_LOCK_EX, 2);
	assert_int_equal(granted(BFTM_MODE_EX, 0), BFTM_ATTEMPT_GOES_ON);
	/* Nor does any program hear of a longer lease. */
	renewed = false;
	now_ns += 10 * DELTA;
	assert_int_equal(bftm_attempt_renew(&op), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(granted(BFTM_MODE_EX, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(releases, 0);
	assert_int_equal(op.client->phase, BFTM_PHASE_HOLD);
	bftm_attempt_leave(&op, &left);
	assert_int_equal(releases, 1);
	assert_false(doubt_released);
}

static void kept_and_told_why(void **state)
{
	(void)state;
	holds(BFTM_LOCK_PR);
	converts(BFTM_LOCK_PR, BFTM_LOCK_EX, 1);
	assert_int_equal(op.timer.at_ns < T0 + 100 * MS, true);
	assert_int_equal(granted(BFTM_MODE_PR, BFTM_FLAG_DEADLOCK), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, EDEADLK);
	reported = -1;
	converts(BFTM_LOCK_PR, BFTM_LOCK_EX, 2);
	now_ns = T0 + 100 * MS - 1;
	bftm_attempt_wake(&op);
	assert_int_equal(reported, -1);
	assert_true(op.timer.at_ns <= T0 + 100 * MS);
	now_ns = T0 + 100 * MS;
	assert_int_equal(bftm_attempt_wake(&op), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, ETIMEDOUT);
	assert_int_equal(held(), BFTM_MODE_PR);
	assert_int_equal(mode_sent, BFTM_MODE_PR);
	/* Once: what comes now is for nobody. */
	reported = -1;
	assert_int_equal(granted(BFTM_MODE_EX, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, -1);
	assert_int_equal(held(), BFTM_MODE_PR);
}

/* The program went from PR to CR and asked for EX before the daemon heard of either. */
static void down_and_up_in_one_request(void **state)
{
	(void)state;
	holds(BFTM_LOCK_PR);
	assert_int_equal(converts(BFTM_LOCK_CR, BFTM_LOCK_EX, 1), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(mode_sent, BFTM_MODE_EX);
	assert_int_equal(held_sent, BFTM_MODE_CR);
	assert_int_equal(held(), BFTM_MODE_CR);
	assert_int_equal(reported, -1);
	assert_int_equal(granted(BFTM_MODE_CR, BFTM_FLAG_DEADLOCK), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, EDEADLK);
	assert_int_equal(held(), BFTM_MODE_CR);
	assert_int_equal(mode_sent, BFTM_MODE_CR);
	/* From more to less than that nothing is asked. */
	reported = -1;
	converts(BFTM_LOCK_CR, BFTM_LOCK_EX, 2);
	assert_int_equal(granted(BFTM_MODE_EX, 0), BFTM_ATTEMPT_GOES_ON);
	reported = -1;
	assert_int_equal(converts(BFTM_LOCK_CR, BFTM_LOCK_PR, 3), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(reported, 0);
	assert_int_equal(held(), BFTM_MODE_PR);
}

/* The lease was over before the daemon heard of both. */
static void down_and_up_when_it_is_over(void **state)
{
	(void)state;
	holds(BFTM_LOCK_PR);
	now_ns += op.ask.lease_ns;
	assert_int_equal(converts(BFTM_LOCK_CR, BFTM_LOCK_EX, 1), BFTM_ATTEMPT_OVER);
	assert_int_equal(op.client->phase, BFTM_PHASE_DEAD);
	assert_int_equal(releases, 1);
}

/* The servers were updated: who waits cannot win any more, and what is held stays held. */
static void servers_of_another_version(void **state)
{
	(void)state;
	holds(BFTM_LOCK_PR);
	outdated = true;
	assert_int_equal(bftm_attempt_renew(&op), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(converts(BFTM_LOCK_CR, BFTM_LOCK_CR, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(granted(BFTM_MODE_CR, 0), BFTM_ATTEMPT_GOES_ON);
	assert_int_equal(op.client->phase, BFTM_PHASE_HOLD);
	assert_int_equal(releases, 0);
}

static void no_attempt_at_servers_of_another_version(void **state)
{
	(void)state;
	outdated = true;
	op.ask.once = false;
	assert_int_equal(bftm_attempt_start(&op), EPROTONOSUPPORT);
	assert_int_equal(releases, 1);
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
		TEST(one_that_refuses_is_named_where_it_is_needed),
		TEST(a_request_without_a_limit_ends_as_by_silence),
		TEST(at_the_end_of_a_limit_it_is_named),
		TEST(that_somebody_has_it_goes_before),
		TEST(up_when_the_kernel_has_taken_it),
		TEST(not_when_nobody_waits_any_more),
		TEST(released_by_the_kernels_request_alone),
		TEST(kept_and_told_why),
		TEST(down_and_up_in_one_request),
		TEST(down_and_up_when_it_is_over),
		TEST(servers_of_another_version),
		TEST(no_attempt_at_servers_of_another_version),
	};

	return cmocka_run_group_tests_name("attempt", tests, NULL, NULL);
}
