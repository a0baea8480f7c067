// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/parties.h"
#include "core/backoff/value.h"

static_assert(sizeof(struct bftm_kept_value) <= BFTM_VALUE_PLACES * sizeof(struct bftm_seat));

void bftm_value_make(struct bftm_lock *lock, const struct bftm_msg *req)
{
	struct bftm_queue *q = lock->queue;

	if (!bftm_value_wanted(lock, req) || !q || q->room - q->count < BFTM_VALUE_PLACES)
		return;
	q->room -= BFTM_VALUE_PLACES;
	q->valued = 1;
	*bftm_value_of(lock) = (struct bftm_kept_value){ .doubt = 1 };
}

void bftm_value_take(struct bftm_lock *lock, const struct bftm_party *p,
		     const struct bftm_msg *req)
{
	struct bftm_kept_value *v = bftm_value_of(lock);
	bool written = req->flags & BFTM_FLAG_VALUE && req->value_k;
	bool known = req->value_k != BFTM_GRANT_OTHER;

	if (!v || !bftm_mode_writes(p->mode))
		return;
	if (written && known && req->value_k == (u32)bftm_party_gno(lock, p)) {
		v->len = req->value_len;
		v->doubt = 0;
		memcpy(v->bytes, req->value, req->value_len);
	} else if (written || req->flags & BFTM_FLAG_DOUBT) {
		v->doubt = 1;
	}
}

void bftm_value_tell(const struct bftm_lock *lock, u8 room, struct bftm_msg *msg)
{
	const struct bftm_kept_value *v = bftm_value_of(lock);

	if (!room)
		return;
	msg->flags |= BFTM_FLAG_VALUE;
	msg->value_k = 0;
	msg->value_len = v ? v->len : 0;
	msg->value_room = bftm_pad8(msg->value_len);
	if (!v || v->doubt)
		msg->flags |= BFTM_FLAG_DOUBT;
	/* The value is longer than the room of its client, which hears only the length. */
	if (msg->value_room > 8 * (room - 1))
		msg->value_room = 0;
	if (msg->value_room)
		memcpy(msg->value, v->bytes, v->len);
}
