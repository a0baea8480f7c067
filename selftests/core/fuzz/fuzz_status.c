// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's status socket, asked anything: one answer, which is JSON, and nothing
 * else.
 */
#include "loop/log.h"
#include "loop/loop.h"
#include "file.h"
#include "kernel.h"
#include "status.h"

static struct bftm_watch *watched;

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
