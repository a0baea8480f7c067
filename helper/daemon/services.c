// SPDX-License-Identifier: GPL-2.0
/* Dispatches requests of the kernel, and answers of servers, to locks and objects. */
#include "uapi/linux/bftmutex_netlink.h"
#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "loop/log.h"
#include "order/order.h"

const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = {
	[BFTM_SERVICE_LOCKS] = &bftm_lock_service,
	[BFTM_SERVICE_OBJECTS] = &bftm_object_service,
};

static void request(const struct bftm_pulled *p)
{
	switch (p->kind) {
	case BFTMUTEX_REQUEST_KIND_ACQUIRE:
		bftm_acquire_begin(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_CANCEL:
		bftm_acquire_cancel(p->ask.id);
		break;
	case BFTMUTEX_REQUEST_KIND_RELEASE:
		bftm_acquire_release(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_RENEW:
		bftm_acquire_renew(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_CONVERT:
		bftm_acquire_convert(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_HELD:
		bftm_acquire_held(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_EXPIRED:
		bftm_acquire_expired(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_LOST:
		bftm_acquire_lost(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_SUBMIT:
		bftm_order_submit(&p->submit);
		break;
	case BFTMUTEX_REQUEST_KIND_WITHDRAW:
		bftm_order_withdraw(p->ask.id);
		break;
	default:
		bftm_log(LOG_ERR, "the kernel's request has an unknown kind %u: is the module newer than bftmutexd?", p->kind);
	}
}

static void closed(void)
{
	bftm_lend_forget();
	bftm_acquire_forget();
	/* Operations are driven to their end, in iterations that begin later. */
	bftm_order_orphan();
	bftm_orders_interrupt();
}

const struct bftm_upcall_ops bftm_upcall_ops = {
	.restored = bftm_clusters_restored,
	.opened = bftm_lend_all,
	.request = request,
	.closed = closed,
};
