// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of a server with durability = sync, and their times: this client of the server is its
 * journal as well, and so decides when a change is stored. order_raw.h says how it is called; it
 * runs beside the server.
 */
#include "order_raw.h"

#include "kernel/nl.h"

#define OP(n) ((7ull << 32) + (n))
/* Length of a state that takes four datagrams, and two messages of the journal. */
#define LONG_APP (40u << 10)

/** struct shown - the object that was pulled last */
struct shown {
	char name[BFTM_OBJECT_NAME_MAX + 1];
	u64 change, count, proposer, committed, proposed;
	u32 bytes, pieces;
	bool any, head, more;
};

static struct bftm_nl nl;

static u64 number(struct nlattr *nest, int attr, int max)
{
	struct nlattr *a[max + 1];

	if (!nest || nla_parse_nested(a, max, nest, NULL) < 0 || !a[attr])
		return UINT64_MAX;
	return nla_get_u64(a[attr]);
}

static int on_shown(struct nlattr **a, void *arg)
{
	struct shown *s = arg;

	s->any = true;
	s->more = a[BFTMUTEX_A_JOURNAL_MORE];
	s->change = nla_get_u64(a[BFTMUTEX_A_JOURNAL_CHANGE]);
	snprintf(s->name, sizeof(s->name), "%.*s", nla_len(a[BFTMUTEX_A_JOURNAL_NAME]),
		 (char *)nla_data(a[BFTMUTEX_A_JOURNAL_NAME]));
	if (a[BFTMUTEX_A_JOURNAL_RANK]) {
		check(!s->head, "pull: an object begins twice");
		s->head = true;
		s->count = number(a[BFTMUTEX_A_JOURNAL_RANK], BFTMUTEX_A_RANK_COUNT,
				  BFTMUTEX_A_RANK_MAX);
		s->proposer = number(a[BFTMUTEX_A_JOURNAL_PROPOSER], BFTMUTEX_A_RANK_COUNT,
				     BFTMUTEX_A_RANK_MAX);
		s->committed = number(a[BFTMUTEX_A_JOURNAL_COMMITTED], BFTMUTEX_A_STATE_VERSION,
				      BFTMUTEX_A_STATE_MAX);
		s->proposed = number(a[BFTMUTEX_A_JOURNAL_PROPOSED], BFTMUTEX_A_STATE_VERSION,
				     BFTMUTEX_A_STATE_MAX);
	}
	if (a[BFTMUTEX_A_JOURNAL_PIECE]) {
		s->pieces++;
		s->bytes += (u32)nla_len(a[BFTMUTEX_A_JOURNAL_PIECE]);
		check(nla_len(a[BFTMUTEX_A_JOURNAL_PIECE]) <= BFTMUTEX_PIECE_MAX,
		      "pull: a piece is too long");
	}
	return 0;
}

static int pull_once(struct shown *s)
{
	return bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_JOURNAL_PULL, 0), on_shown,
			    BFTMUTEX_A_JOURNAL_MAX, s);
}

/* The next object, as a whole. */
static struct shown pull(const char *why)
{
	struct shown s = {};
	int r;

	do
		r = pull_once(&s);
	while (r == 0 && s.more);
	check(r == 0 && s.any && s.head && !strcmp(s.name, name), "%s: pull: %s", why, strerror(-r));
	return s;
}

static int done(const char *object, u64 change)
{
	struct nl_msg *msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_JOURNAL_DONE, 0);

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, (int)strlen(object), object);
	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_CHANGE, change);
	return bftm_nl_call(&nl, msg, NULL, 0, NULL);
}

/* Pulls all changes. Return: the last object. */
static struct shown keep(const char *why)
{
	struct shown s = pull(why);

	check(done(name, s.change) == 0, "%s: done is refused", why);
	return s;
}

static void nothing_waits(const char *why)
{
	struct shown s = {};

	check(pull_once(&s) == -ENODATA, "%s: something waits", why);
}

static int on_server(struct nlattr **a, void *arg)
{
	*(u64 *)arg = a[BFTMUTEX_A_SERVER_JOURNAL_ID] ?
		      nla_get_u64(a[BFTMUTEX_A_SERVER_JOURNAL_ID]) : 0;
	return 0;
}

static int attach(struct bftm_nl *to, u64 id)
{
	struct nl_msg *msg = bftm_nl_msg(to, BFTMUTEX_CMD_JOURNAL_OPEN, 0);

	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_ID, id);
	return bftm_nl_call(to, msg, NULL, 0, NULL);
}

static u64 file_id(void)
{
	u64 id = 0;

	bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_GET, 0), on_server,
		     BFTMUTEX_A_SERVER_MAX, &id);
	return id;
}

static void become_journal(void)
{
	check(bftm_nl_open(&nl) == 0, "no netlink");
	check(attach(&nl, file_id()) == 0, "journal-open: %s", nl.error);
}

/* The request gets no answer yet: the next one does, and its answer comes first. */
static void held(struct peer *p, struct bftm_order_msg m, const char *why)
{
	silent(p, m, why);
	expected.silent--;
}

static void heard(struct peer *p, u8 type, u64 count, const char *why)
{
	struct answer a;

	if (!check(hear_order(p, &a, PATIENCE_MS), "%s: not said", why))
		return;
	check(a.type == type && a.order.rank.count == count, "%s: %s of rank %" PRIu64, why,
	      answer_name(a.type), a.order.rank.count);
}

/* An answer about a promise is sent when it is stored, with all earlier promises. */
static void promises(struct peer *p)
{
	struct shown s;

	become_journal();
	held(p, get(1), "GET");
	held(p, get(1), "GET again");
	s = pull("GET");
	check(s.change == 1 && s.count == 1 && !s.committed && !s.bytes, "GET: another image");
	held(p, get(1), "GET while it is kept");
	held(p, get(2), "GET of a higher rank meanwhile");
	check(done(name, 2) == -ESTALE, "done of what was not pulled");
	check(done(name, 1) == 0, "done");
	heard(p, BFTM_ORDER_GOT, 1, "after done");
	heard(p, BFTM_ORDER_GOT, 1, "after done, again");
	heard(p, BFTM_ORDER_GOT, 1, "after done, once more");
	held(p, get(1), "GET of the lower rank: an exception reveals the higher");
	check(done(name, 1) == -ESTALE, "done twice");
	s = keep("the higher rank");
	check(s.change == 2 && s.count == 2, "the higher rank: another image");
	heard(p, BFTM_ORDER_GOT, 2, "after the second done");
	heard(p, BFTM_ORDER_EXCEPTION, 1, "after the second done");
	nothing_waits("all is kept");
	ask_order(p, get(2), BFTM_ORDER_GOT, "what is kept is told at once");
	nothing_waits("a repetition is no change");
}

/* An answer that reveals no change is sent at once. */
static void harmless(struct peer *p)
{
	struct body *op = op_new("add 1"), *state = state_new(1, p, OP(1), "x", NULL, 0);
	struct body *other = small_state(1, p, OP(1));

	become_journal();
	held(p, get(1), "GET");
	ask_order(p, submit_op(OP(1), op, false), BFTM_ORDER_NEEDBODY, "SUBMIT without the body");
	ask_order(p, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT");
	ask_order(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false), BFTM_ORDER_NEEDBODY,
		  "PROPOSE without the body");
	ask_order(p, piece(other, 0), BFTM_ORDER_STORED, "PUT");
	keep("GET");
	heard(p, BFTM_ORDER_GOT, 1, "after done");
	nothing_waits("operations that wait are not kept");
}

/* A state and its bytes; a body that is already stored is only named. */
static void states(struct peer *p)
{
	static const u8 app[LONG_APP];
	struct peer *q = p + 1;
	struct body *op = op_new("add 1");
	struct body *state = state_new(1, q, OP(1), "done", app, sizeof(app));
	struct shown s = {};

	become_journal();
	ask_order(q, submit_op(OP(1), op, true), BFTM_ORDER_PENDING, "SUBMIT");
	put(p, state);
	held(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false), "PROPOSE");
	/* The journal dies in the middle; the next one gets everything. */
	check(pull_once(&s) == 0 && s.more && s.bytes == BFTMUTEX_PIECE_MAX, "the first piece");
	bftm_nl_close(&nl);
	silent(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false), "PROPOSE without a journal");
	become_journal();
	held(p, about(order(BFTM_ORDER_PROPOSE, 1), state, false), "PROPOSE once more");
	s = keep("PROPOSE");
	check(s.count == 1 && s.proposer == 1 && !s.committed && s.proposed == 1,
	      "PROPOSE: another image");
	check(s.bytes == state->id.len && s.pieces == 2, "PROPOSE: %u bytes in %u pieces", s.bytes,
	      s.pieces);
	heard(p, BFTM_ORDER_PROPOSED, 1, "after done");
	held(p, about(order(BFTM_ORDER_COMMIT, 1), state, false), "COMMIT");
	held(q, submit_op(OP(1), op, true), "SUBMIT of what was applied");
	s = keep("COMMIT");
	check(s.committed == 1 && s.proposed == 1 && !s.bytes, "COMMIT: %u bytes", s.bytes);
	heard(p, BFTM_ORDER_COMMITTED, 1, "after done");
	pushed_response(q, OP(1), "done", "after done");
	heard(q, BFTM_ORDER_RESPONSE, 0, "after done");
}

/* Processes that may be the journal, and their files. */
static void rights(struct peer *p)
{
	struct bftm_nl other;
	struct shown s = {};
	u64 id;

	(void)p;
	check(bftm_nl_open(&nl) == 0 && bftm_nl_open(&other) == 0, "no netlink");
	id = file_id();
	check(pull_once(&s) == -EPERM, "pull by nobody");
	check(done("x", 1) == -EPERM, "done by nobody");
	check(attach(&nl, id + 1) == -ESTALE, "open with another file");
	check(attach(&nl, id) == 0, "open");
	check(attach(&other, id) == -EBUSY, "open twice");
	check(bftm_nl_call(&other, bftm_nl_msg(&other, BFTMUTEX_CMD_JOURNAL_LOADED, 0), NULL, 0,
			   NULL) == -EPERM, "loaded by another");
	check(bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_JOURNAL_LOADED, 0), NULL, 0,
			   NULL) == -EBUSY, "loaded twice");
	check(done("not-there", 1) == -ESTALE, "done of no object");
	bftm_nl_close(&nl);
	check(attach(&other, id) == 0, "open after the first has gone");
	bftm_nl_close(&other);
}

/*
 * The server holds a limited number of answers for one client, and no more; all are sent in the
 * end.
 */
static void flood(struct peer *p)
{
	struct peer *q = p + 1;
	struct answer a;
	u32 i, sent = 0;
	struct shown s;

	become_journal();
	for (i = 0; i < 16384; i++)
		tell_order(p, get(1));
	held(q, get(1), "GET of another client");
	s = keep("GET");
	check(s.change == 2, "%" PRIu64 " changes by two ranks", s.change);
	check(hear_order(q, &a, PATIENCE_MS), "the other client hears nothing");
	while (hear_order(p, &a, 200))
		sent++;
	check(sent > 0 && sent < 16384, "%u of 16384 answers were held", sent);
	printf("# %u of 16384 answers were held\n", sent);
}

/* An object without a memory gets it back, and its client gets the answer when that is stored. */
static void rejoin(struct peer *p)
{
	struct body *state = state_new(5, p, OP(5), "done", NULL, 0);
	struct bftm_order_msg m = about(order(BFTM_ORDER_INSTALL, 3), state, true);
	struct shown s;

	become_journal();
	ask_order(p, get(3), BFTM_ORDER_RECOVERING, "GET");
	nothing_waits("what is recovering has nothing to be kept");
	held(p, m, "INSTALL");
	s = keep("INSTALL");
	check(s.count == 3 && s.proposer == 3 && s.committed == 5 && s.proposed == 5 &&
	      s.bytes == state->id.len, "INSTALL: another image");
	heard(p, BFTM_ORDER_INSTALLED, 3, "after done");
	ask_order(p, m, BFTM_ORDER_INSTALLED, "INSTALL again");
}

/* No answer waits. */
static void async(struct peer *p)
{
	struct body *state = small_state(1, p, OP(1));
	struct shown s;

	decide(p, 1, state, true);
	become_journal();
	decide(p, 2, state, true);
	s = keep("all of it at once");
	check(s.count == 2 && s.committed == 1 && s.bytes == state->id.len, "another image");
	nothing_waits("all is kept");
}

static const struct test tests[] = {
	{ "rejoin", rejoin, 1 },
	{ "async", async, 1 },
	{ "promises", promises, 1 },
	{ "harmless", harmless, 1 },
	{ "states", states, 2 },
	{ "rights", rights, 1 },
	{ "flood", flood, 2 },
	{}
};

int main(int argc, char **argv)
{
	return run_test(argc, argv, tests);
}
