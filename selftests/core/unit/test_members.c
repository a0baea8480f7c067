// SPDX-License-Identifier: GPL-2.0
/* Members of a server: who is waited for after a restart, who is evicted, and what is refused. */
#include "unit.h"

#include <string.h>

#include "core/access.h"
#include "core/backoff/server.h"
#include "core/serve.h"

#define EPOCH	9
#define T0	(50 * BFTM_NS_PER_SEC)
#define OF(incarnation, n) ((u64)(incarnation) << 32 | (n))

enum who { ALICE = 7, BOB = 9, CAROL = 11, STRANGER = 12 };

static struct bftm_member member[3];
static struct bftm_members members;
static struct bftm_lock lock;
static struct bftm_sends sends;
static struct { u32 client, incarnation, calls; } dropped;
static bool drop_takes_long;
static void (*meanwhile)(void);
static const struct bftm_rule rules[] = {
	{ .client_first = ALICE, .client_last = CAROL, .prefix_len = 5, .prefix = "disk/",
	  .leaseless = true },
	{ .client_first = 1, .client_last = ~0u },
};
static const struct bftm_server_cfg cfg = {
	.cluster = 3, .id = 5, .epoch = EPOCH, .rho_ppm = 2000, .waiters_max = 8,
	.lease_max_ns = BFTM_NS_PER_SEC,
};

static int fresh_server(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		member[i] = (struct bftm_member){ .client = ALICE + 2 * i };
	members = (struct bftm_members){ .member = member, .count = 3 };
	bftm_lock_init(&lock, 100, 0);
	memset(&dropped, 0, sizeof(dropped));
	drop_takes_long = false;
	meanwhile = NULL;
	return 0;
}

static bool permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *limits,
		   struct bftm_msg *reply)
{
	(void)arg;
	return bftm_access_admit(rules, 2, req, limits, reply);
}

static const struct bftm_members *all_members(void *arg)
{
	(void)arg;
	return &members;
}

static bool synced(void *arg, u32 client, u32 incarnation)
{
	(void)arg;
	if (drop_takes_long)
		return false;
	dropped.client = client;
	dropped.incarnation = incarnation;
	dropped.calls++;
	bftm_lock_drop(&lock, client, incarnation, true);
	bftm_members_heard(&members, bftm_members_find(&members, client));
	return true;
}

static bool enter(void *arg, const struct bftm_protocol *protocol, const struct bftm_msg *req,
		  bool make, u64 *now, void **ret)
{
	(void)arg;
	(void)protocol;
	(void)req;
	(void)make;
	(void)now;
	if (meanwhile)
		meanwhile();
	*ret = &lock;
	return true;
}

static const struct bftm_shell shell = {
	.permit = permit, .members = all_members, .synced = synced, .enter = enter,
};

static u8 serve_named(struct bftm_msg req, const char *name)
{
	req.proto = BFTM_PROTO_BACKOFF;
	req.cluster = 3;
	req.server = 5;
	if (!req.server_epoch)
		req.server_epoch = EPOCH;
	if (!req.seq)
		req.seq = req.attempt;
	if (req.type != BFTM_MSG_SYNC && req.type != BFTM_MSG_HELLO) {
		req.name_len = (u8)strlen(name);
		memcpy(req.name, name, req.name_len);
	}
	bftm_serve(&shell, NULL, &cfg, &req, T0, &sends);
	return sends.reply.type;
}

static u8 asks(u32 client, u32 incarnation, const char *name, bool lasting, u16 flags)
{
	return serve_named((struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = client, .attempt = OF(incarnation, 1), .k = 1,
		.mode = BFTM_MODE_EX, .arg = flags & BFTM_FLAG_REASSERT ? BFTM_MODE_EX : 0,
		.lease_ns = lasting ? BFTM_LEASE_NONE : BFTM_NS_PER_SEC, .flags = flags,
	}, name);
}

static u8 sync(u32 client, u32 incarnation)
{
	return serve_named((struct bftm_msg){
		.type = BFTM_MSG_SYNC, .client = client, .incarnation = incarnation,
		.seq = OF(incarnation, 7),
	}, "");
}

static u8 hello(u32 client, u32 incarnation)
{
	return serve_named((struct bftm_msg){
		.type = BFTM_MSG_HELLO, .client = client, .seq = OF(incarnation, 5),
	}, "");
}

#define REFUSED(why, call) do { \
	assert_int_equal(call, BFTM_MSG_REFUSED); \
	assert_int_equal(sends.reply.arg, BFTM_REFUSED_ ## why); \
} while (0)

static void members_are_found(void **state)
{
	u32 client;

	(void)state;
	for (client = 0; client < 20; client++) {
		const struct bftm_member *m = bftm_members_find(&members, client);

		assert_int_equal(m != NULL, client == ALICE || client == BOB || client == CAROL);
		if (m)
			assert_int_equal(m->client, client);
	}
	members.count = 0;
	assert_null(bftm_members_find(&members, BOB));
}

static void a_right_is_for_a_prefix(void **state)
{
	(void)state;
	REFUSED(ACCESS, asks(BOB, 1, "tape/1", true, 0));
	REFUSED(ACCESS, asks(STRANGER, 1, "disk/1", true, 0));
	assert_int_equal(asks(BOB, 1, "disk/1", true, 0), BFTM_MSG_FREE);
}

static void all_members_are_awaited_after_a_restart(void **state)
{
	(void)state;
	bftm_members_start(&members);
	assert_int_equal(members.awaited, 3);
	assert_int_equal(hello(BOB, 1), BFTM_MSG_CHALLENGE);
	assert_int_equal(sends.reply.recovering, 1);
	/* To nobody, with a lease or without one; but other names do not wait. */
	assert_int_equal(asks(STRANGER, 1, "disk/1", false, 0), BFTM_MSG_WAIT);
	assert_true(sends.reply.lease_ns == BFTM_LEASE_NONE);
	assert_int_equal(asks(BOB, 1, "disk/1", true, 0), BFTM_MSG_WAIT);
	assert_int_equal(asks(STRANGER, 1, "tape/1", false, 0), BFTM_MSG_FREE);
	bftm_lock_init(&lock, 100, 0);
	assert_int_equal(asks(BOB, 1, "disk/1", true, BFTM_FLAG_REASSERT), BFTM_MSG_FREE);
	bftm_lock_init(&lock, 100, 0);
	assert_int_equal(sync(ALICE, 1), BFTM_MSG_SYNCED);
	drop_takes_long = true;
	assert_int_equal(sync(CAROL, 1), BFTM_MSG_NONE);
	drop_takes_long = false;
	assert_int_equal(members.awaited, 2);
	assert_int_equal(sync(CAROL, 1), BFTM_MSG_SYNCED);
	assert_int_equal(sync(CAROL, 1), BFTM_MSG_SYNCED);	/* the answer was lost */
	assert_int_equal(members.awaited, 1);
	assert_int_equal(asks(CAROL, 1, "disk/1", true, 0), BFTM_MSG_WAIT);
	/* After SYNC a REASSERT is a request as others are. */
	assert_int_equal(asks(CAROL, 1, "disk/1", true, BFTM_FLAG_REASSERT), BFTM_MSG_WAIT);
	assert_int_equal(sync(BOB, 1), BFTM_MSG_SYNCED);
	assert_int_equal(asks(CAROL, 1, "disk/1", true, 0), BFTM_MSG_FREE);
	assert_int_equal(hello(BOB, 1), BFTM_MSG_CHALLENGE);
	assert_int_equal(sends.reply.recovering, 0);
}

static void bob_is_heard(void)
{
	bftm_members_heard(&members, bftm_members_find(&members, BOB));
	bftm_members_heard(&members, bftm_members_find(&members, CAROL));
}

static void bob_is_evicted(void)
{
	bftm_members_evict(&members, BOB, 1, false);
}

/* Another processor deals with SYNC, or with an eviction, while this request waits for its lock. */
static void what_changes_while_a_request_waits_counts(void **state)
{
	(void)state;
	bftm_members_start(&members);
	bftm_members_heard(&members, bftm_members_find(&members, ALICE));
	assert_int_equal(asks(CAROL, 1, "disk/1", true, BFTM_FLAG_REASSERT), BFTM_MSG_FREE);
	/* Meanwhile all were heard, so that Carol's grant is one that Bob's conflicts with. */
	meanwhile = bob_is_heard;
	assert_int_equal(asks(BOB, 1, "disk/1", true, BFTM_FLAG_REASSERT), BFTM_MSG_WAIT);
	bftm_lock_init(&lock, 100, 0);
	meanwhile = bob_is_evicted;
	REFUSED(EVICTED, asks(BOB, 1, "disk/1", true, 0));
	assert_int_equal(bftm_lock_holders(&lock), 0);
	assert_int_equal(asks(BOB, 2, "disk/1", true, 0), BFTM_MSG_FREE);
}

static void sync_is_of_members_and_of_this_start(void **state)
{
	(void)state;
	bftm_members_start(&members);
	REFUSED(ACCESS, sync(STRANGER, 1));
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_SYNC, .client = BOB, .incarnation = 1, .server_epoch = EPOCH - 1,
	}, ""), BFTM_MSG_STALE);
	assert_int_equal(members.awaited, 3);
	assert_int_equal(dropped.calls, 0);
	members.count = 0;
	REFUSED(PROTO, sync(BOB, 1));
}

/* Its host has booted: what it had before is over, and nothing of this boot. */
static void sync_drops_what_was_before_the_boot(void **state)
{
	(void)state;
	assert_int_equal(asks(BOB, 4, "disk/1", true, 0), BFTM_MSG_FREE);
	assert_int_equal(sync(BOB, 4), BFTM_MSG_SYNCED);
	assert_int_equal(dropped.client, BOB);
	assert_int_equal(dropped.incarnation, 3);
	assert_true(bftm_lock_owned(&lock, T0));
	assert_int_equal(sync(BOB, 5), BFTM_MSG_SYNCED);
	assert_false(bftm_lock_owned(&lock, T0));
}

/* A lock that needs a lease goes on to its next waiter meanwhile. */
static void other_locks_are_handed_over(void **state)
{
	static union {
		struct bftm_queue queue;
		u8 raw[sizeof(struct bftm_queue) + 4 * sizeof(struct bftm_seat)];
	} waiters;

	(void)state;
	bftm_members_start(&members);
	memset(&waiters, 0, sizeof(waiters));
	waiters.queue.room = 4;
	lock.queue = &waiters.queue;
	assert_int_equal(asks(BOB, 1, "tape/1", false, 0), BFTM_MSG_FREE);
	assert_int_equal(asks(CAROL, 1, "tape/1", false, 0), BFTM_MSG_WAIT);
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_RELEASE, .client = BOB, .attempt = OF(1, 1),
	}, "tape/1"), BFTM_MSG_RELEASED);
	assert_int_equal(sends.push.type, BFTM_MSG_FREE);
	assert_int_equal(sends.push.client, CAROL);
}

/* Its device was cut off and not its power: the same boot goes on with another helper. */
static void a_helper_after_an_eviction_tells_all(void **state)
{
	(void)state;
	assert_true(bftm_members_evict(&members, BOB, 5, false));
	bftm_members_start(&members);
	assert_int_equal(members.awaited, 3);
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_SYNC, .client = BOB, .incarnation = 4, .seq = OF(6, 1),
	}, ""), BFTM_MSG_SYNCED);
	assert_int_equal(dropped.incarnation, 5);
	assert_int_equal(members.awaited, 2);
}

static void what_is_evicted_is_refused(void **state)
{
	(void)state;
	bftm_members_start(&members);
	assert_false(bftm_members_evict(&members, STRANGER, 3, false));
	assert_true(bftm_members_evict(&members, BOB, 3, false));
	assert_int_equal(members.awaited, 2);
	assert_true(bftm_members_evict(&members, BOB, 2, false));	/* said twice, and less */
	assert_int_equal(members.awaited, 2);
	REFUSED(EVICTED, hello(BOB, 3));
	REFUSED(EVICTED, sync(BOB, 3));
	REFUSED(EVICTED, asks(BOB, 3, "disk/1", true, BFTM_FLAG_REASSERT));
	REFUSED(EVICTED, asks(BOB, 2, "tape/1", false, 0));
	REFUSED(EVICTED, serve_named((struct bftm_msg){
		.type = BFTM_MSG_STAMP, .client = BOB, .attempt = OF(3, 1), .token = 5,
		.mode = BFTM_MODE_EX,
	}, "disk/1"));
	REFUSED(EVICTED, serve_named((struct bftm_msg){
		.type = BFTM_MSG_YIELD, .client = BOB, .attempt = OF(3, 1), .seq = OF(4, 1),
	}, "disk/1"));
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_RELEASE, .client = BOB, .attempt = OF(3, 1),
	}, "disk/1"), BFTM_MSG_RELEASED);
	/* One that is back by now is awaited all the same: it tells what it holds. */
	assert_true(bftm_members_evict(&members, CAROL, 5, true));
	assert_int_equal(members.awaited, 2);
	REFUSED(EVICTED, hello(CAROL, 5));
	/* It comes back, and others are as before. */
	assert_int_equal(hello(BOB, 4), BFTM_MSG_CHALLENGE);
	assert_int_equal(hello(ALICE, 1), BFTM_MSG_CHALLENGE);
	assert_int_equal(sync(ALICE, 1), BFTM_MSG_SYNCED);
	assert_int_equal(sync(CAROL, 6), BFTM_MSG_SYNCED);
	assert_int_equal(asks(BOB, 4, "disk/1", true, 0), BFTM_MSG_FREE);
}

static u32 awaited_with(u32 noted, u32 evicted)
{
	member[1].noted = noted;
	member[1].evicted = evicted;
	bftm_members_start(&members);
	bftm_members_roll(&members);
	assert_int_equal(member[1].awaited, members.awaited);
	return members.awaited;
}

/* All others are not named, and hold nothing that the server could have forgotten. */
static void only_those_that_the_roll_names_are_awaited(void **state)
{
	(void)state;
	members.roll = true;
	assert_int_equal(awaited_with(0, 0), 0);
	assert_int_equal(awaited_with(4, 0), 1);
	assert_int_equal(awaited_with(4, 3), 1);
	assert_int_equal(awaited_with(4, 4), 0);	/* what it had is over */
	assert_int_equal(awaited_with(BFTM_NOTED_UNKNOWN, 4), 1);
	assert_int_equal(member[1].noted, 0);
	assert_int_equal(hello(BOB, 5), BFTM_MSG_CHALLENGE);
	assert_int_equal(sends.reply.recovering, 1);
	/* Without a roll its notes say nothing. */
	members.roll = false;
	member[1].noted = 4;
	bftm_members_start(&members);
	assert_int_equal(members.awaited, 3);
	assert_int_equal(member[1].noted, 4);
}

/* Else a server that forgets the grant would not await it. */
static void nothing_is_granted_before_the_roll_has_it(void **state)
{
	(void)state;
	members.roll = true;
	bftm_members_start(&members);
	bftm_members_roll(&members);
	REFUSED(UNNOTED, asks(BOB, 4, "disk/1", true, 0));
	REFUSED(UNNOTED, asks(BOB, 4, "disk/1", true, BFTM_FLAG_REASSERT));
	assert_int_equal(bftm_lock_holders(&lock), 0);
	REFUSED(ACCESS, asks(STRANGER, 4, "disk/1", true, 0));
	assert_false(bftm_members_note(&members, STRANGER, 4));
	assert_true(bftm_members_note(&members, BOB, 3));
	REFUSED(UNNOTED, asks(BOB, 4, "disk/1", true, 0));
	assert_true(bftm_members_note(&members, BOB, 4));
	assert_true(bftm_members_note(&members, BOB, 2));	/* an earlier note comes late */
	assert_int_equal(asks(BOB, 4, "disk/1", true, 0), BFTM_MSG_FREE);
	REFUSED(UNNOTED, asks(ALICE, 4, "disk/1", true, 0));
	/* A lease ends by itself, and to give back takes no note. */
	assert_int_equal(asks(ALICE, 4, "tape/1", false, BFTM_FLAG_NOQUEUE), BFTM_MSG_LOCKED);
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_RELEASE, .client = BOB, .attempt = OF(4, 1),
	}, "disk/1"), BFTM_MSG_RELEASED);
	/* The attempt is of the incarnation that began it, whichever asks for it now. */
	assert_true(bftm_members_note(&members, ALICE, 1));
	assert_int_equal(serve_named((struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = ALICE, .attempt = OF(1, 1), .seq = OF(2, 1), .k = 1,
		.mode = BFTM_MODE_EX, .lease_ns = BFTM_LEASE_NONE,
	}, "disk/1"), BFTM_MSG_FREE);
}

/* Of them the roll says that they may hold anything, and so they are awaited at a later start. */
static void the_unknown_may_tell_what_they_hold(void **state)
{
	(void)state;
	members.roll = true;
	assert_int_equal(awaited_with(BFTM_NOTED_UNKNOWN, 0), 1);
	REFUSED(UNNOTED, asks(BOB, 4, "disk/1", true, 0));
	/* The roll will name what the server has heard of. */
	REFUSED(UNNOTED, serve_named((struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = BOB, .attempt = OF(4, 1), .seq = OF(3, 1), .k = 1,
		.mode = BFTM_MODE_EX, .arg = BFTM_MODE_EX, .flags = BFTM_FLAG_REASSERT,
		.lease_ns = BFTM_LEASE_NONE,
	}, "disk/1"));
	meanwhile = bob_is_heard;
	REFUSED(UNNOTED, asks(BOB, 4, "disk/1", true, BFTM_FLAG_REASSERT));
	meanwhile = NULL;
	assert_int_equal(bftm_lock_holders(&lock), 0);
	assert_int_equal(awaited_with(BFTM_NOTED_UNKNOWN, 0), 1);
	assert_int_equal(asks(BOB, 4, "disk/1", true, BFTM_FLAG_REASSERT), BFTM_MSG_FREE);
	assert_int_equal(sync(BOB, 4), BFTM_MSG_SYNCED);
	assert_int_equal(members.awaited, 0);
	REFUSED(UNNOTED, asks(BOB, 5, "disk/1", true, BFTM_FLAG_REASSERT));
	/* It would not be awaited for what the roll lacks: 4 may be evicted, and 5 not. */
	assert_int_equal(awaited_with(4, 0), 1);
	REFUSED(UNNOTED, asks(BOB, 5, "disk/1", true, BFTM_FLAG_REASSERT));
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_are_found),
		TEST(a_right_is_for_a_prefix),
		TEST(all_members_are_awaited_after_a_restart),
		TEST(what_changes_while_a_request_waits_counts),
		TEST(sync_is_of_members_and_of_this_start),
		TEST(sync_drops_what_was_before_the_boot),
		TEST(other_locks_are_handed_over),
		TEST(a_helper_after_an_eviction_tells_all),
		TEST(what_is_evicted_is_refused),
		TEST(only_those_that_the_roll_names_are_awaited),
		TEST(nothing_is_granted_before_the_roll_has_it),
		TEST(the_unknown_may_tell_what_they_hold),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
