// SPDX-License-Identifier: GPL-2.0
/* Bodies, their digests, and signatures of ranks. */
#include "order.h"

static u64 mix(u64 a, u64 b)
{
	__uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);

	return (u64)product ^ (u64)(product >> 64);
}

/* Four lanes of a multiplication each: quick, and no two bodies collide by chance. */
void order_digest(const u8 *data, size_t len, u8 ret[BFTM_DIGEST_LEN])
{
	u64 lane[4] = { len, 0xa0761d6478bd642fu, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u };
	u64 word;
	size_t at, i;

	for (at = 0; at < len; at += 8) {
		word = 0;
		memcpy(&word, data + at, len - at < 8 ? len - at : 8);
		i = at / 8 % 4;
		lane[i] = mix(lane[i] + at, word ^ lane[(i + 1) % 4]);
	}
	for (i = 0; i < 8; i++)
		lane[i % 4] = mix(lane[i % 4], lane[(i + 1) % 4] + i);
	memcpy(ret, lane, sizeof(lane));
}

struct bftm_body *order_body_of(struct world *w, u64 version, const u8 *data, u32 len)
{
	struct bftm_body_id id = { .version = version, .len = len };
	struct order_body **bucket, *b;

	order_digest(data, len, id.digest);
	bucket = &w->order->bucket[id.digest[0] % ORDER_BUCKETS];
	for (b = *bucket; b; b = b->next)
		if (bftm_body_same(&b->body.id, &id))
			return &b->body;
	b = arena_take(&w->arena, sizeof(*b));
	b->body.id = id;
	b->body.data = data;
	b->next = *bucket;
	*bucket = b;
	return &b->body;
}

void order_sign(const struct world *w, const struct bftm_rank *rank,
		u8 ret[BFTM_SIGNATURE_LEN])
{
	u64 key = mix(w->plan->seed, rank->client + 1), word = mix(key, rank->count);

	memset(ret, 0, BFTM_SIGNATURE_LEN);
	word = mix(word, rank->incarnation) | 1;
	memcpy(ret, &word, sizeof(word));
}

u32 order_room(const struct world *w, const struct bftm_body *base, u32 ops)
{
	u64 used = sizeof(struct bftm_state_head) + ops * sizeof(struct bftm_state_client);
	u32 app_len;

	if (base) {
		bftm_state_app(base->data, base->id.len, &app_len);
		used += base->id.len - app_len;
	}
	return used < w->plan->order.state_max ? w->plan->order.state_max - (u32)used : 0;
}
