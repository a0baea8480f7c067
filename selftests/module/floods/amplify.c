// SPDX-License-Identifier: GPL-2.0
/*
 * Authentic requests of every type, with random other fields: no answer is longer than its request.
 */
#include "floods.h"

#define OP(n)	((7ull << 32) + (n))
#define WINDOW	4096

/* In place of a type: what is of no version or protocol of this server. */
#define LATER	0x7e
#define FOREIGN	0x7f

/** struct tally - of a type of request, by a type of answer; @spare: bytes that one left at least */
struct tally {
	u64 answers;
	u32 spare, longest;
};

static struct tally tally[256][256];
static u64 asked_of[256];
static struct {
	u64 seq;
	u32 len;
	u8 type;
} asked[WINDOW];
static u64 pushes;

static u32 below(u32 n)
{
	return (u32)rand() % n;
}

static void note(u64 seq, size_t len, u8 type)
{
	asked[seq % WINDOW].seq = seq;
	asked[seq % WINDOW].len = (u32)len;
	asked[seq % WINDOW].type = type;
	asked_of[type]++;
}

static void judge(const struct bftm_wire_head *head, u32 len)
{
	u64 seq = le64_to_cpu(head->seq);
	struct tally *t;
	u32 room;

	if (!seq) {
		pushes++;
		return;
	}
	if (!check(asked[seq % WINDOW].seq == seq, "an answer to nothing"))
		return;
	t = &tally[asked[seq % WINDOW].type][head->type];
	room = asked[seq % WINDOW].len;
	if (!check(len <= room, "%u bytes of type %#x are answered by %u", room,
		   asked[seq % WINDOW].type, len))
		return;
	t->spare = t->answers++ && t->spare < room - len ? t->spare : room - len;
	t->longest = t->longest > len ? t->longest : len;
}

/* Of any form: those of other versions and protocols are not read. */
static bool listen_to(struct peer *p, int patience_ms)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	struct bftm_wire_head head;
	u8 data[2048];
	ssize_t len;

	if (poll(&fd, 1, patience_ms) <= 0)
		return false;
	len = recv(p->fd, data, sizeof(data), 0);
	if (!check(len >= BFTM_VERSION_LEN && bftm_mac_verify_bytes(p->reply, data, (size_t)len),
		   "an answer of %zd bytes with a wrong tag", len))
		return false;
	memcpy(&head, data, sizeof(head));
	judge(&head, (u32)len);
	return true;
}

static void draw_lock(struct bftm_msg *m)
{
	static const u8 value[BFTM_VALUE_LEN_MAX];

	m->name_len = (u8)(1 + below(BFTM_NAME_LEN_MAX));
	memset(m->name, 'a' + (int)below(8), m->name_len);
	m->attempt = below(3) ? m->attempt : 1 + below(100);
	m->k = 1 + below(4);
	m->mode = below(8) ? BFTM_MODE_EX : (u8)(1 + below(5));
	m->arg = below(8) ? 0 : (u8)below(6);
	m->lease_ns = below(4) ? LEASE_NS : below(16) ? 1ull << below(60) : BFTM_LEASE_NONE;
	m->flags = below(2) ? BFTM_FLAG_NOQUEUE : 0;
	m->token = 1 + below(100);
	m->incarnation = 7;
	if (below(8))
		return;
	m->flags |= BFTM_FLAG_VALUE;
	memcpy(m->value, value, sizeof(m->value));
	m->value_room = (u8)(8 * below(BFTM_VALUE_LEN_MAX / 8 + 1));
	m->value_k = 1;
}

static void say_lock(struct peer *p)
{
	struct bftm_msg m = request((u8)(BFTM_MSG_HELLO + below(8)), "x", fresh());
	struct bftm_wire wire;
	u8 type = m.type;

	draw_lock(&m);
	if (m.type == BFTM_MSG_YIELD)
		m.gno = below(100);
	m.server_epoch = below(16) ? 0 : 1 + below(100);
	prepare(p, &m, &wire);
	if (!below(32)) {
		type = FOREIGN;
		wire.head.proto = (u8)(BFTM_PROTO_ORDER + 1 + below(100));
	} else if (!below(32)) {
		type = LATER;
		wire.head.version = (u8)(BFTM_WIRE_VERSION + 1 + below(200));
	}
	say_signed(p, &wire);
	note(p->seq, wire.len, type);
}

/* Of any room that a request may leave, the least too. */
static void say_order(struct peer *p)
{
	u8 type = (u8)(BFTM_ORDER_SUBMIT + below(9));
	u64 count = 1 + below(50);
	struct body *op = op_new("add 1"), *state = small_state(count, p, OP(count));
	struct bftm_order_msg m;
	size_t len;

	snprintf(name, sizeof(name), "o%u", below(8));
	if (type == BFTM_ORDER_SUBMIT)
		m = submit_op(OP(count), op, below(2));
	else if (type == BFTM_ORDER_PUT)
		m = piece(state, 0);
	else if (type == BFTM_ORDER_LIST)
		m = list_from(below(4) ? 0 : (u64)rand() << 33, 0);
	else
		m = about(order(type, count), state, type != BFTM_ORDER_GET &&
			  type != BFTM_ORDER_FETCH && below(2));
	if (type == BFTM_ORDER_GET)
		m.id = (struct bftm_body_id){};
	m.then = (struct bftm_rank){ .count = count + 1 + below(2), .incarnation = 1 };
	m.room = (u16)(below(2) ? 0 : 8 * below(BFTM_ORDER_ROOM_SURE / 8 + 1));
	m.offset = type == BFTM_ORDER_FETCH && !below(4) ? BFTM_PIECE_LEN : m.offset;
	m.server_epoch = below(16) ? 0 : 1 + below(100);
	len = tell_order(p, m);
	note(p->seq, len, type);
	free(op);
	free(state);
}

static const char *asked_name(u8 type)
{
	if (type == LATER)
		return "later-version";
	return type == FOREIGN ? "another-protocol" : answer_name(type);
}

static void print_one(u8 type)
{
	u64 answers = 0;
	u32 by;

	for (by = 0; by < 256; by++) {
		const struct tally *t = &tally[type][by];

		answers += t->answers;
		if (t->answers)
			printf("amplify %s %s answers=%" PRIu64 " longest=%u least_spare=%u\n",
			       asked_name(type), answer_name((u8)by), t->answers, t->longest, t->spare);
	}
	printf("amplify %s asked=%" PRIu64 " answered=%" PRIu64 "\n", asked_name(type),
	       asked_of[type], answers);
	check(answers || type == BFTM_MSG_YIELD, "%s: none of %" PRIu64 " was answered",
	      asked_name(type), asked_of[type]);
}

int flood_amplify(int argc, char **argv)
{
	u64 count = flood_number("COUNT", argv[0], 1000, 10000000), i;
	struct peer p = {};
	u32 type;

	(void)argc;
	open_peer(&p, (u16)flood_number("SERVER", argv[1], 1, 65535), argv[2], argv[3]);
	hello(&p);
	for (i = 0; i < count; i++) {
		if (rand() % 2)
			say_lock(&p);
		else
			say_order(&p);
		while (listen_to(&p, i % 64 ? 0 : 20))
			;
	}
	while (listen_to(&p, 1000))
		;
	for (type = 0; type < 256; type++)
		if (asked_of[type])
			print_one((u8)type);
	printf("amplify pushes=%" PRIu64 "\n", pushes);
	return failures != 0;
}
