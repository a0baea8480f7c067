// SPDX-License-Identifier: GPL-2.0
/*
 * This virtual machine is a copy of what it was: its host has restored a snapshot, or made a
 * clone, and tells it so by a new generation number (vmgenid). It remembers a past that went on
 * without it. Its servers have granted and stamped what they do not know of, so they begin anew,
 * as after a loss of power, and accept no token until they are told. Its programs have leases
 * that may be over by every clock but this one's, so they lose them, and the helper has numbers
 * that may be used up.
 *
 * Lifetime: the chain is walked in a process, of ACPI's for instance, which may sleep, and
 * bftm_vmfork_exit() waits for that. A namespace is kept by a reference while it is seen to:
 * without the lock of the list, in which rtnl must not be waited for. It stays in the list
 * until it has no reference, and whoever takes it out then waits for that lock.
 */
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <net/net_namespace.h>

#include "client/request.h"
#include "life.h"
#include "vmfork.h"

static void begin_anew(struct bftm_net *bn)
{
	bftm_upcall_forked(bn);
	bftm_netns_restart(bn);
}

/* One run at a time: its end lets a namespace speak, which another may have silenced. */
static DEFINE_MUTEX(forking);

static int forked(struct notifier_block *nb, unsigned long event, void *data)
{
	struct net *net;

	mutex_lock(&forking);
	down_read(&net_rwsem);
	for_each_net(net) {
		/* One that ends answers nobody and has no programs. */
		if (!maybe_get_net(net))
			continue;
		up_read(&net_rwsem);
		begin_anew(bftm_net(net));
		down_read(&net_rwsem);
		put_net(net);
	}
	up_read(&net_rwsem);
	mutex_unlock(&forking);
	return NOTIFY_DONE;
}

static struct notifier_block fork_events = {
	.notifier_call = forked,
};

int bftm_vmfork_init(void)
{
	return register_random_vmfork_notifier(&fork_events);
}

void bftm_vmfork_exit(void)
{
	unregister_random_vmfork_notifier(&fork_events);
}
