// SPDX-License-Identifier: GPL-2.0
/*
 * Authentic datagrams that a server does not serve: of wrong forms, of other versions, and
 * what has a form but no server yet; see cases.h.
 */
#include "cases.h"
#include "selftests/lib/spoil.h"
#include "selftests/lib/version1.h"

static const u8 value[BFTM_VALUE_LEN_MAX] = "value";

/* Its name is filled up. */
static struct bftm_msg right(u8 type)
{
	struct bftm_msg m = request(type, lock_name, fresh());

	if (m.name_len && m.name_len % 8 == 0)
		m.name[--m.name_len] = 0;
	return m;
}

static struct bftm_msg with_value(u8 type)
{
	struct bftm_msg m = right(type);

	m.flags |= BFTM_FLAG_VALUE;
	m.value_k = 1;
	m.value_len = 5;
	m.value_room = sizeof(m.value);
	memcpy(m.value, value, sizeof(m.value));
	return m;
}

/* Each is dropped. Return: how many there were. */
static unsigned int spoil_all(struct peer *p, struct bftm_msg m)
{
	struct bftm_msg read;
	struct bftm_wire wire;
	const char *what;
	unsigned int n;

	for (n = 0;; n++) {
		m.seq = 0;
		prepare(p, &m, &wire);
		what = spoil(&m, n, &wire);
		if (!what)
			return n;
		check(bftm_wire_get(wire.data, wire.len, &read), "%s: %s: a right form",
		      bftm_msg_name(m.type), what);
		say_signed(p, &wire);
		expected.bad_form++;
	}
}

static void wrong(struct peer *p)
{
	unsigned int count = 0;
	u8 type;

	for (type = BFTM_MSG_HELLO; type <= BFTM_MSG_ASK; type++) {
		count += spoil_all(p, right(type));
		/* Earlier datagrams got no answer. */
		hello(p);
	}
	count += spoil_all(p, with_value(BFTM_MSG_TRY));
	hello(p);
	count += spoil_all(p, with_value(BFTM_MSG_RELEASE));
	fprintf(stdout, "# %u wrong forms\n", count);
	/* None changed what a right one does. */
	want_reply(p, right(BFTM_MSG_RELEASE), BFTM_MSG_RELEASED, "RELEASE");
}

static void unserved_flags(struct peer *p, struct bftm_msg m, u16 flags)
{
	m.flags |= flags;
	want_refused(p, m, BFTM_REFUSED_PROTO, "a flag without a server");
}

/* It has an end, and no more is known of what is in it. */
static void unserved_protocol(struct peer *p, u8 proto, size_t body)
{
	struct bftm_msg m = right(BFTM_MSG_TRY), r;
	const size_t at = BFTM_HEAD_LEN + bftm_pad8(m.name_len), len = at + body + BFTM_TAG_LEN;
	u8 data[BFTM_DATAGRAM_MAX], got[BFTM_DATAGRAM_MAX];
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	struct bftm_wire_head *head = (struct bftm_wire_head *)data;
	struct bftm_wire wire;
	ssize_t n;

	prepare(p, &m, &wire);
	memset(data, 0xa5, sizeof(data));
	memcpy(data, wire.data, at + sizeof(m.attempt));
	head->proto = proto;
	head->type = 0x33;
	head->flags = 0xff;
	head->arg = 0xff;
	if (bftm_mac_sign_bytes(p->request, data, len) < 0)
		abort();
	say_bytes(p, data, len);
	n = poll(&fd, 1, PATIENCE_MS) > 0 ? recv(p->fd, got, sizeof(got), 0) : 0;
	if (!check(n >= BFTM_DATAGRAM_MIN && (size_t)n <= len &&
		   bftm_mac_verify_bytes(p->reply, got, (size_t)n),
		   "protocol %u, %zu bytes: %zd are the answer", proto, len, n))
		return;
	check(got[offsetof(struct bftm_wire_head, proto)] == proto, "of another protocol");
	/* The form is that of locks. */
	got[offsetof(struct bftm_wire_head, proto)] = BFTM_PROTO_BACKOFF;
	check(!bftm_wire_get(got, (size_t)n, &r) && r.type == BFTM_MSG_REFUSED &&
	      r.arg == BFTM_REFUSED_PROTO && r.seq == m.seq && r.attempt == m.attempt &&
	      r.name_len == m.name_len && !memcmp(r.name, m.name, sizeof(m.name)),
	      "protocol %u, %zu bytes: another answer", proto, len);
	expected.refused++;
}

static void unserved(struct peer *p)
{
	static const size_t bodies[] = { 8, 16, 160, 168, 1024, 1160 };
	struct bftm_msg m = right(BFTM_MSG_TRY);
	size_t i;

	unserved_flags(p, right(BFTM_MSG_TRY), BFTM_FLAG_REASSERT);
	want_refused(p, right(BFTM_MSG_SYNC), BFTM_REFUSED_PROTO, "SYNC");
	m.lease_ns = BFTM_LEASE_NONE;
	want_refused(p, m, BFTM_REFUSED_ACCESS, "TRY without a lease");
	/* One of the tests' own has the forms of locks. */
	m = right(BFTM_MSG_TRY);
	m.proto = BFTM_PROTO_TEST;
	want_refused(p, m, BFTM_REFUSED_PROTO, "TRY of a protocol for tests");
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		unserved_protocol(p, BFTM_PROTO_ORDER + 1, bodies[i]);
		unserved_protocol(p, BFTM_PROTO_TEST - 1, bodies[i]);
	}
	/* A server's word is none for a server. */
	m = right(BFTM_MSG_TRY);
	m.type = BFTM_MSG_PROBE;
	tell(p, m);
	expected.bad_address++;
}

/* A datagram of a later version: of its body nothing is known. */
static size_t make_later(struct peer *p, u8 version, size_t len, u8 *data)
{
	struct bftm_wire_head *head = (struct bftm_wire_head *)data;
	struct bftm_msg m = right(BFTM_MSG_TRY);
	struct bftm_wire wire;

	prepare(p, &m, &wire);
	memset(data, 0xa5, len);
	memcpy(data, wire.data, sizeof(*head));
	head->version = version;
	head->type = 0x6f;
	head->name_len = 0xff;
	head->flags = 0xff;
	return len;
}

static void sign_later(struct bftm_mac *mac, u8 *data, size_t len)
{
	if (bftm_mac_sign_bytes(mac, data, len) < 0)
		abort();
}

static void want_version(struct peer *p, u8 version, size_t len)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	u8 data[BFTM_DATAGRAM_MAX], got[BFTM_DATAGRAM_MAX];
	struct bftm_wire_head head;
	ssize_t n;

	make_later(p, version, len, data);
	sign_later(p->request, data, len);
	say_bytes(p, data, len);
	expected.bad_version++;
	n = poll(&fd, 1, PATIENCE_MS) > 0 ? recv(p->fd, got, sizeof(got), 0) : 0;
	memcpy(&head, data, sizeof(head));
	head.type = BFTM_MSG_VERSION;
	head.name_len = 0;
	head.flags = 0;
	head.arg = BFTM_WIRE_VERSION;
	head.epoch = cpu_to_le64(p->epoch);
	check(n == BFTM_VERSION_LEN && bftm_mac_verify_bytes(p->reply, got, BFTM_VERSION_LEN) &&
	      !memcmp(got, &head, sizeof(head)), "version %u, %zu bytes: answered by %zd", version,
	      len, n);
	/* Once. */
	say_bytes(p, data, len);
	expected.bad_version++;
}

/* Nobody answers; what is wrong is made before the tag. */
static void unanswered(struct peer *p, struct bftm_mac *mac, size_t len,
		       void (*spoils)(struct bftm_wire_head *head))
{
	u8 data[BFTM_DATAGRAM_MAX + 8];

	make_later(p, 3, len, data);
	if (spoils)
		spoils((struct bftm_wire_head *)data);
	sign_later(mac, data, len);
	say_bytes(p, data, len);
	expected.bad_version++;
}

static void as_answer(struct bftm_wire_head *head)
{
	head->type |= BFTM_MSG_REPLY;
}

static void without_seq(struct bftm_wire_head *head)
{
	head->seq = 0;
}

static void for_another_server(struct bftm_wire_head *head)
{
	head->server = cpu_to_le16(le16_to_cpu(head->server) + 1);
}

static void for_another_cluster(struct bftm_wire_head *head)
{
	head->cluster = cpu_to_le32(le32_to_cpu(head->cluster) + 1);
}

static void of_no_version(struct bftm_wire_head *head)
{
	head->version = 0;
}

static void later(struct peer *p)
{
	static const size_t lengths[] = { BFTM_VERSION_LEN, 56, 224, 232, BFTM_DATAGRAM_MAX };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		want_version(p, 3, lengths[i]);
		want_version(p, 255, lengths[i]);
	}
	unanswered(p, p->reply, 56, NULL);
	unanswered(p, p->request, BFTM_VERSION_LEN - 8, NULL);
	unanswered(p, p->request, 60, NULL);
	unanswered(p, p->request, BFTM_DATAGRAM_MAX + 8, NULL);
	unanswered(p, p->request, 56, as_answer);
	unanswered(p, p->request, 56, without_seq);
	unanswered(p, p->request, 56, for_another_server);
	unanswered(p, p->request, 56, for_another_cluster);
	unanswered(p, p->request, 56, of_no_version);
}

static void say_earlier(struct peer *p, struct bftm_mac *mac, u8 type, u16 server)
{
	struct bftm_msg m = request(type, type == BFTM_MSG_TRY ? lock_name : "", fresh());
	struct version1 data;

	m.cluster = p->cluster;
	m.client = p->client;
	m.server = server;
	m.seq = ++p->seq;
	version1_put(&m, mac, &data);
	say_bytes(p, &data, sizeof(data));
	expected.bad_version++;
}

/* The log tells of each of the two, and once: which the script looks at. */
static void earlier(struct peer *p)
{
	int i, turn;

	for (turn = 0; turn < 3; turn++)
		for (i = 0; i < 2; i++) {
			say_earlier(&p[i], p[i].request, BFTM_MSG_HELLO, p[i].server);
			say_earlier(&p[i], p[i].request, BFTM_MSG_TRY, p[i].server);
		}
}

/* A forged one is not logged. */
static void earlier_forged(struct peer *p)
{
	struct version1 zero = { .version = 1 };

	say_earlier(p, p->reply, BFTM_MSG_HELLO, p->server);
	say_earlier(p, p->request, BFTM_MSG_HELLO, p->server + 1);
	say_earlier(p, p->request, BFTM_MSG_CHALLENGE, p->server);
	say_bytes(p, &zero, sizeof(zero));
	say_bytes(p, &zero, sizeof(zero) - 8);
	expected.bad_version += 2;
}

static const struct test tests[] = {
	{ "wrong", wrong, 1 },
	{ "unserved", unserved, 1 },
	{ "later", later, 1 },
	{ "earlier", earlier, 2 },
	{ "earlier-forged", earlier_forged, 1 },
	{}
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, tests);
}
