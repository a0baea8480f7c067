// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel asks the daemon for: any message is taken for a request that keeps
 * to its limits, or refused; none is looked at twice.
 */
#include <string.h>

#include "lock/acquire.h"
#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "loop/log.h"
#include "order/order.h"
#include "kernel/upcall.h"
#include "uapi/linux/bftmutex.h"
#include "file.h"
#include "kernel.h"

static struct bftm_watch *watched;
static struct bftm_timer *look;

static void check_ask(const struct bftm_ask *ask)
{
	must(strnlen(ask->cluster, sizeof(ask->cluster)) < sizeof(ask->cluster));
	must(!ask->inside && ask->name_len <= BFTM_NAME_LEN_MAX);
}

void bftm_acquire_begin(const struct bftm_ask *ask)
{
	struct bftm_won won = {
		.id = ask->id, .cluster = ask->cluster, .lease_ns = ask->lease_ns, .token = ask->way,
	};

	check_ask(ask);
	/* Its end may come at once, and its report is answered by anything. */
	if (ask->once)
		bftm_upcall_failed(ask->id, 1, ask->way, "");
	else if (ask->fence)
		bftm_upcall_won(&won);
}

void bftm_acquire_cancel(u64 id)
{
	bftm_upcall_suspect("c", (u16)id, "evidence that is longer than the sixty-four bytes that "
			    "there is room for", id);
}

void bftm_acquire_release(const struct bftm_ask *ask)
{
	check_ask(ask);
}

void bftm_acquire_renew(const struct bftm_ask *ask)
{
	check_ask(ask);
	bftm_upcall_renewed(ask->id, ask->end_ns, ask->sends);
}

void bftm_acquire_held(const struct bftm_ask *ask)
{
	check_ask(ask);
}

void bftm_acquire_forget(void)
{
}

void bftm_order_submit(const struct bftm_submit_ask *ask)
{
	struct bftm_submitted done = {
		.id = ask->id, .response = ask->op, .len = ask->op_len,
	};

	must(strnlen(ask->cluster, sizeof(ask->cluster)) < sizeof(ask->cluster));
	must(ask->name_len <= BFTM_NAME_LEN_MAX && ask->op && ask->op_len <= BFTM_OP_MAX);
	if (ask->id & 1)
		bftm_upcall_submitted(&done);
	else
		bftm_upcall_submit_failed(ask->id, 1);
}

void bftm_order_withdraw(u64 id)
{
	(void)id;
}

void bftm_order_orphan(void)
{
}

void bftm_orders_interrupt(void)
{
}

int bftm_clusters_restored(void)
{
	return 0;
}

void bftm_lend_all(void)
{
}

void bftm_lend_forget(void)
{
}

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
	/* Whatever was said, it serves on when all is well again. */
	if (look)
		look->fire(look);
	bftm_upcall_close();
	must(!watched);
	return 0;
}
