// SPDX-License-Identifier: GPL-2.0
/* Fencing tokens at one server, before and after a restart; see queue.h. */
#include "cases.h"

static struct bftm_msg stamp(u64 attempt, u64 token)
{
	struct bftm_msg m = request(BFTM_MSG_STAMP, lock_name, attempt);

	m.token = token;
	return m;
}

/* Stamped or not: the answer has the token offered and the highest. */
static void want_stamp(struct peer *p, struct bftm_msg m, u8 type, u64 highest, const char *why)
{
	struct bftm_msg r = want_reply(p, m, type, why);

	check(r.gno == m.token, "%s: of token %" PRIu64, why, r.gno);
	check(r.token == highest, "%s: highest %" PRIu64 " instead of %" PRIu64, why, r.token,
	      highest);
}

/* Checks the server's knowledge of the tokens of all locks. */
static void want_top(struct peer *p, u64 token, const char *why)
{
	struct bftm_msg r = hello(p);

	check(r.token == token, "%s: CHALLENGE with token %" PRIu64 " instead of %" PRIu64, why,
	      r.token, token);
}

static void recover(struct peer *p, u64 epoch, u64 token, u64 known, const char *why)
{
	struct bftm_msg m = { .type = BFTM_MSG_RECOVER, .server_epoch = epoch, .token = token }, r;

	r = want_reply(p, m, BFTM_MSG_CHALLENGE, why);
	check(r.token == known, "%s: token %" PRIu64 " instead of %" PRIu64, why, r.token, known);
}

/* A server started with --token-floor 10. */
static void stamps(struct peer *p)
{
	struct bftm_msg first = queue_try(fresh(), 1, 1), second = queue_try(fresh(), 1, 2), r;
	u64 a = first.attempt, b = second.attempt, gno;

	snprintf(lock_name, sizeof(lock_name), "stamped");
	first = queue_try(a, 1, 1);
	second = queue_try(b, 1, 2);
	want_top(&p[0], 10, "floor");
	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY");
	check(r.token == 10, "FREE with token %" PRIu64, r.token);
	gno = r.gno;
	want_stamp(&p[0], stamp(a, 10), BFTM_MSG_SNACK, 10, "STAMP of the floor");
	want_stamp(&p[0], stamp(a, 11), BFTM_MSG_SACK, 11, "STAMP");
	want_stamp(&p[0], stamp(a, 11), BFTM_MSG_SACK, 11, "STAMP again");
	want_stamp(&p[1], stamp(b, 11), BFTM_MSG_SNACK, 11, "STAMP of another's");
	want_stamp(&p[1], stamp(a, 11), BFTM_MSG_SNACK, 11, "STAMP of another's, same attempt");
	want_stamp(&p[0], stamp(a + 1, 11), BFTM_MSG_SNACK, 11, "STAMP of another attempt");
	want_refused(&p[1], stamp(b, BFTM_TOKEN_UNKNOWN - 1), BFTM_REFUSED_PROTO,
		     "STAMP that leaves no token for others");
	r = want_reply(&p[1], second, BFTM_MSG_WAIT, "TRY");
	check(r.token == 11, "WAIT with token %" PRIu64, r.token);
	want_stamp(&p[1], stamp(b, 20), BFTM_MSG_SACK, 20, "STAMP of one who waits");
	want_stamp(&p[0], stamp(a, 11), BFTM_MSG_SNACK, 20, "STAMP of the first, again");
	want_released(&p[0], a);
	r = pushed(&p[1], BFTM_MSG_FREE, &second, gno + 1, "RELEASE");
	check(r.token == 20, "a pushed FREE with token %" PRIu64, r.token);
	want_released(&p[1], b);
	want_top(&p[0], 20, "after STAMP");
	/* A server that knows the tokens does not accept others. */
	recover(&p[0], 0, 99, 20, "RECOVER of a server that knows");
	snprintf(lock_name, sizeof(lock_name), "q%" PRIu64, fresh());
	want_stamp(&p[0], stamp(a, 11), BFTM_MSG_SACK, 11, "STAMP of another lock");
	want_top(&p[0], 20, "of two locks");
}

/* The same server, some time after: the lock is not in its table any more. */
static void reclaimed(struct peer *p)
{
	snprintf(lock_name, sizeof(lock_name), "stamped");
	want_stamp(&p[0], stamp(fresh(), 20), BFTM_MSG_SNACK, 20, "STAMP of a forgotten lock");
	want_stamp(&p[0], stamp(fresh(), 21), BFTM_MSG_SACK, 21, "STAMP above");
}

static struct bftm_msg recovery(u64 token)
{
	return (struct bftm_msg){ .type = BFTM_MSG_RECOVER, .token = token };
}

/* A server started without --token-floor, whose quarantine is not over. */
static void too_early(struct peer *p)
{
	struct bftm_msg r = hello(&p[0]);

	check(r.gno, "no quarantine");
	recover(&p[0], 0, 0, BFTM_TOKEN_UNKNOWN, "RECOVER in the quarantine");
	recover(&p[0], 0, 70, BFTM_TOKEN_UNKNOWN, "RECOVER in the quarantine");
}

/* By its access rules the first may take some locks, the second all but some. */
static void of_some(struct peer *p)
{
	want_refused(&p[0], recovery(0), BFTM_REFUSED_ACCESS, "RECOVER of a prefix's client");
	want_refused(&p[1], recovery(0), BFTM_REFUSED_ACCESS, "RECOVER with a denied name");
	want_top(&p[0], BFTM_TOKEN_UNKNOWN, "told by those who may not");
}

/* A server started without --token-floor, from the beginning on. */
static void recovers(struct peer *p)
{
	struct bftm_msg m = queue_try(fresh(), 1, 1), r;
	u64 a = m.attempt;

	want_top(&p[0], BFTM_TOKEN_UNKNOWN, "after a restart");
	r = want_reply(&p[0], m, BFTM_MSG_FREE, "TRY");
	check(r.token == BFTM_TOKEN_UNKNOWN, "FREE with token %" PRIu64, r.token);
	want_refused(&p[0], stamp(a, 100), BFTM_REFUSED_TOKENS, "STAMP after a restart");
	recover(&p[0], p[0].epoch + 1, 70, BFTM_TOKEN_UNKNOWN, "RECOVER of another start");
	want_refused(&p[0], recovery(BFTM_TOKEN_FLOOR_MAX), BFTM_REFUSED_CLOCK,
		     "RECOVER that leaves no token");
	want_refused(&p[0], recovery(clock_ns(CLOCK_REALTIME) + 3600 * BFTM_NS_PER_SEC),
		     BFTM_REFUSED_CLOCK, "RECOVER of an hour ahead");
	want_top(&p[0], BFTM_TOKEN_UNKNOWN, "after that");
	recover(&p[0], 0, 70, 70, "RECOVER");
	expected.recovered++;
	recover(&p[1], 0, 90, 70, "RECOVER once more");
	want_stamp(&p[0], stamp(a, 70), BFTM_MSG_SNACK, 70, "STAMP of what may have been");
	want_stamp(&p[0], stamp(a, 71), BFTM_MSG_SACK, 71, "STAMP");
	snprintf(lock_name, sizeof(lock_name), "q%" PRIu64, fresh());
	want_stamp(&p[0], stamp(a, 70), BFTM_MSG_SNACK, 70, "STAMP of a new lock");
	want_top(&p[0], 71, "after STAMP");
}

static const struct test tests[] = {
	{ "stamp", stamps, 2 },
	{ "reclaimed", reclaimed, 1 },
	{ "recover", recovers, 2 },
	{ "too-early", too_early, 1 },
	{ "of-some", of_some, 2 },
	{}
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, tests);
}
