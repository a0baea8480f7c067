/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of a server: /sys/kernel/tracing/events/bftmutex. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bftmutex

#if !defined(BFTM_SERVER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define BFTM_SERVER_TRACE_H

#include <linux/tracepoint.h>

#include "server/server.h"
#include "trace_name.h"

/*
 * The server: what it grants, sends without having been asked, takes back,
 * stamps and refuses. @m is the message that says so.
 */
DECLARE_EVENT_CLASS(bftm_said,
	TP_PROTO(const struct bftm_server *server, const struct bftm_msg *m),
	TP_ARGS(server, m),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u16, server)
		__field(u8, type)
		__field(u32, client)
		__field(u32, k)
		__field(u32, reason)
		__field(u64, attempt)
		__field(u64, gno)
		__field(u64, token)
		__array(char, name, BFTM_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->netns = server->net->ns.inum;
		__entry->server = server->cfg.id;
		__entry->type = m->type;
		__entry->client = m->client;
		__entry->k = m->k;
		__entry->reason = m->type == BFTM_MSG_REFUSED ? m->arg : 0;
		__entry->attempt = m->attempt;
		__entry->gno = m->gno;
		__entry->token = m->token;
		bftm_trace_name(__entry->name, m->name, m->name_len);
	),
	TP_printk("netns=%u server=%u name=%s client=%u attempt=%llu k=%u gno=%llu token=%llu reason=%u type=%#x",
		  __entry->netns, __entry->server, __entry->name, __entry->client,
		  __entry->attempt, __entry->k, __entry->gno, __entry->token,
		  __entry->reason, __entry->type)
);

#define BFTM_SAID(name) DEFINE_EVENT(bftm_said, name, \
	TP_PROTO(const struct bftm_server *server, const struct bftm_msg *m), \
	TP_ARGS(server, m))

BFTM_SAID(bftm_grant);
BFTM_SAID(bftm_push);
BFTM_SAID(bftm_yield);
BFTM_SAID(bftm_stamp);
BFTM_SAID(bftm_refuse);

#undef BFTM_SAID

#endif /* BFTM_SERVER_TRACE_H */

/* Out of tree: the path is one of Kbuild's, which -I$(src) begins. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kmod/server
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
