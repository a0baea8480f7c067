// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of one host that can hold a lock together: when each of them begins to ask servers,
 * and what those are told that ask once.
 * A holder that takes a lesser mode lets others begin.
 */
#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/member.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/release.h"
#include "lock/report.h"
#include "loop/log.h"
#include "unit.h"

#define T0	(1000 * BFTM_NS_PER_MS)

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

static struct bftm_cluster cl;
static struct bftm_identity identity;
static char story[256];		/* what became of whom */
static char wanted[256];	/* which holders were told that somebody here waits */
static bool contended;
static bool unknown;		/* the cluster is not configured any more, or not by this name */
static bool pulled;		/* the kernel has told all that is held */
static u64 told_held;		/* the attempt that is of this boot */
static bool whole;		/* … that was adopted: no mode of it was given up */
static u32 released;		/* without a request */
static u32 late;		/* answers to attempts that may be over */
static struct bftm_counters counters;

static void tell(const char *what, u64 id)
{
	size_t len = strlen(story);

	snprintf(story + len, sizeof(story) - len, "%s%s %u", len ? ", " : "", what, (u32)id);
}

/* The rest of the daemon. */

u64 bftm_now(void)
{
	return T0;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	(void)last_ns, (void)every_ns;
	return false;
}

const char *bftm_format_duration(u64 ns, char *buf, size_t len)
{
	(void)ns, (void)len;
	return buf;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	timer->at_ns = at_ns;
}

void bftm_timer_stop(struct bftm_timer *timer)
{
	timer->at_ns = 0;
}

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	(void)name;
	return unknown ? NULL : &cl;
}

struct bftm_cluster *bftm_cluster_configured(u64 configuration)
{
	(void)configuration;
	return unknown ? NULL : &cl;
}

void bftm_evidence_answer(struct bftm_cluster *c, u32 u, struct bftm_acquire_op *op,
			  const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)op, (void)msg;
}

void bftm_release_begin(struct bftm_cluster *c, const u8 *name, u8 len,
			const struct bftm_out *out)
{
	(void)c, (void)name, (void)len, (void)out;
	released++;
}

void bftm_release_answer_from(struct bftm_cluster *c, u32 u, const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)msg;
}

void bftm_release_late(struct bftm_cluster *c, u32 u, const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)msg;
	late++;
}

void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why)
{
	(void)attempts, (void)why;
	tell(error == EWOULDBLOCK ? "busy" : error == ETIMEDOUT ? "late" : "failed", id);
}

int bftm_upcall_converted(const struct bftm_conversion_report *report)
{
	assert_int_equal(report->error, ENOKEY);
	assert_true(report->number);
	tell("cannot convert", report->id);
	return 0;
}

const char *bftm_report_why(const struct bftm_acquire_op *op, int error, char text[BFTM_WHY_MAX])
{
	(void)op, (void)error, (void)text;
	return "";
}

/* As report.c, which test_why.c tests. */
void bftm_report_wanted(struct bftm_acquire_op *op)
{
	enum bftm_mode mode = bftm_ask_mode(&op->ask);
	size_t len = strlen(wanted);

	if (op->client->phase != BFTM_PHASE_HOLD || op->told_wanted == mode ||
	    !bftm_name_wanted(op))
		return;
	op->told_wanted = mode;
	snprintf(wanted + len, sizeof(wanted) - len, "%s%u", len ? ", " : "", (u32)op->ask.id);
}

void bftm_attempt_restarted(struct bftm_acquire_op *op, u32 u)
{
	(void)op, (void)u;
}

bool bftm_is_member(const struct bftm_cluster *c)
{
	return c->conf.leaseless;
}

u64 bftm_upcall_pulled_ns(void)
{
	return pulled;
}

void bftm_identity_holds(struct bftm_identity *id, u64 attempt)
{
	assert_ptr_equal(id, &identity);
	told_held = attempt;
}

void bftm_upcall_evicted(u64 id)
{
	tell("evicted", id);
}

int bftm_attempt_start(struct bftm_acquire_op *op)
{
	tell("asks", op->ask.id);
	op->client->attempt = op->ask.id;
	op->client->phase = BFTM_PHASE_TRY;
	return BFTM_ATTEMPT_GOES_ON;
}

void bftm_attempt_adopt(struct bftm_acquire_op *op, bool is_whole)
{
	whole = is_whole;
	op->client->attempt = op->ask.attempt;
	op->client->phase = BFTM_PHASE_HOLD;
}

int bftm_attempt_renew(struct bftm_acquire_op *op)
{
	(void)op;
	return BFTM_ATTEMPT_GOES_ON;
}

/* Servers hear at once of a mode that is given up; the rest is waited for. */
int bftm_attempt_convert(struct bftm_acquire_op *op, const struct bftm_ask *ask)
{
	tell("converts", ask->id);
	op->ask.mode = ask->mode;
	op->ask.goal = ask->goal;
	op->ask.conversion = ask->conversion;
	return BFTM_ATTEMPT_GOES_ON;
}

int bftm_attempt_wake(struct bftm_acquire_op *op)
{
	(void)op;
	return ETIMEDOUT;
}

void bftm_attempt_give_back(struct bftm_acquire_op *op)
{
	if (op->place != BFTM_PLACE_WAITING)
		tell("gives back", op->ask.id);
}

void bftm_attempt_leave(struct bftm_acquire_op *op, const struct bftm_ask_value *value)
{
	(void)value;
	bftm_attempt_give_back(op);
}

int bftm_attempt_answer(struct bftm_acquire_op *op, u32 u, const struct bftm_msg *msg)
{
	(void)u;
	if (msg->type == BFTM_MSG_FREE && op->client->phase == BFTM_PHASE_TRY) {
		tell("holds", op->ask.id);
		op->client->phase = BFTM_PHASE_HOLD;
	}
	return BFTM_ATTEMPT_GOES_ON;
}

void bftm_attempt_epoch(struct bftm_acquire_op *op, u32 u)
{
	(void)op, (void)u;
}

bool bftm_attempt_contended(const struct bftm_acquire_op *op)
{
	(void)op;
	return contended;
}

static u64 seen(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)c, (void)cfg;
	return 0;
}

static size_t size(u32 n)
{
	(void)n;
	return sizeof(struct bftm_contender);
}

static void no_restart(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u, u64 now,
		       struct bftm_out *out)
{
	(void)c, (void)cfg, (void)u, (void)now, (void)out;
}

static const struct bftm_client_ops ops = { .seen = seen, .size = size, .restarted = no_restart };
static const struct bftm_protocol protocol = { .client = &ops };

static int one_cluster(void **state)
{
	(void)state;
	memset(&cl, 0, sizeof(cl));
	memset(&identity, 0, sizeof(identity));
	bftm_names_init(&identity.names);
	cl.identity = &identity;
	cl.protocol = &protocol;
	cl.conf.lease_max_ns = BFTM_NS_PER_SEC;
	cl.conf.leaseless = true;
	cl.configuration = 7ull << 32 | 1;
	TAILQ_INIT(&bftm_clusters);
	TAILQ_INSERT_TAIL(&bftm_clusters, &cl, list);
	TAILQ_INIT(&cl.acquires.lasting);
	identity.boot = 1;
	identity.orphan = 1000;
	counters.attempt = 1000;
	identity.counters = &counters;
	pulled = false;
	told_held = 0;
	released = 0;
	contended = false;
	unknown = false;
	*story = '\0';
	*wanted = '\0';
	return 0;
}

static int forgotten(void **state)
{
	(void)state;
	bftm_acquire_forget();
	bftm_names_free(&identity.names);
	return 0;
}

static struct bftm_ask ask_of(u64 id, u32 mode)
{
	return (struct bftm_ask){
		.id = id, .name = "x", .name_len = 1, .mode = mode, .lease_ns = BFTM_NS_PER_MS,
	};
}

static void waits(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.timeout_at_ns = T0 + 1;
	bftm_acquire_begin(&ask);
}

static void tries(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.once = true;
	ask.timeout_at_ns = T0 + 1;
	bftm_acquire_begin(&ask);
}

static void adopts(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.attempt = id;
	ask.end_ns = T0 + 1;
	bftm_acquire_held(&ask);
}

/* Holds @mode, and wants @goal. */
static void converts(u64 id, u32 mode, u32 goal, u32 number)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.goal = goal;
	ask.conversion = number;
	ask.attempt = id;
	ask.end_ns = T0 + 1;
	bftm_acquire_convert(&ask);
}

static void releases(u64 id)
{
	struct bftm_ask ask = ask_of(id, 0);

	bftm_acquire_release(&ask);
}

static void answer(u64 id, u8 type)
{
	struct bftm_msg msg = { .type = type, .attempt = id, .name = "x", .name_len = 1 };

	bftm_acquire_answer(&cl, 0, &msg);
}

static void free_for(u64 id)
{
	answer(id, BFTM_MSG_FREE);
}

/* A server says that somebody else has the lock; enough others have said so. */
static void locked_for(u64 id)
{
	contended = true;
	answer(id, BFTM_MSG_LOCKED);
}

static void readers_hold_together_and_a_writer_comes_between(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	waits(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_EX);
	waits(4, BFTM_LOCK_PR);
	free_for(1);
	free_for(2);
	releases(1);
	releases(2);
	free_for(3);
	releases(3);
	free_for(4);
	assert_string_equal(story, "asks 1, holds 1, asks 2, holds 2, gives back 1, gives back 2, "
			    "asks 3, holds 3, gives back 3, asks 4, holds 4");
}

static void an_answer_to_a_holder_does_not_begin_another(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_PR);
	free_for(1);			/* a renewal */
	assert_string_equal(story, "asks 1, holds 1, asks 2");
}

static void one_that_is_adopted_is_beside_a_reader(void **state)
{
	(void)state;
	adopts(1, BFTM_LOCK_PR);
	waits(2, BFTM_LOCK_EX);
	waits(3, BFTM_LOCK_PR);
	bftm_acquire_cancel(2);
	assert_string_equal(story, "asks 3");
}

static void who_waits_here_too_long_lets_others_by(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_EX);
	waits(3, BFTM_LOCK_PR);
	identity.names.tree.rbh_root->waiting.tqh_first->timer.fire(
		&identity.names.tree.rbh_root->waiting.tqh_first->timer);
	assert_string_equal(story, "asks 1, holds 1, late 2, asks 3");
}

static void who_asks_once_is_busy_behind_what_it_excludes(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	tries(2, BFTM_LOCK_EX);
	tries(3, BFTM_LOCK_PW);
	tries(4, BFTM_LOCK_PR);
	free_for(4);
	waits(5, BFTM_LOCK_EX);
	tries(6, BFTM_LOCK_PR);		/* would overtake the writer */
	tries(7, BFTM_LOCK_CR);
	assert_string_equal(story, "asks 1, holds 1, busy 2, busy 3, asks 4, holds 4, busy 6, busy 7");
}

/* While a first one asks for it, two more that can hold it too wait for the answers. */
static void who_asks_once_waits_for_the_first_answers(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	tries(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_EX);
	free_for(1);
	free_for(2);
	free_for(3);
	assert_string_equal(story, "asks 1, busy 4, holds 1, asks 2, holds 2, asks 3, holds 3");
}

static void and_is_busy_when_others_have_it(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_PR);
	locked_for(1);
	tries(5, BFTM_LOCK_PR);
	contended = false;
	free_for(1);
	free_for(3);
	assert_string_equal(story, "asks 1, busy 2, busy 4, busy 5, holds 1, asks 3, holds 3");
}

static void but_not_for_ever(void **state)
{
	struct bftm_acquire_op *op;

	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	op = bftm_name_once(bftm_name_find(&identity.names, (const u8 *)"x", 1));
	assert_non_null(op);
	assert_int_equal(op->timer.at_ns, T0 + 1);
	op->timer.fire(&op->timer);
	assert_string_equal(story, "asks 1, late 2");
}

/* EX to CW to CR: each begins as soon as nothing that is held excludes it. */
static void others_begin_when_a_holder_takes_a_lesser_mode(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_EX);
	free_for(1);
	waits(2, BFTM_LOCK_CW);
	waits(3, BFTM_LOCK_PW);
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_PR, 0);
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	free_for(2);
	converts(2, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	assert_string_equal(story, "asks 1, holds 1, converts 1, converts 1, asks 2, holds 2, "
			    "converts 2, asks 3");
}

/* Servers know who goes before: it is held as before until they have answered. */
static void one_that_wants_more_keeps_nobody_here_from_asking(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 1);
	waits(2, BFTM_LOCK_PR);
	assert_string_equal(story, "asks 1, holds 1, converts 1, asks 2");
}

static void a_conversion_of_an_earlier_daemon_is_taken_over(void **state)
{
	(void)state;
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 7);
	waits(2, BFTM_LOCK_EX);
	assert_string_equal(story, "converts 1");
	releases(1);
	assert_string_equal(story, "converts 1, gives back 1, asks 2");
}

/* Holders hear of those that wait here, before them or after; and once more in another mode. */
static void holders_hear_of_those_that_wait_here(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_CR);
	adopts(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_PR);
	assert_string_equal(wanted, "");
	waits(5, BFTM_LOCK_EX);
	assert_string_equal(wanted, "1, 3");
	free_for(2);			/* it came before */
	assert_string_equal(wanted, "1, 3, 2");
	free_for(2);
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	assert_string_equal(wanted, "1, 3, 2, 1");
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_EX, 8);
	assert_string_equal(wanted, "1, 3, 2, 1, 1");
}

/* Servers need not tell them: they know what each of them holds, perhaps. */
static void and_of_those_that_convert_here(void **state)
{
	(void)state;
	adopts(1, BFTM_LOCK_PR);
	adopts(2, BFTM_LOCK_PR);
	converts(2, BFTM_LOCK_PR, BFTM_LOCK_CR, 0);
	assert_string_equal(wanted, "");
	converts(2, BFTM_LOCK_CR, BFTM_LOCK_EX, 7);
	assert_string_equal(wanted, "1");
	/* An earlier daemon went on with that one. */
	adopts(3, BFTM_LOCK_CR);
	assert_string_equal(wanted, "1, 3");
	converts(3, BFTM_LOCK_CR, BFTM_LOCK_EX, 8);
	assert_string_equal(wanted, "1, 3, 2, 3");
}

static void or_reported_where_that_cannot_be(void **state)
{
	(void)state;
	unknown = true;
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 7);
	converts(2, BFTM_LOCK_PR, BFTM_LOCK_PR, 0);	/* nobody waits */
	assert_string_equal(story, "cannot convert 1");
}

static void lasts(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.lease_ns = BFTM_LEASE_NONE;
	bftm_acquire_begin(&ask);
}

/* Its requests fail, its locks without a lease are lost; leases end by themselves. */
static void an_evicted_host(void **state)
{
	(void)state;
	lasts(1, BFTM_LOCK_CR);
	free_for(1);
	waits(2, BFTM_LOCK_CR);
	free_for(2);
	lasts(3, BFTM_LOCK_PR);
	/* It has waited for its turn here, and is refused when that comes. */
	lasts(4, BFTM_LOCK_EX);
	bftm_acquire_evicted(&cl, 0);
	assert_string_equal(story, "asks 1, holds 1, asks 2, holds 2, asks 3, evicted 1, "
			    "gives back 3, failed 3");
	*story = '\0';
	bftm_acquire_evicted(&cl, 0);
	assert_string_equal(story, "evicted 1");
	releases(1);
	releases(2);
	assert_string_equal(story, "evicted 1, gives back 1, gives back 2, asks 4");
}

static void no_member_asks_for_it(void **state)
{
	(void)state;
	cl.conf.leaseless = false;
	lasts(1, BFTM_LOCK_EX);
	assert_string_equal(story, "failed 1");
}

/* It says how fast its server is, and whether that may be suspected. */
static void an_answer_after_the_end_is_looked_at(void **state)
{
	(void)state;
	late = 0;
	free_for(9);
	assert_int_equal(late, 1);
	answer(9, BFTM_MSG_RELEASED);
	assert_int_equal(late, 1);
}

static void told_by(void (*how)(const struct bftm_ask *), u64 attempt, u64 configuration)
{
	struct bftm_ask ask = ask_of(attempt, BFTM_LOCK_EX);

	ask.attempt = attempt;
	ask.end_ns = T0 + 1;
	ask.configuration = configuration;
	how(&ask);
}

/* A SYNC that names a later boot would end a lease, too. */
static void all_that_is_held_is_of_this_boot(void **state)
{
	(void)state;
	told_by(bftm_acquire_held, 1, cl.configuration);
	assert_int_equal(told_held, 1);
	told_by(bftm_acquire_renew, 2, cl.configuration);
	assert_int_equal(told_held, 2);
	told_by(bftm_acquire_convert, 3, cl.configuration);
	assert_int_equal(told_held, 3);
	told_by(bftm_acquire_held, 4, 0);
	assert_int_equal(told_held, 4);
	/* It cannot be taken over. */
	unknown = true;
	told_by(bftm_acquire_held, 5, cl.configuration + 1);
	assert_int_equal(told_held, 5);
	/* Of another client. */
	told_by(bftm_acquire_held, 6, 8ull << 32);
	assert_int_equal(told_held, 5);
}

/* Servers know the mode of what the kernel won by itself, unless it has been given up. */
static void what_the_kernel_won_is_whole(void **state)
{
	(void)state;
	told_by(bftm_acquire_held, 1003, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_renew, 1005, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_convert, 1007, cl.configuration);
	assert_false(whole);
	/* An earlier daemon has gone on with these. */
	told_by(bftm_acquire_renew, 1009, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_renew, 999, cl.configuration);
	assert_false(whole);
	told_by(bftm_acquire_renew, 1011, cl.configuration);
	told_by(bftm_acquire_renew, 998, cl.configuration);
	assert_false(whole);
}

static void what_a_renamed_cluster_holds_is_not_given_back(void **state)
{
	const u64 boot = 1ull << 32;

	(void)state;
	identity.orphan = counters.attempt = boot | 1000;
	unknown = true;
	told_by(bftm_acquire_held, boot | 2, cl.configuration + 1);
	told_by(bftm_acquire_held, boot | 4, 8ull << 32);
	unknown = false;
	pulled = true;
	free_for(boot | 2);
	free_for(boot | 4);
	/* That one is another client's. */
	assert_int_equal(released, 1);
	free_for(boot | 6);
	assert_int_equal(released, 2);
}

/* State directory and clock were set back, so an earlier daemon drew higher numbers. */
static void what_is_held_by_a_higher_number_is_not_given_back(void **state)
{
	const u64 low = 5ull << 32, high = 9ull << 32;

	(void)state;
	identity.orphan = low | 1;
	counters.attempt = low | 8;
	told_by(bftm_acquire_held, high | 2, cl.configuration);
	free_for(high | 2);
	free_for(high | 4);		/* the kernel has more to tell */
	assert_int_equal(released, 0);
	pulled = true;
	free_for(high | 2);
	assert_int_equal(released, 0);
	free_for(high | 4);
	assert_int_equal(released, 1);
	/* Servers have made this daemon go on above. */
	counters.attempt = 10ull << 32;
	pulled = false;
	free_for(high | 2);
	free_for(high | 4);
	assert_int_equal(released, 1);
	/* This daemon drew that one, and does not have it any more: it is over. */
	counters.attempt = 10ull << 32 | 8;
	free_for(10ull << 32 | 6);
	assert_int_equal(released, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, one_cluster, forgotten)
	const struct CMUnitTest tests[] = {
		TEST(readers_hold_together_and_a_writer_comes_between),
		TEST(an_answer_to_a_holder_does_not_begin_another),
		TEST(one_that_is_adopted_is_beside_a_reader),
		TEST(who_waits_here_too_long_lets_others_by),
		TEST(who_asks_once_is_busy_behind_what_it_excludes),
		TEST(who_asks_once_waits_for_the_first_answers),
		TEST(and_is_busy_when_others_have_it),
		TEST(but_not_for_ever),
		TEST(others_begin_when_a_holder_takes_a_lesser_mode),
		TEST(one_that_wants_more_keeps_nobody_here_from_asking),
		TEST(a_conversion_of_an_earlier_daemon_is_taken_over),
		TEST(an_evicted_host),
		TEST(no_member_asks_for_it),
		TEST(or_reported_where_that_cannot_be),
		TEST(an_answer_after_the_end_is_looked_at),
		TEST(all_that_is_held_is_of_this_boot),
		TEST(what_the_kernel_won_is_whole),
		TEST(what_a_renamed_cluster_holds_is_not_given_back),
		TEST(what_is_held_by_a_higher_number_is_not_given_back),
		TEST(holders_hear_of_those_that_wait_here),
		TEST(and_of_those_that_convert_here),
	};

	return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
