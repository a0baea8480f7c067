#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where the time of an acquire goes. Tracing takes some itself.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

tracing=/sys/kernel/tracing
trace() {
	local event
	for event in bftmutex sched/sched_switch sched/sched_wakeup raw_syscalls; do
		echo "$1" >$tracing/events/$event/enable || return
	done
}

traced() {
	at acquire traced 20 >/dev/null && trace 0 &&
		awk -f ../breakdown.awk <(grep -v '^#' $tracing/trace) | sort
}

cd "$(dirname "$0")" || exit
cluster 7 1 || bail "no cluster"
mount -t tracefs none $tracing 2>/dev/null
ok "room for the trace" eval "echo 8192 >$tracing/buffer_size_kb"
ok "tracing" trace 1
row "parts of an acquire" traced
leave_cluster 7 1
finish
