// SPDX-License-Identifier: GPL-2.0
// prove: memory all_order_requests bftm_order_step bftm_object_applied bftm_pending_news bftm_pending_tell bftm_pending_drop bftm_object_body bftm_pending_of bftm_rank_cmp bftm_body_same: every request but SUBMIT, in every state of an object, up to four operations that wait
// prove: memory all_submits bftm_pending_add bftm_object_lacks_room: every SUBMIT, likewise
// prove: memory all_object_looks bftm_object_init bftm_object_stored bftm_object_wants bftm_order_response bftm_op_follows: likewise
// prove: memory all_uploads bftm_piece_ok bftm_pieces bftm_upload_take bftm_upload_complete: every PUT, bodies of up to three pieces
// frama-c: -eva-precision 1
#include "any_order.h"
#include "any_lock.h"
#include "core/ordering/state.c"
#define place place_of
#include "core/ordering/pending.c"
#undef place
#include "core/ordering/server.c"

static u8 out[DATA];

void all_order_requests(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_object o = any_object();
	struct bftm_order_msg req = any_order_msg(), reply;

	req.type = (u8)any_from(BFTM_ORDER_GET, BFTM_ORDER_FETCH);
	if (any_bool()) {
		bftm_order_step(&cfg, &o, &req, NULL, ANY_TIME, out, &reply);
	} else {
		any_state(1);
		bftm_order_step(&cfg, &o, &req, &states[1], ANY_TIME, out, &reply);
	}
}

void all_submits(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_object o = any_object();
	struct bftm_order_msg req = any_order_msg(), reply;

	req.type = BFTM_ORDER_SUBMIT;
	if (!bftm_object_lacks_room(&o, &req))
		bftm_order_step(&cfg, &o, &req, any_bool() ? &ops[0] : NULL, ANY_TIME, out, &reply);
}

void all_object_looks(void)
{
	struct bftm_object o = any_object();
	struct bftm_order_msg req = any_order_msg(), reply;
	struct bftm_pending p;

	any(p);
	p.room = (u32)any_from(BFTM_ORDER_ROOM_MIN, DATA);
	bftm_object_stored(&o, &req);
	bftm_object_wants(&o, &req);
	bftm_order_response(&o, &p, out, &reply);
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
	switch (any_from(0, 2)) {
	case 0:
		req.id.len = up.id.len = (u32)any_from(1, BFTM_PIECE_LEN);
		break;
	case 1:
		req.id.len = up.id.len = 2 * BFTM_PIECE_LEN;
		break;
	default:
		req.id.len = up.id.len = 3 * BFTM_PIECE_LEN - 1;
	}
	bftm_upload_take(&up, &req);
}
