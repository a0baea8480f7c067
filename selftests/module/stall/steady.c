// SPDX-License-Identifier: GPL-2.0
/*
 * For virtual machines whose clock counts instructions: while a process waits for a file of the
 * host, the processor counts. A processor without work makes QEMU let the clock leap to the next
 * timer, and then to the one after it, until the host has read the file: on a busy host these were
 * minutes, in which limits of tests passed.
 *
 *	insmod steady.ko
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static atomic_t waiting = ATOMIC_INIT(0);
static struct task_struct *counter;

/* Less urgent than all other work. */
static int count(void *unused)
{
	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (!atomic_read(&waiting) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		while (atomic_read(&waiting) && !kthread_should_stop()) {
			cpu_relax();
			cond_resched();
		}
	}
	return 0;
}

static void wake(struct irq_work *unused)
{
	wake_up_process(counter);
}

/* A probe may stand where no lock can be taken, not even the scheduler's. */
static struct irq_work wakes = IRQ_WORK_INIT_HARD(wake);

static int request_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	atomic_inc(&waiting);
	irq_work_queue(&wakes);
	return 0;
}

static int request_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	atomic_dec(&waiting);
	return 0;
}

#define PROBE(name) { \
	.kp.symbol_name = name, \
	.entry_handler = request_begins, \
	.handler = request_ends, \
	.maxactive = 256, \
}

/* Of the client of 9P. The first waits for all but large answers; compilers rename the function
 * that waits for these.
 */
static struct kretprobe probe[] = {
	PROBE("p9_client_rpc"),
	PROBE("p9_client_read_once"),
	PROBE("p9_client_write"),
	PROBE("p9_client_readdir"),
};

static void __exit steady_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probe); i++)
		unregister_kretprobe(&probe[i]);
	irq_work_sync(&wakes);
	kthread_stop(counter);
}

static int __init steady_init(void)
{
	size_t i;
	int err;

	counter = kthread_run(count, NULL, "steady");
	if (IS_ERR(counter))
		return PTR_ERR(counter);
	for (i = 0; i < ARRAY_SIZE(probe); i++) {
		err = register_kretprobe(&probe[i]);
		if (err)
			goto fail;
	}
	return 0;

fail:
	pr_err("steady: %s: error %d\n", probe[i].kp.symbol_name, err);
	while (i--)
		unregister_kretprobe(&probe[i]);
	irq_work_sync(&wakes);
	kthread_stop(counter);
	return err;
}

module_init(steady_init);
module_exit(steady_exit);
MODULE_DESCRIPTION("The clock of instructions does not leap while a file of the host is read");
MODULE_LICENSE("GPL");
