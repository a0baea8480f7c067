// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams about objects that are malformed, have a wrong tag, or are not new; order_raw.h says
 * how this program is called. All random choices follow from BFTMUTEX_SEED.
 */
#include "order_raw.h"

#define OP(n) ((7ull << 32) + (n))
#define STRANGERS 5000

/* The server's counter for these bytes, computed with the same code. */
static void expect_bytes(struct peer *p, const void *bytes, size_t len)
{
	enum bftm_wire_error err;
	struct bftm_order_msg order;
	struct bftm_msg m;

	if (len >= BFTM_ORDER_SHAPE_LEN && bftm_order_shaped(bytes)) {
		err = bftm_order_wire_get(bytes, len, &order);
		bftm_order_head(&order, &m);
	} else {
		err = bftm_wire_get(bytes, len, &m);
	}
	if (err == BFTM_WIRE_BAD_VERSION)
		expected.bad_version++;
	else if (err)
		expected.bad_form++;
	else if (m.cluster != p->cluster || m.server != p->server || m.type & BFTM_MSG_REPLY)
		expected.bad_address++;
	else
		expected.bad_tag++;
}

/* One request of each type, with a body if the type allows one. */
static size_t samples(struct bftm_order_msg *ret)
{
	static struct body *op, *state;
	size_t n = 0;

	op = op_new("add 1");
	state = body_new(1, "no state at all", 15);
	ret[n++] = submit_op(OP(1), op, true);
	ret[n++] = get(3);
	ret[n++] = about(order(BFTM_ORDER_PROPOSE, 3), state, true);
	ret[n++] = about(order(BFTM_ORDER_COMMIT, 3), state, true);
	ret[n++] = about(order(BFTM_ORDER_INSTALL, 3), state, true);
	ret[n++] = about(order(BFTM_ORDER_FETCH, 0), state, false);
	ret[n++] = piece(state, 0);
	ret[n++] = about(order(BFTM_ORDER_COMMIT_GET, 3), state, true);
	ret[n++] = list_from(0, 0);
	return n;
}

#define SAMPLES 9

/* Each request cut off behind each byte, and longer than its length field says. */
static void lengths(struct peer *p)
{
	static const size_t longer[] = { 1, 7, 8, 80, 800 };
	struct bftm_order_msg m[SAMPLES];
	static u8 buf[65000];
	size_t i, k, len;

	for (i = 0; i < samples(m); i++) {
		memset(buf, 0, sizeof(buf));
		len = prepare_order(p, &m[i], buf);
		for (k = 0; k < len; k++) {
			say_bytes(p, buf, k);
			expect_bytes(p, buf, k);
		}
		for (k = 0; k < sizeof(longer) / sizeof(longer[0]); k++) {
			say_bytes(p, buf, len + longer[k]);
			expect_bytes(p, buf, len + longer[k]);
		}
		/* The server's buffer has room for valid datagrams, not for all datagrams. */
		hello(p);
	}
	for (len = BFTM_DATAGRAM_MAX + 1; len <= BFTM_DATAGRAM_MAX + 16; len++) {
		say_bytes(p, buf, len);
		expect_bytes(p, buf, len);
	}
	say_bytes(p, buf, 9000);
	say_bytes(p, buf, sizeof(buf));
	expected.bad_form += 2;
}

/* One bit of each byte turned over. */
static void flips(struct peer *p)
{
	struct bftm_order_msg m[SAMPLES];
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t i, k, len;

	for (i = 0; i < samples(m); i++) {
		len = prepare_order(p, &m[i], buf);
		for (k = 0; k < len; k++) {
			u8 bit = (u8)(1 << rand() % 8);

			buf[k] ^= bit;
			say_bytes(p, buf, len);
			expect_bytes(p, buf, len);
			buf[k] ^= bit;
		}
		hello(p);
	}
}

/* A right tag, but a wrong form. */
static void forms(struct peer *p)
{
	struct bftm_order_msg m = get(3);
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len;
	int type;

#define SPOIL(statement) do { \
	m.seq = 0; \
	len = prepare_order(p, &m, buf); \
	statement; \
	bftm_mac_sign_bytes(p->request, buf, len); \
	say_bytes(p, buf, len); \
} while (0)
	for (type = 0; type < 256; type++) {
		if (type >= BFTM_ORDER_SUBMIT && type <= BFTM_ORDER_COMMIT_GET)
			continue;	/* LIST has no name */
		SPOIL(buf[20] = (u8)type);
		expect_bytes(p, buf, len);
	}
	SPOIL(buf[1] = BFTM_PROTO_BACKOFF);
	SPOIL(buf[21] = 0);
	SPOIL(buf[21] = BFTM_OBJECT_NAME_MAX + 1);
	SPOIL(bftm_order_body_at(buf, m.name_len)[-1] = 'x');
	SPOIL(buf[22] |= BFTM_ORDER_FLAG_BODY);
	SPOIL(buf[22] |= 0x80);
	SPOIL(buf[23] = 1);
	SPOIL(memset(bftm_order_body_at(buf, m.name_len), 0, 8));
	SPOIL(buf[len - BFTM_TAG_LEN - 1] = 1);
	expected.bad_form += 9;
}

/* For another server, from another client than it says, or with another epoch. */
static void strangers(struct peer *p)
{
	struct peer *q = p + 1;
	struct bftm_mac *own = p->request;
	struct bftm_order_msg m[SAMPLES], v;
	struct answer a;
	size_t i;

	for (i = 0; i < samples(m); i++) {
		v = m[i];
		v.cluster = p->cluster + 1;
		tell_order(p, v);
		v = m[i];
		v.server = p->server + 1;
		tell_order(p, v);
		expected.bad_address += 2;
		v = m[i];
		v.client = q->client;		/* under another's name */
		tell_order(p, v);
		v.client = BFTM_CLIENT_ID_MAX;
		tell_order(p, v);
		p->request = p->reply;		/* with the other direction's key */
		tell_order(p, m[i]);
		p->request = q->request;
		tell_order(p, m[i]);
		p->request = own;
		expected.bad_tag += 4;
		v = m[i];
		v.server_epoch = p->epoch + 1;
		/* The server answers a request with another epoch by its own epoch. */
		tell_order(p, v);
		check(hear_order(p, &a, PATIENCE_MS) && a.type == BFTM_MSG_STALE &&
		      a.plain.server_epoch == p->epoch && a.plain.proto == BFTM_PROTO_ORDER,
		      "of another time: %s", answer_name(a.type));
	}
}

/* The same datagrams again, from any sender: a valid one is answered once. */
static void replays(struct peer *p)
{
	struct bftm_order_msg m[SAMPLES];
	u8 buf[BFTM_DATAGRAM_MAX];
	struct answer a;
	size_t i, len;

	for (i = 0; i < samples(m); i++) {
		if (m[i].type != BFTM_ORDER_FETCH)
			continue;	/* the only one that changes nothing */
		len = prepare_order(p, &m[i], buf);
		say_bytes(p, buf, len);
		check(hear_order(p, &a, PATIENCE_MS) && a.type == BFTM_ORDER_NOBODY,
		      "FETCH: %s", answer_name(a.type));
		say_bytes(p, buf, len);
		say_bytes(p, buf, len);
		expected.replayed += 2;
	}
	m[0] = get(1);
	m[0].seq = 1;	/* older than the window */
	tell_order(p, m[0]);
	expected.replayed++;
}

/* By the server's rules this client may do nothing, and it leaves no trace. */
static void denied(struct peer *p)
{
	struct bftm_order_msg m[SAMPLES];
	size_t i;

	for (i = 0; i < samples(m); i++) {
		struct answer a;

		if (m[i].type != BFTM_ORDER_LIST) {
			refused(p, m[i], BFTM_REFUSED_ACCESS, bftm_order_name(m[i].type));
			continue;
		}
		a = ask_order(p, m[i], BFTM_ORDER_LISTED, "LIST");
		check(!a.order.data_len && !a.order.next, "it is told of objects");
	}
}

/* Very many datagrams with a wrong tag, about objects that do not exist. */
static void flood(struct peer *p)
{
	struct bftm_order_msg m[SAMPLES];
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t i, len, n = samples(m);

	for (i = 0; i < STRANGERS; i++) {
		struct bftm_order_msg v = m[i % n];

		v.client = 1 + (u32)(i % 1000);
		snprintf((char *)v.name, sizeof(v.name), "f%zu", i);
		v.name_len = (u8)strlen((char *)v.name);
		len = prepare_order(p, &v, buf);
		buf[len - 1] ^= 1;
		say_bytes(p, buf, len);
		expect_bytes(p, buf, len);
		if (i % 100 == 99)
			hello(p);	/* so that the queue before the server does not overflow */
	}
}

static const struct test tests[] = {
	{ "lengths", lengths, 1 },
	{ "flips", flips, 1 },
	{ "forms", forms, 1 },
	{ "strangers", strangers, 2 },
	{ "replays", replays, 1 },
	{ "denied", denied, 1 },
	{ "flood", flood, 1 },
	{}
};

int main(int argc, char **argv)
{
	return run_test(argc, argv, tests);
}
