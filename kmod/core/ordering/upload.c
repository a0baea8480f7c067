// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/upload.h"

bool bftm_piece_ok(const struct bftm_order_msg *req)
{
	return req->offset % BFTM_PIECE_LEN == 0 && req->offset < req->id.len &&
	       req->data_len == bftm_piece_len(req->id.len, req->offset);
}

bool bftm_upload_take(struct bftm_upload *up, const struct bftm_order_msg *req)
{
	u32 piece = req->offset / BFTM_PIECE_LEN;

	if (!bftm_piece_ok(req))
		return false;
	if (up->have[piece / 64] & 1ull << piece % 64)
		return true;
	memcpy(up->data + req->offset, req->data, req->data_len);
	up->have[piece / 64] |= 1ull << piece % 64;
	up->pieces++;
	return true;
}
