// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: a processor stands still where it begins a function, as one of a virtual
 * machine may at any time, until somebody lets it go on or five seconds are over.
 *
 *	insmod stall.ko function=bftmutex:bftm_locks_step
 *	echo 1 > /sys/module/stall/parameters/armed     the next one that comes stands
 *	echo 0 > /sys/module/stall/parameters/stands    it goes on
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#define PATIENCE_MS 5000

static char *function;
module_param(function, charp, 0444);
static int armed;
module_param(armed, int, 0644);
static int stands;
module_param(stands, int, 0644);

static int stand(struct kprobe *probe, struct pt_regs *regs)
{
	int i;

	if (!xchg(&armed, 0))
		return 0;
	WRITE_ONCE(stands, 1);
	for (i = 0; i < PATIENCE_MS && READ_ONCE(stands); i++)
		mdelay(1);
	WRITE_ONCE(stands, 0);
	return 0;
}

static struct kprobe probe = { .pre_handler = stand };

static int __init stall_init(void)
{
	probe.symbol_name = function;
	return function ? register_kprobe(&probe) : -EINVAL;
}
module_init(stall_init);

static void __exit stall_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(stall_exit);

MODULE_DESCRIPTION("Stand still at the beginning of a function, for tests");
MODULE_LICENSE("GPL");
