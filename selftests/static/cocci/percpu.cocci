// SPDX-License-Identifier: GPL-2.0
// That softirqs are off does not mean to be alone on the CPU: with PREEMPT_RT they interrupt each
// other. Counters of a CPU grow by this_cpu_inc(), all else of it has a lock: raw_cpu_ptr().
// Files: kmod
@percpu@
identifier own =~ "^(this_cpu_ptr|get_cpu_ptr|get_cpu_var|__this_cpu_.*|this_cpu_read|this_cpu_write|smp_processor_id|get_cpu)$";
position p;
@@
own@p(...)

@script:python@
p << percpu.p;
own << percpu.own;
@@
print("%s:%s: '%s': who else is at work there?" % (p[0].file, p[0].line, own))
