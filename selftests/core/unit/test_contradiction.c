// SPDX-License-Identifier: GPL-2.0
/*
 * What no honest server says: whole runs of honest servers in a bad network,
 * with restarts, in which nothing of the kind is found; and each lie alone.
 */
#include "bad_network.h"

static void honest_servers_never_do(void **state)
{
	u32 won = 0, run, i, u;

	(void)state;
	rnd = unit_seed("honest servers");
	make_queues();
	for (run = 0; run < 40; run++) {
		new_cluster();
		for (i = 0; i < 20000; i++)
			network_step();
		for (i = 0; i < CLIENTS; i++)
			won += clients[i].won;
	}
	printf("# %u times won\n", won);
	assert_true(won > 1000);
	assert_int_equal(contradictions, 0);
	for (u = 0; u < N; u++)
		free(servers[u].lock.queue);
}

static struct bftm_contend c;
static struct bftm_claim claim;

/* What is answered to request @seq, when the last one was @last. */
static bool lies(struct bftm_msg msg, u64 seq, u64 last)
{
	struct bftm_out out;
	bool result;

	msg.seq = seq;
	msg.attempt = c.attempt;
	msg.server_epoch = 7;
	result = bftm_contradicts(&claim, &c, &network_cfg, 0, &msg, last, network_now);
	bftm_contend_answer(&c, &network_cfg, 0, &msg, network_now, 0, &out);
	return result;
}

static int waiting(void **state)
{
	const struct bftm_want want = { .lease_ns = LEASE, .wait = BFTM_WAIT_QUEUE };
	struct bftm_out out;

	(void)state;
	network_now = 1000 * MS;
	memset(&c, 0, sizeof(c));
	memset(&claim, 0, sizeof(claim));
	bftm_contend_start(&c, &network_cfg, &want, 1, network_now, &out);
	return 0;
}

#define SAYS(what, ...) \
	((struct bftm_msg){ .type = BFTM_MSG_##what, .k = 1, __VA_ARGS__ })

static void grants_that_run_backwards(void **state)
{
	(void)state;
	assert_false(lies(SAYS(WAIT, .gno = 5, .position = 1), 1, 4));
	/* Asked before that was known: requests may overtake each other. */
	assert_false(lies(SAYS(WAIT, .gno = 4, .position = 1), 3, 4));
	assert_false(lies(SAYS(WAIT, .gno = 5, .position = 1), 5, 8));
	assert_true(lies(SAYS(WAIT, .gno = 4, .position = 1), 6, 8));
	assert_true(lies(SAYS(FREE, .gno = 4), 7, 8));
	/* A push answers nothing. */
	assert_false(lies(SAYS(FREE, .gno = 4), 0, 8));
}

static void tokens_that_run_backwards(void **state)
{
	(void)state;
	assert_false(lies(SAYS(FREE, .gno = 5, .token = 9), 1, 4));
	assert_false(lies(SAYS(SACK, .gno = 10, .token = 10), 5, 8));
	assert_true(lies(SAYS(SACK, .gno = 9, .token = 9), 9, 12));
	assert_true(lies(SAYS(SNACK, .gno = 4, .token = 9), 13, 16));
	assert_true(lies(SAYS(FREE, .gno = 5, .token = BFTM_TOKEN_UNKNOWN), 17, 20));
	assert_true(lies(SAYS(SNACK, .gno = 40, .token = 39), 2, 20));
	assert_true(lies(SAYS(SACK, .gno = 40, .token = 41), 3, 20));
}

static void a_grant_that_is_taken_back(void **state)
{
	struct bftm_msg inquire = SAYS(INQUIRE, .gno = 6);

	(void)state;
	assert_false(lies(SAYS(FREE, .gno = 5), 1, 4));
	assert_false(lies(SAYS(WAIT, .gno = 6, .position = 1), 2, 4));
	assert_true(lies(SAYS(WAIT, .gno = 6, .position = 1), 5, 8));
	/* After a yield it may. */
	assert_false(lies(SAYS(FREE, .gno = 6), 6, 12));
	assert_false(lies(inquire, 0, 13));
	assert_false(lies(SAYS(WAIT, .gno = 7, .position = 1), 14, 16));
	/* And when the lease is over. */
	assert_false(lies(SAYS(FREE, .gno = 8), 17, 20));
	network_now += LEASE;
	assert_false(lies(SAYS(WAIT, .gno = 9, .position = 1), 21, 24));
}

static void what_nobody_asked_for(void **state)
{
	const struct bftm_msg later = { .type = BFTM_MSG_FREE, .gno = 5, .k = 2 };

	(void)state;
	assert_true(lies(SAYS(LOCKED, .gno = 5), 1, 4));
	assert_true(lies(later, 2, 4));
}

static void a_restart_is_none(void **state)
{
	(void)state;
	assert_false(lies(SAYS(WAIT, .gno = 5, .position = 1, .token = 7), 1, 4));
	claim.epoch = 6;
	assert_false(lies(SAYS(WAIT, .gno = 4, .position = 1), 5, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_servers_never_do),
		cmocka_unit_test_setup(grants_that_run_backwards, waiting),
		cmocka_unit_test_setup(tokens_that_run_backwards, waiting),
		cmocka_unit_test_setup(a_grant_that_is_taken_back, waiting),
		cmocka_unit_test_setup(what_nobody_asked_for, waiting),
		cmocka_unit_test_setup(a_restart_is_none, waiting),
	};

	return cmocka_run_group_tests_name("contradiction", tests, NULL, NULL);
}
