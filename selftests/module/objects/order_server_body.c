// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies in pieces, and objects that a server has forgotten; see order_raw.h for how
 * this is called.
 */
#include "order_random.h"

/* The whole body comes back unchanged. */
static void fetch_all(struct peer *p, const struct body *b)
{
	struct bftm_order_msg m = order(BFTM_ORDER_FETCH, 0);
	struct answer a;

	m.id = b->id;
	for (m.offset = 0; m.offset < b->id.len; m.offset += BFTM_PIECE_LEN) {
		m.seq = 0;
		a = ask_order(p, m, BFTM_ORDER_BODY, "FETCH");
		check(a.order.offset == m.offset &&
		      a.order.data_len == piece(b, m.offset).data_len &&
		      !memcmp(a.order.data, b->data + m.offset, a.order.data_len),
		      "FETCH at %u: other bytes", m.offset);
	}
	m.seq = 0;
	formless(p, m, "FETCH behind the end");
}

/* Pieces in any order, repeated, and malformed ones. */
static void pieces(struct peer *p)
{
	struct peer *q = p + 1;
	struct body *b = random_state(1, p, 5000), *op = random_op(BFTM_OP_MAX);
	u32 count = (b->id.len + BFTM_PIECE_LEN - 1) / BFTM_PIECE_LEN, i, at[8];
	struct bftm_order_msg m = piece(b, 0);

	for (i = 0; i < count; i++)
		at[i] = i * BFTM_PIECE_LEN;
	for (i = count - 1; i > 0; i--) {
		u32 k = (u32)rand() % (i + 1), was = at[i];

		at[i] = at[k];
		at[k] = was;
	}
	for (i = 0; i < count; i++) {
		ask_order(p, about(order(BFTM_ORDER_PROPOSE, 2), b, false), BFTM_ORDER_NEEDBODY,
			  "PROPOSE before all pieces are there");
		ask_order(p, piece(b, at[i]), BFTM_ORDER_STORED, "PUT");
		ask_order(p, piece(b, at[i]), BFTM_ORDER_STORED, "PUT again");
	}
	m.offset = 1;
	formless(p, m, "PUT at 1");
	m.offset = (u32)-1024;
	formless(p, m, "PUT far behind the end");
	m.offset = count * BFTM_PIECE_LEN;
	formless(p, m, "PUT behind the end");
	m = piece(b, 0);
	m.data_len = 512;
	formless(p, m, "PUT of half a piece");
	m.data_len = BFTM_PIECE_LEN + 8;
	formless(p, m, "PUT of more than a piece");
	m = order(BFTM_ORDER_PUT, 0);
	formless(p, m, "PUT of nothing");
	ask_order(q, about(order(BFTM_ORDER_PROPOSE, 2), b, false), BFTM_ORDER_NEEDBODY,
		  "PROPOSE of what another has put");
	decide(p, 3, b, false);
	fetch_all(q, b);
	ask_order(q, piece(b, 0), BFTM_ORDER_STORED, "PUT of what is known");

	put(q, op);
	ask_order(q, submit_op(OP(2), op, false), BFTM_ORDER_PENDING, "SUBMIT after PUT");
	fetch_all(p, op);
}

/* Two clients want the same, and one of them wants it twice. */
static void same(struct peer *p)
{
	struct peer *q = p + 1;
	struct body *op = random_op(2000);

	put(p, op);
	ask_order(p, submit_op(OP(2), op, false), BFTM_ORDER_PENDING, "SUBMIT");
	ask_order(q, submit_op(OP(2), op, false), BFTM_ORDER_NEEDBODY, "SUBMIT of what another has put");
	put(q, op);
	ask_order(q, submit_op(OP(2), op, false), BFTM_ORDER_PENDING, "SUBMIT of the same");
	put(p, op);
	ask_order(p, submit_op(OP(3), op, false), BFTM_ORDER_PENDING, "SUBMIT of the same once more");
	put(p, op);
	ask_order(p, submit_op(OP(3), op, false), BFTM_ORDER_PENDING, "SUBMIT again");
}

/* Pieces that do not form the announced body. */
static void digest(struct peer *p)
{
	struct body *b = random_state(1, p, 3000), *wrong = body_new(1, b->data, b->id.len);
	struct bftm_order_msg m;
	u32 last = BFTM_PIECE_LEN * 2;

	wrong->data[100] ^= 1;
	ask_order(p, piece(wrong, 0), BFTM_ORDER_STORED, "PUT");
	ask_order(p, piece(b, BFTM_PIECE_LEN), BFTM_ORDER_STORED, "PUT");
	refused(p, piece(b, last), BFTM_REFUSED_STATE, "the last PUT of a wrong body");
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), b, false), BFTM_ORDER_NEEDBODY,
		  "PROPOSE of a wrong body");
	put(p, b);
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), b, false), BFTM_ORDER_PROPOSED,
		  "PROPOSE of the right one");

	/* Right bytes that are no state. */
	wrong = random_op(2000);
	wrong->id.version = 2;
	put(p, wrong);
	refused(p, about(order(BFTM_ORDER_PROPOSE, 2), wrong, false), BFTM_REFUSED_STATE,
		"PROPOSE of what is no state");
	m = order(BFTM_ORDER_PUT, 0);
	m.data = b->data;
	m.data_len = BFTM_PIECE_LEN;
	m.id.len = BFTM_OP_MAX + 1;
	refused(p, m, BFTM_REFUSED_STATE, "PUT of an operation that is too long");
	m.id.version = 1;
	m.id.len = (64 << 10) + 1;
	m.seq = 0;
	refused(p, m, BFTM_REFUSED_STATE, "PUT of a state that is too long");
	m.id.len = 0xffffffff;
	m.seq = 0;
	refused(p, m, BFTM_REFUSED_STATE, "PUT of the longest state there is");
}

/* A response that is longer than a datagram; and one that is pushed only in part. */
static void response(struct peer *p)
{
	struct peer *q = p + 1;
	struct body *op = op_new("read"), *state;
	struct bftm_order_msg m;
	static char text[3001];
	struct answer a;
	u32 i;

	for (i = 0; i < 3000; i++)
		text[i] = (char)('a' + rand() % 26);
	state = state_new(1, q, OP(1), text, "app", 3);
	m = submit_op(OP(1), op, true);
	ask_order(q, m, BFTM_ORDER_PENDING, "SUBMIT");
	put(p, state);
	decide(p, 1, state, false);
	check(hear_order(q, &a, PATIENCE_MS) && a.type == BFTM_ORDER_RESPONSE && !a.order.seq &&
	      a.order.id.len == 3000 && a.order.data_len == 240 &&
	      !memcmp(a.order.data, text, 240) && a.len == bftm_order_len(&m),
	      "what was pushed: %s, %u of %u bytes", answer_name(a.type), a.order.data_len,
	      a.order.id.len);
	m = submit_op(OP(1), op, false);
	m.room = BFTM_ORDER_ROOM_SURE;
	for (i = 0; i < 3000; i += a.order.data_len) {
		m.offset = i;
		m.seq = 0;
		a = ask_order(q, m, BFTM_ORDER_RESPONSE, "SUBMIT for more");
		if (!check(a.order.data_len && a.order.offset == i &&
			   !memcmp(a.order.data, text + i, a.order.data_len),
			   "response from %u on: other bytes", i))
			return;
	}
	check(i == 3000, "%u bytes of a response of 3000", i);
	m.offset = 3000;
	m.seq = 0;
	a = ask_order(q, m, BFTM_ORDER_RESPONSE, "SUBMIT for what is behind");
	check(!a.order.data_len, "behind the end of a response: %u bytes", a.order.data_len);
}

/* Eight clients wait; one state answers them all, each once. */
static void crowd(struct peer *p)
{
	struct bftm_applied applied[PEERS_MAX];
	struct body *op = op_new("add 1"), *state;
	static u8 data[4096];
	struct answer a;
	u32 len;
	int i;

	for (i = 0; i < PEERS_MAX; i++) {
		ask_order(&p[i], submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT");
		ask_order(&p[i], submit_op(OP(2), op, true), BFTM_ORDER_PENDING, "SUBMIT of the next");
		silent(&p[i], submit_op(OP(1), op, true), "SUBMIT of an older one");
		applied[i] = (struct bftm_applied) {
			.op = OP(2), .client = p[i].client, .len = 4, .response = (u8 *)"done",
		};
	}
	a = ask_order(p, get(1), BFTM_ORDER_GOT, "GET");
	check(a.order.pending == PEERS_MAX, "%u wait", a.order.pending);
	len = bftm_state_make(NULL, 1, applied, PEERS_MAX - 1, (u8 *)"app", 3, data, sizeof(data));
	state = body_new(1, data, len);
	decide(&p[PEERS_MAX - 1], 2, state, true);
	for (i = 0; i < PEERS_MAX - 1; i++)
		pushed_response(&p[i], OP(2), "done", "COMMIT");
	a = ask_order(p, get(3), BFTM_ORDER_GOT, "GET");
	check(a.order.pending == 1, "%u still wait", a.order.pending);
}

/* A server with --max-state 1048576. */
static void longest(struct peer *p)
{
	struct body *b = random_state(1, p, BFTM_STATE_MAX - 16 - 24 - 4);

	check(b->id.len == BFTM_STATE_MAX, "%u bytes", b->id.len);
	put(p, b);
	decide(p, 1, b, false);
	fetch_all(p, b);
}

/* A server that was started again, in its quarantine. */
static void quarantine(struct peer *p)
{
	struct body *op = op_new("add 1"), *state = small_state(1, p, OP(1));

	silent(p, submit_op(OP(1), op, true), "SUBMIT");
	silent(p, get(1), "GET");
	silent(p, about(order(BFTM_ORDER_PROPOSE, 1), state, true), "PROPOSE");
	silent(p, about(order(BFTM_ORDER_COMMIT, 1), state, true), "COMMIT");
	silent(p, about(order(BFTM_ORDER_INSTALL, 1), state, true), "INSTALL");
	silent(p, about(order(BFTM_ORDER_FETCH, 0), state, false), "FETCH");
	silent(p, piece(state, 0), "PUT");
}

/*
 * The same server after its quarantine: the forgotten objects are brought back, by a client with
 * the right only.
 */
static void recovery(struct peer *p)
{
	struct peer *q = p + 1;
	struct body *op = op_new("add 1"), *state = random_state(7, p, 3000);
	struct body *other = small_state(1, p, OP(1));
	struct answer a;

	silent(p, submit_op(OP(2), op, true), "SUBMIT");
	silent(p, about(order(BFTM_ORDER_PROPOSE, 1), other, true), "PROPOSE");
	silent(p, about(order(BFTM_ORDER_COMMIT, 1), other, true), "COMMIT");
	silent(p, about(order(BFTM_ORDER_FETCH, 0), other, false), "FETCH");
	silent(p, about(order(BFTM_ORDER_INSTALL, 1), other, true), "INSTALL without GET");
	ask_order(p, get(4), BFTM_ORDER_RECOVERING, "GET");
	ask_order(p, get(4), BFTM_ORDER_RECOVERING, "GET again");
	silent(q, get(3), "GET with a lower rank");
	ask_order(q, get(5), BFTM_ORDER_RECOVERING, "GET with a higher rank");
	silent(p, about(order(BFTM_ORDER_INSTALL, 4), other, true), "INSTALL that was outranked");
	silent(p, about(order(BFTM_ORDER_COMMIT, 9), other, true), "COMMIT");
	ask_order(q, about(order(BFTM_ORDER_INSTALL, 5), state, false), BFTM_ORDER_NEEDBODY,
		  "INSTALL before its body");
	put(q, state);
	ask_order(q, about(order(BFTM_ORDER_INSTALL, 5), state, false), BFTM_ORDER_INSTALLED,
		  "INSTALL");
	ask_order(q, about(order(BFTM_ORDER_INSTALL, 5), state, false), BFTM_ORDER_INSTALLED,
		  "INSTALL again");
	ask_order(p, get(4), BFTM_ORDER_EXCEPTION, "GET below the rank that it was told");
	a = ask_order(p, get(6), BFTM_ORDER_GOT, "GET");
	check(bftm_body_same(&a.order.id, &state->id), "GET: another state than was installed");
	fetch_all(p, state);
	ask_order(p, submit_op(OP(2), op, true), BFTM_ORDER_PENDING, "SUBMIT");
	ask_order(p, submit_op(OP(1), op, true), BFTM_ORDER_RESPONSE, "SUBMIT of what was applied");
}

static const struct test tests[] = {
	{ "pieces", pieces, 2 },
	{ "same", same, 2 },
	{ "digest", digest, 1 },
	{ "response", response, 2 },
	{ "crowd", crowd, 8 },
	{ "longest", longest, 1 },
	{ "quarantine", quarantine, 1 },
	{ "recovery", recovery, 2 },
	{}
};

int main(int argc, char **argv)
{
	return run_test(argc, argv, tests);
}
