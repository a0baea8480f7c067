// SPDX-License-Identifier: GPL-2.0
/* Objects at a server; see order_raw.h for how this is called. */
#include "order_raw.h"

#define OP(n) ((7ull << 32) + (n))

/* One operation from its submit to its response, and once more. */
static void story(struct peer *p)
{
	struct peer *q = p + 1;
	struct body *op = op_new("add 1"), *state = small_state(1, q, OP(1));
	struct bftm_order_msg m;
	struct answer a;

	ask_order(q, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT");
	ask_order(q, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT again");
	a = ask_order(p, get(1), BFTM_ORDER_GOT, "GET");
	check(!a.order.id.version && !a.order.sp.version && !a.order.prop.count,
	      "GET: not the beginning");
	check(a.order.pending == 1 && a.order.data_len == 48, "GET: %u wait, %u bytes",
	      a.order.pending, a.order.data_len);
	m = order(BFTM_ORDER_FETCH, 0);
	m.id = op->id;
	a = ask_order(p, m, BFTM_ORDER_BODY, "FETCH of an operation");
	check(a.order.data_len == op->id.len && !memcmp(a.order.data, op->data, op->id.len),
	      "FETCH of an operation: other bytes");
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false), BFTM_ORDER_NEEDBODY,
		  "PROPOSE without the body");
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), state, true), BFTM_ORDER_PROPOSED,
		  "PROPOSE");
	ask_order(p, about(order(BFTM_ORDER_COMMIT, 1), state, false), BFTM_ORDER_COMMITTED,
		  "COMMIT");
	pushed_response(q, OP(1), "done", "COMMIT");
	ask_order(p, about(order(BFTM_ORDER_COMMIT, 1), state, false), BFTM_ORDER_COMMITTED,
		  "COMMIT again");
	a = ask_order(q, submit_op(OP(1), op, true), BFTM_ORDER_RESPONSE, "SUBMIT of what was applied");
	check(a.order.data_len == 4 && a.order.id.len == 4 && !memcmp(a.order.data, "done", 4),
	      "SUBMIT: another response");
	a = ask_order(q, get(2), BFTM_ORDER_GOT, "GET of another");
	check(bftm_body_same(&a.order.id, &state->id) &&
	      bftm_body_same(&a.order.sp, &state->id) && a.order.prop.count == 1 &&
	      a.order.prop.client == p->client && !a.order.pending,
	      "GET of another: another state");
	a = ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false),
		      BFTM_ORDER_EXCEPTION, "PROPOSE of an outranked one");
}

/* States of an object of client q and its iteration 5, when p comes. */
enum state { NOTHING, PROMISED, WAITING, PROPOSED, COMMITTED, BOTH, ARRIVED, ARRIVING, STATES };

static const char *const state_names[] = {
	"nothing", "promised", "waiting", "proposed", "committed", "committed, and one proposed",
	"arrived", "arriving",
};

static struct body *small, *next, *big, *op;

static void make(enum state state, struct peer *p)
{
	struct peer *q = p + 1;

	switch (state) {
	case PROMISED:
		ask_order(q, get(5), BFTM_ORDER_GOT, "GET");
		break;
	case WAITING:
		ask_order(q, submit_op(OP(9), op, true), BFTM_ORDER_PENDING, "SUBMIT");
		break;
	case PROPOSED:
		ask_order(q, about(order(BFTM_ORDER_PROPOSE, 5), small, true),
			  BFTM_ORDER_PROPOSED, "PROPOSE");
		break;
	case COMMITTED:
		ask_order(q, about(order(BFTM_ORDER_COMMIT, 5), small, true),
			  BFTM_ORDER_COMMITTED, "COMMIT");
		break;
	case BOTH:
		make(COMMITTED, p);
		ask_order(q, about(order(BFTM_ORDER_PROPOSE, 5), next, true),
			  BFTM_ORDER_PROPOSED, "PROPOSE of the next");
		break;
	case ARRIVED:
		put(p, big);
		break;
	case ARRIVING:
		ask_order(p, piece(big, BFTM_PIECE_LEN), BFTM_ORDER_STORED, "PUT");
		break;
	case NOTHING:
	case STATES:
		break;
	}
}

/**
 * struct row - a message of p, and the right answer in each state
 * @count:  of its rank
 * @what:   the body that it names; KNOWN is the one that the object has, or would have
 * @whole:  the message has the body's bytes
 * @spoil:  makes a further change, or NULL
 * @answer: a type, a reason for a refusal, or NO
 */
struct row {
	const char *name;
	u8 type;
	u64 count;
	enum { INITIAL, SMALL, NEXT, KNOWN, OPERATION } what;
	bool whole;
	void (*spoil)(struct bftm_order_msg *m);
	u8 answer[STATES];
};

/* Its bytes say 1. */
static void other_version(struct bftm_order_msg *m)
{
	m->id.version = 3;
}

/* The version is none that an object knows. */
static void other_digest(struct bftm_order_msg *m)
{
	m->id.version = 4;
	m->id.digest[31] ^= 1;
}

static void first_piece(struct bftm_order_msg *m)
{
	if (m->data_len > BFTM_PIECE_LEN)
		m->data_len = BFTM_PIECE_LEN;
}

#define NO	0
#define BAD	BFTM_REFUSED_STATE
#define EXC	BFTM_ORDER_EXCEPTION
#define GOT	BFTM_ORDER_GOT
#define PROP	BFTM_ORDER_PROPOSED
#define COMM	BFTM_ORDER_COMMITTED
#define DONE	BFTM_ORDER_COMMITTED_GOT
#define NEED	BFTM_ORDER_NEEDBODY
#define INST	BFTM_ORDER_INSTALLED
#define BODY	BFTM_ORDER_BODY
#define NONE	BFTM_ORDER_NOBODY
#define PEND	BFTM_ORDER_PENDING
#define KEPT	BFTM_ORDER_STORED
#define ALL(x)	{ x, x, x, x, x, x, x, x }
#define M(type)	BFTM_ORDER_ ## type

static const struct row rows[] = {
	{ "SUBMIT", M(SUBMIT), 0, OPERATION, true, NULL, ALL(PEND) },
	{ "SUBMIT without the body", M(SUBMIT), 0, OPERATION, false, NULL, ALL(NEED) },
	{ "GET", M(GET), 6, INITIAL, false, NULL, ALL(GOT) },
	{ "GET, outranked", M(GET), 4, INITIAL, false, NULL,
	  { GOT, EXC, GOT, EXC, EXC, EXC, GOT, GOT } },
	{ "PROPOSE", M(PROPOSE), 6, SMALL, true, NULL, ALL(PROP) },
	{ "PROPOSE, outranked", M(PROPOSE), 4, SMALL, true, NULL,
	  { PROP, EXC, PROP, EXC, EXC, EXC, PROP, PROP } },
	{ "PROPOSE without the body", M(PROPOSE), 6, KNOWN, false, NULL,
	  { NEED, NEED, NEED, PROP, PROP, PROP, PROP, NEED } },
	{ "PROPOSE of the beginning", M(PROPOSE), 6, INITIAL, false, NULL, ALL(PROP) },
	{ "PROPOSE of an operation", M(PROPOSE), 6, OPERATION, true, NULL, ALL(BAD) },
	{ "PROPOSE of another version", M(PROPOSE), 6, SMALL, true, other_version, ALL(BAD) },
	{ "PROPOSE with another digest", M(PROPOSE), 6, SMALL, true, other_digest, ALL(BAD) },
	{ "COMMIT", M(COMMIT), 6, SMALL, true, NULL, ALL(COMM) },
	{ "COMMIT, outranked", M(COMMIT), 4, SMALL, true, NULL,
	  { COMM, EXC, COMM, EXC, EXC, EXC, COMM, COMM } },
	{ "COMMIT without the body", M(COMMIT), 6, KNOWN, false, NULL,
	  { NEED, NEED, NEED, COMM, COMM, COMM, COMM, NEED } },
	{ "COMMIT of the beginning", M(COMMIT), 6, INITIAL, false, NULL, ALL(COMM) },
	{ "COMMIT_GET", M(COMMIT_GET), 6, SMALL, true, NULL, ALL(DONE) },
	{ "COMMIT_GET, outranked", M(COMMIT_GET), 4, SMALL, true, NULL,
	  { DONE, EXC, DONE, EXC, EXC, EXC, DONE, DONE } },
	{ "COMMIT_GET without the body", M(COMMIT_GET), 6, KNOWN, false, NULL,
	  { NEED, NEED, NEED, DONE, DONE, DONE, DONE, NEED } },
	{ "INSTALL of what is", M(INSTALL), 6, KNOWN, false, NULL,
	  { NO, NO, NO, NO, INST, INST, NO, NO } },
	{ "INSTALL of something else", M(INSTALL), 6, NEXT, true, NULL, ALL(NO) },
	{ "FETCH", M(FETCH), 0, KNOWN, false, NULL,
	  { NONE, NONE, NONE, BODY, BODY, BODY, NONE, NONE } },
	{ "FETCH of an operation", M(FETCH), 0, OPERATION, false, NULL,
	  { NONE, NONE, BODY, NONE, NONE, NONE, NONE, NONE } },
	{ "PUT", M(PUT), 0, KNOWN, true, first_piece, ALL(KEPT) },
};

static const struct body *body_of(const struct row *row, enum state state)
{
	switch (row->what) {
	case SMALL:
		return small;
	case NEXT:
		return next;
	case KNOWN:
		return state == ARRIVED || state == ARRIVING ? big : small;
	case OPERATION:
		return op;
	case INITIAL:
		break;
	}
	return NULL;
}

static void cell(struct peer *p, const struct row *row, enum state state)
{
	struct bftm_order_msg m;
	u8 want = row->answer[state];
	char why[96];

	snprintf(name, sizeof(name), "m%td-%d", row - rows, state);
	snprintf(why, sizeof(why), "%s, when %s", row->name, state_names[state]);
	make(state, p);
	m = order(row->type, row->count);
	if (row->type == BFTM_ORDER_GET || row->type == BFTM_ORDER_SUBMIT)
		m.room = 512;
	m.op = row->type == BFTM_ORDER_SUBMIT ? OP(3) : 0;
	if (row->what != INITIAL)
		m = about(m, body_of(row, state), row->whole);
	if (row->spoil)
		row->spoil(&m);
	if (!want)
		silent(p, m, why);
	else if (want < BFTM_MSG_REPLY)
		refused(p, m, want, why);
	else
		ask_order(p, m, want, why);
}

/* Every message, to an object in every state. */
static void matrix(struct peer *p)
{
	static u8 app[1500];
	enum state state;
	size_t i;

	small = small_state(1, p + 1, OP(1));
	next = small_state(2, p + 1, OP(2));
	big = state_new(1, p + 1, OP(1), "done", app, sizeof(app));
	op = op_new("add 1");
	for (state = NOTHING; state < STATES; state++)
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			cell(p, &rows[i], state);
}

#define LISTED	150

/* Object "l017" is number 17; -1: another one. */
static int number_of(const struct bftm_listed *listed)
{
	char text[8] = {}, *end = text;
	unsigned long number = LISTED;

	if (listed->name_len == 4 && listed->name[0] == 'l') {
		memcpy(text, listed->name + 1, 3);
		number = strtoul(text, &end, 10);
	}
	return number < LISTED && end == text + 3 ? (int)number : -1;
}

/* All objects, page by page: how often each of ours is told. Return: how many pages it takes. */
static u32 list_all(struct peer *p, u32 room, u32 told[LISTED])
{
	struct bftm_listed listed;
	u32 pages = 0, at;
	struct answer a;
	u64 cursor = 0;
	int number;

	memset(told, 0, LISTED * sizeof(*told));
	do {
		a = ask_order(p, list_from(cursor, room), BFTM_ORDER_LISTED, "LIST");
		for (at = 0; at < a.order.data_len; ) {
			at += bftm_listed_get(a.order.data + at, a.order.data_len - at, &listed);
			number = number_of(&listed);
			if (number < 0)
				continue;
			told[number]++;
			check(listed.version == 1 && listed.type_len == 3 &&
			      !memcmp(listed.type, "app", 3), "l%03u: another state", number);
		}
		cursor = a.order.next;
		pages++;
	} while (cursor && pages < 1000);
	return pages;
}

static void check_told(const u32 told[LISTED], u32 from, u32 count, const char *why)
{
	u32 i;

	for (i = 0; i < LISTED; i++)
		check(told[i] == (i >= from && i < from + count), "%s: l%03u is told %u times", why, i,
		      told[i]);
}

/* Objects in pages of any size: each once, and no page is longer than its request. */
static void list(struct peer *p)
{
	static const u32 rooms[] = { BFTM_ORDER_LIST_LEN, 400, BFTM_ORDER_ROOM_MAX };
	u32 i, told[LISTED], pages = 0;

	for (i = 0; i < LISTED; i++) {
		snprintf(name, sizeof(name), "l%03u", i);
		decide(p, 1, small_state(1, p, OP(1)), true);
	}
	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		pages = list_all(p, rooms[i], told);
		check_told(told, 0, LISTED, "LIST");
	}
	check(pages >= LISTED / 64, "%u pages: a page looks at 64 objects", pages);
	/* Wherever a page begins, it is answered. */
	ask_order(p, list_from(~0ull, 0), BFTM_ORDER_LISTED, "behind the last object");
	ask_order(p, list_from(1ull << 63, 0), BFTM_ORDER_LISTED, "from the middle on");
}

/* By the server's rules this client may use "l02…" only. */
static void list_some(struct peer *p)
{
	u32 told[LISTED];

	check(list_all(p, BFTM_ORDER_ROOM_MAX, told) >= LISTED / 64,
	      "objects are looked at, whether they are told or not");
	check_told(told, 20, 10, "with rules");
}

static const struct test tests[] = {
	{ "story", story, 2 },
	{ "matrix", matrix, 2 },
	{ "list", list, 1 },
	{ "list_some", list_some, 1 },
	{}
};

int main(int argc, char **argv)
{
	return run_test(argc, argv, tests);
}
