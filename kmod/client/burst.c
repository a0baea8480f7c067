// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a burst is on the stack of the code that holds the lock. That code is in an RCU read
 * side from this hold on until the last datagram has left. A line that is replaced, or a session
 * that ends, is freed a grace period after the last hold in which a message could be added for it.
 */
#include <linux/rcupdate.h>

#include "client/burst.h"
#include "client/fast.h"
#include "client/line.h"
#include "client/request.h"
#include "client/session.h"
#include "core/servers.h"
#include "netns.h"

void bftm_burst_begin(struct bftm_upcall *up, struct bftm_burst *burst)
	__acquires(RCU)
{
	lockdep_assert_held(&up->lock);
	rcu_read_lock();
	burst->count = 0;
	up->burst = burst;
}

void bftm_burst_lock(struct bftm_upcall *up, struct bftm_burst *burst)
	__acquires(&up->lock) __acquires(RCU)
{
	spin_lock_bh(&up->lock);
	bftm_burst_begin(up, burst);
}

bool bftm_burst_add(struct bftm_session *s, u32 to, struct bftm_msg *msg)
{
	struct bftm_upcall *up = s->bn->upcall;
	struct bftm_burst *burst = up->burst;
	struct bftm_burst_message *m;

	lockdep_assert_held(&up->lock);
	if (!burst || burst->count == BFTM_BURST_MESSAGES ||
	    (burst->count && burst->line != s->line))
		return false;
	bftm_line_route(s->line);
	msg->proto = s->protocol->number;
	msg->cluster = s->id;
	msg->client = s->client;
	burst->line = s->line;
	m = &burst->message[burst->count++];
	m->to = to & bftm_all(s->cfg.n);
	m->attempt = msg->type == BFTM_MSG_TRY ? msg->attempt : 0;
	m->yields = msg->type == BFTM_MSG_YIELD;
	m->skips = s->skips;
	m->wire.len = bftm_wire_write(msg, m->wire.data);
	return true;
}

/* Return: the datagrams that were sent. @ret_failed: servers that the message did not go out to */
static unsigned int message_send(struct bftm_line *line, struct bftm_burst_message *m,
				 u32 *ret_failed)
{
	u32 sent = bftm_line_send(line, m->to, &m->wire, m->yields ? &m->skips : NULL);

	*ret_failed = m->to & ~sent;
	return hweight32(sent);
}

/* An attempt hears of the servers that its TRY did not go out to, and may send more for that. */
static unsigned int burst_send(struct bftm_upcall *up, struct bftm_burst *burst)
{
	unsigned int sent = 0;
	u64 attempt = 0;
	u32 i, failed, lacking = 0;

	for (i = 0; i < burst->count; i++) {
		sent += message_send(burst->line, &burst->message[i], &failed);
		if (!failed || !burst->message[i].attempt)
			continue;
		attempt = burst->message[i].attempt;
		lacking = failed;
	}
	burst->count = 0;
	if (!attempt)
		return sent;
	spin_lock(&up->lock);
	up->burst = burst;
	bftm_fast_unsent(burst->line->session, attempt, lacking);
	up->burst = NULL;
	spin_unlock(&up->lock);
	return sent;
}

unsigned int bftm_burst_unlock(struct bftm_upcall *up, struct bftm_burst *burst)
	__releases(&up->lock) __releases(RCU)
{
	unsigned int sent = 0;

	up->burst = NULL;
	/*
	 * Softirqs wait until the datagrams have left: the alarm of a request whose time is over
	 * already would have its RELEASE sent before its TRY.
	 */
	spin_unlock(&up->lock);
	while (burst->count)
		sent += burst_send(up, burst);
	local_bh_enable();
	rcu_read_unlock();
	return sent;
}

unsigned int bftm_burst_pause(struct bftm_upcall *up, struct bftm_burst *burst)
	__releases(RCU)
{
	unsigned int sent = bftm_burst_unlock(up, burst);

	spin_lock_bh(&up->lock);
	return sent;
}
