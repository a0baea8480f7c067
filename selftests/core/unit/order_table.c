// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "order_table.h"

void thing_commit(struct order_thing *e, const char *type, u64 version)
{
	/* The type's name, a zero byte, what it keeps; nothing at all: it does not exist. */
	u8 app[40] = {};
	u32 len = *type ? (u32)strlen(type) + 4 : 0;

	memcpy(app, type, strlen(type));
	e->body.id.version = version;
	e->body.id.len = bftm_state_make(NULL, version, NULL, 0, app, len, e->state,
					 sizeof(e->state));
	assert_true(bftm_state_ok(e->state, e->body.id.len, version));
	e->body.data = e->state;
	e->object.sc = &e->body;
}

struct order_thing *table_add(struct order_table *t, const char *name, const char *type,
			      u64 version)
{
	struct order_thing *e = &t->thing[t->count];

	assert_true(t->count < TABLE_MAX);
	memset(e, 0, sizeof(*e));
	bftm_object_init(&e->object, false);
	e->key = (t->count ? t->thing[t->count - 1].key : 0) + 3;
	e->there = true;
	e->name_len = (u8)strlen(name);
	memcpy(e->name, name, e->name_len);
	if (type)
		thing_commit(e, type, version);
	t->count++;
	return e;
}

struct bftm_order_msg table_page(const struct order_table *t, const struct bftm_order_msg *req,
				 const struct bftm_rule *rule, u32 rules, u8 *out)
{
	struct bftm_order_msg reply;
	struct bftm_page page;
	u64 next = 0;
	u32 i;

	bftm_page_begin(&page, req, rule, rules, out);
	for (i = 0; i < t->count && !next; i++) {
		const struct order_thing *e = &t->thing[i];

		if (e->there && e->key >= req->cursor &&
		    !bftm_page_add(&page, &e->object, e->name, e->name_len))
			next = e->key;
	}
	bftm_page_end(&page, req, next, t->recovering, out, &reply);
	return reply;
}
