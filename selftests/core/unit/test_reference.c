// SPDX-License-Identifier: GPL-2.0
/*
 * The central server of selftests/core/reference through the seam: as hosts' shells reach a
 * protocol, by the number in the header of its messages.
 */
#include "unit.h"

#include "selftests/core/reference/central/message.h"
#include "core/serve.h"

static const struct bftm_server_cfg server_cfg = { .cluster = 1, .id = 1, .epoch = 5 };
static const struct bftm_client_cfg cfg = {
	.n = 1, .delta_ns = BFTM_NS_PER_MS, .resend_ns = 4 * BFTM_NS_PER_MS, .leaseless = true,
};
static const struct bftm_protocol *central;
static void *lock;
static struct bftm_sends sends;

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	(void)arg, (void)req, (void)make, (void)now;
	assert_ptr_equal(protocol, central);
	*ret = lock;
	return true;
}

static const struct bftm_shell shell = { .enter = shell_enter };

static int fresh_lock(void **test)
{
	(void)test;
	central = bftm_protocol_of(PROTO_CENTRAL);
	assert_non_null(central);
	lock = calloc(1, central->server->lock_size);
	assert_non_null(lock);
	central->server->init(lock, 0, 0);
	return 0;
}

static int drop_lock(void **test)
{
	(void)test;
	free(lock);
	return 0;
}

static u8 asks(u8 type, u32 client, u64 attempt, u16 flags)
{
	const struct bftm_msg req = {
		.type = type, .proto = PROTO_CENTRAL, .cluster = 1, .server = 1, .client = client,
		.server_epoch = 5, .seq = 1, .attempt = attempt, .k = 1, .flags = flags, .mode = BFTM_MODE_EX,
		.name_len = 1, .name = "x",
	};

	assert_int_equal(bftm_serve(&shell, NULL, &server_cfg, &req, 1000, &sends), BFTM_SERVED);
	return sends.reply.type;
}

/* A protocol that knows one mode refuses the others; it would grant more than was asked for. */
static void one_mode_alone(void **test)
{
	struct bftm_msg req = {
		.type = BFTM_MSG_TRY, .proto = PROTO_CENTRAL, .cluster = 1, .server = 1, .client = 1,
		.server_epoch = 5, .seq = 1, .attempt = 1, .k = 1, .name_len = 1, .name = "x",
	};
	u8 mode;

	(void)test;
	for (mode = BFTM_MODE_CR; mode <= BFTM_MODE_EX; mode++) {
		req.mode = mode;
		bftm_serve(&shell, NULL, &server_cfg, &req, 1000, &sends);
		assert_int_equal(sends.reply.type, mode == BFTM_MODE_EX ? BFTM_MSG_FREE : BFTM_MSG_REFUSED);
		if (mode < BFTM_MODE_EX)
			assert_int_equal(sends.reply.arg, BFTM_REFUSED_PROTO);
	}
}

#define TRY(client, attempt)		asks(BFTM_MSG_TRY, client, attempt, 0)
#define RELEASE(client, attempt)	asks(BFTM_MSG_RELEASE, client, attempt, 0)

static void one_after_the_other(void **test)
{
	struct bftm_lock_view view;

	(void)test;
	assert_int_equal(TRY(1, 1), BFTM_MSG_FREE);
	assert_int_equal(TRY(2, 1), BFTM_MSG_WAIT);
	assert_int_equal(sends.reply.position, 1);
	assert_int_equal(TRY(3, 1), BFTM_MSG_WAIT);
	assert_int_equal(sends.reply.position, 2);
	assert_int_equal(TRY(1, 1), BFTM_MSG_FREE);
	assert_int_equal(RELEASE(1, 1), BFTM_MSG_RELEASED);
	assert_int_equal(sends.push.type, BFTM_MSG_FREE);
	assert_int_equal(sends.push.client, 2);
	assert_int_equal(sends.push.proto, PROTO_CENTRAL);
	assert_int_equal(RELEASE(2, 1), BFTM_MSG_RELEASED);
	assert_int_equal(sends.push.client, 3);
	central->server->describe(lock, &view);
	assert_int_equal(view.client, 3);
	assert_int_equal(view.grant, 3);
	assert_int_equal(view.waiters, 0);
}

/* TRY comes behind the RELEASE of its attempt: nobody is there to give that grant back. */
static void a_try_that_release_overtook(void **test)
{
	(void)test;
	assert_int_equal(RELEASE(1, 1), BFTM_MSG_RELEASED);
	assert_int_equal(TRY(1, 1), BFTM_MSG_NONE);
	assert_int_equal(TRY(2, 1), BFTM_MSG_FREE);
}

static void a_client_that_does_not_wait_is_not_queued(void **test)
{
	(void)test;
	TRY(1, 1);
	assert_int_equal(asks(BFTM_MSG_TRY, 2, 1, BFTM_FLAG_NOQUEUE), BFTM_MSG_LOCKED);
	RELEASE(1, 1);
	assert_int_equal(sends.push.type, BFTM_MSG_NONE);
}

static void what_is_late_is_not_granted(void **test)
{
	(void)test;
	assert_int_equal(TRY(1, 2), BFTM_MSG_FREE);
	assert_int_equal(RELEASE(1, 2), BFTM_MSG_RELEASED);
	assert_int_equal(TRY(1, 2), BFTM_MSG_NONE);
	assert_int_equal(TRY(1, 1), BFTM_MSG_NONE);
	assert_int_equal(TRY(2, 1), BFTM_MSG_FREE);
	/* A release may come before the request that it is about. */
	assert_int_equal(RELEASE(1, 3), BFTM_MSG_RELEASED);
	assert_int_equal(TRY(1, 3), BFTM_MSG_NONE);
}

static void it_has_no_tokens_and_no_yields(void **test)
{
	(void)test;
	TRY(1, 1);
	assert_int_equal(asks(BFTM_MSG_STAMP, 1, 1, 0), BFTM_MSG_REFUSED);
	assert_int_equal(sends.reply.arg, BFTM_REFUSED_PROTO);
}

static void clients_are_few(void **test)
{
	u32 client;

	(void)test;
	for (client = 1; client <= 16; client++)
		assert_int_equal(TRY(client, 1), client == 1 ? BFTM_MSG_FREE : BFTM_MSG_WAIT);
	assert_int_equal(TRY(17, 1), BFTM_MSG_REFUSED);
	assert_int_equal(sends.reply.arg, BFTM_REFUSED_WAITERS);
}

static void a_client_holds_until_it_gives_back(void **test)
{
	const struct bftm_want want = { .lease_ns = BFTM_NS_PER_SEC, .mode = BFTM_MODE_EX };
	struct bftm_contender *c = calloc(1, central->client->size(1));
	struct bftm_msg msg;
	struct bftm_out out;

	(void)test;
	assert_non_null(c);
	central->client->start(c, &cfg, &want, 7, 1000, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 1);
	bftm_contender_message(c, &out.send[0], out.send[0].to, &msg);
	assert_int_equal(msg.attempt, 7);
	msg = (struct bftm_msg){ .type = BFTM_MSG_WAIT, .attempt = 7, .position = 1 };
	central->client->answer(c, &cfg, 0, &msg, 2000, 0, &out);
	assert_int_equal(out.verdict, BFTM_PENDING);
	central->client->wake(c, &cfg, c->wake_ns, 8, 0, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 1);
	msg.type = BFTM_MSG_FREE;
	central->client->answer(c, &cfg, 0, &msg, c->wake_ns, 0, &out);
	assert_int_equal(out.verdict, BFTM_WON);
	assert_true(central->client->end(c, &cfg) == ~0ull);
	assert_true(c->wake_ns == ~0ull);
	central->client->stop(c, &cfg, &out);
	assert_int_equal(out.release_to, 1);
	assert_int_equal(out.release_attempt, 7);
	free(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh_lock, drop_lock)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_after_the_other),
		TEST(a_try_that_release_overtook),
		TEST(one_mode_alone),
		TEST(a_client_that_does_not_wait_is_not_queued),
		TEST(what_is_late_is_not_granted),
		TEST(it_has_no_tokens_and_no_yields),
		TEST(clients_are_few),
		TEST(a_client_holds_until_it_gives_back),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
