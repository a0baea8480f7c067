// SPDX-License-Identifier: GPL-2.0
// prove: memory all_pages bftm_page_add: every object, name and type; no byte behind an object is written, and none of one that does not fit
// prove: memory all_page_ends bftm_page_begin bftm_page_end: every request
// frama-c: -eva-precision 1 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-slevel 100
// takes 40: all_pages
#include "any_order.h"
#include "core/access.c"
#include "core/form.c"
#include "core/ordering/page.c"
#include "core/ordering/state.c"
#include "core/ordering/wire.c"

/* A page ends where its memory does, and so do a name and a type. */
static u8 memory[BFTM_LISTED_LEN_MAX + 8], names[BFTM_OBJECT_NAME_MAX];
/* To write no byte takes a place all the same. */
#define LAST	(memory + sizeof(memory) - 1)

static struct {
	struct bftm_state_head head;
	u8 type[BFTM_TYPE_NAME_MAX];
} state;

static struct bftm_rule any_rule(void)
{
	struct bftm_rule rule;

	any(rule);
	rule.deny = any_bool();
	rule.leaseless = any_bool();
	rule.prefix_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	return rule;
}

static void one_added(struct bftm_page *page, u32 name_len, u32 type_len)
{
	struct bftm_body body = {
		.id.version = 1,
		.id.len = sizeof(state.head) + type_len,
		.data = (u8 *)&state,
	};
	struct bftm_object o = { .sc = &body };
	u32 len = (u32)bftm_pad8(BFTM_LISTED_HEAD_LEN + name_len + type_len);

	state.head.app_len = type_len;
	page->looks = 1;
	page->left = len;
	page->at = LAST - len;
	*LAST = 1;
	bftm_page_add(page, &o, names + sizeof(names) - name_len, (u8)name_len);
	//@ assert whole: memory[sizeof(memory) - 1] == 1;
	/* There is less room than that, for each number of bytes that an object takes. */
	if (type_len && name_len < BFTM_OBJECT_NAME_MAX)
		return;
	page->looks = 1;
	page->left = (u32)any_from(0, len - 1);
	page->at = LAST + 1;
	bftm_page_add(page, &o, names + sizeof(names) - name_len, (u8)name_len);
}

void all_pages(void)
{
	struct bftm_rule rule = any_rule();
	struct bftm_object none = { 0 };
	struct bftm_page page;
	u32 name, type;

	any(page);
	any(names);
	any(state);
	//@ loop unroll 31;
	for (type = 0; type < BFTM_TYPE_NAME_MAX; type++)
		state.type[type] = (u8)any_from(1, 255);
	page.rules = 0;
	//@ loop unroll 70;
	for (name = 1; name <= BFTM_OBJECT_NAME_MAX; name++)
		//@ loop unroll 40;
		for (type = 0; type <= BFTM_TYPE_NAME_MAX; type++)
			one_added(&page, name, type);
	page.looks = (u32)any_from(0, BFTM_PAGE_LOOKS);
	bftm_page_add(&page, &none, names, 1);
	page.rule = &rule;
	page.rules = 1;
	//@ loop unroll 70;
	for (name = 1; name <= BFTM_OBJECT_NAME_MAX; name++)
		one_added(&page, name, 0);
}

void all_page_ends(void)
{
	struct bftm_order_msg req = any_order_msg(), reply;
	struct bftm_rule rule = any_rule();
	struct bftm_page page;
	u8 out[DATA];

	bftm_page_begin(&page, &req, &rule, (u32)any_from(0, 1), out);
	page.at = out + any_from(BFTM_ORDER_LISTED_LEN, DATA);
	bftm_page_end(&page, &req, any_from(0, ~0ull), any_bool(), out, &reply);
}
