// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/listing.h"
#include "core/quorum.h"
#include "core/resend.h"
#include "core/servers.h"

static bool is_asked(const struct bftm_listing *l, u32 u)
{
	return !((l->told | l->silent) >> u & 1);
}

static void ask_page(struct bftm_listing *l, const struct bftm_order_cfg *cfg, u32 u, u64 cursor,
		     u64 now)
{
	struct bftm_lister *s = &l->server[u];

	s->cursor = cursor;
	s->sends = 0;
	s->wake_ns = bftm_later(now, cfg->resend_ns, 0);
}

void bftm_listing_begin(struct bftm_listing *l, const struct bftm_order_cfg *cfg, u64 now)
{
	u32 u;

	memset(l, 0, sizeof(*l));
	for (u = 0; u < cfg->n; u++)
		ask_page(l, cfg, u, 0, now);
}

static u32 objects_on(const struct bftm_order_msg *page)
{
	struct bftm_listed listed;
	u32 at, count = 0;

	for (at = 0; at < page->data_len; count++)
		at += bftm_listed_get(page->data + at, page->data_len - at, &listed);
	return count;
}

enum bftm_listing_page bftm_listing_anew(struct bftm_listing *l, const struct bftm_order_cfg *cfg,
					 u32 u, u64 now)
{
	struct bftm_lister *s = &l->server[u];

	if (!is_asked(l, u))
		return BFTM_PAGE_IGNORED;
	s->pages = 0;
	s->objects = 0;
	l->recovering &= ~(1u << u);
	if (s->starts >= BFTM_LISTING_STARTS_MAX)
		l->silent |= 1u << u;
	s->starts++;
	ask_page(l, cfg, u, 0, now);
	return BFTM_PAGE_ANEW;
}

enum bftm_listing_page bftm_listing_page(struct bftm_listing *l, const struct bftm_order_cfg *cfg,
					 u32 u, const struct bftm_order_msg *msg, u64 now)
{
	struct bftm_lister *s = &l->server[u];

	if (msg->type != BFTM_ORDER_LISTED || !is_asked(l, u) || msg->cursor != s->cursor)
		return BFTM_PAGE_IGNORED;
	if (!msg->cursor)
		s->epoch = msg->server_epoch;
	else if (s->epoch != msg->server_epoch)
		return bftm_listing_anew(l, cfg, u, now);
	s->pages++;
	s->objects += objects_on(msg);
	/* A list that never ends is a liar's. */
	if (s->objects > BFTM_OBJECTS_MAX || s->pages > BFTM_LISTING_PAGES_MAX) {
		l->silent |= 1u << u;
		return BFTM_PAGE_IGNORED;
	}
	if (msg->recovering)
		l->recovering |= 1u << u;
	if (msg->next) {
		ask_page(l, cfg, u, msg->next, now);
		return BFTM_PAGE_KEPT;
	}
	l->told |= 1u << u;
	if (!l->quorum_ns && bftm_count(l->told) >= bftm_order_quorum(cfg->n, cfg->b))
		l->quorum_ns = now;
	return BFTM_PAGE_KEPT;
}

u32 bftm_listing_wake(struct bftm_listing *l, const struct bftm_order_cfg *cfg, u64 now)
{
	u32 u, again = 0;

	for (u = 0; u < cfg->n; u++) {
		struct bftm_lister *s = &l->server[u];

		if (!is_asked(l, u) || now < s->wake_ns)
			continue;
		if (s->sends + 1 >= BFTM_ORDER_SENDS) {
			l->silent |= 1u << u;
			continue;
		}
		s->sends++;
		s->wake_ns = bftm_later(now, cfg->resend_ns, s->sends);
		again |= 1u << u;
	}
	return again;
}

static u64 grace_ends(const struct bftm_listing *l, const struct bftm_order_cfg *cfg)
{
	return l->quorum_ns + BFTM_LISTING_GRACE * cfg->resend_ns;
}

u64 bftm_listing_due(const struct bftm_listing *l, const struct bftm_order_cfg *cfg)
{
	u64 due = l->quorum_ns ? grace_ends(l, cfg) : ~0ull;
	u32 u;

	for (u = 0; u < cfg->n; u++)
		if (is_asked(l, u) && l->server[u].wake_ns < due)
			due = l->server[u].wake_ns;
	return due;
}

bool bftm_listing_complete(const struct bftm_listing *l, const struct bftm_order_cfg *cfg)
{
	return l->told == bftm_all(cfg->n) ||
	       bftm_count(l->told & ~l->recovering) >= bftm_order_quorum(cfg->n, cfg->b);
}

enum bftm_listing_verdict bftm_listing_verdict(const struct bftm_listing *l,
					       const struct bftm_order_cfg *cfg, u64 now)
{
	u32 q = bftm_order_quorum(cfg->n, cfg->b);
	bool all = (l->told | l->silent) == bftm_all(cfg->n);

	if (bftm_listing_complete(l, cfg))
		return BFTM_LISTING_DONE;	/* whatever others would say */
	if (bftm_count(l->told) < q)
		return all ? BFTM_LISTING_FEW : BFTM_LISTING_ON;
	return all || now >= grace_ends(l, cfg) ? BFTM_LISTING_DONE : BFTM_LISTING_ON;
}

static bool same_type(const struct bftm_listed *a, const struct bftm_listed *b)
{
	return a->type_len == b->type_len && !memcmp(a->type, b->type, a->type_len);
}

enum bftm_existence bftm_listing_judge(const struct bftm_listed said[], u32 count, u32 b,
				       u64 *ret_version, u32 *ret)
{
	u64 version[BFTM_SERVERS_MAX] = {}, reached;
	u32 i, k, votes;

	if (count <= b)
		return BFTM_EXISTS_NOT;
	for (i = 0; i < count; i++)
		version[i] = said[i].version;
	/*
	 * A correct server has this version or a later one; and the last one that was committed
	 * before is no later, for b + 1 correct ones have that. So servers that missed a state, or
	 * the deletion, have no vote.
	 */
	reached = bftm_kth_largest(version, count, b + 1);
	*ret_version = reached;
	for (i = 0; i < count; i++) {
		if (said[i].version < reached)
			continue;
		for (votes = 0, k = 0; k < count; k++)
			votes += said[k].version >= reached && same_type(&said[i], &said[k]);
		if (votes <= b)
			continue;
		*ret = i;
		return said[i].type_len ? BFTM_EXISTS : BFTM_EXISTS_NOT;
	}
	return BFTM_EXISTS_UNSURE;
}
