// SPDX-License-Identifier: GPL-2.0
/*
 * Authentic requests of every type, with random other fields: no answer is longer than its request.
 */
#include "floods.h"

#define OP(n)	((7ull << 32) + (n))
#define WINDOW	4096

/** struct tally - of a type of request; @spare: bytes that the longest answer left */
struct tally {
	u64 asked, answered;
	u32 shortest, longest, spare;
};

static struct tally tally[256];
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
	struct tally *t = &tally[type];

	asked[seq % WINDOW].seq = seq;
	asked[seq % WINDOW].len = (u32)len;
	asked[seq % WINDOW].type = type;
	if (!t->asked++) {
		t->shortest = (u32)len;
		t->spare = UINT32_MAX;
	}
	t->shortest = len < t->shortest ? (u32)len : t->shortest;
	t->longest = len > t->longest ? (u32)len : t->longest;
}

static void judge(const struct answer *a)
{
	u64 seq = a->len == BFTM_WIRE_LEN ? a->plain.seq : a->order.seq;
	struct tally *t = &tally[asked[seq % WINDOW].type];
	u32 len = asked[seq % WINDOW].len;

	if (!seq) {
		pushes++;
		return;
	}
	if (!check(asked[seq % WINDOW].seq == seq, "an answer to nothing"))
		return;
	t->answered++;
	if (check(a->len <= len, "%u bytes of type %#x are answered by %zu", len,
		  asked[seq % WINDOW].type, a->len) && len - a->len < t->spare)
		t->spare = len - (u32)a->len;
}

static void say_lock(struct peer *p)
{
	struct bftm_msg m = request((u8)(BFTM_MSG_HELLO + below(6)), "x", fresh());

	m.name[0] = (u8)('a' + below(8));
	if (m.type == BFTM_MSG_HELLO)
		m = (struct bftm_msg){ .type = BFTM_MSG_HELLO };
	m.k = below(4);
	m.lease_ns = below(4) ? m.lease_ns : 1ull << below(60);
	m.flags = (u16)below(2);
	m.token = below(3) ? below(100) : ~0ull;
	m.server_epoch = below(16) ? 0 : 1 + below(100);
	tell(p, m);
	note(p->seq, BFTM_WIRE_LEN, m.type);
}

/* Of any room that a request may leave, the least too. */
static void say_order(struct peer *p)
{
	u8 type = (u8)(BFTM_ORDER_SUBMIT + below(7));
	u64 count = 1 + below(50);
	struct body *op = op_new("add 1"), *state = small_state(count, p, OP(count));
	struct bftm_order_msg m;
	size_t len;

	snprintf(name, sizeof(name), "o%u", below(8));
	if (type == BFTM_ORDER_SUBMIT)
		m = submit_op(OP(count), op, below(2));
	else if (type == BFTM_ORDER_PUT)
		m = piece(state, 0);
	else
		m = about(order(type, count), state, type != BFTM_ORDER_GET &&
			  type != BFTM_ORDER_FETCH && below(2));
	if (type == BFTM_ORDER_GET)
		m.id = (struct bftm_body_id){};
	m.room = (u16)(BFTM_ORDER_ROOM_MIN + (below(2) ? 0 : below(900)));
	m.offset = type == BFTM_ORDER_FETCH && !below(4) ? BFTM_PIECE_LEN : m.offset;
	m.server_epoch = below(16) ? 0 : 1 + below(100);
	len = tell_order(p, m);
	note(p->seq, len, type);
	free(op);
	free(state);
}

static void print(void)
{
	unsigned int type;
	const struct tally *t;

	for (type = 0; type < 256; type++) {
		t = &tally[type];
		if (!t->asked)
			continue;
		printf("amplify %s asked=%" PRIu64 " answered=%" PRIu64 " shortest=%u longest=%u "
		       "least_spare=%d\n", answer_name((u8)type), t->asked, t->answered, t->shortest,
		       t->longest, t->answered ? (int)t->spare : -1);
		/* YIELD gets no answer, unless it is for another incarnation. */
		check(t->answered || type == BFTM_MSG_YIELD, "%s: none of %" PRIu64
		      " was answered", answer_name((u8)type), t->asked);
	}
	printf("amplify pushes=%" PRIu64 "\n", pushes);
}

int flood_amplify(int argc, char **argv)
{
	u64 count = flood_number("COUNT", argv[0], 1000, 10000000), i;
	struct peer p = {};
	struct answer a;

	(void)argc;
	open_peer(&p, (u16)flood_number("SERVER", argv[1], 1, 65535), argv[2], argv[3]);
	hello(&p);
	for (i = 0; i < count; i++) {
		if (rand() % 2)
			say_lock(&p);
		else
			say_order(&p);
		while (hear_order(&p, &a, i % 64 ? 0 : 20))
			judge(&a);
	}
	while (hear_order(&p, &a, 1000))
		judge(&a);
	print();
	return failures != 0;
}
