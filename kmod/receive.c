// SPDX-License-Identifier: GPL-2.0
/*
 * What surrounds the cores when a datagram has come: bftm_serve() asks for it.
 *
 * Nothing is allocated and no state changes before the tag was found right; a
 * stranger costs a hash or two and gets no answer.
 */
#include <linux/ktime.h>

#include "clock.h"
#include "server.h"
#include "socket.h"
#include "trace.h"

static enum bftm_sender shell_sender(void *arg, const struct bftm_msg *req)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	struct bftm_client *c = bftm_client_find(&server->clients, req->client);

	if (c)
		r->pair = c->pair;
	else
		bftm_derive(server->param.key, server->param.cluster, server->param.id,
			    req->client, &r->pair);
	if (!bftm_tag_ok(r->pair.request, r->buf, r->len))
		return BFTM_SENDER_FORGED;
	r->client = c ?: bftm_client_add(&server->clients, req->client, &r->pair);
	return r->client ? BFTM_SENDER_GENUINE : BFTM_SENDER_CROWDED;
}

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	struct bftm_received *r = arg;
	bool ours = req->server_epoch == r->server->cfg.epoch;

	if (bftm_client_take(r->client, req->seq, bftm_clock_ns(), ours ? r->from : NULL))
		return true;
	bftm_count(r->server, REPLAYED);
	return false;
}

/* A hundred times a second at most: a recorded HELLO may be sent again by anybody. */
static bool shell_behind(void *arg, const struct bftm_msg *req, struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	u64 now = bftm_clock_ns();
	bool tell;

	if (!bftm_client_behind(r->client, req, reply))
		return false;
	spin_lock(&server->token_lock);
	tell = now >= server->behind_say_ns;
	if (tell)
		server->behind_say_ns = now + BFTM_NS_PER_SEC / 100;
	spin_unlock(&server->token_lock);
	return tell;
}

static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			 struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	const struct bftm_rules *rules = rcu_dereference(r->server->rules);

	return !rules || bftm_access_admit(rules->rule, rules->count, req, cfg, reply);
}

static u64 wall_ns(void)
{
	return ktime_get_real_seconds() * BFTM_NS_PER_SEC;
}

/* Said now and then, however often it happens. */
#define CLOCK_SAID_AGAIN_NS	(600 * BFTM_NS_PER_SEC)

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	bool told, say = false;
	u64 before;

	spin_lock(&server->token_lock);
	before = server->tokens.floor;
	bftm_tokens_answer(&server->tokens, &server->cfg, req, now, wall_ns(), reply);
	told = server->tokens.floor != before;
	if (reply->type == BFTM_MSG_REFUSED && reply->position == BFTM_REFUSED_CLOCK &&
	    now >= server->clock_say_ns) {
		server->clock_say_ns = now + CLOCK_SAID_AGAIN_NS;
		say = true;
	}
	spin_unlock(&server->token_lock);
	if (told)
		bftm_count(server, RECOVERED);
	if (say)
		pr_warn("bftmutex: server %u: client %u tells of fencing token %llu, above the wall clock of this host (%lld s since 1970): accepting no token before the clock is right, or --token-floor is given\n",
			server->cfg.id, req->client, req->token, ktime_get_real_seconds());
}

static bool shell_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	bool may_be;

	spin_lock(&server->token_lock);
	may_be = bftm_tokens_may_be(&server->tokens, req->token, wall_ns(),
				    now - server->begun_ns);
	spin_unlock(&server->token_lock);
	return may_be;
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct bftm_received *r = arg;
	struct bftm_locks *locks = r->server->locks[bftm_protocol_index(protocol->number)];
	struct bftm_entry *e;

	r->shard = bftm_locks_enter(locks, req, make, r->client, now, &e);
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
	struct bftm_received *r = arg;

	bftm_waiters_enlarge(r->shard, entry_of(lock), waiters);
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct bftm_received *r = arg;

	/* Known to the server before anybody can hear of it. */
	if (sends->reply.type == BFTM_MSG_SACK) {
		spin_lock(&r->server->token_lock);
		bftm_tokens_stamped(&r->server->tokens, sends->reply.gno);
		spin_unlock(&r->server->token_lock);
	}
	bftm_locks_leave(r->shard, entry_of(lock), now);
}

const struct bftm_shell bftm_server_shell = {
	.sender = shell_sender,
	.take = shell_take,
	.behind = shell_behind,
	.permit = shell_permit,
	.tokens = shell_tokens,
	.may_be_stamped = shell_may_be_stamped,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

bool bftm_server_dropped(struct bftm_server *server, enum bftm_served how)
{
	if (how == BFTM_NOT_FOR_US)
		bftm_count(server, BAD_ADDRESS);
	else if (how == BFTM_NOT_GENUINE)
		bftm_count(server, BAD_TAG);
	return how != BFTM_SERVED;
}

bool bftm_server_receive(struct bftm_server *server, struct bftm_wire *wire,
			 const struct bftm_address *from, struct bftm_msg *push)
{
	struct bftm_received r = {
		.server = server, .from = from, .buf = wire, .len = sizeof(*wire),
	};
	struct bftm_sends sends;
	struct bftm_msg req;
	bool answer = false;

	push->type = BFTM_MSG_NONE;
	if (bftm_wire_get(wire, sizeof(*wire), &req)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	if (bftm_server_dropped(server, bftm_serve(&bftm_server_shell, &r, &server->cfg, &req,
						   bftm_clock_ns(), &sends)))
		goto out;
	bftm_server_note(server, &req, &sends);
	*push = sends.push;
	answer = sends.reply.type != BFTM_MSG_NONE;
	if (answer) {
		bftm_wire_put(&sends.reply, wire);
		bftm_sign(r.pair.reply, wire, sizeof(*wire));
	}
out:
	memzero_explicit(&r.pair, sizeof(r.pair));
	return answer;
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
 */
void bftm_server_push(struct bftm_server *server, const struct bftm_msg *push)
{
	struct bftm_address to;
	struct bftm_client *c;
	struct bftm_wire wire;

	trace_bftm_push(server, push);
	if (push->type == BFTM_MSG_FREE) {
		bftm_count(server, PUSHED);
		trace_bftm_grant(server, push);
	} else {
		bftm_count(server, INQUIRED);
	}
	rcu_read_lock();
	c = bftm_client_find(&server->clients, push->client);
	/* It asked in this incarnation, so it has an address. */
	if (!c)
		goto out;
	to = bftm_client_address(c);
	bftm_wire_put(push, &wire);
	bftm_sign(c->pair.reply, &wire, sizeof(wire));
	bftm_socket_send(server, &to, &wire);
out:
	rcu_read_unlock();
}
