// SPDX-License-Identifier: GPL-2.0
/*
 * The machine goes to sleep. Where its clock source stops meanwhile, the kernel learns how
 * long from a real-time clock, which most have in whole seconds only: the clock of leases
 * may be wrong by one then. So nothing that it counts outlives a sleep. What is held here is
 * lost before, and what the helper was about to report comes to nobody; a machine with a
 * server, which counts for others, does not sleep.
 */
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <linux/suspend.h>
#include <net/net_namespace.h>

#include "handle.h"
#include "netns.h"
#include "power.h"

/* Grants of a server that was stopped before, as it ought to be, are over so much later. */
#define ALLOWANCE_NS (2 * BFTM_NS_PER_SEC)

/* Guards @sleeping against who begins what must not be there then. */
static DECLARE_RWSEM(power_lock);
static bool sleeping;

bool bftm_power_begin(void)
{
	down_read(&power_lock);
	if (!sleeping)
		return true;
	up_read(&power_lock);
	return false;
}

void bftm_power_end(void)
{
	up_read(&power_lock);
}

static void set_sleeping(bool now)
{
	down_write(&power_lock);
	sleeping = now;
	up_write(&power_lock);
}

static bool any_server(void)
{
	struct net *net;
	bool any = false;

	down_read(&net_rwsem);
	for_each_net(net)
		any |= !!READ_ONCE(bftm_net(net)->server);
	up_read(&net_rwsem);
	return any;
}

static int fall_asleep(void)
{
	struct net *net;

	set_sleeping(true);
	if (any_server()) {
		set_sleeping(false);
		pr_warn("bftmutex: a lock server runs here, so this machine does not sleep; \"bftmutexctl server stop\" ends it\n");
		return -EBUSY;
	}
	down_read(&net_rwsem);
	for_each_net(net) {
		/* Nobody else looks at it while there is no server and none begins. */
		bftm_net(net)->over_ns += ALLOWANCE_NS;
		bftm_upcall_suspend(bftm_net(net));
	}
	up_read(&net_rwsem);
	return 0;
}

static void wake_up_again(void)
{
	struct net *net;

	set_sleeping(false);
	down_read(&net_rwsem);
	for_each_net(net)
		bftm_upcall_resume(bftm_net(net));
	up_read(&net_rwsem);
}

static int power_event(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		return notifier_from_errno(fall_asleep());
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		wake_up_again();
	}
	return NOTIFY_DONE;
}

static struct notifier_block power_events = {
	.notifier_call = power_event,
};

int bftm_power_init(void)
{
	return register_pm_notifier(&power_events);
}

void bftm_power_exit(void)
{
	unregister_pm_notifier(&power_events);
}
