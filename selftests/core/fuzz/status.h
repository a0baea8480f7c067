/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rest of the daemon, as its status socket sees it: one cluster, "storage", whose
 * second server lies.
 */
#ifndef BFTM_FUZZ_STATUS_H
#define BFTM_FUZZ_STATUS_H

#include <errno.h>
#include <string.h>

#include <json-c/json.h>

#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/health.h"
#include "order/order.h"
#include "daemon/status.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/who.h"
#include "fuzz.h"

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
struct bftm_totals bftm_totals = { .rounds = 3 };

static struct bftm_counters counters;
static struct bftm_identity identity = { .counters = &counters };
static struct bftm_conf_server servers[2] = { { .id = 1 }, { .id = 2 } };
static struct bftm_cluster cluster = {
	.conf = { .name = "storage", .n = 2, .id = 1 }, .identity = &identity,
	.peer = { { .conf = &servers[0], .token = BFTM_TOKEN_UNKNOWN },
		  { .conf = &servers[1], .token = 5, .heard_ns = 1, .known.epoch = UINT64_MAX,
		    .quarantine_until_ns = 1000000001 } },
};

bool bftm_upcall_is_open(void) { return true; }

/* "nowhere" is no cluster. */
struct bftm_cluster *bftm_cluster_find(const char *name)
{
	must(strlen(name) <= BFTM_CLUSTER_MAX);
	return *name == 'n' ? NULL : &cluster;
}

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS])
{
	must(cl == &cluster && u < cluster.conf.n);
	snprintf(list[0].text, sizeof(list[0].text), "lies");
	return u == 1;
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now)
{
	must(cl == &cluster && u < cluster.conf.n && now);
	return u ? "suspect" : "ok";
}

bool bftm_health_doubled(const struct bftm_cluster *cl)
{
	must(cl == &cluster);
	return false;
}

struct json_object *bftm_order_describe(const struct bftm_cluster *cl)
{
	return json_object_new_string(cl->conf.name);
}

struct json_object *bftm_order_describe_totals(void)
{
	return json_object_new_object();
}

/* At once, which the daemon never does; for 7 ms there are too many. */
int bftm_listing_start(struct bftm_cluster *cl, u64 limit_ns, bftm_listed_fn *tell, int arg)
{
	struct json_object *answer;

	must(cl == &cluster && limit_ns && limit_ns % BFTM_NS_PER_MS == 0);
	if (limit_ns == 7 * BFTM_NS_PER_MS)
		return -EAGAIN;
	answer = json_object_new_object();
	json_object_object_add(answer, "listed", json_object_new_int64((int64_t)limit_ns));
	tell(arg, answer);
	return 0;
}

/* The answer comes at once, and 7 ms stand for too many questions, as for listings above. */
int bftm_who_start(struct bftm_cluster *cl, const u8 *name, u8 len, u64 limit_ns,
		   bftm_who_fn *tell, int arg)
{
	struct json_object *answer;

	must(cl == &cluster && len && !memchr(name, 0, len) && limit_ns);
	if (limit_ns == 7 * BFTM_NS_PER_MS)
		return -EAGAIN;
	answer = json_object_new_object();
	json_object_object_add(answer, "name",
			       json_object_new_string_len((const char *)name, len));
	tell(arg, answer);
	return 0;
}

struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name, size_t len)
{
	struct json_object *list = json_object_new_array();

	must(cl == &cluster && !memchr(name, 0, len) && !name[len]);
	json_object_array_add(list, json_object_new_string_len((const char *)name, (int)len));
	return list;
}

#endif /* BFTM_FUZZ_STATUS_H */
