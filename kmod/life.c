// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an open handle holds a reference to its namespace, netlink requests run on a socket of
 * it, so neither outlives the namespace. At the end of a namespace this file stops its server, and
 * frees requests that no helper fetched. A netlink socket that closes holds its namespace, so the
 * path to the helper exists as long as it can be used.
 */
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "client/request.h"
#include "client/session.h"
#include "compat.h"
#include "debug.h"
#include "life.h"
#include "locks/locks.h"
#include "netns.h"
#include "objects/objects.h"
#include "power.h"
#include "server/server.h"
#include "server/service.h"

const struct bftm_service *const bftm_services[BFTM_SERVICES] = {
	[BFTM_SERVICE_LOCKS] = &bftm_lock_service,
	[BFTM_SERVICE_OBJECTS] = &bftm_object_service,
};

/* Every namespace of the host has these structures, though few use them. */
#ifdef BFTM_USUAL_LOCKS
static_assert(sizeof(struct bftm_net) + sizeof(struct bftm_upcall) <= 640);
#endif

static bool unloading;	/* before the namespaces are told */

int bftm_netns_start(struct bftm_net *bn, const struct bftm_server_param *p,
		     struct netlink_ext_ack *extack)
{
	struct bftm_server *server;
	int err = 0;

	if (!bftm_power_begin()) {
		NL_SET_ERR_MSG(extack, "this machine is about to sleep");
		return -EBUSY;
	}
	mutex_lock(&bn->mutex);
	if (bn->server) {
		NL_SET_ERR_MSG(extack, "a server runs in this network namespace");
		err = -EEXIST;
		goto out;
	}
	server = bftm_server_new(bn->net, p, bn->over_ns, extack);
	if (IS_ERR(server)) {
		err = PTR_ERR(server);
		goto out;
	}
	down_write(&bn->life);
	bn->server = server;
	up_write(&bn->life);
out:
	mutex_unlock(&bn->mutex);
	bftm_power_end();
	return err;
}

int bftm_netns_stop(struct bftm_net *bn, u16 id, struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&bn->mutex);
	if (!bn->server) {
		NL_SET_ERR_MSG(extack, "no server runs in this network namespace");
		err = -ENOENT;
	} else if (id && id != bn->server->param.id) {
		NL_SET_ERR_MSG(extack, "the server of this network namespace has another id");
		err = -ENOENT;
	} else {
		u64 over;

		down_write(&bn->life);
		over = bftm_server_destroy(bn->server);
		/* The next server may have a shorter longest lease. */
		bn->over_ns = max(bn->over_ns, over);
		/*
		 * Code that sees without the mutex that the server is gone also sees @over_ns:
		 * power.c.
		 */
		smp_store_release(&bn->server, NULL);
		up_write(&bn->life);
	}
	mutex_unlock(&bn->mutex);
	return err;
}

void bftm_netns_restart(struct bftm_net *bn)
{
	struct bftm_server *server;
	u16 id;

	mutex_lock(&bn->mutex);
	if (!bn->server)
		goto out;
	/* Code of power.c, on the way to sleep, sees a server all the time. */
	down_write(&bn->life);
	id = bn->server->param.id;
	server = bftm_server_again(bn->server, &bn->over_ns);
	if (IS_ERR(server))
		pr_err("bftmutex: server %u has ended: this virtual machine was cloned or set back, and the server could not begin anew (error %ld)\n",
		       id, PTR_ERR(server));
	else
		pr_warn("bftmutex: server %u has begun anew, %s quarantine, without its journal and without tokens: this virtual machine was cloned or set back\n",
			id, server->param.no_quarantine ? "without a" : "in");
	/* As in bftm_netns_stop(). */
	smp_store_release(&bn->server, IS_ERR(server) ? NULL : server);
	up_write(&bn->life);
out:
	mutex_unlock(&bn->mutex);
}

static int __net_init netns_init(struct net *net)
{
	struct bftm_net *bn = bftm_net(net);

	bn->upcall = kzalloc(sizeof(*bn->upcall), GFP_KERNEL);
	if (!bn->upcall)
		return -ENOMEM;
	bn->net = net;
	mutex_init(&bn->mutex);
	init_rwsem(&bn->life);
	mutex_init(&bn->session_mutex);
	bftm_upcall_init(bn);
	bftm_created("netns", bn);
	return 0;
}

/*
 * Somebody who deletes a namespace, or unloads the module, may not know that a server runs there.
 */
static void end_server(struct bftm_net *bn)
{
	bool forgetful = bn->server->param.no_quarantine;
	u16 id = bn->server->param.id;

	bftm_server_destroy(bn->server);
	bn->server = NULL;
	pr_warn("bftmutex: server %u has ended with %s: what it granted is forgotten here, and the next start %s\n",
		id, unloading ? "the module, which is unloaded" : "its network namespace",
		forgetful ? "counts among those without a quarantine" : "begins in quarantine");
}

static void __net_exit netns_exit(struct net *net)
{
	struct bftm_net *bn = bftm_net(net);

	if (bn->server)
		end_server(bn);
	bftm_session_revoke(bn, NULL, 0);
	bftm_upcall_destroy(bn->upcall);
	kfree(bn->upcall);
	bftm_destroyed("netns", bn);
}

static struct pernet_operations netns_ops = {
	.init = netns_init,
	.exit = netns_exit,
	.id = &bftm_net_id,
	.size = sizeof(struct bftm_net),
};

int bftm_netns_init(void)
{
	return register_pernet_subsys(&netns_ops);
}

void bftm_netns_exit(void)
{
	unloading = true;
	unregister_pernet_subsys(&netns_ops);
}
