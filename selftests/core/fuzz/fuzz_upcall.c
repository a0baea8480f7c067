// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the kernel to the daemon: any message is taken for a request that keeps
 * to its limits, or refused; none is looked at twice.
 */
#include <string.h>

#include "kernel/upcall.h"
#include "loop/log.h"
#include "loop/loop.h"
#include "uapi/linux/bftmutex_netlink.h"
#include "file.h"
#include "kernel.h"

static struct bftm_watch *watched;
static struct bftm_timer *look;

static void check_ask(const struct bftm_ask *ask)
{
	must(strnlen(ask->cluster, sizeof(ask->cluster)) < sizeof(ask->cluster));
	must(!ask->inside && ask->name_len <= BFTM_NAME_LEN_MAX);
}

static void request_lock(u32 kind, const struct bftm_ask *ask)
{
	const struct bftm_conversion_report converted = {
		.id = ask->id, .number = ask->conversion, .error = (int)(ask->goal & 1),
		.end_ns = ask->end_ns, .token = ask->way, .sends = ask->sends,
	};
	struct bftm_won won = {
		.id = ask->id, .cluster = ask->cluster, .lease_ns = ask->lease_ns, .token = ask->way,
	};

	/* Its end may come at once, and its report is answered by anything. */
	if (kind == BFTMUTEX_REQUEST_KIND_ACQUIRE && ask->once)
		bftm_upcall_failed(ask->id, 1, ask->way, "");
	else if (kind == BFTMUTEX_REQUEST_KIND_ACQUIRE && ask->fence)
		bftm_upcall_won(&won);
	else if (kind == BFTMUTEX_REQUEST_KIND_RENEW)
		bftm_upcall_renewed(ask->id, ask->end_ns, ask->sends);
	else if (kind == BFTMUTEX_REQUEST_KIND_CONVERT)
		bftm_upcall_converted(&converted);
	else if (kind == BFTMUTEX_REQUEST_KIND_CANCEL)
		bftm_upcall_suspect("c", (u16)ask->id, "evidence that is longer than the sixty-four "
				    "bytes that there is room for", ask->id);
}

static void request_object(const struct bftm_submit_ask *ask)
{
	struct bftm_submit_report done = {
		.id = ask->id, .response = ask->op, .len = ask->op_len,
	};

	must(strnlen(ask->cluster, sizeof(ask->cluster)) < sizeof(ask->cluster));
	must(ask->name_len <= BFTM_NAME_LEN_MAX && ask->op && ask->op_len <= BFTM_OP_MAX);
	if (ask->id & 1)
		bftm_upcall_submitted(&done);
	else
		bftm_upcall_submit_failed(ask->id, 1);
}

static void request(const struct bftm_pulled *pulled)
{
	check_ask(&pulled->ask);
	if (pulled->kind == BFTMUTEX_REQUEST_KIND_SUBMIT)
		request_object(&pulled->submit);
	else
		request_lock(pulled->kind, &pulled->ask);
}

static int restored(void)
{
	return 0;
}

static void nothing(void)
{
}

const struct bftm_upcall_ops bftm_upcall_ops = {
	.restored = restored, .opened = nothing, .request = request, .closed = nothing,
};

int bftm_watch_add(struct bftm_watch *watch)
{
	must(!watched);
	watched = watch;
	return 0;
}

void bftm_watch_del(struct bftm_watch *watch)
{
	must(watched == watch);
	watched = NULL;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	(void)at_ns;
	look = timer;
}

u64 bftm_now(void)
{
	return 1;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	(void)every_ns;
	*last_ns = 1;
	return true;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };

	fuzz_quiet();
	fuzz_kernel_begin(&in);
	bftm_upcall_open();
	while (in.left) {
		if (watched)
			watched->ready(watched);
		else
			look->fire(look);
	}
	/* After any message the daemon serves on, when all is well again. */
	if (look)
		look->fire(look);
	bftm_upcall_close();
	must(!watched);
	return 0;
}
