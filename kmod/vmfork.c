// SPDX-License-Identifier: GPL-2.0
/*
 * This virtual machine is a copy of an earlier state: its host has restored a snapshot, or made a
 * clone, and announces that by a new generation number (vmgenid). Since the snapshot, its servers
 * may have granted locks and stamped tokens that they do not remember, so they start over, as after
 * a loss of power, and accept no token until they are told which were given. Its programs have
 * leases that may already be over by the clocks of all other hosts, so they lose them. The helper's
 * numbers may be used up.
 *
 * Lifetime: the chain is walked in a process, of ACPI's for instance, which may sleep, and
 * bftm_vmfork_exit() waits for that.
 */
#include <linux/mutex.h>
#include <linux/random.h>

#include "client/request.h"
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

static int forked(struct notifier_block *nb, unsigned long event, void *data)
{
	mutex_lock(&forking);
	bftm_netns_each(begin_anew);
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
