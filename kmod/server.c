// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a server is made by bftm_server_new() and belongs to its namespace
 * (netns.c), whose mutex serialises start, stop and every look from netlink.
 * The receive path reaches it through the sockets' user data under RCU.
 * bftm_server_destroy() closes the sockets, which clears that pointer and waits
 * for a grace period, stops the timers of the table and frees: nobody is left.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "debug.h"
#include "server.h"
#include "socket.h"

void bftm_server_param_default(struct bftm_server_param *p)
{
	memset(p, 0, sizeof(*p));
	p->port = BFTM_PORT_DEFAULT;
	p->lease_max_ns = BFTM_LEASE_MAX_DEFAULT_NS;
	p->rho_ppm = BFTM_RHO_DEFAULT_PPM;
	p->max_locks = BFTM_LOCKS_DEFAULT;
	p->max_clients = BFTM_CLIENTS_DEFAULT;
}

static void server_free(struct bftm_server *server)
{
	if (server->clients.bucket)
		bftm_clients_destroy(&server->clients);
	if (server->locks)
		bftm_locks_destroy(server->locks);
	free_percpu(server->stats);
	bftm_destroyed("server", server);
	kfree_sensitive(server);
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
	server->cfg.cluster = p->cluster;
	server->cfg.id = p->id;
	do {
		server->cfg.epoch = get_random_u64();
	} while (!server->cfg.epoch);	/* 0 is what a client sends at first */

	server->stats = alloc_percpu(struct bftm_stats);
	/* Grant numbers grow over restarts, as long as the wall clock does. */
	server->locks = bftm_locks_new(p->max_locks,
				       (u64)ktime_get_real_seconds() << 32);
	if (!server->stats || !server->locks ||
	    bftm_clients_init(&server->clients, p->max_clients)) {
		NL_SET_ERR_MSG(extack,
			       "no memory for the tables; try a smaller max-locks or max-clients");
		goto err_free;
	}
	server->cfg.lease_max_ns = p->lease_max_ns;
	server->cfg.rho_ppm = p->rho_ppm;
	/*
	 * Whatever was granted before this start is over when this ends. The
	 * clock is read last, and nothing was granted since.
	 */
	server->cfg.quarantine_until_ns =
		max(over_ns, bftm_quarantine(p->lease_max_ns, p->rho_ppm,
					     ktime_get_boottime_ns()));
	err = bftm_sockets_open(server, extack);
	if (err)
		goto err_free;
	return server;

err_free:
	server_free(server);
	return ERR_PTR(err);
}

u64 bftm_server_destroy(struct bftm_server *server)
{
	u64 over;

	bftm_sockets_close(server);
	over = bftm_quarantine(server->param.lease_max_ns,
			       server->param.rho_ppm, ktime_get_boottime_ns());
	server_free(server);
	return over;
}

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

/*
 * Who sent this? Nothing is allocated and no state changes before the tag was
 * found right; a stranger costs a hash or two and gets no answer.
 */
static struct bftm_client *authenticate(struct bftm_server *server,
					const struct bftm_wire *wire,
					const struct bftm_msg *req,
					struct bftm_pair *pair, bool *genuine)
{
	struct bftm_client *c = bftm_client_find(&server->clients, req->client);

	if (c)
		*pair = c->pair;
	else
		bftm_derive(server->param.key, server->param.cluster,
			    server->param.id, req->client, pair);
	*genuine = bftm_tag_ok(pair->request, wire);
	if (*genuine && !c)
		c = bftm_client_add(&server->clients, req->client, pair);
	return c;
}

static void count_reply(struct bftm_server *server, const struct bftm_msg *req,
			const struct bftm_msg *reply)
{
	switch (reply->type) {
	case BFTM_MSG_NONE:
		bftm_count(server, SILENT);
		break;
	case BFTM_MSG_CHALLENGE:
		bftm_count(server, CHALLENGED);
		break;
	case BFTM_MSG_FREE:
		if (req->k > 1)
			bftm_count(server, REFRESHED);
		else
			bftm_count(server, GRANTED);
		break;
	case BFTM_MSG_LOCKED:
		bftm_count(server, LOCKED);
		break;
	case BFTM_MSG_WAIT:
		bftm_count(server, WAITED);
		break;
	case BFTM_MSG_RELEASED:
		bftm_count(server, RELEASED);
		break;
	default:
		bftm_count(server, REFUSED);
	}
}

bool bftm_server_receive(struct bftm_server *server, struct bftm_wire *wire)
{
	u64 now = ktime_get_boottime_ns();
	struct bftm_msg req, reply;
	struct bftm_client *c;
	struct bftm_pair pair;
	bool genuine, answer = false;

	if (bftm_wire_get(wire, sizeof(*wire), &req)) {
		bftm_count(server, BAD_FORM);
		return false;
	}
	if (!bftm_admit_address(&server->cfg, &req)) {
		bftm_count(server, BAD_ADDRESS);
		return false;
	}
	c = authenticate(server, wire, &req, &pair, &genuine);
	if (!genuine) {
		bftm_count(server, BAD_TAG);
		goto out;
	}
	if (!c) {
		bftm_refuse(&req, &reply, BFTM_REFUSED_CLIENTS);
	} else if (!bftm_client_take(c, req.seq, now)) {
		bftm_count(server, REPLAYED);
		goto out;
	} else if (bftm_admit(&server->cfg, &req, now, &reply)) {
		bftm_locks_step(server->locks, &server->cfg, &req, &reply);
	}
	count_reply(server, &req, &reply);
	if (reply.type == BFTM_MSG_NONE)
		goto out;
	reply.server_epoch = server->cfg.epoch;
	reply.flags = 0;
	bftm_wire_put(&reply, wire);
	bftm_sign(pair.reply, wire);
	answer = true;
out:
	memzero_explicit(&pair, sizeof(pair));
	return answer;
}
