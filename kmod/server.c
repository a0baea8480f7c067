// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a server is made by bftm_server_new() and belongs to its namespace
 * (netns.c), whose mutex serialises start, stop and every look from netlink.
 * The receive path reaches it through the sockets' user data under RCU, the
 * timers of the table through the table. Both send, also by the other socket.
 *
 * stop() therefore goes in this order: (1) user data is cleared and a grace
 * period waited for, so nobody receives: from now on only timers step, and
 * nobody but a running timer arms one; (2) the timers are cancelled, which waits
 * for the one that may be sending: nobody sends; so is the work of the objects;
 * (3) the sockets are closed.
 * Then nobody but the caller knows the server, and it is freed.
 */
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "clock.h"
#include "debug.h"
#include "server.h"
#include "socket.h"
#include "trace.h"

void bftm_server_param_default(struct bftm_server_param *p)
{
	memset(p, 0, sizeof(*p));
	p->port = BFTM_PORT_DEFAULT;
	p->lease_max_ns = BFTM_LEASE_MAX_DEFAULT_NS;
	p->rho_ppm = BFTM_RHO_DEFAULT_PPM;
	p->max_locks = BFTM_LOCKS_DEFAULT;
	p->max_clients = BFTM_CLIENTS_DEFAULT;
	p->max_waiters = BFTM_WAITERS_DEFAULT;
	p->max_objects = BFTM_OBJECTS_DEFAULT;
	p->max_state = BFTM_STATE_DEFAULT;
	p->object_memory = BFTM_OBJECT_MEMORY_DEFAULT;
}

static void stop(struct bftm_server *server)
{
	bftm_sockets_deafen(server);
	bftm_locks_stop(server->locks);
	bftm_objects_stop(server->objects);
	bftm_sockets_close(server);
}

static void server_free(struct bftm_server *server)
{
	if (server->clients.bucket)
		bftm_clients_destroy(&server->clients);
	if (server->locks)
		bftm_locks_destroy(server->locks);
	if (server->objects) {
		bftm_journal_destroy(server);
		bftm_objects_destroy(server->objects);
	}
	bftm_rules_destroy(rcu_dereference_protected(server->rules, true));
	free_percpu(server->stats);
	bftm_destroyed("server", server);
	kfree_sensitive(server);
}

/*
 * The number below the first grant: seconds of the wall clock, and what there is of the next
 * one in units of 2^-32 s, of which a server does not grant one each. So numbers grow over
 * restarts, two within a second too, as long as the clock does. Those of an attempt that goes
 * on while the clock is set back, or passes 2106, count no more at the server that was
 * restarted then.
 */
static u64 gno_first(void)
{
	struct timespec64 wall;

	ktime_get_real_ts64(&wall);
	return ((u64)wall.tv_sec << 32) + div_u64((u64)wall.tv_nsec << 32, NSEC_PER_SEC);
}

struct bftm_server *bftm_server_new(struct net *net,
				    const struct bftm_server_param *p,
				    u64 over_ns,
				    struct netlink_ext_ack *extack)
{
	struct bftm_server *server;
	int err = -ENOMEM;

	server = kzalloc(sizeof(*server), GFP_KERNEL);
	if (!server)
		return ERR_PTR(-ENOMEM);
	bftm_created("server", server);
	server->net = net;
	server->param = *p;
	server->param.rules = NULL;
	server->cfg.cluster = p->cluster;
	server->cfg.id = p->id;
	do {
		server->cfg.epoch = get_random_u64();
	} while (!server->cfg.epoch);	/* 0 is what a client sends at first */

	server->stats = alloc_percpu(struct bftm_stats);
	server->locks = bftm_locks_new(server, gno_first());
	server->objects = bftm_objects_new(server);
	if (!server->stats || !server->locks || !server->objects ||
	    bftm_journal_new(server) ||
	    bftm_clients_init(&server->clients, p->max_clients)) {
		NL_SET_ERR_MSG(extack,
			       "no memory for the tables; try a smaller max-locks, max-clients or max-objects");
		goto err_free;
	}
	server->cfg.lease_max_ns = p->lease_max_ns;
	server->cfg.rho_ppm = p->rho_ppm;
	server->cfg.waiters_max = p->max_waiters;
	spin_lock_init(&server->token_lock);
	server->begun_ns = bftm_clock_ns();
	server->tokens.floor = p->floor_known ? p->token_floor : BFTM_TOKEN_UNKNOWN;
	/*
	 * Whatever was granted before this start is over when this ends. The
	 * clock is read last, and nothing was granted since.
	 */
	server->cfg.quarantine_until_ns =
		max(over_ns, bftm_quarantine(p->lease_max_ns, p->rho_ppm,
					     bftm_clock_ns()));
	/* Before the first datagram: it is decided by them. */
	RCU_INIT_POINTER(server->rules, p->rules);
	err = bftm_sockets_open(server, extack);
	if (err)
		goto err_rules;
	return server;

err_rules:
	stop(server);	/* one socket may be open, and at work */
	RCU_INIT_POINTER(server->rules, NULL);	/* they stay the caller's */
err_free:
	server_free(server);
	return ERR_PTR(err);
}

u64 bftm_server_destroy(struct bftm_server *server)
{
	u64 over;

	stop(server);
	over = bftm_quarantine(server->param.lease_max_ns,
			       server->param.rho_ppm, bftm_clock_ns());
	server_free(server);
	return over;
}

struct bftm_server *bftm_server_again(struct bftm_server *old, u64 *over_ns)
{
	struct bftm_server_param p = old->param;
	struct net *net = old->net;
	struct bftm_server *server;

	stop(old);
	*over_ns = max(*over_ns, bftm_quarantine(p.lease_max_ns, p.rho_ppm, bftm_clock_ns()));
	p.rules = rcu_replace_pointer(old->rules, NULL, true);
	/* Nobody knows which tokens were stamped, nor what the journal's file should have. */
	p.floor_known = false;
	p.durability = BFTMUTEX_DURABILITY_NONE;
	p.journal_id = 0;
	server_free(old);
	server = bftm_server_new(net, &p, *over_ns, NULL);
	if (IS_ERR(server))
		bftm_rules_destroy(p.rules);
	memzero_explicit(&p, sizeof(p));
	return server;
}

struct bftm_client *bftm_server_authenticate(struct bftm_server *server, const void *buf,
					     size_t len, u32 client, struct bftm_pair *pair,
					     bool *genuine)
{
	struct bftm_client *c = bftm_client_find(&server->clients, client);

	if (c)
		*pair = c->pair;
	else
		bftm_derive(server->param.key, server->param.cluster,
			    server->param.id, client, pair);
	*genuine = bftm_tag_ok(pair->request, buf, len);
	if (*genuine && !c)
		c = bftm_client_add(&server->clients, client, pair);
	return c;
}

u64 bftm_server_floor(struct bftm_server *server)
{
	u64 floor;

	spin_lock_bh(&server->token_lock);
	floor = server->tokens.floor;
	spin_unlock_bh(&server->token_lock);
	return floor;
}

void bftm_server_stamped(struct bftm_server *server, u64 token)
{
	spin_lock(&server->token_lock);
	bftm_tokens_stamped(&server->tokens, token);
	spin_unlock(&server->token_lock);
}

static u64 wall_ns(void)
{
	return ktime_get_real_seconds() * BFTM_NS_PER_SEC;
}

/* Said now and then, however often it happens. */
#define CLOCK_SAID_AGAIN_NS	(600 * BFTM_NS_PER_SEC)

void bftm_server_answer_tokens(struct bftm_server *server, const struct bftm_msg *req,
			       u64 now, struct bftm_msg *reply)
{
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

static bool may_be_stamped(struct bftm_server *server, const struct bftm_msg *req, u64 now)
{
	bool may_be;

	spin_lock(&server->token_lock);
	may_be = bftm_tokens_may_be(&server->tokens, req->token, wall_ns(),
				    now - server->begun_ns);
	spin_unlock(&server->token_lock);
	return may_be;
}

/* Return: true when the lock was granted anew. */
static bool decide(struct bftm_server *server, struct bftm_client *c,
		   const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		   struct bftm_msg *push)
{
	const struct bftm_rules *rules = rcu_dereference(server->rules);
	const struct bftm_server_cfg *cfg = &server->cfg;
	struct bftm_server_cfg narrowed;

	if (rules) {
		narrowed = server->cfg;
		if (!bftm_access_admit(rules->rule, rules->count, req, &narrowed, reply))
			return false;
		cfg = &narrowed;
	}
	if (!bftm_admit(&server->cfg, req, now, reply)) {
		bftm_server_answer_tokens(server, req, now, reply);
		return false;
	}
	if (req->type == BFTM_MSG_STAMP && !may_be_stamped(server, req, now)) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return false;
	}
	return bftm_locks_step(server->locks, cfg, c, req, reply, push);
}

/* A hundred times a second at most, whoever sends what was recorded. */
static bool tell_behind(struct bftm_server *server, struct bftm_client *c,
			const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	bool tell;

	if (!bftm_client_behind(c, req, reply))
		return false;
	spin_lock(&server->token_lock);
	tell = now >= server->behind_say_ns;
	if (tell)
		server->behind_say_ns = now + BFTM_NS_PER_SEC / 100;
	spin_unlock(&server->token_lock);
	return tell;
}

bool bftm_server_receive(struct bftm_server *server, struct bftm_wire *wire,
			 const struct bftm_address *from, struct bftm_msg *push)
{
	u64 now = bftm_clock_ns();
	bool genuine, granted = false, answer = false;
	struct bftm_msg req, reply;
	struct bftm_client *c;
	struct bftm_pair pair;

	push->type = BFTM_MSG_NONE;
	if (bftm_wire_get(wire, sizeof(*wire), &req)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	if (!bftm_admit_address(&server->cfg, &req)) {
		bftm_count(server, BAD_ADDRESS);
		return false;
	}
	c = bftm_server_authenticate(server, wire, sizeof(*wire), req.client, &pair,
				     &genuine);
	if (!genuine) {
		bftm_count(server, BAD_TAG);
		goto out;
	}
	if (!c) {
		bftm_refuse(&req, &reply, BFTM_REFUSED_CLIENTS);
	} else if (!bftm_client_take(c, req.seq, now,
				     req.server_epoch == server->cfg.epoch ? from : NULL)) {
		bftm_count(server, REPLAYED);
		if (!tell_behind(server, c, &req, now, &reply))
			goto out;
	} else {
		granted = decide(server, c, &req, now, &reply, push);
	}
	bftm_server_note(server, &req, &reply, push, granted);
	if (reply.type == BFTM_MSG_NONE)
		goto out;
	reply.server_epoch = server->cfg.epoch;
	reply.flags = 0;
	bftm_wire_put(&reply, wire);
	bftm_sign(pair.reply, wire, sizeof(*wire));
	answer = true;
out:
	memzero_explicit(&pair, sizeof(pair));
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
