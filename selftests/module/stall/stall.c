// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: a processor stands still where it begins a function, as one of a virtual
 * machine may at any time, until somebody lets it go on or five seconds are over.
 *
 *	insmod stall.ko function=bftmutex:bftm_locks_enter
 *	echo 1 > /sys/module/stall/parameters/armed     the next one that comes stands
 *	echo 0 > /sys/module/stall/parameters/stands    it goes on
 *
 * And a virtual machine that was cloned: the kernel does what it does when the host has given it
 * another generation number.
 *
 *	insmod stall.ko
 *	echo 1 > /sys/module/stall/parameters/forked    when it returns, all have been told
 *	echo irq > /sys/module/stall/parameters/forked  told in an interrupt, as by a device tree
 *
 * And code of the kernel that has RTNL for a long time:
 *
 *	echo 3000 > /sys/module/stall/parameters/rtnl   when it returns, RTNL was held for 3 s
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>

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

static void (*add_vmfork)(const void *id, size_t len);

static void tell_fork(struct irq_work *work)
{
	u8 id[16];

	get_random_bytes(id, sizeof(id));
	add_vmfork(id, sizeof(id));
}

/* It is exported only where the driver that calls it is a module. */
static int do_fork(const char *value, const struct kernel_param *param)
{
	struct kprobe look = { .symbol_name = "add_vmfork_randomness" };
	struct irq_work work = IRQ_WORK_INIT_HARD(tell_fork);
	int err = register_kprobe(&look);

	if (err)
		return err;
	add_vmfork = (void *)look.addr;
	unregister_kprobe(&look);
	if (!sysfs_streq(value, "irq")) {
		tell_fork(NULL);
		return 0;
	}
	irq_work_queue(&work);
	irq_work_sync(&work);
	return 0;
}

static const struct kernel_param_ops fork_ops = { .set = do_fork };
module_param_cb(forked, &fork_ops, NULL, 0200);

static int hold_rtnl(const char *value, const struct kernel_param *param)
{
	unsigned int ms;
	int err = kstrtouint(value, 10, &ms);

	if (err)
		return err;
	rtnl_lock();
	msleep(ms);
	rtnl_unlock();
	return 0;
}

static const struct kernel_param_ops rtnl_ops = { .set = hold_rtnl };
module_param_cb(rtnl, &rtnl_ops, NULL, 0200);

static int __init stall_init(void)
{
	probe.symbol_name = function;
	return function ? register_kprobe(&probe) : 0;
}
module_init(stall_init);

static void __exit stall_exit(void)
{
	if (function)
		unregister_kprobe(&probe);
}
module_exit(stall_exit);

MODULE_DESCRIPTION("Stand still at the beginning of a function, for tests");
MODULE_LICENSE("GPL");
