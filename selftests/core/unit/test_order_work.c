// SPDX-License-Identifier: GPL-2.0
/* The memory of objects in use: how many there are at most, and when they go. */
#include <errno.h>
#include <malloc.h>

#include "unit.h"

#include "cluster/cluster.h"
#include "order/ordering.h"

#define MANY (BFTM_WORKS_MAX + 200)

/* The rest of the ordering thread, which these do not need. */
void bftm_order_unlock(struct bftm_order_work *w) { (void)w; }
void bftm_make_free(struct bftm_order_work *w) { (void)w; }
void bftm_make_anew(struct bftm_order_work *w) { (void)w; }
void bftm_submit_stop(struct bftm_order_work *w) { (void)w; }
void bftm_submit_init(struct bftm_order_work *w) { TAILQ_INIT(&w->submit.batch); }
void bftm_bodies_init(struct bftm_order_work *w) { (void)w; }
void bftm_make_init(struct bftm_order_work *w) { (void)w; }
void bftm_iterate(struct bftm_order_work *w) { (void)w; }

static u32 trims;

int malloc_trim(size_t pad)
{
	(void)pad;
	trims++;
	return 1;
}

static struct bftm_counters counters;
static struct bftm_identity identity = { .client = 3, .counters = &counters };
static struct bftm_ordering object[MANY];
static struct bftm_cluster *cluster;

static int set_up(void **state)
{
	u32 i;

	(void)state;
	cluster = calloc(1, sizeof(*cluster));
	for (i = 0; i < MANY; i++)
		object[i] = (struct bftm_ordering){ .identity = &identity };
	trims = 0;
	return !cluster;
}

static int tear_down(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < MANY; i++)
		if (object[i].work)
			bftm_order_work_free(object[i].work);
	free(cluster);
	return 0;
}

static u32 works(void)
{
	u32 i, n = 0;

	for (i = 0; i < MANY; i++)
		n += object[i].work != NULL;
	return n;
}

static int use(u32 i)
{
	struct bftm_order_work *w;
	int err = bftm_order_work_get(&object[i], &w);

	if (!err)
		bftm_order_use(w, cluster);
	return err;
}

/* One after the other: the last ones stay for a while, and take their ranks along. */
static void few_stay(void **state)
{
	struct bftm_order_work *w;
	u32 i;

	(void)state;
	for (i = 0; i < 1200; i++) {
		assert_int_equal(use(i), 0);
		object[i].work->order.rank.count = 7 + i;
		bftm_order_use(object[i].work, NULL);
	}
	assert_int_equal(works(), 128);
	assert_null(object[1200 - 129].work);
	assert_non_null(object[1200 - 128].work);
	assert_int_equal(object[0].ranks, 7);
	assert_int_equal(cluster->acquires.count, 0);
	assert_int_equal(trims, (1200 - 128) / 64);
	/* One that is used again is the last to go. */
	assert_int_equal(use(1200 - 128), 0);
	bftm_order_use(object[1200 - 128].work, NULL);
	assert_int_equal(use(1200), 0);
	bftm_order_use(object[1200].work, NULL);
	assert_non_null(object[1200 - 128].work);
	assert_null(object[1200 - 127].work);
	/* And what was used before has its rank. */
	assert_int_equal(bftm_order_work_get(&object[5], &w), 0);
	assert_int_equal(w->order.rank.count, 12);
}

static void they_go_in_time(void **state)
{
	struct bftm_order_work *w;
	u64 now = bftm_now();

	(void)state;
	assert_int_equal(use(0), 0);
	assert_false(object[0].work->wake.armed);
	bftm_order_use(object[0].work, NULL);
	w = object[0].work;
	assert_true(w->wake.armed);
	assert_true(w->wake.at_ns >= now + 60 * BFTM_NS_PER_SEC);
	assert_true(w->wake.at_ns <= bftm_now() + 60 * BFTM_NS_PER_SEC);
	w->wake.fire(&w->wake);
	assert_int_equal(works(), 0);
	/* The last one: all goes back to the kernel. */
	assert_int_equal(trims, 1);
	/* One that nobody came to use goes as well. */
	assert_int_equal(bftm_order_work_get(&object[0], &w), 0);
	assert_true(w->wake.armed);
	w->wake.fire(&w->wake);
	assert_int_equal(works(), 0);
}

static void not_all_at_once(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < BFTM_WORKS_MAX; i++)
		assert_int_equal(use(i), 0);
	assert_int_equal(cluster->acquires.count, BFTM_WORKS_MAX);
	assert_int_equal(use(i), -ENOBUFS);
	assert_null(object[i].work);
	assert_int_equal(use(0), 0);
	bftm_order_use(object[0].work, NULL);
	assert_int_equal(use(i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(few_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(they_go_in_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_all_at_once, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("objects in use", tests, NULL, NULL);
}
