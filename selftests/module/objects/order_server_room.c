// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a server on objects, in all and for each client; order_raw.h says how this is called.
 */
#include "order_random.h"

/* A server started with --max-objects 2 --max-state 1024. */
static void limits(struct peer *p)
{
	struct body *op = op_new("add 1"), *longest = random_state(1, p, 1024 - 16 - 24 - 4);
	struct body *longer = random_state(1, p, 1024 - 16 - 24 - 3);
	struct bftm_order_msg m;

	check(longest->id.len == 1024 && longer->id.len == 1025, "%u and %u bytes",
	      longest->id.len, longer->id.len);
	snprintf(name, sizeof(name), "first");
	ask_order(p, get(1), BFTM_ORDER_GOT, "the first object");
	snprintf(name, sizeof(name), "second");
	ask_order(p, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "the second");
	snprintf(name, sizeof(name), "third");
	refused(p, get(1), BFTM_REFUSED_OBJECTS, "GET of one too many");
	refused(p, submit_op(OP(1), op, true), BFTM_REFUSED_OBJECTS, "SUBMIT to one too many");
	refused(p, piece(longest, 0), BFTM_REFUSED_OBJECTS, "PUT for one too many");
	refused(p, about(order(BFTM_ORDER_COMMIT, 1), longest, true), BFTM_REFUSED_OBJECTS,
		"COMMIT of one too many");
	m = order(BFTM_ORDER_FETCH, 0);
	m.id = op->id;
	ask_order(p, m, BFTM_ORDER_NOBODY, "FETCH of one too many");
	snprintf(name, sizeof(name), "first");
	refused(p, about(order(BFTM_ORDER_PROPOSE, 1), longer, true), BFTM_REFUSED_STATE,
		"a state that is a byte too long");
	refused(p, piece(longer, 0), BFTM_REFUSED_STATE, "the same in pieces");
	decide(p, 2, longest, true);
}

/* The first piece of a body, of which the next will not come. */
static struct bftm_order_msg begun(const struct body *b, u64 version)
{
	struct bftm_order_msg m = piece(b, 0);

	m.id.version = version;
	return m;
}

/* This many bodies may arrive for one object; one more when one was idle for long. */
static void arrivals(struct peer *p)
{
	u64 end = clock_ns(CLOCK_BOOTTIME) + 20 * BFTM_NS_PER_SEC;
	u32 i, each = BFTM_UPLOADS_OWN_MAX, clients = BFTM_UPLOADS_MAX / each;
	struct body *b = random_state(1, p, 1500), *own = random_state(1, p, 1500);
	struct answer a = {};

	ask_order(p, piece(own, 0), BFTM_ORDER_STORED, "PUT");
	for (i = 0; i < BFTM_UPLOADS_MAX; i++)
		ask_order(&p[i % clients], begun(b, 2 + i), BFTM_ORDER_STORED, "PUT");
	/* For the last of its own uploads, only the client's own oldest was given up. */
	ask_order(p, piece(own, BFTM_PIECE_LEN), BFTM_ORDER_STORED, "the rest of the first");
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), own, false), BFTM_ORDER_NEEDBODY,
		  "PROPOSE of what had to go");
	/* A further upload of another client has to wait until one is idle. */
	do {
		struct bftm_order_msg m = begun(b, 1000);

		tell_order(&p[clients], m);
		expected.silent++;
	} while (!hear_order(&p[clients], &a, 100) && clock_ns(CLOCK_BOOTTIME) < end);
	expected.silent--;
	check(a.type == BFTM_ORDER_STORED, "one more: %s", answer_name(a.type));
	ask_order(&p[clients], begun(b, 1000), BFTM_ORDER_STORED, "the same again");
}

/* Memory of a state of 33,000 bytes, and the share of one client. */
#define TAKEN	(64u << 10)
#define EACH	((16u << 20) / 4)
#define OBJECTS	(EACH / TAKEN + 4)
#define TRIES	20

/* Begin uploads to many objects that will not be completed. Return: how many were taken. */
static u32 hoard(struct peer *p, const struct body *b)
{
	struct answer a;
	u32 i;

	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "s%u", i % OBJECTS);
		tell_order(p, begun(b, 10 + i));
		if (!check(hear_order(p, &a, PATIENCE_MS), "PUT: no answer") ||
		    a.type != BFTM_ORDER_STORED)
			break;
	}
	check(a.type == BFTM_MSG_REFUSED && a.plain.arg == BFTM_REFUSED_OBJECTS,
	      "PUT %u: %s", i, answer_name(a.type));
	return i;
}

/* Has no upload been idle since? Idle ones may be given up for others. */
static bool at_once(u64 since)
{
	return clock_ns(CLOCK_BOOTTIME) - since < BFTM_NS_PER_SEC;
}

/* A client that takes all memory it can get, without states of objects; others are served. */
static void one_share(struct peer *p, const struct body *b, const struct body *op)
{
	struct answer a;
	u64 since;
	u32 n, i;

	for (i = 0; i < TRIES; i++) {
		since = clock_ns(CLOCK_BOOTTIME);
		n = hoard(p, b);
		snprintf(name, sizeof(name), "s0");
		tell_order(p, submit_op(OP(1), op, true));
		check(hear_order(p, &a, PATIENCE_MS), "SUBMIT of the hoarder: no answer");
		if (!at_once(since))
			continue;
		check(n == EACH / TAKEN, "%u bodies in a quarter of the memory", n);
		check(a.type == BFTM_MSG_REFUSED && a.plain.arg == BFTM_REFUSED_PENDING,
		      "SUBMIT of the hoarder: %s", answer_name(a.type));
		break;
	}
	check(i < TRIES, "too slow, %u times", i);
	ask_order(p, get(1), BFTM_ORDER_GOT, "GET of the hoarder");
	ask_order(p + 1, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT of another");
}

/*
 * The same server. A paused upload of another client is not given up for a client that wants more
 * than its share; its own uploads are.
 */
static void paused(struct peer *p)
{
	struct body *b = random_state(1, p, 33000), *own = random_state(1, p + 1, 1500);
	u64 end = clock_ns(CLOCK_BOOTTIME) + 20 * BFTM_NS_PER_SEC;
	struct answer a = {};

	snprintf(name, sizeof(name), "paused");
	ask_order(p + 1, piece(own, 0), BFTM_ORDER_STORED, "PUT that pauses");
	hoard(p, b);
	do {
		tell_order(p, begun(b, 5000));
		check(hear_order(p, &a, PATIENCE_MS), "PUT beyond the share: no answer");
	} while (a.type != BFTM_ORDER_STORED && clock_ns(CLOCK_BOOTTIME) < end);
	check(a.type == BFTM_ORDER_STORED, "one more: %s", answer_name(a.type));
	snprintf(name, sizeof(name), "paused");
	ask_order(p + 1, piece(own, BFTM_PIECE_LEN), BFTM_ORDER_STORED, "the rest");
	ask_order(p + 1, get(1), BFTM_ORDER_GOT, "GET");
	ask_order(p + 1, about(order(BFTM_ORDER_PROPOSE, 1), own, false), BFTM_ORDER_PROPOSED,
		  "PROPOSE of it");
}

/* A server with --object-memory 16777216. */
static void share(struct peer *p)
{
	struct body *b = random_state(1, p, 33000), *op = op_new("add 1");
	u32 i, k, n;
	u64 since;

	one_share(p, b, op);
	/* States of objects count for no client: more than a share of them. */
	for (i = 0; i < OBJECTS; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		put(p + 1, b);
		decide(p + 1, 1, b, false);
	}
	/* Several clients together take all memory; and existing objects do not suffer. */
	for (i = 0; i < TRIES; i++) {
		since = clock_ns(CLOCK_BOOTTIME);
		for (k = 2, n = 0; k < PEERS_MAX; k++)
			n += hoard(p + k, b);
		if (!at_once(since))
			continue;
		/* The uploads of the first client may be idle by now, or not. */
		check(n > EACH / TAKEN && n < 3 * EACH / TAKEN, "%u bodies of all", n);
		break;
	}
	check(i < TRIES, "too slow, %u times", i);
	snprintf(name, sizeof(name), "new");
	refused(p, get(1), BFTM_REFUSED_OBJECTS, "GET of a new object");
	refused(p, submit_op(OP(2), op, true), BFTM_REFUSED_OBJECTS, "SUBMIT to a new object");
	snprintf(name, sizeof(name), "s0");
	refused(p + 1, submit_op(OP(2), op, true), BFTM_REFUSED_PENDING, "SUBMIT");
	ask_order(p, get(7), BFTM_ORDER_GOT, "GET");
	ask_order(p, about(order(BFTM_ORDER_COMMIT, 7), b, false), BFTM_ORDER_COMMITTED,
		  "COMMIT of what is there");
}

#define BATCH 32

/* Submit @op to @count objects from number @first on, by all. Return: how many wait. */
static unsigned int submit_many(struct peer *p, const struct body *op, unsigned int first,
				enum bftm_refusal *ret)
{
	unsigned int i, k, n = 0;
	struct answer a;

	for (i = 0; i < BATCH; i++) {
		snprintf(name, sizeof(name), "n%u", first + i);
		for (k = 0; k < PEERS_MAX; k++)
			tell_order(&p[k], submit_op(OP(1), op, true));
	}
	for (i = 0; i < BATCH * PEERS_MAX; i++) {
		if (!check(hear_order(&p[i % PEERS_MAX], &a, PATIENCE_MS), "SUBMIT: no answer"))
			break;
		if (a.type == BFTM_ORDER_PENDING)
			n++;
		else if (check(a.type == BFTM_MSG_REFUSED, "%s", answer_name(a.type)))
			*ret = a.plain.arg;
	}
	return n;
}

/* A server with --object-memory 16777216: operations may have three quarters. */
static void memory(struct peer *p)
{
	struct body *op = random_op(1000), *state;
	unsigned int n = 0, i, k, more;
	enum bftm_refusal reason = 0;

	for (i = 0; i < 50 * BATCH; i += BATCH) {
		more = submit_many(p, op, i, &reason);
		n += more;
		if (more < BATCH * PEERS_MAX)
			break;
	}
	check(reason == BFTM_REFUSED_PENDING || reason == BFTM_REFUSED_OBJECTS,
	      "number %u: %s", n, bftm_refusal_name(reason));
	check(n > 4000 && n < 6200, "%u operations of 1000 bytes in 12 MiB", n);
	/* Operations that were begun end, and free their memory. */
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		for (k = 0; k < PEERS_MAX; k++) {
			state = random_state(k + 1, &p[k], 600);
			decide(&p[k], k + 1, state, true);
		}
	}
	snprintf(name, sizeof(name), "again");
	ask_order(p, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT when there is room");
}

#define CRAMMED 14
#define CRAMMED_LEN 900000	/* it counts as 1 MiB */

/* Object @i, and its state. */
static void cram(struct peer *p, u32 i, u64 rank, u8 answer, const struct body *b)
{
	snprintf(name, sizeof(name), "crammed%u", i);
	ask_order(p, get(rank), answer, "GET");
	if (b)
		put(p, b);
}

/* Existing objects may have all of 16 MiB, not only three quarters. */
static void crammed(struct peer *p)
{
	struct body *b = random_state(2, p, CRAMMED_LEN);
	u32 i;

	for (i = 0; i < CRAMMED; i++)
		cram(p, i, 1, BFTM_ORDER_GOT, NULL);
	for (i = 0; i < CRAMMED; i++) {
		cram(p, i, 2, BFTM_ORDER_GOT, b);
		decide(p, 2, b, false);
	}
	snprintf(name, sizeof(name), "new");
	refused(p, get(1), BFTM_REFUSED_OBJECTS, "GET of a new one");
}

/* A server that has forgotten them: all of them come back. */
static void crammed_again(struct peer *p)
{
	struct body *b = random_state(2, p, CRAMMED_LEN);
	u32 i;

	for (i = 0; i < CRAMMED; i++) {
		cram(p, i, 3, BFTM_ORDER_RECOVERING, b);
		ask_order(p, about(order(BFTM_ORDER_INSTALL, 3), b, false), BFTM_ORDER_INSTALLED,
			  "INSTALL");
	}
}

static const struct test tests[] = {
	{ "crammed", crammed, 1 },
	{ "crammed-again", crammed_again, 1 },
	{ "limits", limits, 1 },
	{ "arrivals", arrivals, 8 },
	{ "paused", paused, 2 },
	{ "share", share, 8 },
	{ "memory", memory, 8 },
	{}
};

int main(int argc, char **argv)
{
	return run_test(argc, argv, tests);
}
