// SPDX-License-Identifier: GPL-2.0
/* The objects of each client, and who is told what servers say of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/servers.h"
#include "cluster/cluster.h"
#include "cluster/service.h"
#include "loop/log.h"
#include "order/ordering.h"
#include "kernel/upcall.h"

struct bftm_order_totals bftm_order_totals;

static int ordering_compare(const struct bftm_ordering *a, const struct bftm_ordering *b)
{
	return a->len != b->len ? a->len - b->len : memcmp(a->name, b->name, a->len);
}

BFTM_TREE(bftm_orderings, bftm_ordering, node, ordering_compare)

u64 bftm_random(u64 limit)
{
	u64 bits;

	if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		abort();	/* cannot happen for 8 bytes */
	return bits % limit;
}

const struct bftm_order_cfg *bftm_order_cfg_of(const struct bftm_order_work *w)
{
	return &w->cluster->order_cfg;
}

static struct bftm_ordering *ordering_find(struct bftm_identity *identity, const u8 *name,
					   size_t len)
{
	struct bftm_ordering key = { .len = (u8)len };

	if (!len || len > BFTM_OBJECT_NAME_MAX)
		return NULL;
	memcpy(key.name, name, len);
	return RB_FIND(bftm_orderings, &identity->orderings, &key);
}

/* Return: NULL without memory, or when there are too many. */
static struct bftm_ordering *ordering_get(struct bftm_identity *identity, const u8 *name, u8 len)
{
	struct bftm_ordering *o = ordering_find(identity, name, len);

	if (o || identity->orderings_count >= BFTM_OBJECTS_MAX)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->identity = identity;
	o->len = len;
	memcpy(o->name, name, len);
	o->incarnation = (u32)(bftm_identity_seq(identity) >> 32);
	TAILQ_INIT(&o->waiting);
	bftm_history_init(&o->history);
	bftm_refresh_init(o);
	RB_INSERT(bftm_orderings, &identity->orderings, o);
	identity->orderings_count++;
	return o;
}

void bftm_order_send(struct bftm_order_work *w, u32 to, struct bftm_order_msg *msg)
{
	msg->name_len = w->ordering->len;
	memcpy(msg->name, w->ordering->name, w->ordering->len);
	bftm_cluster_send_order(w->cluster, to, msg);
}

static int ordering_begin(const struct bftm_submit_ask *ask, struct bftm_cluster *cl)
{
	struct bftm_ordering *o;
	struct bftm_order_work *w;
	int err;

	if (!cl)
		return ENOKEY;
	if (!bftm_cluster_orders(cl))
		return EPROTONOSUPPORT;
	if (!ask->name_len || ask->name_len > BFTM_OBJECT_NAME_MAX)
		return ENAMETOOLONG;
	o = ordering_get(cl->identity, ask->name, ask->name_len);
	if (!o)
		return ENOMEM;
	err = bftm_order_work_get(o, &w);
	if (err)
		return -err;
	err = bftm_request_new(o, cl, ask);
	if (!err && !w->submit.op)
		bftm_submit_next(w);
	return -err;
}

void bftm_order_submit(const struct bftm_submit_ask *ask)
{
	int error = ordering_begin(ask, bftm_cluster_find(ask->cluster));

	bftm_order_totals.submits++;
	if (error)
		bftm_upcall_submit_failed(ask->id, error);
}

/* The object that an answer names, if it is worked on through this cluster. */
static struct bftm_order_work *work_of(struct bftm_cluster *cl, const u8 *name, u8 len)
{
	struct bftm_ordering *o = ordering_find(cl->identity, name, len);

	return o && o->work && o->work->cluster == cl ? o->work : NULL;
}

/* It would count again before an iteration of ours is over that it has forgotten. */
static bool is_hasty(struct bftm_cluster *cl, u32 u)
{
	struct bftm_peer *peer = &cl->peer[u];
	char theirs[24], ours[24];

	if (bftm_order_silence_ok(peer->lease_max_ns, cl->conf.lease_max_ns))
		return false;
	if (peer->hasty_epoch == peer->known.epoch || !bftm_due(&peer->hasty_ns, BFTM_SAID_AGAIN_NS))
		return true;
	peer->hasty_epoch = peer->known.epoch;
	bftm_format_duration(peer->lease_max_ns, theirs, sizeof(theirs));
	bftm_format_duration(cl->conf.lease_max_ns, ours, sizeof(ours));
	bftm_log(LOG_WARNING, "cluster %s: server %u has a lease-max of %s, which is less than %s "
		 "here: for objects the server counts as down", cl->conf.name, peer->conf->id,
		 theirs, ours);
	return true;
}

static void server_answer(struct bftm_cluster *cl, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_order_work *w = work_of(cl, msg->name, msg->name_len);
	bool listed = msg->type == BFTM_ORDER_LISTED;

	if ((!w && !listed) || is_hasty(cl, u))
		return;
	if (listed) {
		bftm_listings_answer(cl, u, msg);
		return;
	}
	bftm_refresh_heard(w->ordering, u, msg);
	switch (msg->type) {
	case BFTM_ORDER_RESPONSE:
	case BFTM_ORDER_PENDING:
		bftm_submit_answer(w, u, msg);
		break;
	case BFTM_ORDER_NEEDBODY:
		/* It repeats what was asked with: an operation's number, or a rank. */
		if (!bftm_rank_cmp(&msg->rank, &w->order.rank))
			bftm_iterate_answer(w, u, msg);
		else
			bftm_submit_answer(w, u, msg);
		break;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
	case BFTM_ORDER_STORED:
		bftm_bodies_answer(w, u, msg);
		break;
	default:
		bftm_iterate_answer(w, u, msg);
	}
}

static void server_refused(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_order_work *w = work_of(cl, msg->name, msg->name_len);

	if (!w)
		return;
	if (w->submit.op && msg->seq == w->submit.submitted[u])
		bftm_submit_refused(w, u, msg->arg);
	/* A SUBMIT that was repeated since is no part of the iteration, which needs no room there. */
	else if (msg->seq > w->iterate.first_seq && msg->arg != BFTM_REFUSED_PENDING)
		bftm_iterate_refused(w, u, msg->arg);
}

static void server_epoch(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_order_work *w = work_of(cl, msg->name, msg->name_len);

	u64 now = bftm_now();

	if (!msg->name_len)
		bftm_listings_epoch(cl, u);
	/* A liar may have a new one each time. */
	if (!w || now - w->again_ns[u] < bftm_order_cfg_of(w)->resend_ns)
		return;
	w->again_ns[u] = now;
	if (w->submit.op && !w->submit.kept)
		bftm_submit_to(w, 1u << u);
	bftm_phase_again(w, u);
}

void bftm_orders_interrupt(void)
{
	struct bftm_cluster *cl;
	struct bftm_ordering *o;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		RB_FOREACH(o, bftm_orderings, &cl->identity->orderings)
			if (o->work)
				bftm_iterate_interrupt(o->work);
}

static void server_restarted(struct bftm_cluster *cl, u32 u)
{
	struct bftm_ordering *o;

	RB_FOREACH(o, bftm_orderings, &cl->identity->orderings)
		bftm_refresh_restarted(o, cl, u);
}

static void client_restored(struct bftm_identity *identity)
{
	struct bftm_ordering *o;

	RB_FOREACH(o, bftm_orderings, &identity->orderings) {
		o->incarnation = identity->incarnation;
		o->ops = 0;
		/* An iteration under way was interrupted, and proposes under another rank. */
		if (o->work)
			o->work->order.rank.incarnation = identity->incarnation;
	}
}

static void client_forget(struct bftm_identity *identity)
{
	struct bftm_ordering *o;

	while ((o = RB_MIN(bftm_orderings, &identity->orderings))) {
		RB_REMOVE(bftm_orderings, &identity->orderings, o);
		bftm_requests_drop(&o->waiting);
		if (o->work) {
			bftm_requests_drop(&o->work->submit.batch);
			bftm_order_work_free(o->work);
		}
		bftm_timer_stop(&o->refresh);
		bftm_history_free(&o->history);
		free(o);
	}
}

static void client_begin(struct bftm_identity *identity)
{
	RB_INIT(&identity->orderings);
}

static void cluster_stop(struct bftm_cluster *cl)
{
	bftm_listings_stop(cl);
	client_forget(cl->identity);
}

const struct bftm_cluster_service bftm_object_service = {
	.begin = client_begin,
	.restored = client_restored,
	.stop = cluster_stop,
	.forget = client_forget,
	.answer = server_refused,
	.order = server_answer,
	.epoch = server_epoch,
	.restarted = server_restarted,
};

const struct bftm_ordering *bftm_ordering_next(const struct bftm_cluster *cl,
					       const struct bftm_ordering *o)
{
	return o ? RB_NEXT(bftm_orderings, &cl->identity->orderings,
			   (struct bftm_ordering *)o) :
		   RB_MIN(bftm_orderings, &cl->identity->orderings);
}

struct bftm_ordering *bftm_ordering_find(const struct bftm_cluster *cl, const u8 *name,
					 size_t len)
{
	return ordering_find(cl->identity, name, len);
}
