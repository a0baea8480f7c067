// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/serve.h"

enum bftm_served bftm_serve_head(const struct bftm_shell *shell, void *arg,
				 const struct bftm_server_cfg *cfg, const struct bftm_msg *head,
				 u64 now, struct bftm_server_cfg *limits, bool *admit,
				 struct bftm_msg *reply)
{
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
	if (shell->take && !shell->take(arg, head))
		return shell->behind && shell->behind(arg, head, reply) ? BFTM_SERVED :
									  BFTM_NOT_NEW;
	*limits = *cfg;
	if (shell->permit && !shell->permit(arg, head, limits, reply))
		return BFTM_SERVED;
	*admit = bftm_admit(cfg, head, now, reply);
	if (!*admit && shell->tokens)
		shell->tokens(arg, head, now, reply);
	return BFTM_SERVED;
}

/* What the protocol says, of the lock that is named. */
static void serve_step(const struct bftm_shell *shell, void *arg, const struct bftm_server_cfg *cfg,
		       const struct bftm_msg *req, u64 now, struct bftm_sends *ret)
{
	const struct bftm_protocol *protocol = shell->protocol ?
		shell->protocol(arg, req->proto) : bftm_protocol_of(req->proto);
	void *lock = NULL;
	bool make;
	u32 room;

	if (!protocol || (req->type == BFTM_MSG_STAMP && shell->may_be_stamped &&
			  !shell->may_be_stamped(arg, req, now))) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_PROTO);
		return;
	}
	make = protocol->server->creates(cfg, req);
	if (!shell->enter(arg, protocol, req, make, &now, &lock)) {
		ret->reply.type = BFTM_MSG_NONE;
		return;
	}
	if (!lock && make) {
		bftm_refuse(req, &ret->reply, BFTM_REFUSED_LOCKS);
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

enum bftm_served bftm_serve(const struct bftm_shell *shell, void *arg,
			    const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
			    u64 now, struct bftm_sends *ret)
{
	struct bftm_server_cfg limits;
	enum bftm_served how;
	bool admit;

	ret->reply.type = BFTM_MSG_NONE;
	ret->push.type = BFTM_MSG_NONE;
	ret->granted = false;
	how = bftm_serve_head(shell, arg, cfg, req, now, &limits, &admit, &ret->reply);
	if (admit)
		serve_step(shell, arg, &limits, req, now, ret);
	ret->reply.server_epoch = cfg->epoch;
	ret->reply.flags = 0;
	return how;
}
