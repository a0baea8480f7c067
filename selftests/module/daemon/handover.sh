#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12 clock=instructions time=18
#
# The queue: hand-over takes about one acquire, the total time of t contenders
# grows like t, and everybody has a turn. Run by a clock that counts
# instructions (selftests/vm/run --icount), so that ratios repeat.
#
#
#	bftm-c1 … bftm-c64 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1
#
# BFTMUTEX_HOSTS is how many contend at most.
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

# If times are not judged, the test only checks that everything works.
[[ $(uname -r) != *-bftmutex-* ]] || few=4
hosts=${BFTMUTEX_HOSTS:-${few:-16}}
hold_us=2000

cleanup() { down; }

# measure DESC ARG...: variables of handover ARG...
measure() {
	local desc=$1
	shift
	ok "$desc" handover_into "$dev/measured" "$@" || return
	# shellcheck disable=SC1091
	. "$dev/measured"
}
handover_into() { handover "${@:2}" >"$1"; }

# at_most DESC PERCENT A B: A is at most PERCENT of B
at_most() {
	diag "$1: $(awk -v a="$3" -v b="$4" 'BEGIN { printf "%.3f", a / b }')"
	figure "$1: at most $2 %" test $((100 * $3)) -le $(($2 * $4))
}

load || bail "module"
up --servers 7 -b 1 --clients "$hosts" --lease-max 6s || bail "no cluster"

# A hand-over is the daemon's; so is, for comparison, the acquire.
tune 'fast-path = no' 'ask = all' || bail "configuration"
measure "uncontended acquires" alone 40
measure "hand-overs" pair 40
diag "acquire p50 $acquire_p50 ns, p99 $acquire_p99; hand-over p50 $handover_p50 ns, p99 $handover_p99"
# Links take no time here, so no one-way delay is added.
at_most "hand-over against an uncontended acquire" 150 "$handover_p50" "$acquire_p50"

for ((t = 1; t <= hosts; t *= 4)); do
	rounds=$((t == 1 ? 20 : 5))
	measure "$t contend in the queue" crowd "$t" $rounds $hold_us
	diag "t = $t: $per_grant ns a grant, $attempts rounds for $grants grants, Jain $jain, worst wait $worst_wait grants"
	at_most "t = $t: total against t (h + hand-over)" 130 "$per_grant" \
		$((hold_us * 1000 + handover_p50))
	ok "t = $t: nobody waits for more than two turns of all" test "$worst_wait" -le $((2 * t))
	ok "t = $t: Jain's index" awk -v j="$jain" 'BEGIN { exit j < 0.9 }'
	# A hand-over takes no new round: a waiting request is sent once and polled seldom.
	ok "t = $t: no back-off" test "$attempts" -le $((2 * grants + t * t))
	queue=$per_grant
done
measure "$((t / 4)) contend by back-off" crowd $((t / 4)) 2 $hold_us backoff
diag "back-off: $per_grant ns a grant, $(awk -v a="$per_grant" -v b="$queue" 'BEGIN { printf "%.1f", a / b }') times the queue's; $attempts rounds for $grants grants, Jain $jain, worst wait $worst_wait"
finish
