/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Server side of a listing: the objects that a server has, a page for each LIST. The caller keeps
 * the table, and goes through it in an order of its own, by *keys*: a key is a number that an
 * object has for as long as it is in the table. The cursor of a LIST is the least key that the
 * page may have. So an object that is in the table from the first page of a listing to the last
 * is told, whatever comes or goes meanwhile.
 *
 * A page changes nothing, and promises nothing.
 */
#ifndef BFTM_CORE_ORDER_PAGE_H
#define BFTM_CORE_ORDER_PAGE_H

#include "core/access.h"
#include "core/ordering/server.h"

/* Objects that are looked at for one page, whether they are told or not. */
#define BFTM_PAGE_LOOKS		64u

/**
 * struct bftm_page - a page that is being written
 * @rule: access rules of the server
 * @rules: their number; 0: everything is allowed
 * @asks: whether the client may use the object that it names
 * @at:   where the next object goes
 * @left: bytes there
 * @looks: objects that may still be looked at
 */
struct bftm_page {
	const struct bftm_rule *rule;
	u32 rules;
	struct bftm_msg asks;
	u8 *at;
	u32 left;
	u32 looks;
};

/**
 * bftm_page_begin() - an empty one
 * @page:  the page
 * @req:   LIST, authentic, of this incarnation
 * @rule:  as bftm_access_admit() has it
 * @rules: number of rules
 * @out:   as of bftm_order_step()
 */
void bftm_page_begin(struct bftm_page *page, const struct bftm_order_msg *req,
		     const struct bftm_rule *rule, u32 rules, u8 *out);

/**
 * bftm_page_add() - tell of an object, if there is anything to tell and the client may use it
 * @page:     the page
 * @o:        of a key that is not below the cursor; keys ascend from call to call
 * @name:     of the object
 * @name_len: bytes of @name, 1 to BFTM_OBJECT_NAME_MAX
 * Return: false when the page is full: it ends before this object, whose key is where the next
 * one begins.
 */
bool bftm_page_add(struct bftm_page *page, const struct bftm_object *o, const u8 *name,
		   u8 name_len);

/**
 * bftm_page_end() - the answer
 * @page:       the page
 * @req:        the LIST that it answers
 * @next:       the cursor of the next page, 0 when there is nothing behind this one
 * @recovering: the server may lack objects that it had before its start
 * @out:        the same as of bftm_page_begin()
 * @reply:      LISTED; its data is in @out. May not be @req
 */
void bftm_page_end(const struct bftm_page *page, const struct bftm_order_msg *req, u64 next,
		   bool recovering, u8 *out, struct bftm_order_msg *reply);

#endif /* BFTM_CORE_ORDER_PAGE_H */
