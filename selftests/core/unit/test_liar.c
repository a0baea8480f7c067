// SPDX-License-Identifier: GPL-2.0
/* bftmutex-liar without a lie: a server like the kernel's, in user space. */
#include "liar_peer.h"

static void honest_grants_to_one(void **state)
{
	struct bftm_msg msg;

	(void)state;
	liar_start("honest", "--no-quarantine", NULL);
	peer_hello(1);
	peer_try(1, "x", 1, 1);
	msg = peer_answer(1);
	assert_int_equal(msg.type, BFTM_MSG_FREE);
	assert_int_equal(msg.seq, peers[1].seq);
	assert_int_equal(msg.k, 1);
	peer_try(2, "x", 1, 1);
	assert_int_equal(peer_answer(2).type, BFTM_MSG_LOCKED);
	peer_try(2, "another", 2, 1);
	assert_int_equal(peer_answer(2).type, BFTM_MSG_FREE);
	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_RELEASE, .attempt = 1, .name_len = 1,
					.name = "x" });
	assert_int_equal(peer_answer(1).type, BFTM_MSG_RELEASED);
	peer_try(2, "x", 3, 1);
	assert_int_equal(peer_answer(2).type, BFTM_MSG_FREE);
	liar_stop("honest");
	assert_int_equal(requests, 6);
	assert_int_equal(replies, 6);
	assert_int_equal(lies, 0);
}

/* As the kernel: other epochs are challenged, and a start is quarantined. */
static void honest_epoch_and_quarantine(void **state)
{
	struct bftm_msg msg;
	u64 real;

	(void)state;
	/* Asked within milliseconds, and so in its quarantine, if it has one. */
	liar_start("honest", "--lease-max", "60s");
	peer_hello(1);
	peer_try(1, "x", 1, 1);
	msg = peer_answer(1);
	assert_int_equal(msg.type, BFTM_MSG_WAIT);
	assert_in_range(msg.lease_ns, 1, 60200 * MS);
	liar_stop("honest");
	lease = 500 * MS;
	liar_start("honest", "--lease-max", "700ms");
	peer_hello(1);
	real = epoch;
	epoch ^= 1;
	peer_try(1, "x", 1, 1);
	msg = peer_answer(1);
	assert_int_equal(msg.type, BFTM_MSG_STALE);
	assert_int_equal(msg.server_epoch, real);
	assert_int_equal(msg.attempt, 1);
	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	msg = peer_answer(1);
	assert_int_equal(msg.type, BFTM_MSG_CHALLENGE);
	assert_int_equal(msg.lease_ns, 700 * MS);
	epoch = real;
	do {
		peer_try(1, "x", 1, 1);
		msg = peer_answer(1);
	} while (msg.type == BFTM_MSG_WAIT);
	lease = BFTM_LEASE_MAX_DEFAULT_NS;
	assert_int_equal(msg.type, BFTM_MSG_FREE);
	liar_stop("honest");
	assert_int_equal(lies, 0);
}

/* A request that is not authentic, or was there before, gets no answer of any kind. */
static void strangers_and_copies_get_nothing(void **state)
{
	struct bftm_wire wire, good;
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO, .proto = 1, .cluster = 3, .server = 5,
				.client = 1, .seq = ++peers[1].seq };
	u8 ones[200];
	u32 bit;

	(void)state;
	liar_start("always-free", "--no-quarantine", NULL);
	bftm_wire_put(&msg, &good);
	bftm_mac_sign(peers[1].request, &good);
	for (bit = 0; bit < 8 * good.len; bit += 11) {
		wire = good;
		wire.data[bit / 8] ^= (u8)(1u << bit % 8);
		send(peers[1].fd, wire.data, wire.len, 0);
	}
	memset(ones, 1, sizeof(ones));
	for (bit = 0; bit < sizeof(ones); bit += 7)
		send(peers[1].fd, ones, bit, 0);
	send(peers[1].fd, good.data, good.len, 0);
	send(peers[1].fd, good.data, good.len, 0);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_CHALLENGE);
	/* Authentic, but to another server, or an answer. */
	msg.seq = ++peers[1].seq;
	msg.server = 6;
	bftm_wire_put(&msg, &wire);
	bftm_mac_sign(peers[1].request, &wire);
	send(peers[1].fd, wire.data, wire.len, 0);
	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_CHALLENGE });
	liar_stop("always-free");
	assert_silence(1);
	assert_int_equal(requests, 1);
	assert_int_equal(replies, 1);
}

static void both_families(void **state)
{
	(void)state;
	liar_start("honest", "--no-quarantine", NULL);
	peer_connect(&peers[2], true);
	peer_hello(1);
	peer_hello(2);
	peer_try(2, "x", 1, 1);
	assert_int_equal(peer_answer(2).type, BFTM_MSG_FREE);
	peer_try(1, "x", 1, 1);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_LOCKED);
	liar_stop("honest");
}

static const struct {
	const char *argv[8];
	int status;
} mistakes[] = {
	{ { "--strategy", "honest" }, 64 },
	{ { "--key", key_path }, 64 },
	{ { "--key", key_path, "--strategy", "liar" }, 64 },
	{ { "--key", key_path, "--strategy", "honest," }, 64 },
	{ { "--key", key_path, "--strategy", "honest", "--port", "65536" }, 64 },
	{ { "--key", key_path, "--strategy", "honest", "--lease-max", "2h" }, 64 },
	{ { "--key", key_path, "--strategy", "honest", "--delay", "-1" }, 64 },
	{ { "--key", key_path, "--strategy", "honest", "--switch", "1" }, 64 },
	{ { "--key", key_path, "--strategy", "honest", "more" }, 64 },
	{ { "--key", "/nonexistent", "--strategy", "honest" }, 66 },
	{ { "--key", "/etc/passwd", "--strategy", "honest" }, 77 },
	{ { "--help" }, 0 },
	{ { "--version" }, 0 },
};

static void mistakes_on_the_command_line(void **state)
{
	char *argv[10] = { (char *)liar_path() };
	int out[2];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		memcpy(argv + 1, mistakes[i].argv, sizeof(mistakes[i].argv));
		assert_int_equal(pipe2(out, O_CLOEXEC), 0);
		assert_int_equal(exit_status(spawn(argv, out[1])), mistakes[i].status);
		close(out[0]);
		close(out[1]);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, liar_reap)
	const struct CMUnitTest tests[] = {
		TEST(honest_grants_to_one),
		TEST(honest_epoch_and_quarantine),
		TEST(strangers_and_copies_get_nothing),
		TEST(both_families),
		TEST(mistakes_on_the_command_line),
	};

	return cmocka_run_group_tests_name("liar", tests, peers_make, peers_destroy);
}
