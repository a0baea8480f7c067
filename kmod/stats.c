// SPDX-License-Identifier: GPL-2.0
/* What a server counts and traces of what it decides. */
#include "server.h"
#include "trace.h"

u64 bftm_server_stat(const struct bftm_server *server, int which)
{
	u64 sum = 0;
	int cpu, i;

	if (which == BFTMUTEX_A_STATS_EXPIRED) {
		for (i = 0; i < BFTM_PROTOCOLS; i++)
			sum += atomic64_read(&server->locks[i]->expired);
		return sum;
	}
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(server->stats, cpu)->counter[which]);
	return sum;
}

u32 bftm_server_locks(const struct bftm_server *server)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < BFTM_PROTOCOLS; i++)
		sum += atomic_read(&server->locks[i]->count);
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
		      const struct bftm_sends *sends)
{
	const struct bftm_msg *reply = &sends->reply;

	switch (reply->type) {
	case BFTM_MSG_NONE:
		note_silence(server, req, &sends->push);
		break;
	case BFTM_MSG_CHALLENGE:
		bftm_count(server, CHALLENGED);
		break;
	case BFTM_MSG_FREE:
		note_free(server, reply, sends->granted);
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

void bftm_server_note_order(struct bftm_server *server, const struct bftm_order_msg *req,
			    const struct bftm_order_msg *reply, u32 changed)
{
	switch (reply->type) {
	case BFTM_MSG_NONE:
		bftm_count(server, SILENT);
		break;
	case BFTM_ORDER_RESPONSE:
	case BFTM_ORDER_PENDING:
		bftm_count(server, SUBMITTED);
		break;
	case BFTM_ORDER_GOT:
		bftm_count(server, GOT);
		break;
	case BFTM_ORDER_RECOVERING:
		bftm_count(server, FORGOTTEN);
		break;
	case BFTM_ORDER_PROPOSED:
		bftm_count(server, PROPOSED);
		break;
	case BFTM_ORDER_COMMITTED:
		bftm_count(server, COMMITTED);
		break;
	case BFTM_ORDER_INSTALLED:
		bftm_count(server, INSTALLED);
		break;
	case BFTM_ORDER_EXCEPTION:
		bftm_count(server, EXCEPTED);
		break;
	case BFTM_ORDER_NEEDBODY:
		bftm_count(server, NEEDBODY);
		break;
	case BFTM_ORDER_BODY:
	case BFTM_ORDER_NOBODY:
		bftm_count(server, FETCHED);
		break;
	case BFTM_ORDER_STORED:
		bftm_count(server, STORED);
		break;
	default:
		bftm_count(server, REFUSED);
	}
	if (changed || reply->type == BFTM_MSG_REFUSED)
		trace_bftm_order(server, req, reply, changed);
}
