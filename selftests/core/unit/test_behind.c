// SPDX-License-Identifier: GPL-2.0
/* Servers that say that a client's numbers are behind: n = 4, b = 1. */
#include <string.h>
#include <time.h>

#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "kernel/upcall.h"
#include "files.h"

static struct bftm_cluster cl;
static u32 asked;

/* The rest of the daemon. */

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
static u32 orders_incarnation;

static void unit_restored(struct bftm_identity *id)
{
	orders_incarnation = id->incarnation;
}

static void unit_client(struct bftm_identity *id)
{
	(void)id;
}

static const struct bftm_cluster_service unit_locks = {
	.begin = unit_client, .forget = unit_client,
};
static const struct bftm_cluster_service unit_objects = {
	.begin = unit_client, .forget = unit_client, .restored = unit_restored,
};

const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = {
	&unit_locks, &unit_objects,
};

void bftm_hello(struct bftm_cluster *cluster, u32 to)
{
	assert_ptr_equal(cluster, &cl);
	asked |= to;
}

/* The kernel has refused lower numbers than it had; what is lent goes before HELLO. */
static u32 lent;

bool bftm_upcall_is_open(void)
{
	return true;
}

void bftm_lend_again(struct bftm_cluster *cluster) { (void)cluster; }

void bftm_lend(struct bftm_cluster *cluster)
{
	assert_ptr_equal(cluster, &cl);
	assert_int_equal(asked, 0);
	cl.lent = true;
	lent++;
}

static int begin(void **state)
{
	(void)state;
	memset(&cl, 0, sizeof(cl));
	strcpy(cl.conf.name, "storage");
	cl.conf.n = 4;
	cl.conf.b = 1;
	cl.cred.client = 50;
	asked = lent = 0;
	return bftm_identity_get(unit_dir, 9, 50, &cl.identity);
}

static int end(void **state)
{
	(void)state;
	bftm_identity_put(cl.identity);
	return unlink(unit_path("cluster-9-client-50"));
}

/* Return: what is logged. */
static const char *says(u32 u, u64 top)
{
	unit_listen();
	bftm_behind_heard(&cl, u, &(struct bftm_msg){
		.type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_BEHIND, .gno = top,
	});
	return unit_heard();
}

static u64 later(u64 seconds)
{
	return ((u64)time(NULL) + seconds) << 32 | 99;
}

/* One may lie; what two say is at most what a correct one has taken. */
static void a_new_daemon_goes_on(void **state)
{
	u64 own = bftm_identity_seq(cl.identity), top = later(3600);

	(void)state;
	assert_string_equal(says(0, ~0ull), "");
	assert_int_equal(bftm_identity_seq(cl.identity), own);
	assert_int_equal(asked, 0);
	assert_non_null(strstr(says(2, top), "going on with incarnation"));
	assert_int_equal(lent, 1);
	assert_true(bftm_identity_seq(cl.identity) > top);
	assert_true(bftm_identity_seq(cl.identity) < top + (1ull << 33));
	assert_int_equal(asked, 0xf);
	/* An answer that was under way says nothing new. */
	asked = 0;
	assert_string_equal(says(1, top), "");
	assert_string_equal(says(3, top), "");
	assert_int_equal(asked, 0);
}

/* Numbers that this daemon has passed by itself: an answer that was held back. */
static void what_is_not_ahead_is_nothing(void **state)
{
	u64 own = bftm_identity_seq(cl.identity);
	u32 u;

	(void)state;
	for (u = 0; u < 4; u++)
		assert_string_equal(says(u, own - u), "");
	assert_int_equal(bftm_identity_seq(cl.identity), own);
	assert_int_equal(asked, 0);
}

/* Servers that had taken ours: somebody else is ahead since. It does not take the lead. */
static void another_host(void **state)
{
	u64 own = bftm_identity_seq(cl.identity), top = later(10);
	const char *text;
	u32 u;

	(void)state;
	for (u = 0; u < 4; u++)
		cl.peer[u].taken = true;
	assert_string_equal(says(0, top), "");
	text = says(1, top);
	assert_non_null(strstr(text, "another host uses the keys of client 50"));
	assert_non_null(strstr(text, "make keys of its own"));
	assert_string_equal(says(2, top), "");		/* once a minute */
	assert_int_equal(bftm_identity_seq(cl.identity), own);
	assert_int_equal(asked, 0);
}

/*
 * A virtual machine that was set back, and its clock: its incarnation is the next one that it
 * knows of, and no answer to what it sent before says that it may stay there.
 */
static void set_back(void **state)
{
	u64 own = bftm_identity_seq(cl.identity), attempt = cl.identity->counters->attempt, top;
	u32 u;

	(void)state;
	TAILQ_INSERT_TAIL(&bftm_clusters, &cl, list);
	for (u = 0; u < 4; u++)
		cl.peer[u].taken = true;
	unit_listen();
	assert_int_equal(bftm_clusters_restored(), 0);
	assert_non_null(strstr(unit_heard(), "client 50 goes on with incarnation"));
	TAILQ_REMOVE(&bftm_clusters, &cl, list);
	assert_true(bftm_identity_seq(cl.identity) >> 32 > own >> 32);
	assert_int_equal(cl.first_seq, bftm_identity_seq(cl.identity));
	assert_int_equal(orders_incarnation, cl.identity->incarnation);
	assert_int_equal(asked, 0xf);
	asked = 0;
	assert_int_equal(cl.identity->counters->attempt >> 32, cl.identity->incarnation);
	assert_true(cl.identity->orphan > attempt && cl.identity->orphan & BFTM_ATTEMPT_KERNEL);
	/* The incarnation that was forgotten was further. */
	top = later(3600);
	assert_string_equal(says(0, top), "");
	assert_non_null(strstr(says(1, top), "going on with incarnation"));
	assert_true(bftm_identity_seq(cl.identity) > top);
}

/* One liar, and one that has taken ours: neither is enough for either. */
static void too_few_of_a_kind(void **state)
{
	u64 own = bftm_identity_seq(cl.identity);

	(void)state;
	cl.peer[1].taken = true;
	assert_string_equal(says(0, ~0ull), "");
	assert_string_equal(says(1, later(10)), "");
	assert_int_equal(bftm_identity_seq(cl.identity), own);
	assert_int_equal(asked, 0);
	assert_non_null(strstr(says(2, later(10)), "going on"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_new_daemon_goes_on),
		TEST(what_is_not_ahead_is_nothing),
		TEST(another_host),
		TEST(set_back),
		TEST(too_few_of_a_kind),
	};

	return cmocka_run_group_tests_name("behind", tests, unit_make_dir, unit_remove_dir);
}
