// SPDX-License-Identifier: GPL-2.0
/* Objects that this host uses, as bftmutexctl shows them. */
#include "cluster/cluster.h"
#include "text/json.h"
#include "order/ordering.h"

static const char *doing(const struct bftm_order_work *w)
{
	static const char *const phase[] = {
		[BFTM_ORDER_GETTING] = "get",
		[BFTM_ORDER_MAKING] = "apply",
		[BFTM_ORDER_PROPOSING] = "propose",
		[BFTM_ORDER_COMMITTING] = "commit",
		[BFTM_ORDER_INSTALLING] = "install",
	};

	if (!w || !w->cluster)
		return "idle";
	if (w->make.running)
		return phase[BFTM_ORDER_MAKING];
	if (w->order.phase != BFTM_ORDER_IDLE)
		return phase[w->order.phase];
	return w->mutex.state == BFTM_ORDER_QUEUED ? "contend" : "wait";
}

static u64 orders_count(const struct bftm_requests *list)
{
	const struct bftm_order_request *r;
	u64 n = 0;

	TAILQ_FOREACH(r, list, beside)
		n++;
	return n;
}

static struct json_object *orders_describe(const struct bftm_ordering *o)
{
	const struct bftm_body_here *state = o->work && o->work->make.state.data ?
					     &o->work->make.state : NULL;
	struct json_object *j = json_object_new_object();

	bftm_json_add_bytes(j, "name", o->name, o->len);
	bftm_json_add_text(j, "doing", doing(o->work));
	bftm_json_add_number(j, "version", o->version);
	bftm_json_add_number(j, "operations", o->ops);
	bftm_json_add_number(j, "under_way", o->work ? orders_count(&o->work->submit.batch) : 0);
	bftm_json_add_number(j, "waiting", orders_count(&o->waiting));
	bftm_json_add_number(j, "state_bytes", state ? state->id.len : 0);
	return j;
}

struct json_object *bftm_order_describe_totals(void)
{
	const struct bftm_order_totals *t = &bftm_order_totals;
	struct json_object *o = json_object_new_object();

	bftm_json_add_number(o, "submits", t->submits);
	bftm_json_add_number(o, "answered", t->answered);
	bftm_json_add_number(o, "timeouts", t->timeouts);
	bftm_json_add_number(o, "refused", t->refused);
	bftm_json_add_number(o, "gone", t->gone);
	bftm_json_add_number(o, "withdrawn", t->withdrawn);
	bftm_json_add_number(o, "operations", t->operations);
	bftm_json_add_number(o, "iterations", t->iterations);
	bftm_json_add_number(o, "continued", t->continued);
	bftm_json_add_number(o, "committed", t->committed);
	bftm_json_add_number(o, "outranked", t->outranked);
	bftm_json_add_number(o, "slow", t->slow);
	bftm_json_add_number(o, "interrupted", t->interrupted);
	bftm_json_add_number(o, "unsure", t->unsure);
	bftm_json_add_number(o, "applied", t->applied);
	bftm_json_add_number(o, "fetched", t->fetched);
	bftm_json_add_number(o, "stored", t->stored);
	bftm_json_add_number(o, "installed", t->installed);
	bftm_json_add_number(o, "locked", t->locked);
	bftm_json_add_number(o, "listed", t->listed);
	return o;
}

struct json_object *bftm_order_describe(const struct bftm_cluster *cl)
{
	struct json_object *j = json_object_new_object();
	struct json_object *objects = json_object_new_array();
	const struct bftm_ordering *o;

	bftm_json_add_text(j, "name", cl->conf.name);
	bftm_json_add_bool(j, "default", cl == bftm_cluster_find(""));
	bftm_json_add_bool(j, "served", bftm_cluster_orders(cl));
	for (o = bftm_ordering_next(cl, NULL); o; o = bftm_ordering_next(cl, o))
		json_object_array_add(objects, orders_describe(o));
	json_object_object_add(j, "objects", objects);
	return j;
}
