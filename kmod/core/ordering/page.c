// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/page.h"

void bftm_page_begin(struct bftm_page *page, const struct bftm_order_msg *req,
		     const struct bftm_rule *rule, u32 rules, u8 *out)
{
	page->rule = rule;
	page->rules = rules;
	bftm_order_head(req, &page->asks);
	page->at = out + BFTM_ORDER_LISTED_LEN;
	page->left = req->room - BFTM_ORDER_LISTED_LEN;
	page->looks = BFTM_PAGE_LOOKS;
}

static bool may_use(struct bftm_page *page, const u8 *name, u8 name_len)
{
	const struct bftm_rule *rule;

	if (!page->rules)
		return true;
	page->asks.name_len = name_len;
	memcpy(page->asks.name, name, name_len);
	rule = bftm_access_find(page->rule, page->rules, &page->asks);
	return rule && !rule->deny;
}

bool bftm_page_add(struct bftm_page *page, const struct bftm_object *o, const u8 *name,
		   u8 name_len)
{
	struct bftm_listed listed = { .name = name, .name_len = name_len };
	u32 len;

	if (!page->looks)
		return false;
	page->looks--;
	/*
	 * One that is not there (any more) is told as well: others may have missed the state that
	 * says so, and tell of an earlier one.
	 */
	if (!o->sc || !may_use(page, name, name_len))
		return true;
	listed.version = o->sc->id.version;
	listed.type_len = bftm_state_type(o->sc->data, o->sc->id.len, &listed.type);
	len = bftm_listed_len(&listed);
	if (len > page->left)
		return false;
	bftm_listed_put(&listed, page->at);
	page->at += len;
	page->left -= len;
	return true;
}

void bftm_page_end(const struct bftm_page *page, const struct bftm_order_msg *req, u64 next,
		   bool recovering, u8 *out, struct bftm_order_msg *reply)
{
	*reply = *req;
	reply->type = BFTM_ORDER_LISTED;
	reply->next = next;
	reply->recovering = recovering;
	reply->data = out + BFTM_ORDER_LISTED_LEN;
	reply->data_len = (u16)(page->at - reply->data);
}
