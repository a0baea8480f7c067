# SPDX-License-Identifier: GPL-2.0
#
# Where the time of an acquire goes, from a trace of some with events of bftmutex,
# sched and raw_syscalls: means over those that are complete, as rows print them.
# System calls of amd64: 16 ioctl, 299 recvmmsg, 307 sendmmsg.

function end_part(name) { took[name] += now - since; since = now }

# COMM-PID [CPU] FLAGS TIME: EVENT: ...
{
	comm = $1
	sub(/-[0-9]+$/, "", comm)
	if (!base)
		base = int($4)
	now = ($4 - base) * 1e9
	event = $5
}
# The call that becomes an acquire, perhaps.
event == "sys_enter:" && comm == "acquire" && stage == 0 {
	begin = now
	delete seen
}
{ seen[event]++ }
event == "bftm_acquire:" { since = begin; stage = 1 }
stage == 1 && comm == "bftmutexd" { end_part("1_wake_helper"); stage = 2 }
stage == 2 && event == "sys_enter:" && $7 == 307 { end_part("2_pull_and_sign"); stage = 3 }
stage == 3 && event == "sys_exit:" && $7 == 307 { end_part("3_send_and_servers"); stage = 4 }
stage == 4 && event == "sys_enter:" && $7 == 299 { end_part("4_pull_again_and_poll"); stage = 5 }
stage == 5 && event == "sys_exit:" && $7 == 299 { end_part("5_receive"); stage = 6 }
stage == 6 && event == "bftm_won:" { end_part("6_judge_and_report"); stage = 7 }
stage == 7 && event == "sys_exit:" && comm == "acquire" {
	end_part("7_return")
	took["all"] += now - begin
	for (event in seen)
		events[event] += seen[event]
	stage = 0
	count++
}
END {
	if (!count)
		exit 1
	for (name in took)
		printf "part.%s %d ns\n", name, took[name] / count
	printf "part.system_calls %.1f 1\n", events["sys_enter:"] / count
	printf "part.wakeups %.1f 1\n", events["sched_wakeup:"] / count
	printf "part.switches %.1f 1\n", events["sched_switch:"] / count
	printf "part.grants %.1f 1\n", events["bftm_grant:"] / count
}
