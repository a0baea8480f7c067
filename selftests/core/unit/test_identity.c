// SPDX-License-Identifier: GPL-2.0
/* Numbers of a client, over starts of its daemon. */
#include <time.h>

#include "helper/identity.h"
#include "helper/order.h"
#include "files.h"

/* The rest of the daemon. */

void bftm_orders_free(struct bftm_identity *id)
{
	(void)id;
}

static struct bftm_identity *start(void)
{
	struct bftm_identity *id = NULL;

	assert_int_equal(bftm_identity_get(unit_dir, 9, 50, &id), 0);
	assert_non_null(id);
	return id;
}

/* Whoever is the next to start begins above all that were drawn. */
static void starts_above(struct bftm_identity *id)
{
	u64 seq = bftm_identity_seq(id), attempt = id->counters->attempt;

	bftm_identity_put(id);
	id = start();
	assert_true(bftm_identity_seq(id) >= seq + BFTM_WINDOW_BITS);
	assert_true(id->counters->attempt > (attempt | BFTM_ATTEMPT_KERNEL));
	assert_true(id->orphan >= id->counters->attempt);
	bftm_identity_put(id);
}

static void forget(void)
{
	assert_int_equal(unlink(unit_path("cluster-9-client-50")), 0);
}

static void each_start_is_an_incarnation(void **state)
{
	time_t now = time(NULL);
	struct bftm_identity *id = start(), *same = start();

	(void)state;
	assert_ptr_equal(id, same);
	bftm_identity_put(same);
	assert_int_equal(id->counters->attempt >> 32, bftm_identity_seq(id) >> 32);
	assert_in_range(bftm_identity_seq(id) >> 32, now, now + 60);
	starts_above(id);
	starts_above(start());
	forget();
}

/*
 * With a recorded incarnation that the clock has not reached, the next is but one above. Who
 * uses up one, or more, is followed by who begins above all the same.
 */
static void more_numbers_than_an_incarnation_has(void **state)
{
	static const u64 drawn[] = { 1, 1ull << 30, 3ull << 30, 1ull << 32, 5ull << 32 };
	char text[32];
	size_t i;
	int len;

	(void)state;
	len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)time(NULL) + 1000000);
	for (i = 0; i < 2 * ARRAY_SIZE(drawn); i++) {
		struct bftm_identity *id;

		unit_write("cluster-9-client-50", text, (size_t)len, 0600);
		id = start();
		if (i % 2)
			id->counters->seq += drawn[i / 2];
		else
			id->counters->attempt += drawn[i / 2];
		bftm_identity_keep(id);
		starts_above(id);
	}
	forget();
}

static void a_file_that_cannot_be_written(void **state)
{
	struct bftm_identity *id = start();
	u64 recorded = id->recorded;
	int fd = id->fd;

	(void)state;
	id->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(id->fd >= 0);
	id->counters->seq += 1ull << 33;
	unit_listen();
	bftm_identity_keep(id);
	bftm_identity_keep(id);
	assert_string_equal(unit_heard(), "cluster 9: incarnation of client 50: Bad file descriptor\n");
	assert_int_equal(id->recorded, recorded);
	close(id->fd);
	/* It can be later. */
	id->fd = fd;
	bftm_identity_keep(id);
	assert_int_equal(id->recorded, recorded + 2);
	starts_above(id);
	forget();
}

/* Operations get a new one all the same, and the file is told when it can be. */
static void operations_while_it_cannot_be_written(void **state)
{
	struct bftm_identity *id = start();
	u32 before = id->incarnation;
	int fd = id->fd;

	(void)state;
	id->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_true(id->fd >= 0);
	unit_listen();
	assert_int_equal(bftm_identity_renew(id), before + 1);
	assert_string_equal(unit_heard(),
			    "cluster 9: incarnation of client 50: Bad file descriptor\n");
	assert_int_equal(id->recorded, before);
	close(id->fd);
	id->fd = fd;
	bftm_identity_keep(id);
	assert_int_equal(id->recorded, before + 1);
	starts_above(id);
	id = start();
	assert_true(id->incarnation > before + 1);
	bftm_identity_put(id);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_start_is_an_incarnation),
		cmocka_unit_test(more_numbers_than_an_incarnation_has),
		cmocka_unit_test(a_file_that_cannot_be_written),
		cmocka_unit_test(operations_while_it_cannot_be_written),
	};

	return cmocka_run_group_tests_name("identity", tests, unit_make_dir, unit_remove_dir);
}
