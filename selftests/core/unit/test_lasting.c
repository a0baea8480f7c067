// SPDX-License-Identifier: GPL-2.0
/* Locks without a lease in the daemon: what servers are told of, and when all is told. */
#include <errno.h>
#include <string.h>

#include "core/peer.h"
#include "cluster/cluster.h"
#include "cluster/member.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/lasting.h"
#include "unit.h"
#include "files.h"

#define BOOT	40ull
#define EPOCH	7
/* Upper halves of configurations' numbers: of one client, and of another. */
#define OURS	(3ull << 32)
#define THEIRS	(4ull << 32)

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

static struct bftm_cluster now, before;
static struct bftm_identity identity, stranger;
static struct bftm_counters counters;
static struct bftm_acquire_op op;
static struct bftm_contender contender;
static u64 pulled_ns;
static u32 untold;		/* servers that were not told of @op, a bit mask */
static u32 restarted;

u64 bftm_upcall_pulled_ns(void)
{
	return pulled_ns;
}

bool bftm_is_member(const struct bftm_cluster *cl)
{
	return cl->conf.leaseless;
}

void bftm_attempt_restarted(struct bftm_acquire_op *which, u32 u)
{
	assert_ptr_equal(which, &op);
	restarted |= 1u << u;
}

void bftm_identity_holds(struct bftm_identity *id, u64 attempt)
{
	(void)id;
	(void)attempt;
}

static bool retold(const struct bftm_contender *c, u32 u)
{
	assert_ptr_equal(c, &contender);
	return !(untold >> u & 1);
}

static void no_restart(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u, u64 at,
		       struct bftm_out *out)
{
	(void)c, (void)cfg, (void)u, (void)at, (void)out;
}

static const struct bftm_client_ops core = { .retold = retold, .restarted = no_restart };
static const struct bftm_protocol protocol = { .client = &core };

static void cluster_init(struct bftm_cluster *cl, u16 first_id)
{
	u32 u;

	memset(cl, 0, sizeof(*cl));
	cl->protocol = &protocol;
	cl->identity = &identity;
	cl->configuration = OURS | first_id;
	cl->conf.n = 4;
	cl->conf.leaseless = true;
	for (u = 0; u < 4; u++) {
		cl->conf.server[u].id = (u16)(first_id + u);
		cl->peer[u].known.epoch = EPOCH;
	}
	TAILQ_INIT(&cl->acquires.lasting);
	TAILQ_INSERT_TAIL(&bftm_clusters, cl, list);
}

static int fresh(void **state)
{
	(void)state;
	TAILQ_INIT(&bftm_clusters);
	cluster_init(&now, 1);
	cluster_init(&before, 3);	/* its servers 3 and 4 are those of now as well */
	counters.attempt = BOOT << 32 | 100;
	identity = (struct bftm_identity){
		.boot = BOOT, .counters = &counters, .orphan = counters.attempt,
	};
	op = (struct bftm_acquire_op){ .cluster = &now, .client = &contender };
	pulled_ns = 1;
	untold = restarted = 0;
	bftm_lasting_forget();
	return 0;
}

static void holds(struct bftm_cluster *cl)
{
	op.cluster = cl;
	TAILQ_INSERT_TAIL(&cl->acquires.lasting, &op, lasting);
}

static const struct bftm_ask lasts = {
	.id = 5, .attempt = BOOT << 32 | 6, .lease_ns = BFTM_LEASE_NONE, .configuration = OURS,
	.cluster = "one", .name = "x\n", .name_len = 2,
}, leased = {
	.id = 6, .attempt = BOOT << 32 | 8, .lease_ns = BFTM_NS_PER_SEC, .configuration = OURS,
};

static struct bftm_ask of(u64 configuration, const struct bftm_ask *ask)
{
	struct bftm_ask other = *ask;

	other.configuration = configuration;
	return other;
}

static void nothing_is_told_before_the_kernel_has_told_all(void **state)
{
	(void)state;
	assert_true(bftm_lasting_told(&now, 0));
	pulled_ns = 0;
	assert_false(bftm_lasting_told(&now, 0));
	assert_false(bftm_lasting_disowns(&now, BOOT << 32 | 2));
}

static void a_server_is_told_of_each_lock(void **state)
{
	(void)state;
	holds(&now);
	untold = 2;
	assert_true(bftm_lasting_told(&now, 0));
	assert_false(bftm_lasting_told(&now, 1));
	bftm_lasting_epoch(&now, 3);
	assert_int_equal(restarted, 8);
}

/* Its old configuration has server 3 as number 0. */
static void locks_of_an_old_configuration_count(void **state)
{
	(void)state;
	holds(&before);
	untold = 1;
	assert_true(bftm_lasting_told(&now, 0));
	assert_false(bftm_lasting_told(&now, 2));
	assert_true(bftm_lasting_told(&now, 3));
	/* It has not heard of this start of the server yet. */
	now.peer[3].known.epoch = EPOCH + 1;
	assert_false(bftm_lasting_told(&now, 3));
	before.identity = &stranger;
	assert_true(bftm_lasting_told(&now, 3));
}

static void a_lock_that_cannot_be_taken_over_is_not_told(void **state)
{
	const struct bftm_ask another = of(THEIRS, &lasts), unknown = of(0, &lasts);

	(void)state;
	unit_listen();
	bftm_lasting_missed(&lasts);
	assert_non_null(strstr(unit_heard(), "cluster one: lock 'x\\x0a' is held without a lease"));
	assert_false(bftm_lasting_told(&now, 0));
	assert_false(bftm_lasting_disowns(&now, BOOT << 32 | 2));
	unit_listen();
	bftm_lasting_missed(&lasts);	/* said once more */
	assert_string_equal(unit_heard(), "");
	bftm_lasting_gone(lasts.id);
	assert_true(bftm_lasting_told(&now, 0));
	bftm_lasting_missed(&another);
	assert_true(bftm_lasting_told(&now, 0));
	bftm_lasting_gone(another.id);
	/* It may be anybody's. */
	bftm_lasting_missed(&unknown);
	assert_false(bftm_lasting_told(&now, 0));
	assert_false(bftm_lasting_disowns(&now, lasts.attempt));
	bftm_lasting_forget();
	assert_true(bftm_lasting_told(&now, 0));
}

static void what_is_held_is_not_disowned(void **state)
{
	(void)state;
	assert_true(bftm_lasting_disowns(&now, leased.attempt));
	bftm_lasting_missed(&leased);
	assert_false(bftm_lasting_disowns(&now, leased.attempt));
	assert_true(bftm_lasting_disowns(&now, leased.attempt + 2));
	/* A lease ends by itself, so nobody waits for it. */
	assert_true(bftm_lasting_told(&now, 0));
	/* … unless SYNC would say that it is of an earlier boot. */
	identity.boot = BOOT + 1;
	assert_false(bftm_lasting_told(&now, 0));
	identity.boot = BOOT;
	assert_false(bftm_lasting_disowns(&now, (BOOT - 1) << 32 | 2));
	now.conf.leaseless = false;
	assert_false(bftm_lasting_disowns(&now, leased.attempt + 2));
	bftm_lasting_forget();
}

static void only_members_ask_for_it(void **state)
{
	struct bftm_client_ops old = core;
	const struct bftm_protocol other = { .client = &old };
	const char *why;

	(void)state;
	assert_int_equal(bftm_lasting_check(&now, &why), 0);
	now.protocol = &other;
	old.restarted = NULL;
	assert_int_equal(bftm_lasting_check(&now, &why), EPROTONOSUPPORT);
	identity.boot = 0;
	assert_int_equal(bftm_lasting_check(&now, &why), EACCES);
	assert_non_null(strstr(why, "before it is booted"));
	now.conf.leaseless = false;
	assert_int_equal(bftm_lasting_check(&now, &why), EACCES);
	assert_non_null(strstr(why, "leaseless = yes"));
	assert_in_range(strlen(why), 1, BFTM_WHY_MAX - 1);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_told_before_the_kernel_has_told_all),
		TEST(a_server_is_told_of_each_lock),
		TEST(locks_of_an_old_configuration_count),
		TEST(a_lock_that_cannot_be_taken_over_is_not_told),
		TEST(what_is_held_is_not_disowned),
		TEST(only_members_ask_for_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
