/* SPDX-License-Identifier: GPL-2.0 */
/* Bodies that arrive in pieces, before the message that needs them. */
#ifndef BFTM_UPLOADS_H
#define BFTM_UPLOADS_H

#include "objects/objects.h"

/**
 * bftm_uploads_put() - decide a PUT
 * @t:     the table of objects
 * @cfg:   the server
 * @req:   the PUT, authentic
 * @reply: STORED when the piece is here, or REFUSED; silence else
 * Context: softirq.
 */
void bftm_uploads_put(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		      const struct bftm_order_msg *req, struct bftm_order_msg *reply);

/**
 * bftm_uploads_take() - the body that a request names, if it has arrived whole
 * @t:   the table of objects
 * @e:   the object that the request names
 * @req: the request
 *
 * It is an upload no more.
 *
 * Context: the shard of @e is locked. Return: it, its reference is the caller's;
 * NULL for none.
 */
struct bftm_stored *bftm_uploads_take(struct bftm_objects *t, struct bftm_thing *e,
				      const struct bftm_order_msg *req);

/** bftm_uploads_work() - of struct bftm_objects: make room that needs waiting for. */
void bftm_uploads_work(struct work_struct *work);

/**
 * bftm_uploads_reclaim() - give up 32 at most of those that were not used lately
 * @t:      the table of objects
 * @client: that wants room
 * @error:  of bftm_stored_new(): -EDQUOT gives up those of any client, -ENOBUFS those of @client
 * Context: softirq, no shard is locked. Return: true when it is worth another try.
 */
bool bftm_uploads_reclaim(struct bftm_objects *t, u32 client, long error);

/** bftm_uploads_free() - all those of @e. Context: its shard is locked. */
void bftm_uploads_free(struct bftm_objects *t, struct bftm_thing *e);

#endif /* BFTM_UPLOADS_H */
