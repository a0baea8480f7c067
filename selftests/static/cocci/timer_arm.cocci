// SPDX-License-Identifier: GPL-2.0
// A timer is armed under the lock of what says that it may be, which its end
// changes before it cancels: so it is not armed after that.
// Files: kmod
@timer_arm_held exists@
position p;
identifier arm =~ "^(hrtimer_start.*|mod_timer|timer_reduce)$";
expression l;
@@
\(lockdep_assert_held(l)\|lockdep_assert_held_once(l)\|spin_lock(l)\|spin_lock_bh(l)\)
... when any
arm@p(...)

@timer_arm@
position p != timer_arm_held.p;
identifier arm =~ "^(hrtimer_start.*|mod_timer|timer_reduce)$";
@@
arm@p(...)

@script:python@
p << timer_arm.p;
@@
print("%s:%s: armed under which lock? lockdep_assert_held()" % (p[0].file, p[0].line))
