/* SPDX-License-Identifier: GPL-2.0 */
/* Transactions on a map. */
#ifndef BFTM_OBJECT_MAP_TXN_H
#define BFTM_OBJECT_MAP_TXN_H

#include "types/object.h"

/** bftm_map_txn() - do the lines of @call->rest, all of them or none; status */
u32 bftm_map_txn(struct bftm_object_call *call);

#endif /* BFTM_OBJECT_MAP_TXN_H */
