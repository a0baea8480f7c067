/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Server side of a body that arrives in pieces, each in a PUT. */
#ifndef BFTM_CORE_ORDER_UPLOAD_H
#define BFTM_CORE_ORDER_UPLOAD_H

#include "core/ordering/wire.h"

/**
 * struct bftm_upload - a body that arrives in pieces
 * @id:     of the body
 * @client: whose
 * @pieces: that are here
 * @have:   which
 * @data:   @id.len bytes
 */
struct bftm_upload {
	struct bftm_body_id id;
	u32 client;
	u32 pieces;
	u64 have[BFTM_PIECES_MAX / 64];
	u8 *data;
};

/** bftm_pieces() - how many a body of @len bytes has */
static inline u32 bftm_pieces(u32 len)
{
	return (len + BFTM_PIECE_LEN - 1) / BFTM_PIECE_LEN;
}

/** bftm_piece_ok() - is the data of this PUT a piece of a body of that length? */
bool bftm_piece_ok(const struct bftm_order_msg *req);

/**
 * bftm_upload_take() - a PUT with the upload's id
 * @up:  the upload
 * @req: the request, authentic
 * Return: false when the piece is none of this body; it is not to be answered.
 */
bool bftm_upload_take(struct bftm_upload *up, const struct bftm_order_msg *req);

/** bftm_upload_complete() - is all of it here? */
static inline bool bftm_upload_complete(const struct bftm_upload *up)
{
	return up->pieces == bftm_pieces(up->id.len);
}

#endif /* BFTM_CORE_ORDER_UPLOAD_H */
