// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's status socket, asked anything: one answer, which is JSON, and nothing
 * else.
 */
#include <string.h>

#include <json-c/json.h>

#include "../../helper/cluster.h"
#include "../../helper/evidence.h"
#include "../../helper/log.h"
#include "../../helper/order.h"
#include "../../helper/status.h"
#include "file.h"
#include "kernel.h"

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
struct bftm_totals bftm_totals;

static struct bftm_watch *watched;
static struct bftm_counters counters;
static struct bftm_identity identity = { .counters = &counters };
static struct bftm_conf_server server = { .id = 1 };
static struct bftm_cluster cluster = {
	.conf = { .name = "storage", .n = 1, .id = 1 }, .identity = &identity,
};

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	must(strlen(name) <= BFTM_CLUSTER_MAX);
	return *name == 'n' ? NULL : &cluster;
}

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS])
{
	must(cl == &cluster && !u);
	snprintf(list[0].text, sizeof(list[0].text), "%s", "repeats itself");
	return 1;
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now)
{
	must(cl == &cluster && !u && now);
	return "ok";
}

struct json_object *bftm_order_describe(const struct bftm_cluster *cl)
{
	return json_object_new_string(cl->conf.name);
}

struct json_object *bftm_order_describe_totals(void)
{
	return json_object_new_object();
}

struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name, size_t len)
{
	struct json_object *list = json_object_new_array();

	must(cl == &cluster && !memchr(name, 0, len) && !name[len]);
	json_object_array_add(list, json_object_new_string_len((const char *)name, (int)len));
	return list;
}

int bftm_watch_add(struct bftm_watch *watch)
{
	watched = watch;
	return 0;
}

void bftm_watch_del(struct bftm_watch *watch)
{
	must(watched == watch);
}

u64 bftm_now(void)
{
	return 1;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

/* The socket is bound once, in a folder that nobody else looks into. */
static void listen_once(void)
{
	static char dir[] = "/tmp/bftmutex-fuzz.XXXXXX";
	char path[256];

	if (watched)
		return;
	must(mkdtemp(dir) && !setenv("BFTMUTEX_RUN", dir, 1));
	must(!bftm_status_open() && watched);
	snprintf(path, sizeof(path), "rm -r '%s'", dir);
	must(!system(path));
	cluster.peer[0].conf = &server;
	TAILQ_INSERT_TAIL(&bftm_clusters, &cluster, list);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct json_object *answer;

	fuzz_quiet();
	fuzz_kernel_begin(&in);
	listen_once();
	watched->ready(watched);
	if (!fuzz_said_len) {
		must(!len);
		return 0;
	}
	answer = json_tokener_parse(fuzz_said);
	must(json_object_is_type(answer, json_type_object) ||
	     json_object_is_type(answer, json_type_array));
	json_object_put(answer);
	return 0;
}
