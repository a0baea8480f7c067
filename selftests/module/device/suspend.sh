#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12 clock=instructions about=module time=20
#
# The machine is put to sleep: not while a lock server runs, and what is held is lost.
# The kernel's own test of the first steps is enough, after which it wakes up. And a virtual
# machine that was cloned or set back: what is held is lost, and servers begin anew.
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../../lib/order.sh"

[[ -e /sys/power/pm_test ]] || skip_all "this kernel does not sleep, or not for tests"

cleanup() {
	kill "$watching"
	down
}

sleeps() { { echo freeze >/sys/power/state; } 2>"$dev/err"; }
held() { c 1 bftmutexctl holders --json | gojq -c 'map([.name, .state]) | sort'; }
holds() { [[ $(held) == '[["one","held"],["two","held"]]' ]]; }
start_server() {
	# As if it were its first start: it has served no object, which no other could tell it.
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" --lease-max $lease_max \
		--state "$dev/begun" >/dev/null
}
status_of() { "$@" 2>/dev/null; echo $?; }

lease_max=20s
load || bail "the module cannot be loaded"
# The kernel's own test of the first steps, at once.
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo 0 >/sys/power/sync_on_suspend
echo freezer >/sys/power/pm_test
log_objects -
embed asleep
ok "no namespace is left" log_objects +
up --servers 7 -b 1 --clients 1 --lease-max $lease_max || bail "no cluster"

netns_exec bftm-c1 bftmutexctl watch --json >"$dev/watched" &
watching=$!
watches() { c 1 bftmutex -n three true; [[ -s $dev/watched ]]; }
wait_for 30 watches || bail "bftmutexctl watch"
c 1 bftmutex -l $lease_max one sleep 1000 2>"$dev/one" &
one=$!
c 1 bftmutex -l $lease_max --no-renew two sleep 1000 &
two=$!
ok "two programs have locks" wait_for 10 holds

is "with a server the machine does not sleep" "$(status_of sleeps) $(grep -o 'Device.*' "$dev/err")" \
	"1 Device or resource busy"
ok "the log says why" grep -q "a lock server runs here" <(dmesg)
ok "the locks are held" holds

for n in {1..7}; do
	s "$n" bftmutexctl server stop >/dev/null
done
ok "the locks are held without servers" holds
is "without one it sleeps" "$(status_of sleeps)" 0
wait $one
is "who renewed has lost the lock" "$? $(<"$dev/one")" \
	"79 bftmutex: lock 'one' lost: the machine was put to sleep; sending SIGTERM"
wait $two
is "who did not has lost it" $? 79

why() { gojq -r --arg name "$1" 'select(.name == $name and .state == "lost").reason' "$dev/watched"; }
is "bftmutexctl watch says why" "$(why one) $(why two)" "suspended suspended"

# An iteration that no server answers times out some day, but ends at once by a sleep: the
# daemon hears of it, and does not wait until it looks by itself.
count() {
	read -r begun slow cut < <(c 1 bftmutexctl stats --json |
		gojq -r '.helper.ordering | "\(.iterations) \(.slow) \(.interrupted)"')
}
under_way() { count; ((begun == slow + cut + 1)); }
ends() {
	local try slow_before cut_before
	for try in {1..20}; do
		wait_for 10 under_way || return
		slow_before=$slow cut_before=$cut
		sleeps || return
		count
		((cut == cut_before)) || return 0
		# By itself, before the machine slept?
		((slow > slow_before)) || return
		diag "try $try: it had timed out"
	done
	return 1
}
order_load --clients 1-1 --object counter --request get --count 1 --timeout 30 >/dev/null 2>&1 &
ok "what is asked about an object ends" ends
ok "and is asked anew" wait_for 10 under_way
wait $!

for n in {1..7}; do
	start_server "$n"
done
ok "a server starts when it is awake" s 1 bftmutexctl server show
ok "the daemon serves the kernel again" wait_for 60 c 1 bftmutex -w 60 one true
# Servers that have just started recover first, and are silent meanwhile.
# Made by a request whose answer came too late (17), or by this one.
made() { [[ $(submit 1 counter "create counter") == @("0 "|"17 counter") ]]; }
ok "and objects" wait_for 60 made

# Cloned or set back
shown() { for n in {1..7}; do s "$n" bftmutexctl server show --json | gojq -r "$1"; done; }
incarnation() { head -qn 1 "$dev"/c1/cluster-*-client-*; }
higher() { (($(incarnation) > incarnation_before)); }
given_back() { c 1 bftmutexctl stats --json | gojq .helper.given_back; }

c 1 bftmutex -l $lease_max four sleep 1000 2>"$dev/four" &
four=$!
has_four() { [[ $(held) == *'["four","held"]'* ]]; }
ok "a program has a lock" wait_for 60 has_four
epochs=$(shown .epoch) incarnation_before=$(incarnation) given_back_before=$(given_back)
is "servers are in no quarantine, and know tokens" \
	"$(shown .quarantine_ns | sort -u) $(shown .token_floor | sort -u)" "0 0"
ok "this virtual machine is a copy, which an interrupt tells" forks irq
wait $four
is "its lock is lost" "$? $(<"$dev/four")" \
	"79 bftmutex: lock 'four' lost: this virtual machine was cloned, or set back to an earlier state; sending SIGTERM"
is "bftmutexctl watch says why" "$(why four)" restored
anew() { (($({ shown .epoch; echo "$epochs"; } | sort -u | wc -l) == 14)); }
ok "each server has a new epoch" wait_for 10 anew
is "and is in quarantine, and knows no token" \
	"$(shown '.quarantine_ns > 1e10' | sort -u) $(shown .token_floor | sort -u)" "true null"
ok "the daemon has other numbers" wait_for 30 higher
ok "the log says so" grep -q "has begun anew, in quarantine" <(dmesg)
ok "it serves the kernel" wait_for 60 c 1 bftmutex -w 60 four true
# A lock that was held at the fork may be held by another copy, under its number. The last lock was
# given back by the kernel.
is "nobody was told of the lock that was lost" $(($(given_back) - given_back_before)) 0
finish
