// SPDX-License-Identifier: GPL-2.0
/* Numbers of a client, over starts of its daemon. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "cluster/identity.h"
#include "cluster/service.h"
#include "files.h"

#define UNRECORDED \
	"cluster 9: the incarnation of client 50 cannot be written to --state: Bad file descriptor; " \
	"the next bftmutexd may begin with numbers that servers have taken\n"

/* The rest of the daemon. */

static void unit_client(struct bftm_identity *id)
{
	(void)id;
}

static const struct bftm_cluster_service unit_service = {
	.begin = unit_client, .forget = unit_client,
};

const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = {
	&unit_service, &unit_service,
};

static struct bftm_identity *start(void)
{
	struct bftm_identity *id = NULL;

	assert_int_equal(bftm_identity_get(unit_dir, 9, 50, &id), 0);
	assert_non_null(id);
	return id;
}

/* The next daemon begins above all that were drawn. */
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
 * With a recorded incarnation that the clock has not reached, the next is but one above. After a
 * daemon that used up an incarnation, or more, the next one begins above all the same.
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
	assert_string_equal(unit_heard(), UNRECORDED);
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
	assert_string_equal(unit_heard(), UNRECORDED);
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

/* Seconds of the wall clock, while they fit and grow. */
static void the_next_incarnation(void **state)
{
	static const struct {
		u64 clock, last, next;	/* next 0: none */
		int err;
	} row[] = {
		{ 1790000000, 0, 1790000000, 0 },
		{ 1790000000, 1789999999, 1790000000, 0 },
		{ 1790000000, 1790000000, 1790000001, 0 },
		{ 5, 1790000000, 1790000001, 0 },		/* a clock of 1970 */
		{ 4290000000, 1790000000, 4290000000, 0 },	/* of 2105 */
		{ 1790000000, 4290000000, 4290000001, 0 },	/* right again */
		{ UINT32_MAX, 1790000000, UINT32_MAX, 0 },
		{ 1790000000, UINT32_MAX - 1, UINT32_MAX, 0 },
		{ 1790000000, UINT32_MAX, 0, -EOVERFLOW },
		{ 4417977600, 1790000000, 0, -EOVERFLOW },	/* of 2110 */
		{ 4417977600, 0, 0, -EOVERFLOW },
		{ ~0ull, 0, 0, -EOVERFLOW },			/* before 1970 */
		{ 1790000000, 4417977600, 0, -EUCLEAN },
		{ 1790000000, ~0ull, 0, -EUCLEAN },
	};
	size_t i;
	u64 next;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		next = 0;
		assert_int_equal(bftm_incarnation_next(row[i].clock, row[i].last, &next),
				 row[i].err);
		assert_int_equal(next, row[i].next);
	}
}

/* It is said what is wrong, and the file is left as it is. */
static void a_file_of_2110(void **state)
{
	static const char *const holds[] = { "4417977600\n", "4294967295\n" };
	static const char *const says[] = {
		"holds 4417977600, above all numbers that client 50 may have (4294967295)",
		"no number is left for client 50",
	};
	struct bftm_identity *id = NULL;
	char text[32] = {};
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(holds); i++) {
		unit_write("cluster-9-client-50", holds[i], strlen(holds[i]), 0600);
		unit_listen();
		assert_int_equal(bftm_identity_get(unit_dir, 9, 50, &id),
				 i ? -EOVERFLOW : -EUCLEAN);
		assert_null(id);
		assert_non_null(strstr(unit_heard(), says[i]));
		fd = open(unit_path("cluster-9-client-50"), O_RDONLY | O_CLOEXEC);
		assert_int_equal(read(fd, text, sizeof(text)), (ssize_t)strlen(holds[i]));
		assert_string_equal(text, holds[i]);
		close(fd);
	}
	forget();
	id = start();
	bftm_identity_put(id);
	forget();
}

/* Above what servers have taken, for this daemon and the next. */
static void going_on_above(void **state)
{
	u64 top = (u64)(time(NULL) + 3600) << 32 | 12345;
	struct bftm_identity *id = start();
	u64 attempt = id->counters->attempt;

	(void)state;
	assert_true(bftm_identity_seq(id) < top);
	assert_int_equal(bftm_identity_pass(id, top), 0);
	assert_true(bftm_identity_seq(id) > top);
	assert_int_equal(bftm_identity_seq(id) >> 32, id->incarnation);
	assert_int_equal(id->incarnation, (top >> 32) + 1);
	assert_true(id->counters->attempt > (attempt | BFTM_ATTEMPT_KERNEL));
	assert_int_equal(id->counters->attempt >> 32, id->incarnation);
	/* There is room for as many numbers as after a start. */
	assert_true((u32)id->counters->attempt < 1u << 31);
	starts_above(id);
	id = start();
	assert_true(bftm_identity_seq(id) > top);
	/* Nothing is above the end; nothing changes then. */
	attempt = id->counters->attempt;
	top = bftm_identity_seq(id);
	unit_listen();
	assert_int_equal(bftm_identity_pass(id, ~0ull), -EOVERFLOW);
	assert_non_null(strstr(unit_heard(), "none are left"));
	assert_int_equal(bftm_identity_seq(id), top);
	assert_int_equal(id->counters->attempt, attempt);
	starts_above(id);
	forget();
}

/* The first incarnation since the host booted, which SYNC names. */
static void boot_is_kept(void **state)
{
	struct bftm_identity *id;
	u32 first;

	(void)state;
	bftm_boot_id_set("0a1b-2c\n");
	id = start();
	assert_string_equal(id->boot_id, "0a1b2c");
	assert_int_equal(id->boot, id->incarnation);
	assert_false(id->lends);
	/* The kernel never listened to that one: it told the daemon of nothing. */
	bftm_identity_put(id);
	id = start();
	first = id->boot;
	assert_int_equal(first, id->incarnation);
	assert_false(id->lends);
	bftm_identity_lends(id);
	/* Operations take another one. */
	assert_true(bftm_identity_renew(id) > first);
	assert_int_equal(id->boot, first);
	bftm_identity_put(id);
	id = start();
	assert_true(id->incarnation > first);
	assert_int_equal(id->boot, first);
	assert_true(id->lends);
	bftm_identity_put(id);
	bftm_boot_id_set("0a1b2d");
	id = start();
	assert_int_equal(id->boot, id->incarnation);
	bftm_identity_put(id);
	forget();
}

/* Its file was lost, or written by a daemon that knows nothing of boots. */
static void boot_of_what_is_held(void **state)
{
	struct bftm_identity *id;
	u32 first;
	int fd;

	(void)state;
	bftm_boot_id_set("0a1b2c");
	fd = open(unit_path("cluster-9-client-50"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "77\n", 3), 3);
	close(fd);
	id = start();
	assert_int_equal(id->boot, id->incarnation);
	bftm_identity_lends(id);
	first = id->incarnation - 5;
	bftm_identity_holds(id, (u64)id->incarnation << 32 | 6);
	assert_int_equal(id->boot, id->incarnation);
	bftm_identity_holds(id, (u64)first << 32 | 6);
	assert_int_equal(id->boot, first);
	bftm_identity_put(id);
	id = start();
	assert_int_equal(id->boot, first);
	bftm_identity_put(id);
	forget();
}

/* Another copy of the machine may hold what this one does not remember. */
static void no_boot_after_a_copy(void **state)
{
	struct bftm_identity *id;

	(void)state;
	bftm_boot_id_set("0a1b2c");
	id = start();
	assert_int_equal(bftm_identity_restored(id), 0);
	assert_int_equal(id->boot, 0);
	bftm_identity_holds(id, 1ull << 32);
	assert_int_equal(id->boot, 0);
	bftm_identity_put(id);
	id = start();
	assert_int_equal(id->boot, 0);
	bftm_identity_put(id);
	bftm_boot_id_set("0a1b2d");
	id = start();
	assert_int_equal(id->boot, id->incarnation);
	bftm_identity_put(id);
	forget();
}

/* Numbers of the last daemon, as if it had run in the network namespace with this number. */
static void ran_in(u64 incarnation, u32 boot, const char *netns)
{
	int fd = open(unit_path("cluster-9-client-50"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC,
		      0600);

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "%llu\n%u 0a1b2c%s\n", (unsigned long long)incarnation, boot,
			    netns) > 0);
	close(fd);
}

/* A lock that it held there is held, and the kernel does not tell of it here. */
static void no_boot_after_another_network_namespace(void **state)
{
	struct bftm_identity *id;
	char other[32];
	u64 here;

	(void)state;
	bftm_boot_id_set("0a1b2c");
	id = start();
	here = id->netns;
	bftm_identity_put(id);
	/* Tests run on kernels that have such numbers. */
	assert_true(here);
	snprintf(other, sizeof(other), " %llu", (unsigned long long)here + 1);
	ran_in(77, 70, other);
	id = start();
	assert_int_equal(id->boot, 0);
	bftm_identity_put(id);
	/* Here as well, from then on, */
	id = start();
	assert_int_equal(id->boot, 0);
	bftm_identity_put(id);
	/* until the host is booted. */
	bftm_boot_id_set("0a1b2d");
	id = start();
	assert_int_equal(id->boot, id->incarnation);
	bftm_identity_put(id);
	/* An earlier daemon wrote no number, or its kernel had none. */
	bftm_boot_id_set("0a1b2c");
	ran_in(77, 70, "");
	id = start();
	assert_int_equal(id->boot, 70);
	bftm_identity_put(id);
	ran_in(77, 70, " 0");
	id = start();
	assert_int_equal(id->boot, 70);
	bftm_identity_put(id);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boot_is_kept),
		cmocka_unit_test(boot_of_what_is_held),
		cmocka_unit_test(no_boot_after_a_copy),
		cmocka_unit_test(no_boot_after_another_network_namespace),
		cmocka_unit_test(each_start_is_an_incarnation),
		cmocka_unit_test(the_next_incarnation),
		cmocka_unit_test(a_file_of_2110),
		cmocka_unit_test(going_on_above),
		cmocka_unit_test(more_numbers_than_an_incarnation_has),
		cmocka_unit_test(a_file_that_cannot_be_written),
		cmocka_unit_test(operations_while_it_cannot_be_written),
	};

	return cmocka_run_group_tests_name("identity", tests, unit_make_dir, unit_remove_dir);
}
