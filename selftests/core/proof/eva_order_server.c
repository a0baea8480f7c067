// SPDX-License-Identifier: GPL-2.0
// prove: memory all_object_looks bftm_object_init bftm_op_follows: every number
// prove: memory all_uploads bftm_piece_ok bftm_pieces bftm_upload_complete: every PUT
// frama-c: -eva-precision 1 -eva-slevel 200
#include "any_order.h"
#include "any_lock.h"
#include "core/ordering/state.c"
#define place place_of
#include "core/ordering/pending.c"
#undef place
#include "core/ordering/body.c"
#include "core/ordering/server.c"
#include "core/ordering/upload.c"

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
