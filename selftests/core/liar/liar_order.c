// SPDX-License-Identifier: GPL-2.0
/* Where strategies of the ordering protocol meet the server. */
#include <stdio.h>
#include <stdlib.h>

#include "crypto/digest.h"
#include "liar.h"
#include "node_order.h"
#include "order_known.h"

void *order_liar_state(struct liar *l)
{
	return l->order_state[l->order_current];
}

struct order_known *order_liar_known(struct liar *l)
{
	return &l->known;
}

void order_liar_digest(const u8 *data, size_t len, u8 ret[BFTM_DIGEST_LEN])
{
	if (bftm_digest(data, (u32)len, ret) < 0)
		memset(ret, 0xff, BFTM_DIGEST_LEN);
}

static void send_order(struct liar *l, const struct liar_client *client,
		       const struct liar_from *to, const struct bftm_order_msg *msg, u64 delay_ns)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len = node_write_order(&l->node, client, msg, buf);

	if (len)
		liar_send_to(l, to, buf, len, delay_ns);
}

void order_liar_say(struct liar *l, const struct order_request *req,
		    const struct bftm_order_msg *msg, u64 delay_ns)
{
	send_order(l, req->client, req->from, msg, delay_ns);
}

void order_liar_push(struct liar *l, const struct bftm_order_msg *msg, u64 delay_ns)
{
	const struct liar_client *client = node_client(&l->node, msg->client);
	struct bftm_order_msg push = *msg;

	push.seq = 0;
	if (client)
		send_order(l, client, &client->from, &push, delay_ns);
}

static const char *type_name(u8 type)
{
	return type == BFTM_MSG_NONE ? "silence" : type == BFTM_MSG_STALE ||
	       type == BFTM_MSG_REFUSED ? bftm_msg_name(type) : bftm_order_name(type);
}

static void answer(struct liar *l, const struct order_strategy *s, const struct liar_from *from,
		   struct order_decision *d, u64 now)
{
	const struct order_request req = {
		.msg = &d->req, .honest = &d->reply, .object = d->object, .client = d->client,
		.from = from, .now_ns = now,
	};

	if (l->opt.verbose)
		fprintf(stderr, "client %u, object %.*s, rank %llu, operation %llu: %s -> %s, %s\n",
			d->req.client, d->req.name_len, (const char *)d->req.name,
			(unsigned long long)d->req.rank.count, (unsigned long long)d->req.op,
			bftm_order_name(d->req.type), type_name(d->reply.type), s->name);
	order_known_note(&l->known, &d->req);
	/* Pieces are stored; lies about them are told when they are asked for. */
	if (d->req.type == BFTM_ORDER_PUT)
		order_liar_say(l, &req, &d->reply, 0);
	else
		s->answer(l, &req);
}

static void push_all(struct liar *l, const struct order_strategy *s, struct order_decision *d,
		     u64 now)
{
	struct liar_push *push;

	while ((push = TAILQ_FIRST(&d->pushes))) {
		TAILQ_REMOVE(&d->pushes, push, list);
		l->pushes++;
		if (l->opt.verbose)
			fprintf(stderr, "client %u, operation %llu, unasked: %s, %s\n",
				push->msg.client, (unsigned long long)push->msg.op,
				bftm_order_name(push->msg.type), s->name);
		if (s->push)
			s->push(l, &push->msg, now);
		else
			order_liar_push(l, &push->msg, 0);
		free(push);
	}
}

void liar_handle_order(struct liar *l, const struct liar_from *from, const void *data, size_t len)
{
	const struct order_strategy *s;
	struct order_decision d;
	u64 now = liar_now();

	if (!node_decide_order(&l->node, from, data, len, now, &d))
		return;
	l->requests++;
	l->order_current = liar_turn(l, l->opt.orders, now);
	s = l->opt.order[l->order_current];
	answer(l, s, from, &d, now);
	push_all(l, s, &d, now);
}
