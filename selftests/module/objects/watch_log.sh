#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all time=25
#
# Multicast by a log: two hosts watch it while others append to it, a client dies, a server dies and
# another one lies. Both are told the same entries in the same order, each once, those of one client
# in the order in which it appended them; and none that was answered is missing.
#
#	bftm-c1 … bftm-c4 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1
#
# shellcheck disable=SC2317,SC2154,SC2119
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work

# append N COUNT: client N appends "N-1", "N-2", …, one after the other, while it lives
append() {
	local i
	for ((i = 1; i <= $2; i++)); do
		c "$1" bftmutexctl object submit --wait 30s stories append "$1-$i" >/dev/null 2>&1 || return
		echo "$1-$i" >>"$work/answered.$1"
	done
}

# told N: the entries that the watcher on client N has printed
told() { gojq -r 'select(.change == "entry") | .value' "$work/told.$1"; }
has() { told "$1" | grep -qx "$2"; }
answered() { [[ $(wc -l <"$work/answered.$1") -ge $2 ]]; }

load || bail "module"
up --servers 7 -b 1 --clients 4 --lease-max 2s || bail "no cluster"
lie 4 honest --order respond || bail "no liar"
c 1 bftmutexctl object create stories log >/dev/null || bail "no log"
for n in 3 4; do
	: >"$work/told.$n"
	netns_exec "bftm-c$n" bftmutexctl object watch --json -n 100ms stories \
		>"$work/told.$n" 2>"$work/complaints.$n" &
done
: >"$work/answered.1"
: >"$work/answered.2"
append 1 1000 &
first=$!
append 2 12 &
second=$!
ok "two clients append" wait_for 60 answered 1 3
kill $first
kill_helper 1
s 7 bftmutexctl server stop >/dev/null
ok "a client and a server die: the other client goes on to its end" wait $second
is "… and all that it appended was answered" "$(wc -l <"$work/answered.2")" 12

ok "an entry after all of these" c 3 bftmutexctl object submit stories append last
for n in 3 4; do
	ok "client $n is told of it" wait_for 60 has $n last
done
is "both are told the same, in the same order" "$(told 3)" "$(told 4)"
is "each entry once" "$(told 3 | sort | uniq -d)" ""
for n in 1 2; do
	is "those of client $n in its order" "$(told 3 | grep "^$n-")" \
		"$(told 3 | grep "^$n-" | sort -t- -k2n)"
	is "none that was answered is missing" "$(told 3 | grep -cxFf "$work/answered.$n")" \
		"$(wc -l <"$work/answered.$n")"
done
kill_liar 4
finish
