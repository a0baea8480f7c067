// SPDX-License-Identifier: GPL-2.0
/*
 * This virtual machine is a copy of an earlier state: its host has restored a snapshot, or made a
 * clone, and announces that by a new generation number (vmgenid). Since the snapshot, its servers
 * may have granted locks and stamped tokens that they do not remember, so they start over, as after
 * a loss of power, and accept no token until they are told which were given. Its programs have
 * leases that may already be over by the clocks of all other hosts, so they lose them. The helper's
 * numbers may be used up.
 *
 * The chain is walked in a process of ACPI's, which may sleep; but in an interrupt where a device
 * tree describes the number (since 6.10), which leaves all to a work.
 *
 * Lifetime: bftm_vmfork_exit() waits for the walk of the chain, which queues the work, and then for
 * the work.
 */
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "client/request.h"
#include "compat.h"
#include "life.h"
#include "netns.h"
#include "vmfork.h"

static int begin_anew(struct bftm_net *bn)
{
	bftm_upcall_forked(bn);
	bftm_netns_restart(bn);
	return 0;
}

/*
 * One run at a time: the end of a run lets a namespace speak again that another run may have
 * silenced.
 */
static DEFINE_MUTEX(forking);

static void fork_work(struct work_struct *work)
{
	mutex_lock(&forking);
	bftm_netns_each(begin_anew);
	mutex_unlock(&forking);
}

static DECLARE_WORK(fork_later, fork_work);

static int forked(struct notifier_block *nb, unsigned long event, void *data)
{
	if (in_task())
		fork_work(&fork_later);
	else
		queue_work(bftm_unbound_wq, &fork_later);
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
	cancel_work_sync(&fork_later);
}
