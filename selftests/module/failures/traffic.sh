#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm name=fail-traffic tier=all kernels=6.12-debug clock=instructions mem=1536 "allow=kmemleak: Cannot allocate" time=60
#
# Allocations of the module fail at random, also in softirqs and timers, while locks and objects are
# used. No two programs hold a lock at once, no answer is wrong, and when memory is back all
# requests succeed. Servers begin and end in between.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s7
#
# shellcheck disable=SC2317,SC2119,SC2154,SC2034

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/module/failures/inject.sh
. "$(dirname "$0")/inject.sh"

cleanup() {
	echo 0 >"$fault/failslab/probability"
	down
}

# Some of what the first half makes may fail: then it is not there, or whole. Until both was
# seen: a start that makes ten allocations is good in 0.7^10, 28 of 1000, so that none of 1000
# is with a probability of 0.972^1000, 5 in 10^13; and it is less likely that none fails.
servers_come_and_go() {
	local turn started=0
	for ((turn = 0; turn < 40 || (turn < 1000 && (started == 0 || started == turn)); turn++)); do
		s 1 bftmutexctl server stop >/dev/null 2>&1
		s 1 bftmutexctl server start --id 1 --key "$dev/keys/server-1.key" \
			--state "$dev/servers" >/dev/null 2>&1 && started=$((started + 1))
	done
	echo "$started of $turn started"
	((started > 0 && started < turn))
}

# A program that cannot even open the device tries again.
adds() {
	local said try
	for ((try = 0; try < 20; try++)); do
		said=$(c 1 order_load --object counter --request "add 1" --clients 1-2 --count 50 \
			--timeout 60 2>&1)
		[[ $said != *requests=* ]] || break
	done
	echo "$said"
}

counter() { c 1 timeout 60 bftmutexctl object submit counter get; }

# Between what was answered and what may have been done besides.
is_between() {
	local now added unknown
	now=$(counter) || return
	added=$(sed -n 's/^added=//p' <<<"$output")
	unknown=$(sed -n 's/^unknown=//p' <<<"$output")
	echo "$before before, $now now"
	((added && now >= before + added && now <= before + added + unknown))
}

injection
load || bail "the module cannot be loaded"
up --servers 7 -b 1 --clients 2 --lease-max 1s || bail "no cluster"
ok "an object is made" c 1 bftmutexctl object create counter counter

for percent in 5 20; do
	fail_module $percent
	ok "$percent %: contenders enter, and ask again when told to" \
		contend 4 --patient --entries 20 --lease 0.8 --hold 5 --timeout 60
	ok "$percent %: nobody entered while another was inside" no_overlap
	before=$(fail_module 0; counter)
	fail_module $percent
	output=$(adds)
	fail_module 0
	diag "$output"
	ok "$percent %: the object has what was answered, and no more than was asked for" is_between
done

fail_module 30
ok "30 %: servers start, or do not" servers_come_and_go
fail_module 0
honest 1
ok "with memory again a lock is granted" ready
ok "and an operation done" counter
finish
