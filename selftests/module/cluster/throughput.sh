#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12 clock=instructions time=25
#
# How often a lock changes hands that many want, while b servers lie: three fifths as often
# as with none that does, whatever they do.
#
#
#	bftm-c1 … bftm-c4 ---- bridge, 1 ms each way ---- bftm-s1 … bftm-s7
#	two contenders each                               n = 7, b = 2, s4 and s5 lie
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
[[ $(uname -r) != *-bftmutex-* ]] || few=2
entries_each=${BFTMUTEX_ENTRIES:-${few:-20}}
everyone=(c{1..4} s{1..7})

cleanup() {
	kill_liar 4
	kill_liar 5
	down
}

# measure LOCK: its entries per second
measure() {
	contend 8 --entries "$entries_each" --lock "$1" --hold 0 --lease 3.9 --timeout 60 &&
		counted $((8 * entries_each)) && no_overlap || return
	rate=$(sort -k2,2n "$entries" | awk '
		NR == 1 { first = $2 }
		$3 > last { last = $3 }
		END { printf "%d\n", NR * 1e9 / (last - first) }')
}

# as_often NAME LOCK
as_often() {
	local percent
	ok "$1" measure "$2" || return
	percent=$((100 * rate / honest))
	diag "$1: $rate entries/s, $percent %"
	((percent >= worst)) || { worst=$percent && name=$1; }
}

preload bftmutexctl bftmutexd bftmutex-liar contender gojq
load dyndbg=-p || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers 7 -b 2 --clients 4 --lease-max 4s || bail "no cluster"
tune "delta = 1ms" || bail "configuration"
netem "${everyone[@]}" -- delay 1ms
ok "without faults" measure honest
honest=$rate
measured throughput_honest.rate "$honest" a_second
diag "without faults: $honest entries/s"

mapfile -t lies < <(strategies)
ok "there are lies" test "${#lies[@]}" -ge 20
# "response" also shows the effect of the lies on the module.
[[ ! ${few-} ]] || lies=("${lies[@]:0:4}")
worst=100 name=none
for lie in "${lies[@]}"; do
	for n in 4 5; do
		lie $n "$lie" --lease-max 4s --seed "$RANDOM" || bail "no liar"
	done
	as_often "$lie" "lie-$lie"
done
kill_liar 4
kill_liar 5
as_often "nobody there" gone
measured throughput_worst.rate $((worst * honest / 100)) a_second
figure "the worst is $name: $worst %, 60 at least" test "$worst" -ge 60
finish
