// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The value of a lock, as its holder reads and leaves it. Servers tell it with their grants. A
 * holder that could write was granted the lock by F servers. n - F + b + 1 servers share a correct
 * one with those, which knows what that holder left, or doubts it.
 */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

/* Did a grant that is still good come with the value? After its end others may have written. */
static bool is_told(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		    u64 now)
{
	const struct bftm_answer *a = &c->server[u];

	return a->k && a->value_told &&
	       bftm_grant_end(a->from_ns, c->base.want.lease_ns, cfg->rho_ppm) >= now;
}

static bool same(const struct bftm_answer *a, const struct bftm_answer *b)
{
	return a->value_len == b->value_len && !memcmp(a->value, b->value, a->value_len);
}

/* How many tell the same as this one, and do not doubt it? */
static u32 agreeing(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		    u64 now)
{
	u32 v, sum = 0;

	for (v = 0; v < cfg->n; v++)
		sum += is_told(c, cfg, v, now) && !c->server[v].value_doubt &&
		       same(&c->server[v], &c->server[u]);
	return sum;
}

static u32 agreement_needed(const struct bftm_client_cfg *cfg)
{
	return cfg->n - bftm_win(cfg) + cfg->b + 1;
}

/* The server whose value is valid; n if none is. @most: the most servers that tell the same. */
static u32 valid_one(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     u32 *most)
{
	u32 u;

	*most = 0;
	for (u = 0; u < cfg->n; u++) {
		u32 sum;

		if (!is_told(c, cfg, u, now) || c->server[u].value_doubt)
			continue;
		sum = agreeing(c, cfg, u, now);
		if (sum > *most)
			*most = sum;
		if (sum >= agreement_needed(cfg))
			return u;
	}
	return cfg->n;
}

void bftm_contend_value(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_value_told *ret)
{
	u32 most, u = valid_one(c, cfg, now, &most);

	memset(ret, 0, sizeof(*ret));
	if (u == cfg->n)
		return;
	ret->valid = true;
	ret->len = c->server[u].value_len;
	memcpy(ret->bytes, c->server[u].value, ret->len);
}

void bftm_value_take_told(struct bftm_answer *a, const struct bftm_msg *msg)
{
	/* The value of an earlier grant, or at an earlier send, is out of date. */
	if (msg->gno < a->value_gno || (msg->gno == a->value_gno && msg->k < a->value_k))
		return;
	a->value_gno = msg->gno;
	a->value_k = msg->k;
	a->value_told = msg->flags & BFTM_FLAG_VALUE &&
			bftm_pad8(msg->value_len) == msg->value_room;
	a->value_doubt = msg->flags & BFTM_FLAG_DOUBT;
	a->value_len = a->value_told ? msg->value_len : 0;
	memcpy(a->value, msg->value, a->value_len);
}

void bftm_value_forget(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u;

	for (u = 0; u < cfg->n; u++)
		c->server[u].value_told = false;
}

bool bftm_value_read(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	u32 u, most, silent = 0;

	if (!c->base.want.value || valid_one(c, cfg, now, &most) < cfg->n)
		return true;
	for (u = 0; u < cfg->n; u++)
		silent += !is_told(c, cfg, u, now);
	return most + silent < agreement_needed(cfg);
}

/*
 * The client waits for two round trips: by then each server that answers has told its value. The
 * wait takes no more of the lease than a poll, and none of what a holder is to have at least.
 */
void bftm_value_await(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	u64 last = bftm_contend_end(c, cfg) - bftm_lease_least(c->base.want.lease_ns);

	c->value_ns = now + bftm_poll(c->base.want.lease_ns);
	if (c->value_ns > now + cfg->resend_ns)
		c->value_ns = now + cfg->resend_ns;
	if (c->value_ns > last)
		c->value_ns = last;
}

/* The value that this holder leaves is the newest, as far as it knows. */
static void note_own(struct bftm_answer *a, const struct bftm_written *value, u32 k)
{
	a->value_told = true;
	a->value_doubt = false;
	a->value_gno = a->granted;
	a->value_k = k;
	a->value_len = value->len;
	memcpy(a->value, value->bytes, value->len);
}

void bftm_value_leave(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_written *value)
{
	u32 u;

	if (!value || !c->base.want.value || !bftm_contend_writes(c))
		return;
	c->base.written = *value;
	c->base.written.any = true;
	c->owed = bftm_everyone(cfg);
	c->owed_k = c->base.sends + 1;
	for (u = 0; u < cfg->n; u++) {
		struct bftm_answer *a = &c->server[u];

		/* A server that may have granted it all the same is to doubt. */
		c->base.written.at[u] = (a->k ? (u32)a->granted : 0) ?: BFTM_GRANT_OTHER;
		note_own(a, value, c->owed_k);
	}
}

void bftm_value_heard(struct bftm_contend *c, u32 u)
{
	c->owed &= ~(1u << u);
	c->base.written.at[u] = 0;
}

/* The client does not know the grants by which the value was written: servers are to doubt. */
void bftm_value_forgotten(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u;

	c->base.written = (struct bftm_written){ .any = true };
	for (u = 0; u < cfg->n; u++)
		c->base.written.at[u] = BFTM_GRANT_OTHER;
	c->owed = bftm_everyone(cfg);
	c->owed_k = c->base.sends + 1;
}

void bftm_contend_leave(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			const struct bftm_written *value, struct bftm_out *out)
{
	bftm_value_leave(c, cfg, value);
	bftm_contend_stop(c, cfg, out);
	out->release_doubt = false;
	out->written = c->base.written;
}
