// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path of the ordering protocol. A reply is written into the skb that
 * it is sent in: on the stack there is no room for the longest.
 */
#include <linux/skbuff.h>
#include <uapi/linux/udp.h>

#include "objects/objects.h"
#include "objects/trace.h"
#include "server/receive.h"
#include "server/service.h"
#include "server/socket.h"
#include "server/trace.h"
#include "time/clock.h"

/* STALE and REFUSED have the form of the locks' messages. */
static noinline_for_stack void send_wire(struct bftm_server *server,
					 const struct bftm_address *to,
					 const struct bftm_client_keys *pair,
					 struct bftm_msg *reply)
{
	struct bftm_wire wire;

	reply->server_epoch = server->cfg.epoch;
	bftm_wire_put(reply, &wire);
	bftm_sign(pair->reply, wire.data, wire.len);
	bftm_socket_send(server, to, &wire);
}

/* The data are already in the skb, where they belong. */
static void send_order(struct bftm_server *server, const struct bftm_outcome *outcome,
		       const struct bftm_address *to, const struct bftm_client *c,
		       struct bftm_order_msg *reply, struct sk_buff *skb)
{
	size_t len;

	reply->server_epoch = server->cfg.epoch;
	len = bftm_order_wire_put(reply, skb->data);
	skb_put(skb, len);
	bftm_sign(c->pair.reply, skb->data, len);
	bftm_journal_send(server, outcome, c->id, to, reply->type, skb);
}

/* An skb for an answer that takes no more than @room between name and tag. */
static struct sk_buff *answer_room(struct bftm_server *server, u8 name_len, u32 room)
{
	return bftm_socket_room(server, BFTM_HEAD_LEN + bftm_pad8(name_len) + room + BFTM_TAG_LEN);
}

/*
 * Tell a client the response to an operation that a COMMIT or INSTALL of somebody
 * reflects. See bftm_server_push() for how much one datagram can cause.
 */
static noinline_for_stack void push(struct bftm_server *server,
				    const struct bftm_order_msg *req,
				    const struct bftm_stored *op,
				    const struct bftm_outcome *outcome)
{
	const struct bftm_object reflects = { .sc = &outcome->state->body };
	struct bftm_client *c = bftm_client_find(&server->clients, op->what.client);
	struct bftm_order_msg msg;
	struct bftm_address to;
	struct sk_buff *skb;

	if (!c)
		return;
	skb = answer_room(server, req->name_len, op->what.room);
	if (!skb)
		return;
	bftm_order_response(&reflects, &op->what, bftm_order_body_at(skb->data, req->name_len),
			    &msg);
	if (msg.type == BFTM_MSG_NONE) {
		kfree_skb(skb);
		return;
	}
	msg.cluster = server->cfg.cluster;
	msg.server = server->cfg.id;
	msg.name_len = req->name_len;
	memcpy(msg.name, req->name, sizeof(msg.name));
	bftm_count(server, PUSHED);
	to = bftm_client_address(c);
	send_order(server, outcome, &to, c, &msg, skb);
}

static void push_all(struct bftm_server *server, const struct bftm_order_msg *req,
		     struct bftm_outcome *outcome)
{
	struct bftm_stored *op;

	while ((op = bftm_outcome_next(outcome))) {
		push(server, req, op, outcome);
		bftm_stored_put(op);
	}
}

static void datagram_note(struct bftm_server *server, const struct bftm_order_msg *req,
			  const struct bftm_order_msg *reply, u32 changed)
{
	switch (reply->type) {
	case BFTM_MSG_NONE:
		bftm_count(server, SILENT);
		break;
	case BFTM_ORDER_RESPONSE:
	case BFTM_ORDER_PENDING:
		bftm_count(server, SUBMITTED);
		break;
	case BFTM_ORDER_GOT:
		bftm_count(server, GOT);
		break;
	case BFTM_ORDER_RECOVERING:
		bftm_count(server, FORGOTTEN);
		break;
	case BFTM_ORDER_PROPOSED:
		bftm_count(server, PROPOSED);
		break;
	case BFTM_ORDER_COMMITTED:
		bftm_count(server, COMMITTED);
		break;
	case BFTM_ORDER_COMMITTED_GOT:
		bftm_count(server, COMMITTED);
		bftm_count(server, GOT);
		break;
	case BFTM_ORDER_INSTALLED:
		bftm_count(server, INSTALLED);
		break;
	case BFTM_ORDER_EXCEPTION:
		bftm_count(server, EXCEPTED);
		break;
	case BFTM_ORDER_NEEDBODY:
		bftm_count(server, NEEDBODY);
		break;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
		bftm_count(server, FETCHED);
		break;
	case BFTM_ORDER_STORED:
		bftm_count(server, STORED);
		break;
	case BFTM_ORDER_LISTED:
		bftm_count(server, LISTED);
		break;
	default:
		bftm_count(server, REFUSED);
	}
	if (changed || reply->type == BFTM_MSG_REFUSED)
		trace_bftm_order(server, req, reply, changed);
}

/* Answers LIST by a page of the objects that are here; nothing changes. */
static noinline_for_stack void list_page(struct bftm_server *server,
					 const struct bftm_order_msg *req, u8 *out,
					 struct bftm_order_msg *reply,
					 struct bftm_outcome *outcome)
{
	const struct bftm_rules *rules = rcu_dereference(server->rules);
	struct bftm_objects *t = server->objects;
	struct bftm_page page;
	u64 next;

	memset(outcome, 0, sizeof(*outcome));
	reply->type = BFTM_MSG_NONE;
	if (bftm_objects_loading(t))
		return;
	bftm_page_begin(&page, req, rules ? rules->rule : NULL, rules ? rules->count : 0, out);
	next = bftm_objects_list(t, req->cursor, &page);
	bftm_page_end(&page, req, next, t->recovering, out, reply);
}

/* The protocol decides a request that it may see. */
static noinline_for_stack bool datagram_decide(struct bftm_server *server,
					       const struct bftm_order_msg *req,
					       const struct bftm_msg *head,
					       const struct bftm_address *from,
					       const struct bftm_client *c)
{
	struct sk_buff *skb = answer_room(server, req->name_len, req->room);
	struct bftm_outcome outcome;
	struct bftm_order_msg reply;

	if (!skb)
		return false;	/* as if it had been lost */
	if (req->type == BFTM_ORDER_LIST)
		list_page(server, req, bftm_order_body_at(skb->data, 0), &reply, &outcome);
	else
		bftm_objects_step(server->objects, &server->cfg, req,
				  bftm_order_body_at(skb->data, req->name_len), &reply, &outcome);
	datagram_note(server, req, &reply, outcome.changed);
	push_all(server, req, &outcome);
	bftm_outcome_done(&outcome);
	if (reply.type == BFTM_MSG_REFUSED) {
		struct bftm_msg refused;

		bftm_refuse(head, &refused, reply.offset);
		send_wire(server, from, &c->pair, &refused);
	} else if (reply.type != BFTM_MSG_NONE) {
		send_order(server, &outcome, from, c, &reply, skb);
		return true;
	}
	kfree_skb(skb);
	return reply.type != BFTM_MSG_NONE;
}

static const struct bftm_shell shell = {
	.sender = bftm_received_sender,
	.take = bftm_received_take,
	.permit = bftm_received_permit,
	.tokens = bftm_received_tokens,
};

/* May the protocol see it? If not, @answered says whether it was answered. */
static noinline_for_stack bool datagram_admit(struct bftm_received *r, const struct bftm_msg *head,
					      bool *answered)
{
	struct bftm_server *server = r->server;
	struct bftm_server_cfg limits;
	struct bftm_msg reply;
	bool admit;

	*answered = false;
	if (bftm_server_dropped(server, bftm_serve_head(&shell, r, &server->cfg, head,
							r->now, &limits, &admit, &reply)))
		return false;
	if (admit)
		return true;
	if (reply.type == BFTM_MSG_STALE) {
		bftm_count(server, STALE);
	} else {
		bftm_count(server, REFUSED);
		trace_bftm_refuse(server, &reply);
	}
	send_wire(server, r->from, &r->pair, &reply);
	*answered = true;
	return false;
}

static bool datagram_receive(struct bftm_server *server, const void *buf, size_t len,
			     const struct bftm_address *from)
{
	struct bftm_received r = {
		.server = server, .from = from, .buf = buf, .len = len, .now = bftm_clock_ns(),
	};
	struct bftm_order_msg req;
	struct bftm_msg head;
	bool answered;

	if (bftm_order_wire_get(buf, len, &req)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	bftm_order_head(&req, &head);
	if (datagram_admit(&r, &head, &answered))
		answered = datagram_decide(server, &req, &head, from, r.client);
	memzero_explicit(&r.pair, sizeof(r.pair));
	return answered;
}

/*
 * Longer ones, not by way of the stack. The skb is ours; what another has mapped,
 * and could write to after the tag was found right, is not in its linear part.
 */
static bool objects_receive(struct bftm_server *server, struct sk_buff **skb,
			    const struct bftm_address *from)
{
	size_t len = (*skb)->len - sizeof(struct udphdr);

	if (len < BFTM_DATAGRAM_MIN || len > BFTM_DATAGRAM_MAX ||
	    !pskb_may_pull(*skb, (*skb)->len)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	return datagram_receive(server, (*skb)->data + sizeof(struct udphdr), len, from);
}

static int objects_start(struct bftm_server *server, u64 gno)
{
	server->objects = bftm_objects_new(server);
	return server->objects ? bftm_journal_new(server) : -ENOMEM;
}

static void objects_stop(struct bftm_server *server)
{
	bftm_objects_stop(server->objects);
}

static void objects_destroy(struct bftm_server *server)
{
	if (!server->objects)
		return;
	bftm_journal_destroy(server);
	bftm_objects_destroy(server->objects);
}

const struct bftm_service bftm_object_service = {
	.start = objects_start,
	.stop = objects_stop,
	.destroy = objects_destroy,
	.receive = objects_receive,
};
