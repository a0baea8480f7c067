#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions mem=4096 time=60
#
# No spinlock of the module is held for long, however many locks a host has and waits for: while
# they are asked for, when a helper reads its configuration again, dies, comes back or stays away,
# when the machine sleeps, and while all of them are listed.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1, F = 3
#
# Probes at the kernel's spin_lock() and spin_unlock() look at the calls of the module. Their own
# cost is in the times.
#
# Functions are called by name, load may have no arguments, and variables are shared with the
# libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

count=6000
limit_us=200
trace=/sys/kernel/tracing

cleanup() {
	[[ ! ${waiters-} ]] || kill "$waiters" 2>/dev/null
	probe_not
	down
}

probe_not() {
	echo 0 >$trace/tracing_on
	echo 0 >$trace/events/synthetic/hold/enable
	local event
	for event in ul lk; do echo '!hist' >$trace/events/kprobes/$event/trigger; done
	echo >$trace/synthetic_events
	echo >$trace/kprobe_events
	echo 1 >$trace/tracing_on
} 2>/dev/null

# The event "hold": for how many microseconds a lock was held; the callers of lock and unlock
probe() {
	local function start size calls
	[[ -e $trace/trace ]] || mount -t tracefs none $trace || return
	read -r start size < <(awk '$1 == "bftmutex" { print $6, $2 }' /proc/modules)
	calls="c >= $start && c < $(printf '0x%x' $((start + size)))"
	for function in _raw_spin_lock _raw_spin_lock_bh; do
		echo "p:lk $function lock=%di c=\$stack0" >>$trace/kprobe_events || return
	done
	for function in _raw_spin_unlock _raw_spin_unlock_bh; do
		echo "p:ul $function lock=%di c=\$stack0" >>$trace/kprobe_events || return
	done
	echo 'hold u64 us; unsigned long from; unsigned long to' >$trace/synthetic_events &&
		echo "hist:keys=lock:t0=common_timestamp.usecs,c0=c if $calls" >$trace/events/kprobes/lk/trigger &&
		echo "hist:keys=lock:us=common_timestamp.usecs-\$t0,from=\$c0,to=c:onmatch(kprobes.lk).trace(hold,\$us,\$from,\$to) if $calls" \
			>$trace/events/kprobes/ul/trigger &&
		echo 'us >= 20' >$trace/events/synthetic/hold/filter &&
		echo 1 >$trace/events/synthetic/hold/enable
}

# caller ADDRESS: the module's function
caller() {
	printf '%016x\n' "$1" | sort -m - <(awk '$4 == "[bftmutex]" { print $1, $3 }' /proc/kallsyms | sort) |
		awk 'NF == 1 { print before; exit } { before = $2 }'
}

# holds DESC COMMAND...: no lock is held for long, while it runs
holds() {
	local longest us from to
	echo >$trace/trace
	ok "$1" "${@:2}"
	longest=$(sed -n 's/.*: hold: us=\([0-9]*\) from=\([0-9]*\) to=\([0-9]*\)$/\1 \2 \3/p' $trace/trace |
		sort -n | tail -n 1)
	read -r us from to <<<"${longest:-0 0 0}"
	((us == 0)) || diag "the longest hold took $us us, from $(caller "$from") to $(caller "$to")"
	us_max=$us
	ok "$1: no lock is held for $limit_us us" test "$us" -lt $limit_us
}

in_state() { c "$1" bftmutexctl holders --json | grep -c "\"$2\""; }
has() { (($(in_state "$@") == $3)); }
all_are_there() { wait_for 300 has 1 held "$count" && wait_for 300 has 2 pending "$count"; }
lent() { [[ $(c 2 bftmutexctl servers --json | gojq '.clusters[0].fast_path') == true ]]; }
read_again() {
	kill -HUP "$(helper 2)" && wait_for 20 lent
}
comes_back() { kill_helper 2 && start_helper 2 && wait_for 20 lent; }
stays_away() { kill_helper 2 && wait_for 60 has 2 pending 0; }
# A machine with a lock server does not sleep.
sleeps() {
	local n
	for n in {1..4}; do
		s "$n" bftmutexctl server stop >/dev/null
	done
	{ echo freeze >/sys/power/state; } 2>"$dev/err"
	wait_for 60 has 1 held 0
}
lists() { c 1 bftmutexctl holders --json >/dev/null && s 1 bftmutexctl locks --json >/dev/null; }
ends() {
	kill "$waiters"
	wait "$waiters" 2>/dev/null
	waiters=
}

load || bail "the module cannot be loaded"
log_objects - || bail "log"
up --servers 4 -b 1 --clients 2 --lease-max 300s || bail "no cluster"
ok "the kernel asks" wait_for 20 lent
# The kernel's page allocator takes pages back by the hundred, with interrupts off, whatever lock a
# caller of kfree() has. Without this setting a hold in which that happens takes 0.9 ms.
echo 100000 >/proc/sys/vm/percpu_pagelist_high_fraction
probe || bail "no probes"
waiters $count 3600000 300 >"$dev/waiters" 2>&1 &
waiters=$!
holds "one host has $count locks, another one waits for them" all_are_there
ok "the probes see the longer holds" test "$us_max" -ge 20
holds "all are listed" lists
holds "a helper reads its configuration again" read_again
holds "a helper dies, another one comes" comes_back
holds "a helper dies, and none comes" stays_away
if [[ -e /sys/power/pm_test ]]; then
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	echo 0 >/sys/power/sync_on_suspend
	holds "the machine sleeps" sleeps
fi
holds "the program ends" ends
probe_not
down
ok "no namespace is left" log_objects +
finish
