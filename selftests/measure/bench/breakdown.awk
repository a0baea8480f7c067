# SPDX-License-Identifier: GPL-2.0
#
# Where the time of an acquire goes, from a trace of some with events of bftmutex,
# sched and raw_syscalls: means over those that are complete, as rows print them. The
# kernel has sent to all when it traces "acquire", before any server is at work; each
# server's grant is traced when it has decided.
# System calls of amd64: 16 ioctl.

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
event == "bftm_acquire:" { since = begin; end_part("1_sign_and_send"); stage = 1 }
stage == 2 && event == "bftm_grant:" { end_part("3_other_servers") }
stage == 1 && event == "bftm_grant:" { end_part("2_first_server"); stage = 2 }
stage == 2 && event == "bftm_won:" { end_part("4_answers"); stage = 3 }
stage == 3 && event == "sys_exit:" && comm == "acquire" {
	end_part("5_wake_and_return")
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
