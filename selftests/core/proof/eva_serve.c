// SPDX-License-Identifier: GPL-2.0
// prove: memory all_served bftm_serve_head: every request, whatever the surroundings say, with and without each of them
// frama-c: -eva-precision 0 -eva-min-loop-unroll 7 -eva-slevel 3000 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality
#include "any_moves.h"
#include "core/admit.c"
#include "core/backoff/value.c"
#include "core/backoff/settle.c"
#include "core/backoff/try.c"
#include "core/backoff/server.c"
#include "core/backoff/protocol.c"
#include "protocols.c"
#include "core/members.c"
#include "core/serve.c"

static struct bftm_lock one;

static enum bftm_sender sender(void *arg, const struct bftm_msg *req)
{
	return (enum bftm_sender)any_from(0, BFTM_SENDER_CROWDED);
}

static bool take(void *arg, const struct bftm_msg *req)
{
	return any_bool();
}

static bool behind(void *arg, const struct bftm_msg *req, struct bftm_msg *reply)
{
	*reply = any_request();
	return any_bool();
}

static bool permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
		   struct bftm_msg *reply)
{
	*reply = any_request();
	return any_bool();
}

static void tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	*reply = any_request();
}

static bool may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
{
	return any_bool();
}

static const struct bftm_protocol *protocol(void *arg, u8 number)
{
	return bftm_protocol_of(number);
}

static bool enter(void *arg, const struct bftm_protocol *p, const struct bftm_msg *req,
		  bool make, u64 *now, void **ret)
{
	*now = ANY_TIME;
	*ret = &one;
	if (any_bool() && make)
		*ret = NULL;
	return any_bool();
}

static void enlarge(void *arg, const struct bftm_protocol *p, void *lock, u32 waiters)
{
}

static void leave(void *arg, const struct bftm_protocol *p, void *lock,
		  const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
}

/* None, or up to four. */
static const struct bftm_members *members(void *arg)
{
	static struct bftm_member member[4];
	static struct bftm_members all = { .member = member };
	int i;

	any(member);
	for (i = 0; i < 4; i++)
		member[i].awaited = any_bool();
	all.count = (u32)any_from(0, 4);
	all.awaited = (u32)any_from(0, 4);
	return &all;
}

static bool synced(void *arg, u32 client, u32 incarnation)
{
	return any_bool();
}

void all_served(void)
{
	struct bftm_server_cfg cfg = any_server(), limits;
	struct bftm_shell shell = {
		.sender = any_bool() ? sender : NULL,
		.members = any_bool() ? members : NULL,
		.synced = synced,
		.take = any_bool() ? take : NULL,
		.behind = any_bool() ? behind : NULL,
		.permit = any_bool() ? permit : NULL,
		.tokens = any_bool() ? tokens : NULL,
		.may_be_stamped = any_bool() ? may_be_stamped : NULL,
		.protocol = any_bool() ? protocol : NULL,
		.enter = enter,
		.enlarge = any_bool() ? enlarge : NULL,
		.leave = any_bool() ? leave : NULL,
	};
	struct bftm_msg req = any_request(), reply;
	bool admit;

	one = any_lock();
	bftm_serve_head(&shell, NULL, &cfg, &req, ANY_TIME, &limits, &admit, &reply);
}
