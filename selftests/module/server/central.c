// SPDX-License-Identifier: GPL-2.0
/* A module that was built with the reference protocols: their central server; see cases.h. */
#include "cases.h"
#include "selftests/core/reference/central/message.h"

static struct bftm_msg central_try(u64 attempt, u32 k)
{
	struct bftm_msg m = queue_try(attempt, k, 0);

	m.proto = PROTO_CENTRAL;
	return m;
}

static void released(struct peer *p, u64 attempt)
{
	struct bftm_msg m = request(BFTM_MSG_RELEASE, lock_name, attempt);

	m.proto = PROTO_CENTRAL;
	want_reply(p, m, BFTM_MSG_RELEASED, "RELEASE");
}

/* Also of a lock that the backoff protocol has under the same name. */
static void in_turn(struct peer *p)
{
	struct bftm_msg first = central_try(fresh(), 1), second = central_try(fresh(), 1), r;
	struct bftm_msg other = queue_try(fresh(), 1, 1);

	want_reply(&p[1], other, BFTM_MSG_FREE, "TRY of the backoff protocol");
	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY of a free lock");
	check(want_reply(&p[1], second, BFTM_MSG_WAIT, "TRY of a lock that another has").position == 1,
	      "another place in the queue");
	released(&p[0], first.attempt);
	pushed(&p[1], BFTM_MSG_FREE, &second, r.gno + 1, "RELEASE with a waiter");
	released(&p[1], second.attempt);
	/* A late request gets no answer: the next datagram answers another one. */
	tell(&p[1], second);
	expected.silent++;
	first = central_try(fresh(), 1);
	check(want_reply(&p[0], first, BFTM_MSG_FREE, "TRY").gno == r.gno + 2,
	      "another grant in between");
	released(&p[0], first.attempt);
	want_released(&p[1], other.attempt);
}

/* And one of the backoff protocol, which is forgotten when the other would be. */
static void hold(struct peer *p)
{
	u64 attempt = fresh();

	snprintf(lock_name, sizeof(lock_name), "idle-0");
	want_reply(&p[0], queue_try(attempt, 1, 1), BFTM_MSG_FREE, "TRY of the backoff protocol");
	want_released(&p[0], attempt);
	snprintf(lock_name, sizeof(lock_name), "hold-0");
	want_reply(&p[0], central_try(1ull << 62, 1), BFTM_MSG_FREE, "TRY of a free lock");
}

static void still_held(struct peer *p)
{
	struct bftm_msg other;

	snprintf(lock_name, sizeof(lock_name), "hold-0");
	other = central_try(fresh(), 1);
	other.flags = BFTM_FLAG_NOQUEUE;
	want_reply(&p[0], other, BFTM_MSG_LOCKED, "TRY of a lock that another holds for long");
}

static const struct test tests[] = {
	{ "in-turn", in_turn, 2 },
	{ "hold", hold, 1 },
	{ "still-held", still_held, 1 },
	{}
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, tests);
}
