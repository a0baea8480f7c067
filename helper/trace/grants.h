/* SPDX-License-Identifier: GPL-2.0 */
/* Grants of servers, lock by lock, as their own events tell. */
#ifndef BFTM_TRACE_GRANTS_H
#define BFTM_TRACE_GRANTS_H

#include "trace/trace.h"

/**
 * struct trace_grant - an attempt has a grant of a server
 * @client:  whose attempt it is
 * @attempt: the attempt
 * @gno:     number of the grant
 * @k:       greatest send that was echoed
 * @last:    event of the FREE that echoed it
 * @mode:    enum bftm_mode
 * @doubted: a finding tells of this grant already
 */
struct trace_grant {
	u32 client, k, last;
	u64 attempt, gno;
	u8 mode;
	bool doubted;
};

/** struct trace_grants - of one lock at one server */
struct trace_grants {
	struct trace_grant *grant;
	u32 count;
};

/** trace_served() - the servers' events about locks, by server, host, name, place; to be freed */
u32 *trace_served(const struct trace *t, u32 *ret_count);

/** trace_same_lock() - are two events of servers about the same lock at the same server? */
bool trace_same_lock(const struct trace *t, u32 a, u32 b);

/** trace_grant_find() - the grant of an attempt, or NULL */
struct trace_grant *trace_grant_find(const struct trace_grants *g, u32 client, u64 attempt);

/**
 * trace_grant_step() - what an event changes
 * @t:     the trace
 * @g:     grants of its lock before, and after
 * @event: of a server
 * Return: true for a FREE that grants more than the attempt had.
 */
bool trace_grant_step(const struct trace *t, struct trace_grants *g, u32 event);

/** trace_grant_drop() - take a grant out of the list; another may be in its place then */
void trace_grant_drop(struct trace_grants *g, struct trace_grant *one);

#endif /* BFTM_TRACE_GRANTS_H */
