#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lock that nobody else wants, with more and more servers; and the same when each
# message takes 5 ms, of which no server uses more than a little. All servers are there
# from the beginning, and the client is told of the first n.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

# use N B
use() {
	awk -v n="$1" -v b="$2" '$1 == "server" && $2 > n { next }
		$1 == "b" { sub(/= .*/, "= " b) }
		{ print }' "$work/all" >"$dev/c1/bftmutex.conf"
	kill -HUP "$(helper 1)"
	wait_for 60 knows "$1 $2 true"
}

# knows "N B FAST-PATH": in every lock from now on
knows() {
	[[ $(at bftmutexctl servers --json |
		gojq -r '.clusters[0] | "\(.n) \(.b) \(.fast_path)"') == "$1" ]]
}

cluster 31 6 || bail "no cluster"
cp "$dev/c1/bftmutex.conf" "$work/all"
for b in {1..6}; do
	n=$((5 * b + 1))
	use $n "$b" || bail "the helper does not take $n servers"
	row "acquire, n = $n, b = $b" at acquire "growth_$n" 100
	if ((b == 1 || b == 6)); then
		for ((u = 1; u <= n; u++)); do
			tc -n "bftm-s$u" qdisc add dev eth0 root netem delay 10ms
		done
		row "acquire, n = $n, b = $b, 10 ms away" at acquire "far_$n" 50
		for ((u = 1; u <= n; u++)); do
			tc -n "bftm-s$u" qdisc del dev eth0 root
		done
	fi
done
finish
