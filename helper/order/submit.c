// SPDX-License-Identifier: GPL-2.0
/* Lines 2.1–7: an operation goes to all servers until b + 1 say what came of it. */
#include <errno.h>
#include <string.h>

#include "core/servers.h"
#include "cluster/cluster.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "lock/hindered.h"
#include "text/shown.h"

/* Room for the response to one operation: head, and what small ones take. */
#define ROOM_HEAD	16
#define ROOM_EACH	40
/* Repetitions get rarer up to this: the wait for the mutex may be long. */
#define DOUBLINGS_MAX	6

static void submit_arm(struct bftm_order_work *w)
{
	u32 doublings = w->submit.submits < DOUBLINGS_MAX ? w->submit.submits : DOUBLINGS_MAX;

	bftm_timer_arm(&w->submit.timer,
		       bftm_now() + (bftm_order_cfg_of(w)->resend_ns << doublings));
}

void bftm_submit_to(struct bftm_order_work *w, u32 to)
{
	struct bftm_order_submit *s = &w->submit;
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_SUBMIT,
		.op = s->op,
		.id = s->id,
		.offset = s->vote.offset,
		.room = BFTM_ORDER_RESPONSE_LEN + (s->vote.offset ? BFTM_ORDER_SAID_MAX : s->room),
	};
	u32 u;

	if (!s->vote.offset && s->id.len <= BFTM_ORDER_DATA_MAX) {
		msg.data = s->body.data;
		msg.data_len = (u16)s->id.len;
	}
	s->kept = false;
	bftm_order_send(w, to, &msg);
	for (u = 0; u < w->cluster->conf.n; u++)
		if (to >> u & 1)
			s->submitted[u] = w->cluster->peer[u].sent_seq;
}

static u32 unheard(const struct bftm_order_work *w)
{
	return bftm_cluster_everyone(w->cluster) & ~w->submit.vote.heard;
}

static void repeat(struct bftm_timer *timer)
{
	struct bftm_order_work *w = container_of(timer, struct bftm_order_work, submit.timer);
	struct bftm_order_submit *s = &w->submit;

	if (!s->op)
		return;
	s->submits++;
	bftm_submit_to(w, unheard(w));
	submit_arm(w);
	if (s->settled && s->submits >= BFTM_POLLS_MAX)
		bftm_order_soon(w, 0);
}

void bftm_submit_init(struct bftm_order_work *w)
{
	w->submit.timer.fire = repeat;
	TAILQ_INIT(&w->submit.batch);
}

void bftm_submit_stop(struct bftm_order_work *w)
{
	bftm_timer_stop(&w->submit.timer);
	bftm_bytes_free(&w->submit.body);
	bftm_bytes_free(&w->submit.response);
}

void bftm_submit_begin(struct bftm_order_work *w)
{
	struct bftm_order_submit *s = &w->submit;
	u32 room = ROOM_HEAD + bftm_batch_count(s->body.data, s->body.len) * ROOM_EACH;

	if (room < s->response.len)
		room = s->response.len;		/* the last one was so long */
	s->room = (u16)(room < BFTM_ORDER_SAID_MAX ? room : BFTM_ORDER_SAID_MAX);
	s->known = 0;
	s->submits = 0;
	s->settled = false;
	s->response.len = 0;
	bftm_vote_begin(&s->vote, s->op, 0);
	bftm_put_stop(&s->put);
	bftm_order_patience(w);
	/* A refusal of the operation before says nothing of this one. */
	memset(s->submitted, 0, sizeof(s->submitted));
	s->kept = bftm_order_alone(w);
	if (!s->kept)
		bftm_submit_to(w, bftm_cluster_everyone(w->cluster));
	submit_arm(w);
	bftm_iterate(w);
}

/* An operation in a state that was proposed may be applied, whoever refuses it later. */
void bftm_submit_proposed(struct bftm_order_work *w, u32 to)
{
	w->submit.known |= to;
}

void bftm_submit_show(struct bftm_order_work *w)
{
	if (w->submit.op && w->submit.kept)
		bftm_submit_to(w, bftm_cluster_everyone(w->cluster));
}

static void submit_over(struct bftm_order_work *w)
{
	bftm_timer_stop(&w->submit.timer);
	bftm_put_stop(&w->submit.put);
	bftm_make_void(w);
}

void bftm_submit_settled(struct bftm_order_work *w)
{
	w->submit.settled = true;
	w->submit.submits = 0;
	bftm_submit_show(w);
	submit_arm(w);
}

void bftm_submit_committed(struct bftm_order_work *w)
{
	struct bftm_order_submit *s = &w->submit;
	struct bftm_applied a;

	if (bftm_vote_committed(&w->order, &w->make.state.id, w->make.state.data, s->op, &a)) {
		bftm_vote_begin(&s->vote, s->op, 0);
		s->response.len = 0;
		if (!a.len || bftm_bytes_add(&s->response, a.response, a.len)) {
			bftm_order_deliver(w);
			submit_over(w);
			return;
		}
	}
	if (!s->settled)
		bftm_submit_settled(w);
}

void bftm_submit_polled(struct bftm_order_work *w)
{
	if (w->submit.settled)
		w->submit.submits = 0;
}

void bftm_submit_next(struct bftm_order_work *w)
{
	/* Operations that come until the iteration is over go along with the next one. */
	if (w->order.phase != BFTM_ORDER_IDLE && w->order.phase != BFTM_ORDER_INSTALLING &&
	    !bftm_iterate_holds(w))
		return;
	if (bftm_order_pack(w))
		bftm_submit_begin(w);
	else
		bftm_order_soon(w, 0);
}

/* The operation is over; the next may begin. */
static void submit_next(struct bftm_order_work *w)
{
	submit_over(w);
	bftm_submit_next(w);
}

static bool is_gone(const struct bftm_vote *v, u32 u)
{
	return v->said[u].len == BFTM_RESPONSE_GONE;
}

/*
 * A server that said something else than b + 1 others has lied; but a response may be gone at
 * one server, and not yet at another.
 */
static void blame(struct bftm_order_work *w, u32 u)
{
	const struct bftm_vote *v = &w->submit.vote;
	u32 i;

	for (i = 0; i < w->cluster->conf.n; i++)
		if (v->heard >> i & 1 && is_gone(v, i) == is_gone(v, u) &&
		    (v->said[i].len != v->said[u].len ||
		     v->said[i].data_len != v->said[u].data_len ||
		     memcmp(v->said[i].data, v->said[u].data, v->said[u].data_len)))
			w->cluster->peer[i].record.false_responses++;
}

static void submit_respond(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_order_submit *s = &w->submit;
	struct bftm_vote *v = &s->vote;
	int winner = bftm_vote_count(v, bftm_order_cfg_of(w), u, msg);

	if (winner < 0)
		return;
	blame(w, (u32)winner);
	s->settled = true;
	if (is_gone(v, (u32)winner)) {
		bftm_order_abandon(w, EIDRM);
		submit_next(w);
		return;
	}
	if (!bftm_bytes_add(&s->response, v->said[winner].data, v->said[winner].data_len))
		return;		/* without memory: once more, when it is repeated */
	if (s->response.len < v->said[winner].len) {
		bftm_vote_begin(v, s->op, s->response.len);
		s->submits = 0;
		bftm_submit_to(w, bftm_cluster_everyone(w->cluster));
		submit_arm(w);
		return;
	}
	bftm_order_deliver(w);
	submit_next(w);
}

void bftm_submit_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_order_submit *s = &w->submit;

	if (!s->op || msg->op != s->op)
		return;
	switch (msg->type) {
	case BFTM_ORDER_RESPONSE:
		submit_respond(w, u, msg);
		break;
	case BFTM_ORDER_PENDING:
		s->known |= 1u << u;
		break;
	case BFTM_ORDER_NEEDBODY:
		if (msg->id.len != s->id.len)
			break;
		if (s->put.data != s->body.data || !bftm_body_same(&s->put.id, &s->id))
			bftm_put_begin(&s->put, &s->id, s->body.data);
		bftm_put_to(w, &s->put, 1u << u);
		break;
	}
}

/*
 * Servers that have it may still see it applied. So the next operation is of a new
 * incarnation, which the rules of bftm_op_follows() put in its place.
 * @error: for who asked for it; @others: for those that came meanwhile, of whom no
 * server knows, and who would fare no better
 */
static void give_up(struct bftm_order_work *w, int error, int others, const char *why)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];
	struct bftm_ordering *o = w->ordering;

	if (bftm_due(&w->cluster->denied_ns, BFTM_SAID_AGAIN_NS))
		bftm_log(LOG_WARNING, "cluster %s: object '%s': requests of this host fail: %s",
			 w->cluster->conf.name, bftm_shown(o->name, o->len, name, sizeof(name)), why);
	bftm_order_abandon(w, error);
	bftm_requests_fail(&o->waiting, others);
	o->incarnation = bftm_identity_renew(o->identity);
	o->ops = 0;
	submit_next(w);
}

void bftm_submit_no_room(struct bftm_order_work *w)
{
	give_up(w, EREMOTEIO, ENOSPC, "its state has no room for the answers to one more client");
}

void bftm_submit_denied(struct bftm_order_work *w, u32 reason)
{
	int error = bftm_refusal_errno(reason);

	if (!w->submit.op)
		return;
	if (w->submit.settled)
		bftm_requests_fail(&w->submit.batch, EREMOTEIO);	/* it is done, whoever refuses */
	else
		give_up(w, w->submit.known ? EREMOTEIO : error, error, bftm_refusal_name(reason));
}

bool bftm_submit_refused(struct bftm_order_work *w, u32 u, u32 reason)
{
	/* When too many wait, ours can be applied all the same: by us. */
	if (reason == BFTM_REFUSED_PENDING || reason == BFTM_REFUSED_STATE ||
	    !bftm_vote_refused(w->submit.vote.refusal, bftm_order_cfg_of(w), u, reason))
		return false;
	bftm_submit_denied(w, reason);
	return true;
}
