// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/access.h"
#include "core/ordering/wire.h"

static bool is_for(const struct bftm_rule *rule, u32 client)
{
	return client >= rule->client_first && client <= rule->client_last;
}

static bool is_about(const struct bftm_rule *rule, const struct bftm_msg *req)
{
	return req->name_len >= rule->prefix_len &&
	       !memcmp(req->name, rule->prefix, rule->prefix_len);
}

static bool rule_fits(const struct bftm_rule *rule, const struct bftm_msg *req)
{
	if (!is_for(rule, req->client))
		return false;
	/*
	 * RECOVER is about every lock: the first rule decides that denies any name, or is for all
	 * names.
	 */
	if (req->type == BFTM_MSG_RECOVER)
		return rule->deny || !rule->prefix_len;
	return is_about(rule, req);
}

bool bftm_access_leaseless(const struct bftm_rule *rule, u32 count, const struct bftm_msg *req)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (rule[i].leaseless && !rule[i].deny && is_about(&rule[i], req))
			return true;
	return false;
}

const struct bftm_rule *bftm_access_find(const struct bftm_rule *rule, u32 count,
					 const struct bftm_msg *req)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (rule_fits(&rule[i], req))
			return &rule[i];
	return NULL;
}

/*
 * RELEASE always passes: the lock was granted by rules that may be gone. YIELD
 * gives back to wait again, which may end in another grant. LIST names nothing:
 * bftm_page_add() asks for each object that it would tell. SYNC is for members.
 */
static bool needs_right(const struct bftm_msg *req)
{
	return req->type != BFTM_MSG_RELEASE && req->type != BFTM_MSG_HELLO &&
	       req->type != BFTM_MSG_SYNC && req->type != BFTM_ORDER_LIST;
}

bool bftm_access_admit(const struct bftm_rule *rule, u32 count,
		       const struct bftm_msg *req, struct bftm_server_cfg *cfg,
		       struct bftm_msg *reply)
{
	const struct bftm_rule *all = rule;

	/* RELEASE may let others in, too. */
	cfg->recovering = cfg->recovering && bftm_access_leaseless(all, count, req);
	if (!count || !needs_right(req) || req->server_epoch != cfg->epoch)
		return true;
	rule = bftm_access_find(all, count, req);
	if (!rule || rule->deny) {
		bftm_refuse(req, reply, BFTM_REFUSED_ACCESS);
		return false;
	}
	cfg->leaseless = rule->leaseless;
	if (rule->lease_max_ns && rule->lease_max_ns < cfg->lease_max_ns)
		cfg->lease_max_ns = rule->lease_max_ns;
	if (rule->waiters_max && rule->waiters_max < cfg->waiters_max)
		cfg->waiters_max = rule->waiters_max;
	return true;
}
