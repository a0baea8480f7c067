// SPDX-License-Identifier: GPL-2.0
/*
 * Every way to lie about order, at a bftmutex-liar that is asked everything there
 * is to ask: it lives, what it says is a datagram that clients take, and it lies.
 */
#include "order_peer.h"

#define ROUNDS	12
#define BURST	9	/* requests of a client in a round */
#define NAMES	64

static u8 body[4096];
static char names[NAMES][32];
static u32 named;

/* The names that --help lists. */
static int read_names(void **state)
{
	char *argv[] = { (char *)liar_path(), (char *)"--help", NULL }, line[256];
	bool listed = false;
	int out[2];
	pid_t pid;
	FILE *f;

	setenv("ARGP_HELP_FMT", "rmargin=200", 1);	/* a line each */
	if (peers_make(state) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return -1;
	pid = spawn(argv, out[1]);
	close(out[1]);
	f = fdopen(out[0], "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (listed && named < NAMES && sscanf(line, "  %31[a-z-]", names[named]) == 1)
			named++;
		listed |= !strcmp(line, "Strategies of the ordering protocol:\n");
	}
	fclose(f);
	return exit_status(pid);
}

/* Authentic, and of the right form. Return: is it CHALLENGE to a HELLO? */
static bool check(u32 c, size_t len)
{
	struct bftm_order_msg msg;
	struct bftm_msg wire;

	assert_true(bftm_mac_verify_bytes(peers[c].reply, heard, len));
	if (bftm_order_shaped(heard)) {
		assert_int_equal(bftm_order_wire_get(heard, len, &msg), BFTM_WIRE_OK);
		return false;
	}
	assert_int_equal(bftm_wire_get(heard, len, &wire), BFTM_WIRE_OK);
	return wire.type == BFTM_MSG_CHALLENGE && wire.proto == BFTM_PROTO_BACKOFF;
}

/* Answers that came at once. */
static u32 drain(void)
{
	u32 c, count = 0;
	ssize_t len;

	for (c = 1; c <= 2; c++)
		while ((len = peer_hear(c, heard, sizeof(heard), 0)) >= 0) {
			check(c, (size_t)len);
			count++;
		}
	return count;
}

/* Until a HELLO is answered; what was asked before it, was before. */
static u32 hear_all(void)
{
	u32 count = 1;
	ssize_t len;

	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	for (;; count++) {
		len = peer_hear(1, heard, sizeof(heard), PATIENCE_MS);
		assert_true(len > 0);
		if (check(1, (size_t)len))
			return count + drain();
	}
}

static void send_state(u32 c, u8 type, u64 count, u64 version, u64 op)
{
	char text[32];
	struct bftm_applied a = { .client = 3 - c, .op = op, .response = (const u8 *)text };
	struct bftm_order_msg msg;
	u32 len;

	a.len = (u32)snprintf(text, sizeof(text), "response %llu", (unsigned long long)op);
	len = bftm_state_make(NULL, version, &a, 1, (const u8 *)"app", 3, body, sizeof(body));
	msg = about(type, version, body, len);
	msg.rank = rank_of(count, c);
	order_send(c, msg);
	msg.type = BFTM_ORDER_FETCH;
	order_send(c, msg);
}

/* Two clients at once, with operations, signatures, old ranks and lost bodies. */
static u32 ask_everything(void)
{
	static const u8 types[] = {
		BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT, BFTM_ORDER_INSTALL,
	};
	u8 signature[BFTM_SIGNATURE_LEN] = { 1 };
	u32 round, c, i, answers = 0;
	struct bftm_order_msg msg;

	for (round = 1; round <= ROUNDS; round++)
		for (c = 1; c <= 2; c++) {
			msg = about(BFTM_ORDER_SUBMIT, 0, "an operation", 12);
			msg.op = (round + 1) / 2;
			order_send(c, msg);
			msg = (struct bftm_order_msg){
				.type = BFTM_ORDER_GET, .rank = rank_of(round + 1 - (round & c), c),
				.signature = round & 1 ? signature : NULL,
			};
			order_send(c, msg);
			for (i = 0; i < ARRAY_SIZE(types); i++)
				send_state(c, types[i], round, (round + 1) / 2, round / 2);
			order_send(c, (struct bftm_order_msg){ .type = BFTM_ORDER_LIST });
			answers += hear_all();
		}
	return answers;
}

static void every_strategy(void **state)
{
	u32 i, answers;

	(void)state;
	assert_true(named > 1);
	for (i = 0; i < named; i++) {
		order_start(names[i]);
		answers = ask_everything();
		liar_stop("honest");
		answers += drain();
		assert_int_equal(requests, 1 + 2 * ROUNDS * (BURST + 1));
		assert_int_equal(answers + 1, replies);
		if (!strcmp(names[i], "honest") != !lies)
			fail_msg("%s: %u lies", names[i], lies);
	}
}

static void several_at_once(void **state)
{
	const char *const more[] = {
		"--order", "twin,deny,outrank,forge,garble", "--token-floor", "0",
		"--no-quarantine", "--seed", "7", NULL,
	};

	(void)state;
	liar_start_with("inflate,honest", more);
	peer_hello(1);
	ask_everything();
	liar_stop("inflate,honest");
	assert_in_range(lies, 10, 10000);
}

/* In turn: the lock's strategies need not be several then. */
static void in_turn(void **state)
{
	const char *const more[] = { "--order", "silent,deny", "--switch", "3600", NULL };

	(void)state;
	liar_start_with("honest", more);
	peer_hello(1);
	ask_everything();
	liar_stop("honest");
	assert_int_equal(replies, 1 + 2 * ROUNDS);	/* the first, all the time: silence */
}

static const struct {
	const char *argv[10];
	int status;
} mistakes[] = {
	{ { "--strategy", "honest", "--order", "liar" }, 64 },
	{ { "--strategy", "honest", "--order", "honest," }, 64 },
	{ { "--strategy", "honest", "--order", "" }, 64 },
	{ { "--strategy", "honest", "--order", "always-free" }, 64 },
	{ { "--strategy", "honest", "--order", "silent", "--switch", "1" }, 64 },
	{ { "--order", "silent" }, 64 },
};

static void mistakes_on_the_command_line(void **state)
{
	char *argv[14] = { (char *)liar_path(), (char *)"--key", key_path };
	int pipes[2];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		memcpy(argv + 3, mistakes[i].argv, sizeof(mistakes[i].argv));
		assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
		assert_int_equal(exit_status(spawn(argv, pipes[1])), mistakes[i].status);
		close(pipes[0]);
		close(pipes[1]);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, liar_reap)
	const struct CMUnitTest tests[] = {
		TEST(every_strategy),
		TEST(several_at_once),
		TEST(in_turn),
		TEST(mistakes_on_the_command_line),
	};

	return cmocka_run_group_tests_name("liar_order_strategies", tests, read_names,
					   peers_destroy);
}
