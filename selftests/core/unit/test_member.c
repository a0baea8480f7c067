// SPDX-License-Identifier: GPL-2.0
/* A host that may hold locks without a lease: when it says SYNC, and when it is evicted. */
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/member.h"
#include "cluster/service.h"
#include "loop/log.h"
#include "unit.h"

#define T0	(50 * BFTM_NS_PER_SEC)
#define RESEND	(10 * BFTM_NS_PER_MS)
#define EPOCH	7
#define OF(incarnation, n) ((u64)(incarnation) << 32 | (n))

static struct bftm_cluster cl;
static struct bftm_identity identity;
static u64 now_ns;
static u32 told;		/* servers that know all, a bit mask */
static u32 synced_to, syncs, named;
static u32 evicted, evictions, lines;
static bool restart;		/* the line says so */

u64 bftm_now(void)
{
	return now_ns;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	bool due = !*last_ns || now_ns - *last_ns >= every_ns;

	if (due)
		*last_ns = now_ns;
	return due;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	restart = strstr(format, "restart bftmutexd");
	lines++;
}

void bftm_cluster_send(struct bftm_cluster *c, u32 to, const struct bftm_msg *msg)
{
	assert_ptr_equal(c, &cl);
	assert_int_equal(msg->type, BFTM_MSG_SYNC);
	synced_to = to;
	named = msg->incarnation;
	syncs++;
}

static bool is_told(struct bftm_cluster *c, u32 u)
{
	(void)c;
	return told >> u & 1;
}

static void is_evicted(struct bftm_cluster *c, u32 incarnation)
{
	(void)c;
	evicted = incarnation;
	evictions++;
}

static const struct bftm_cluster_service locks = { .told = is_told, .evicted = is_evicted };
static const struct bftm_cluster_service objects;
const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = { &locks, &objects };

static int fresh(void **state)
{
	u32 u;

	(void)state;
	memset(&cl, 0, sizeof(cl));
	identity = (struct bftm_identity){ .boot = 40, .incarnation = 42 };
	cl.identity = &identity;
	cl.conf.n = 4;
	cl.conf.b = 1;
	cl.conf.leaseless = true;
	cl.cfg.resend_ns = RESEND;
	TAILQ_INIT(&cl.acquires.lasting);
	for (u = 0; u < 4; u++)
		cl.peer[u] = (struct bftm_peer){
			.conf = &cl.conf.server[u],
			.known = { .epoch = EPOCH, .sent_epoch = EPOCH },
		};
	now_ns = T0;
	told = 15;
	synced_to = syncs = named = evicted = evictions = lines = 0;
	return 0;
}

static void sync_names_the_boot(void **state)
{
	(void)state;
	bftm_member_sync(&cl, 2);
	assert_int_equal(synced_to, 4);
	assert_int_equal(named, 40);
	/* Not more often than it is repeated. */
	bftm_member_sync(&cl, 2);
	assert_int_equal(syncs, 1);
	now_ns += RESEND;
	bftm_member_sync(&cl, 2);
	assert_int_equal(syncs, 2);
	now_ns += RESEND;
	bftm_member_synced(&cl, 2, &(struct bftm_msg){ .server_epoch = EPOCH, .incarnation = 40 });
	bftm_member_sync(&cl, 2);
	assert_int_equal(syncs, 2);
}

static void sync_waits_for_what_is_held(void **state)
{
	(void)state;
	told = 1;
	bftm_member_sync(&cl, 1);
	assert_int_equal(syncs, 0);
	bftm_member_sync(&cl, 0);
	assert_int_equal(syncs, 1);
}

static void who_does_not_know_the_boot_says_nothing(void **state)
{
	(void)state;
	identity.boot = 0;
	bftm_member_sync(&cl, 0);
	identity.boot = 40;
	cl.conf.leaseless = false;
	bftm_member_sync(&cl, 0);
	assert_int_equal(syncs, 0);
}

/* One that grants no locks without a lease waits for nobody, but its rules should be mended. */
static void a_refused_sync_is_logged_once(void **state)
{
	struct bftm_msg msg = { .type = BFTM_MSG_REFUSED, .seq = 3, .arg = BFTM_REFUSED_ACCESS };

	(void)state;
	cl.asked[3] = (struct bftm_asked){ .seq = 3, .type = BFTM_MSG_HELLO };
	bftm_member_denied(&cl, 1, &msg);
	assert_int_equal(lines, 0);
	cl.asked[3].type = BFTM_MSG_SYNC;
	bftm_member_denied(&cl, 1, &msg);
	bftm_member_denied(&cl, 1, &msg);
	assert_int_equal(lines, 1);
	bftm_member_denied(&cl, 2, &msg);
	assert_int_equal(lines, 2);
	/* It has heard one since. */
	bftm_member_synced(&cl, 1, &(struct bftm_msg){ .server_epoch = EPOCH, .incarnation = 40 });
	bftm_member_denied(&cl, 1, &msg);
	assert_int_equal(lines, 3);
}

/* The answer of server @u to a request that it refuses; of no attempt: HELLO. */
static void refuses(u32 u, u64 seq, u64 attempt)
{
	bftm_member_refused(&cl, u, &(struct bftm_msg){
		.type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_EVICTED, .seq = seq,
		.attempt = attempt, .name_len = attempt ? 4 : 0,
	});
}

static void one_of_b_plus_1_servers_is_correct(void **state)
{
	(void)state;
	refuses(0, OF(42, 1), 0);
	refuses(0, OF(42, 5), 0);
	assert_int_equal(evictions, 0);
	refuses(3, OF(42, 2), 0);
	assert_int_equal(evicted, 42);
	assert_int_equal(cl.evicted, 42);
	assert_int_equal(lines, 1);
	assert_true(restart);
}

/* Each request of an evicted host is refused, and there may be many locks to look through. */
static void refusals_that_say_nothing_new_are_passed_on_once_a_second(void **state)
{
	u32 i;

	(void)state;
	refuses(0, OF(42, 1), 0);
	refuses(3, OF(42, 2), 0);
	for (i = 0; i < 100; i++)
		refuses(i % 4, OF(42, 3 + i), 0);
	assert_int_equal(evictions, 1);
	/* Locks may have been taken over since. */
	now_ns += BFTM_NS_PER_SEC;
	refuses(3, OF(42, 200), 0);
	assert_int_equal(evictions, 2);
	assert_int_equal(lines, 1);
	refuses(1, OF(43, 1), 0);
	refuses(2, OF(43, 2), 0);
	assert_int_equal(evictions, 3);
	assert_int_equal(evicted, 43);
}

/* ASK has a name, and is of no attempt. */
static void a_question_is_of_the_daemon_that_asks(void **state)
{
	u32 u;

	(void)state;
	for (u = 0; u < 2; u++)
		bftm_member_refused(&cl, u, &(struct bftm_msg){
			.type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_EVICTED,
			.seq = OF(42, 1 + u), .name_len = 4,
		});
	assert_int_equal(evicted, 42);
}

/* REFUSED of a SYNC has no name, and as its attempt the incarnation that SYNC told. */
static void a_refused_sync_is_of_the_daemon_that_sent_it(void **state)
{
	u32 u;

	(void)state;
	for (u = 0; u < 2; u++)
		bftm_member_refused(&cl, u, &(struct bftm_msg){
			.type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_EVICTED,
			.seq = OF(42, 1 + u), .attempt = 40,
		});
	assert_int_equal(evicted, 42);
}

/* The daemon was restarted since: only what the one before has won is lost. */
static void an_attempt_is_of_its_own_incarnation(void **state)
{
	(void)state;
	refuses(0, OF(42, 1), OF(41, 3));
	refuses(1, OF(42, 2), OF(41, 3));
	assert_int_equal(evicted, 41);
	assert_int_equal(lines, 1);
	assert_false(restart);
	/* One server says more. */
	refuses(2, OF(42, 3), 0);
	assert_int_equal(evicted, 41);
	/* It does not matter what is remembered of the request. */
	cl.asked[4] = (struct bftm_asked){ .seq = OF(7, 4), .attempt = OF(42, 9) };
	refuses(3, OF(42, 4), OF(41, 3));
	assert_int_equal(evicted, 41);
	refuses(3, OF(42, 5), 0);
	assert_int_equal(evicted, 42);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sync_names_the_boot),
		TEST(sync_waits_for_what_is_held),
		TEST(who_does_not_know_the_boot_says_nothing),
		TEST(a_refused_sync_is_logged_once),
		TEST(one_of_b_plus_1_servers_is_correct),
		TEST(refusals_that_say_nothing_new_are_passed_on_once_a_second),
		TEST(a_question_is_of_the_daemon_that_asks),
		TEST(a_refused_sync_is_of_the_daemon_that_sent_it),
		TEST(an_attempt_is_of_its_own_incarnation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
