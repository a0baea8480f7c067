/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of a server, as bftm_page_add() wants them: by key, each with its committed state. */
#ifndef BFTM_UNIT_ORDER_TABLE_H
#define BFTM_UNIT_ORDER_TABLE_H

#include "unit.h"

#include "core/ordering/page.h"

#define TABLE_MAX	600u

/**
 * struct order_thing - an object; @there: it is in the table
 * @state: bytes of @body, which is σc if it has a version
 */
struct order_thing {
	u64 key;
	bool there;
	u8 name_len;
	u8 name[BFTM_NAME_LEN_MAX];
	struct bftm_object object;
	struct bftm_body body;
	u8 state[64];
};

/** struct order_table - @thing[] ascend by key */
struct order_table {
	u32 count;
	bool recovering;
	struct order_thing thing[TABLE_MAX];
};

/** table_add() - behind all others; @type NULL: never committed, "": deleted */
struct order_thing *table_add(struct order_table *t, const char *name, const char *type,
			      u64 version);

/** thing_commit() - σc is of this version and type */
void thing_commit(struct order_thing *e, const char *type, u64 version);

/** table_page() - the answer of a server with these objects to a LIST; its data is in @out */
struct bftm_order_msg table_page(const struct order_table *t, const struct bftm_order_msg *req,
				 const struct bftm_rule *rule, u32 rules, u8 *out);

#endif /* BFTM_UNIT_ORDER_TABLE_H */
