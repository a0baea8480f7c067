#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=6
#
# The examples of bftmutex(3) and bftmutex(4), as they stand there, run as client 1 of a cluster;
# those that submit, where a helper plays the cluster. static/install builds them against what
# "make install" makes.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

dir=$(mktemp -d) || bail "mktemp failed"
export LD_LIBRARY_PATH=${top:?}/build/bin
examples=$top/build/bin/tests/example
cleanup() {
	down
	[[ ! ${player:-} ]] || kill "$player"
	rm -rf "$dir"
}

load || bail "the module cannot be loaded"
up --servers 6 --lease-max 1s || bail "no cluster"
c 1 "$examples-3-1" >"$dir/out" 2>"$dir/err"
is "example 1: status" "$? $(<"$dir/err")" "0 "
ok "example 1: output" grep -qE '^step 2 with token [1-9][0-9]*$' "$dir/out"
c 1 "$examples-3-2" >"$dir/out" 2>"$dir/err"
is "example 2: status" "$? $(<"$dir/err")" "0 "
ok "example 2: output" grep -qE '^[1-9][0-9]* ns longer$' "$dir/out"

ip netns add play || bail "no namespace"
netns_exec play submit_play counters >"$dir/player" &
player=$!
ok "a helper with counters" wait_for 10 grep -q ready "$dir/player"
for n in 3-3 4-1 3-3; do
	netns_exec play "$examples-$n"
done >"$dir/out" 2>"$dir/err"
is "examples that submit: output" "$(xargs <"$dir/out") $(<"$dir/err")" \
	"ticket 1 ticket 2 ticket 3 "
finish
