/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of the device: /sys/kernel/tracing/events/bftmutex. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bftmutex

#if !defined(BFTM_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define BFTM_CLIENT_TRACE_H

#include <linux/tracepoint.h>

#include "client/handle.h"
#include "client/submit.h"
#include "netns.h"
#include "trace_name.h"

/*
 * The device: of each acquire that begins, either that it won or that it failed;
 * of each that won, that the lock was renewed any number of times, and at last
 * that it was lost or released. All with the upcall's lock held.
 */

TRACE_EVENT(bftm_acquire,
	TP_PROTO(const struct bftm_handle *h),
	TP_ARGS(h),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u32, flags)
		__field(u32, way)
		__field(u32, mode)
		__field(u64, id)
		__field(u64, lease_ns)
		__field(u64, timeout_ns)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = h->bn->net->ns.inum;
		__entry->flags = h->arg.flags;
		__entry->way = h->arg.way;
		__entry->mode = h->arg.mode;
		__entry->id = h->id;
		__entry->lease_ns = h->arg.lease_ns;
		__entry->timeout_ns = h->arg.timeout_ns;
		bftm_trace_name(__entry->name, h->arg.name, h->arg.name_len);
	),
	TP_printk("netns=%u id=%llu name=%s flags=%#x way=%u lease_ns=%llu timeout_ns=%llu mode=%u",
		  __entry->netns, __entry->id, __entry->name, __entry->flags,
		  __entry->way, __entry->lease_ns, __entry->timeout_ns, __entry->mode)
);

/* A lock that is or was held. */
DECLARE_EVENT_CLASS(bftm_held,
	TP_PROTO(const struct bftm_handle *h),
	TP_ARGS(h),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u32, reason)
		__field(u32, attempts)
		__field(u32, mode)
		__field(u64, id)
		__field(u64, deadline_ns)
		__field(u64, token)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = h->bn->net->ns.inum;
		__entry->reason = h->reason;
		__entry->attempts = h->arg.attempts;
		__entry->mode = h->arg.mode;
		__entry->id = h->id;
		__entry->deadline_ns = h->arg.deadline_ns;
		__entry->token = h->arg.token;
		bftm_trace_name(__entry->name, h->arg.name, h->arg.name_len);
	),
	TP_printk("netns=%u id=%llu name=%s deadline_ns=%llu token=%llu attempts=%u mode=%u reason=%u",
		  __entry->netns, __entry->id, __entry->name, __entry->deadline_ns,
		  __entry->token, __entry->attempts, __entry->mode, __entry->reason)
);

DEFINE_EVENT(bftm_held, bftm_won, TP_PROTO(const struct bftm_handle *h), TP_ARGS(h));
DEFINE_EVENT(bftm_held, bftm_renewed, TP_PROTO(const struct bftm_handle *h), TP_ARGS(h));
DEFINE_EVENT(bftm_held, bftm_converted, TP_PROTO(const struct bftm_handle *h), TP_ARGS(h));
DEFINE_EVENT(bftm_held, bftm_lost, TP_PROTO(const struct bftm_handle *h), TP_ARGS(h));
DEFINE_EVENT(bftm_held, bftm_released, TP_PROTO(const struct bftm_handle *h), TP_ARGS(h));

TRACE_EVENT(bftm_failed,
	TP_PROTO(const struct bftm_handle *h, int error),
	TP_ARGS(h, error),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(int, error)
		__field(u64, id)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = h->bn->net->ns.inum;
		__entry->error = error;
		__entry->id = h->id;
		bftm_trace_name(__entry->name, h->arg.name, h->arg.name_len);
	),
	TP_printk("netns=%u id=%llu name=%s error=%d", __entry->netns, __entry->id,
		  __entry->name, __entry->error)
);

/* Of each submit that begins, one end follows: an error, or an answer. */
TRACE_EVENT(bftm_submit,
	TP_PROTO(const struct bftm_submission *s),
	TP_ARGS(s),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u32, op_len)
		__field(u64, id)
		__field(u64, timeout_at_ns)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = s->handle->bn->net->ns.inum;
		__entry->op_len = s->op_len;
		__entry->id = s->id;
		__entry->timeout_at_ns = s->request->timeout_at_ns;
		bftm_trace_name(__entry->name, s->request->arg.name, s->request->arg.name_len);
	),
	TP_printk("netns=%u id=%llu name=%s op_len=%u timeout_at_ns=%llu", __entry->netns,
		  __entry->id, __entry->name, __entry->op_len, __entry->timeout_at_ns)
);

TRACE_EVENT(bftm_submitted,
	TP_PROTO(const struct bftm_submission *s),
	TP_ARGS(s),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(int, error)
		__field(u32, status)
		__field(u32, len)
		__field(u64, id)
		__field(u64, number)
	),
	TP_fast_assign(
		__entry->netns = s->handle->bn->net->ns.inum;
		__entry->error = -s->error;
		__entry->status = s->status;
		__entry->len = s->len;
		__entry->id = s->id;
		__entry->number = s->number;
	),
	TP_printk("netns=%u id=%llu error=%d status=%u number=%llu response_len=%u",
		  __entry->netns, __entry->id, __entry->error, __entry->status,
		  __entry->number, __entry->len)
);

/* The helper has evidence against a server. */
TRACE_EVENT(bftm_suspect,
	TP_PROTO(const struct net *net, const char *cluster, u16 server,
		 const char *evidence, u64 count),
	TP_ARGS(net, cluster, server, evidence, count),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u16, server)
		__field(u64, count)
		__array(char, cluster, BFTM_NAME_MAX + 1)
		__array(char, evidence, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = net->ns.inum;
		__entry->server = server;
		__entry->count = count;
		bftm_trace_name(__entry->cluster, cluster, strlen(cluster));
		bftm_trace_name(__entry->evidence, evidence, strlen(evidence));
	),
	TP_printk("netns=%u cluster=%s server=%u evidence=%s count=%llu", __entry->netns,
		  __entry->cluster, __entry->server, __entry->evidence, __entry->count)
);

#endif /* BFTM_CLIENT_TRACE_H */

/* Out of tree: the path is one of Kbuild's, which -I$(src) begins. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kmod/client
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
