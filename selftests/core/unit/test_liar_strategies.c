// SPDX-License-Identifier: GPL-2.0
/* Each strategy of bftmutex-liar, as its clients see it. */
#include "liar_peer.h"

#include "cluster/evidence.h"

static void silent(void **state)
{
	u32 i;

	(void)state;
	liar_start("silent", NULL, NULL);
	for (i = 1; i <= 20; i++)
		peer_try(1 + i % 2, "x", i, 1);
	liar_stop("silent");
	assert_silence(1);
	assert_silence(2);
	assert_int_equal(requests, 20);
	assert_int_equal(lies, 20);
	assert_int_equal(replies, 0);
}

static void always_free(void **state)
{
	struct bftm_msg msg;
	u64 gno = 0;
	u32 i;

	(void)state;
	liar_start("always-free", NULL, NULL);	/* in quarantine, and with any epoch */
	for (i = 1; i <= 20; i++) {
		peer_try(1 + i % 2, "x", 1000 + i, i);
		msg = peer_answer(1 + i % 2);
		assert_int_equal(msg.type, BFTM_MSG_FREE);
		assert_int_equal(msg.attempt, 1000 + i);
		assert_int_equal(msg.k, i);
		assert_int_not_equal(msg.gno, gno);
		gno = msg.gno;
	}
	liar_stop("always-free");
	assert_int_equal(lies, 20);
}

static void always_locked(void **state)
{
	u32 i;

	(void)state;
	liar_start("always-locked", "--no-quarantine", NULL);
	peer_hello(1);
	for (i = 1; i <= 20; i++) {
		peer_try(1 + i % 2, i & 1 ? "x" : "y", i, 1);
		assert_int_equal(peer_answer(1 + i % 2).type, BFTM_MSG_LOCKED);
	}
	liar_stop("always-locked");
	assert_in_range(lies, 2, 20);
}

/* One answer of 2, 4, 8 or 16 denies what is free. */
static void fickle(void **state)
{
	u32 i, denied = 0;

	(void)state;
	liar_start("fickle", "--no-quarantine", NULL);
	peer_hello(1);
	for (i = 1; i <= 64; i++) {
		peer_try(1, "x", 7, i);
		denied += peer_answer(1).type != BFTM_MSG_FREE;
	}
	liar_stop("fickle");
	assert_true(denied == 32 || denied == 16 || denied == 8 || denied == 4);
	assert_int_equal(lies, denied);
}

/* Never the same to both in one second, and in time both ways round. */
static void equivocate(void **state)
{
	bool seen[2] = {};
	u64 before, i;
	u8 odd, even;

	(void)state;
	liar_start("equivocate", "--no-quarantine", NULL);
	peer_hello(1);
	for (i = 1; !seen[0] || !seen[1]; i++) {
		before = liar_peer_now();
		peer_try(1, "x", i, 1);
		peer_try(2, "x", i, 1);
		odd = peer_answer(1).type;
		even = peer_answer(2).type;
		if (before / BFTM_NS_PER_SEC != liar_peer_now() / BFTM_NS_PER_SEC)
			continue;
		assert_int_equal(odd == BFTM_MSG_FREE, even == BFTM_MSG_LOCKED);
		assert_int_equal(odd == BFTM_MSG_LOCKED, even == BFTM_MSG_FREE);
		seen[odd == BFTM_MSG_FREE] = true;
	}
	liar_stop("equivocate");
	assert_true(lies > 0);
}

static void late(void **state)
{
	u64 sent;

	(void)state;
	liar_start("late", "--delay", "120");
	sent = liar_peer_now();
	peer_try(1, "x", 1, 1);
	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	assert_int_equal(peer_answer(1).type, BFTM_MSG_STALE);
	assert_true(liar_peer_now() - sent >= 120 * MS);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_CHALLENGE);
	assert_silence(1);
	liar_stop("late");
	assert_int_equal(lies, 2);
	assert_int_equal(replies, 2);
}

/* Authentic, every one, and not what was asked. */
static void replay(void **state)
{
	u32 i, old_seq = 0, old_attempt = 0, stolen = 0, other_lock = 0, count = 0;
	static char name[64][4];
	u8 raw[BFTM_WIRE_LEN_MAX];
	struct bftm_msg msg;
	ssize_t len;

	(void)state;
	liar_start("replay", "--no-quarantine", NULL);
	peer_hello(1);
	for (i = 1; i < 64; i++) {
		snprintf(name[i], sizeof(name[i]), "%u", i);
		peer_try(1, name[i], i, i);
	}
	liar_stop("replay");
	while ((len = peer_hear(1, raw, sizeof(raw), 0)) > 0) {
		assert_int_equal(bftm_wire_get(raw, (size_t)len, &msg), BFTM_WIRE_OK);
		assert_true(bftm_mac_verify_bytes(peers[1].reply, raw, (size_t)len));
		count++;
		if (msg.type != BFTM_MSG_FREE)
			continue;
		/* Request number i had attempt i and k = i. */
		old_seq += msg.seq + 63 - peers[1].seq != msg.k;
		old_attempt += msg.attempt == msg.k && msg.seq + 63 - peers[1].seq > msg.k;
		stolen += msg.attempt != msg.k;
		other_lock += (u64)atoi((char *)msg.name) != msg.seq + 63 - peers[1].seq;
	}
	assert_int_equal(count + 1, replies);	/* the challenge was heard before */
	assert_true(lies > 20 && old_seq && old_attempt && stolen && other_lock);
}

static void duplicate(void **state)
{
	u32 full = 0, cut = 0, excess = 0, foreign = 0;
	u8 raw[256], first[BFTM_WIRE_LEN_MAX];
	struct bftm_msg msg;
	u32 again = 0;
	u64 seq = 0;
	ssize_t len, whole = 0;

	(void)state;
	liar_start("duplicate", "--no-quarantine", NULL);
	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	liar_stop("duplicate");
	while ((len = peer_hear(1, raw, sizeof(raw), 0)) >= 0) {
		if (!full) {
			memcpy(first, raw, sizeof(first));
			whole = len;
		}
		if (len == whole && memcmp(raw, first, (size_t)whole)) {
			assert_int_equal(bftm_wire_get(raw, (size_t)len, &msg), BFTM_WIRE_OK);
			assert_true(bftm_mac_verify_bytes(peers[1].reply, raw, (size_t)len));
			foreign += msg.server != master.server;
			again += msg.server == master.server && msg.seq == ++seq;
			continue;
		}
		assert_memory_equal(raw, first, len < whole ? len : whole);
		if (!full) {
			assert_int_equal(bftm_wire_get(raw, (size_t)len, &msg), BFTM_WIRE_OK);
			seq = msg.seq;
		}
		full += len == whole;
		cut += len < whole;
		excess += len > whole;
	}
	assert_int_equal(full, 3);
	assert_int_equal(cut, 3);
	assert_int_equal(excess, 3);
	assert_int_equal(foreign, 1);
	assert_int_equal(again, 3);
	assert_int_equal(replies, 13);
}

/* The answer to client 1, and which lie it is. */
static enum bftm_lie lie_to(struct bftm_msg req, struct bftm_msg *ret)
{
	struct bftm_asked asked;

	req.lease_ns = lease;
	req.name_len = 1;
	req.name[0] = 'x';
	req.prio = 5;
	peer_send(1, req);
	req.proto = BFTM_PROTO_BACKOFF;
	req.server_epoch = epoch;
	req.seq = peers[1].seq;
	asked = bftm_asked_of(&req, 0, 0);
	*ret = peer_answer(1);
	return bftm_answer_lies(&asked, 0, ret);
}

/* Each is named for what it is, and for nothing else. */
static void impossible(void **state)
{
	static const struct {
		const char *strategy;
		enum bftm_lie lie;
	} table[] = {
		{ "honest", BFTM_LIE_NONE },
		{ "new-epochs", BFTM_LIE_EPOCH },
		{ "ahead", BFTM_LIE_AHEAD },
		{ "other-attempt", BFTM_LIE_OTHER },
		{ "false-priority", BFTM_LIE_PRIO },
		{ "take-back", BFTM_LIE_BACK },
	};
	struct bftm_msg msg, try = { .type = BFTM_MSG_TRY, .attempt = 100 };
	u32 named, taken;
	enum bftm_lie lie;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		liar_start(table[i].strategy, "--no-quarantine", NULL);
		peer_hello(1);
		named = taken = 0;
		for (try.k = 1; try.k <= 40; try.k++) {
			lie = lie_to(try, &msg);
			assert_true(lie == BFTM_LIE_NONE || lie == table[i].lie);
			named += lie != BFTM_LIE_NONE;
			/* That takes two answers: bftm_contradicts() sees it. */
			taken += msg.type == BFTM_MSG_WAIT;
		}
		liar_stop(table[i].strategy);
		assert_int_equal(taken > 5, table[i].lie == BFTM_LIE_BACK);
		assert_int_equal(named > 5, table[i].lie != BFTM_LIE_NONE &&
					    table[i].lie != BFTM_LIE_BACK);
	}
}

/*
 * In the form that the protocol has for them, modes of all kinds; each is a lie but the right one.
 */
static void false_mode(void **state)
{
	struct bftm_msg msg, try = { .attempt = 100, .mode = BFTM_MODE_PR };
	u32 seen = 0, deadlocks = 0;
	u64 shared = 0;

	(void)state;
	liar_start("false-mode", "--no-quarantine", NULL);
	peer_hello(1);
	for (try.k = 1; try.k <= 100; try.k++) {
		peer_say(1, BFTM_MSG_TRY, 100, try);
		msg = peer_answer(1);
		assert_int_equal(msg.type, BFTM_MSG_FREE);
		seen |= 1u << msg.mode;
		shared |= 1ull << msg.arg;
		deadlocks += msg.flags == BFTM_FLAG_DEADLOCK;
	}
	liar_stop("false-mode");
	assert_int_equal(lies, 100);
	assert_int_equal(seen, 62);		/* all but NL */
	assert_true(shared & (shared - 1));
	assert_in_range(deadlocks, 1, 99);
}

static void several_strategies(void **state)
{
	u32 i, seen[2] = {};
	struct stat st;

	(void)state;
	liar_start("always-free,always-locked", "--seed", "7");
	for (i = 1; i <= 40; i++) {
		peer_try(1, "x", i, 1);
		seen[peer_answer(1).type == BFTM_MSG_FREE]++;
	}
	assert_true(seen[0] && seen[1]);
	unlink(stats_path);
	kill(liar, SIGUSR1);		/* and it goes on */
	do {
		peer_try(1, "x", ++i, 1);
		peer_answer(1);
	} while (stat(stats_path, &st) < 0 || !st.st_size);
	read_stats("always-free,always-locked");
	assert_in_range(requests, 40, i);
	liar_stop("always-free,always-locked");
	assert_int_equal(requests, i - 1);
	/* In turn: the first second is the first one's. */
	liar_start("always-locked,always-free", "--switch", "1");
	do
		peer_try(1, "x", ++i, 1);
	while (peer_answer(1).type == BFTM_MSG_LOCKED);
	do
		peer_try(1, "x", ++i, 1);
	while (peer_answer(1).type == BFTM_MSG_FREE);
	liar_stop("always-locked,always-free");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, liar_reap)
	const struct CMUnitTest tests[] = {
		TEST(silent),
		TEST(always_free),
		TEST(always_locked),
		TEST(fickle),
		TEST(equivocate),
		TEST(late),
		TEST(replay),
		TEST(duplicate),
		TEST(impossible),
		TEST(false_mode),
		TEST(several_strategies),
	};

	return cmocka_run_group_tests_name("liar strategies", tests, peers_make, peers_destroy);
}
