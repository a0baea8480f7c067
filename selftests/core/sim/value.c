// SPDX-License-Identifier: GPL-2.0
/* Values that applications leave with their locks, and read. */
#include "story.h"

#define UNKNOWN_VALUE (~0ull)

void value_make(u64 number, struct bftm_written *ret)
{
	u32 i;

	*ret = (struct bftm_written){ .len = (u8)(8 + number % (BFTM_VALUE_LEN_MAX - 7)) };
	for (i = 0; i < ret->len; i++)
		ret->bytes[i] = (u8)(number >> i % 8 * 8);
}

u64 value_number(const struct bftm_value_told *told)
{
	struct bftm_written made;
	u64 number = 0;
	u32 i;

	for (i = 0; i < 8; i++)
		number |= (u64)told->bytes[i] << 8 * i;
	value_make(number, &made);
	return told->len == made.len && !memcmp(told->bytes, made.bytes, made.len) ? number :
										    UNKNOWN_VALUE;
}

bool value_leaves(struct world *w, u32 x, u32 i, enum bftm_mode mode)
{
	struct handle *h = &w->client[x].handle[i];

	if (!h->hold || !h->want.value || !bftm_mode_writes(h->mode) ||
	    (!h->leaves && (w->script || !rng_chance(&w->rng[RNG_APP], PPM / 2))))
		return false;
	value_make(h->leaves ?: ++w->values, &h->left);
	h->left.any = true;
	check_fact(w, &(struct fact){
		.kind = FACT_LEFT, .client = x, .lock = h->lock, .hold = h->hold, .mode = mode,
		.value = h->leaves ?: w->values,
	});
	tell(w, h->lock, "c%u leaves value %s with %s", x + 1,
	     story_number(h->leaves ?: w->values), story_lock(h->lock));
	h->leaves = 0;
	return true;
}

void value_read(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];
	struct bftm_value_told told;

	if (!h->want.value)
		return;
	w->protocol->core->client->value(h->client, &w->client[x].cfg, client_look(w, &w->client[x]), &told);
	check_fact(w, &(struct fact){
		.kind = FACT_READ, .client = x, .lock = h->lock, .hold = h->hold, .mode = h->mode,
		.valid = told.valid, .value = told.valid ? value_number(&told) : 0,
	});
	if (told.valid)
		tell(w, h->lock, "c%u reads value %s of %s", x + 1,
		     story_number(value_number(&told)), story_lock(h->lock));
	else
		tell(w, h->lock, "c%u reads that the value of %s is not valid", x + 1,
		     story_lock(h->lock));
}
