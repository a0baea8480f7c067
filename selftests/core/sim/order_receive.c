// SPDX-License-Identifier: GPL-2.0
/* The receiving half of the ordering thread. */
#include "order.h"
#include "story.h"

void order_client_again(struct world *w, u32 x, u32 u)
{
	struct order_client *o = &w->order->client[x];
	u8 type = bftm_order_message(&o->core);

	if (o->op && o->submits && !(o->vote.heard >> u & 1))
		order_say(w, x, BFTM_ORDER_SUBMIT, 1u << u);
	if (type && !(o->core.answered >> u & 1))
		order_say(w, x, type, 1u << u);
}

static void stale(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_peer_epochs *known = &w->client[x].peer[u].known;

	/* An old one, kept by somebody, must not turn the epoch back. */
	if (msg->seq <= known->challenge_seq)
		return;
	known->challenge_seq = msg->seq;
	if (known->epoch == msg->server_epoch)
		return;
	known->epoch = msg->server_epoch;
	order_client_again(w, x, u);
}

static void vote(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct order_client *o = &w->order->client[x];
	int winner;

	if (!o->op)
		return;
	winner = bftm_vote_count(&o->vote, &w->order->cfg, u, msg);
	if (winner < 0)
		return;
	if (o->response_len + o->vote.said[winner].data_len > BFTM_OP_MAX)
		return;
	memcpy(o->response + o->response_len, o->vote.said[winner].data,
	       o->vote.said[winner].data_len);
	o->response_len += o->vote.said[winner].data_len;
	if (o->response_len >= o->vote.said[winner].len) {
		order_client_answered(w, x);
		return;
	}
	if (!o->vote.said[winner].data_len)
		return;
	/* The next piece. */
	bftm_vote_begin(&o->vote, o->op, o->response_len);
	o->submits = 0;
	order_client_submit_all(w, x);
}

bool order_client_reads(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];
	struct bftm_applied a;

	if (!w->plan->order.alone || !o->op || !o->next ||
	    !bftm_vote_committed(&o->core, &o->next->id, o->next->data, o->op, &a))
		return false;
	tell(w, 0, "c%u reads the response to %s in %s", x + 1, story_attempt(w, o->op),
	     story_body(&o->next->id));
	memcpy(o->response, a.response, a.len);
	o->response_len = a.len;
	return true;
}

void order_client_answered(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];

	if (w->story)
		tell_response(w, x, o->response, o->response_len);
	check_fact(w, &(struct fact){
		.kind = FACT_ANSWERED, .client = x, .op = o->op,
		.response = o->response, .len = o->response_len,
	});
	o->op = 0;
	o->submit_at = NEVER;
	o->retry_at = NEVER;
	order_client_let_go(w, x);
	order_app_answered(w, x);
}

static bool genuine(const struct world *w, const struct bftm_order_msg *msg)
{
	u8 signature[BFTM_SIGNATURE_LEN];

	if (msg->type != BFTM_ORDER_EXCEPTION || !msg->signature || !w->order->cfg.signed_ranks)
		return false;
	order_sign(w, &msg->max, signature);
	return !memcmp(signature, msg->signature, sizeof(signature));
}

static void answered(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct client *c = &w->client[x];
	struct order_client *o = &w->order->client[x];
	struct bftm_order_out out;
	u64 now = client_look(w, c), before = o->core.then;
	struct bftm_rank then;

	if (msg->type == BFTM_MSG_REFUSED) {
		if (bftm_rank_cmp(&msg->rank, &o->core.rank))
			return;
		bftm_order_refused(&o->core, &w->order->cfg, u, msg->offset, now, &out);
	} else {
		bftm_order_answer(&o->core, &w->order->cfg, u, msg, genuine(w, msg), now, &out);
	}
	then = bftm_order_then(&o->core);
	if (!before && then.count)
		check_fact(w, &(struct fact){
			.kind = FACT_RANK, .client = x, .rank = &then,
		});
	order_client_obey(w, x, &out);
}

static void take(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg)
{
	struct order_client *o = &w->order->client[x];

	switch (msg->type) {
	case BFTM_MSG_STALE:
		stale(w, x, u, msg);
		break;
	case BFTM_ORDER_RESPONSE:
		vote(w, x, u, msg);
		break;
	case BFTM_ORDER_STORED:
		order_put_stored(w, x, u, msg);
		break;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
		order_make_heard(w, x, u, msg);
		break;
	case BFTM_ORDER_PENDING:
		break;
	case BFTM_ORDER_NEEDBODY:
		/* It repeats what was asked with: an operation's number, or a rank. */
		if (bftm_rank_cmp(&msg->rank, &o->core.rank)) {
			if (o->op && o->op == msg->op && o->body->id.len > BFTM_ORDER_DATA_MAX)
				order_put(w, x, u, o->body);
			break;
		}
		/* fall through */
	default:
		answered(w, x, u, msg);
	}
}

/* Only to what this helper asked, each once; a response comes unasked as well. */
static bool is_fresh(struct world *w, struct client *c, u32 u, const struct bftm_order_msg *msg)
{
	if (!msg->seq && msg->type == BFTM_ORDER_RESPONSE)
		return true;
	if (msg->seq <= c->incarnation << 32 || msg->seq > c->seq) {
		w->stats.forged++;
		return false;
	}
	if (bftm_window_take(&c->peer[u].answers, msg->seq))
		return true;
	w->stats.replayed++;
	return false;
}

void order_client_receive(struct world *w, u32 x, u32 server, const struct packet *p)
{
	struct client *c = &w->client[x];
	u32 u = p->msg.server - 1u;

	if (!c->up || p->msg.client != x)
		return;
	/* The tag: only this server has the key. */
	if (u != server || !(p->msg.type & BFTM_MSG_REPLY)) {
		w->stats.forged++;
		return;
	}
	if (!is_fresh(w, c, u, &p->msg))
		return;
	take(w, x, u, &p->msg);
	order_client_arm(w, x);
	client_done(w, c);
}
