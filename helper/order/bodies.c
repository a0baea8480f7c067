// SPDX-License-Identifier: GPL-2.0
/* Bodies in pieces: PUT to several servers at once, FETCH from one after the other. */
#include <stdlib.h>
#include <string.h>

#include "core/servers.h"
#include "cluster/cluster.h"
#include "crypto/digest.h"
#include "order/ordering.h"

/* So many times round all holders until a body is given up. */
#define ROUNDS_MAX	3

static u64 resend_ns(const struct bftm_order_work *w)
{
	return bftm_order_cfg_of(w)->resend_ns;
}

static void note_wake(u64 *at, const struct bftm_transfer *t)
{
	if (t->wake_ns && (!*at || t->wake_ns < *at))
		*at = t->wake_ns;
}

/* The next time at which something counts as lost. */
static void body_arm(struct bftm_order_work *w)
{
	struct bftm_put *put[] = { &w->submit.put, &w->iterate.put };
	u32 u, i;
	u64 at = 0;

	for (i = 0; i < 2; i++)
		for (u = 0; u < w->cluster->conf.n; u++)
			if (put[i]->to >> u & 1)
				note_wake(&at, &put[i]->transfer[u]);
	if (w->make.fetch_state.holders && !w->make.fetch_state.over)
		note_wake(&at, &w->make.fetch_state.transfer);
	for (i = 0; i < w->make.fetches; i++)
		if (!w->make.fetch[i].over)
			note_wake(&at, &w->make.fetch[i].transfer);
	if (at)
		bftm_timer_arm(&w->transfer, at);
	else
		bftm_timer_stop(&w->transfer);
}

void bftm_put_begin(struct bftm_put *put, const struct bftm_body_id *id, const u8 *data)
{
	put->id = *id;
	put->data = data;
	put->to = 0;
	put->stored = 0;
	put->failed = 0;
}

void bftm_put_stop(struct bftm_put *put)
{
	memset(&put->id, 0, sizeof(put->id));
	bftm_put_begin(put, &put->id, NULL);
}

static void pump_put(struct bftm_order_work *w, struct bftm_put *put, u32 u)
{
	struct bftm_transfer *t = &put->transfer[u];
	u64 now = bftm_now();
	u32 offset;

	while ((offset = bftm_transfer_next(t, resend_ns(w), now)) != BFTM_TRANSFER_NONE) {
		struct bftm_order_msg msg = {
			.type = BFTM_ORDER_PUT,
			.id = put->id,
			.offset = offset,
			.data = put->data + offset,
			.data_len = (u16)bftm_transfer_len(t, offset),
		};

		bftm_order_send(w, 1u << u, &msg);
	}
}

void bftm_put_to(struct bftm_order_work *w, struct bftm_put *put, u32 to)
{
	u32 u;

	put->stored &= ~to;
	for (u = 0; u < w->cluster->conf.n; u++) {
		if (!(to & ~put->to & 1u << u))
			continue;
		put->to |= 1u << u;
		put->failed &= ~(1u << u);
		bftm_transfer_begin(&put->transfer[u], put->id.len);
		pump_put(w, put, u);
	}
	body_arm(w);
}

static void wake_put(struct bftm_order_work *w, struct bftm_put *put, u64 now)
{
	u32 u;

	for (u = 0; u < w->cluster->conf.n; u++) {
		if (!(put->to >> u & 1))
			continue;
		if (bftm_transfer_wake(&put->transfer[u], now)) {
			pump_put(w, put, u);
		} else {
			put->to &= ~(1u << u);
			put->failed |= 1u << u;
		}
	}
}

static void stored(struct bftm_order_work *w, struct bftm_put *put, u32 u,
		   const struct bftm_order_msg *msg)
{
	struct bftm_transfer *t = &put->transfer[u];

	if (!(put->to >> u & 1) ||
	    !bftm_transfer_piece(t, msg->offset, resend_ns(w), bftm_now()))
		return;
	if (!bftm_transfer_complete(t)) {
		pump_put(w, put, u);
		return;
	}
	bftm_order_totals.stored++;
	put->to &= ~(1u << u);
	put->stored |= 1u << u;
	if (put == &w->submit.put)
		bftm_submit_to(w, 1u << u);
	else
		bftm_phase_stored(w, u);
}

static void pump_fetch(struct bftm_order_work *w, struct bftm_fetch *f)
{
	u64 now = bftm_now();
	u32 offset;

	while ((offset = bftm_transfer_next(&f->transfer, resend_ns(w), now)) !=
	       BFTM_TRANSFER_NONE) {
		struct bftm_order_msg msg = {
			.type = BFTM_ORDER_FETCH,
			.id = f->body.id,
			.offset = offset,
		};

		bftm_order_send(w, 1u << f->from, &msg);
	}
}

/* The next server sends the whole body: else nobody could be blamed for a false one. */
static void next_holder(struct bftm_order_work *w, struct bftm_fetch *f)
{
	if (!f->holders || f->tries++ == ROUNDS_MAX * bftm_count(f->holders)) {
		free(f->body.data);
		f->body.data = NULL;
		f->over = true;
		return;
	}
	do {
		f->from = (f->from + 1) % w->cluster->conf.n;
	} while (!(f->holders >> f->from & 1));
	bftm_transfer_begin(&f->transfer, f->body.id.len);
	pump_fetch(w, f);
}

void bftm_fetch_begin(struct bftm_order_work *w, struct bftm_fetch *f,
		      const struct bftm_body_id *id, u32 holders)
{
	u32 u, liars = 0;

	for (u = 0; u < w->cluster->conf.n; u++)
		if (w->cluster->peer[u].record.false_bodies)
			liars |= 1u << u;
	memset(f, 0, sizeof(*f));
	f->holders = holders & ~liars ?: holders;
	f->body.id = *id;
	/* Not always the same one. */
	/* NOLINTNEXTLINE: a cluster has servers */
	f->from = (u32)(w->order.rank.count % w->cluster->conf.n);
	f->body.data = id->len <= BFTM_STATE_MAX ? malloc(id->len) : NULL;
	if (f->body.data)
		next_holder(w, f);
	else
		f->over = true;
	body_arm(w);
}

void bftm_fetch_stop(struct bftm_fetch *f)
{
	free(f->body.data);
	memset(f, 0, sizeof(*f));
	f->over = true;
}

static void wake_fetch(struct bftm_order_work *w, struct bftm_fetch *f, u64 now)
{
	if (f->over || !f->transfer.wake_ns || now < f->transfer.wake_ns)
		return;
	if (bftm_transfer_wake(&f->transfer, now) && f->transfer.repeats < 2)
		pump_fetch(w, f);
	else
		next_holder(w, f);
}

static void body_wake(struct bftm_timer *timer)
{
	struct bftm_order_work *w = container_of(timer, struct bftm_order_work, transfer);
	u64 now = bftm_now();
	u32 i;

	if (!w->cluster)
		return;
	wake_put(w, &w->submit.put, now);
	wake_put(w, &w->iterate.put, now);
	wake_fetch(w, &w->make.fetch_state, now);
	for (i = 0; i < w->make.fetches; i++)
		wake_fetch(w, &w->make.fetch[i], now);
	body_arm(w);
	bftm_make_gathered(w);
	/* Too few answer for the state to be stored at a quorum. */
	if (w->iterate.put.failed && w->order.phase == BFTM_ORDER_MAKING && !w->iterate.put.to)
		bftm_iterate_made(w, false);
}

void bftm_bodies_init(struct bftm_order_work *w)
{
	w->transfer.fire = body_wake;
}

/* All is here: is it what it is said to be? */
static void verify(struct bftm_order_work *w, struct bftm_fetch *f)
{
	u8 digest[BFTM_DIGEST_LEN];

	if (bftm_digest(f->body.data, f->body.id.len, digest) < 0 ||
	    memcmp(digest, f->body.id.digest, sizeof(digest))) {
		w->cluster->peer[f->from].record.false_bodies++;
		f->holders &= ~(1u << f->from);
		next_holder(w, f);
		return;
	}
	bftm_order_totals.fetched++;
	f->over = true;
}

static void take_piece(struct bftm_order_work *w, struct bftm_fetch *f,
		       const struct bftm_order_msg *msg)
{
	struct bftm_transfer *t = &f->transfer;

	if (msg->type == BFTM_ORDER_NOBODY) {
		f->holders &= ~(1u << f->from);
		next_holder(w, f);
		return;
	}
	if (msg->offset >= t->len || msg->data_len != bftm_transfer_len(t, msg->offset) ||
	    !bftm_transfer_piece(t, msg->offset, resend_ns(w), bftm_now()))
		return;
	memcpy(f->body.data + msg->offset, msg->data, msg->data_len);
	if (bftm_transfer_complete(t))
		verify(w, f);
	else
		pump_fetch(w, f);
}

static bool is_for(const struct bftm_fetch *f, u32 u, const struct bftm_order_msg *msg)
{
	return !f->over && f->from == u && bftm_body_same(&f->body.id, &msg->id);
}

void bftm_bodies_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	u32 i;

	if (msg->type == BFTM_ORDER_STORED) {
		if (bftm_body_same(&w->submit.put.id, &msg->id))
			stored(w, &w->submit.put, u, msg);
		else if (bftm_body_same(&w->iterate.put.id, &msg->id))
			stored(w, &w->iterate.put, u, msg);
	} else {
		if (is_for(&w->make.fetch_state, u, msg))
			take_piece(w, &w->make.fetch_state, msg);
		for (i = 0; i < w->make.fetches; i++)
			if (is_for(&w->make.fetch[i], u, msg))
				take_piece(w, &w->make.fetch[i], msg);
		bftm_make_gathered(w);
	}
	if (w->cluster)
		body_arm(w);
}
