// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a server is made by bftm_server_new() and belongs to its namespace
 * (life.c), whose mutex serialises start, stop and every look from netlink.
 * The receive path reaches it through the sockets' user data under RCU, the
 * timers of the table through the table. Both send, also by the other socket.
 *
 * server_stop() therefore goes in this order: (1) the hook at a device is removed, user data is
 * cleared and a grace period waited for, so nobody receives: from now on only timers step, and
 * nobody but a running timer arms one; (2) the timers are cancelled, which waits
 * for the one that may be sending: nobody sends; so is the work of the objects;
 * (3) the sockets are closed.
 * Then nobody but the caller knows the server, and it is freed.
 */
#include <linux/math64.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "debug.h"
#include "server/ingress.h"
#include "server/server.h"
#include "server/service.h"
#include "server/socket.h"
#include "time/clock.h"

void bftm_server_param_default(struct bftm_server_param *p)
{
	memset(p, 0, sizeof(*p));
	p->port = BFTM_PORT_DEFAULT;
	p->lease_max_ns = BFTM_LEASE_MAX_DEFAULT_NS;
	p->rho_ppm = BFTM_RHO_DEFAULT_PPM;
	p->max_locks = BFTM_LOCKS_DEFAULT;
	p->max_clients = BFTM_CLIENTS_DEFAULT;
	p->max_waiters = BFTM_WAITERS_DEFAULT;
	p->max_holders = BFTM_HOLDERS_DEFAULT;
	p->max_objects = BFTM_OBJECTS_DEFAULT;
	p->max_state = BFTM_STATE_DEFAULT;
	p->object_memory = BFTM_OBJECT_MEMORY_DEFAULT;
}

static void server_stop(struct bftm_server *server)
{
	int i;

	bftm_sockets_deafen(server);
	for (i = 0; i < BFTM_SERVICES; i++)
		bftm_services[i]->stop(server);
	bftm_sockets_close(server);
}

static void server_free(struct bftm_server *server)
{
	int i;

	if (server->clients.bucket)
		bftm_clients_destroy(&server->clients);
	for (i = 0; i < BFTM_SERVICES; i++)
		bftm_services[i]->destroy(server);
	bftm_rules_destroy(rcu_dereference_protected(server->rules, true));
	free_percpu(server->stats);
	bftm_destroyed("server", server);
	kfree_sensitive(server);
}

/*
 * The number below that of the first grant: the wall clock, in units of 2^-32 s. A server makes
 * fewer grants than one in each unit, so numbers grow over restarts, even over two within a second,
 * as long as the clock does. If the clock is set back, or passes 2106, an attempt that goes on
 * meanwhile does not count grants of the server that was restarted then any more.
 */
static u64 gno_first(void)
{
	struct timespec64 wall;

	ktime_get_real_ts64(&wall);
	return ((u64)wall.tv_sec << 32) + div_u64((u64)wall.tv_nsec << 32, NSEC_PER_SEC);
}

/* Return: 0 or -ENOMEM; then some may be there. */
static int services_start(struct bftm_server *server)
{
	u64 gno = gno_first();
	int i, err = 0;

	for (i = 0; i < BFTM_SERVICES && !err; i++)
		err = bftm_services[i]->start(server, gno);
	return err;
}

bool bftm_server_recovers(const struct bftm_server *server, const struct bftm_msg *msg)
{
	const struct bftm_rules *rules;
	bool recovers;

	rcu_read_lock();
	rules = rcu_dereference(server->rules);
	recovers = rules && bftm_published(rules->members.awaited) &&
		   bftm_access_leaseless(rules->rule, rules->count, msg);
	rcu_read_unlock();
	return recovers;
}

void bftm_server_lengthen(struct bftm_server *server, const struct bftm_rules *rules)
{
	server->longest_ns = max(server->longest_ns,
				 bftm_members_lease(&rules->members, server->param.lease_max_ns));
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
	if (!server->stats || services_start(server) ||
	    bftm_clients_init(&server->clients, p->max_clients)) {
		NL_SET_ERR_MSG(extack,
			       "no memory for the tables; try a smaller max-locks, max-clients or max-objects");
		goto err_free;
	}
	server->cfg.lease_max_ns = p->lease_max_ns;
	server->cfg.rho_ppm = p->rho_ppm;
	server->cfg.waiters_max = p->max_waiters;
	server->cfg.holders_max = p->max_holders;
	server->cfg.spared = p->no_quarantine;
	spin_lock_init(&server->token_lock);
	spin_lock_init(&server->members_lock);
	server->longest_ns = p->lease_max_ns;
	if (p->rules) {
		bftm_rules_begin(p->rules, p->roll, p->roll_unknown);
		bftm_server_lengthen(server, p->rules);
	}
	server->begun_ns = bftm_clock_ns();
	server->tokens.floor = p->floor_known ? p->token_floor : BFTM_TOKEN_UNKNOWN;
	/*
	 * Each grant from before this start is over when this quarantine ends. The
	 * clock is read last, and nothing was granted since.
	 */
	server->cfg.quarantine_until_ns =
		max(over_ns, bftm_quarantine(server->longest_ns, p->rho_ppm,
					     bftm_clock_ns()));
	/* Before the first datagram: it is decided by them. */
	RCU_INIT_POINTER(server->rules, p->rules);
	err = bftm_sockets_open(server, extack);
	if (err)
		goto err_rules;
	return server;

err_rules:
	server_stop(server);	/* one socket may be open, and at work */
	RCU_INIT_POINTER(server->rules, NULL);	/* they stay the caller's */
err_free:
	server_free(server);
	return ERR_PTR(err);
}

u64 bftm_server_destroy(struct bftm_server *server)
{
	u64 over;

	server_stop(server);
	over = bftm_quarantine(server->longest_ns, server->param.rho_ppm, bftm_clock_ns());
	server_free(server);
	return over;
}

struct bftm_server *bftm_server_again(struct bftm_server *old, u64 *over_ns)
{
	struct bftm_server_param p = old->param;
	struct net *net = old->net;
	struct bftm_server *server;

	server_stop(old);
	*over_ns = max(*over_ns, bftm_quarantine(old->longest_ns, p.rho_ppm, bftm_clock_ns()));
	p.rules = rcu_replace_pointer(old->rules, NULL, true);
	/* Nobody knows which tokens were stamped, nor what the journal's file should have. */
	p.floor_known = false;
	p.durability = BFTMUTEX_DURABILITY_NONE;
	p.journal_id = 0;
	/* Nor what members hold: nothing is granted without a lease before a start by the roll. */
	p.roll = p.roll ? BFTM_ROLL_LOST : 0;
	p.roll_unknown = true;
	p.ingress_later = true;
	server_free(old);
	server = bftm_server_new(net, &p, *over_ns, NULL);
	if (IS_ERR(server) && *p.ingress) {
		*p.ingress = 0;		/* a device of that name may take no hook by now */
		server = bftm_server_new(net, &p, *over_ns, NULL);
	}
	if (IS_ERR(server))
		bftm_rules_destroy(p.rules);
	memzero_explicit(&p, sizeof(p));
	return server;
}

u64 bftm_server_floor(struct bftm_server *server)
{
	u64 floor;

	spin_lock_bh(&server->token_lock);
	floor = server->tokens.floor;
	spin_unlock_bh(&server->token_lock);
	return floor;
}
