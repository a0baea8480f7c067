// SPDX-License-Identifier: GPL-2.0
#include "order/room.h"

#define SPARE_MIN	256u	/* bytes */
#define SPARE_PART	16	/* of the limit */
/* For one more client, only if this is left: a word for each of those that are known. */
#define LAST_ROOM	64u

u32 bftm_order_left(const struct bftm_order_space *s)
{
	u64 clients = (u64)(s->base ? bftm_state_clients(s->base) : 0) + s->new;
	u64 used = sizeof(struct bftm_state_head) + clients * sizeof(struct bftm_state_client);

	return used < s->limit ? (u32)(s->limit - used) : 0;
}

u32 bftm_order_spare(const struct bftm_order_space *s)
{
	return s->limit / SPARE_PART > SPARE_MIN ? s->limit / SPARE_PART : SPARE_MIN;
}

enum bftm_order_turn bftm_order_turn(struct bftm_order_space *s, u32 client, u64 op)
{
	struct bftm_applied a;
	u32 app_len;

	if (s->base && bftm_state_find(s->base, client, &a))
		return bftm_op_follows(a.op, op) ? BFTM_TURN_NOW : BFTM_TURN_NOT;
	if (!bftm_op_follows(0, op))
		return BFTM_TURN_NOT;
	bftm_state_app(s->base, s->base_len, &app_len);
	s->new++;
	if (bftm_order_left(s) >= (u64)app_len + LAST_ROOM)
		return BFTM_TURN_NOW;
	s->new--;
	return BFTM_TURN_FULL;
}
