/* SPDX-License-Identifier: GPL-2.0 */
/* The lies about lists of objects share this. */
#ifndef BFTM_LIAR_ORDER_LIST_H
#define BFTM_LIAR_ORDER_LIST_H

#include "order_known.h"

/**
 * order_list_honest() - answers anything but a LIST that is read, by the truth
 * Return: false for such a LIST.
 */
bool order_list_honest(struct liar *l, const struct order_request *req);

/** order_list_add() - one more object to a page; false when there is no room */
bool order_list_add(struct order_reply *r, const char *name, const char *type, u64 version);

#endif /* BFTM_LIAR_ORDER_LIST_H */
