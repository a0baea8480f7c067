// SPDX-License-Identifier: GPL-2.0
/* What bftmutexctl shows of the objects that this host uses. */
#include <json-c/json.h>

#include "cluster.h"
#include "ordering.h"

static void add_u64(struct json_object *o, const char *key, u64 value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

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
	if (w->making)
		return phase[BFTM_ORDER_MAKING];
	if (w->order.phase != BFTM_ORDER_IDLE)
		return phase[w->order.phase];
	return w->lock == BFTM_ORDER_QUEUED ? "contend" : "wait";
}

static u64 count(const struct bftm_requests *list)
{
	const struct bftm_request *r;
	u64 n = 0;

	TAILQ_FOREACH(r, list, beside)
		n++;
	return n;
}

static struct json_object *describe(const struct bftm_ordering *o)
{
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "name",
			       json_object_new_string_len((const char *)o->name, o->len));
	json_object_object_add(j, "doing", json_object_new_string(doing(o->work)));
	add_u64(j, "version", o->version);
	add_u64(j, "operations", o->ops);
	add_u64(j, "under_way", o->work ? count(&o->work->batch) : 0);
	add_u64(j, "waiting", count(&o->waiting));
	add_u64(j, "state_bytes", o->work && o->work->state.data ? o->work->state.id.len : 0);
	return j;
}

struct json_object *bftm_order_describe_totals(void)
{
	const struct bftm_order_totals *t = &bftm_order_totals;
	struct json_object *o = json_object_new_object();

	add_u64(o, "submits", t->submits);
	add_u64(o, "answered", t->answered);
	add_u64(o, "timeouts", t->timeouts);
	add_u64(o, "refused", t->refused);
	add_u64(o, "gone", t->gone);
	add_u64(o, "withdrawn", t->withdrawn);
	add_u64(o, "operations", t->operations);
	add_u64(o, "iterations", t->iterations);
	add_u64(o, "committed", t->committed);
	add_u64(o, "outranked", t->outranked);
	add_u64(o, "slow", t->slow);
	add_u64(o, "interrupted", t->interrupted);
	add_u64(o, "unsure", t->unsure);
	add_u64(o, "applied", t->applied);
	add_u64(o, "fetched", t->fetched);
	add_u64(o, "stored", t->stored);
	add_u64(o, "installed", t->installed);
	add_u64(o, "locked", t->locked);
	return o;
}

struct json_object *bftm_order_describe(const struct bftm_cluster *cl)
{
	struct json_object *j = json_object_new_object();
	struct json_object *objects = json_object_new_array();
	const struct bftm_ordering *o;

	json_object_object_add(j, "name", json_object_new_string(cl->conf.name));
	json_object_object_add(j, "default",
			       json_object_new_boolean(cl == bftm_cluster_find("")));
	json_object_object_add(j, "served", json_object_new_boolean(bftm_cluster_orders(cl)));
	for (o = bftm_ordering_next(cl, NULL); o; o = bftm_ordering_next(cl, o))
		json_object_array_add(objects, describe(o));
	json_object_object_add(j, "objects", objects);
	return j;
}
