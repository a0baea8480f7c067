// SPDX-License-Identifier: GPL-2.0
/* Datagrams about locks: what is decided, counted, traced and sent. */
#include <linux/skbuff.h>
#include <uapi/linux/udp.h>

#include "locks/locks.h"
#include "locks/members.h"
#include "server/receive.h"
#include "server/service.h"
#include "server/socket.h"
#include "server/trace.h"
#include "time/clock.h"

/** struct request - a request, and the shard that its lock is in while it is stepped */
struct request {
	struct bftm_received received;
	struct bftm_shard *shard;
};

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct request *r = arg;
	struct bftm_locks *locks = r->received.server->locks[bftm_protocol_index(protocol->number)];
	struct bftm_entry *e;

	r->shard = bftm_locks_enter(locks, req, make, r->received.client, now, &e);
	if (!r->shard)
		return false;
	*ret = e ? e->state : NULL;
	return true;
}

static struct bftm_entry *entry_of(void *lock)
{
	return lock ? container_of(lock, struct bftm_entry, state) : NULL;
}

static void shell_enlarge(void *arg, const struct bftm_protocol *protocol, void *lock,
			  u32 waiters)
{
	struct request *r = arg;

	bftm_waiters_enlarge(r->shard, entry_of(lock), waiters);
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct request *r = arg;

	/* Known to the server before anybody can hear of it. */
	if (sends->reply.type == BFTM_MSG_SACK) {
		spin_lock(&r->received.server->token_lock);
		bftm_tokens_stamped(&r->received.server->tokens, sends->reply.gno);
		spin_unlock(&r->received.server->token_lock);
	}
	bftm_locks_leave(r->shard, entry_of(lock), now);
}

static const struct bftm_members *shell_members(void *arg)
{
	const struct request *r = arg;
	const struct bftm_rules *rules = rcu_dereference(r->received.server->rules);

	return rules ? &rules->members : NULL;
}

static bool shell_synced(void *arg, u32 client, u32 incarnation)
{
	struct request *r = arg;

	return bftm_locks_synced(r->received.server, client, incarnation);
}

static const struct bftm_shell shell = {
	.sender = bftm_received_sender,
	.take = bftm_received_take,
	.behind = bftm_received_behind,
	.permit = bftm_received_permit,
	.tokens = bftm_received_tokens,
	.may_be_stamped = bftm_received_may_be_stamped,
	.members = shell_members,
	.synced = shell_synced,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

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

static void note_refusal(struct bftm_server *server, const struct bftm_msg *reply)
{
	bftm_count(server, REFUSED);
	trace_bftm_refuse(server, reply);
	if (reply->arg == BFTM_REFUSED_UNNOTED)
		bftm_locks_unnoted(server, reply->client, reply->attempt >> 32, bftm_clock_ns());
}

static void lock_note(struct bftm_server *server, const struct bftm_msg *req,
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
	case BFTM_MSG_STALE:
		bftm_count(server, STALE);
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
	case BFTM_MSG_SYNCED:
		bftm_count(server, SYNCED);
		break;
	case BFTM_MSG_SACK:
	case BFTM_MSG_SNACK:
		note_stamp(server, reply);
		break;
	case BFTM_MSG_OWNER:
		bftm_count(server, TOLD);
		break;
	default:
		note_refusal(server, reply);
	}
}

/* Return: true when @sends has an answer; then @key is the one to sign it with. */
static bool lock_decide(struct bftm_server *server, const void *buf, size_t len,
			const struct bftm_address *from, struct bftm_sends *sends, u64 key[2])
{
	struct request r = {
		.received = {
			.server = server, .from = from, .buf = buf, .len = len,
			.now = bftm_clock_ns(),
		},
	};
	struct bftm_msg req __uninitialized;

	sends->reply.type = BFTM_MSG_NONE;
	sends->push.type = BFTM_MSG_NONE;
	if (bftm_wire_get(buf, len, &req)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	if (!bftm_server_dropped(server, bftm_serve(&shell, &r, &server->cfg, &req,
						    r.received.now, sends)))
		lock_note(server, &req, sends);
	memcpy(key, r.received.pair.reply, sizeof(r.received.pair.reply));
	memzero_explicit(&r.received.pair, sizeof(r.received.pair));
	return sends->reply.type != BFTM_MSG_NONE;
}

/*
 * How much can one datagram cause? Nothing, unless it is authentic and fresh.
 * Then an answer to its source and a push, each of its length. And who waits is
 * granted the lock once more by a timer, if nothing else did so before: one push
 * for each place in a queue, which a TRY or a YIELD has made. So three at most,
 * and pushes only to clients that are in a queue or own a lock, at the address
 * from which an authentic datagram of this incarnation came.
 *
 * Of the ordering, the answer is no longer than the request. A COMMIT or INSTALL
 * ends as many operations as wait, up to BFTM_PENDING_MAX, and each of their clients
 * hears of it: but an operation ends once, a SUBMIT has begun it, and the push is no
 * longer than that SUBMIT, and goes to its client. So each SUBMIT causes two at most,
 * and all others one.
 *
 * Return: true when it was answered; then @skb may be the answer, and NULL now. It is made linear:
 * what another has mapped, and could write to after the tag was found right, is copied.
 */
static bool locks_receive(struct bftm_server *server, struct sk_buff **skb,
			  const struct bftm_address *from)
{
	const size_t len = (*skb)->len - sizeof(struct udphdr);
	struct bftm_sends sends __uninitialized;
	bool answer;
	u64 key[2];

	if (len > BFTM_DATAGRAM_MAX || !pskb_may_pull(*skb, (*skb)->len)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	answer = lock_decide(server, (*skb)->data + sizeof(struct udphdr), len, from, &sends, key);
	if (sends.push.type != BFTM_MSG_NONE)
		bftm_locks_push(server, &sends.push);		/* somebody waits for it */
	if (answer)
		bftm_socket_answer(server, skb, from, key, &sends.reply);
	memzero_explicit(key, sizeof(key));
	return answer;
}

static int locks_start(struct bftm_server *server, u64 gno)
{
	int i;

	bftm_locks_members_start(server);
	for (i = 0; bftm_protocols[i]; i++) {
		server->locks[i] = bftm_locks_new(server, bftm_protocols[i]->server, gno);
		if (!server->locks[i])
			return -ENOMEM;
	}
	return 0;
}

static void locks_stop(struct bftm_server *server)
{
	int i;

	bftm_locks_members_stop(server);
	for (i = 0; bftm_protocols[i]; i++)
		bftm_locks_stop(server->locks[i]);
}

static void locks_destroy(struct bftm_server *server)
{
	int i;

	for (i = 0; bftm_protocols[i]; i++)
		if (server->locks[i])
			bftm_locks_destroy(server->locks[i]);
}

const struct bftm_service bftm_lock_service = {
	.start = locks_start,
	.stop = locks_stop,
	.destroy = locks_destroy,
	.receive = locks_receive,
};
