// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/serve.h"

static const struct bftm_protocol *protocol_of(const struct bftm_shell *shell, void *arg,
					       u8 number)
{
	return shell->protocol ? shell->protocol(arg, number) : bftm_protocol_of(number);
}

static const struct bftm_members *members_of(const struct bftm_shell *shell, void *arg)
{
	const struct bftm_members *members = shell->members ? shell->members(arg) : NULL;

	return members && members->count ? members : NULL;
}

enum bftm_served bftm_serve_version(const struct bftm_shell *shell, void *arg,
				    const struct bftm_server_cfg *cfg,
				    const struct bftm_msg *head, struct bftm_msg *reply)
{
	if (head->type & BFTM_MSG_REPLY || !head->seq || head->cluster != cfg->cluster ||
	    head->server != cfg->id)
		return BFTM_NOT_FOR_US;
	if (shell->sender(arg, head) != BFTM_SENDER_GENUINE)
		return BFTM_NOT_GENUINE;
	if (!shell->take(arg, head))
		return BFTM_NOT_NEW;
	*reply = *head;
	reply->type = BFTM_MSG_VERSION;
	reply->arg = BFTM_WIRE_VERSION;
	reply->server_epoch = cfg->epoch;
	return BFTM_SERVED;
}

enum bftm_served bftm_serve_head(const struct bftm_shell *shell, void *arg,
				 const struct bftm_server_cfg *cfg, const struct bftm_msg *head,
				 u64 now, struct bftm_server_cfg *limits, bool *admit,
				 struct bftm_msg *reply)
{
	const struct bftm_members *members = members_of(shell, arg);
	enum bftm_sender sender = BFTM_SENDER_GENUINE;

	*admit = false;
	if (!bftm_admit_address(cfg, head))
		return BFTM_NOT_FOR_US;
	if (shell->sender)
		sender = shell->sender(arg, head);
	if (sender == BFTM_SENDER_FORGED)
		return BFTM_NOT_GENUINE;
	if (sender == BFTM_SENDER_CROWDED) {
		bftm_refuse(head, reply, BFTM_REFUSED_CLIENTS);
		return BFTM_SERVED;
	}
	if (shell->take && !shell->take(arg, head)) {
		if (shell->behind && shell->behind(arg, head, reply))
			return BFTM_SERVED;
		/* The callback may have written a reply, which must not be sent. */
		reply->type = BFTM_MSG_NONE;
		return BFTM_NOT_NEW;
	}
	if (head->proto != BFTM_PROTO_ORDER && !protocol_of(shell, arg, head->proto)) {
		bftm_refuse(head, reply, BFTM_REFUSED_PROTO);
		return BFTM_SERVED;
	}
	if (members && bftm_members_refuse(members, head)) {
		bftm_refuse(head, reply, BFTM_REFUSED_EVICTED);
		return BFTM_SERVED;
	}
	*limits = *cfg;
	limits->recovering = members && bftm_published(members->awaited);
	/* Access rules do not see a request that is for another incarnation. */
	if (shell->permit && !shell->permit(arg, head, limits, reply))
		return BFTM_SERVED;
	*admit = bftm_admit(cfg, head, now, reply);
	if (!*admit && reply->type == BFTM_MSG_CHALLENGE)
		reply->recovering = members && bftm_published(members->awaited);
	if (limits->recovering) {
		const struct bftm_member *m = bftm_members_find(members, head->client);

		limits->awaited = m && bftm_published(m->awaited);
	}
	if (!*admit && shell->tokens)
		shell->tokens(arg, head, now, reply);
	return BFTM_SERVED;
}

/*
 * Some protocols have EX alone, no values and no locks without a lease. There is nothing to doubt
 * where there are no values.
 */
static bool is_unserved(const struct bftm_protocol *protocol, const struct bftm_msg *req)
{
	bool shares = protocol->traits & BFTM_SHARES;
	u16 served = protocol->traits & BFTM_VALUES ? BFTM_FLAG_VALUE : 0;
	u16 again = protocol->traits & BFTM_LEASELESS ? BFTM_FLAG_REASSERT : 0;

	if (req->type == BFTM_MSG_TRY && req->lease_ns == BFTM_LEASE_NONE &&
	    !(protocol->traits & BFTM_LEASELESS) && protocol->traits & BFTM_LEASED)
		return true;
	if (req->type == BFTM_MSG_TRY || req->type == BFTM_MSG_STAMP)
		return (!shares && req->mode != BFTM_MODE_EX) ||
		       (!shares && req->arg && req->arg != BFTM_MODE_EX) ||
		       req->flags & ~(BFTM_FLAG_NOQUEUE | served | again);
	if (req->type == BFTM_MSG_YIELD)
		return !shares && req->arg && req->arg != BFTM_MODE_EX;
	return req->type > BFTM_MSG_RECOVER || req->flags & ~(BFTM_FLAG_DOUBT | served);
}

/*
 * The client was heard, or evicted, while the request waited for its lock? A REASSERT that is
 * granted after others were, or a grant to the evicted, would be there for ever.
 * Return: false when it is evicted.
 */
static bool members_again(const struct bftm_members *members, const struct bftm_msg *req,
			  struct bftm_server_cfg *limits)
{
	const struct bftm_member *m = members ? bftm_members_find(members, req->client) : NULL;

	limits->awaited = limits->awaited && m && bftm_published(m->awaited);
	return !m || !bftm_members_refuse(members, req);
}

/* The roll names it as soon as the server's host has heard of it; the client asks again. */
static bool is_unnoted(const struct bftm_members *members, const struct bftm_msg *req)
{
	return members && bftm_members_unnoted(members, req);
}

/* The protocol decides, about the lock that is named. */
static void serve_step(const struct bftm_shell *shell, void *arg, struct bftm_server_cfg *cfg,
		       const struct bftm_msg *req, u64 now, struct bftm_sends *ret)
{
	const struct bftm_protocol *protocol = protocol_of(shell, arg, req->proto);
	const struct bftm_members *members;
	void *lock = NULL;
	bool make;
	u32 room;

	if (req->type == BFTM_MSG_TRY && req->lease_ns == BFTM_LEASE_NONE && !cfg->leaseless) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_ACCESS);
		return;
	}
	if (!protocol || is_unserved(protocol, req) ||
	    (req->type == BFTM_MSG_STAMP && shell->may_be_stamped &&
	     !shell->may_be_stamped(arg, req, now))) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_PROTO);
		return;
	}
	if (is_unnoted(members_of(shell, arg), req)) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_UNNOTED);
		return;
	}
	make = protocol->server->creates(cfg, req);
	if (!shell->enter(arg, protocol, req, make, &now, &lock)) {
		ret->reply.type = BFTM_MSG_NONE;
		return;
	}
	/* There may be others since then. */
	members = members_of(shell, arg);
	if (!lock && make) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_LOCKS);
	} else if (!members_again(members, req, cfg)) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_EVICTED);
	} else if (is_unnoted(members, req)) {
		/* It was awaited when it came. */
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_UNNOTED);
	} else {
		room = lock && shell->enlarge && protocol->server->wants_room ?
		       protocol->server->wants_room(cfg, lock, req, now) : 0;
		if (room)
			shell->enlarge(arg, protocol, lock, room);
		protocol->server->step(cfg, lock, req, now, ret);
	}
	if (shell->leave)
		shell->leave(arg, protocol, lock, req, now, ret);
}

/* A member has told of all that it holds; what it had before its boot is over. */
static void serve_sync(const struct bftm_shell *shell, void *arg, const struct bftm_msg *req,
		       struct bftm_msg *reply)
{
	const struct bftm_members *members = members_of(shell, arg);
	const struct bftm_member *m = members ? bftm_members_find(members, req->client) : NULL;

	if (!m) {
		bftm_refuse(req, reply, members ? BFTM_REFUSED_ACCESS : BFTM_REFUSED_PROTO);
		return;
	}
	/* Of its incarnations since that boot nothing: their FREE may be under way. */
	if (!shell->synced(arg, req->client, req->incarnation > m->evicted ?
			   req->incarnation - 1 : m->evicted))
		return;
	*reply = *req;
	reply->type = BFTM_MSG_SYNCED;
}

/* Tells what lists of locks tell. A lock that is not there is not made: nobody has it. */
static void serve_ask(const struct bftm_shell *shell, void *arg, const struct bftm_msg *req,
		      u64 now, struct bftm_sends *ret)
{
	const struct bftm_protocol *protocol = protocol_of(shell, arg, req->proto);
	struct bftm_lock_view view = {};
	struct bftm_msg *reply = &ret->reply;
	void *lock = NULL;

	if (!protocol) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return;
	}
	if (!shell->enter(arg, protocol, req, false, &now, &lock))
		return;
	if (lock)
		protocol->server->describe(lock, &view);
	*reply = *req;
	reply->type = BFTM_MSG_OWNER;
	reply->waiters = view.waiters;
	reply->holders = view.holders;
	reply->token = view.token_max;
	/* A grant that is over, and that no step has taken back yet, is nobody's. */
	if (!view.attempt || now > view.until_ns)
		view = (struct bftm_lock_view){};
	reply->attempt = view.attempt;
	reply->owner = view.client;
	reply->mode = view.mode;
	reply->lease_ns = view.until_ns;
	if (view.attempt && view.until_ns != BFTM_LEASE_NONE)
		reply->lease_ns -= now;
	if (shell->leave)
		shell->leave(arg, protocol, lock, req, now, ret);
}

enum bftm_served bftm_serve(const struct bftm_shell *shell, void *arg,
			    const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
			    u64 now, struct bftm_sends *ret)
{
	struct bftm_server_cfg limits __uninitialized;
	enum bftm_served how;
	bool admit;

	ret->reply.type = BFTM_MSG_NONE;
	ret->reply.flags = 0;
	ret->push.type = BFTM_MSG_NONE;
	ret->granted = false;
	how = bftm_serve_head(shell, arg, cfg, req, now, &limits, &admit, &ret->reply);
	if (admit && req->type == BFTM_MSG_SYNC)
		serve_sync(shell, arg, req, &ret->reply);
	else if (admit && req->type == BFTM_MSG_ASK)
		serve_ask(shell, arg, req, now, ret);
	else if (admit)
		serve_step(shell, arg, &limits, req, now, ret);
	ret->reply.server_epoch = cfg->epoch;
	if (ret->reply.type != BFTM_MSG_FREE)	/* else it may say what its request said */
		ret->reply.flags &= BFTM_FLAG_DEADLOCK;
	return how;
}
