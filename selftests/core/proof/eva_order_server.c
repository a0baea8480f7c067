// SPDX-License-Identifier: GPL-2.0
// prove: open bftm_object_applied bftm_pending_tell bftm_pending_drop bftm_object_body bftm_body_same: every request in every state is too many cases for Eva
// prove: open bftm_pending_add bftm_pending_of bftm_pending_news bftm_object_lacks_room bftm_object_stored bftm_object_wants bftm_order_response: Eva does not see that a search ends in the list, and that there is room
// prove: memory all_object_looks bftm_object_init bftm_op_follows: every number
// prove: memory all_uploads bftm_piece_ok bftm_pieces bftm_upload_complete: every PUT
// frama-c: -eva-precision 1 -eva-slevel 200
#include "any_order.h"
#include "any_lock.h"
#include "core/ordering/state.c"
#define place place_of
#include "core/ordering/pending.c"
#undef place
#include "core/ordering/server.c"

void all_object_looks(void)
{
	struct bftm_object o = any_object();

	bftm_op_follows(any_from(0, ~0ull - 1), any_from(0, ~0ull));
	bftm_object_init(&o, any_bool());
}

void all_uploads(void)
{
	static u8 body[3 * BFTM_PIECE_LEN];
	struct bftm_order_msg req = any_order_msg();
	struct bftm_upload up;

	any(up);
	up.data = body;
	up.id.len = (u32)any_from(1, sizeof(body));
	bftm_pieces(up.id.len);
	bftm_upload_complete(&up);
	bftm_piece_ok(&req);
}
