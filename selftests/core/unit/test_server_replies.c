// SPDX-License-Identifier: GPL-2.0
/*
 * "Replies" in protocol.rst, line by line: what each has of its own. The request has a value
 * of its own in every field, which all others repeat.
 */
#include "unit.h"

#include "core/backoff/server.h"
#include "core/lease.h"

#define L	(100 * BFTM_NS_PER_MS)
#define T0	(50 * BFTM_NS_PER_SEC)
#define HI	500	/* highest token of the lock */
#define LAM	90	/* its highest priority, by BOB's TRY */

enum who { ALICE = 7, BOB = 9, CAROL = 11 };

static const struct bftm_server_cfg cfg = {
	.cluster = 1, .id = 3, .epoch = 77,
	.lease_max_ns = BFTM_NS_PER_SEC,
	.quarantine_until_ns = T0 - BFTM_NS_PER_SEC,
	.rho_ppm = 2000,
	.waiters_max = 1,
};

static struct {
	struct bftm_queue queue;
	struct bftm_seat place[1];
} waiters;
static struct bftm_lock lock;
static struct bftm_msg request, reply, push;

static void step(u8 type, u32 client, u64 now)
{
	request.type = type;
	request.client = client;
	bftm_server_step(&cfg, &lock, &request, now, &reply, &push);
}

/* A lock of which BOB has grant 101, with a request that anybody may send. */
static int held_by_bob(void **state)
{
	(void)state;
	memset(&waiters, 0, sizeof(waiters));
	waiters.queue.room = 1;
	bftm_lock_init(&lock, 100, HI);
	lock.queue = &waiters.queue;
	request = (struct bftm_msg){
		.proto = BFTM_PROTO_BACKOFF, .cluster = 1, .server = 3, .server_epoch = 77,
		.mode = BFTM_MODE_EX, .seq = 1234, .attempt = 5, .k = 3, .position = 33, .lease_ns = L, .prio = LAM,
		.gno = 1111, .token = 2222, .name_len = 1, .name = "x",
	};
	step(BFTM_MSG_TRY, BOB, T0);
	request.prio = 50;
	return 0;
}

/* @want has what it is, and 0 where it is as in the request. */
static void replies(struct bftm_msg want)
{
	assert_int_equal(reply.type, want.type);
	assert_int_equal(reply.seq, 1234);
	assert_int_equal(reply.attempt, request.attempt);
	assert_int_equal(reply.client, request.client);
	assert_int_equal(reply.k, request.k);
	assert_int_equal(reply.position, want.position ? want.position : 33);
	assert_int_equal(reply.lease_ns, want.lease_ns ? want.lease_ns : request.lease_ns);
	assert_int_equal(reply.prio, want.prio ? want.prio : request.prio);
	assert_int_equal(reply.gno, want.gno ? want.gno : request.gno);
	assert_int_equal(reply.token, want.token);
}

static u64 left(u64 now)
{
	return T0 + bftm_lease_at_server(L, cfg.rho_ppm) - now + 1;
}

static void of_a_try(void **state)
{
	(void)state;
	/* Δ of the request, not of the grant. */
	request.lease_ns = 2 * L;
	step(BFTM_MSG_TRY, BOB, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_FREE, .gno = 101, .token = HI, .prio = LAM });
	request.flags = BFTM_FLAG_NOQUEUE;
	step(BFTM_MSG_TRY, CAROL, T0 + 7);
	replies((struct bftm_msg){ .type = BFTM_MSG_LOCKED, .gno = 101, .token = HI, .prio = LAM,
				   .lease_ns = left(T0 + 7) });
	request.flags = 0;
	request.prio = 95;
	step(BFTM_MSG_TRY, CAROL, T0 + 7);
	replies((struct bftm_msg){ .type = BFTM_MSG_WAIT, .gno = 101, .token = HI, .position = 1,
				   .lease_ns = L / 2 });
	assert_int_equal(push.type, BFTM_MSG_NONE);
	request.prio = 96;
	step(BFTM_MSG_TRY, ALICE, T0 + 7);
	replies((struct bftm_msg){ .type = BFTM_MSG_REFUSED, .gno = 101, .token = HI,
				   .arg = BFTM_REFUSED_WAITERS });
	request.lease_ns = cfg.lease_max_ns + 1;
	step(BFTM_MSG_TRY, ALICE, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_LEASE,
				   .lease_ns = cfg.lease_max_ns });
	request.lease_ns = L;
	request.prio = 97;
	step(BFTM_MSG_TRY, ALICE, cfg.quarantine_until_ns);
	/* Place 0 is told apart from the request's by hand. */
	assert_int_equal(reply.position, 0);
	reply.position = 33;
	replies((struct bftm_msg){ .type = BFTM_MSG_WAIT, .token = HI, .lease_ns = 1 });
}

static void of_others(void **state)
{
	(void)state;
	step(BFTM_MSG_STAMP, BOB, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_SACK, .gno = 2222, .token = 2222 });
	request.token = 2000;
	step(BFTM_MSG_STAMP, CAROL, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_SNACK, .gno = 2000, .token = 2222 });
	step(BFTM_MSG_RELEASE, BOB, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_RELEASED, .token = 2222 });
	bftm_server_step(&cfg, NULL, &request, T0, &reply, &push);
	replies((struct bftm_msg){ .type = BFTM_MSG_RELEASED });
	request.attempt = 0;
	step(BFTM_MSG_TRY, BOB, T0);
	replies((struct bftm_msg){ .type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_PROTO });
	/* The server's own answer, of any type and protocol, to another epoch. */
	request.server_epoch = 76;
	request.proto = 9;
	assert_false(bftm_admit(&cfg, &request, cfg.quarantine_until_ns, &reply));
	replies((struct bftm_msg){ .type = BFTM_MSG_STALE, .token = request.token });
	request.type = BFTM_MSG_HELLO;
	assert_false(bftm_admit(&cfg, &request, cfg.quarantine_until_ns, &reply));
	replies((struct bftm_msg){ .type = BFTM_MSG_CHALLENGE, .lease_ns = cfg.lease_max_ns,
				   .gno = 1 });
	request.server_epoch = 77;
	request.type = BFTM_MSG_TRY;
	assert_true(bftm_admit(&cfg, &request, T0, &reply));
	bftm_refuse(&request, &reply, BFTM_REFUSED_PROTO);
	replies((struct bftm_msg){ .type = BFTM_MSG_REFUSED, .arg = BFTM_REFUSED_PROTO });
}

static void pushed(u8 type, u32 client, u64 gno, u32 k, u64 lam)
{
	assert_int_equal(push.type, type);
	assert_int_equal(push.client, client);
	assert_int_equal(push.gno, gno);
	assert_int_equal(push.k, k);
	assert_int_equal(push.prio, lam);
	assert_int_equal(push.token, HI);
	assert_int_equal(push.seq, 0);
	assert_int_equal(push.lease_ns, 0);
	assert_int_equal(push.position, 0);
	assert_int_equal(push.server_epoch, cfg.epoch);
	assert_memory_equal(push.name, "x", 2);
}

static void pushes(void **state)
{
	(void)state;
	/* The priority of the place decides, be it that of this request or not. */
	request.k = 8;
	step(BFTM_MSG_TRY, CAROL, T0);
	pushed(BFTM_MSG_INQUIRE, BOB, 101, 3, LAM);
	request.k = 7;
	request.prio = 200;
	step(BFTM_MSG_TRY, CAROL, T0);
	pushed(BFTM_MSG_INQUIRE, BOB, 101, 3, 200);
	assert_int_equal(waiters.place[0].party.prio, 50);
	step(BFTM_MSG_RELEASE, BOB, T0);
	pushed(BFTM_MSG_FREE, CAROL, 102, 8, 200);
}

/* For one TRY the highest priority moves by so much; a place has what was asked for. */
static void a_place_has_its_own_priority(void **state)
{
	(void)state;
	request.prio = 2 * BFTM_PRIO_JUMP_MAX;
	step(BFTM_MSG_TRY, CAROL, T0);
	assert_int_equal(reply.prio, LAM + BFTM_PRIO_JUMP_MAX);
	assert_int_equal(waiters.place[0].party.prio, 2 * BFTM_PRIO_JUMP_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(of_a_try, held_by_bob),
		cmocka_unit_test_setup(of_others, held_by_bob),
		cmocka_unit_test_setup(pushes, held_by_bob),
		cmocka_unit_test_setup(a_place_has_its_own_priority, held_by_bob),
	};

	return cmocka_run_group_tests_name("server_replies", tests, NULL, NULL);
}
