// SPDX-License-Identifier: GPL-2.0
/*
 * The shell around the cores when a datagram has come, whatever it is about.
 *
 * Nothing is allocated and no state changes before the tag was found right; a
 * stranger costs a hash or two and gets no answer.
 */
#include <linux/ktime.h>

#include "server/receive.h"
#include "time/clock.h"

/* A member has a place in any case: without its SYNC a server recovers for ever. */
static u32 places_for(const struct bftm_server *server, u32 client)
{
	const struct bftm_rules *rules = rcu_dereference(server->rules);

	return rules && bftm_members_find(&rules->members, client) ? rules->members.count : 0;
}

enum bftm_sender bftm_received_sender(void *arg, const struct bftm_msg *req)
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
	r->client = c ?: bftm_client_add(&server->clients, req->client, &r->pair,
					 places_for(server, req->client));
	return r->client ? BFTM_SENDER_GENUINE : BFTM_SENDER_CROWDED;
}

bool bftm_received_take(void *arg, const struct bftm_msg *req)
{
	struct bftm_received *r = arg;
	bool ours = req->server_epoch == r->server->cfg.epoch;

	if (bftm_client_take(r->client, req->seq, r->now, ours ? r->from : NULL))
		return true;
	bftm_count(r->server, REPLAYED);
	return false;
}

/* A hundred times a second at most: a recorded HELLO may be sent again by anybody. */
bool bftm_received_behind(void *arg, const struct bftm_msg *req, struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	bool tell;

	if (!bftm_client_behind(r->client, req, reply))
		return false;
	spin_lock(&server->token_lock);
	tell = r->now >= server->behind_say_ns;
	if (tell)
		server->behind_say_ns = r->now + BFTM_NS_PER_SEC / 100;
	spin_unlock(&server->token_lock);
	return tell;
}

bool bftm_received_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			  struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	const struct bftm_rules *rules = rcu_dereference(r->server->rules);

	if (rules && !bftm_access_admit(rules->rule, rules->count, req, cfg, reply))
		return false;
	/* While it is asked whether other rules will do; the client repeats such a request. */
	if (req->type == BFTM_MSG_TRY && req->lease_ns == BFTM_LEASE_NONE &&
	    READ_ONCE(r->server->rules_settle)) {
		reply->type = BFTM_MSG_NONE;
		return false;
	}
	return true;
}

static u64 wall_ns(void)
{
	return ktime_get_real_seconds() * BFTM_NS_PER_SEC;
}

/* Said now and then, however often it happens. */
#define CLOCK_SAID_AGAIN_NS	(600 * BFTM_NS_PER_SEC)

void bftm_received_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct bftm_received *r = arg;
	struct bftm_server *server = r->server;
	bool told, say = false;
	u64 before;

	spin_lock(&server->token_lock);
	before = server->tokens.floor;
	bftm_tokens_answer(&server->tokens, &server->cfg, req, now, wall_ns(), reply);
	told = server->tokens.floor != before;
	if (reply->type == BFTM_MSG_REFUSED && reply->arg == BFTM_REFUSED_CLOCK &&
	    now >= server->clock_say_ns) {
		server->clock_say_ns = now + CLOCK_SAID_AGAIN_NS;
		say = true;
	}
	spin_unlock(&server->token_lock);
	if (told)
		bftm_count(server, RECOVERED);
	if (say)
		pr_warn("bftmutex: server %u: client %u tells of fencing token %llu, above the wall clock of this host (%lld s since 1970): the server accepts no token until that clock is right, or it is started with --token-floor\n",
			server->cfg.id, req->client, req->token, ktime_get_real_seconds());
}

bool bftm_received_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
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

bool bftm_server_dropped(struct bftm_server *server, enum bftm_served how)
{
	if (how == BFTM_NOT_FOR_US)
		bftm_count(server, BAD_ADDRESS);
	else if (how == BFTM_NOT_GENUINE)
		bftm_count(server, BAD_TAG);
	return how != BFTM_SERVED;
}
