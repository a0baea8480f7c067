// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The choice of the state that an iteration proposes; line numbers are those of Figure 2. */
#include "core/ordering/client.h"
#include "core/quorum.h"

static bool answered(const struct bftm_order *o, u32 u)
{
	return o->quorum >> u & 1;
}

/* Lines 2.14–15: the newest state that b + 1 say is committed; or none. */
static const struct bftm_body_id *choice_committed(const struct bftm_order *o,
						   const struct bftm_order_cfg *cfg)
{
	const struct bftm_body_id *best = NULL;
	u32 u, v, same;

	for (u = 0; u < cfg->n; u++) {
		if (!answered(o, u))
			continue;
		for (v = 0, same = 0; v < cfg->n; v++)
			same += answered(o, v) &&
				bftm_body_same(&o->got[u].sc, &o->got[v].sc);
		if (same > cfg->b && (!best || o->got[u].sc.version > best->version))
			best = &o->got[u].sc;
	}
	return best;
}

static bool is_before(const struct bftm_got *a, const struct bftm_got *b)
{
	if (a->sp.version != b->sp.version)
		return a->sp.version > b->sp.version;
	return bftm_rank_cmp(&a->prop, &b->prop) > 0;
}

/*
 * Lines 2.33–43: the first state to be met b + 1 times, by version and proposer
 * descending. One entry a server: as a set, two that agree would count once.
 */
static const struct bftm_body_id *proposed(const struct bftm_order *o,
					   const struct bftm_order_cfg *cfg)
{
	u32 u, i, k, same, sorted[BFTM_SERVERS_MAX], total = 0;

	for (u = 0; u < cfg->n; u++) {
		if (!answered(o, u))
			continue;
		for (i = total++; i && is_before(&o->got[u], &o->got[sorted[i - 1]]); i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = u;
	}
	for (i = 0; i < total; i++) {
		const struct bftm_body_id *sp = &o->got[sorted[i]].sp;

		for (k = 0, same = 0; k <= i; k++)
			same += bftm_body_same(sp, &o->got[sorted[k]].sp);
		if (same > cfg->b)
			return sp;
	}
	return NULL;
}

/* Line 2.17: b + 1 hold a proposal above it, so it is committed at a quorum. */
static u64 surely_completed(const struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	u64 version[BFTM_SERVERS_MAX] = {};
	u32 u, total = 0;

	for (u = 0; u < cfg->n; u++)
		if (answered(o, u))
			version[total++] = o->got[u].sp.version;
	version[0] = bftm_kth_largest(version, total, cfg->b + 1);
	return version[0] ? version[0] - 1 : 0;
}

/*
 * All q say that it is committed, as they would to COMMIT (lines 2.28–31): so it is completed for
 * this client as well, and need not be committed once more first.
 */
static bool choice_settled(const struct bftm_order *o, const struct bftm_order_cfg *cfg,
			   const struct bftm_body_id *sc)
{
	u32 u;

	for (u = 0; u < cfg->n; u++)
		if (answered(o, u) && !bftm_body_same(&o->got[u].sc, sc))
			return false;
	return true;
}

static u32 holders_of(const struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	u32 u, holders = 0;

	for (u = 0; u < cfg->n; u++)
		if (answered(o, u) && (bftm_body_same(&o->got[u].sc, &o->base) ||
				       bftm_body_same(&o->got[u].sp, &o->base)))
			holders |= 1u << u;
	return holders;
}

bool bftm_order_choose(struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	const struct bftm_body_id *sc = choice_committed(o, cfg), *sp = proposed(o, cfg);
	u64 completed = surely_completed(o, cfg);

	if (sc && completed < sc->version && choice_settled(o, cfg, sc))
		completed = sc->version;
	if (o->completed < completed)
		o->completed = completed;
	o->applies = false;
	if (sc && sc->version > o->completed) {			/* lines 2.18–19 */
		o->base = *sc;
	} else if (sp && sp->version > o->completed) {		/* lines 2.20–21 */
		o->base = *sp;
	} else if (sc && sc->version == o->completed) {		/* lines 2.22–24 */
		o->base = *sc;
		/* A refresh commits what is completed once more: INSTALL follows COMMIT only. */
		o->applies = !o->refresh || !sc->version;
	} else {
		return false;
	}
	o->holders = holders_of(o, cfg);
	return true;
}

void bftm_order_read_ops(struct bftm_got *got, const struct bftm_order_msg *msg)
{
	u32 i;

	got->pending = msg->pending;
	got->count = msg->data_len / sizeof(struct bftm_order_waiting);
	if (got->count > BFTM_ORDER_NEXT_WAITING_MAX)
		got->count = BFTM_ORDER_NEXT_WAITING_MAX;
	for (i = 0; i < got->count; i++) {
		struct bftm_order_waiting p;
		struct bftm_op *op = &got->op[i];

		memcpy(&p, msg->data + i * sizeof(p), sizeof(p));
		op->op = le64_to_cpu(p.op);
		op->client = le32_to_cpu(p.client);
		op->id.version = 0;
		op->id.len = le32_to_cpu(p.len);
		memcpy(op->id.digest, p.digest, sizeof(p.digest));
	}
}

static bool tells(const struct bftm_got *got, const struct bftm_op *op)
{
	u32 i;

	for (i = 0; i < got->count; i++)
		if (got->op[i].client == op->client && got->op[i].op == op->op &&
		    bftm_body_same(&got->op[i].id, &op->id))
			return true;
	return false;
}

/* Put it in its place, or let it stand for an older one of the same client. */
static u32 choice_insert(struct bftm_op *ret, u32 *holders, u32 total, u32 room,
			 const struct bftm_op *op, u32 who)
{
	u32 i = 0;

	while (i < total && ret[i].client < op->client)
		i++;
	if (i == total || ret[i].client != op->client) {
		if (total == room)
			return total;
		memmove(&ret[i + 1], &ret[i], (total - i) * sizeof(*ret));
		memmove(&holders[i + 1], &holders[i], (total - i) * sizeof(*holders));
		total++;
	} else if (ret[i].op >= op->op) {
		return total;
	}
	ret[i] = *op;
	holders[i] = who;
	return total;
}

u32 bftm_order_ops(const struct bftm_order *o, const struct bftm_order_cfg *cfg,
		   struct bftm_op *ret, u32 *holders, u32 room)
{
	u32 u, v, i, who, same, total = 0;

	for (u = 0; u < cfg->n; u++) {
		if (!answered(o, u))
			continue;
		for (i = 0; i < o->got[u].count; i++) {
			const struct bftm_op *op = &o->got[u].op[i];

			for (v = 0, who = 0, same = 0; v < cfg->n; v++)
				if (answered(o, v) && tells(&o->got[v], op)) {
					who |= 1u << v;
					same++;
				}
			if (same > cfg->b)
				total = choice_insert(ret, holders, total, room, op, who);
		}
	}
	return total;
}

u16 bftm_order_room(const struct bftm_order *o, u8 type)
{
	bool gets = type == BFTM_ORDER_GET;
	u32 most = gets ? BFTM_ORDER_WAITING_MAX : BFTM_ORDER_NEXT_WAITING_MAX;
	u32 told = o->waiting < most / 2 ? o->waiting * 2 + 2 : most;

	return (u16)((gets ? BFTM_ORDER_GOT_LEN : BFTM_ORDER_COMMITTED_GOT_LEN) +
		     told * sizeof(struct bftm_order_waiting));
}
