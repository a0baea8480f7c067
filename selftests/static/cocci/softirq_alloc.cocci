// SPDX-License-Identifier: GPL-2.0
// Nothing sleeps under a spin lock or in an RCU read side, and so nowhere in softirq.
// Files: kmod
@softirq_alloc@
position p;
expression l;
identifier lock =~ "^(spin_lock|spin_lock_bh|rcu_read_lock|rcu_read_lock_bh)$";
identifier unlock =~ "^(spin_unlock|spin_unlock_bh|rcu_read_unlock|rcu_read_unlock_bh)$";
identifier sleeps =~ "^(mutex_lock|synchronize_rcu|msleep|cond_resched|copy_from_user|copy_to_user|hrtimer_cancel|cancel_work_sync|flush_work|kvzalloc|kvcalloc|vmalloc|alloc_percpu|free_percpu)$";
@@
\(lock(l)\|lock()\)
... when != unlock(l)
    when != unlock()
\(sleeps@p(...)\|GFP_KERNEL@p\|GFP_KERNEL_ACCOUNT@p\)

@script:python@
p << softirq_alloc.p;
@@
print("%s:%s: this may sleep, under a lock" % (p[0].file, p[0].line))
