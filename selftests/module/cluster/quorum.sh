#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions never=6.1-kcsan,6.12-kcsan time=14
#
# With b silent servers a lock that nobody has still takes one round trip. With
# fewer answers than F there is none at all, whatever a liar among them says.
#
#
#	bftm-c1 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1, F = 5
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

acquires=20
tries=20
! short || { acquires=9 tries=6; }
lease_max=1s
all=(c1 s1 s2 s3 s4 s5 s6 s7)

cleanup() {
	kill_liar 4
	down
}

# Median of the numbers in column $1, divided by 1000.
median() { sort -k"$1,$1n" | awk -v c="$1" '{ v[NR] = $c } END { printf "%d\n", v[int((NR + 1) / 2)] / 1000 }'; }

# measure DESC: the time of an acquire in us, in $acquire; one round each
measure() {
	ok "$1: acquires" contend 1 --entries $acquires --lock "$1" --hold 0 --lease 0.9
	is "$1: rounds of an acquire" "$(awk '{ print $5 }' "$entries" | sort -u)" 1
	acquire=$(median 4 <"$entries")
}

# The round trip to server $1 in us, in $rtt
ping() {
	rtt=$(c 1 busybox ping -c 10 -i 0.05 "$1" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' |
		awk '{ print $1 * 1000000 }' | median 1)
}

# one_trip DESC ADDRESS: behind 5 ms each way an acquire takes one round trip
one_trip() {
	ping "$2"
	measure "$1"
	diag "$1: acquire $acquire us, round trip $rtt us, ratio $((100 * acquire / rtt)) %"
	ok "$1: at least a round trip" test "$acquire" -ge 10000
	figure "$1: less than two" test "$acquire" -lt $((2 * rtt))
}

# refused DESC: no try and no wait ever gets a lock
refused() {
	local i status got=() entered=$dev/entered
	rm -f "$entered"
	for ((i = 0; i < tries; i++)); do
		c 1 bftmutex -n "$1-$i" touch "$entered" 2>/dev/null
		got+=($?)
	done
	is "$1: tries" "$(printf '%s\n' "${got[@]}" | sort | uniq -c | xargs)" "$tries 69"
	got=()
	for ((i = 0; i < tries; i++)); do
		c 1 bftmutex -w 0.1 "$1-w$i" touch "$entered" 2>/dev/null
		status=$?
		((status == 69 || status == 1)) || got+=("$status")
	done
	is "$1: waits that end otherwise" "${got[*]}" ""
	ok "$1: nobody entered" ! test -e "$entered"
}

stop() {
	local n
	for n; do
		s "$n" bftmutexctl server stop >/dev/null || return
	done
}

preload bftmutexctl bftmutexd bftmutex-liar contender gojq busybox
load || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers 7 -b 1 --clients 1 --lease-max $lease_max || bail "no cluster"

# An acquire that waits for a resend waits for 4 s.
tune 'delta = 1s' || bail "configuration"
measure "all servers"
healthy=$acquire
lie 4 silent || bail "no liar"
measure "one silent"
diag "acquire: $healthy us with all servers, $acquire us with one silent"
figure "one silent: no resend was waited for" test "$acquire" -lt $((healthy + 3000000))
tune 'delta = 10ms' || bail "configuration"
netem "${all[@]}" -- delay 5ms
one_trip "one silent, 5 ms each way" 10.73.0.1
kill_liar 4
honest 4 --lease-max $lease_max
ready
one_trip "all servers, 5 ms each way" 10.73.0.1
netem "${all[@]}"

# The same over IPv6.
for n in 1 2 3 4 5 6 7; do
	ip -n "bftm-s$n" address add "fd00::$n/64" dev eth0 nodad
done
ip -n bftm-c1 address add fd00::101/64 dev eth0 nodad
sed -i 's/10\.73\.0\.\([1-7]\) /"fd00::\1" /' "$dev/c1/bftmutex.conf"
tune || bail "configuration"
is "IPv6: addresses" "$(servers 1 '.[0].address')" "[fd00::1]:7373"
lie 4 silent || bail "no liar"
measure "IPv6, one silent"
netem "${all[@]}" -- delay 5ms
one_trip "IPv6, one silent, 5 ms each way" fd00::1
netem "${all[@]}"

# n - F = 2 may be missing.
stop 1
ok "n - F missing: a lock is granted" c 1 bftmutex -n missing true
# Short: each try waits until the last resend is not answered.
tune 'delta = 1ms' || bail "configuration"
stop 2
refused "four answer and one is silent"
lie 4 always-free --no-quarantine || bail "no liar"
stop 3
refused "four answer and one of them always says FREE"
finish
