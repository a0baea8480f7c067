// SPDX-License-Identifier: GPL-2.0
/* What a server counts and traces of what it decides. */
#include "server.h"
#include "trace.h"

u64 bftm_server_stat(const struct bftm_server *server, int which)
{
	u64 sum = 0;
	int cpu;

	if (which == BFTMUTEX_A_STATS_EXPIRED)
		return atomic64_read(&server->locks->expired);
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(server->stats, cpu)->counter[which]);
	return sum;
}

static void note_free(struct bftm_server *server, const struct bftm_msg *reply,
		      bool granted)
{
	if (!granted) {
		bftm_count(server, REFRESHED);
		return;
	}
	bftm_count(server, GRANTED);
	trace_bftm_grant(server, reply);
}

static void note_stamp(struct bftm_server *server, const struct bftm_msg *reply)
{
	if (reply->type == BFTM_MSG_SACK)
		bftm_count(server, STAMPED);
	else
		bftm_count(server, DENIED);
	trace_bftm_stamp(server, reply);
}

/* A yield that took effect is the one that somebody hears of. */
static void note_silence(struct bftm_server *server, const struct bftm_msg *req,
			 const struct bftm_msg *push)
{
	if (req->type != BFTM_MSG_YIELD || push->type == BFTM_MSG_NONE) {
		bftm_count(server, SILENT);
		return;
	}
	bftm_count(server, YIELDED);
	trace_bftm_yield(server, req);
}

void bftm_server_note(struct bftm_server *server, const struct bftm_msg *req,
		      const struct bftm_msg *reply, const struct bftm_msg *push,
		      bool granted)
{
	switch (reply->type) {
	case BFTM_MSG_NONE:
		note_silence(server, req, push);
		break;
	case BFTM_MSG_CHALLENGE:
		bftm_count(server, CHALLENGED);
		break;
	case BFTM_MSG_FREE:
		note_free(server, reply, granted);
		break;
	case BFTM_MSG_LOCKED:
		bftm_count(server, LOCKED);
		break;
	case BFTM_MSG_WAIT:
		if (reply->position)
			bftm_count(server, QUEUED);
		else
			bftm_count(server, WAITED);
		break;
	case BFTM_MSG_RELEASED:
		bftm_count(server, RELEASED);
		break;
	case BFTM_MSG_SACK:
	case BFTM_MSG_SNACK:
		note_stamp(server, reply);
		break;
	default:
		bftm_count(server, REFUSED);
		trace_bftm_refuse(server, reply);
	}
}
