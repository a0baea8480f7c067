// SPDX-License-Identifier: GPL-2.0
#include "order_raw.h"

struct order_counted ordered;
char name[24];

struct body *body_new(u64 version, const void *data, u32 len)
{
	struct body *b = calloc(1, sizeof(*b) + len);

	if (!b)
		abort();
	memcpy(b->data, data, len);
	if (bftm_body_describe(version, data, len, &b->id) < 0)
		abort();
	return b;
}

struct body *op_new(const char *text)
{
	return body_new(0, text, (u32)strlen(text));
}

struct body *state_new(u64 version, const struct peer *p, u64 op, const char *response,
		       const void *app, u32 app_len)
{
	struct bftm_applied a = {
		.op = op,
		.client = p->client,
		.len = (u32)strlen(response),
		.response = (const u8 *)response,
	};
	static u8 data[BFTM_STATE_MAX];
	u32 len = bftm_state_make(NULL, version, &a, 1, app, app_len, data, sizeof(data));

	if (!len)
		abort();
	return body_new(version, data, len);
}

struct body *small_state(u64 version, const struct peer *p, u64 op)
{
	return state_new(version, p, op, "done", "app", 3);
}

struct bftm_order_msg order(u8 type, u64 count)
{
	struct bftm_order_msg m = {
		.type = type,
		.name_len = (u8)strlen(name),
		.rank = { .count = count, .incarnation = 1 },
	};

	if (type == BFTM_ORDER_COMMIT_GET)
		m.then = (struct bftm_rank){ .count = count + 1, .incarnation = 1 };
	memcpy(m.name, name, m.name_len);
	return m;
}

struct bftm_order_msg about(struct bftm_order_msg m, const struct body *b, bool whole)
{
	m.id = b->id;
	if (whole) {
		m.data = b->data;
		m.data_len = (u16)b->id.len;
	}
	return m;
}

struct bftm_order_msg submit_op(u64 op, const struct body *b, bool whole)
{
	struct bftm_order_msg m = about(order(BFTM_ORDER_SUBMIT, 0), b, whole);

	m.op = op;
	m.room = 256;
	return m;
}

struct bftm_order_msg get(u64 count)
{
	struct bftm_order_msg m = order(BFTM_ORDER_GET, count);

	m.room = 512;
	return m;
}

struct bftm_order_msg piece(const struct body *b, u32 offset)
{
	struct bftm_order_msg m = order(BFTM_ORDER_PUT, 0);

	m.id = b->id;
	m.offset = offset;
	m.data = b->data + offset;
	m.data_len = (u16)bftm_piece_len(b->id.len, offset);
	return m;
}

struct bftm_order_msg list_from(u64 cursor, u32 room)
{
	return (struct bftm_order_msg){
		.type = BFTM_ORDER_LIST, .cursor = cursor, .room = (u16)room,
	};
}

size_t prepare_order(struct peer *p, struct bftm_order_msg *m, u8 *buf)
{
	size_t len;

	m->cluster = m->cluster ?: p->cluster;
	m->client = m->client ?: p->client;
	m->rank.client = p->client;
	m->then.client = p->client;
	m->server = m->server ?: p->server;
	m->server_epoch = m->server_epoch ?: p->epoch;
	m->seq = m->seq ?: ++p->seq;
	len = bftm_order_wire_put(m, buf);
	if (bftm_mac_sign_bytes(p->request, buf, len) < 0)
		abort();
	return len;
}

size_t tell_order(struct peer *p, struct bftm_order_msg m)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len = prepare_order(p, &m, buf);

	say_bytes(p, buf, len);
	return len;
}

static void count_answer(const struct answer *a)
{
	switch (a->type) {
	case BFTM_ORDER_RESPONSE:
		if (!a->order.seq) {
			expected.pushed++;
			break;
		}
		/* fall through */
	case BFTM_ORDER_PENDING:
		ordered.submitted++;
		break;
	case BFTM_ORDER_GOT:
		ordered.got++;
		break;
	case BFTM_ORDER_RECOVERING:
		ordered.forgotten++;
		break;
	case BFTM_ORDER_PROPOSED:
		ordered.proposed++;
		break;
	case BFTM_ORDER_COMMITTED:
		ordered.committed++;
		break;
	case BFTM_ORDER_COMMITTED_GOT:
		ordered.committed++;
		ordered.got++;
		break;
	case BFTM_ORDER_INSTALLED:
		ordered.installed++;
		break;
	case BFTM_ORDER_EXCEPTION:
		ordered.excepted++;
		break;
	case BFTM_ORDER_NEEDBODY:
		ordered.needbody++;
		break;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
		ordered.fetched++;
		break;
	case BFTM_ORDER_STORED:
		ordered.stored++;
		break;
	case BFTM_ORDER_LISTED:
		ordered.listed++;
		break;
	case BFTM_MSG_REFUSED:
		expected.refused++;
		break;
	case BFTM_MSG_CHALLENGE:
		expected.challenged++;
		break;
	case BFTM_MSG_STALE:
		expected.stale++;
		break;
	}
}

bool read_answer(struct peer *p, struct answer *a)
{
	if (!check(a->len >= BFTM_DATAGRAM_MIN &&
		   bftm_mac_verify_bytes(p->reply, a->raw, a->len), "a reply with a wrong tag"))
		return false;
	if (!bftm_order_shaped(a->raw)) {
		if (!check(!bftm_wire_get(a->raw, a->len, &a->plain), "a reply with a wrong form"))
			return false;
		a->type = a->plain.type;
	} else {
		if (!check(!bftm_order_wire_get(a->raw, a->len, &a->order),
			   "a reply of %zu bytes with a wrong form", a->len))
			return false;
		a->type = a->order.type;
	}
	count_answer(a);
	return check(a->type & BFTM_MSG_REPLY, "a request instead of a reply");
}

bool hear_order(struct peer *p, struct answer *a, int patience_ms)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	ssize_t len;

	memset(a, 0, offsetof(struct answer, raw));
	/* Each takes its time. */
	if (failures > FAILURES_MAX)
		exit(EX_SOFTWARE);
	if (poll(&fd, 1, patience_ms) <= 0)
		return false;
	len = recv(p->fd, a->raw, sizeof(a->raw), 0);
	if (len < 0)
		return false;
	a->len = (size_t)len;
	return read_answer(p, a);
}

const char *answer_name(u8 type)
{
	const char *order_name = bftm_order_name(type);

	return *order_name == '?' ? bftm_msg_name(type) : order_name;
}

/* The fields of its request that an answer repeats. */
static bool repeats(const struct bftm_order_msg *a, const struct bftm_order_msg *m)
{
	switch (a->type) {
	case BFTM_ORDER_RESPONSE:
	case BFTM_ORDER_PENDING:
		return a->op == m->op;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
	case BFTM_ORDER_STORED:
		return bftm_body_same(&a->id, &m->id) && a->offset == m->offset;
	case BFTM_ORDER_LISTED:
		return a->cursor == m->cursor;
	case BFTM_ORDER_NEEDBODY:
		return m->op ? a->op == m->op : !bftm_rank_cmp(&a->rank, &m->rank);
	}
	return !bftm_rank_cmp(&a->rank, &m->rank);
}

struct answer ask_order(struct peer *p, struct bftm_order_msg m, u8 type, const char *why)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len = prepare_order(p, &m, buf);
	struct answer a;

	say_bytes(p, buf, len);
	do {
		if (!check(hear_order(p, &a, PATIENCE_MS), "%s: no answer", why))
			return a;
	} while (a.type == BFTM_ORDER_RESPONSE && !a.order.seq);
	check(a.type == type, "%s: %s instead of %s", why, answer_name(a.type),
	      answer_name(type));
	check(a.len <= len, "%s: %zu bytes are answered by %zu", why, len, a.len);
	if (!bftm_order_shaped(a.raw))
		check(a.plain.seq == m.seq && a.plain.proto == BFTM_PROTO_ORDER &&
		      a.plain.client == m.client && a.plain.server == m.server &&
		      a.plain.cluster == m.cluster && a.plain.name_len == m.name_len &&
		      !memcmp(a.plain.name, m.name, sizeof(m.name)),
		      "%s: the answer is to something else", why);
	else
		check(a.order.seq == m.seq && a.order.client == m.client &&
		      a.order.server == m.server && a.order.cluster == m.cluster &&
		      a.order.server_epoch == p->epoch && a.order.name_len == m.name_len &&
		      !memcmp(a.order.name, m.name, sizeof(m.name)) &&
		      repeats(&a.order, &m),
		      "%s: the answer is to something else", why);
	return a;
}

void refused(struct peer *p, struct bftm_order_msg m, enum bftm_refusal reason, const char *why)
{
	struct answer a = ask_order(p, m, BFTM_MSG_REFUSED, why);

	check(a.plain.arg == (u32)reason, "%s: %s", why, bftm_refusal_name(a.plain.arg));
}

struct answer pushed_response(struct peer *p, u64 op, const char *response, const char *why)
{
	struct answer a;

	if (!check(hear_order(p, &a, PATIENCE_MS), "%s: nothing was pushed", why))
		return a;
	check(a.type == BFTM_ORDER_RESPONSE && !a.order.seq && a.order.op == op &&
	      a.order.client == p->client && a.order.server_epoch == p->epoch &&
	      a.order.name_len == strlen(name) && !memcmp(a.order.name, name, strlen(name)),
	      "%s: %s of operation %#" PRIx64, why, answer_name(a.type), a.order.op);
	check(a.order.data_len == strlen(response) &&
	      !memcmp(a.order.data, response, strlen(response)), "%s: another response", why);
	return a;
}

void formless(struct peer *p, struct bftm_order_msg m, const char *why)
{
	silent(p, m, why);
	expected.silent--;
	expected.bad_form++;
}

void silent(struct peer *p, struct bftm_order_msg m, const char *why)
{
	struct answer a;
	struct bftm_msg h = { .type = BFTM_MSG_HELLO };
	struct bftm_wire wire;

	tell_order(p, m);
	expected.silent++;
	prepare(p, &h, &wire);
	say_wire(p, &wire);
	if (check(hear_order(p, &a, PATIENCE_MS), "%s: no CHALLENGE after it", why))
		check(a.type == BFTM_MSG_CHALLENGE, "%s: answered by %s", why,
		      answer_name(a.type));
}

void decide(struct peer *p, u64 count, const struct body *b, bool whole)
{
	struct bftm_order_msg m = about(order(BFTM_ORDER_PROPOSE, count), b, whole);

	ask_order(p, get(count), BFTM_ORDER_GOT, "GET");
	ask_order(p, m, BFTM_ORDER_PROPOSED, "PROPOSE");
	ask_order(p, about(order(BFTM_ORDER_COMMIT, count), b, false), BFTM_ORDER_COMMITTED,
		  "COMMIT");
}

void put(struct peer *p, const struct body *b)
{
	u32 at;

	for (at = 0; at < b->id.len; at += BFTM_PIECE_LEN)
		ask_order(p, piece(b, at), BFTM_ORDER_STORED, "PUT");
}

static void print_expected(void)
{
	printf("received=%u bad_form=%u bad_version=%u bad_address=%u bad_tag=%u replayed=%u "
	       "challenged=%u stale=%u refused=%u silent=%u pushed=%u submitted=%u got=%u proposed=%u committed=%u "
	       "installed=%u excepted=%u needbody=%u fetched=%u stored=%u forgotten=%u listed=%u\n",
	       expected.received, expected.bad_form, expected.bad_version, expected.bad_address,
	       expected.bad_tag, expected.replayed, expected.challenged, expected.stale,
	       expected.refused, expected.silent,
	       expected.pushed, ordered.submitted, ordered.got, ordered.proposed,
	       ordered.committed, ordered.installed, ordered.excepted, ordered.needbody,
	       ordered.fetched, ordered.stored, ordered.forgotten, ordered.listed);
}

int run_test(int argc, char **argv, const struct test *t)
{
	const char *seed = getenv("BFTMUTEX_SEED"), *given = getenv("OBJECT");
	int i, n = (argc - 3) / 2;
	struct peer p[PEERS_MAX];

	for (; t->name && argc > 2 && strcmp(t->name, argv[2]); t++)
		;
	if (!t->name || n != t->peers || n > PEERS_MAX) {
		fputs("usage: PROGRAM SERVER CASE {ADDRESS CREDENTIALS}...\n", stderr);
		return EX_USAGE;
	}
	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	if (given)
		snprintf(name, sizeof(name), "%s", given);
	else
		snprintf(name, sizeof(name), "o%" PRIu64, fresh());	/* never seen before */
	for (i = 0; i < n; i++) {
		open_peer(&p[i], (u16)atoi(argv[1]), argv[3 + 2 * i], argv[4 + 2 * i]);
		hello(&p[i]);
	}
	t->run(p);
	/* Nobody was told anything else. */
	for (i = 0; i < n; i++) {
		p[i].seq = fresh();
		hello(&p[i]);
	}
	print_expected();
	return failures != 0;
}
