#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where the instructions of operations go, and what they take: by tracepoints, whose own
# cost is taken off.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

# Not below /sys, of which "ip netns exec" shows another one.
tracing=/run/tracing
events=(raw_syscalls sched/sched_switch sched/sched_wakeup irq/softirq_entry irq/softirq_exit
	net/net_dev_queue kmem/kmalloc kmem/kmem_cache_alloc)

trace() { # 0 or 1
	local event
	for event in "${events[@]}"; do
		echo "$1" >"$tracing/events/$event/enable" || return
	done
}

# where_row NAME PER TIME COMMAND...: TIME is the name of the median of one operation,
# or of PER at once, in what the COMMAND prints: "NAME VALUE ..." or "NAME=VALUE"
where_row() { row "where: $1" where_of "$@"; }
where_of() {
	local name=$1 per=$2 time=$3 untraced
	shift 3
	untraced=$("$@" | tr '=' ' ' | awk -v name="$time" '$1 == name { print $2 }')
	echo >$tracing/trace
	trace 1 && BFTMUTEX_MARK=$tracing/trace_marker "$@" >/dev/null && trace 0 &&
		"$bench/where" "$name" "$per" "$untraced" <$tracing/trace
}

bench=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p $tracing
ok "tracefs" mount -t tracefs none $tracing || bail "no tracefs"
ok "room for the trace" eval "echo 32768 >$tracing/buffer_size_kb"
ok "its clock" eval "echo x86-tsc >$tracing/trace_clock"
cluster 7 1 || bail "no cluster"
where_row acquire 1 acquire.p50 at acquire acquire 20

redis_servers
where_row redis 1 redis.p50 at redis_lock redis 20 1 10.73.0.1
where_row redlock 1 redlock.p50 at redis_lock redlock 20 3 "${redis[@]}"
stop_started

# Its median says nothing of the garbage that is collected, of which a trace has some.
etcd_members
where_row etcd_lock 1 etcd_lock.mean at etcd_lock 50 "$leader"
stop_started

new_client 200
where_row request_kernel 64 kernel_total.p50 at batch kernel 8 1 10.73.0.1 "$keys"
lie 1 honest --lease-max 6s --no-quarantine || bail "no server in user space"
new_client 201
where_row request_user 64 user_total.p50 at batch user 8 1 10.73.0.1 "$keys"
kill_liar 1
end_cluster

cluster 4 1 || bail "no cluster"
where_row acquire4 1 acquire4.p50 at acquire acquire4 20
end_cluster

dev_up --servers 7 -b 1 --clients 2 --lease-max 6s || bail "no cluster"
ready || bail "the cluster does not grant"
where_row handover 1 handover_p50 handover pair 20
end_cluster
ok "the clock of traces is as it was" eval "echo local >$tracing/trace_clock"
finish
