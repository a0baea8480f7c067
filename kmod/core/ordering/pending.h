/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Operations that wait at a server: for server.c. */
#ifndef BFTM_CORE_ORDER_PENDING_H
#define BFTM_CORE_ORDER_PENDING_H

#include "core/ordering/server.h"

/** bftm_pending_of() - the operation of a client that waits; NULL for none */
struct bftm_pending *bftm_pending_of(const struct bftm_object *o, u32 client);

/** bftm_object_applied() - the last operation of a client that σc reflects; false: none */
bool bftm_object_applied(const struct bftm_object *o, u32 client, struct bftm_applied *ret);

/** bftm_pending_news() - does a SUBMIT bring an operation that is neither done nor known? */
bool bftm_pending_news(const struct bftm_object *o, const struct bftm_order_msg *req);

/** bftm_pending_add() - let the operation of a SUBMIT wait; there is room for it */
void bftm_pending_add(struct bftm_object *o, const struct bftm_order_msg *req,
		      struct bftm_body *body);

/**
 * bftm_pending_tell() - the operations that wait, those of client @from and after it first
 * @o:    the object
 * @from: number of a client
 * @room: most entries of @ret, which has any alignment
 * @ret:  the operations that wait, an entry each
 * @told: number of entries written
 */
void bftm_pending_tell(const struct bftm_object *o, u32 from, u32 room,
		       struct bftm_order_waiting *ret, u32 *told);

/** bftm_pending_drop() - line 3.23: operations that σc reflects go behind the others */
void bftm_pending_drop(struct bftm_object *o);

#endif /* BFTM_CORE_ORDER_PENDING_H */
