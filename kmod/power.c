// SPDX-License-Identifier: GPL-2.0
/*
 * The machine goes to sleep. If its clock source stops meanwhile, the kernel gets the time asleep
 * from a real-time clock, if there is one; most of these have whole seconds only, so the clock of
 * leases is wrong by up to seconds afterwards. Therefore no lease outlives a sleep: locks that are
 * held here are lost before it, and reports that the helper was about to make are refused; the
 * helper starts its own work over. A machine with a server, on whose clock other hosts rely, does
 * not sleep.
 */
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <linux/suspend.h>
#include <net/net_namespace.h>

#include "client/request.h"
#include "netns.h"
#include "power.h"
#include "time/clock.h"

/* Guards @sleeping against servers and helpers that begin; none may begin during a sleep. */
static DECLARE_RWSEM(power_lock);
static bool sleeping;
static u64 asleep_since_ns;

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
		any |= !!smp_load_acquire(&bftm_net(net)->server);	/* over_ns is known then */
	up_read(&net_rwsem);
	return any;
}

static int wake_one(struct bftm_net *bn)
{
	/*
	 * The time asleep does not count for grants of a server that was stopped before. No
	 * other code uses @over_ns while there is no server and none can begin.
	 */
	if (bn->over_ns > asleep_since_ns)
		bn->over_ns += bftm_clock_ns() - asleep_since_ns;
	bftm_upcall_resume(bn);
	return 0;
}

static void wake_up_again(void)
{
	bftm_netns_each(wake_one);
	set_sleeping(false);
}

static int fall_asleep(void)
{
	int err;

	set_sleeping(true);
	if (any_server()) {
		set_sleeping(false);
		pr_warn("bftmutex: a lock server runs here, so this machine does not sleep; \"bftmutexctl server stop\" ends the server\n");
		return -EBUSY;
	}
	asleep_since_ns = bftm_clock_ns();
	err = bftm_netns_each(bftm_upcall_suspend);
	if (err)
		wake_up_again();
	return err;
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
	/* Not while the machine goes to sleep: the notifier would miss that sleep. */
	unsigned int flags = lock_system_sleep();
	int err = register_pm_notifier(&power_events);

	unlock_system_sleep(flags);
	return err;
}

void bftm_power_exit(void)
{
	unregister_pm_notifier(&power_events);
}
