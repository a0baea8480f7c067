/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of objects at a server: /sys/kernel/tracing/events/bftmutex. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bftmutex

#if !defined(BFTM_OBJECTS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define BFTM_OBJECTS_TRACE_H

#include <linux/tracepoint.h>

#include "core/ordering/wire.h"
#include "server/server.h"
#include "trace_name.h"

/* The ordering: what a request made the server promise, store or refuse. */
TRACE_EVENT(bftm_order,
	TP_PROTO(const struct bftm_server *server, const struct bftm_order_msg *req,
		 const struct bftm_order_msg *reply, u32 changed),
	TP_ARGS(server, req, reply, changed),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u16, server)
		__field(u8, type)
		__field(u8, reply)
		__field(u32, client)
		__field(u32, changed)
		__field(u32, reason)
		__field(u64, rank)
		__field(u64, op)
		__field(u64, version)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = server->net->ns.inum;
		__entry->server = server->cfg.id;
		__entry->type = req->type;
		__entry->reply = reply->type;
		__entry->client = req->client;
		__entry->changed = changed;
		__entry->reason = reply->type == BFTM_MSG_REFUSED ? reply->offset : 0;
		__entry->rank = req->rank.count;
		__entry->op = req->op;
		__entry->version = req->id.version;
		bftm_trace_name(__entry->name, req->name, req->name_len);
	),
	TP_printk("netns=%u server=%u name=%s client=%u type=%#x reply=%#x rank=%llu op=%llu version=%llu changed=%#x reason=%u",
		  __entry->netns, __entry->server, __entry->name, __entry->client,
		  __entry->type, __entry->reply, __entry->rank, __entry->op,
		  __entry->version, __entry->changed, __entry->reason)
);

#endif /* BFTM_OBJECTS_TRACE_H */

/* Out of tree: the path is one of Kbuild's, which -I$(src) begins. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kmod/objects
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
