// SPDX-License-Identifier: GPL-2.0
/* The way of a request through a server: what is asked for, in which order, and what comes of it. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "core/backoff/server.h"
#include "core/serve.h"

#define L	(10 * BFTM_NS_PER_MS)
#define T0	(50 * BFTM_NS_PER_SEC)
#define EPOCH	9

static const struct bftm_server_cfg cfg = {
	.cluster = 3, .id = 5, .epoch = EPOCH, .rho_ppm = 2000, .waiters_max = 8,
	.lease_max_ns = 2 * L,
};

/** struct surroundings - what the shell answers, and what it was asked, a letter each */
struct surroundings {
	enum bftm_sender sender;
	bool old, behind, denied, unstampable, outdated, full;
	u64 later_ns;		/* how long the lock was waited for */
	struct bftm_lock lock;
	struct bftm_sends *sends;
	char asked[16];
};

static void note(struct surroundings *s, char letter)
{
	size_t len = strlen(s->asked);

	assert_true(len < sizeof(s->asked) - 1);
	s->asked[len] = letter;
}

static enum bftm_sender shell_sender(void *arg, const struct bftm_msg *req)
{
	struct surroundings *s = arg;

	(void)req;
	note(s, 't');
	return s->sender;
}

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	struct surroundings *s = arg;

	(void)req;
	note(s, 'w');
	return !s->old;
}

static bool shell_behind(void *arg, const struct bftm_msg *req, struct bftm_msg *reply)
{
	struct surroundings *s = arg;

	note(s, 'b');
	/* As the module's does, which finds out last that it has said so often enough. */
	bftm_refuse(req, reply, BFTM_REFUSED_BEHIND);
	return s->behind;
}

static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *limits,
			 struct bftm_msg *reply)
{
	struct surroundings *s = arg;

	note(s, 'p');
	limits->lease_max_ns = L;
	if (s->denied)
		bftm_refuse(req, reply, BFTM_REFUSED_ACCESS);
	return !s->denied;
}

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct surroundings *s = arg;

	(void)req;
	assert_int_equal(now, T0);
	note(s, 'k');
	reply->token = 77;
}

static bool shell_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
{
	struct surroundings *s = arg;

	assert_int_equal(req->type, BFTM_MSG_STAMP);
	assert_int_equal(now, T0);
	note(s, 's');
	return !s->unstampable;
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct surroundings *s = arg;

	(void)req;
	assert_int_equal(protocol->number, BFTM_PROTO_BACKOFF);
	note(s, make ? 'E' : 'e');
	*now += s->later_ns;
	*ret = s->full ? NULL : &s->lock;
	return !s->outdated;
}

static void shell_enlarge(void *arg, const struct bftm_protocol *protocol, void *lock, u32 waiters)
{
	struct surroundings *s = arg;

	(void)protocol;
	assert_ptr_equal(lock, &s->lock);
	assert_int_equal(waiters, 4);
	note(s, 'r');
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct surroundings *s = arg;

	(void)protocol;
	(void)req;
	assert_ptr_equal(lock, s->full ? NULL : &s->lock);
	assert_int_equal(now, T0 + s->later_ns);
	assert_ptr_equal(sends, s->sends);
	note(s, 'l');
}

static const struct bftm_shell shell = {
	.sender = shell_sender,
	.take = shell_take,
	.behind = shell_behind,
	.permit = shell_permit,
	.tokens = shell_tokens,
	.may_be_stamped = shell_may_be_stamped,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

/* So that a lock is owned, and who asks must wait. */
#define OWNED	.lock = { .first = { .attempt = 1, .client = 2, .time_ns = 2 * T0, .lease_ns = L, \
				     .mode = BFTM_MODE_EX } }

/** struct ask - a request: TRY without a place in the queue, but for what is not 0 here */
struct ask {
	u8 type, proto, mode, arg;
	u16 flags;
	u16 server;
	u32 cluster;
	u64 epoch, lease_ns, token;
	bool queue;
};

static struct bftm_msg request(const struct ask *a)
{
	return (struct bftm_msg){
		.type = a->type ?: BFTM_MSG_TRY, .proto = a->proto ?: BFTM_PROTO_BACKOFF,
		.cluster = a->cluster ?: 3, .server = a->server ?: 5, .client = 7, .attempt = 4,
		.k = 1, .seq = 1, .arg = a->arg,
		.flags = a->flags | (a->queue || a->type ? 0 : BFTM_FLAG_NOQUEUE),
		.server_epoch = a->epoch ?: EPOCH, .lease_ns = a->lease_ns ?: L, .token = a->token,
		.mode = a->mode ?: BFTM_MODE_EX,
	};
}

static const struct {
	const char *what;
	struct ask ask;
	struct surroundings s;
	const char *asked;
	enum bftm_served how;
	u8 reply;
	u32 reason;
} ways[] = {
	{ "all is well", {}, {}, "twpEl", BFTM_SERVED, BFTM_MSG_FREE, 0 },
	{ "another cluster", { .cluster = 4 }, {}, "", BFTM_NOT_FOR_US, 0, 0 },
	{ "another server", { .server = 6 }, {}, "", BFTM_NOT_FOR_US, 0, 0 },
	{ "an answer", { .type = BFTM_MSG_FREE }, {}, "", BFTM_NOT_FOR_US, 0, 0 },
	{ "a stranger", {}, { .sender = BFTM_SENDER_FORGED }, "t", BFTM_NOT_GENUINE, 0, 0 },
	{ "too many clients", {}, { .sender = BFTM_SENDER_CROWDED }, "t", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_CLIENTS },
	{ "repeated", {}, { .old = true }, "twb", BFTM_NOT_NEW, 0, 0 },
	{ "behind", {}, { .old = true, .behind = true }, "twb", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_BEHIND },
	{ "not permitted", {}, { .denied = true }, "twp", BFTM_SERVED, BFTM_MSG_REFUSED,
	  BFTM_REFUSED_ACCESS },
	{ "an earlier epoch", { .epoch = 8 }, {}, "twpk", BFTM_SERVED,
	  BFTM_MSG_STALE, 0 },
	{ "HELLO", { .type = BFTM_MSG_HELLO }, {}, "twpk", BFTM_SERVED, BFTM_MSG_CHALLENGE,
	  0 },
	{ "no such protocol", { .proto = 9 }, {}, "tw", BFTM_SERVED, BFTM_MSG_REFUSED,
	  BFTM_REFUSED_PROTO },
	{ "objects are no locks", { .proto = BFTM_PROTO_ORDER }, {}, "twp", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "HELLO of no protocol", { .type = BFTM_MSG_HELLO, .proto = 9 }, {}, "tw",
	  BFTM_SERVED, BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "HELLO about objects", { .type = BFTM_MSG_HELLO, .proto = BFTM_PROTO_ORDER }, {}, "twpk",
	  BFTM_SERVED, BFTM_MSG_CHALLENGE, 0 },
	{ "another mode", { .mode = BFTM_MODE_PR }, {}, "twpEl", BFTM_SERVED, BFTM_MSG_FREE, 0 },
	{ "STAMP in another mode", { .type = BFTM_MSG_STAMP, .mode = BFTM_MODE_PW, .token = 6 }, {},
	  "twpsEl", BFTM_SERVED, BFTM_MSG_SACK, 0 },
	{ "held in another mode", { .arg = BFTM_MODE_PR }, {}, "twpEl", BFTM_SERVED,
	  BFTM_MSG_FREE, 0 },
	{ "held", { .arg = BFTM_MODE_EX }, {}, "twpEl", BFTM_SERVED, BFTM_MSG_FREE, 0 },
	{ "with a value", { .flags = BFTM_FLAG_VALUE }, {}, "twpErl", BFTM_SERVED, BFTM_MSG_FREE, 0 },
	{ "asserted again, with a lease", { .flags = BFTM_FLAG_REASSERT }, {}, "twpel", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "with the flag of a RELEASE", { .flags = BFTM_FLAG_DOUBT }, {}, "twp", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "a RELEASE that writes", { .type = BFTM_MSG_RELEASE, .flags = BFTM_FLAG_VALUE }, {},
	  "twpel", BFTM_SERVED, BFTM_MSG_RELEASED, 0 },
	{ "SYNC", { .type = BFTM_MSG_SYNC }, {}, "twp", BFTM_SERVED, BFTM_MSG_REFUSED,
	  BFTM_REFUSED_PROTO },
	{ "ASK", { .type = BFTM_MSG_ASK }, {}, "twpel", BFTM_SERVED, BFTM_MSG_OWNER, 0 },
	{ "ASK of no lock", { .type = BFTM_MSG_ASK }, { .full = true }, "twpel", BFTM_SERVED,
	  BFTM_MSG_OWNER, 0 },
	{ "ASK, and not permitted", { .type = BFTM_MSG_ASK }, { .denied = true }, "twp", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS },
	{ "ASK at an earlier epoch", { .type = BFTM_MSG_ASK, .epoch = 8 }, {}, "twpk", BFTM_SERVED,
	  BFTM_MSG_STALE, 0 },
	{ "ASK about an object", { .type = BFTM_MSG_ASK, .proto = BFTM_PROTO_ORDER }, {}, "twp",
	  BFTM_SERVED, BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "without a lease", { .lease_ns = BFTM_LEASE_NONE }, {}, "twp", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS },
	{ "longer than its rule allows", { .lease_ns = L + 1 }, {}, "twpel",
	  BFTM_SERVED, BFTM_MSG_REFUSED, BFTM_REFUSED_LEASE },
	{ "STAMP", { .type = BFTM_MSG_STAMP, .token = 6 }, {}, "twpsEl", BFTM_SERVED, BFTM_MSG_SACK, 0 },
	{ "STAMP of what cannot be", { .type = BFTM_MSG_STAMP, .token = 6 }, { .unstampable = true }, "twps", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_PROTO },
	{ "out of date at the lock", {}, { .outdated = true }, "twpE", BFTM_SERVED,
	  BFTM_MSG_NONE, 0 },
	{ "no room for a lock", {}, { .full = true }, "twpEl", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_LOCKS },
	{ "RELEASE of no lock", { .type = BFTM_MSG_RELEASE }, { .full = true }, "twpel",
	  BFTM_SERVED, BFTM_MSG_RELEASED, 0 },
	{ "to be queued", { .queue = true }, { OWNED }, "twpErl", BFTM_SERVED,
	  BFTM_MSG_REFUSED, BFTM_REFUSED_WAITERS },
	{ "not to be queued", {}, { OWNED }, "twpEl", BFTM_SERVED, BFTM_MSG_LOCKED, 0 },
	{ "waited until the grant was over", {}, { OWNED, .later_ns = T0 + 1 }, "twpEl",
	  BFTM_SERVED, BFTM_MSG_FREE, 0 },
};

static void every_way(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		struct bftm_msg req = request(&ways[i].ask);
		struct surroundings s = ways[i].s;
		struct bftm_sends sends;

		memset(&sends, 0xee, sizeof(sends));
		s.sends = &sends;
		assert_int_equal(bftm_serve(&shell, &s, &cfg, &req, T0, &sends),
				 ways[i].how);
		if (strcmp(s.asked, ways[i].asked))
			fail_msg("%s: '%s'", ways[i].what, s.asked);
		if (sends.reply.type != ways[i].reply)
			fail_msg("%s: %s", ways[i].what, bftm_msg_name(sends.reply.type));
		assert_int_equal(sends.push.type, BFTM_MSG_NONE);
		assert_int_equal(sends.granted, sends.reply.type == BFTM_MSG_FREE);
		if (sends.reply.type == BFTM_MSG_NONE)
			continue;
		if (sends.reply.type == BFTM_MSG_REFUSED)
			assert_int_equal(sends.reply.arg, ways[i].reason);
		if (sends.reply.type == BFTM_MSG_CHALLENGE)
			assert_int_equal(sends.reply.token, 77);
		assert_int_equal(sends.reply.server_epoch, EPOCH);
		/* Nothing was left yet. */
		assert_int_equal(sends.reply.flags,
				 sends.reply.type == BFTM_MSG_FREE && ways[i].ask.flags ?
				 BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT : 0);
		assert_int_equal(sends.reply.seq, 1);
	}
}

/* At @now, of a lock that client 2 has up to 2 * T0: who has it, for how long, and nothing changes. */
static void who_has_it(void **state)
{
	static const struct {
		u64 until_ns, later_ns, rest_ns;
		u64 attempt;
	} rows[] = {
		{ 2 * T0, 0, T0, 1 },
		{ 2 * T0, T0 - 1, 1, 1 },
		{ 2 * T0, T0, 0, 1 },
		{ 2 * T0, T0 + 1, 0, 0 },
		{ BFTM_LEASE_NONE, T0, BFTM_LEASE_NONE, 1 },
	};
	struct bftm_msg req = request(&(struct ask){ .type = BFTM_MSG_ASK });
	size_t i;

	(void)state;
	req.attempt = 0;
	req.mode = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct surroundings s = {
			.later_ns = rows[i].later_ns,
			.lock = { .hi = 9, .first = {
				.attempt = 1, .client = 2, .time_ns = rows[i].until_ns,
				.lease_ns = L, .mode = BFTM_MODE_PW,
			} },
		};
		struct bftm_lock before = s.lock;
		struct bftm_sends sends;

		s.sends = &sends;
		assert_int_equal(bftm_serve(&shell, &s, &cfg, &req, T0, &sends), BFTM_SERVED);
		assert_int_equal(sends.reply.type, BFTM_MSG_OWNER);
		assert_int_equal(sends.reply.attempt, rows[i].attempt);
		assert_int_equal(sends.reply.owner, rows[i].attempt ? 2 : 0);
		assert_int_equal(sends.reply.mode, rows[i].attempt ? BFTM_MODE_PW : BFTM_MODE_NL);
		assert_int_equal(sends.reply.lease_ns, rows[i].rest_ns);
		assert_int_equal(sends.reply.holders, 1);
		assert_int_equal(sends.reply.waiters, 0);
		assert_int_equal(sends.reply.token, 9);
		assert_memory_equal(&s.lock, &before, sizeof(before));
	}
}

/* Surroundings without keys, rules, numbers and tables. */
static void nothing_but_a_lock(void **state)
{
	static const struct bftm_shell bare = { .enter = shell_enter };
	struct bftm_msg req = request(&(struct ask){ .lease_ns = 2 * L });
	struct surroundings s = {};
	struct bftm_sends sends;

	(void)state;
	assert_int_equal(bftm_serve(&bare, &s, &cfg, &req, T0, &sends), BFTM_SERVED);
	assert_int_equal(sends.reply.type, BFTM_MSG_FREE);
	assert_string_equal(s.asked, "E");
}

/* A head: what of an object comes to the ordering protocol. */
static void heads(void **state)
{
	struct bftm_msg reply, head = {
		.type = 0x11, .proto = BFTM_PROTO_ORDER, .cluster = 3, .server = 5, .client = 7,
		.server_epoch = EPOCH,
	};
	struct bftm_server_cfg limits;
	struct surroundings s = {};
	bool admit = false;

	(void)state;
	assert_int_equal(bftm_serve_head(&shell, &s, &cfg, &head, T0, &limits, &admit, &reply),
			 BFTM_SERVED);
	assert_true(admit);
	assert_int_equal(limits.lease_max_ns, L);
	assert_string_equal(s.asked, "twp");
	head.server_epoch = 8;
	assert_int_equal(bftm_serve_head(&shell, &s, &cfg, &head, T0, &limits, &admit, &reply),
			 BFTM_SERVED);
	assert_false(admit);
	assert_int_equal(reply.type, BFTM_MSG_STALE);
	assert_int_equal(reply.proto, BFTM_PROTO_ORDER);
	head.cluster = 4;
	admit = true;
	assert_int_equal(bftm_serve_head(&shell, &s, &cfg, &head, T0, &limits, &admit, &reply),
			 BFTM_NOT_FOR_US);
	assert_false(admit);
}

/* A datagram of a later version: what is kept of its head. */
static void another_version(void **state)
{
	struct bftm_msg reply, head = {
		.version = 9, .type = 0x42, .proto = 77, .cluster = 3, .server = 5, .client = 7,
		.seq = 4, .name_len = 5, .arg = 99, .server_epoch = 8,
	};
	struct surroundings s = {};

	(void)state;
	memset(&reply, 0xee, sizeof(reply));
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_SERVED);
	assert_string_equal(s.asked, "tw");
	assert_int_equal(reply.type, BFTM_MSG_VERSION);
	assert_int_equal(reply.version, 9);
	assert_int_equal(reply.arg, BFTM_WIRE_VERSION);
	assert_int_equal(reply.server_epoch, EPOCH);
	assert_int_equal(reply.seq, 4);
	s = (struct surroundings){ .sender = BFTM_SENDER_FORGED };
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_NOT_GENUINE);
	s = (struct surroundings){ .sender = BFTM_SENDER_CROWDED };
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_NOT_GENUINE);
	s = (struct surroundings){ .old = true };
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_NOT_NEW);
	head.type |= BFTM_MSG_REPLY;
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_NOT_FOR_US);
	head.type = BFTM_MSG_TRY;
	head.server = 6;
	assert_int_equal(bftm_serve_version(&shell, &s, &cfg, &head, &reply), BFTM_NOT_FOR_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way),
		cmocka_unit_test(who_has_it),
		cmocka_unit_test(nothing_but_a_lock),
		cmocka_unit_test(heads),
		cmocka_unit_test(another_version),
	};

	return cmocka_run_group_tests_name("serve", tests, NULL, NULL);
}
