// SPDX-License-Identifier: GPL-2.0
/* Contents of the frames of a flood. */
#include "floods.h"

#define LOCK_LENGTHS	((BFTM_WIRE_LEN_MAX - BFTM_DATAGRAM_MIN) / 8 + 1)

/* Marsaglia's xorshift64: a datagram must cost little. */
static u64 draw(void)
{
	static u64 x;

	if (!x)
		x = ((u64)rand() << 32 | (u64)rand()) | 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static u32 below(u32 n)
{
	return (u32)((draw() >> 32) * n >> 32);
}

static const struct sample *pick(const struct samples *from, enum sample_kind kind)
{
	const struct sample *s;

	do
		s = &from->sample[below(from->count)];
	while (s->kind != kind);
	return s;
}

static size_t noise(u8 *data)
{
	/* Half of it of the lengths of messages about locks. */
	size_t len = below(2) ? BFTM_DATAGRAM_MIN + 8 * below(LOCK_LENGTHS) : below(PAYLOAD_MAX + 1), i;
	u64 x;

	for (i = 0; i < len; i += sizeof(x)) {
		x = draw();
		memcpy(data + i, &x, len - i < sizeof(x) ? len - i : sizeof(x));
	}
	return len;
}

/* The tag is by a key which no client has; the number is new, so that it is no replay. */
static size_t forged(const struct samples *from, u8 *data)
{
	static struct {
		size_t len;
		u8 data[SAMPLE_LEN_MAX];
	} ready[1024];
	static bool made;
	u32 i;

	for (i = 0; !made && i < 1024; i++) {
		static const u8 key[16] = "another's key";
		struct bftm_mac *mac = bftm_mac_new(key);
		const struct sample *s = pick(from, SAMPLE_NEW);
		struct bftm_wire_head *head = (struct bftm_wire_head *)ready[i].data;

		ready[i].len = s->len;
		memcpy(ready[i].data, s->data, s->len);
		/* Both shapes begin alike. */
		head->seq = cpu_to_le64(le64_to_cpu(head->seq) + 1000 + i);
		if (bftm_mac_sign_bytes(mac, ready[i].data, s->len) < 0)
			abort();
		bftm_mac_free(mac);
	}
	made = true;
	i = below(1024);
	memcpy(data, ready[i].data, ready[i].len);
	return ready[i].len;
}

size_t flood_payload(enum flood_kind kind, const struct samples *from, u8 *data)
{
	const struct sample *s;
	u32 bit;

	if (kind == FLOOD_RANDOM)
		return noise(data);
	if (kind == FLOOD_KEY)
		return forged(from, data);
	s = pick(from, kind == FLOOD_REPLAY ? SAMPLE_SENT :
		       kind == FLOOD_FORM ? SAMPLE_WRONG : SAMPLE_NEW);
	memcpy(data, s->data, s->len);
	if (kind == FLOOD_TRUNCATED)
		return below(s->len);
	if (kind == FLOOD_BIT) {
		bit = below(8u * s->len);
		data[bit / 8] ^= (u8)(1u << bit % 8);
	}
	return s->len;
}

size_t flood_new(struct peer *p, u8 *data)
{
	static u64 attempt;
	struct bftm_msg m = request(draw() % 2 ? BFTM_MSG_TRY : BFTM_MSG_RELEASE, "flooded",
				    attempt = attempt ? attempt + 1 : fresh());
	struct bftm_wire wire;

	prepare(p, &m, &wire);
	memcpy(data, wire.data, wire.len);
	return wire.len;
}
