// SPDX-License-Identifier: GPL-2.0
// These files are all softirq or under a spin lock: nothing in them may sleep.
// Files: kmod/client/fast.c kmod/locks/waiters.c kmod/objects/step.c kmod/objects/receive.c kmod/udp/udp.c kmod/core
@softirq_file@
position p;
identifier sleeps =~ "^(mutex_lock|msleep|might_sleep|cond_resched|copy_from_user|copy_to_user|kvmalloc|kvzalloc|vmalloc)$";
@@
\(GFP_KERNEL@p\|GFP_KERNEL_ACCOUNT@p\|sleeps@p(...)\)

@script:python@
p << softirq_file.p;
@@
print("%s:%s: this may sleep, in softirq" % (p[0].file, p[0].line))
