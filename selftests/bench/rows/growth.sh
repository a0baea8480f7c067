#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lock that nobody else wants, with more and more servers; and the same when each
# message takes 5 ms, of which no server uses more than a little.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

for b in {1..6}; do
	n=$((5 * b + 1))
	cluster $n "$b" || bail "no cluster of $n"
	row "acquire, n = $n, b = $b" at acquire "growth_$n" 100
	if ((b == 1 || b == 6)); then
		for ((u = 1; u <= n; u++)); do
			tc -n "bftm-s$u" qdisc add dev eth0 root netem delay 10ms
		done
		row "acquire, n = $n, b = $b, 10 ms away" at acquire "far_$n" 50
	fi
	end_cluster
done
finish
