// SPDX-License-Identifier: GPL-2.0
/* Decisions of a server about a request before its protocol sees it. */
#include "unit.h"

#include <string.h>

#include "core/admit.h"

#define L	(10 * BFTM_NS_PER_MS)
#define T0	(50 * BFTM_NS_PER_SEC)

/* Requests that the protocol does not even see, and the answers instead. */
static const struct {
	const char *what;
	struct bftm_msg msg;
	u8 reply;		/* BFTM_MSG_NONE: the protocol sees it */
} admission[] = {
	{ "all is well", { .type = BFTM_MSG_TRY, .proto = 1, .server_epoch = 9 }, BFTM_MSG_NONE },
	{ "RELEASE", { .type = BFTM_MSG_RELEASE, .proto = 1, .server_epoch = 9 }, BFTM_MSG_NONE },
	{ "HELLO", { .type = BFTM_MSG_HELLO, .proto = 1, .server_epoch = 9 }, BFTM_MSG_CHALLENGE },
	{ "RECOVER", { .type = BFTM_MSG_RECOVER, .proto = 1, .server_epoch = 9 },
	  BFTM_MSG_CHALLENGE },
	{ "no epoch", { .type = BFTM_MSG_TRY, .proto = 1 }, BFTM_MSG_STALE },
	{ "stale", { .type = BFTM_MSG_TRY, .proto = 1, .server_epoch = 8 }, BFTM_MSG_STALE },
	{ "a stale RELEASE", { .type = BFTM_MSG_RELEASE, .proto = 1 }, BFTM_MSG_STALE },
	{ "a stale HELLO", { .type = BFTM_MSG_HELLO, .proto = 1 }, BFTM_MSG_CHALLENGE },
	{ "another protocol", { .type = BFTM_MSG_TRY, .server_epoch = 9 }, BFTM_MSG_NONE },
	{ "both", { .type = BFTM_MSG_TRY, .server_epoch = 8 }, BFTM_MSG_STALE },
};

static void strangers_are_not_admitted(void **state)
{
	static const struct bftm_server_cfg self = {
		.cluster = 3, .id = 5, .epoch = 9, .lease_max_ns = L, .quarantine_until_ns = T0,
	};
	struct bftm_msg reply, req = { .type = BFTM_MSG_TRY, .cluster = 3, .server = 5 };
	struct bftm_server_cfg spared = self;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(admission); i++) {
		reply.type = BFTM_MSG_NONE;
		assert_int_equal(bftm_admit(&self, &admission[i].msg, T0 - 7, &reply),
				 admission[i].reply == BFTM_MSG_NONE);
		if (reply.type != admission[i].reply)
			fail_msg("%s: %s", admission[i].what, bftm_msg_name(reply.type));
		if (reply.type == BFTM_MSG_CHALLENGE) {
			assert_int_equal(reply.lease_ns, L);
			assert_int_equal(reply.gno, 8);		/* ns of quarantine left */
			assert_int_equal(reply.features, 1);
		}
	}
	/* The quarantine runs, for tokens, also where nothing waits for its end. */
	assert_int_equal(reply.spared, 0);
	spared.spared = 2;
	assert_false(bftm_admit(&spared, &admission[2].msg, T0, &reply));
	assert_int_equal(reply.spared, 2);
	assert_int_equal(reply.gno, 1);
	assert_false(bftm_admit(&self, &admission[2].msg, T0, &reply));
	assert_int_equal(reply.gno, 1);
	assert_false(bftm_admit(&self, &admission[2].msg, T0 + 1, &reply));
	assert_int_equal(reply.gno, 0);

	for (i = 0; i < 256; i++) {
		req.type = (u8)i;
		assert_int_equal(bftm_admit_address(&self, &req), i < BFTM_MSG_REPLY);
	}
	req.type = BFTM_MSG_TRY;
	req.cluster = 4;
	assert_false(bftm_admit_address(&self, &req));
	req.cluster = 3;
	req.server = 6;
	assert_false(bftm_admit_address(&self, &req));
}

/* Of a client whose numbers were up to 5000: only HELLO, and only of long ago. */
static void numbers_that_are_behind(void **state)
{
	struct bftm_window w = {}, before;
	struct bftm_msg reply, untouched, req = { .proto = 1, .client = 7, .attempt = 3 };
	u64 top = 1000ull << 32 | 5000;
	u32 type;

	(void)state;
	assert_true(bftm_window_take(&w, top));
	before = w;
	memset(&reply, 0xee, sizeof(reply));
	untouched = reply;
	for (type = 1; type < BFTM_MSG_REPLY; type++) {
		bool hello = type == BFTM_MSG_HELLO;

		req.type = (u8)type;
		req.seq = 999ull << 32 | 77;
		assert_false(bftm_window_take(&w, req.seq));
		reply = untouched;
		assert_int_equal(bftm_refuse_behind(&w, &req, &reply), hello);
		if (hello) {
			assert_int_equal(reply.type, BFTM_MSG_REFUSED);
			assert_int_equal(reply.arg, BFTM_REFUSED_BEHIND);
			assert_int_equal(reply.gno, top);
			assert_int_equal(reply.seq, req.seq);
			assert_int_equal(reply.client, 7);
		}
		/* It heard of this server, or somebody recorded it then. */
		req.server_epoch = 9;
		reply = untouched;
		assert_false(bftm_refuse_behind(&w, &req, &reply));
		req.server_epoch = 0;
		/* A number in the window was taken: it is a repetition, and none comes at all. */
		reply = untouched;
		for (req.seq = top; req.seq > top - BFTM_WINDOW_BITS + 64; req.seq -= 37)
			assert_false(bftm_refuse_behind(&w, &req, &reply));
		req.seq = 0;
		assert_false(bftm_refuse_behind(&w, &req, &reply));
		assert_memory_equal(&reply, &untouched, sizeof(reply));
	}
	assert_memory_equal(&w, &before, sizeof(w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_are_not_admitted),
		cmocka_unit_test(numbers_that_are_behind),
	};

	return cmocka_run_group_tests_name("server admission", tests, NULL, NULL);
}
